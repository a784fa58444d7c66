// SPDX-License-Identifier: MIT

package gbr

import (
	"fmt"
	"time"
)

// Bounded is an [Outer] whose bounds can be changed in mid call. [gcc.Controller]
// is one.
type Bounded interface {
	Outer
	SetBounds(now time.Time, minBps, maxBps int) error
}

// Reconfigure changes algorithm, preset, bounds or numbers in mid call; StartBps
// means nothing. What was learned of radio and path stays: the radio's rate, the
// phone's queue and the modem's clock for Default, which after another algorithm
// believes in them again within a second or so; the rate, within the new bounds; and the outer loop, unless
// another one is given, which is moved to that rate. On an error nothing has
// changed.
func (e *Estimator) Reconfigure(now time.Time, outer Outer, cfg Config) error {
	cfg.StartBps = 0
	cfg, err := cfg.resolve()
	if err != nil {
		return err
	}
	now = e.advance(now)
	before := e.shared
	e.cfg, e.inner.cfg, e.gain = cfg, cfg, 1
	kept := outer == nil
	if !kept {
		e.outer = outer
	}
	law, err := e.newLaw()
	if err != nil {
		e.shared = before

		return err
	}
	if b, ok := e.outer.(Bounded); kept && ok {
		if err := b.SetBounds(now, cfg.MinBps, cfg.MaxBps); err != nil {
			e.shared = before

			return fmt.Errorf("%w: outer loop: %w", ErrConfig, err)
		}
	}
	if !kept {
		e.outer.SetEstimate(now, e.clamp(e.out.rate))
		e.noProbes = false
	}
	if l, ok := e.law.(*grantLaw); ok {
		e.learned, e.learnedAt = l, now
		if cfg.Algorithm != Default && kept {
			l.flush(now)
		}
	}
	if l, ok := law.(*grantLaw); ok && e.learned != nil {
		l.adopt(e.learned, e.learnedAt.Equal(now), e.out.encoder)
		e.learned = nil
	}
	e.law = law
	e.publish()

	return nil
}

// newLaw makes the law of the configuration.
func (e *Estimator) newLaw() (law, error) {
	switch e.cfg.Algorithm {
	case PublishedRTC, PublishedBulk:
		return &publishedLaw{shared: &e.shared}, nil
	case Default:
		return newGrantLaw(&e.shared)
	default:
		return &gainLaw{shared: &e.shared}, nil
	}
}

// adopt takes over what another law of the same estimator knows: all of it when it
// steered until now, or else what does not go stale.
func (l *grantLaw) adopt(old *grantLaw, now bool, encoderBps int) {
	fresh := *l
	if now {
		*l = *old
		l.shared, l.samples, l.smoother = fresh.shared, fresh.samples, fresh.smoother
		l.smoother.Reset(l.ofWhole(encoderBps))
	} else {
		l.epoch, l.begun = old.epoch, old.begun
		l.twin.clock, l.twin.offset = old.twin.clock, old.twin.offset
		l.grantAge, l.reportAge, l.config = old.grantAge, old.reportAge, old.config
		l.path.slack, l.ceiling = old.path.slack, old.ceiling
		l.cap = old.cap
		l.cap.handover() // of the backlog nothing is known any more
	}
	l.cap.capacityConfig = fresh.cap.capacityConfig
}
