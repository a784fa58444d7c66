// SPDX-License-Identifier: MIT

package cell

import "time"

// Saturated is what a phone of a Shared cell would be granted in d if it always
// had data: its own future grants, for a sender that knows them. The other
// phones of the configuration are silent, the background users are there. The
// trace is as Config.Capacity: first transmissions, headers included.
func Saturated(cfg SharedConfig, phone int, d time.Duration) (Trace, error) {
	if phone < 0 || phone >= len(cfg.Phones) {
		return Trace{}, bad("no phone %d of %d", phone, len(cfg.Phones))
	}
	t, err := saturated(cfg, d, only(phone))
	if err != nil {
		return Trace{}, err
	}
	return t[phone], nil
}

// SaturatedAll is the same with all phones having data at once: their shares.
func SaturatedAll(cfg SharedConfig, d time.Duration) ([]Trace, error) {
	return saturated(cfg, d, func(int) []Demand { return always() })
}

// only one phone has data, always.
func only(phone int) func(int) []Demand {
	return func(i int) []Demand {
		if i == phone {
			return always()
		}
		return nil
	}
}

// saturated returns the trace of each phone.
func saturated(cfg SharedConfig, d time.Duration, demands func(phone int) []Demand) ([]Trace, error) {
	if d < tti || d > maxTraceMs*tti {
		return nil, bad("saturated for %v, not 1 ms to 1 h", d)
	}
	s, err := newGreedy(cfg, demands)
	if err != nil {
		return nil, err
	}
	bytes := make([][]int, len(cfg.Phones))
	for i := range bytes {
		bytes[i] = make([]int, d.Milliseconds())
	}
	s.onGrant = func(phone int, ms int64, n int) {
		if phone < len(bytes) && ms < d.Milliseconds() {
			bytes[phone][ms] += n
		}
	}
	s.runTo(cfg.Start.Add(d))
	traces := make([]Trace, len(bytes))
	for i := range bytes {
		if traces[i], err = NewTrace("saturated", bytes[i]); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// newGreedy is a cell in which some phones have data as they demand it.
func newGreedy(cfg SharedConfig, demands func(phone int) []Demand) (*Shared, error) {
	phones := make([]PhoneConfig, len(cfg.Phones))
	copy(phones, cfg.Phones) // the caller's stay as they are
	for i := range phones {
		// Neither changes what is granted.
		phones[i].Path, phones[i].Telemetry = PathConfig{}, TelemetryConfig{Off: true}
		if len(demands(i)) > 0 {
			phones[i].BufferBytes = 2 * endlessWindow
		}
	}
	cfg.Phones, cfg.Observe = phones, nil
	s, err := NewShared(cfg)
	if err != nil {
		return nil, err
	}
	for i := range phones {
		u := s.users[i]
		u.sink = true
		if d := demands(i); len(d) > 0 {
			u.hunger = newHunger(d)
		}
	}
	return s, nil
}

// shadow is the same cell with one phone that always has data, run beside the
// real one to tell that phone's capacity. The other phones have the packets
// that they have in the real one.
type shadow struct {
	cell   *Shared
	phone  int
	grants sums
}

func (s *Shared) newShadow(phone int) *shadow {
	w := &shadow{phone: phone, grants: sums{cum: make([]int64, sumsMs)}}
	var err error
	if w.cell, err = newGreedy(s.cfg, only(phone)); err != nil {
		return nil // the same configuration was fine before
	}
	w.cell.onGrant = func(i int, ms int64, n int) {
		if i == phone {
			w.grants.add(ms, n)
		}
	}
	return w
}

// capacityBps is the mean over the window that ends at a time since the start.
func (s *Shared) capacityBps(phone int, to, window time.Duration) int {
	if s.shadows[phone] == nil {
		if s.shadows[phone] = s.newShadow(phone); s.shadows[phone] == nil {
			return 0
		}
	}
	w := s.shadows[phone]
	w.cell.runTo(s.now)
	return w.grants.meanBps(to-window, to)
}

// mirror gives the shadows of the other phones a packet of this one.
func (s *Shared) mirror(phone int, p Packet, at time.Time) {
	for i, w := range s.shadows {
		if w != nil && i != phone {
			w.cell.runTo(at)
			w.cell.users[phone].accept(Packet{Size: p.Size}, at)
		}
	}
}

// sumsMs is how many milliseconds sums remembers.
const sumsMs = 1 << 16

// sums adds bytes up by milliseconds and forgets old ones.
type sums struct {
	// cum[i] is the sum before the millisecond that is i beyond a multiple of
	// the length.
	cum []int64
	ms  int64 // newest one
	sum int64
}

// add puts bytes into a millisecond; they ascend.
func (o *sums) add(ms int64, bytes int) {
	for o.ms < ms {
		o.ms++
		o.cum[o.ms%sumsMs] = o.sum
	}
	o.sum += int64(bytes)
}

// before is the sum before a millisecond, of those remembered.
func (o *sums) before(ms int64) int64 {
	if ms > o.ms {
		return o.sum
	}
	return o.cum[max(ms, o.ms-sumsMs+1, 0)%sumsMs]
}

func (o *sums) meanBps(from, to time.Duration) int {
	a, b := max(from.Milliseconds(), 0), to.Milliseconds()
	if b <= a {
		return 0
	}
	return int(float64(o.before(b)-o.before(a)) * 8000 / float64(b-a))
}
