// SPDX-License-Identifier: MIT

package gbr_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// FuzzEstimator drives the estimator and the real outer loop with whatever
// order of events, sizes and clock jumps, and holds what must always hold.
func FuzzEstimator(f *testing.F) {
	f.Add([]byte{0, 10, 1, 5, 2, 200, 3, 7, 4, 0, 5, 255})
	f.Add([]byte{2, 0, 2, 1, 2, 255, 6, 9, 6, 3, 0, 90, 1, 250})
	f.Add([]byte{3, 100, 8, 5, 3, 100, 0, 20, 8, 4, 9, 0, 4, 8, 8, 250, 9, 1, 7, 0})
	busy := []byte{}
	for i := range 400 { // a phone that is never empty
		busy = append(busy, 3, 125, 0, 5, 8, byte(i%8), 9, 0)
		if i%10 == 9 {
			busy = append(busy, 4, 10)
		}
	}
	f.Add(busy)
	short := []byte{8 * 1, 0} // seed: full windows, then a starved one
	for range 50 {
		short = append(short, 0, 5, 2, 0xD5, 2, 0, 3, 90, 4, 10)
	}
	f.Add(short)
	f.Fuzz(func(t *testing.T, ops []byte) {
		const lo, hi = 200_000, 5_000_000
		outer, err := gcc.New(gcc.Config{MinBps: lo, StartBps: lo, MaxBps: hi})
		if err != nil {
			t.Fatal(err)
		}
		cfg := gbr.Config{MinBps: lo, StartBps: lo, MaxBps: hi}
		if len(ops) > 0 {
			cfg.Algorithm = gbr.Algorithms()[int(ops[0]/8)%len(gbr.Algorithms())]
		}
		e, err := gbr.NewEstimator(outer, cfg)
		if err != nil {
			t.Fatal(err)
		}
		now, newest := epoch, epoch // the newest time that the estimator was told
		e.OnTimeout(now)
		var seq int64
		var arrival gcc.RemoteTime
		var sent []gcc.SentPacket
		for i := 0; i+1 < len(ops); i += 2 {
			arg := ops[i+1]
			switch ops[i] % 10 {
			case 0:
				now = now.Add(time.Duration(arg) * time.Millisecond)
			case 1:
				now = now.Add(-time.Duration(arg) * 10 * time.Millisecond) // the clock jumps back
			case 2: // a sample of any age, also from the future
				e.OnTimeout(now) // what time alone does is not the sample's doing
				before := e.Target().RateBps
				age := time.Duration(int8(arg)) * 10 * time.Millisecond
				e.OnSample(now, gbr.Sample{At: now.Add(-age), Window: T, Granted: int(arg) * 100, Reported: int(arg^0x55) * 100})
				// Lateness is judged against the newest time seen.
				if late := max(now.Sub(now), newest.Sub(now)) + age; late > 500*time.Millisecond && e.Target().RateBps > before {
					t.Fatalf("a sample %v old raised the rate from %d to %d", late, before, e.Target().RateBps)
				}
				if arg == 0 && e.Target().RateBps > before {
					t.Fatalf("a starved sample raised the rate from %d to %d", before, e.Target().RateBps)
				}
			case 3:
				p := gcc.SentPacket{Seq: seq, Size: int(arg) * 10, At: now}
				seq++
				sent = append(sent, p)
				e.OnPacketSent(now, p)
			case 4, 5:
				var fb gcc.Feedback
				for _, p := range sent {
					arrival = arrival.Add(time.Duration(arg) * 100 * time.Microsecond)
					fb.Packets = append(fb.Packets, gcc.PacketResult{SentPacket: p, Received: ops[i]%10 == 4 || p.Seq%3 > 0, Arrival: arrival})
				}
				sent = sent[:0]
				e.OnFeedback(now, fb)
			case 6:
				e.OnTelemetry(now, gbr.Telemetry{})
			case 7:
				e.OnTimeout(now)
				if next := e.NextTimeout(); !next.IsZero() && next.Before(now) && !now.Before(newest) {
					t.Fatalf("next timeout %v before now %v", next.Sub(epoch), now.Sub(epoch))
				}
			case 8: // grants and reports of any time, size and order
				at := now.Add(-time.Duration(int8(arg)) * 5 * time.Millisecond)
				e.OnTelemetry(now, gbr.Telemetry{
					Grants:  []gbr.Grant{{At: at, Bytes: int(arg)*200 - 1000}, {At: at.Add(-time.Duration(arg)), Bytes: 1 << (arg % 63)}},
					Reports: []gbr.Report{{At: at, Low: int(arg) * 100, High: int(arg)*120 - 500}, {At: at, Low: -int(arg), High: 1 << (arg % 63)}},
					Config:  &gbr.RadioConfig{RAT: gbr.RATLTE, PCI: int(arg) - 100, Lag: time.Duration(int8(arg)) * time.Millisecond, Period: time.Duration(arg) * time.Hour},
				})
			case 9:
				if n, ok := e.FrameBudget(now); n < 0 || n > hi || n > 0 && !ok {
					t.Fatalf("budget %d, %v", n, ok)
				}
			}
			if ops[i]%10 > 1 && now.After(newest) {
				newest = now
			}
			got := e.Target()
			if got.BitrateBps < lo || got.BitrateBps > hi || got.RateBps < lo || got.RateBps > hi || got.PacingBps < lo {
				t.Fatalf("out of bounds: %+v", got)
			}
			if got.RatioOK && !(got.Ratio >= 0 && got.Ratio <= 1) {
				t.Fatalf("ratio %g", got.Ratio)
			}
		}
	})
}
