// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Streams of random numbers, so that a change of one part leaves the others'
// draws alone.
const (
	seedSynth = iota + 1
	seedPhase
	seedHARQ
	seedPath
	seedTelemetry
	seedReturn
	seedMobility
	seedRLC
	seedFaults
)

// otherPacket is the size of other apps' packets.
const otherPacket = 600

// Phone is one phone and its way through the radio and beyond: its queue, its
// reports, its blocks on air, the path behind, its modem's log. A Cell is one
// alone, a Shared has many. It is not safe for concurrent use.
type Phone struct {
	cfg   Config
	clock clock
	frame *frame
	// carriers is how many it has.
	carriers int
	now      time.Time
	next     int64 // first slot not yet run

	phone   buffer
	bsr     bsrState
	station station
	harq    harq
	air     *air
	path    path
	log     modemLog

	visit int  // of the air, in which the phone is
	away  bool // in its interruption

	otherDue float64 // bytes of other apps not yet made a packet
	stats    Stats
	events   Events
	sink     bool // what it sends is of no interest: counted and gone

	shared *Shared // the cell, if it has several phones
	number int     // in there

	delivered        []Delivery
	dropped, pending []Packet // pending is for the next Output
}

// Stats counts since the start. Bytes of packets only: no radio headers, no
// other apps.
//
//	BytesIn = BytesDelivered + BytesDropped + BytesQueued + BytesInFlight
type Stats struct {
	BytesIn, BytesDelivered, BytesDropped int64
	// BytesQueued has not reached the base station in full, BytesInFlight has
	// not reached the far end. A packet counts with all its bytes.
	BytesQueued, BytesInFlight                   int64
	PacketsIn, PacketsDelivered, PacketsInFlight int64
	// PhoneDrops did not fit into the phone's buffer or were dropped by a
	// handover, PathDrops were lost behind the radio.
	PhoneDrops, PathDrops int64
	// Grants are first transmissions, with GrantBytes in all.
	Grants, GrantBytes int64
	Retransmissions    int64
	SRs, BSRs          int64
}

// clock runs the radio.
type clock interface {
	// runTo runs every slot that began by now and returns the time it is then:
	// phones of one cell have one clock.
	runTo(now time.Time) time.Time
}

// newPhone makes a phone of a checked configuration.
func newPhone(cfg Config, clock clock) *Phone {
	stream := func(id uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, id)) }
	phase := stream(seedPhase)
	frame := newFrame(cfg.Radio, int64(cfg.GrantTTIs))
	air := newAir(cfg, frame, stream(seedMobility))
	c := &Phone{
		cfg:      cfg,
		clock:    clock,
		frame:    frame,
		carriers: 1,
		now:      cfg.Start,
		air:      air,
		phone:    buffer{limit: cfg.BufferBytes},
		bsr: bsrState{
			period:   frame.slots(cfg.BSRPeriod),
			retx:     frame.slots(cfg.RetxBSR),
			srPeriod: frame.slots(cfg.SRPeriod),
			srPhase:  phase.Int64N(frame.slots(cfg.SRPeriod)),
			sizes:    sizesOf(frame.rat, cfg.ExtendedBSR),
		},
		station: station{
			air:         air,
			reportTTIs:  int64(cfg.ReportTTIs),
			requestTTIs: int64(cfg.ReportTTIs),
			srGrant:     cfg.SRGrantBytes,
			sizes:       sizesOf(frame.rat, cfg.ExtendedBSR),
			granted:     -1,
			last:        -1,
		},
		harq: harq{frame: frame, report: int64(cfg.ReportTTIs), bler: cfg.BLER, rng: stream(seedHARQ), rlc: cfg.RLC, rlcRNG: stream(seedRLC)},
		path: newPath(cfg.Path, cfg.Start, stream(seedPath)),
		log: modemLog{
			cfg:   cfg.Telemetry,
			rng:   stream(seedTelemetry),
			frame: frame,
			sizes: sizesOf(frame.rat, cfg.ExtendedBSR),
			first: frame.turn(phase.Int64N(ttiWrap)),
			pci:   firstPCI,
			start: cfg.Start,
			// The faults' numbers are drawn only where there are faults.
			faults: newFaults(cfg.Telemetry.Faults, cfg.Start, frame.maxTB, stream(seedFaults)),
		},
	}
	if cfg.BSRPeriod == diag.Infinite {
		c.bsr.period = -1
	}
	if _, some := cfg.Second.peak(); some {
		c.carriers = 2
	}
	c.log.configure(cfg.Start, cfg.BSRPeriod, cfg.RetxBSR)
	return c
}

// Enqueue puts a packet into the phone's buffer. It is sent from the first TTI (of TDD: uplink slot)
// on that begins after now. False means that the buffer was full (or that Size
// is not positive): the packet is lost, and also in the next Output.Dropped.
func (c *Phone) Enqueue(now time.Time, p Packet) bool {
	c.run(now)
	if c.shared != nil {
		c.shared.mirror(c.number, p, c.now)
	}
	return c.accept(p, c.now)
}

