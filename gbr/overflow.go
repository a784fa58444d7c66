// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// overflowMemory is over what time losses are counted, overflowLeast the
	// packets below which they say nothing.
	overflowMemory, overflowLeast = time.Second, 20
	// overflowShare is more than what a path loses by itself.
	overflowShare = 0.05
	// overflowCut of what arrives is where the rate goes then, at most once in
	// overflowGap.
	overflowCut, overflowGap = 0.85, 500 * time.Millisecond
)

// overflow is a queue that is so short that it drops before it delays.
type overflow struct {
	at         time.Time
	sent, lost float64 // packets, with forgetting
	toldAt     time.Time
}

func (o *overflow) onFeedback(now time.Time, results []gcc.PacketResult) {
	keep := math.Exp(-now.Sub(o.at).Seconds() / overflowMemory.Seconds())
	if o.at.IsZero() {
		keep = 0
	}
	o.at = now
	o.sent *= keep
	o.lost *= keep
	for i := range results {
		o.sent++
		if !results[i].Received {
			o.lost++
		}
	}
}

// full tells, once in a while, that it drops.
func (o *overflow) full(now time.Time) bool {
	if o.sent < overflowLeast || o.lost < overflowShare*o.sent || now.Sub(o.toldAt) < overflowGap {
		return false
	}
	o.sent, o.lost, o.toldAt = 0, 0, now

	return true
}
