// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/qoe"
)

// statsEvery is how often the viewer learns the round trip time: RTCP's minimum
// interval for video in a browser. libwebrtc: rtcp_sender.
const statsEvery = time.Second

// viewer is the far side of a call: libwebrtc's receive path, which asks for
// what is missing and for key frames.
type viewer struct {
	c        *call
	arrivals *arrivals
	nacks    nacker
	screen   *qoe.Receiver
	silent   bool // somebody else asks for packets
	requests int  // for key frames, of those that the screen has counted
	asked    int  // for key frames, in all

	nextStats instant
	atWarmup  qoe.FreezeStats
	warm      bool

	playout  qoe.Series
	rendered int
	shown    time.Time // the last frame's decoding
	freezes  int
	screenAt instant // the screen's next timer
}

func newViewer(c *call, begin time.Time) *viewer {
	return &viewer{
		c: c, arrivals: newArrivals(c), nacks: newNacker(),
		screen:    qoe.NewReceiver(qoe.ReceiverConfig{Start: begin, DecodeTick: qoe.ChromiumTick}), // a browser
		nextStats: c.w.instant(begin.Add(statsEvery)),
		screenAt:  c.w.instant(begin),
	}
}

// rtpTime is a capture on the 90 kHz clock. RFC 3551 5.
func rtpTime(capture instant) uint32 {
	return uint32(int64(capture)*9/100_000 + 3_000_000_000)
}

// onPacket takes a packet of video, first tells whether its piece is new.
func (v *viewer) onPacket(d *cell.Delivery, pc *piece, first bool) {
	now := v.c.w.instant(d.At)
	f := &v.c.frames[pc.frame]
	asked, ask, needKey := v.nacks.onPacket(now, pc.rtp, f.key)
	v.ask(ask)
	if needKey {
		v.askKey()
	}
	if !first {
		return
	}
	v.show(v.screen.OnPacket(d.At, qoe.PacketInfo{
		Frame: int64(pc.frame), Index: int(pc.index), Count: int(f.pieces),
		RTPTimestamp: rtpTime(f.capture), KeyFrame: f.key, Size: int(pc.media), Retransmitted: asked > 0,
	}))
}

// step does what is due.
func (v *viewer) step() {
	now := v.c.w.instant(v.c.w.now)
	if !v.warm && now >= instant(v.c.w.sc.Warmup) {
		v.show(v.screen.OnTimeout(v.c.w.now))
		v.warm, v.atWarmup = true, v.screen.Freezes(time.Time{})
	}
	if now >= v.screenAt {
		v.show(v.screen.OnTimeout(v.c.w.now))
	}
	v.ask(v.nacks.onTimer(now))
	if now >= v.nextStats {
		v.nextStats += instant(statsEvery)
		if rtt := v.c.roundTrip; rtt > 0 {
			v.nacks.rtt = rtt
			v.show(v.screen.OnRTT(v.c.w.now, rtt))
		}
	}
}

// wake is when something is due.
func (v *viewer) wake() instant {
	at := min(v.screenAt, v.nacks.next, v.nextStats)
	if !v.warm {
		at = min(at, instant(v.c.w.sc.Warmup))
	}

	return at
}

// ask sends a request for packets.
func (v *viewer) ask(seqs []int64) {
	if len(seqs) == 0 || v.silent {
		return
	}
	index, list := v.c.asks.take()
	*list = append((*list)[:0], seqs...)
	v.c.back(kindNACK, index, rtcpOverhead+nackBytes+nackPerPacket*len(seqs))
}

// askKey sends a request for a key frame.
func (v *viewer) askKey() {
	v.asked++
	v.c.back(kindKeyFrame, 0, rtcpOverhead+pliBytes)
}

// show counts the frames that were set free.
func (v *viewer) show(frames []qoe.ReleasedFrame) {
	w := v.c.w
	v.screenAt = w.instant(v.screen.NextTimeout())
	stats := v.screen.Stats()
	if stats.KeyFrameRequests > v.requests {
		v.requests = stats.KeyFrameRequests
		v.askKey()
	}
	for i := range frames {
		r := &frames[i]
		f := &v.c.frames[r.ID]
		v.nacks.forget(f.rtp + int64(f.pieces) - 1)
		latency := time.Duration(w.instant(r.Render) - f.capture)
		if time.Duration(f.capture) >= w.sc.Warmup && !r.Render.After(w.end) {
			v.rendered++
			v.playout.Add(ms(latency))
		}
		if v.c == w.main {
			w.observeFrame(r.Render, latency)
		}
	}
	if n := len(frames); n > 0 {
		if v.c == w.main && stats.FreezeCount > v.freezes {
			w.observeFreeze(v.shown, frames[n-1].Decoded)
		}
		v.shown = frames[n-1].Decoded
	}
	v.freezes = stats.FreezeCount
}

// finish ends the run. The freeze in which it ends, if it does, counts.
func (v *viewer) finish() {
	end := v.c.w.end
	v.show(v.screen.OnTimeout(end))
	if v.c == v.c.w.main && v.screen.Freezes(end).Count > v.freezes {
		v.c.w.observeFreeze(v.shown, end)
	}
}

// frozen is what was counted after warm-up, and the share of it in the time
// that was played.
func (v *viewer) frozen() (count int, ratio float64) {
	s := v.screen.Freezes(v.c.w.end)
	playback := s.Playback - v.atWarmup.Playback
	if playback <= 0 {
		return s.Count - v.atWarmup.Count, 1 // it never played
	}

	return s.Count - v.atWarmup.Count, (s.Frozen - v.atWarmup.Frozen).Seconds() / playback.Seconds()
}
