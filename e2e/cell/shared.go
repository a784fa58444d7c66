// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// SharedConfig describes a cell with many phones. Start is required, and a
// phone or a background user; a zero in any other field means the default given
// with it.
type SharedConfig struct {
	// Start is the beginning of slot 0.
	Start time.Time
	// Seed drives everything random, each part and each phone with its own
	// numbers.
	Seed uint64
	// Radio is the air interface of all; LTEFDD.
	Radio Radio
	// RBs is the width of the band in resource blocks; 50, which is 10 MHz of
	// LTE and 20 MHz of NR at 30 kHz.
	RBs int
	// Scheduler shares them out; CappedFair.
	Scheduler Scheduler
	// UsersPerTTI bounds how many it grants at once; 8.
	UsersPerTTI int
	// ReportTTIs and GrantTTIs are as in Config.
	ReportTTIs, GrantTTIs int
	// RequestTTIs is from a scheduling request on air to the scheduler;
	// ReportTTIs.
	RequestTTIs int
	// FillTTIs is how long before it is on air a phone fills a block or makes a
	// scheduling request, below GrantTTIs; 0. With more, requests go out beside
	// blocks, as in ns-3's NR module.
	FillTTIs int

	// Phones are those that packets are sent through.
	Phones []PhoneConfig
	// Background are the other users of the cell.
	Background []UserConfig

	// IdealBSR has all phones report as those of ns-3's LTE module do: beside
	// the blocks and without scheduling requests, in each slot with news. The
	// base station reads the newest report every BSRPeriod, and at once after
	// one of nothing. It takes a report as it is, without deducting what it
	// granted since the phone made it. For comparisons with that.
	IdealBSR bool
	// EagerRequests has all phones ask as those of ns-3's NR module do: every
	// block has a report, of nothing, too, and when a packet comes after a block
	// that took everything there is a request, whatever has been granted since.
	// The base station takes a report as it is, as with IdealBSR, and a request
	// for a report of 12 bytes, even where it knew of more. For comparisons with
	// that.
	EagerRequests bool
	// LoneRepeats gives a retransmission its slot alone, however small it is, as
	// in that module.
	LoneRepeats bool
	// Observe, when not nil, is told of every grant and report.
	Observe func(Decision)
}

// PhoneConfig is a phone of a Shared cell.
type PhoneConfig struct {
	// Config is all that is the phone's own. Start, Seed, Radio, ReportTTIs and
	// GrantTTIs are the cell's, Capacity is what the scheduler makes of it. The
	// RateFactor of handovers multiplies what the phone's channel carries.
	Config
	Link Link
}

// Decision is something that the scheduler was told or decided.
type Decision struct {
	// At is when the scheduler runs; a grant is on air later.
	At time.Time
	// User counts the phones, then the background users.
	User int
	// Report is the bytes that a report told of, -1 for a grant. Open tells that
	// there may be more: the table ends there.
	Report int
	Open   bool
	// RBs, MCS and Bytes are of a grant, first transmissions only.
	RBs, MCS, Bytes int
}

// Shared is a cell with many phones: one scheduler, one clock. It is not safe
// for concurrent use, and behaves the same for the same configuration and the
// same calls.
type Shared struct {
	cfg   SharedConfig
	frame *frame
	now   time.Time
	next  int64 // first slot not yet run
	users []*user

	claims  []claim
	turn    int // the user that is first in rotation
	load    Load
	shadows []*shadow // of the phones, where asked for
	// onGrant watches the grants by the millisecond in which they are on air.
	onGrant func(user int, ms int64, bytes int)
}

// Load is how much of a cell was used.
type Load struct {
	// RBs were granted, retransmissions included, of Of.
	RBs, Of int64
}

// user is a phone as the scheduler sees it.
type user struct {
	*Phone
	link    radioLink
	traffic *traffic // of background users
	hunger  *hunger  // of phones that have data on demand
	quiet   bool     // has nothing to do in this slot
	mean    float64  // EWMA of granted bytes a slot, for proportional fairness
}

// Numbers of random streams per user, beside those of a phone.
const (
	seedUser = iota + 100
	seedFading
	seedTraffic
)

// NewShared makes a cell. Every error wraps ErrConfig.
func NewShared(cfg SharedConfig) (*Shared, error) {
	radio, ok := cfg.Radio.traits()
	if !ok {
		return nil, bad("radio %d", cfg.Radio)
	}
	setInt(&cfg.RBs, 50)
	setInt(&cfg.UsersPerTTI, 8)
	setInt(&cfg.ReportTTIs, radio.report)
	setInt(&cfg.GrantTTIs, radio.grant)
	setInt(&cfg.RequestTTIs, cfg.ReportTTIs)
	if err := cfg.validate(radio); err != nil {
		return nil, err
	}
	s := &Shared{cfg: cfg, frame: newFrame(cfg.Radio, int64(cfg.GrantTTIs)), now: cfg.Start}
	bits := newBitTable(radio.rat, cfg.RBs)
	seeds := rand.New(rand.NewPCG(cfg.Seed, seedUser))
	for _, p := range cfg.Phones {
		if err := s.add(p, nil, bits, seeds.Uint64()); err != nil {
			return nil, err
		}
	}
	for i := range cfg.Background {
		u := cfg.Background[i]
		u.setDefaults()
		if err := u.validate(); err != nil {
			return nil, err
		}
		p := PhoneConfig{Link: u.Link, Config: Config{BufferBytes: u.BufferBytes, Telemetry: TelemetryConfig{Off: true}}}
		if err := s.add(p, &u, bits, seeds.Uint64()); err != nil {
			return nil, err
		}
	}
	s.claims = make([]claim, 0, len(s.users))
	s.shadows = make([]*shadow, len(cfg.Phones))
	return s, nil
}

