// SPDX-License-Identifier: MIT

package fakemodem

import (
	"errors"
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// LogPacket is one log packet and when it is committed, after the first.
type LogPacket struct {
	At     time.Duration
	Code   diag.LogCode
	Logged diag.Timestamp
	Body   []byte
}

// Busy returns log packets of a busy LTE uplink, from frame 0 on for a
// multiple of 10 ms: in each TTI a block of bytes, in every fifth a BSR of some
// reported bytes, committed every 10 ms as PUSCH report (B139) and as transport
// blocks (B064). 10.24 s of it repeat without a seam.
func Busy(length time.Duration, bytes, reported int) ([]LogPacket, error) {
	const step, period, tti0 = 10, 5, 0
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var out []LogPacket
	for ms := 0; ms < int(length/time.Millisecond); ms += step {
		var grants, blocks []diag.Record
		for i := range step {
			g := diag.Record{Kind: diag.KindGrant, RAT: diag.LTE, TTI: (tti0 + ms + i) % 10240, Bytes: bytes}
			grants, blocks = append(grants, g), append(blocks, g)
			if i%period == 0 {
				r := diag.Record{
					Kind: diag.KindBSR, RAT: diag.LTE, TTI: g.TTI, Form: diag.FormShort, Trigger: diag.TriggerPeriodic, LCGs: 1 << 2,
				}
				r.Index[2] = diag.LTEIndex(reported, false)
				blocks = append(blocks, r)
			}
		}
		at := time.Duration(ms+step) * time.Millisecond
		b139, err139 := diag.AppendB139(nil, grants...)
		b064, err064 := diag.AppendB064(nil, blocks...)
		if err := errors.Join(err139, err064); err != nil {
			return nil, fmt.Errorf("fakemodem: %w", err)
		}
		logged := diag.TimestampOf(start.Add(at))
		out = append(out, LogPacket{At: at, Code: diag.LogB139, Logged: logged, Body: b139},
			LogPacket{At: at, Code: diag.LogB064, Logged: logged, Body: b064})
	}

	return out, nil
}

// Capture returns the log packets of an HDLC capture, in the rhythm of their
// time stamps.
func Capture(stream []byte) []LogPacket {
	var (
		out   []LogPacket
		first time.Time
		at    time.Duration
		d     diag.Deframer
	)
	for len(stream) > 0 {
		n := min(len(stream), 64<<10)
		d.Write(stream[:n])
		stream = stream[n:]
		for {
			frame, err := d.Next()
			if err != nil {
				break
			}
			p, err := diag.ParseFrame(frame)
			if err != nil {
				continue
			}
			if t := p.Logged.Time(); !t.IsZero() {
				if first.IsZero() {
					first = t
				}
				at = max(at, t.Sub(first))
			}
			out = append(out, LogPacket{At: at, Code: p.Code, Logged: p.Logged, Body: append([]byte(nil), p.Body...)})
		}
	}

	return out
}

// Stream returns log packets as one HDLC capture.
func Stream(packets []LogPacket) []byte {
	var b []byte
	for _, p := range packets {
		b = diag.AppendHDLC(b, diag.AppendLog(nil, p.Code, p.Logged, p.Body))
	}

	return b
}
