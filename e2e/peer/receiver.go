// SPDX-License-Identifier: MIT

package peer

import (
	"math"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/qoe"
)

// Stats is what a viewer got so far.
type Stats struct {
	// Summary is of the frames shown. Its FramesSkipped are those between them
	// that never were.
	qoe.Summary
	// Bytes is media payload received, first copies only.
	Bytes int64
	// FramesCaptured counts the encoder's frames, FramesLeftOut those it was
	// told to leave out because the pacer was full.
	FramesCaptured, FramesLeftOut int
	// KeyFrameRequests is how often the viewer could not go on without one.
	KeyFrameRequests int
	// PlayoutLast is the newest frame's time from capture to screen.
	PlayoutLast time.Duration
	// Audio is of the sound.
	Audio AudioStats
}

// memory is how many of the latest frames are remembered; the jitter buffer
// holds at most 800.
const memory = 1024

// receiver is libwebrtc's receive path behind a real track, from packets on.
type receiver struct {
	mu     sync.Mutex
	start  time.Time
	screen *qoe.Receiver
	frames [memory]seen
	bytes  int64

	playout  qoe.Series
	rendered int
	newest   int64 // frame shown
	last     time.Duration
}

// seen is a frame some of whose packets have come.
type seen struct {
	id      int64
	known   bool
	capture time.Duration
	got     [(maxPackets + 63) / 64]uint64
}

func newReceiver(start time.Time) *receiver {
	return &receiver{start: start, newest: -1, screen: qoe.NewReceiver(qoe.ReceiverConfig{Start: start, DecodeTick: qoe.ChromiumTick})}
}

// onPacket takes a packet of the synthetic encoder.
func (r *receiver) onPacket(now time.Time, payload []byte, rtpTime uint32, resent bool) {
	if p, err := parsePiece(payload); err == nil {
		r.onPiece(now, p, len(payload), rtpTime, resent)
	}
}

// onPiece takes a packet. Resent ones came in answer to a request.
func (r *receiver) onPiece(now time.Time, p piece, size int, rtpTime uint32, resent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := int64(p.frame)
	f := &r.frames[id%memory]
	if !f.known || f.id < id {
		*f = seen{id: id, known: true, capture: p.capture}
	}
	if word, bit := p.index/64, uint64(1)<<(p.index%64); f.id == id {
		if f.got[word]&bit != 0 {
			return // a retransmission may turn out not to be needed
		}
		f.got[word] |= bit
		r.bytes += int64(size)
	}
	r.show(r.screen.OnPacket(now, qoe.PacketInfo{
		Frame: id, Index: int(p.index), Count: int(p.count), RTPTimestamp: rtpTime,
		KeyFrame: p.key, Size: size, Retransmitted: resent,
	}))
}

func (r *receiver) show(frames []qoe.ReleasedFrame) {
	for i := range frames {
		shown := &frames[i]
		r.rendered++
		r.newest = shown.ID
		if f := &r.frames[shown.ID%memory]; f.known && f.id == shown.ID {
			r.last = shown.Render.Sub(r.start.Add(f.capture))
			r.playout.Add(r.last.Seconds() * 1000)
		}
	}
}

// onTimer does what is due and tells how often a key frame was needed so far.
func (r *receiver) onTimer(now time.Time) (requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show(r.screen.OnTimeout(now))

	return r.screen.Stats().KeyFrameRequests
}

func (r *receiver) stats(now time.Time) Stats {
	requests := r.onTimer(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.screen.Freezes(now)
	s := Stats{Bytes: r.bytes, PlayoutLast: r.last, KeyFrameRequests: requests, Summary: qoe.Summary{
		FramesRendered: r.rendered,
		FramesSkipped:  int(r.newest+1) - r.rendered,
		PlayoutMsP50:   r.playout.Quantile(0.50),
		PlayoutMsP95:   r.playout.Quantile(0.95),
		PlayoutMsP99:   r.playout.Quantile(0.99),
		FreezeCount:    f.Count,
		FreezeRatio:    math.NaN(),
		Frozen:         f.Frozen,
		Playback:       f.Playback,
	}}
	if f.Playback > 0 {
		s.FreezeRatio = f.Ratio()
	}

	return s
}
