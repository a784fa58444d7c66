// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

// live sends a packet each 20 ms and feeds back, 50 ms later, those sent while
// answered says so. It returns the estimates by second.
func live(t *testing.T, dur time.Duration, sends, answered func(time.Duration) bool) []int {
	t.Helper()
	c := newTest(t, Config{StartBps: 2_000_000, MaxBps: 2_000_000})
	var bySecond []int
	var flight []PacketResult
	for d := time.Duration(0); d < dur; d += 10 * time.Millisecond {
		now := t0.Add(d)
		if sends(d) && d%(20*time.Millisecond) == 0 {
			p := SentPacket{Seq: int64(d), Size: 1200, At: now}
			c.OnPacketSent(now, p)
			flight = append(flight, PacketResult{SentPacket: p, Received: true, Arrival: RemoteTime(d.Microseconds() + 25_000)})
		}
		if len(flight) > 0 && now.Sub(flight[0].At) >= 50*time.Millisecond {
			if answered(flight[0].At.Sub(t0)) {
				c.OnFeedback(now, Feedback{Packets: flight[:1]})
			}
			flight = flight[1:]
		}
		if next := c.NextTimeout(); !next.IsZero() && !next.After(now) {
			c.OnTimeout(now)
		}
		if d%time.Second == 0 {
			bySecond = append(bySecond, c.Estimate().BitrateBps)
		}
	}

	return bySecond
}

func newTest(t testing.TB, cfg Config) *Controller {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func always(time.Duration) bool { return true }

func TestSilenceDecaysWhileSending(t *testing.T) {
	est := live(t, 9*time.Second, always, func(d time.Duration) bool { return d < 3*time.Second })
	// The last answer comes at 3 s; 1.95 s later the first cut, then each second.
	if est[4] != 2_000_000 {
		t.Errorf("estimate at 4 s %d, want no decay yet", est[4])
	}
	want := 2_000_000.0
	for s := 5; s <= 8; s++ {
		want *= 0.8
		band(t, "estimate", float64(est[s]), want-2, want+2, "bit/s")
	}
}

func TestSilenceBeforeAnyFeedback(t *testing.T) {
	est := live(t, 30*time.Second, always, func(time.Duration) bool { return false })
	if est[1] != 2_000_000 || est[3] >= 2_000_000 || est[29] != 100_000 {
		t.Errorf("estimates %v, want 2 s of patience and the minimum in the end", est)
	}
}

func TestSilenceOfTheSenderIsNoReason(t *testing.T) {
	stopped := func(d time.Duration) bool { return d < 3*time.Second }
	// Some of the last packets stay unanswered for good.
	est := live(t, 20*time.Second, stopped, func(d time.Duration) bool { return d < 2900*time.Millisecond })
	if est[19] != est[3] {
		t.Errorf("estimate fell from %d to %d after the sender stopped", est[3], est[19])
	}

	// Back after 10 s: the first packets are not late at once.
	paused := func(d time.Duration) bool { return d < 3*time.Second || d > 13*time.Second }
	est = live(t, 16*time.Second, paused, always)
	if est[15] < est[3] {
		t.Errorf("estimate fell from %d to %d over a pause", est[3], est[15])
	}
}

func TestSilenceLongRoundTrip(t *testing.T) {
	c := newTest(t, Config{StartBps: 2_000_000, MaxBps: 2_000_000})
	for i := range 4 { // a report each second, all packets 2.5 s old
		now := t0.Add(time.Duration(i) * time.Second)
		p := SentPacket{Seq: int64(i), Size: 1200, At: now.Add(-2500 * time.Millisecond)}
		c.OnFeedback(now, Feedback{Packets: []PacketResult{{SentPacket: p, Received: true, Arrival: RemoteTime(i) * 1e6}}})
		c.OnPacketSent(now, SentPacket{Seq: int64(i + 10), Size: 1200, At: now})
		c.OnTimeout(now)
	}
	band(t, "estimate", float64(c.Estimate().BitrateBps), 2e6*0.8*0.8*0.8*0.8-2, 2e6*0.8*0.8*0.8*0.8+2, "bit/s")
}
