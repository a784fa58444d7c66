// SPDX-License-Identifier: MIT

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Past says what the references that know the past, causal and causal-rate, make
// of it. Its zero value is the reference that others are compared with; what none
// of many of them reaches is out of reach for not knowing the future, and not for
// the choice of one policy.
type Past struct {
	// Share of the predicted capacity that is used, above 0 and at most 2. Default 1.
	Share float64
	// Window is how much of the past speaks for the next frame, 1 ms to 10 s; for
	// ByEWMA its time constant. Default 66 ms.
	Window time.Duration
	// By is how. Default ByMean.
	By Predictor
	// Queue is what may be left when the next frame comes, in the time that the
	// predicted capacity takes for it, up to 1 s. Default 0.
	Queue time.Duration
	// Skip is the queue, in the same time, above which a frame is left out, up to
	// 10 s. Default 0: none is.
	Skip time.Duration
}

// Predictor takes the capacity to come from that of the past.
type Predictor uint8

// The predictors. The last ones look at the frame intervals in the window.
const (
	ByMean    Predictor = iota
	ByEWMA              // exponentially weighted mean
	ByMedian            // of the frame intervals
	ByQuarter           // lower quartile
	ByLeast             // lowest
)

// Predictors are their names, in order.
func Predictors() []string { return []string{"mean", "ewma", "median", "quarter", "least"} }

// causalWindow is how much of the past speaks for the next frame: two frames at
// 30 fps, long enough to even out single TTIs, short enough for a fading dip.
const causalWindow = 66 * time.Millisecond

func (p Past) check() error {
	switch {
	case !(p.Share >= 0 && p.Share <= 2):
		return fmt.Errorf("sim: a share of %g of the predicted capacity, want above 0 to 2", p.Share)
	case p.Window != 0 && (p.Window < time.Millisecond || p.Window > 10*time.Second):
		return fmt.Errorf("sim: a past of %v, want 1ms to 10s", p.Window)
	case int(p.By) >= len(Predictors()):
		return errors.New("sim: unknown predictor, choose from " + strings.Join(Predictors(), ", "))
	case p.Queue < 0 || p.Queue > time.Second:
		return fmt.Errorf("sim: a queue of %v left, want 0 to 1s", p.Queue)
	case p.Skip < 0 || p.Skip > 10*time.Second:
		return fmt.Errorf("sim: frames left out above %v, want 0 to 10s", p.Skip)
	}

	return nil
}

// past predicts.
type past struct {
	Past
	view  *view
	start float64 // bit/s, while nothing is known of the link

	at    time.Duration // of bps
	bps   float64       // what was predicted last, before Share
	parts []float64
}

func newPast(p Past, v *view, l Limits) past {
	p.Share = cmp.Or(p.Share, 1)
	p.Window = cmp.Or(p.Window, causalWindow)

	return past{Past: p, view: v, start: float64(l.StartBps), bps: float64(l.StartBps)}
}

// predict is what the link is taken to carry, in bit/s.
func (p *past) predict() float64 {
	to := p.view.since()
	if p.By == ByMean {
		bps := p.start // nothing is known of the link at its first frame
		if from := max(0, to-p.Window); to.Milliseconds() > from.Milliseconds() {
			bps = p.view.recentBps(to - from)
		}

		return p.Share * bps
	}
	if to.Milliseconds() > p.at.Milliseconds() { // capacity is by the millisecond
		if p.By == ByEWMA {
			gap := to - p.at
			p.bps += -math.Expm1(-gap.Seconds()/p.Window.Seconds()) * (p.view.recentBps(gap) - p.bps)
		} else {
			p.bps = p.quantile(to)
		}
		p.at = to
	}

	return p.Share * p.bps
}

// quantile is that of the frame intervals in the window, of which there is one at
// least. What they carried is read off from their ends to now.
func (p *past) quantile(to time.Duration) float64 {
	frame := p.view.frameInterval()
	p.parts = p.parts[:0]
	newer := 0.0 // bits
	for end := frame; end <= min(max(p.Window, frame), to); end += frame {
		all := p.view.recentBps(end) * end.Seconds()
		p.parts = append(p.parts, max(0, all-newer)/frame.Seconds())
		newer = all
	}
	if len(p.parts) == 0 {
		return p.view.recentBps(to)
	}
	slices.Sort(p.parts)
	switch last := len(p.parts) - 1; p.By {
	case ByMedian:
		return (p.parts[last/2] + p.parts[(last+1)/2]) / 2
	case ByQuarter:
		return p.parts[last/4]
	default:
		return p.parts[0]
	}
}

// room is what a frame may have on the radio: what is carried until the next one
// and as much as may be left then, less what is queued when it comes. At high frame
// rates a queue of one frame would be shorter than the grant loop.
func (p *past) room(bps, queued float64) float64 {
	return bps/8*(max(p.view.frameInterval(), defaultHorizon)+p.Queue).Seconds() - queued
}

// SkipFrame leaves a frame out when too much is queued.
func (p *past) SkipFrame(time.Time) bool {
	return p.Skip > 0 && p.view.backlog() > p.predict()/8*p.Skip.Seconds()
}
