// SPDX-License-Identifier: MIT

package gbr_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// noises are what may come beside the truth: each is called after every batch.
func noises() map[string]func(r *radio, told gbr.Telemetry) {
	rng := rand.New(rand.NewPCG(5, 6))
	shifted := func(t gbr.Telemetry, by time.Duration) gbr.Telemetry {
		grants, reports := slices.Clone(t.Grants), slices.Clone(t.Reports)
		for i := range grants {
			grants[i].At = grants[i].At.Add(by)
		}
		for i := range reports {
			reports[i].At = reports[i].At.Add(by)
		}

		return gbr.Telemetry{Grants: grants, Reports: reports}
	}
	stamped := func(at time.Time) func(*radio, gbr.Telemetry) {
		return func(r *radio, told gbr.Telemetry) {
			t := shifted(told, 0)
			for i := range t.Grants {
				t.Grants[i].At = at
			}
			for i := range t.Reports {
				t.Reports[i].At = at
			}
			t.Samples = []gbr.Sample{{At: at, Window: T, Granted: 5000, Reported: 5000}}
			r.e.OnTelemetry(r.now, t)
		}
	}
	var past []gbr.Telemetry

	return map[string]func(r *radio, told gbr.Telemetry){
		"an hour ago": func(r *radio, told gbr.Telemetry) { r.e.OnTelemetry(r.now, shifted(told, -time.Hour)) },
		"year 1":      stamped(time.Time{}),
		"year 9999":   stamped(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)),
		"1970":        stamped(time.Unix(0, 0)),
		"repeated": func(r *radio, told gbr.Telemetry) {
			past = append(past, told)
			r.e.OnTelemetry(r.now, past[rng.IntN(len(past))])
		},
		"negative": func(r *radio, told gbr.Telemetry) {
			t := shifted(told, 0)
			for i := range t.Grants {
				t.Grants[i].Bytes = -1 - rng.IntN(math.MaxInt32)
			}
			for i := range t.Reports {
				t.Reports[i].Low, t.Reports[i].High = -1-rng.IntN(math.MaxInt32), -2-rng.IntN(math.MaxInt32)
			}
			t.Samples = []gbr.Sample{{At: r.now, Window: -T, Granted: -5000, Reported: 5000}, {At: r.now, Window: T, Granted: 50, Reported: math.MinInt}}
			r.e.OnTelemetry(r.now, t)
			r.e.OnPacketSent(r.now, gcc.SentPacket{Seq: math.MinInt64, Size: math.MinInt, At: r.now})
			r.e.SetShare(r.now, math.NaN())
			r.e.SetShare(r.now, -1)
			r.e.SetShare(r.now, math.Inf(1))
		},
		"10 000 old events": func(r *radio, told gbr.Telemetry) {
			if rng.IntN(20) > 0 {
				return
			}
			var t gbr.Telemetry
			for i := range 10_000 {
				at := r.now.Add(-time.Minute + time.Duration(i)*time.Millisecond)
				t.Grants = append(t.Grants, gbr.Grant{At: at, Bytes: 5000})
				t.Reports = append(t.Reports, gbr.Report{At: at, Low: 100, High: 200})
			}
			r.e.OnTelemetry(r.now, t)
		},
	}
}

// What is old, impossible or told again beside the truth does not raise the rate
// above what the truth alone gives, and once it has ended nothing of it is left.
func TestNoiseNeverRaises(t *testing.T) {
	for name := range noises() {
		for _, perTTI := range []int{200, 1000} {
			noise := noises()[name]
			alone, r := newRadio(t, perTTI), newRadio(t, perTTI)
			alone.frame, r.frame = perTTI*28, perTTI*28
			for step := range 60 {
				r.tell = nil
				if step >= 20 && step < 40 {
					r.tell = func(r *radio, told gbr.Telemetry) {
						r.e.OnTelemetry(r.now, told)
						noise(r, told)
					}
				}
				alone.run(99*time.Millisecond, false)
				r.run(99*time.Millisecond, false)
				got, most := r.e.Target(), alone.e.Target()
				// While it is not believed the outer loop is alone, whose rate it is.
				if limit := max(most.RateBps, most.BitrateBps) * 102 / 100; gbr.Trusted(r.e) && (got.RateBps > limit || got.BitrateBps > limit) {
					t.Fatalf("%s, %d bytes a TTI, after %d ms: rate %d and %d, %d without", name, perTTI, step*99, got.RateBps, got.BitrateBps, limit)
				}
			}
			if !gbr.Trusted(r.e) {
				t.Errorf("%s, %d bytes a TTI: not trusted 2 s after", name, perTTI)
			}
			within(t, name+": rate 2 s after", float64(r.e.Target().RateBps)/float64(alone.e.Target().RateBps), 1, 0.1, "of that without")
		}
	}
}

