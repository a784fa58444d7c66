// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

func TestAllocator(t *testing.T) {
	audio := StreamBounds{ID: "a", Priority: 9, MinBps: 32_000, MaxBps: 64_000, Always: true}
	low := StreamBounds{ID: "l", Priority: 3, MinBps: 100_000, MaxBps: 200_000}
	mid := StreamBounds{ID: "m", Priority: 2, MinBps: 300_000, MaxBps: 700_000}
	high := StreamBounds{ID: "h", Priority: 1, MinBps: 1_000_000, MaxBps: 2_500_000}
	screen := StreamBounds{ID: "s", Priority: 2, MinBps: 50_000, Weight: 3}
	camera := StreamBounds{ID: "c", Priority: 2, MinBps: 50_000, Weight: 1}
	for name, c := range map[string]struct {
		streams []StreamBounds
		targets []int
		want    []string // after each target, in order of priority
	}{
		"audio first": {
			[]StreamBounds{low, audio},
			[]int{10_000, 32_000, 131_000, 132_000, 142_000, 200_000, 900_000},
			// The stream comes back only with 10 % to spare.
			[]string{"a32 l0", "a32 l0", "a64 l0", "a64 l0", "a42 l100", "a64 l136", "a64 l200"},
		},
		"simulcast": {
			[]StreamBounds{high, mid, low},
			[]int{90_000, 150_000, 500_000, 1_000_000, 1_500_000, 5_000_000},
			[]string{"l0 m0 h0", "l150 m0 h0", "l200 m300 h0", "l200 m700 h0", "l200 m300 h1000", "l200 m700 h2500"},
		},
		"weights": {
			[]StreamBounds{screen, camera},
			[]int{40_000, 110_000, 500_000},
			[]string{"s0 c0", "s57 c52", "s350 c150"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			a, err := NewAllocator(c.streams, func(rates []Allocation) {
				var b strings.Builder
				for _, r := range rates {
					fmt.Fprintf(&b, " %s%d", r.ID, r.BitrateBps/1000)
				}
				got = strings.TrimSpace(b.String())
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, bps := range c.targets {
				if a.SetTarget(bps); got != c.want[i] {
					t.Errorf("at %d bit/s: %s, want %s", bps, got, c.want[i])
				}
			}
		})
	}
}

// Streams come and go in mid call and the rest is divided anew.
func TestAllocatorStreamsChange(t *testing.T) {
	var got []Allocation
	a, err := NewAllocator(nil, func(r []Allocation) { got = append(got[:0], r...) })
	if err != nil {
		t.Fatal(err)
	}
	a.SetTarget(1_000_000)
	two := []StreamBounds{{ID: "x", MinBps: 1}, {ID: "y", MinBps: 1}}
	if err := a.SetStreams(two); err != nil || len(got) != 2 {
		t.Fatalf("%v: %v", err, got)
	}
	within(t, "one of two", float64(got[0].BitrateBps), 500_000, 2, "bit/s")
	if err := a.SetStreams(two[:1]); err != nil || len(got) != 1 {
		t.Fatalf("%v: %v", err, got)
	}
	within(t, "the one that is left", float64(got[0].BitrateBps), 1_000_000, 2, "bit/s")
	for name, s := range map[string][]StreamBounds{
		"twice":  {{ID: "x"}, {ID: "x"}},
		"bounds": {{ID: "x", MinBps: 2, MaxBps: 1}},
		"weight": {{ID: "x", Weight: -1}},
	} {
		if err := a.SetStreams(s); !errors.Is(err, ErrAllocation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewAllocator(two, nil); !errors.Is(err, ErrAllocation) {
		t.Errorf("nobody to apply it: %v", err)
	}
}

// Whatever the streams: nobody is above its maximum or, unless paused, below its
// minimum, and the sum is the target's unless minima that always count are more.
func TestAllocatorInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 0))
	for range 2000 {
		streams := make([]StreamBounds, rng.IntN(6))
		atLeast := 0
		for i := range streams {
			s := StreamBounds{
				ID: fmt.Sprint(i), Priority: rng.IntN(3), Weight: float64(rng.IntN(4)), MinBps: rng.IntN(500_000),
				Always: rng.IntN(4) == 0,
			}
			if rng.IntN(2) == 0 {
				s.MaxBps = s.MinBps + rng.IntN(1_000_000)
			}
			if s.Always {
				atLeast += s.MinBps
			}
			streams[i] = s
		}
		var got []Allocation
		a, err := NewAllocator(streams, func(r []Allocation) { got = append(got[:0], r...) })
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			target := rng.IntN(3_000_000)
			a.SetTarget(target)
			sum := 0
			for _, r := range got {
				var s StreamBounds
				for _, x := range streams {
					if x.ID == r.ID {
						s = x
					}
				}
				if r.BitrateBps != 0 && r.BitrateBps < s.MinBps || s.MaxBps > 0 && r.BitrateBps > s.MaxBps || s.Always && r.BitrateBps < s.MinBps {
					t.Fatalf("%+v has %d", s, r.BitrateBps)
				}
				sum += r.BitrateBps
			}
			if sum > max(target, atLeast) {
				t.Fatalf("%d of %d bit/s given out to %+v", sum, target, streams)
			}
		}
	}
}

// needyOuter notes what the application can use.
type needyOuter struct {
	*fakeOuter
	needs []int
}

func (o *needyOuter) SetNeed(_ time.Time, bps int) { o.needs = append(o.needs, bps) }

// An Allocator tells its Estimator what the streams can use, as they come and go,
// and a loop that is switched to learns of it; one that stays knows.
func TestAllocatorTellsTheNeed(t *testing.T) {
	outer := &needyOuter{fakeOuter: &fakeOuter{bitrate: 1_000_000, pacing: 2_000_000}}
	with := WithOuter(func() (gbr.Outer, error) { return outer, nil })
	r := newRig(t, 0, with)
	divided := make(chan int, 1)
	bounded := []StreamBounds{{ID: "a", MinBps: 32_000, MaxBps: 64_000}, {ID: "v", MinBps: 100_000, MaxBps: 2_000_000}}
	a, err := NewAllocator(bounded, func(rates []Allocation) {
		sum := 0
		for _, x := range rates {
			sum += x.BitrateBps
		}
		select {
		case divided <- sum:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Serve(r.Estimator)
	within(t, "the target that was divided", float64(<-divided), float64(r.GetTargetBitrate()), 2, "bit/s")
	for _, s := range [][]StreamBounds{append(bounded, StreamBounds{ID: "screen"}), bounded[:1]} {
		if err := a.SetStreams(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.SetStreams([]StreamBounds{{ID: "x"}, {ID: "x"}}); err == nil {
		t.Error("streams of the same name are accepted")
	}
	r.SetNeed(1_500_000)
	r.SetNeed(-1)
	r.SetNeed(3_000_000)
	for _, opts := range [][]Option{{WithAlgorithm(gbr.Default)}, {with}} {
		if err := r.Switch(opts...); err != nil {
			t.Fatal(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if want := []int{2_064_000, 0, 64_000, 1_500_000, 0, 3_000_000, 3_000_000}; !slices.Equal(outer.needs, want) {
		t.Errorf("needs %v, want %v", outer.needs, want)
	}
}
