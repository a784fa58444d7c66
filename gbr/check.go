// SPDX-License-Identifier: MIT

package gbr

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// checkMemory is over what time sums are compared.
	checkMemory = 2 * time.Second
	// checkShare is what may arrive at the most, in multiples of what was
	// granted: feedback comes later than telemetry, or earlier.
	checkShare = 1.25
	// checkRate is the same of rates: the radio carries what arrives.
	checkRate = 1.4
	// checkLeast is how much must have arrived for a comparison, in bytes.
	checkLeast = 5_000
	// checkPause is how long telemetry that was caught is not believed.
	checkPause = time.Second
)

// check compares what the modem says with what arrives. Bytes that arrived were
// granted, and at the radio's rate at the most; whoever says otherwise reads the
// wrong unit, lost records, or speaks of the past. (That more is granted than
// arrives is no contradiction: the phone has other apps.)
type check struct {
	granted, acked float64 // bytes, with the same forgetting
	mu, rate       float64 // bit/s, means over the same time
	at             time.Time
	until          time.Time // not believed till then
	bad            bool
}

func (c *check) distrust(now time.Time) { c.until, c.bad = now.Add(checkPause), true }

// onFeedback takes a report; mu is what the radio is said to carry.
func (c *check) onFeedback(now time.Time, results []gcc.PacketResult, mu float64) {
	bytes := 0
	for i := range results {
		if results[i].Received {
			bytes += min(max(results[i].Size, 0), maxPacket)
		}
	}
	dt := min(max(now.Sub(c.at), 0), checkMemory)
	if c.at.IsZero() {
		dt = 0
	}
	c.at = now
	keep := math.Exp(-dt.Seconds() / checkMemory.Seconds())
	c.granted *= keep
	c.acked = c.acked*keep + float64(bytes)
	c.mu = c.mu*keep + (1-keep)*mu
	c.rate = c.acked * 8 / checkMemory.Seconds()
	if mu > 0 && c.acked > checkLeast && (c.acked > checkShare*c.granted || c.rate > checkRate*c.mu) {
		c.distrust(now)
	}
	c.bad = now.Before(c.until)
}