// accept puts a packet into the buffer that came at a time.
func (c *Phone) accept(p Packet, at time.Time) bool {
	c.stats.PacketsIn++
	c.stats.BytesIn += int64(max(p.Size, 0))
	before := c.phone.bytes
	if !c.phone.push(queued{Packet: p, at: at}) {
		c.stats.PhoneDrops++
		c.drop(p)
		return false
	}
	c.stats.BytesQueued += int64(p.Size)
	c.bsr.onData(before)
	return true
}

// RunTo runs every TTI that began by now, as Enqueue does, and keeps what comes
// out for the next Advance: Backlog is then that of now.
func (c *Phone) RunTo(now time.Time) { c.run(now) }

// Advance runs every TTI that began by now and returns what arrived by now. A
// time before the last one counts as the last one.
func (c *Phone) Advance(now time.Time) Output {
	c.run(now)
	clear(c.delivered)
	c.delivered = c.delivered[:0]
	for q := &c.path.out; q.n > 0 && !q.front().At.After(c.now); {
		d := q.pop()
		c.stats.PacketsInFlight--
		c.stats.BytesInFlight -= int64(d.Size)
		c.stats.PacketsDelivered++
		c.stats.BytesDelivered += int64(d.Size)
		c.delivered = append(c.delivered, d)
	}
	clear(c.dropped)
	c.dropped, c.pending = c.pending, c.dropped[:0]
	out := Output{Delivered: c.delivered, Dropped: c.dropped}
	out.Records, out.Diag = c.log.read(c.now)
	return out
}

// NextTimeout is when Advance has something to do next: the next TTI while
// anything is queued or under way on the radio, else the next arrival of a
// packet or of telemetry. Zero means not before the next Enqueue.
func (c *Phone) NextTimeout() time.Time {
	var t time.Time
	sooner := func(u time.Time) {
		if t.IsZero() || u.Before(t) {
			t = u
		}
	}
	if !c.idle() {
		sooner(c.begin(c.next))
	}
	if at, ok := c.path.nextTimeout(); ok {
		sooner(at)
	}
	if at, ok := c.log.nextRead(); ok {
		sooner(at)
	}
	if !t.IsZero() {
		t = later(t, c.now)
	}
	return t
}

// CapacityBps is the mean capacity over the window that ends at now, in bit/s,
// handovers and outages included. In a Shared cell it is what the phone would
// have been granted if it always had data, from a run of the same cell beside
// this one, which knows what the other phones sent since the first call; it
// reaches back 65 s.
func (c *Phone) CapacityBps(now time.Time, window time.Duration) int {
	to := now.Sub(c.cfg.Start)
	if c.shared != nil {
		return c.shared.capacityBps(c.number, to, window)
	}
	return c.air.meanBps(to-window, to)
}

// Backlog is the bytes in the phone that wait for their first transmission,
// other apps' included.
func (c *Phone) Backlog() int { return c.phone.bytes }

// QueueDelay is how long the packet at the head of the phone's queue has been
// there; 0 when it is empty.
func (c *Phone) QueueDelay(now time.Time) time.Duration {
	if c.phone.q.n == 0 {
		return 0
	}
	return max(now.Sub(c.phone.q.front().at), 0)
}

// Stats returns the counters.
func (c *Phone) Stats() Stats { return c.stats }

// begin is the time slot k begins.
func (c *Phone) begin(k int64) time.Time { return c.cfg.Start.Add(time.Duration(k) * c.frame.slot) }

// run does everything that was due by now.
func (c *Phone) run(now time.Time) {
	c.now = c.clock.runTo(later(c.now, now))
	c.path.serve(c.now)
	c.lostOnPath()
}

// idle says that TTIs change nothing until the next Enqueue. A skipped TTI
// must leave no trace: run in one go or ms by ms, the result is the same.
func (c *Phone) idle() bool {
	return c.phone.bytes == 0 && c.station.idle() && c.harq.blocks.n == 0 &&
		c.next > c.station.granted && c.log.idle() && c.cfg.OtherAppsBps == 0
}

// open begins slot k, before the scheduler's turn.
func (c *Phone) open(k int64) {
	c.move(k)
	c.log.expire(c.begin(k + 1))
	c.otherApps(k)
	if c.harq.wake(k) && c.phone.bytes == 0 {
		c.bsr.onData(0)
	}
}

// send is what the phone does in slot k, after the scheduler's turn.
func (c *Phone) send(k int64) {
	waiting := c.phone.bytes + c.harq.ready
	c.bsr.onTTI(k, waiting)
	if c.bsr.wantsIdeal(k, waiting) {
		c.stats.BSRs++
		c.station.hear(report{at: k + c.station.reportTTIs, air: k, waiting: c.bsr.rounded(waiting)})
	}
	lead := c.station.lead
	if lead > 0 {
		c.request(k + lead)
	}
	c.fillAll(k, k+lead)
	if !c.frame.up(k) {
		return
	}
	busy := false
	for carrier := range c.carriers {
		if number := c.harq.due(carrier, k); number >= 0 {
			busy = true
			c.transmit(k, number)
		}
	}
	if lead == 0 && !busy && k >= c.station.granted {
		c.request(k)
	}
	c.deliver(c.begin(k + 1))
}

