// SPDX-License-Identifier: MIT

package sfu

import (
	"time"

	"github.com/pion/rtp"
)

// Outlet is where a medium goes on.
type Outlet struct {
	Write func(*rtp.Packet) error
	// Rate, if there is one, is what the way can take, in bit/s on the link. What
	// the publisher sends beyond it waits here, where it can still be dropped.
	Rate func() int
}

const (
	// paceAhead is how much may leave at once, as time at the rate: one frame, in
	// the burst that it comes in.
	paceAhead = 45 * time.Millisecond
	// paceLeast is that for a low rate, in bytes: two packets.
	paceLeast = 2500
	// paceFactor leaves room to catch up: encoders miss their rate.
	paceFactor = 1.1
	// paceOverhead is what the link adds to RTP: IPv4, UDP, an SRTP tag, a header
	// extension.
	paceOverhead = 28 + 10 + 8
	// paceLook is how often a new rate is looked for while a packet waits.
	paceLook = 5 * time.Millisecond
	// lateFrame is how long a frame may have waited when its turn comes. A key
	// frame takes 0.3 s at the rate that a browser made it for, and the one after
	// it waits as long. A browser has obeyed a lower rate by then, so that the key
	// frame which is asked for is made for it.
	lateFrame = 500 * time.Millisecond
)

// pace holds packets back to a rate, as a bucket that fills with it.
type pace struct {
	rate   func() int
	credit float64 // bytes that may leave now
	at     time.Time
}

// wait returns how long a packet has to wait; 0 takes its credit.
func (p *pace) wait(now time.Time, size int) time.Duration {
	perSecond := paceFactor * float64(p.rate()) / 8
	if !p.at.IsZero() {
		p.credit += now.Sub(p.at).Seconds() * perSecond
	} else {
		p.credit = paceLeast
	}
	p.at = now
	p.credit = min(p.credit, max(paceLeast, paceAhead.Seconds()*perSecond))
	if p.credit <= 0 {
		return min(paceLook, time.Duration(-p.credit/max(perSecond, 1)*1e9)+time.Millisecond)
	}
	p.credit -= float64(size + paceOverhead)

	return 0
}

// await returns when a packet may leave; false: it is over.
func (f *feed) await(it item) bool {
	size := it.p.Header.MarshalSize() + len(it.p.Payload)
	for {
		d := f.pace.wait(time.Now(), size)
		if d == 0 {
			return true
		}
		select {
		case <-f.done:
			return false
		case <-time.After(d):
		}
	}
}

// lateness drops frames that have waited too long, whole ones, and with them what
// comes before the next key frame.
type lateness struct {
	dropping  bool
	timestamp uint32 // of the frame that is kept
	started   bool
}

// keep decides on a packet when its turn has come. It marks the first one after a
// gap.
func (l *lateness) keep(f *feed, it *item, now time.Time) bool {
	if it.first {
		*l = lateness{}
	}
	if !l.dropping && l.started && it.p.Timestamp == l.timestamp {
		return true // a frame is not cut: nobody could use what has left of it
	}
	switch {
	case l.dropping && now.Sub(it.at) <= lateFrame && f.key(it.p.Payload):
		l.dropping, it.first = false, true
	case l.dropping:
		f.keyFrame() // which is not more often than the publisher can bear

		return false
	case now.Sub(it.at) > lateFrame:
		l.dropping = true
		f.gaps.Add(1)

		return false
	}
	l.started, l.timestamp = true, it.p.Timestamp

	return true
}
