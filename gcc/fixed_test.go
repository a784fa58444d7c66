// SPDX-License-Identifier: MIT

package gcc_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// A fixed loop measures, whatever it is told, and stays where it is.
func TestFixed(t *testing.T) {
	const bps = 3_000_000
	f := gcc.NewFixed(bps)
	start := time.Unix(1000, 0)
	if e := f.Estimate(); e.BitrateBps != bps || e.AckedBps != 0 || e.RTT != 0 || !f.NextTimeout().IsZero() {
		t.Errorf("at first %+v", e)
	}
	// 1000 bytes every 4 ms are 2 Mbit/s; every tenth packet is lost, and all
	// come later and later.
	results := make([]gcc.PacketResult, 0, 25)
	for i := range 1000 {
		at := start.Add(time.Duration(4*i) * time.Millisecond)
		p := gcc.SentPacket{Seq: int64(i), Size: 1000, At: at}
		f.OnPacketSent(at, p)
		results = append(results, gcc.PacketResult{SentPacket: p, Received: i%10 != 9, Arrival: gcc.RemoteTime(4000*i + 30_000 + 40*i)})
		if len(results) == cap(results) {
			now := at.Add(60 * time.Millisecond)
			f.OnAcked(now, results)
			f.OnDelay(now, results)
			f.SetEstimate(now, 100_000)
			f.OnTimeout(now)
			results = results[:0]
		}
	}
	e := f.Estimate()
	if e.BitrateBps != bps || e.DelayBps != bps || e.LossBps != bps || e.PacingBps != 2.5*bps || e.Usage != gcc.UsageNormal {
		t.Errorf("in the end %+v", e)
	}
	if e.AckedBps < 1_700_000 || e.AckedBps > 1_850_000 {
		t.Errorf("%d bit/s arrive, want 1.8 Mbit/s (-6, +3 %%)", e.AckedBps)
	}
	if e.RTT < 59*time.Millisecond || e.RTT > 65*time.Millisecond {
		t.Errorf("round trip %v, want 60 ms (-1, +5)", e.RTT)
	}
	if n := testing.AllocsPerRun(100, func() {
		p := gcc.SentPacket{Seq: 5000, Size: 1000, At: start.Add(time.Minute)}
		f.OnPacketSent(p.At, p)
		f.OnAcked(p.At, append(results[:0], gcc.PacketResult{SentPacket: p, Received: true, Arrival: 61_000_000}))
	}); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
