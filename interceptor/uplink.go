// SPDX-License-Identifier: MIT

package interceptor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// TelemetrySource streams what a modem says until ctx ends; it calls sink from
// one goroutine at a time and does not keep what it gives. Run of a modemlink
// client is one. An error ends it for good, and is in the log.
type TelemetrySource func(ctx context.Context, sink func(gbr.Telemetry)) error

const (
	// shareEvery is how often the shares are computed, shareMemory the time
	// constant of the rates they are computed from: a few frames.
	shareEvery  = 50 * time.Millisecond
	shareMemory = 300 * time.Millisecond
	// shareGrowth is how much more than it uses a member may claim, so that one
	// below its weight catches up and one that needs little leaves the rest to
	// the others. shareLeast is what an idle one may claim.
	shareGrowth = 1.3
	shareLeast  = 0.05
)

// Uplink is the modem of one host, shared by several PeerConnections: their
// packets wait in one queue in the phone. Each Estimator on it is told of all
// that enters this queue, its own packets and the others', and of all that the
// modem says, so that each knows the whole radio's rate and queue and when its own
// packets leave; and of its share of that rate, which is its weight's part. What
// a member does not use is the others'.
//
// The algorithms that steer by samples alone get samples divided in the same way:
// the queue in proportion to what each sends, the grants in proportion to the
// shares. Who sends more than its share sees a longer queue and less capacity
// than there is, who sends less a shorter one, and so the rates settle.
//
// An Uplink is safe for concurrent use. Its source runs while there is an
// Estimator on it and is stopped by the Close of the last one, which waits for
// it.
type Uplink struct {
	source TelemetrySource // nil: the application pushes

	running sync.Mutex // starting and stopping the source
	stop    context.CancelFunc
	done    chan struct{}

	sent atomic.Pointer[sentLog] // nil while there was never a second member

	mu      sync.Mutex // before those of the members
	members []*member
	shared  time.Time // when the shares were computed
	samples []gbr.Sample
}

// member is an Estimator's part of an Uplink, guarded by its mutex.
type member struct {
	e      *Estimator
	weight float64
	bytes  int64   // sent so far
	rate   float64 // bytes per second lately
	used   float64 // its part of all rates, 0..1
	share  float64 // its part of the radio, 0..1
}

// NewUplink returns an Uplink over a source, or with nil one that the
// application feeds through PushTelemetry.
func NewUplink(source TelemetrySource) *Uplink { return &Uplink{source: source} }

// WithUplink puts the Estimator on u. Of what the members would all use each
// gets its weight's part; weights are relative, above 0, and 1 is as good as
// any for the first. An Estimator is on one Uplink.
func WithUplink(u *Uplink, weight float64) Option {
	return func(c *config) error {
		switch {
		case u == nil:
			return fmt.Errorf("%w: the uplink is nil, make one with NewUplink", ErrOption)
		case !(weight > 0) || math.IsInf(weight, 1):
			return fmt.Errorf("%w: weight %g on the uplink is not above 0; 1 is as good as any for the first", ErrOption, weight)
		case c.uplink != nil && c.uplink != u:
			return fmt.Errorf("%w: two sources of telemetry: WithTelemetrySource makes an Uplink of its own, "+
				"give the source to NewUplink and use WithUplink alone", ErrOption)
		}
		c.uplink, c.weight = u, weight

		return nil
	}
}

// WithTelemetrySource runs a source of telemetry for as long as the Estimator
// lives. The Estimators of one factory share it, with equal weights: they are on
// one [Uplink].
func WithTelemetrySource(source TelemetrySource) Option {
	if source == nil {
		return func(*config) error {
			return fmt.Errorf("%w: the telemetry source is nil; without a modem leave the option out", ErrOption)
		}
	}

	return WithUplink(NewUplink(source), 1)
}

// join adds a member and starts the source with the first one.
func (u *Uplink) join(e *Estimator, weight float64) {
	u.running.Lock()
	defer u.running.Unlock()
	u.mu.Lock()
	u.members = append(u.members, &member{e: e, weight: weight})
	u.shared = time.Time{}
	if len(u.members) > 1 {
		u.sent.CompareAndSwap(nil, new(sentLog))
	}
	if l := u.sent.Load(); l != nil {
		e.mu.Lock()
		e.heard = l.total.Load()
		e.mu.Unlock()
	}
	u.mu.Unlock()
	if u.source == nil || u.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	u.stop, u.done = stop, done
	go func() {
		defer close(done)
		if err := u.source(ctx, u.PushTelemetry); err != nil && ctx.Err() == nil {
			u.warn(fmt.Sprintf("no more telemetry: %v", err))
		}
	}()
}

