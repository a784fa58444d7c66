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
	// maxCheckAge bounds the time for which packets are thought to be under way.
	maxCheckAge = 3 * time.Second
	// checkAfter is how long both are summed up before they are compared: what
	// arrives first was granted before.
	checkAfter = 500 * time.Millisecond
	// checkOthers is the share of the radio that other apps may seem to have over
	// checkOthersMemory before it is more likely that too much is told.
	checkOthers, checkOthersMemory = 0.6, 8 * time.Second
	// checkPause is how long telemetry that was caught is not believed, the first
	// time; each further time it is checkAgain times as long, up to checkLongest.
	// After as long without any it is the first time again.
	checkPause, checkAgain, checkLongest = time.Second, 4, time.Minute
	// checkSilent is how long nothing may be told before a contradiction is silence:
	// no lie, it ends with the next word.
	checkSilent = 200 * time.Millisecond
)

// check compares what the modem says with what arrives. Bytes that arrived were
// granted, and at the radio's rate at the most; whoever says otherwise reads the
// wrong unit, lost records, or speaks of the past. (That more is granted than
// arrives is no contradiction: the phone has other apps. But they seldom have more
// than half of the radio for long.)
type check struct {
	granted, acked float64 // bytes, with the same forgetting
	mu, rate       float64 // bit/s, means over the same time
	at, begun      time.Time
	until          time.Time // not believed till then
	pause          time.Duration
	toldAt         time.Time // newest word of grants
	silent         bool      // till the next one
	bad            bool

	others, carried float64 // what other apps seem to have, of what; means
	othersAt        time.Time
}

// onOthers takes the rate that other apps seem to have, and the radio's.
func (c *check) onOthers(now time.Time, others, mu float64) {
	dt := min(max(now.Sub(c.othersAt), 0), checkOthersMemory)
	if c.othersAt.IsZero() {
		dt = 0
	}
	c.othersAt = now
	share := dt.Seconds() / checkOthersMemory.Seconds()
	c.others += share * (others - c.others)
	c.carried += share * (mu - c.carried)
	if c.others > checkOthers*c.carried {
		c.distrust(now)
	}
}

// onGranted takes what a batch tells; newer tells whether any of it is news. That
// ends silence: both sums begin anew, of what arrived meanwhile nothing was told.
func (c *check) onGranted(now time.Time, bytes int64, newer bool) (again bool) {
	if again = c.silent && newer; again {
		c.granted, c.acked, c.mu, c.rate = 0, 0, 0, 0
		c.others, c.carried, c.othersAt = 0, 0, time.Time{}
		c.begun, c.silent = now, false
		c.bad = now.Before(c.until)
	}
	c.granted += float64(bytes)
	if newer {
		c.toldAt = now
	}

	return again
}

// onSilence tells that there is no telemetry at all.
func (c *check) onSilence() { c.silent = true }

func (c *check) distrust(now time.Time) {
	if now.Before(c.until) {
		return
	}
	if now.Sub(c.toldAt) > checkSilent {
		c.silent, c.bad = true, true

		return
	}
	if c.pause == 0 || now.Sub(c.until) > c.pause*checkAgain {
		c.pause = checkPause
	} else {
		c.pause = min(c.pause*checkAgain, checkLongest)
	}
	c.until, c.bad = now.Add(c.pause), true
}

// onFeedback takes a report; mu is what the radio is said to carry.
func (c *check) onFeedback(now time.Time, results []gcc.PacketResult, mu float64) {
	bytes, age := 0, maxCheckAge
	for i := range results {
		if r := &results[i]; r.Received {
			bytes += min(max(r.Size, 0), maxPacket)
			age = min(age, max(now.Sub(r.At), 0))
		}
	}
	dt := min(max(now.Sub(c.at), 0), checkMemory)
	if c.at.IsZero() {
		dt, c.begun = 0, now
	}
	c.at = now
	keep := math.Exp(-dt.Seconds() / checkMemory.Seconds())
	c.granted *= keep
	c.acked = c.acked*keep + float64(bytes)
	c.mu = c.mu*keep + (1-keep)*mu
	c.rate = c.acked * 8 / checkMemory.Seconds()
	// What was under way for that long was granted before, and forgotten as much.
	share := checkShare * math.Exp(age.Seconds()/checkMemory.Seconds())
	if mu > 0 && now.Sub(c.begun) > checkAfter && c.acked > checkLeast && (c.acked > share*c.granted || c.rate > checkRate*c.mu) {
		c.distrust(now)
	}
	c.bad = c.silent || now.Before(c.until)
}
