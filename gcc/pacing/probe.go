// SPDX-License-Identifier: MIT

package pacing

import "time"

// libwebrtc: pacing/bitrate_prober.cc.
const (
	// maxClusters is how many clusters may wait; the oldest gives way.
	maxClusters = 5
	// clusterTimeout is how long a cluster waits for a packet to begin with.
	clusterTimeout = 5 * time.Second
	// probeStep is the time that one packet of padding stands for.
	probeStep = 2 * time.Millisecond
	// maxProbeDelay discards a cluster whose next packet comes later: the rate
	// it was to have is gone.
	maxProbeDelay = 10 * time.Millisecond
	// minProbeStart is the size in bytes of a packet that a probe may begin with.
	minProbeStart = 200
	// minPadding bounds one packet of padding in bytes.
	minPadding = 60
	// maxProbeDebt bounds what a probe leaves to pay, as time at the rate.
	// libwebrtc: pacing/pacing_controller.cc.
	maxProbeDebt = 500 * time.Millisecond
)

// Cluster is a burst of packets at a rate of its own that measures the path: at
// least MinBytes in at least MinPackets, sizes on the link.
type Cluster struct {
	// ID names the cluster in what Next returns. 0 is no cluster.
	ID         int
	RateBps    int
	MinBytes   int
	MinPackets int
}

// Send is what leaves now.
type Send[T any] struct {
	// Item is the packet, when Padding is 0.
	Item T
	// Padding, when not 0, asks for a packet of about that many bytes on the
	// link that carries nothing new. The pacer takes it as sent.
	Padding int
	// Cluster is the probe that the packet belongs to; 0 for none.
	Cluster int
}

// prober spaces the packets of clusters.
type prober struct {
	head, n int // of queue
	padding bool

	// active: the first cluster has begun, or begins with the next packet.
	active         bool
	next           time.Time // when the next packet is due
	startedAt      time.Time // of the first cluster's first packet
	bytes, packets int       // of the first cluster so far

	queue [maxClusters]waitingCluster
}

type waitingCluster struct {
	Cluster
	at time.Time
}

func (p *prober) first() *waitingCluster { return &p.queue[p.head] }

func (p *prober) add(now time.Time, c Cluster) {
	if c.RateBps <= 0 || c.ID == 0 {
		return
	}
	for p.n > 0 && !p.active && now.Sub(p.first().at) > clusterTimeout {
		p.drop()
	}
	if p.n == maxClusters {
		p.drop()
	}
	p.queue[(p.head+p.n)%maxClusters] = waitingCluster{c, now}
	p.n++
}

// drop ends the first cluster.
func (p *prober) drop() {
	p.head = (p.head + 1) % maxClusters
	p.n--
	p.bytes, p.packets = 0, 0
	if p.n == 0 {
		p.active = false
	}
}

// clear ends all clusters.
func (p *prober) clear() {
	for p.n > 0 {
		p.drop()
	}
}

// begin starts probing with a packet of size bytes, when packets and bytes wait
// in all.
func (p *prober) begin(now time.Time, size, packets int, bytes int64) {
	for p.n > 0 && !p.active && now.Sub(p.first().at) > clusterTimeout {
		p.drop()
	}
	if p.active || p.n == 0 {
		return
	}
	c := p.first()
	if p.padding {
		p.active = size >= min(c.step(), minProbeStart)
	} else {
		// Nothing can fill a gap, so all of the cluster must be there.
		p.active = packets >= c.MinPackets && bytes >= int64(c.MinBytes)
	}
	if p.active {
		p.next = now
	}
}

// due tells whether a packet of the first cluster may leave now.
func (p *prober) due(now time.Time) bool {
	if p.active && now.Sub(p.next) > maxProbeDelay {
		p.drop()
		p.next = now // a further one begins anew
	}

	return p.active && !now.Before(p.next)
}

// sent books a packet of the first cluster.
func (p *prober) sent(now time.Time, size int) {
	c := p.first()
	if p.packets == 0 {
		p.startedAt = now
	}
	p.packets++
	p.bytes += size
	p.next = p.startedAt.Add(time.Duration(float64(p.bytes) * 8e9 / float64(c.RateBps)))
	if p.bytes >= c.MinBytes && p.packets >= c.MinPackets {
		p.drop()
	}
}

// step is the bytes that leave in a probeStep.
func (c *Cluster) step() int { return int(float64(c.RateBps) * probeStep.Seconds() / 8) }

// Probe adds a cluster behind those that wait, at most five of them. It begins
// with the next packet of [Pacer.Push] that is not tiny, or at once when packets
// wait. Without padding (see [Pacer.AllowPadding]) it begins when all that it
// needs is there: then a large frame is the probe. A cluster that has not begun
// after 5 s is forgotten.
func (p *Pacer[T]) Probe(now time.Time, c Cluster) {
	p.advance(now)
	p.probe.add(now, c)
	if n := p.waiting(); n > 0 {
		p.probe.begin(now, minProbeStart, n, p.paced.bytes+p.ahead.bytes)
	}
}

// AllowPadding says whether the caller can send padding when a probe finds no
// packet. It cannot, at first.
func (p *Pacer[T]) AllowPadding(ok bool) { p.probe.padding = ok }

// CancelProbes forgets all clusters.
func (p *Pacer[T]) CancelProbes() { p.probe.clear() }

// Next takes what may leave now: a packet, or padding for a probe. Call it until
// it is not ok.
func (p *Pacer[T]) Next(now time.Time) (s Send[T], ok bool) {
	p.advance(now)
	probing := p.probe.due(now)
	switch {
	case p.urgent.count > 0:
		e := p.urgent.pop()
		p.charge(e.size, p.limit)
		s.Item = e.item
		if probing {
			p.book(now, &s, e.size)
		}
	case probing && p.waiting() > 0:
		e := p.pop()
		p.charge(e.size, p.debt)
		s.Item = e.item
		p.book(now, &s, e.size)
	case probing && p.probe.padding:
		s.Padding = min(max(p.probe.first().step(), minPadding), p.cfg.MaxPadding)
		p.charge(s.Padding, p.debt)
		p.book(now, &s, s.Padding)
	case probing:
		p.probe.clear() // nothing left to probe with

		return s, false
	case p.waiting() > 0 && p.budget > 0 && !p.probe.active:
		e := p.pop()
		p.budget -= int64(e.size) * unitsPerByte
		s.Item = e.item
	default:
		return s, false
	}

	return s, true
}

// book counts a packet to the running cluster.
func (p *Pacer[T]) book(now time.Time, s *Send[T], size int) {
	s.Cluster = p.probe.first().ID
	p.probe.sent(now, size)
}

// charge draws on the budget down to a debt of at most limit.
func (p *Pacer[T]) charge(size int, limit int64) {
	floor := min(p.budget, -limit)
	p.budget = max(p.budget-int64(size)*unitsPerByte, floor)
}
