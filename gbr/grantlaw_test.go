// SPDX-License-Identifier: MIT

package gbr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// radio is a phone that gets the same grant in every TTI and has none in the
// first TTIs of a report, in a few lines: enough to know what must come out.
type radio struct {
	e         *gbr.Estimator
	outer     *scripted
	now       time.Time
	bytes     int // queued
	perTTI    int
	seq       int64
	frame     int
	telemetry gbr.Telemetry
	sent      []gcc.SentPacket
	lie       int // grants are told times this over 10
	// pattern, if there is one, has an U for each TTI in which the phone may send;
	// one has what came up in those before.
	pattern string
	saved   int
	// lag, with a pattern, is from a report to what answers it, in TTIs.
	lag     int64
	station station
	// tell passes telemetry on; nil for all of it.
	tell func(r *radio, told gbr.Telemetry)
}

// station is what the base station knows of the phone.
type station struct {
	at      []int64 // when it will know of the reports under way
	reports []int
	sent    []int64 // when they were sent
	grants  map[int64]int
	known   int // bytes
}

// answer is the grant of a TTI in which up to size bytes may be sent; 500 when
// the phone has asked.
func (s *station) answer(ms int64, size int) int {
	for len(s.at) > 0 && s.at[0] <= ms {
		s.known = s.reports[0]
		for at, g := range s.grants {
			if at > s.sent[0] {
				s.known -= g - 5
			}
		}
		s.at, s.reports, s.sent = s.at[1:], s.reports[1:], s.sent[1:]
	}
	g := min(size, max(s.known, 0)+min(5, max(s.known, 0)))
	if s.known -= g; g > 0 {
		s.grants[ms] = g
	}

	return g
}

// hear is a report sent in a TTI.
func (s *station) hear(ms, lag int64, bytes int) {
	s.at, s.reports, s.sent = append(s.at, ms+lag), append(s.reports, bytes), append(s.sent, ms)
}

func newRadio(t testing.TB, perTTI int) *radio {
	t.Helper()
	r := &radio{outer: &scripted{rate: 20_000_000}, now: epoch, perTTI: perTTI, frame: 10_000, lie: 10}
	var err error
	if r.e, err = gbr.NewEstimator(r.outer, gbr.Config{MaxBps: 20_000_000}); err != nil {
		t.Fatal(err)
	}

	return r
}

// run sends a frame each 33 ms, of what the estimator offers when budgets is
// set, and tells telemetry every 5 ms and feedback every 50 ms.
func (r *radio) run(d time.Duration, budgets bool) {
	for ms := range d.Milliseconds() {
		r.now = r.now.Add(time.Millisecond)
		if ms%33 == 0 {
			left := r.frame + int(ms*7919%1000)
			if b, ok := r.e.FrameBudget(r.now); ok && budgets {
				left = b
			}
			for ; left > 0; left -= 1250 {
				p := gcc.SentPacket{Seq: r.seq, Size: min(left, 1250), At: r.now}
				r.seq++
				r.bytes += p.Size
				r.e.OnPacketSent(r.now, p)
				r.sent = append(r.sent, p)
			}
		}
		if r.pattern != "" {
			r.air(ms)
		} else {
			if r.bytes > 0 && r.perTTI > 0 {
				r.telemetry.Grants = append(r.telemetry.Grants, gbr.Grant{At: r.now, Bytes: r.perTTI * r.lie / 10})
				r.bytes = max(0, r.bytes-(r.perTTI-5))
			}
			if ms%5 == 0 && r.bytes > 0 || r.bytes == 0 && len(r.telemetry.Grants) > 0 {
				r.telemetry.Reports = append(r.telemetry.Reports, gbr.Report{At: r.now, Low: r.bytes, High: r.bytes})
			}
		}
		if ms%5 == 4 {
			if r.tell != nil {
				r.tell(r, r.telemetry)
			} else {
				r.e.OnTelemetry(r.now, r.telemetry)
			}
			r.telemetry = gbr.Telemetry{}
		}
		if ms%50 == 49 {
			r.feedback(r.now)
		}
	}
}

// air is a TTI of a radio with a pattern: a grant, if the base station knows of
// something, and a report with it.
func (r *radio) air(ms int64) {
	if r.saved += r.perTTI; r.pattern[ms%int64(len(r.pattern))] != 'U' {
		return
	}
	g := r.station.answer(ms, r.saved)
	r.saved = 0
	if g == 0 && len(r.station.at) == 0 && r.bytes > 0 {
		r.station.hear(ms, r.lag, 500) // a scheduling request
	}
	if g > 0 {
		r.bytes = max(0, r.bytes-(g-5))
		r.station.hear(ms, r.lag, r.bytes)
		r.telemetry.Grants = append(r.telemetry.Grants, gbr.Grant{At: r.now, Bytes: g})
		r.telemetry.Reports = append(r.telemetry.Reports, gbr.Report{At: r.now, Low: r.bytes, High: r.bytes})
	}
}

// feedback reports what was sent since the last time.
func (r *radio) feedback(now time.Time) {
	var results []gcc.PacketResult
	for _, p := range r.sent {
		results = append(results, gcc.PacketResult{SentPacket: p, Received: true, Arrival: gcc.RemoteTime(p.At.Sub(epoch).Microseconds() + 60_000)})
	}
	r.sent = r.sent[:0]
	r.e.OnFeedback(now, gcc.Feedback{Packets: results})
}

