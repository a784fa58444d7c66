// SPDX-License-Identifier: MIT

package gbr

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// reports feeds a path with reports of a frame each, every 50 ms, which take d
// behind the radio.
func reports(p *path, now time.Time, n int, d time.Duration) time.Time {
	for range n {
		now = now.Add(50 * time.Millisecond)
		var results [10]gcc.PacketResult
		for i := range results {
			at := now.Add(time.Duration(i-60) * time.Millisecond)
			results[i] = gcc.PacketResult{
				SentPacket: gcc.SentPacket{Size: 1200, At: at}, Received: true,
				Arrival: gcc.RemoteTime(at.Add(d).UnixMicro()),
			}
		}
		p.onArrivals(now, results[:])
		p.onDelay(now, results[:], gcc.Estimate{AckedBps: 2_000_000})
	}

	return now
}

// What arrives too soon to be true in a frame or two, as the modem told late when it
// left, makes no queue of all that comes after it; a path that has become shorter is
// one within some reports.
func TestPathIsAsLongAsItIsOften(t *testing.T) {
	const length = 40 * time.Millisecond
	for _, wrong := range []struct {
		frames int
		by     time.Duration
	}{{1, 30 * time.Millisecond}, {1, 350 * time.Millisecond}, {2, 350 * time.Millisecond}} {
		p := &path{}
		now := reports(p, time.Unix(1000, 0), 30, length)
		now = reports(p, now, wrong.frames, length-wrong.by)
		now = reports(p, now, 8, length) // the packets remembered are new ones
		if !p.clear(now) || !p.episode.IsZero() {
			t.Errorf("%d frames early by %v: a queue of %v", wrong.frames, wrong.by, p.queue)
		}
		now = reports(p, now, 120, length)
		if !p.clear(now) || p.compete.on {
			t.Errorf("%d frames early by %v: a queue of %v 6 s later", wrong.frames, wrong.by, p.queue)
		}
	}
	p := &path{}
	now := reports(p, time.Unix(1000, 0), 30, length)
	now = reports(p, now, 8, length-20*time.Millisecond)
	now = reports(p, now, 1, length+20*time.Millisecond)
	within := func(what string, got, want time.Duration) {
		t.Helper()
		if got < want-time.Millisecond || got > want+time.Millisecond {
			t.Errorf("%s: a queue of %v, want %v", what, got, want)
		}
	}
	// One packet in a report tells of what has not gone; those before are 20 ms short.
	reports(p, now, 8, length+20*time.Millisecond)
	within("a path that became 20 ms shorter, and then full", p.queue, 40*time.Millisecond)
}

// The first reports have nothing to compare with, wherever in a slot they come.
func TestPathIsUnknownAtFirst(t *testing.T) {
	for ms := range 10 {
		p := &path{}
		begin := time.Unix(1000, 0).Add(time.Duration(10*ms) * time.Millisecond)
		now := reports(p, begin, 1, 0)
		for range 4 {
			now = reports(p, now, 1, 60*time.Millisecond)
			if _, ok := p.limit(now); ok {
				t.Fatalf("a limit %v after the first report", now.Sub(begin)-50*time.Millisecond)
			}
		}
	}
}
