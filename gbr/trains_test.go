// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// bottleneck is a FIFO behind the radio: how long each packet waits there.
type bottleneck struct {
	bps  float64
	free time.Duration
}

func (b *bottleneck) pass(at time.Duration, size int) time.Duration {
	b.free = max(b.free, at) + time.Duration(float64(size)*8e9/b.bps)

	return b.free
}

// frames sends frames that leave the phone at radio bit/s through b, and has
// others send there too, as it happens.
func frames(t *trains, from time.Duration, n, packets int, radio float64, b *bottleneck, other float64, jitter time.Duration) time.Duration {
	const size, step = 1200, time.Second / 30
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	last, crossed := time.Duration(0), from
	for f := range n {
		left := from + time.Duration(f)*step
		for range packets {
			left += time.Duration(size * 8e9 / radio)
			for ; other > 0 && crossed < left; crossed += time.Duration(rng.ExpFloat64() * size * 8e9 / other) {
				b.pass(crossed, size)
			}
			arrived := b.pass(left, size)
			if jitter > 0 {
				arrived = max(last, arrived+time.Duration(rng.Int64N(int64(jitter))))
			}
			last = arrived
			t.on(&gcc.PacketResult{SentPacket: gcc.SentPacket{Size: size}}, left, arrived)
		}
	}

	return from + time.Duration(n)*step
}

func TestTrainsMeasureWhatIsNarrower(t *testing.T) {
	for _, tc := range []struct {
		name               string
		radio, path, other float64
		packets            int
		jitter             time.Duration
		low, high          float64 // Mbit/s; both 0: not narrow
		firm               bool
	}{
		{name: "alone", radio: 8e6, path: 3e6, packets: 6, low: 2.95, high: 3.05, firm: true},
		{name: "fast radio", radio: 40e6, path: 10e6, packets: 20, low: 9.9, high: 10.1, firm: true},
		{name: "beside others", radio: 8e6, path: 4e6, other: 2e6, packets: 6, low: 2, high: 3.9},
		{name: "nothing narrow", radio: 8e6, path: 1e9, packets: 10},
		{name: "a little narrower", radio: 8e6, path: 7e6, packets: 10},
		{name: "frames too small to tell", radio: 8e6, path: 3e6, packets: 2},
		{name: "jitter", radio: 8e6, path: 1e9, packets: 12, jitter: 30 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr := trains{radio: tc.radio}
			b := &bottleneck{bps: tc.path}
			frames(&tr, time.Second, 40, tc.packets, tc.radio, b, tc.other, tc.jitter)
			got := tr.narrow() / 1e6
			if got < tc.low || got > tc.high {
				if tc.jitter == 0 || tr.firm() {
					t.Errorf("narrow %.2f Mbit/s, want %.2f..%.2f", got, tc.low, tc.high)
				}
			}
			if tr.firm() != tc.firm {
				t.Errorf("firm %v with a spread of %.3f, want %v", tr.firm(), tr.spread, tc.firm)
			}
		})
	}
}

// A path that gets wider or narrower is noticed within a second of frames that
// are fast enough, and what nothing confirms is forgotten.
func TestTrainsFollowThePath(t *testing.T) {
	tr := trains{radio: 8e6}
	at := frames(&tr, time.Second, 30, 10, 8e6, &bottleneck{bps: 5e6}, 0, 0)
	if got := tr.narrow() / 1e6; math.Abs(got-5) > 0.1 {
		t.Fatalf("narrow %.2f Mbit/s, want 5", got)
	}
	at = frames(&tr, at+50*time.Millisecond, 15, 6, 6e6, &bottleneck{bps: 2e6}, 0, 0)
	if got := tr.narrow() / 1e6; got > 2.5 || got < 1.9 {
		t.Errorf("half a second after it fell to 2 Mbit/s: %.2f", got)
	}
	slow := tr
	frames(&slow, at+50*time.Millisecond, 30, 3, 2.2e6, &bottleneck{bps: 1e9}, 0, 0)
	if slow.narrow() == 0 {
		t.Error("frames at the path's own rate cannot tell that it is wider")
	}
	wide := tr
	frames(&wide, at+50*time.Millisecond, 30, 10, 8e6, &bottleneck{bps: 1e9}, 0, 0)
	if got := wide.narrow(); got != 0 {
		t.Errorf("a second after nothing is narrow any more: %.2f Mbit/s", got/1e6)
	}
	frames(&slow, at+trainMemory+2*time.Second, 2, 1, 8e6, &bottleneck{bps: 1e9}, 0, 0)
	if slow.narrow() != 0 {
		t.Error("believed in without a train to confirm it")
	}
	tr.carried(2 * tr.bps)
	if tr.narrow() != 0 {
		t.Error("narrower than what arrives")
	}
}
