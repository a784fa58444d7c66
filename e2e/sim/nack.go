// SPDX-License-Identifier: MIT

package sim

import (
	"slices"
	"time"
)

// Constants of the requests. libwebrtc: nack_requester.
const (
	nackEvery      = 20 * time.Millisecond // between looks at the timers
	nackMax        = 10                    // requests for one packet
	nackMissing    = 1000                  // packets
	nackAge        = 10_000                // packets
	nackDefaultRTT = 100 * time.Millisecond
)

// nacker finds out what is missing and when to ask for it: at once, then again
// after every round trip. libwebrtc would wait for packets that are out of order
// if it knew which ones were sent again; it does not, so it never waits.
//
//	1 2 3 . . 6   ask for 4 5    . . . rtt . . .   ask for 5 again
//	      4                        4 is here
type nacker struct {
	started bool
	newest  int64
	missing []missing // ascending
	keys    []int64   // packets of key frames, ascending
	rtt     time.Duration
	next    instant // look at the timers; never: nothing is missing

	asking []int64 // what was returned last
}

// missing is a packet by its RTP number, unwrapped.
type missing struct {
	seq     int64
	askedAt instant // never: not yet
	retries int
}

func newNacker() nacker { return nacker{rtt: nackDefaultRTT, next: never} }

// onPacket takes a packet. It tells how often it was asked for, what to ask for
// now, which is valid until the next call, and whether all is lost but a key
// frame.
func (n *nacker) onPacket(now instant, seq int64, key bool) (asked int, ask []int64, needKey bool) {
	if !n.started {
		n.started, n.newest = true, seq
	}
	if key && (len(n.keys) == 0 || seq > n.keys[len(n.keys)-1]) {
		n.keys = append(n.keys, seq)
	}
	switch {
	case seq == n.newest:
		return 0, nil, false
	case seq < n.newest:
		i, ok := n.find(seq)
		if !ok {
			return 0, nil, false
		}
		asked = n.missing[i].retries
		n.missing = slices.Delete(n.missing, i, i+1)

		return asked, nil, false
	}
	needKey = n.add(n.newest+1, seq)
	n.newest = seq
	ask = n.due(func(m *missing) bool { return m.askedAt == never }, now)
	n.plan(now)

	return 0, ask, needKey
}

// onTimer asks again for what is still missing.
func (n *nacker) onTimer(now instant) []int64 {
	if now < n.next {
		return nil
	}
	n.next = never
	ask := n.due(func(m *missing) bool {
		return m.askedAt == never || now-m.askedAt >= instant(n.rtt)
	}, now)
	n.plan(now)

	return ask
}

// forget gives up what is older than a packet: the frame has been decoded.
func (n *nacker) forget(before int64) {
	i, _ := n.find(before)
	n.missing = slices.Delete(n.missing, 0, i)
	n.keys = slices.DeleteFunc(n.keys, func(k int64) bool { return k < before })
}

func (n *nacker) find(seq int64) (i int, ok bool) {
	return slices.BinarySearchFunc(n.missing, seq, func(m missing, seq int64) int {
		switch {
		case m.seq < seq:
			return -1
		case m.seq > seq:
			return 1
		default:
			return 0
		}
	})
}

// add notes from..to, without to, as missing.
func (n *nacker) add(from, to int64) (needKey bool) {
	n.forget(to - nackAge)
	for int64(len(n.missing))+to-from > nackMissing && len(n.keys) > 0 {
		n.forget(n.keys[0])
		n.keys = n.keys[1:]
	}
	if int64(len(n.missing))+to-from > nackMissing {
		n.missing = n.missing[:0]

		return true
	}
	for seq := from; seq < to; seq++ {
		n.missing = append(n.missing, missing{seq: seq, askedAt: never})
	}

	return false
}

// due takes those to ask for; those that were asked for too often are given up.
func (n *nacker) due(ask func(*missing) bool, now instant) []int64 {
	n.asking = n.asking[:0]
	kept := n.missing[:0]
	for _, m := range n.missing {
		if ask(&m) {
			n.asking = append(n.asking, m.seq)
			m.askedAt = now
			if m.retries++; m.retries >= nackMax {
				continue
			}
		}
		kept = append(kept, m)
	}
	n.missing = kept

	return n.asking
}

// plan sets the timer.
func (n *nacker) plan(now instant) {
	if len(n.missing) > 0 && n.next == never {
		n.next = (now/instant(nackEvery) + 1) * instant(nackEvery)
	}
}
