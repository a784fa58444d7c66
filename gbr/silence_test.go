// SPDX-License-Identifier: MIT

package gbr_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// silences are ways in which nothing more is told.
func silences() map[string]func(r *radio, told gbr.Telemetry) {
	var last gbr.Telemetry

	return map[string]func(r *radio, told gbr.Telemetry){
		"no agent":   func(*radio, gbr.Telemetry) {},
		"only alive": func(r *radio, _ gbr.Telemetry) { r.e.OnTelemetry(r.now, gbr.Telemetry{}) },
		"only starved samples": func(r *radio, _ gbr.Telemetry) {
			r.e.OnTelemetry(r.now, gbr.Telemetry{Samples: []gbr.Sample{{At: r.now, Window: T, Reported: 5000}}})
		},
		"the same again and again": func(r *radio, told gbr.Telemetry) {
			if len(last.Grants) == 0 {
				last = told
			}
			r.e.OnTelemetry(r.now, last)
		},
	}
}

// Silence is no lie: however long nothing was told while packets arrived, the
// modem's word counts again from the first one on. Until then the outer loop is
// alone, and nothing else moves its rate.
func TestSilenceIsNoLie(t *testing.T) {
	for name, tell := range silences() {
		for _, d := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second} {
			r := newRadio(t, 500)
			r.frame = 14_000
			r.run(3*time.Second, false)
			if !gbr.Trusted(r.e) {
				t.Fatal("not trusted before")
			}
			r.tell = tell
			r.run(d, false)
			if _, ok := r.e.FrameBudget(r.now); ok {
				t.Errorf("%s, %v: a frame budget", name, d)
			}
			r.outer.rate = 1_500_000
			rate := 0
			r.tell = func(r *radio, told gbr.Telemetry) {
				if rate == 0 {
					rate = r.outer.rate
				}
				r.e.OnTelemetry(r.now, told)
			}
			r.run(200*time.Millisecond, false)
			if !gbr.Trusted(r.e) {
				t.Errorf("%s, %v: not trusted 200 ms after", name, d)
			}
			if rate != 1_500_000 {
				t.Errorf("%s, %v: %d bit/s at its end", name, d, rate)
			}
			r.run(5*time.Second, false)
			if !gbr.Trusted(r.e) {
				t.Errorf("%s, %v: not trusted 5 s after", name, d)
			}
		}
	}
}

// Samples that say that the phone starves do not move the rate of one whose packets
// arrive, when grants were told before.
func TestStarvedSamplesOfSilence(t *testing.T) {
	r := newRadio(t, 500)
	r.frame = 14_000
	r.run(3*time.Second, false)
	r.outer.rate, r.outer.acked = 4_000_000, 2_500_000
	r.tell = silences()["only starved samples"]
	r.run(10*time.Second, false)
	// 0.85 of what arrives, and half of that after a second: as without telemetry.
	if r.outer.rate < 1_000_000 {
		t.Errorf("%d bit/s", r.outer.rate)
	}
}

// Who has steered for a moment only, by what was not true, leaves the rate as it
// was.
func TestBriefLieLeavesNothing(t *testing.T) {
	for _, move := range []float64{0.85, 1, 1.3} {
		r := newRadio(t, 1000)
		r.tell = func(*radio, gbr.Telemetry) {}
		r.run(time.Second, false)
		r.outer.rate, r.outer.acked = 3_000_000, 2_500_000
		r.outer.onDelay = func(s *scripted) {
			if gbr.Trusted(r.e) {
				s.rate = int(move * float64(s.rate))
			}
		}
		steered := false
		r.lie = 1 // a tenth
		r.tell = func(r *radio, told gbr.Telemetry) {
			r.e.OnTelemetry(r.now, told)
			steered = steered || gbr.Trusted(r.e)
		}
		r.run(1800*time.Millisecond, false)
		if !steered || gbr.Trusted(r.e) {
			t.Fatalf("steered %v, trusted %v", steered, gbr.Trusted(r.e))
		}
		within(t, "rate", float64(r.outer.rate), 3_000_000, 30_000, "bit/s")
	}
}

// Who tells nothing but the ratio is steered by from its first word on, whether or
// not there was feedback before, and again after a pause.
func TestSamplesAloneAfterSilence(t *testing.T) {
	outer, err := gcc.New(gcc.Config{StartBps: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	e, err := gbr.NewEstimator(outer, gbr.Config{StartBps: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	now, seq := epoch, int64(0)
	run := func(d time.Duration, told bool, delay time.Duration) {
		for end := now.Add(d); now.Before(end); now = now.Add(T) {
			p := gcc.SentPacket{Seq: seq, Size: 1200, At: now}
			seq++
			e.OnPacketSent(now, p)
			e.OnFeedback(now, gcc.Feedback{Packets: []gcc.PacketResult{{
				SentPacket: p, Received: true, Arrival: gcc.RemoteTime(now.Sub(epoch).Microseconds() + 30_000),
			}}})
			if told {
				e.OnTelemetry(now, gbr.Telemetry{Samples: []gbr.Sample{sampleAt(now, delay)}})
			}
		}
	}
	for _, pause := range []time.Duration{time.Second, 5 * time.Second} {
		run(pause, false, 0)
		before := e.Target().BitrateBps
		run(500*time.Millisecond, true, 400*time.Millisecond) // the phone's queue is long
		if after := e.Target(); after.Mode != gbr.Dual || float64(after.BitrateBps) > 0.8*float64(before) || after.BitrateBps < before/100 {
			t.Errorf("after %v of silence and half a second with a queue of 400 ms: %v, from %d to %d bit/s", pause, after.Mode, before, after.BitrateBps)
		}
		run(time.Second, true, 5*time.Millisecond)
	}
}
