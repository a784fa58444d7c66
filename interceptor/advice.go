// SPDX-License-Identifier: MIT

package interceptor

import "time"

// DefaultSkipDelay is the pacer's queue from which on frames are to be left out.
const DefaultSkipDelay = 250 * time.Millisecond

// Advice is what the pacer asks of the encoder.
type Advice struct {
	// SkipFrames asks to leave out frames until the next Advice: the queue is
	// longer than [WithSkipDelay] allows, and whatever is made now comes late.
	SkipFrames bool
	// KeyFrame asks for a key frame: packets were dropped for want of room, so
	// the receiver cannot decode what builds on them. It is asked for when the
	// queue has drained, since a key frame is large.
	KeyFrame bool
	// PacerDelay is the queue then.
	PacerDelay time.Duration
}

// adviser watches the pacer's queue. Not safe for concurrent use.
type adviser struct {
	limit   time.Duration
	skip    bool // frames are to be left out
	broken  bool // packets were dropped and no key frame was asked for
	pending bool // there is something to tell
	key     bool // which is a key frame
	skips   int64
	keys    int64
}

// refused notes that packets of video were dropped.
func (a *adviser) refused() { a.broken = true }

// observe takes in the queue as it is now and tells whether there is advice.
func (a *adviser) observe(delay time.Duration) bool {
	switch {
	case !a.skip && delay > a.limit:
		a.skip, a.pending = true, true
		a.skips++
	case a.skip && delay <= a.limit/2:
		a.skip, a.pending = false, true
	}
	if a.broken && delay <= a.limit/2 {
		a.broken, a.key, a.pending = false, true, true
		a.keys++
	}

	return a.pending
}

// watching tells whether a queue that gets shorter is of interest.
func (a *adviser) watching() bool { return a.skip || a.broken }

// take returns what is pending.
func (a *adviser) take(delay time.Duration) (adv Advice, ok bool) {
	adv, ok = Advice{SkipFrames: a.skip, KeyFrame: a.key, PacerDelay: delay}, a.pending
	a.pending, a.key = false, false

	return adv, ok
}
