// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// TelemetryFaults is what can go wrong between a modem and the reader of its
// log. Faults befall whole log packets, the same ones whether they are read as
// records or as bytes. The zero value is none.
type TelemetryFaults struct {
	// Loss is the share of log packets that are lost, 0..1.
	Loss float64
	// Late is the share of log packets that are late, 0..1, by a further
	// delay uniform in 0..LateMax (1 s). Those behind wait, as the port keeps
	// the order.
	Late    float64
	LateMax time.Duration
	// Duplicate is the share of log packets that come twice, 0..1.
	Duplicate float64
	// Reorder delays some log packets so that later ones overtake them.
	Reorder Reorder
	// Freezes are times in which the modem logs nothing new, in order.
	Freezes []Freeze
	// Restarts are times after Start at which the modem starts anew, in order.
	// What it had not committed is gone, its frames count from elsewhere, and
	// its port flushes the last few log packets of before, old stamps and all,
	// ahead of the configuration.
	Restarts []time.Duration
	// Scale multiplies the bytes of grants, as a wrong layout or unit would;
	// 0.1..10, 1. BSRs are indices and stay.
	Scale float64
}

// Freeze is a time in which the log stands still: silence, or the last log
// packet of each kind again and again, old stamp and all.
type Freeze struct {
	At, For time.Duration
	Repeat  bool
}

// packet is a log packet as it was committed.
type packet struct {
	code   diag.LogCode
	logged diag.Timestamp
	recs   []diag.Record
}

// staleLen is how many log packets a restart flushes again: some 50 ms.
const staleLen = 8

// faults is the state of a modem log with faults.
type faults struct {
	cfg      TelemetryFaults
	on       bool
	start    time.Time
	maxTB    int
	rng      *rand.Rand
	restarts int              // of cfg.Restarts, done
	stale    [staleLen]packet // the last ones committed
	packets  int              // committed so far
	config   diag.Record      // as of configure
}

func newFaults(cfg TelemetryFaults, start time.Time, maxTB int, rng *rand.Rand) faults {
	on := cfg.Loss > 0 || cfg.Late > 0 || cfg.Duplicate > 0 || cfg.Reorder.Share > 0 ||
		len(cfg.Freezes) > 0 || len(cfg.Restarts) > 0 || cfg.Scale != 1
	return faults{cfg: cfg, on: on, start: start, maxTB: maxTB, rng: rng}
}

// hit draws whether one packet has a fault that a share of them have.
func (f *faults) hit(share float64) bool { return share > 0 && f.rng.Float64() < share }

// frozen is the freeze at a time, if there is one.
func (f *faults) frozen(at time.Time) (Freeze, bool) {
	since := at.Sub(f.start)
	for _, z := range f.cfg.Freezes {
		if since >= z.At && since < z.At+z.For {
			return z, true
		}
	}
	return Freeze{}, false
}

// faulty publishes a packet with what befalls it.
func (l *modemLog) faulty(p packet, at time.Time) {
	f := &l.faults
	if z, ok := f.frozen(at); ok {
		if z.Repeat {
			l.repeat(p.code, at)
		}
		return
	}
	f.scale(p.recs)
	kept := &f.stale[f.packets%staleLen]
	kept.code, kept.logged, kept.recs = p.code, p.logged, append(kept.recs[:0], p.recs...)
	f.packets++
	if f.hit(f.cfg.Loss) {
		return
	}
	l.put(p, at)
	if f.hit(f.cfg.Duplicate) {
		l.put(p, at)
	}
}

// repeat publishes the last packet of a kind again.
func (l *modemLog) repeat(code diag.LogCode, at time.Time) {
	f := &l.faults
	for i := f.packets - 1; i >= max(f.packets-staleLen, 0); i-- {
		if old := f.stale[i%staleLen]; old.code == code {
			l.put(old, at)
			return
		}
	}
}

func (f *faults) scale(recs []diag.Record) {
	if f.cfg.Scale == 1 {
		return
	}
	for i := range recs {
		if r := &recs[i]; r.Kind == diag.KindGrant {
			r.Bytes = min(max(int(math.Round(float64(r.Bytes)*f.cfg.Scale)), 1), f.maxTB)
			r.Padding = min(int(math.Round(float64(r.Padding)*f.cfg.Scale)), r.Bytes)
		}
	}
}

// late is the further delay of a packet.
func (f *faults) late() time.Duration {
	if !f.hit(f.cfg.Late) {
		return 0
	}
	return time.Duration(f.rng.Int64N(int64(f.cfg.LateMax) + 1))
}

// astray is the delay of a packet that does not hold up those behind.
func (f *faults) astray() time.Duration {
	if !f.hit(f.cfg.Reorder.Share) {
		return 0
	}
	return time.Duration(f.rng.Int64N(int64(f.cfg.Reorder.Max) + 1))
}

// restart does the restarts that are due at a time.
func (l *modemLog) restart(at time.Time) {
	f := &l.faults
	for f.restarts < len(f.cfg.Restarts) && at.Sub(f.start) >= f.cfg.Restarts[f.restarts] {
		f.restarts++
		l.restarted = (l.restarted + l.frame.turn(1+f.rng.Int64N(ttiWrap-1))) % l.frame.wrap()
		l.grants.txs, l.reports.txs = l.grants.txs[:0], l.reports.txs[:0]
		for i := max(f.packets-staleLen, 0); i < f.packets; i++ {
			l.put(f.stale[i%staleLen], at)
		}
		l.scratch = append(l.scratch[:0], f.config)
		l.publish(f.config.Code, at, l.scratch)
	}
}

func (f *TelemetryFaults) setDefaults() {
	setFloat(&f.Scale, 1)
	if f.Late != 0 {
		setDuration(&f.LateMax, time.Second)
	}
}

func (f TelemetryFaults) validate(bad func(string, ...any) error) error {
	share := func(v float64) bool { return v >= 0 && v <= 1 } // false for NaN
	switch {
	case !share(f.Loss) || !share(f.Late) || !share(f.Duplicate) || !share(f.Reorder.Share):
		return bad("shares of telemetry faults %v, %v, %v, %v are not within 0..1", f.Loss, f.Late, f.Duplicate, f.Reorder.Share)
	case f.LateMax < 0 || f.LateMax > time.Hour || f.Reorder.Max < 0 || f.Reorder.Max > time.Hour:
		return bad("telemetry late by %v, out of order by %v", f.LateMax, f.Reorder.Max)
	case !(f.Scale >= 0.1 && f.Scale <= 10):
		return bad("telemetry scale %v is not within 0.1..10", f.Scale)
	}
	last := time.Duration(0)
	for _, z := range f.Freezes {
		if z.At < last || z.For <= 0 || z.At > maxAt || z.For > maxAt {
			return bad("telemetry freeze %+v: they must not overlap", z)
		}
		last = z.At + z.For
	}
	last = -1
	for _, at := range f.Restarts {
		if at <= last || at > maxAt {
			return bad("telemetry restart at %v: times must ascend from 0", at)
		}
		last = at
	}
	return nil
}