// maxUsers is more than a base station has at a time.
const maxUsers = 1000

func (c SharedConfig) validate(radio traits) error {
	most := lteMaxRBs
	if radio.rat == diag.NR {
		most = nrMaxRBs
	}
	switch {
	case c.Start.IsZero():
		return bad("no start time")
	case c.RBs < radio.leastRBs || c.RBs > most:
		return bad("%d RBs are not within %d..%d", c.RBs, radio.leastRBs, most)
	case c.Scheduler > WaterPF:
		return bad("scheduler %d", c.Scheduler)
	case c.RequestTTIs < 1 || c.RequestTTIs > radio.maxLag:
		return bad("requests known after %d TTIs, not 1..%d", c.RequestTTIs, radio.maxLag)
	case c.FillTTIs < 0 || c.FillTTIs >= c.GrantTTIs:
		return bad("blocks filled %d TTIs ahead of a grant of %d", c.FillTTIs, c.GrantTTIs)
	case c.UsersPerTTI < 1:
		return bad("%d users in a TTI", c.UsersPerTTI)
	case len(c.Phones)+len(c.Background) == 0 || len(c.Phones)+len(c.Background) > maxUsers:
		return bad("%d phones and %d background users", len(c.Phones), len(c.Background))
	}
	return nil
}

// add puts a phone, or a background user of traffic, into the cell.
func (s *Shared) add(p PhoneConfig, background *UserConfig, bits *bitTable, seed uint64) error {
	c := p.Config
	c.Start, c.Seed, c.Radio, c.ReportTTIs, c.GrantTTIs = s.cfg.Start, seed, s.cfg.Radio, s.cfg.ReportTTIs, s.cfg.GrantTTIs
	if _, some := c.Second.peak(); some {
		return bad("a second carrier in a cell with many phones")
	}
	c, err := c.withDefaults()
	if err != nil {
		return err
	}
	p.Link.setDefaults()
	if err := p.Link.validate(); err != nil {
		return err
	}
	stream := func(id uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, id)) }
	u := &user{
		Phone: newPhone(c, s),
		link:  newRadioLink(p.Link, bits, s.frame, stream(seedFading)),
	}
	u.air.shared = true
	u.harq.wideBLER, u.harq.wideRBs = p.Link.WideBLER, s.cfg.RBs*7/8
	u.station.requestTTIs, u.station.lead = int64(s.cfg.RequestTTIs), int64(s.cfg.FillTTIs)
	u.station.trusting = s.cfg.IdealBSR || s.cfg.EagerRequests
	u.station.eager, u.bsr.eager = s.cfg.EagerRequests, s.cfg.EagerRequests
	if s.cfg.IdealBSR {
		u.station.ideal = heldReport{on: true, period: u.bsr.period}
		u.bsr.ideal = idealBSR{on: true, again: s.frame.slots(idealAgain), againAt: 1 << 62}
	}
	u.shared, u.number = s, len(s.users)
	if background != nil {
		u.traffic, u.sink = newTraffic(*background, stream(seedTraffic)), true
	}
	s.users = append(s.users, u)
	return nil
}

// idealAgain is how long after a block that left something behind the reference
// reports again.
const idealAgain = 10 * time.Millisecond

// Phone is the i-th of SharedConfig.Phones. All phones have one clock: a time
// before the last one of any counts as that.
func (s *Shared) Phone(i int) *Phone { return s.users[i].Phone }

// Load returns how much of the cell was used up to the newest call.
func (s *Shared) Load() Load { return s.load }

// Background are the counters of the i-th background user.
func (s *Shared) Background(i int) Stats { return s.users[len(s.cfg.Phones)+i].Stats() }

// runTo steps through the slots that began by now.
func (s *Shared) runTo(now time.Time) time.Time {
	s.now = later(s.now, now)
	last := s.frame.slots(s.now.Sub(s.cfg.Start))
	for ; s.next <= last; s.next++ {
		s.step(s.next)
	}
	return s.now
}

// step is slot k.
func (s *Shared) step(k int64) {
	since := time.Duration(k) * s.frame.slot
	for _, u := range s.users {
		u.next = k
		if u.traffic != nil {
			u.traffic.run(u.Phone, since)
		}
		if u.hunger != nil {
			u.hunger.feed(u, since)
		}
		if u.quiet = u.idle() && !u.station.greedy; u.quiet {
			u.skip(k)
			continue
		}
		u.open(k)
	}
	for _, ahead := range s.frame.targets[k%s.frame.n] {
		s.schedule(k, k+ahead)
	}
	for _, u := range s.users {
		if !u.quiet {
			u.send(k)
			u.next = k + 1
		}
	}
}
