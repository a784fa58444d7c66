// SPDX-License-Identifier: MIT

package tcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// A long flow, another one from 10 s on, and short ones, behind 5 Mbit/s: what
// each has out and has got, twice a second.
func TestGolden(t *testing.T) {
	short, err := NewShort(ShortConfig{Start: t0(), Seed: 1, MeanOff: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	flows := []sending{mustCubic(t, Config{}), mustCubic(t, Config{Start: t0().Add(10 * time.Second), HyStart: true}), short}
	l := newLink(t, 5e6, 25*time.Millisecond, 2, flows...)
	var b strings.Builder
	fmt.Fprintf(&b, "%6s", "ms")
	for range flows {
		fmt.Fprintf(&b, " | %7s %6s %6s %6s %4s", "kB out", "RTT ms", "kbit/s", "resent", "RTOs")
	}
	last := make([]int64, len(flows))
	for at := 500 * time.Millisecond; at <= 20*time.Second; at += 500 * time.Millisecond {
		l.run(at)
		fmt.Fprintf(&b, "\n%6d", at.Milliseconds())
		for i, f := range flows {
			got := l.flows[i].rcv.Delivered()
			fmt.Fprintf(&b, " | %7.0f %6d %6.0f %6d %4d", float64(f.Window())/1000, f.RTT().Milliseconds(), float64(got-last[i])*8/500, f.Stats().Retransmits, f.Stats().Timeouts)
			last[i] = got
		}
	}
	b.WriteByte('\n')
	golden.Assert(t, b.String(), "flows.golden")
}