// The phone is another one each second, or each batch: with a clock of its own, and
// twenty times the radio. Whoever is believed, the rate is none that this phone's
// sender could not have, and the truth counts again when it is alone.
func TestTwoPhonesOnOneLink(t *testing.T) {
	for _, every := range []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, time.Second} {
		for _, ahead := range []time.Duration{0, 30 * time.Millisecond, -700 * time.Millisecond, 5 * time.Hour} {
			const perTTI = 500
			r, turn := newRadio(t, perTTI), 0
			r.frame = 14_000
			r.run(4*time.Second, false)
			r.outer.rate = 1_000_000
			batches := int(every / (5 * time.Millisecond))
			r.tell = func(r *radio, told gbr.Telemetry) {
				if turn++; turn/batches%2 == 0 {
					r.e.OnTelemetry(r.now, told)

					return
				}
				var other gbr.Telemetry
				for i := range 5 {
					at := r.now.Add(ahead + time.Duration(i-6)*time.Millisecond)
					other.Grants = append(other.Grants, gbr.Grant{At: at, Bytes: 20 * perTTI})
					other.Reports = append(other.Reports, gbr.Report{At: at, Low: 200_000, High: 220_000})
				}
				r.e.OnTelemetry(r.now, other)
			}
			for range 50 {
				r.run(99*time.Millisecond, false)
				got := r.e.Target()
				// What arrives bounds growth, whatever is told.
				if got.RateBps > r.outer.rate || got.BitrateBps > r.outer.rate || r.outer.rate > 1.6*8000*perTTI {
					t.Fatalf("every %v, clock %v ahead: rate %d and %d, outer loop %d", every, ahead, got.RateBps, got.BitrateBps, r.outer.rate)
				}
			}
			r.tell = nil
			r.outer.rate = 20_000_000
			// What was wrong that often is not believed soon again.
			for s := 0; !gbr.Trusted(r.e); s++ {
				if s > 90 {
					t.Fatalf("every %v, clock %v ahead: not trusted %d s after", every, ahead, s)
				}
				r.run(time.Second, false)
			}
			r.run(2*time.Second, false)
			within(t, "rate after it", float64(r.e.Target().RateBps)/(8000*perTTI), 0.85, 0.2, "of the radio's")
		}
	}
}

// The modem's frame numbers begin anew every 10.24 s, and so may its clock: it is a
// jump like others, back by all of that.
func TestClockThatWraps(t *testing.T) {
	const wrap = 10_240 * time.Millisecond
	r := newRadio(t, 500)
	r.frame = 14_000
	begin := r.now
	r.tell = func(r *radio, told gbr.Telemetry) {
		back := -r.now.Sub(begin).Truncate(wrap)
		for i := range told.Grants {
			told.Grants[i].At = told.Grants[i].At.Add(back)
		}
		for i := range told.Reports {
			told.Reports[i].At = told.Reports[i].At.Add(back)
		}
		r.e.OnTelemetry(r.now, told)
	}
	r.run(wrap-time.Second, false)
	for n := range 4 {
		within(t, "rate before", float64(r.e.Target().RateBps)/4e6, 0.85, 0.2, "of the radio's")
		for range 50 {
			r.run(99*time.Millisecond, false)
			if got := r.e.Target().RateBps; gbr.Trusted(r.e) && got > 4_000_000 {
				t.Fatalf("wrap %d: rate %d", n+1, got)
			}
		}
		r.run(wrap-50*99*time.Millisecond, false)
		if !gbr.Trusted(r.e) {
			t.Errorf("wrap %d: not trusted before the next", n+1)
		}
	}
}