// leave removes a member and stops the source with the last one.
func (u *Uplink) leave(e *Estimator) {
	u.running.Lock()
	defer u.running.Unlock()
	u.mu.Lock()
	u.members = slices.DeleteFunc(u.members, func(m *member) bool { return m.e == e })
	u.shared = time.Time{}
	empty := len(u.members) == 0
	u.mu.Unlock()
	if l := u.sent.Load(); l != nil {
		l.release(e)
	}
	if empty && u.stop != nil {
		u.stop()
		<-u.done
		u.stop, u.done = nil, nil
	}
}

func (u *Uplink) warn(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.members) > 0 {
		u.members[0].e.log.Warn(text)
	}
}

// SetWeight changes an Estimator's weight, within a few frames. It reports whether
// it did: the Estimator has to be on the Uplink, the weight above 0 and finite.
func (u *Uplink) SetWeight(e *Estimator, weight float64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.members {
		if m.e == e && weight > 0 && !math.IsInf(weight, 1) {
			m.weight = weight

			return true
		}
	}

	return false
}

// PushTelemetry takes in what the modem says and hands each Estimator its part.
// It is the sink of the source; t is not kept.
func (u *Uplink) PushTelemetry(t gbr.Telemetry) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.members) == 1 {
		u.members[0].e.push(t, 1)

		return
	}
	now := time.Now()
	if elapsed := now.Sub(u.shared); u.shared.IsZero() || elapsed >= shareEvery {
		u.measure(elapsed)
		u.divide()
		u.oneClock()
		u.shared = now
	}
	for _, m := range u.members {
		m.e.push(u.part(t, m), m.share)
	}
}

// measure reads what the members sent since the last time.
func (u *Uplink) measure(elapsed time.Duration) {
	first := u.shared.IsZero()
	sum := 0.0
	for _, m := range u.members {
		bytes := m.e.bytesSent()
		if !first {
			w := 1 - math.Exp(-elapsed.Seconds()/shareMemory.Seconds())
			m.rate += (float64(bytes-m.bytes)/elapsed.Seconds() - m.rate) * w
		}
		m.bytes = bytes
		sum += m.rate
	}
	for _, m := range u.members {
		m.used = 1 / float64(len(u.members))
		if sum > 0 {
			m.used = m.rate / sum
		}
	}
}

// divide gives every member what it may claim, up to its weight's part of what
// the others leave. What they claim above what they use is given twice: they seldom
// take it, and when they do that is known a moment later.
func (u *Uplink) divide() {
	left, weights := 1.0, 0.0
	for _, m := range u.members {
		m.share = 0
		weights += m.weight
	}
	for settled := true; settled; {
		settled = false
		for _, m := range u.members {
			claim := max(m.used*shareGrowth, shareLeast)
			if m.share == 0 && claim < left*m.weight/weights {
				m.share = claim
				left -= m.used
				weights -= m.weight
				settled = true
			}
		}
	}
	sum := 0.0
	for _, m := range u.members {
		if m.share == 0 {
			m.share = left * m.weight / weights
		}
		sum += m.share
	}
	// Nobody is left to take the rest when all claim little, as at the start.
	if sum < 1 {
		for _, m := range u.members {
			m.share /= sum
		}
	}
}

// oneClock tells those who do not know the modem's clock what the longest member who
// does has found.
func (u *Uplink) oneClock() {
	for _, m := range u.members {
		ahead, ok := m.e.clock()
		if !ok {
			continue
		}
		for _, other := range u.members {
			if other != m {
				other.e.setClock(ahead)
			}
		}

		return
	}
}

// part is a member's telemetry, valid until the next call: its part of the
// samples, and all the rest.
func (u *Uplink) part(t gbr.Telemetry, m *member) gbr.Telemetry {
	granted := func(bytes int) int { return portion(bytes, m.share) }
	reported := func(bytes int) int { return portion(bytes, max(m.used, shareLeast/shareGrowth)) }
	u.samples = u.samples[:0]
	for _, s := range t.Samples {
		s.Granted, s.SumGranted = granted(s.Granted), granted(s.SumGranted)
		s.Reported, s.ReportedLow, s.SumReported = reported(s.Reported), reported(s.ReportedLow), reported(s.SumReported)
		u.samples = append(u.samples, s)
	}
	t.Samples = u.samples

	return t
}

// portion rounds up: something stays something, and unknown stays unknown.
func portion(bytes int, part float64) int {
	if bytes <= 0 {
		return bytes
	}

	return int(math.Ceil(float64(bytes) * part))
}
