// SPDX-License-Identifier: MIT

package qoe

import (
	"testing"
	"time"
)

func TestMetronome(t *testing.T) {
	m := metronome{period: 16 * ms, phase: 3 * ms} // ticks at 3, 19, 35, 51 ms ...
	for _, c := range []struct {
		name      string
		now, due  time.Duration
		wantAfter time.Duration
	}{
		{"due before the next tick is near", 4 * ms, 13 * ms, 4 * ms},
		{"due 5 ms before the next tick: it may be late", 4 * ms, 14 * ms, 19 * ms},
		{"due 1 ms before the next tick", 4 * ms, 18 * ms, 19 * ms},
		{"due at the next tick", 4 * ms, 19 * ms, 19 * ms},
		{"due between the next two", 4 * ms, 34 * ms, 19 * ms},
		{"due at the one after", 4 * ms, 35 * ms, 35 * ms},
		{"due after many", 4 * ms, 70 * ms, 67 * ms},
		{"due now", 4 * ms, 4 * ms, 4 * ms},
		{"scheduled at a tick", 19 * ms, 34 * ms, 35 * ms},
		{"scheduled at a tick, due later", 19 * ms, 36 * ms, 35 * ms},
		{"scheduled at a tick, due soon", 19 * ms, 29 * ms, 19 * ms},
		{"before the phase", -20 * ms, -1 * ms, -13 * ms},
	} {
		if got := m.release(c.now, c.due); got != c.wantAfter {
			t.Errorf("%s: scheduled at %v, due at %v: released at %v, want %v", c.name, c.now, c.due, got, c.wantAfter)
		}
	}
	if got := (metronome{}).release(4*ms, 18*ms); got != 18*ms {
		t.Errorf("without a metronome: released at %v, want 18 ms", got)
	}
}

// Never more than a period early nor 5 ms late, whatever the phase.
func TestMetronomeBounds(t *testing.T) {
	for phase := -20 * ms; phase < 20*ms; phase += 700 * time.Microsecond {
		m := metronome{period: ChromiumTick, phase: phase}
		for now := -50 * ms; now < 50*ms; now += 1300 * time.Microsecond {
			for wait := time.Duration(0); wait < 60*ms; wait += 900 * time.Microsecond {
				due := now + wait
				got := m.release(now, due)
				if got < now || got > due+fastForward || got <= due-m.period && got != now {
					t.Fatalf("phase %v: scheduled at %v, due at %v: released at %v", phase, now, due, got)
				}
				if into := (got - phase) % m.period; got != now && got != due && into != 0 {
					t.Fatalf("phase %v: released at %v, which is no tick", phase, got)
				}
			}
		}
	}
}

// With a metronome frames of a steady stream leave at its ticks and earlier
// than they would, by half a period less what they would wait, on average.
func TestReceiverReleasesAtTicks(t *testing.T) {
	mean := func(tick time.Duration) time.Duration {
		start := epoch()
		r := NewReceiver(ReceiverConfig{Start: start, DecodeTick: tick, DecodeTickAt: start.Add(-7 * ms)})
		for i := range 3000 {
			at := start.Add(time.Duration(i) * time.Second / 30)
			out := r.OnFrame(at, FrameInfo{
				ID: int64(i), RTPTimestamp: uint32(i) * 3000, Size: 4000, KeyFrame: i == 0, Complete: true,
			})
			for _, f := range out {
				into := f.Released.Sub(start.Add(-7*ms)) % ChromiumTick
				atOnce := f.Released.Sub(f.LastPacket) < time.Millisecond
				if tick > 0 && i > 10 && !atOnce && into > time.Microsecond && into < ChromiumTick-time.Microsecond {
					t.Fatalf("frame %d released %v after a tick", f.ID, into)
				}
			}
		}
		s := r.Stats()

		return s.JitterBufferDelay / time.Duration(s.JitterBufferEmittedCount)
	}
	within(t, "mean delay without a metronome", mean(0).Seconds()*1000, 11, 0.3, "ms")
	within(t, "mean delay with one", mean(ChromiumTick).Seconds()*1000, 7.8, 0.5, "ms")
}

func TestMetronomeTakesAnything(t *testing.T) {
	for _, tick := range []time.Duration{-1, 1, 999, time.Microsecond, time.Hour, 1 << 62} {
		for _, at := range []time.Time{{}, time.Unix(-1<<40, 0), time.Unix(1<<40, 0)} {
			r := NewReceiver(ReceiverConfig{DecodeTick: tick, DecodeTickAt: at})
			for i := range 60 {
				r.OnFrame(epoch().Add(time.Duration(i)*33*ms), FrameInfo{
					ID: int64(i), RTPTimestamp: uint32(i) * 2970, Size: 1000, KeyFrame: i == 0, Complete: true,
				})
			}
			r.OnTimeout(epoch().Add(time.Minute))
			if got := r.Stats().FramesDecoded; got < 50 {
				t.Errorf("period %v, tick at %v: %d of 60 frames decoded", tick, at, got)
			}
		}
	}
}
