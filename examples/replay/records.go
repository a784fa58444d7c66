// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/diag/rrc"
)

// recordPrinter is -records: each sample of a log packet as a JSON object with
// all fields that its layout has, and what RRC messages configure.
type recordPrinter struct {
	w    io.Writer
	file string
	buf  []byte
}

// rrcLine is the "rrc" record. Timers are milliseconds, 65535 for infinity as in
// B060, and missing where the message leaves them as they are.
type rrcLine struct {
	K         string `json:"k"`
	RAT       string `json:"rat"`
	Secondary bool   `json:"secondary"`
	Default   bool   `json:"default"`
	Periodic  *int64 `json:"periodic_bsr,omitempty"`
	Retx      *int64 `json:"retx_bsr,omitempty"`
	Extended  *bool  `json:"extended_bsr,omitempty"`
	SRDelay   int64  `json:"sr_delay,omitempty"`
}

func (r *recordPrinter) packet(p diag.Packet, found rrcFound) error {
	details, err := diag.Details(p)
	if err != nil {
		return nil //nolint:nilerr // counted by the decoder, and -stats tells
	}
	for _, d := range details {
		payload := -1
		// Messages hold identities: they are not for files that are passed on.
		switch v := d.(type) {
		case diag.B0C0:
			payload, v.Payload = len(v.Payload), nil
			d = v
		case diag.B821:
			payload, v.Payload = len(v.Payload), nil
			d = v
		}
		if err := r.print(p, d, payload); err != nil {
			return err
		}
	}
	for _, c := range found.configs {
		if err := r.print(p, rrcLineOf(c), -1); err != nil {
			return err
		}
	}

	return nil
}

// print puts the packet's keys before those of a value, and what is not of the
// log format behind.
func (r *recordPrinter) print(p diag.Packet, v any, payload int) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	file, err := json.Marshal(r.file)
	if err != nil {
		return err
	}
	b := fmt.Appendf(r.buf[:0], `{"file":%s,"code":"0x%04x","ts":%d,`, file, uint16(p.Code), uint64(p.Logged))
	b = append(b, value[1:len(value)-1]...)
	if payload >= 0 {
		b = fmt.Appendf(b, `,"payload_bytes":%d`, payload)
	}
	if p.Radio != 0 {
		b = fmt.Appendf(b, `,"radio":%d`, p.Radio)
	}
	r.buf = append(b, '}', '\n')
	_, err = r.w.Write(r.buf)

	return err
}

func rrcLineOf(c rrc.Config) rrcLine {
	l := rrcLine{
		K: "rrc", RAT: strings.ToLower(c.RAT.String()), Secondary: c.Secondary, Default: c.Default,
		SRDelay: c.SRDelay.Milliseconds(),
	}
	if c.HasPeriodic {
		l.Periodic = timerMs(c.Periodic)
	}
	if c.HasRetx {
		l.Retx = timerMs(c.Retx)
	}
	if c.HasExtendedBSR {
		l.Extended = &c.ExtendedBSR
	}

	return l
}

func timerMs(d time.Duration) *int64 {
	ms := int64(65535)
	if d != rrc.Infinite {
		ms = d.Milliseconds()
	}

	return &ms
}
