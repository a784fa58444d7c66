// SPDX-License-Identifier: MIT

package interceptor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// probingOuter asks for clusters.
type probingOuter struct {
	*fakeOuter
	clusters []gcc.ProbeCluster
}

func (o *probingOuter) SetProbing(time.Time, bool) {}

func (o *probingOuter) NextProbe() (gcc.ProbeCluster, bool) {
	if len(o.clusters) == 0 {
		return gcc.ProbeCluster{}, false
	}
	c := o.clusters[0]
	o.clusters = o.clusters[1:]

	return c, true
}

// probe asks for 15 ms at 4 Mbit/s.
func (r *rig) probe(o *probingOuter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.clusters = append(o.clusters, gcc.ProbeCluster{ID: 7, RateBps: 4_000_000, MinBytes: 7500, MinPackets: 5})
	now := r.now()
	r.follow(now)
	r.arm(now)
}

func newProbingRig(t *testing.T) (*rig, *probingOuter) {
	t.Helper()
	o := &probingOuter{fakeOuter: &fakeOuter{bitrate: 1_000_000, pacing: 2_000_000}}
	r := newRig(t, 0, WithOuter(func() (gbr.Outer, error) { return o, nil }))
	r.outer = o.fakeOuter

	return r, o
}

// A probe is filled up with padding on the RTX stream, at the probe's rate, and
// the numbers of that stream go on without a gap.
func TestProbeIsPaddedOnRTX(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, o := newProbingRig(t)
		w := r.video()
		mustWrite(t, w, header(rtxSSRC, 500), payloadFor(1250))
		h := header(mediaSSRC, 1)
		h.Timestamp = 1234
		mustWrite(t, w, h, payloadFor(1250))
		time.Sleep(time.Second)
		before := len(r.wire.sent())

		r.probe(o)
		mustWrite(t, w, header(mediaSSRC, 2), payloadFor(1250))
		time.Sleep(100 * time.Millisecond)
		mustWrite(t, w, header(rtxSSRC, 501), payloadFor(1250))
		time.Sleep(time.Second)

		sent := r.wire.sent()
		next := uint16(501)
		bytes := 1250
		var last time.Time
		for i, p := range sent[before:] {
			if int(p.transportNumber(t)) != before+i {
				t.Fatalf("packet %d has the transport-wide number %d", before+i, p.transportNumber(t))
			}
			if p.header.SSRC != rtxSSRC {
				continue
			}
			if p.header.SequenceNumber != next {
				t.Errorf("RTX number %d, want %d", p.header.SequenceNumber, next)
			}
			next++
			if len(p.payload) > 0 {
				continue
			}
			if !p.header.Padding || p.header.PaddingSize == 0 || p.header.PayloadType != 97 {
				t.Errorf("padding %+v", p.header)
			}
			bytes += p.header.MarshalSize() + int(p.header.PaddingSize) + linkOverhead
			last = p.at
		}
		within(t, "bytes of the probe", float64(bytes), 7600, 250, "B")
		within(t, "length of the probe", float64(last.Sub(sent[before].at).Microseconds())/1000, 15, 1.5, "ms")
		if sent[before].header.SequenceNumber != 2 {
			t.Errorf("the probe begins with %+v, not with media", sent[before].header)
		}

		marked := 0
		for _, p := range r.tracked() {
			if p.Probe == 7 {
				marked++
			}
		}
		within(t, "packets that the core knows to be of the probe", float64(marked), 25, 4, "")
		if got := r.stat(StatPaddingSent); int(got) != marked-1 {
			t.Errorf("%d packets of padding counted, want %d", got, marked-1)
		}
		if got := r.stat(StatRetransmissionsSent); got != 2 {
			t.Errorf("%d resends counted, want 2", got)
		}
	})
}

// Without an RTX stream nothing is made up: a large frame is the probe, a small
// one is not.
func TestProbeWithoutRTX(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, o := newProbingRig(t)
		info := videoInfo()
		info.SSRCRetransmission, info.PayloadTypeRetransmission = 0, 0
		w := r.AddStream(info, r.wire)
		number := uint16(0)
		frame := func(packets int) {
			for range packets {
				mustWrite(t, w, header(mediaSSRC, number), payloadFor(1250))
				number++
			}
			time.Sleep(100 * time.Millisecond)
		}
		probed := func() (n int) {
			for _, p := range r.tracked() {
				if p.Probe != 0 {
					n++
				}
			}

			return n
		}
		frame(3)
		r.probe(o)
		frame(3)
		if n := probed(); n != 0 {
			t.Errorf("%d packets of a small frame are a probe", n)
		}
		frame(12)
		within(t, "packets of a large frame that are a probe", float64(probed()), 6, 1, "")
		if n := r.stat(StatPaddingSent); n != 0 {
			t.Errorf("%d packets of padding without RTX", n)
		}
	})
}