// What the radio carries comes out as rate and as budget, whatever the outer
// loop would allow.
func TestGrantsBoundTheRate(t *testing.T) {
	for _, perTTI := range []int{250, 500, 1000} {
		r := newRadio(t, perTTI)
		r.frame = perTTI * 30
		r.run(2*time.Second, false)
		rate := float64(perTTI) * 8000
		within(t, "rate", float64(r.e.Target().RateBps)/rate, 0.8, 0.2, "of the radio's")
		within(t, "pacing", float64(r.e.Target().PacingBps)/rate, 2.5, 0.2, "of the radio's")
		r.run(2*time.Second, true)
		if got, ok := r.e.FrameBudget(r.now.Add(30 * time.Millisecond)); !ok || got > perTTI*50 {
			t.Errorf("%d bytes a TTI: budget %d, %v", perTTI, got, ok)
		}
		within(t, "queue", float64(r.bytes)/float64(perTTI), 20, 25, "ms")
	}
}

// The radio's rate comes out whatever its pattern of TDD is: TTIs in which the
// phone cannot send are not empty ones.
func TestPatternsOfTDD(t *testing.T) {
	for _, c := range []struct {
		pattern string
		lag     int64
	}{
		{"U", 8}, {"U", 3}, // FDD of LTE and NR
		{"..UUU..UUU", 10}, {"..U..U", 9}, // LTE, configurations 0 and 2. TS 36.211 4.2-2
		{"..UU......", 10}, {"..U.......", 10}, // 4 and 5
		{"..U.U", 5},               // DDDSU at 30 kHz
		{"....U", 5}, {"...UU", 5}, // DDDDDDDSUU, DDDDDDSUUU
		{"...U..U", 7}, {"....U...UU", 10}, // two patterns in a row
	} {
		for _, perTTI := range []int{250, 1000} {
			for _, frames := range []int{10, 20, 30} {
				r := newRadio(t, perTTI)
				r.pattern, r.lag, r.frame, r.station.grants = c.pattern, c.lag, perTTI*frames, map[int64]int{}
				r.e.OnTelemetry(r.now, gbr.Telemetry{Config: &gbr.RadioConfig{RAT: gbr.RATNR, PCI: 1, Lag: time.Duration(c.lag) * time.Millisecond}})
				r.run(4*time.Second, false)
				what := fmt.Sprintf("%s, %d bytes a TTI, frames of %d TTIs: rate", c.pattern, perTTI, frames)
				tolerance := 0.15
				if frames == 10 {
					tolerance = 0.25 // there is little to measure
				}
				within(t, what, gbr.CapacityBps(r.e)/(float64(perTTI)*8000), 1, tolerance, "of the radio's")
				if !gbr.Trusted(r.e) {
					t.Errorf("%s: not trusted", what)
				}
			}
		}
	}
}

// A radio that gives a quarter is followed within 100 ms.
func TestFallIsFollowedAtOnce(t *testing.T) {
	r := newRadio(t, 1000)
	r.run(2*time.Second, true)
	before := r.e.Target().RateBps
	r.perTTI = 250
	r.run(100*time.Millisecond, true)
	if got := r.e.Target().RateBps; got > 2_000_000 || before < 5_000_000 {
		t.Errorf("rate %d after %d, want below 2 Mbit/s", got, before)
	}
}

// Telemetry that tells of a tenth of the grants is not believed: the outer loop
// is alone.
func TestLiesAreNotBelieved(t *testing.T) {
	r := newRadio(t, 1000)
	r.lie = 1
	r.run(3*time.Second, false)
	if _, ok := r.e.FrameBudget(r.now); ok || r.e.Target().RateBps != 20_000_000 {
		t.Errorf("budget %v, rate %d, want the outer loop's", ok, r.e.Target().RateBps)
	}
}

// A budget is spent once, and an algorithm without telemetry has none.
func TestFrameBudget(t *testing.T) {
	r := newRadio(t, 500)
	if _, ok := r.e.FrameBudget(r.now); ok {
		t.Error("a budget before anything is known")
	}
	r.run(2*time.Second, true)
	first, _ := r.e.FrameBudget(r.now)
	second, ok := r.e.FrameBudget(r.now)
	if !ok || second > first/4 {
		t.Errorf("%d bytes offered, then %d more at the same time", first, second)
	}
	seed := newEstimator(t, &scripted{rate: 1_000_000}, nil)
	if _, ok := seed.FrameBudget(epoch); ok {
		t.Error("seed has frame budgets")
	}
}

// Old and starved telemetry never raises a rate, whatever came before.
func TestStarvedNeverRaises(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		r := newRadio(t, 200+rng.IntN(1000))
		r.run(time.Duration(500+rng.IntN(1000))*time.Millisecond, rng.IntN(2) == 0)
		before := r.e.Target().RateBps
		for range 40 {
			r.now = r.now.Add(T)
			r.e.OnTelemetry(r.now, gbr.Telemetry{
				Samples: []gbr.Sample{{At: r.now, Window: T, Reported: 5000}},
				Reports: []gbr.Report{{At: r.now, Low: 50_000, High: 60_000}},
				Grants:  []gbr.Grant{{At: r.now.Add(-10 * time.Second), Bytes: 60_000}},
			})
			got := r.e.Target().RateBps
			if got > before {
				t.Fatalf("rate %d after %d", got, before)
			}
			before = got
		}
	}
}

// The whole estimator is one block of memory of a bounded size.
func TestSize(t *testing.T) {
	if n := gbr.GrantLawSize + unsafe.Sizeof(gbr.Estimator{}); n > 230<<10 {
		t.Errorf("%d bytes", n)
	}
}
