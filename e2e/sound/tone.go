// SPDX-License-Identifier: MIT

package sound

import (
	"context"
	"math"
	"time"
)

// The tone: a soft hum, so that a gap can be heard, and a short beep with every
// whole second, to be compared with a clock in the picture.
const (
	humHz, humLevel   = 220, 0.03
	beepHz, beepLevel = 1000, 0.25
	beepTime          = 100 * time.Millisecond
	// ramp keeps the beep from clicking.
	ramp = 5 * time.Millisecond
	// maxLate is how much a tone catches up on after this machine has stood still;
	// a device would have lost the rest.
	maxLate = 200 * time.Millisecond
)

// Tone is a Source that needs no device.
type Tone struct {
	start time.Time
	next  int // block
}

// NewTone returns a tone whose beeps come at whole seconds after start.
func NewTone(start time.Time) *Tone { return &Tone{start: start} }

// Read implements Source.
func (t *Tone) Read(ctx context.Context, block []float32) (time.Time, error) {
	if late := time.Since(t.end()); late > maxLate {
		t.next += int(late / BlockTime)
	}
	timer := time.NewTimer(time.Until(t.end()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	case <-timer.C:
	}
	captured := t.start.Add(time.Duration(t.next) * BlockTime)
	for i := range block {
		block[i] = sample(t.next*BlockSamples + i)
	}
	t.next++

	return captured, nil
}

// end is when the last sample of the next block is there.
func (t *Tone) end() time.Time { return t.start.Add(time.Duration(t.next+1) * BlockTime) }

// sample is number n of the tone.
func sample(n int) float32 {
	n %= Rate // whole periods of both
	at := float64(n) / Rate
	v := humLevel * math.Sin(2*math.Pi*humHz*at)
	if left := beepTime.Seconds() - at; left > 0 {
		v += beepLevel * min(1, at/ramp.Seconds(), left/ramp.Seconds()) * math.Sin(2*math.Pi*beepHz*at)
	}

	return float32(v)
}
