// SPDX-License-Identifier: MIT

package gcc

import "testing"

func TestBayesRate(t *testing.T) {
	var b bayesRate
	feed := func(from, to, stepUs int64) int64 {
		for ; from < to; from += stepUs {
			b.add(sample{from, from, 1250, 0})
		}

		return from
	}
	at := feed(0, 495_000, 10_000)
	if _, ok := b.bps(); ok {
		t.Error("a rate before 500 ms")
	}
	at = feed(at, 2_000_000, 10_000)
	r, _ := b.bps()
	band(t, "steady 1 Mbit/s", r, 950_000, 1_050_000, "bit/s")
	at = feed(at, 2_600_000, 5000)
	r, _ = b.bps()
	band(t, "2 Mbit/s for 600 ms", r, 1_050_000, 1_700_000, "bit/s")

	// The end of an application-limited region makes it doubt what it knows, from
	// the first packet on that was sent afterwards.
	b.onALREnd(at + 5000)
	doubt := b.variance
	b.add(sample{at + 5000, at + 100, 1250, 0})
	band(t, "doubt by a packet from before", b.variance, doubt-2, doubt+5, "")
	b.add(sample{at + 5001, at + 200, 1250, 0})
	band(t, "doubt by a packet from after", b.variance, doubt+195, doubt+205, "")

	feed(at-1_500_000, at, 10_000) // the remote clock steps back
	if r, ok := b.bps(); !ok || r <= 0 || r > 3e6 {
		t.Errorf("%v after a step of the clock", r)
	}
	b.add(sample{at, at + 1e12, 1250, 0})
	if r, _ := b.bps(); r < 0 || r > 3e6 {
		t.Errorf("%v after a jump of the clock", r)
	}
}
