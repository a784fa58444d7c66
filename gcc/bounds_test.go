// SPDX-License-Identifier: MIT

package gcc

import (
	"errors"
	"testing"
	"time"
)

// The bounds move in mid call: the estimate follows where it must, stays where it
// may, and what was learned of the path is still there.
func TestSetBounds(t *testing.T) {
	c, err := New(Config{MinBps: 100_000, StartBps: 2_000_000, MaxBps: 5_000_000})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	seq := int64(0)
	run := func(d time.Duration) {
		for range d / (50 * time.Millisecond) {
			var fb Feedback
			for range 10 {
				now = now.Add(5 * time.Millisecond)
				p := SentPacket{Seq: seq, Size: 1200, At: now}
				seq++
				c.OnPacketSent(now, p)
				fb.Packets = append(fb.Packets, PacketResult{SentPacket: p, Received: true, Arrival: RemoteTime(now.UnixMicro() + 20_000)})
			}
			now = now.Add(5 * time.Millisecond)
			c.OnFeedback(now, fb)
			c.OnTimeout(now)
		}
	}
	run(3 * time.Second)
	before := c.Estimate()
	if before.AckedBps < 1_500_000 || before.RTT == 0 {
		t.Fatalf("nothing learned: %+v", before)
	}
	for _, bounds := range [][2]int{{0, 1}, {2, 1}, {1, maxConfigBps + 1}} {
		if err := c.SetBounds(now, bounds[0], bounds[1]); !errors.Is(err, ErrConfig) {
			t.Errorf("bounds %v: %v", bounds, err)
		}
	}
	for _, tt := range []struct{ min, max, want int }{
		{100_000, 20_000_000, before.BitrateBps},
		{100_000, 1_000_000, 1_000_000},
		{50_000, 9_000_000, 1_000_000},
		{3_000_000, 9_000_000, 3_000_000},
	} {
		if err := c.SetBounds(now, tt.min, tt.max); err != nil {
			t.Fatal(err)
		}
		if got := c.Estimate(); got.BitrateBps != tt.want || got.AckedBps != before.AckedBps || got.RTT != before.RTT {
			t.Errorf("%d to %d: %+v, want %d bit/s and the rest of %+v", tt.min, tt.max, got, tt.want, before)
		}
	}
	run(20 * time.Second)
	if got := c.Estimate().BitrateBps; got < 3_000_000 || got > 9_000_000 {
		t.Errorf("%d bit/s, outside of the bounds", got)
	}
}

// Probing that was configured off stays off.
func TestNoProbingStays(t *testing.T) {
	c, err := New(Config{NoProbing: true})
	if err != nil {
		t.Fatal(err)
	}
	c.SetProbing(time.Time{}, false)
	c.SetProbing(time.Time{}, true)
	if !c.probe.off {
		t.Error("probing is on")
	}
}
