// SPDX-License-Identifier: MIT

package gcc

import (
	"encoding/binary"
	"testing"
	"time"
)

type discard struct{}

func (discard) Record(time.Time, Event) {}

// FuzzController runs operations of 6 bytes each: what, how far the clock
// moves, and a number.
func FuzzController(f *testing.F) {
	op := func(what, dt byte, v uint32) []byte {
		return binary.BigEndian.AppendUint32([]byte{what, dt}, v)
	}
	var call, mess []byte
	for i := range uint32(40) {
		call = append(call, op(0, 1, 1200)...)
		call = append(call, op(0, 1, 900)...)
		call = append(call, op(1, 2, i<<8)...)
		mess = append(mess, op(byte(i), byte(i*37), i*0x9e3779b9)...)
	}
	f.Add(call)
	f.Add(mess)
	f.Add(append(op(0, 10, 1200), append(op(6, 255, 0), op(0, 10, 1200)...)...))

	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := Config{StartBps: 500_000, MinBps: 200_000, MaxBps: 5_000_000}
		if len(data)%2 == 1 {
			cfg.Recorder = discard{}
		}
		cfg.Loss = LossRule(len(data) / 6 % 2)
		cfg.Acked = AckedEstimator(len(data) / 12 % 2)
		cfg.NoPushback = len(data)/24%2 == 1
		c := newTest(t, cfg)
		now, top := t0, t0
		var seq, acked int64
		probe := 0
		sent := map[int64]SentPacket{}
		report := func(v uint32) []PacketResult {
			var res []PacketResult
			for n := v % 64; n > 0 && acked < seq; n-- {
				p := sent[acked]
				acked++
				res = append(res, PacketResult{
					SentPacket: p,
					Received:   v>>8&0xf != n&0xf,
					Arrival:    RemoteTime(p.At.Sub(t0).Microseconds() + int64(v>>12)*int64(n)),
				})
			}

			return res
		}
		for ; len(data) >= 6; data = data[6:] {
			v := binary.BigEndian.Uint32(data[2:])
			now = now.Add(time.Duration(data[1]) * time.Duration(data[1]) * 100 * time.Microsecond)
			before := c.Estimate()
			switch data[0] % 13 {
			case 0, 7, 8:
				p := SentPacket{Seq: seq, Size: int(int32(v)) % 3000, At: now, Probe: probe}
				sent[seq] = p
				seq++
				c.OnPacketSent(now, p)
			case 1, 9:
				c.OnFeedback(now, Feedback{Packets: report(v)})
			case 2:
				res := report(v)
				c.OnAcked(now, res)
				c.OnDelay(now.Add(time.Duration(v%100)*time.Millisecond), res)
			case 3: // anything at all
				c.OnFeedback(now, Feedback{Packets: []PacketResult{{
					SentPacket: SentPacket{Seq: int64(v) << (v % 40), Size: int(int32(v)), At: now.Add(-time.Duration(v) << (v % 30))},
					Received:   v%3 != 0,
					Arrival:    RemoteTime(int32(v)) << (v % 33),
				}}})
			case 4:
				c.OnTimeout(now)
			case 5:
				c.SetEstimate(now, int(int32(v)))
			case 10:
				probe = 0
				if p, ok := c.NextProbe(); ok {
					if p.RateBps <= 0 || p.RateBps > cfg.MaxBps || p.MinBytes < 0 || p.MinPackets <= 0 {
						t.Fatalf("%+v", p)
					}
					probe = p.ID
				} else if v%2 == 0 {
					probe = int(int32(v))
				}
			case 11:
				c.SetProbing(now, v%3 != 0)
			case 12:
				c.SetNeed(now, int(int32(v)))
			case 6:
				now = now.Add(-time.Duration(v % uint32(time.Second)))
			}
			if now.After(top) {
				top = now
			}
			e := c.Estimate()
			if e.BitrateBps < cfg.MinBps || e.BitrateBps > cfg.MaxBps || e.DelayBps < e.BitrateBps || e.LossBps < e.BitrateBps {
				t.Fatalf("estimate out of bounds: %+v", e)
			}
			if e.PacingBps < e.BitrateBps || e.AckedBps < 0 || e.RTT < 0 || !(e.LossRatio >= 0 && e.LossRatio <= 1) ||
				e.WindowBytes < 0 || !(e.Pushback >= 0 && e.Pushback < 1) || c.inFlight.bytes < 0 {
				t.Fatalf("%+v", e)
			}
			if op := data[0] % 13; (op == 1 || op == 9) && e.Usage == UsageOver && e.DelayBps > before.DelayBps {
				t.Fatalf("rose on overuse: %+v then %+v", before, e)
			}
			c.OnTimeout(top)
			if next := c.NextTimeout(); !next.IsZero() && !next.After(top) {
				t.Fatalf("next timeout %v before %v after OnTimeout", next, top)
			}
		}
	})
}
