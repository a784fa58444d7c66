// SPDX-License-Identifier: MIT

package cell

import (
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// ttiWrap is SFN*10+subframe: it starts anew every 10.24 s.
const ttiWrap = 10240

// transmission is one PUSCH as the modem logs it.
type transmission struct {
	tti, cell, bytes, padding, retx int
	ce                              ce
}

// batch is a log packet in the making.
type batch struct {
	txs      []transmission
	deadline time.Time
}

// modemLog collects what the modem logs and hands it out when a reader of the
// diagnostic port would have it. The port keeps the order of packets.
type modemLog struct {
	cfg   TelemetryConfig
	rng   *rand.Rand
	frame *frame
	sizes sizes
	first int64 // slot number of slot 0
	start time.Time
	// Added to the slot number by handovers and by restarts.
	moved, restarted int64
	pci              int

	grants, reports batch // B139, B064
	last            time.Time
	records         ring[TimedRecord]
	chunks          ring[Chunk]

	outRecords []TimedRecord
	outChunks  []Chunk
	spare      [][]byte // buffers of chunks
	scratch    []diag.Record
	body, pkt  []byte

	faults faults
}

func (l *modemLog) idle() bool { return len(l.grants.txs) == 0 && len(l.reports.txs) == 0 }

func (l *modemLog) number(k int64) int {
	return int((l.first + l.moved + l.restarted + k) % l.frame.wrap())
}

// move is a change of the cell at a time. What the modem has of the old one is
// committed, as a packet speaks of one cell.
func (l *modemLog) move(at time.Time, v visit) {
	l.expire(at)
	fast, slow := l.codes()
	if len(l.reports.txs) > 0 {
		l.commit(&l.reports, slow, at)
	}
	if len(l.grants.txs) > 0 {
		l.commit(&l.grants, fast, at)
	}
	l.pci, l.moved = v.pci, v.sfn
}

// onBlock logs the first transmission of slot k, which ended at.
func (l *modemLog) onBlock(at time.Time, k int64, b *block) {
	if l.cfg.Off {
		return
	}
	tx := transmission{tti: l.number(k), cell: b.carrier, bytes: b.size, padding: b.padding, ce: b.report.ce}
	l.add(&l.grants, at, tx, l.cfg.B139Span)
	l.add(&l.reports, at, tx, l.cfg.B064Span)
	l.expire(at)
}

// onRetx logs a retransmission: B139 only, as MAC builds no new block.
func (l *modemLog) onRetx(at time.Time, k int64, b *block) {
	if l.cfg.Off {
		return
	}
	l.add(&l.grants, at, transmission{tti: l.number(k), cell: b.carrier, bytes: b.size, retx: b.sent}, l.cfg.B139Span)
	l.expire(at)
}

func (l *modemLog) add(b *batch, at time.Time, tx transmission, span time.Duration) {
	if len(b.txs) == 0 {
		b.deadline = at.Add(span)
	}
	b.txs = append(b.txs, tx)
}

// expire commits the packets that are full, or old enough at a time.
func (l *modemLog) expire(at time.Time) {
	l.restart(at)
	old := func(b *batch) bool { return len(b.txs) > 0 && !b.deadline.After(at) }
	// The older one goes first, so that commit times do not descend.
	fast, slow := l.codes()
	if old(&l.reports) && (!old(&l.grants) || l.reports.deadline.Before(l.grants.deadline)) {
		l.commit(&l.reports, slow, l.reports.deadline)
	}
	if old(&l.grants) {
		l.commit(&l.grants, fast, l.grants.deadline)
	}
	if old(&l.reports) {
		l.commit(&l.reports, slow, l.reports.deadline)
	}
	if len(l.grants.txs) >= l.cfg.B139Records {
		l.commit(&l.grants, fast, at)
	}
	if len(l.reports.txs) >= l.cfg.B064Samples {
		l.commit(&l.reports, slow, at)
	}
}

// codes are those of grants and of reports.
func (l *modemLog) codes() (fast, slow diag.LogCode) {
	if l.frame.rat == diag.NR {
		return diag.LogB883, diag.LogB872
	}
	return diag.LogB139, diag.LogB064
}

// commit closes a packet at a time.
func (l *modemLog) commit(b *batch, code diag.LogCode, at time.Time) {
	l.scratch = l.appendRecords(l.scratch[:0], code, b.txs)
	b.txs = b.txs[:0]
	l.publish(code, at, l.scratch)
}

// configure logs the BSR timers, as a modem does when it is told them.
func (l *modemLog) configure(at time.Time, bsr, retx time.Duration) {
	if l.cfg.Off {
		return
	}
	l.scratch = append(l.scratch[:0], diag.Record{
		Code: diag.LogB060, Kind: diag.KindConfig, RAT: l.frame.rat, PeriodicBSR: bsr, RetxBSR: retx,
	})
	if l.frame.rat == diag.NR {
		l.scratch[0].Code = diag.LogB821 // the RRC message that says so
	}
	l.faults.config = l.scratch[0]
	l.publish(l.scratch[0].Code, at, l.scratch)
}

// publish hands a packet that was committed at a time to the port.
func (l *modemLog) publish(code diag.LogCode, at time.Time, recs []diag.Record) {
	p := packet{code: code, logged: diag.TimestampOf(at), recs: recs}
	if l.faults.on {
		l.faulty(p, at)
		return
	}
	l.put(p, at)
}

// put puts a packet in front of the reader.
func (l *modemLog) put(p packet, at time.Time) {
	readable := at.Add(l.cfg.Delay)
	if l.cfg.JitterMax > 0 {
		readable = readable.Add(time.Duration(l.rng.Int64N(int64(l.cfg.JitterMax) + 1)))
	}
	if every := l.cfg.BurstEvery; every > 0 {
		if since := readable.Sub(l.start) % every; since > 0 {
			readable = readable.Add(every - since)
		}
	}
	l.last = later(l.last, readable.Add(l.faults.late()))
	readable = l.last.Add(l.faults.astray())
	if l.cfg.Encoded {
		if b, ok := l.encode(p.code, p.logged, p.recs); ok {
			l.chunks.push(Chunk{At: readable, Bytes: b})
			sift(&l.chunks, func(a, b *Chunk) bool { return a.At.After(b.At) })
		}
		return
	}
	for _, r := range p.recs {
		r.Logged = p.logged
		l.records.push(TimedRecord{At: readable, Record: r})
		sift(&l.records, func(a, b *TimedRecord) bool { return a.At.After(b.At) })
	}
}

// encode makes the packet as it is on the port. New has checked that all of it
// can be encoded.
func (l *modemLog) encode(code diag.LogCode, logged diag.Timestamp, recs []diag.Record) ([]byte, bool) {
	var err error
	switch code {
	case diag.LogB139:
		l.body, err = diag.AppendB139(l.body[:0], recs...)
	case diag.LogB064:
		l.body, err = diag.AppendB064(l.body[:0], recs...)
	case diag.LogB060:
		l.body, err = diag.AppendB060(l.body[:0], recs[0])
	default:
		return nil, false // the modem of this cell logs no others
	}
	if err != nil {
		return nil, false
	}
	l.pkt = diag.AppendLog(l.pkt[:0], code, logged, l.body)
	var buf []byte
	if n := len(l.spare); n > 0 {
		buf, l.spare = l.spare[n-1][:0], l.spare[:n-1]
	}
	return diag.AppendHDLC(buf, l.pkt), true
}

// appendRecords is what a decoder of the packet gives, but for the time stamp.
func (l *modemLog) appendRecords(dst []diag.Record, code diag.LogCode, txs []transmission) []diag.Record {
	for _, tx := range txs {
		r := diag.Record{Code: code, Kind: diag.KindGrant, RAT: l.frame.rat, Numerology: l.frame.mu, TTI: tx.tti, Cell: tx.cell}
		grant := r
		grant.Bytes = tx.bytes
		switch code {
		case diag.LogB139:
			grant.Retx, grant.PCI, grant.HasPCI = tx.retx, l.pci, true
			dst = append(dst, grant)
			continue
		case diag.LogB883:
			grant.Retx = tx.retx
			dst = append(dst, grant)
			continue
		default: // with reports
		}
		grant.Padding = tx.padding
		dst = append(dst, grant)
		if tx.ce.present() {
			r.Kind, r.Form, r.Trigger, r.LCGs = diag.KindBSR, l.sizes.form(), tx.ce.trigger, 1<<userLCG
			r.Index[userLCG] = tx.ce.index
			dst = append(dst, r)
		}
	}
	return dst
}

// read returns what is readable by now; the slices are reused by the next read.
func (l *modemLog) read(now time.Time) ([]TimedRecord, []Chunk) {
	l.outRecords = l.outRecords[:0]
	for l.records.n > 0 && !l.records.front().At.After(now) {
		l.outRecords = append(l.outRecords, l.records.pop())
	}
	for _, c := range l.outChunks {
		l.spare = append(l.spare, c.Bytes)
	}
	l.outChunks = l.outChunks[:0]
	for l.chunks.n > 0 && !l.chunks.front().At.After(now) {
		l.outChunks = append(l.outChunks, l.chunks.pop())
	}
	return l.outRecords, l.outChunks
}

// nextRead is when something becomes readable.
func (l *modemLog) nextRead() (time.Time, bool) {
	switch {
	case l.records.n > 0:
		return l.records.front().At, true
	case l.chunks.n > 0:
		return l.chunks.front().At, true
	}
	return time.Time{}, false
}