// request makes a scheduling request for slot air, if there is need of one and an
// occasion.
func (c *Phone) request(air int64) {
	if !c.frame.up(air) || !c.bsr.wantsSR(air, c.frame.since(air)) || c.air.off(air) {
		return
	}
	c.bsr.asked(air)
	c.stats.SRs++
	c.station.hear(report{at: air + c.station.requestTTIs, air: air, sr: true, waiting: -1})
}

// otherApps puts their packets in that came up since the TTI before.
func (c *Phone) otherApps(k int64) {
	c.otherDue += float64(c.cfg.OtherAppsBps) / (8 * float64(time.Second/c.frame.slot))
	for ; c.otherDue >= otherPacket; c.otherDue -= otherPacket {
		before := c.phone.bytes
		if c.phone.push(queued{Packet: Packet{Size: otherPacket}, at: c.begin(k), other: true}) {
			c.bsr.onData(before)
		}
	}
}

// fillAll makes the new blocks of slot air in slot k. The first carrier's is the
// last to be filled, for the report is of what all of them leave; there is one
// in a slot. TS 36.321 5.4.5.
func (c *Phone) fillAll(k, air int64) {
	more := false
	for carrier := c.carriers - 1; carrier >= 0; carrier-- {
		slot := c.station.plan.get(carrier, air)
		if slot.grant == 0 || c.harq.busy(carrier, air) {
			continue
		}
		more = false
		for other := range carrier {
			more = more || c.station.plan.get(other, air).grant > 0 && !c.harq.busy(other, air)
		}
		c.harq.book(air, c.fill(k, slot, !more))
	}
}

// fill makes a new block in slot k, with a report if one is due.
func (c *Phone) fill(k int64, s slot, report bool) (number int64) {
	data, ce, padding := c.bsr.fill(k, s.grant, c.phone.bytes+c.harq.ready, report)
	again := c.harq.carry(c.harq.next(), data)
	packets := c.phone.take(data-again, c.begin(s.air+1), &c.harq.onAir)
	c.stats.Grants++
	c.stats.GrantBytes += int64(s.grant)
	if ce.present() {
		c.stats.BSRs++
	}
	return c.harq.add(block{
		report: reportOf(s.air, ce), carrier: s.carrier, size: s.grant, rbs: s.rbs, data: data, padding: padding, packets: packets,
	})
}

// reportOf is what the base station will learn from a block.
func reportOf(air int64, ce ce) report { return report{air: air, ce: ce, waiting: -1} }

// transmit sends the block that slot k is for: a new one, or one again, unless
// the cell has no room at all: then later.
func (c *Phone) transmit(k, number int64) {
	b := c.harq.block(number)
	switch {
	case b.sent == 0:
		c.log.onBlock(c.begin(k+1), k, b)
	case c.air.dead(b.carrier, k):
		c.harq.repeat(k, number)
		return
	default:
		if c.bsr.eager {
			b.report = reportOf(k, c.bsr.eagerCE(c.phone.bytes+c.harq.ready))
		}
		c.stats.Retransmissions++
		c.log.onRetx(c.begin(k+1), k, b)
	}
	if c.harq.send(k, number) {
		r := c.harq.block(number).report
		r.at = k + c.station.reportTTIs
		c.station.hear(r)
	}
}

// deliver hands on to the path what the base station has in order at a time.
func (c *Phone) deliver(at time.Time) {
	for {
		packets, ok := c.harq.handOn()
		if !ok {
			return
		}
		for range packets {
			q := c.harq.onAir.pop()
			if q.other {
				continue
			}
			c.stats.BytesQueued -= int64(q.Size)
			if c.sink {
				c.stats.PacketsDelivered++
				c.stats.BytesDelivered += int64(q.Size)
				continue
			}
			ok := c.path.push(at, q)
			c.stats.PacketsInFlight++
			c.stats.BytesInFlight += int64(q.Size)
			c.lostOnPath()
			if !ok {
				c.dropOnPath(q.Packet)
			}
		}
	}
}

// lostOnPath collects what the path lost after it had taken it.
func (c *Phone) lostOnPath() {
	for c.path.lost.n > 0 {
		c.dropOnPath(c.path.lost.pop().Packet)
	}
}

func (c *Phone) dropOnPath(p Packet) {
	c.stats.PacketsInFlight--
	c.stats.BytesInFlight -= int64(p.Size)
	c.stats.PathDrops++
	c.drop(p)
}

func (c *Phone) drop(p Packet) {
	c.stats.BytesDropped += int64(max(p.Size, 0))
	if !c.sink {
		c.pending = append(c.pending, p)
	}
}
