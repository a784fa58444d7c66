// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// result is what a run of the program gave.
type result struct {
	status      int
	out, errors string
}

func execute(tb testing.TB, args ...string) result {
	tb.Helper()
	var out, errs bytes.Buffer
	status := run(args, &out, &errs)

	return result{status, out.String(), errs.String()}
}

// write makes a file and returns its path.
func write(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}

	return path
}

// captures are the real captures.
func captures(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(dataset.File(tb, "diag", "mi_att.hdlc")), "*.hdlc"))
	if err != nil || len(paths) < 5 {
		tb.Fatalf("captures %v, %v", paths, err)
	}

	return paths
}

func zip(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}

	return b.Bytes()
}

// logPacket is one packet of the hand-made capture.
type logPacket struct {
	code diag.LogCode
	at   time.Duration
	body []byte
}

func (p logPacket) logged() diag.Timestamp {
	return diag.TimestampOf(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).Add(p.at))
}

// byHand is the log packets of two seconds of LTE: every 40 ms a frame of about
// 6 kB comes, of which 600 bytes a ms are granted from 8 ms after the report on,
// and periodic reports follow every 5 ms until the queue is empty. At 1 s the
// phone is starved for 60 ms.
func byHand(tb testing.TB) []logPacket {
	tb.Helper()
	const frame, grantBytes, lag, period, pci = 40, 600, 8, 5, 7
	var out []logPacket
	add := func(code diag.LogCode, ms int, body []byte, err error) {
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, logPacket{code, time.Duration(ms) * time.Millisecond, body})
	}
	// An RRCConnectionSetup with periodicBSR-Timer sf5, in a B0C0 of version 9.
	rrc, err := hex.DecodeString("090d00010100" + "000000000000" + "0c" + "00000000" + "0500" + "6002110000")
	add(diag.LogB0C0, 0, rrc, err)
	var fast, slow []diag.Record
	queue, lastBSR := 0, -100
	for ms := 1; ms <= 2000; ms++ {
		at := diag.Record{RAT: diag.LTE, TTI: ms, PCI: pci, HasPCI: true}
		since := ms % frame
		if since == 1 {
			queue = 6000
		}
		starved := ms >= 1009 && ms < 1070
		grant := at
		grant.Kind, grant.Bytes = diag.KindGrant, 0
		if since == 1 && !starved { // the scheduling request's
			grant.Bytes = 40
		} else if queue > 0 && since >= 1+lag && !starved {
			grant.Bytes = grantBytes
		}
		if grant.Bytes > 0 {
			queue = max(0, queue-grant.Bytes)
			fast, slow = append(fast, grant), append(slow, grant)
			trigger := diag.TriggerUnknown
			switch {
			case since == 1:
				trigger = diag.TriggerRegular
			case ms-lastBSR >= period:
				trigger = diag.TriggerPeriodic
			}
			if trigger != diag.TriggerUnknown {
				bsr := at
				bsr.Kind, bsr.Trigger, bsr.Form, bsr.LCGs = diag.KindBSR, trigger, diag.FormShort, 1<<3
				bsr.Index[3] = lteIndex(queue)
				slow = append(slow, bsr)
				lastBSR = ms
			}
		}
		if ms%10 == 0 && len(fast) > 0 {
			body, err := diag.AppendB139(nil, fast...)
			add(diag.LogB139, ms+1, body, err)
			fast = fast[:0]
		}
		if ms%50 == 0 && len(slow) > 0 {
			body, err := diag.AppendB064(nil, slow...)
			add(diag.LogB064, ms+1, body, err)
			slow = slow[:0]
		}
		if ms == 500 {
			body, err := diag.AppendB060(nil, diag.Record{Kind: diag.KindConfig, PeriodicBSR: 5 * time.Millisecond, RetxBSR: 320 * time.Millisecond})
			add(diag.LogB060, ms, body, err)
		}
	}
	add(0x1234, 2001, []byte{1, 2, 3}, nil)                                // nobody's
	add(0xB0E2, 2001, []byte{1, 2, 3}, nil)                                // NAS
	add(diag.LogB139, 2002, append([]byte{250}, make([]byte, 30)...), nil) // a version of the future
	add(diag.LogB139, 2002, []byte{43}, nil)                               // cut off

	return out
}

// lteIndex is the bin of the table that bytes fall into.
func lteIndex(bytes int) uint8 {
	r := diag.Record{RAT: diag.LTE, Kind: diag.KindBSR, Form: diag.FormShort, LCGs: 1}
	for i := range uint8(63) {
		r.Index[0] = i
		if _, high := r.Buffer(false); high >= bytes {
			return i
		}
	}

	return 63
}

// hdlc is a capture of a diagnostic port, with what else comes out of one.
func hdlc(packets []logPacket) []byte {
	out := diag.AppendHDLC([]byte{0x7E}, []byte{0x79, 1, 2, 3}) // debug text
	for _, p := range packets {
		out = diag.AppendHDLC(out, diag.AppendLog(nil, p.code, p.logged(), p.body))
	}
	out = append(out, 0x10, 1, 2, 3, 4, 5, 6, 7, 0x7E) // bad checksum

	return append(out, 0x10, 0) // cut off
}

// tidy takes the folder of temporary files out of an output.
func tidy(s string, paths ...string) string {
	for _, p := range paths {
		s = strings.ReplaceAll(s, filepath.Dir(p)+string(filepath.Separator), "")
	}

	return s
}
