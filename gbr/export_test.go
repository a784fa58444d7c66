// SPDX-License-Identifier: MIT

package gbr

import (
	"time"
	"unsafe"
)

// Twin is the queue twin alone, for tests outside of the package.
type Twin struct {
	twin
	epoch   time.Time
	grants  []twinGrant
	reports []twinReport
}

// NewTwin returns one whose clock begins at epoch.
func NewTwin(epoch time.Time) *Twin { return &Twin{epoch: epoch, twin: twin{turn: defaultLag}} }

// OnSent is a packet that was sent.
func (t *Twin) OnSent(at time.Time, seq int64, size int) { t.onSent(seq, micros(t.epoch, at), size) }

// OnOthersSent is a packet of another sender.
func (t *Twin) OnOthersSent(at time.Time, size int) { t.onOthersSent(micros(t.epoch, at), size) }

// OnTelemetry is a batch.
func (t *Twin) OnTelemetry(now time.Time, m Telemetry) {
	if at, ok := newestStamp(&m); ok && t.clock.heard(micros(t.epoch, now), micros(t.epoch, at)) {
		t.restart()
	}
	t.grants, t.reports = t.grants[:0], t.reports[:0]
	if m.Config != nil && m.Config.Lag > 0 {
		t.turn = m.Config.Lag.Milliseconds()
	}
	for _, g := range m.Grants {
		if g.Bytes == 0 {
			t.onRepeat(nearTTI(micros(t.epoch, g.At)))

			continue
		}
		t.grants = append(t.grants, twinGrant{micros(t.epoch, g.At), int32(g.Bytes)})
	}
	for _, r := range m.Reports {
		t.reports = append(t.reports, twinReport{micros(t.epoch, r.At), int64(r.Low), int64(r.High)})
	}
	t.onBatch(t.grants, t.reports)
}

// RadioDelay is what the twin says now.
func (t *Twin) RadioDelay(seq int64) (time.Duration, bool) {
	d, repeats, ok, _ := t.radioDelay(seq)

	return time.Duration(d+repeats) * time.Microsecond, ok && t.clock.known()
}

// GrantLawSize is the memory of Default's state.
const GrantLawSize = unsafe.Sizeof(grantLaw{})

// CapacityBps is what Default takes the radio to carry.
func CapacityBps(e *Estimator) float64 { return e.law.(*grantLaw).cap.mu * 8000 }

// Trusted tells whether Default steers by telemetry.
func Trusted(e *Estimator) bool { return e.law.(*grantLaw).trusted() }
