// SPDX-License-Identifier: MIT

package gcc

import (
	"math/rand/v2"
	"testing"
	"time"
)

const reorderWindow = 100 * time.Millisecond

func TestReportsMissingThenReceived(t *testing.T) {
	for _, tt := range []struct {
		name       string
		intervalMs int
		late       int // reports until it is received after all
		lost       int
	}{
		{"next report of 50 ms", 50, 1, 0},
		{"next report of 100 ms", 100, 1, 0},
		{"next report of 250 ms", 250, 1, 0},
		{"report after next of 250 ms", 250, 2, 0},
		{"many fast reports, within 100 ms", 10, 9, 0},
		{"never", 50, 99, 1},
		{"third report of 100 ms is too late", 100, 3, 1},
	} {
		r := new(reports)
		lost := 0
		for i := range 10 {
			now := t0.Add(time.Duration(i*tt.intervalMs) * time.Millisecond)
			r.begin(now)
			if i < tt.late {
				r.missing(now, 5, 1200) // receivers repeat it
			} else {
				r.received(5)
			}
			r.received(int64(100 + i))
			lost += r.expire(now, reorderWindow)
		}
		if lost != tt.lost {
			t.Errorf("%s: %d lost, want %d", tt.name, lost, tt.lost)
		}
	}
}

func TestReportsStatus(t *testing.T) {
	r := new(reports)
	r.begin(t0)
	if got := r.received(1); got != reportNone {
		t.Errorf("first time: %v", got)
	}
	if got := r.received(1); got != reportReceived {
		t.Errorf("second time: %v, want no news", got)
	}
	r.missing(t0, 1, 1200) // contradicts: it was there
	r.received(1 + reportSlots)
	if got := r.received(1); got != reportReceived {
		t.Errorf("overwritten: %v, want no news", got)
	}
	if got := r.expire(t0.Add(time.Hour), reorderWindow); got != 0 {
		t.Errorf("%d lost, want 0", got)
	}
}

// A report split in two at one instant is one report.
func TestReportsSplit(t *testing.T) {
	r := new(reports)
	lost := 0
	for range 5 {
		r.begin(t0)
		r.missing(t0, 1, 1200)
		lost += r.expire(t0, 0)
	}
	if lost != 0 {
		t.Errorf("%d lost within one instant", lost)
	}
}

// Whatever is overrun is still counted, once.
func TestReportsOverrun(t *testing.T) {
	r := new(reports)
	lost := 0
	const n = 3 * reportSlots
	for i := range int64(n) {
		now := t0.Add(time.Duration(i) * time.Microsecond)
		r.begin(now)
		r.missing(now, i, 1200)
		lost += r.expire(now, time.Hour)
	}
	r.begin(t0.Add(3 * time.Hour))
	lost += r.expire(t0.Add(2*time.Hour), 0)
	r.begin(t0.Add(4 * time.Hour))
	lost += r.expire(t0.Add(4*time.Hour), 0)
	if lost != n {
		t.Errorf("%d lost, want %d", lost, n)
	}
}

// Against a map: random fates, reports of 50 ms, one repetition of each.
func TestReportsOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	r := new(reports)
	lost, want := 0, 0
	const perReport = 20
	late := map[int64]bool{}
	for i := range int64(500) {
		now := t0.Add(time.Duration(i) * 50 * time.Millisecond)
		r.begin(now)
		for s := range late {
			r.received(s)
			delete(late, s)
		}
		for p := range int64(perReport) {
			seq := i*perReport + p
			switch f := rng.Float64(); {
			case f < 0.05:
				r.missing(now, seq, 1200)
				r.missing(now, seq, 1200)
				want++
			case f < 0.10:
				r.missing(now, seq, 1200)
				late[seq] = true
			default:
				r.received(seq)
			}
		}
		lost += r.expire(now, reorderWindow)
	}
	for i := range 3 {
		now := t0.Add(time.Duration(100+i) * time.Second)
		r.begin(now)
		for s := range late {
			r.received(s)
		}
		lost += r.expire(now, reorderWindow)
	}
	if lost != want {
		t.Errorf("%d lost, want %d", lost, want)
	}
}
