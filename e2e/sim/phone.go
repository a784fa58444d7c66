// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// heartbeat is how often a living agent says so.
const heartbeat = 100 * time.Millisecond

// uplink is a phone's radio, and the path behind it.
type uplink interface {
	Enqueue(now time.Time, p cell.Packet) bool
	RunTo(now time.Time)
	Advance(now time.Time) cell.Output
	NextTimeout() time.Time
	CapacityBps(now time.Time, window time.Duration) int
	Backlog() int
	QueueDelay(now time.Time) time.Duration
	Stats() cell.Stats
}

// phone is a radio, the way back, and an agent that tells of the modem.
type phone struct {
	w       *world
	up      uplink
	down    *wire
	cell    int             // its number in the shared cell, -1 in none
	path    cell.PathConfig // behind the radio
	touched bool            // something was sent
	due     instant

	// For references alone: what the radio will carry, what waits behind it (nil:
	// nothing known).
	future      func(ms int64) int
	pathBacklog func() int

	records   []timedRecords // a queue from head on
	head      int
	spare     [][]diag.Record
	parsed    []diag.Record
	deframer  diag.Deframer
	assembler *ratio.Assembler
	windowDue instant // the assembler's timer
	nextBeat  time.Time
	samples   int
}

type timedRecords struct {
	at      time.Time
	records []diag.Record
}

// addPhone makes a phone with a radio of its own.
func (w *world) addPhone(cc cell.Config, seed uint64) (*phone, error) {
	cc.Start, cc.Seed = w.start, seed
	if w.sc.Trace != nil {
		cc.Capacity = w.sc.Trace(seed, w.sc.Duration)
	}
	c, err := cell.New(cc)
	if err != nil {
		return nil, err
	}
	p := &phone{w: w, up: c, cell: -1, path: cc.Path, future: c.BytesAt, pathBacklog: c.PathBacklog, nextBeat: w.start}

	return p, w.equip(p, cc.ExtendedBSR, seed)
}

// equip gives a phone all but its radio.
func (w *world) equip(p *phone, extendedBSR bool, seed uint64) error {
	var err error
	if p.assembler, err = ratio.New(ratio.Config{ExtendedBSR: extendedBSR}); err != nil {
		return err
	}
	back := w.sc.Return
	back.Delay = w.sc.ReturnDelay
	if p.down, err = newWire(w, back, seed, w.nearEnd); err != nil {
		return err
	}
	w.phones = append(w.phones, p)

	return nil
}

// wake is when the phone has something to do.
func (p *phone) wake() instant {
	at := min(p.w.instant(p.up.NextTimeout()), p.w.instant(p.nextBeat), p.windowDue)
	if p.head < len(p.records) {
		at = min(at, p.w.instant(p.records[p.head].at))
	}

	return at
}

// gap tells whether the agent is dead.
func (p *phone) gap() bool {
	t := p.w.since()

	return t >= p.w.sc.TelemetryGapFrom && t < p.w.sc.TelemetryGapTo
}

// radio lets the cell work up to now, and tells the flows what is known of it.
func (p *phone) radio() error {
	out := p.up.Advance(p.w.now)
	for i := range out.Delivered {
		p.w.fromRadio(&out.Delivered[i])
	}
	for _, lost := range out.Dropped {
		p.w.lost(lost)
	}
	if !p.gap() {
		// The agent runs on the phone: it reads at once, the link comes after.
		for i := range out.Records {
			p.put(out.Records[i].At, out.Records[i].Record)
		}
		for _, c := range out.Diag {
			if err := p.decode(c); err != nil {
				return err
			}
		}
	}
	p.tell()

	return nil
}

// put queues records for the sender.
func (p *phone) put(at time.Time, recs ...diag.Record) {
	at = at.Add(p.w.sc.TelemetryLink)
	if n := len(p.records); n > p.head && p.records[n-1].at.Equal(at) {
		p.records[n-1].records = append(p.records[n-1].records, recs...)

		return
	}
	var batch []diag.Record
	if n := len(p.spare); n > 0 {
		batch, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	if p.head > 0 && len(p.records) == cap(p.records) {
		p.records = p.records[:copy(p.records, p.records[p.head:])]
		p.head = 0
	}
	p.records = append(p.records, timedRecords{at, append(batch, recs...)})
}

// decode runs the diagnostic bytes through the product's decoders.
func (p *phone) decode(c cell.Chunk) error {
	p.deframer.Write(c.Bytes)
	p.parsed = p.parsed[:0]
	for {
		f, err := p.deframer.Next()
		if err != nil {
			break
		}
		log, err := diag.ParseFrame(f)
		if err != nil {
			return fmt.Errorf("sim: the cell's own frame: %w", err)
		}
		if p.parsed, err = diag.ParseLog(log, p.parsed); err != nil {
			return fmt.Errorf("sim: the cell's own record: %w", err)
		}
	}
	if len(p.parsed) > 0 {
		p.put(c.At, p.parsed...)
	}

	return nil
}

// tell is the agent's link to the senders.
func (p *phone) tell() {
	now, gap := p.w.now, p.gap()
	for p.head < len(p.records) && !p.records[p.head].at.After(now) {
		batch := p.records[p.head].records
		p.deliver(p.assembler.OnRecords(now, batch), false)
		p.windowDue = p.w.instant(p.assembler.NextTimeout())
		p.spare = append(p.spare, batch[:0])
		if p.head++; p.head == len(p.records) {
			p.records, p.head = p.records[:0], 0
		}
	}
	if p.w.instant(now) >= p.windowDue {
		if t := p.assembler.OnTimeout(now); !gap {
			p.deliver(t, false)
		}
		p.windowDue = p.w.instant(p.assembler.NextTimeout())
	}
	if due(p.nextBeat, now) {
		if !gap {
			p.deliver(gbr.Telemetry{}, true)
		}
		p.nextBeat = p.nextBeat.Add(heartbeat)
	}
}

func (p *phone) deliver(t gbr.Telemetry, beat bool) {
	if !beat && len(t.Samples) == 0 && len(t.Grants) == 0 && len(t.Reports) == 0 && t.Config == nil {
		return
	}
	p.samples += len(t.Samples)
	if d := p.w.sc.TelemetryClock.ahead(p.w.since()); d != 0 {
		moveTimes(&t, d)
	}
	at := p.w.instant(p.w.now)
	for _, r := range p.w.routes {
		if r.phone == p && !r.spec.Reverse && at >= instant(r.spec.From) {
			r.touched = true
			r.flow.telemetry(t)
		}
	}
}
