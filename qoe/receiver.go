// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"time"
)

const (
	sizeMax = 1 << 29                // bytes of a frame
	spanMax = time.Duration(1 << 61) // 73 years from the start
)

// FrameInfo is a frame as it left the network.
type FrameInfo struct {
	// ID counts frames in the sender's order. A frame needs the one with the
	// ID before it, so IDs have no gaps but for frames that are lost. Who does
	// not know how many were lost leaves one ID out.
	ID int64
	// FirstPacket and LastPacket are when packets were received. The zero
	// value, or a time after the call, stands for the time of the call.
	FirstPacket, LastPacket time.Time
	// RTPTimestamp is of the 90 kHz clock.
	RTPTimestamp uint32
	// Size is the payload in bytes, 0 if not known, which keeps the frame out
	// of the estimate of jitter.
	Size int
	// KeyFrame starts anew: it needs no other frame, nor does a later one need
	// one from before it.
	KeyFrame bool
	// Retransmitted frames had a packet that was asked for again. They count
	// for the NACK add-on and not for jitter.
	Retransmitted bool
	// Complete frames have all of their packets. Others are given up.
	Complete bool
	// DecodableWithoutPrevious frames need no other frame though they are no
	// key frames: what they refer to is known to be decoded long since.
	DecodableWithoutPrevious bool
}

// ReleasedFrame is a frame that went to the decoder.
type ReleasedFrame struct {
	FrameInfo
	// Released is when it left the buffer, Decoded when the decoder is done.
	Released, Decoded time.Time
	// Render is when it is on the screen: at the time libwebrtc asks for, or
	// when it is decoded if that is later, and never before another frame.
	Render time.Time
}

// ChromiumTick is the period of the metronome in Chromium. It ticks at whole
// multiples of it on the system's monotonic clock.
const ChromiumTick = time.Second / 64

// ReceiverConfig shapes a [Receiver]. A field that is zero or out of range
// stands for its default.
type ReceiverConfig struct {
	// Start is when the stream was set up, for the first timeouts. Default:
	// the first call.
	Start time.Time
	// DecodeTime is how long the decoder takes for a frame. Default 0. Decode,
	// if set, says it for each frame instead.
	DecodeTime time.Duration
	Decode     func(FrameInfo) time.Duration
	// RenderDelay is the time from decoding to the screen for which there is
	// room. Default 10 ms.
	RenderDelay time.Duration
	// MinPlayout and MaxPlayout bound the delay above the average network
	// delay, as do the playout delay header extension and jitterBufferTarget
	// in a browser. Defaults 0 and 10 s. A maximum of up to 500 ms without a
	// minimum is the low latency mode: decode as soon as possible.
	MinPlayout, MaxPlayout time.Duration
	// MaxWaitForKeyFrame and MaxWaitForFrame are the timeouts. Default 200 ms
	// and 3 s.
	MaxWaitForKeyFrame, MaxWaitForFrame time.Duration
	// DecodeTick is the period of the metronome at whose ticks frames go to the
	// decoder, up to a period before they must; DecodeTickAt is one of the
	// ticks, default Start. Default 0: no metronome, each frame has a timer of
	// its own, as in applications of libwebrtc. Chromium has [ChromiumTick].
	DecodeTick   time.Duration
	DecodeTickAt time.Time
	// NACKHistory is for how long the sender can send a packet again. Below
	// 1 s it shortens the timeouts. Default: not known.
	NACKHistory time.Duration
}

// ReceiverStats counts since the start. Names and meaning are those of W3C
// webrtc-stats, RTCInboundRtpStreamStats; sums of time are in whole
// microseconds, those between frames in whole milliseconds.
type ReceiverStats struct {
	// FramesReceived were complete and new. FramesDropped of them were never
	// decoded, FramesDecoded were, KeyFramesDecoded among them.
	FramesReceived, FramesDropped, FramesDecoded, KeyFramesDecoded int
	// FramesRendered were on the screen: all that were decoded.
	FramesRendered int
	// JitterBufferDelay is the sum, over JitterBufferEmittedCount frames, of
	// the time from the first packet to the release.
	JitterBufferDelay        time.Duration
	JitterBufferEmittedCount int
	// JitterBufferTargetDelay and JitterBufferMinimumDelay are sums over the
	// same frames: of the delay aimed at, and of what it were without
	// MinPlayout. Both are without decoding and rendering.
	JitterBufferTargetDelay, JitterBufferMinimumDelay time.Duration
	// TotalDecodeTime and TotalProcessingDelay are sums over decoded frames:
	// in the decoder, and from the first packet to decoded.
	TotalDecodeTime, TotalProcessingDelay time.Duration
	// TotalInterFrameDelay is the time between rendered frames,
	// TotalSquaredInterFrameDelay the sum of its squares in s^2. Both include
	// pauses.
	TotalInterFrameDelay        time.Duration
	TotalSquaredInterFrameDelay float64
	// FreezeCount and the others are by the rule of [FreezeDetector], at the
	// end of decoding.
	FreezeCount          int
	TotalFreezesDuration time.Duration
	PauseCount           int
	TotalPausesDuration  time.Duration
	// KeyFrameRequests is how often the receiver asked for a key frame because
	// it timed out (pliCount counts further reasons).
	KeyFrameRequests int
	// TimingResets is how often the timing started anew because a frame was
	// due more than 10 s away. Not in webrtc-stats.
	TimingResets int
}

// Receiver models libwebrtc's video receiver from complete frames, or packets,
// to the screen: when frames are released to the decoder and shown, and what
// getStats tells of that.
//
//	packets --> assembler --> frame buffer --- release ---> decoder --> screen
//	                |             ^      at due - decode - render  |
//	   last packet, |             |                                +--> FreezeDetector
//	   timestamp    v             |
//	             extrapolator + current delay = due
//	                              ^
//	   release: size, variation --+-- jitter estimator + NACK add-on
//
// Timers are the caller's: it calls [Receiver.OnTimeout] at
// [Receiver.NextTimeout]. What was due before a call happens at its own time in
// that call, so that a late timer changes no figure, and a simulation may as
// well call OnTimeout once at the end. The decoder takes one frame at a time.
//
// Slices that are returned are valid until the next call. Not safe for
// concurrent use.
type Receiver struct {
	cfg     ReceiverConfig
	started bool
	origin  time.Time
	now     time.Duration // since origin, as all times within

	assembler assembler
	buffer    frameBuffer
	jitter    jitterEstimator
	variation delayVariation
	timing    playoutTiming
	timeouts  timeouts
	ticks     metronome

	needKey   bool
	ready     bool // the decoder waits for a frame
	scheduled bool
	schedule  schedule
	decoding  bool
	inDecoder decoderJob

	lastPacket, lastKeyPacket time.Duration
	anyPacket, anyKeyPacket   bool

	lastRender  time.Duration
	lastDecoded int64 // ms
	freezes     FreezeDetector
	stats       ReceiverStats
	out         []ReleasedFrame
}

type decoderJob struct {
	first, from, to time.Duration
	key             bool
}

// NewReceiver returns a receiver that waits for a key frame.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	if cfg.RenderDelay <= 0 {
		cfg.RenderDelay = DefaultRenderDelay
	}
	if cfg.MaxPlayout <= 0 {
		cfg.MaxPlayout = DefaultMaxDelay
	}
	r := &Receiver{
		cfg:        cfg,
		jitter:     newJitterEstimator(),
		timeouts:   newTimeouts(cfg.MaxWaitForKeyFrame, cfg.MaxWaitForFrame, cfg.NACKHistory),
		needKey:    true,
		lastRender: math.MinInt64,
	}
	r.timing.clock = newExtrapolator(0)
	r.timing.delays.Render = micros(min(cfg.RenderDelay, DefaultMaxDelay))
	r.setPlayoutDelay(cfg.MinPlayout, cfg.MaxPlayout)
	if !cfg.Start.IsZero() {
		r.begin(cfg.Start)
	}

	return r
}

// OnPacket takes a packet and returns the frames released up to now.
func (r *Receiver) OnPacket(now time.Time, p PacketInfo) []ReleasedFrame {
	r.enter(now)
	r.onPacketAt(r.now, p.KeyFrame)
	if r.buffer.decoded && p.Frame <= r.buffer.lastID && !p.KeyFrame {
		return r.out
	}
	if f, complete := r.assembler.add(r.now, p); complete {
		r.insert(f)
	}

	return r.out
}

// OnFrame takes a frame, in any order, and returns the frames released up to
// now. Of a frame that is not complete nothing comes.
func (r *Receiver) OnFrame(now time.Time, f FrameInfo) []ReleasedFrame {
	r.enter(now)
	last := r.received(f.LastPacket, r.now)
	r.onPacketAt(last, f.KeyFrame)
	if !f.Complete {
		return r.out
	}
	f.Size = min(max(f.Size, 0), sizeMax)
	r.insert(bufferedFrame{FrameInfo: f, first: r.received(f.FirstPacket, last), last: last})

	return r.out
}

// OnRTT takes a measurement of the round trip time, the longest of a report.
func (r *Receiver) OnRTT(now time.Time, rtt time.Duration) []ReleasedFrame {
	r.enter(now)
	r.jitter.nacks.rtt.update(micros(rtt))

	return r.out
}

// SetPlayoutDelay bounds the delay from now on, see [ReceiverConfig]; here 0
// as the maximum is 0: render as soon as possible, without pacing.
func (r *Receiver) SetPlayoutDelay(now time.Time, minimum, maximum time.Duration) []ReleasedFrame {
	r.enter(now)
	r.setPlayoutDelay(minimum, maximum)

	return r.out
}

// RequireKeyFrame tells that the decoder failed: the next frame for it must be
// a key frame.
func (r *Receiver) RequireKeyFrame(now time.Time) []ReleasedFrame {
	r.enter(now)
	r.needKey, r.scheduled = true, false
	if r.ready {
		r.timeouts.onReady(r.now, true)
		r.plan()
		r.run(r.now)
	}

	return r.out
}

// NextTimeout is when OnTimeout has something to do; zero before the start.
func (r *Receiver) NextTimeout() time.Time {
	at, event := r.nextEvent()
	if event == eventNone {
		return time.Time{}
	}

	return r.origin.Add(at)
}

// OnTimeout returns the frames released up to now.
func (r *Receiver) OnTimeout(now time.Time) []ReleasedFrame {
	r.enter(now)

	return r.out
}

// Delays is the playout delay and its parts.
func (r *Receiver) Delays() Delays { return r.timing.snapshot() }

// Stats is what was counted up to the last call.
func (r *Receiver) Stats() ReceiverStats {
	s := r.stats
	f := r.freezes.Stats()
	s.FramesDropped = r.buffer.dropped
	s.FreezeCount, s.TotalFreezesDuration = f.Count, f.Frozen
	s.PauseCount, s.TotalPausesDuration = f.Pauses, f.Paused

	return s
}

// Freezes is what the freeze detector counted. An end that is not zero counts
// the open gap up to then, see [FreezeDetector.StatsAt].
func (r *Receiver) Freezes(end time.Time) FreezeStats {
	if end.IsZero() {
		return r.freezes.Stats()
	}

	return r.freezes.StatsAt(end)
}

func (r *Receiver) begin(at time.Time) {
	r.started, r.origin = true, at
	if r.cfg.DecodeTick > 0 {
		r.ticks.period = max(micros(r.cfg.DecodeTick), time.Microsecond)
		if !r.cfg.DecodeTickAt.IsZero() {
			r.ticks.phase = r.since(r.cfg.DecodeTickAt)
		}
	}
	r.becomeReady()
}

// enter goes on to now.
func (r *Receiver) enter(now time.Time) {
	r.out = r.out[:0]
	if !r.started {
		r.begin(now)
	}
	r.run(r.since(now))
}

// since is a time on the receiver's scale, in whole microseconds.
func (r *Receiver) since(t time.Time) time.Duration {
	return min(max(t.Sub(r.origin), -spanMax), spanMax).Truncate(time.Microsecond)
}

func (r *Receiver) received(t time.Time, latest time.Duration) time.Duration {
	if t.IsZero() {
		return latest
	}

	return min(r.since(t), latest)
}

func (r *Receiver) onPacketAt(at time.Duration, key bool) {
	if !r.anyPacket || at > r.lastPacket {
		r.anyPacket, r.lastPacket = true, at
	}
	if key && (!r.anyKeyPacket || at > r.lastKeyPacket) {
		r.anyKeyPacket, r.lastKeyPacket = true, at
	}
}

func (r *Receiver) setPlayoutDelay(minimum, maximum time.Duration) {
	d := &r.timing.delays
	d.MinPlayout = micros(min(max(minimum, 0), DefaultMaxDelay))
	d.MaxPlayout = micros(min(max(maximum, d.MinPlayout), DefaultMaxDelay))
}

func (r *Receiver) insert(f bufferedFrame) {
	if !r.buffer.insert(f) {
		return
	}
	r.stats.FramesReceived++
	if !f.Retransmitted {
		r.timing.clock.update(f.last, f.RTPTimestamp)
	}
	r.plan()
	r.run(r.now)
}

type receiverEvent int

const (
	eventNone receiverEvent = iota
	eventDecoded
	eventRelease
	eventTimeout
)

// nextEvent is the earliest timer; of several at one time the first above.
func (r *Receiver) nextEvent() (at time.Duration, event receiverEvent) {
	if r.timeouts.running {
		at, event = r.timeouts.at, eventTimeout
	}
	if r.scheduled && (event == eventNone || r.schedule.at <= at) {
		at, event = r.schedule.at, eventRelease
	}
	if r.decoding && (event == eventNone || r.inDecoder.to <= at) {
		at, event = r.inDecoder.to, eventDecoded
	}

	return at, event
}

// run lets happen what is due up to a time.
func (r *Receiver) run(to time.Duration) {
	for {
		at, event := r.nextEvent()
		if event == eventNone || at > to {
			break
		}
		r.now = max(r.now, at)
		switch event {
		case eventDecoded:
			r.onDecoded()
		case eventRelease:
			r.onRelease()
		default:
			r.onNoFrame(to)
		}
	}
	r.now = max(r.now, to)
}

// becomeReady is the decoder asking for a frame.
func (r *Receiver) becomeReady() {
	r.timeouts.onReady(r.now, r.needKey)
	r.ready = true
	r.plan()
}

func (r *Receiver) plan() {
	next, _, ok := r.buffer.decodable()
	if !r.ready || !ok {
		return
	}
	if r.needKey {
		r.releaseKey()

		return
	}
	if r.scheduled && r.schedule.id == r.buffer.frames[next].ID {
		return
	}
	r.schedule, r.scheduled = plan(r.now, r.timeouts.left(r.now), &r.buffer, &r.timing)
	r.schedule.at = r.ticks.release(r.now, r.schedule.at)
}

// releaseKey looks for a key frame and does not wait for its time.
func (r *Receiver) releaseKey() {
	for {
		next, _, ok := r.buffer.decodable()
		if !ok {
			return
		}
		if f := r.buffer.take(next); f.KeyFrame {
			r.release(f, r.timing.render(r.now, f.RTPTimestamp))

			return
		}
		r.buffer.dropped++ // Deviation: libwebrtc does not count these.
	}
}

func (r *Receiver) onRelease() {
	r.scheduled = false
	next, _, ok := r.buffer.decodable()
	if !ok {
		return
	}
	if r.buffer.frames[next].ID != r.schedule.id { // the buffer was cleared
		r.plan()

		return
	}
	r.release(r.buffer.take(next), r.schedule.render)
}

// release gives a frame to the decoder.
func (r *Receiver) release(f bufferedFrame, render due) {
	now := r.now
	r.timeouts.onRelease(now)
	r.scheduled = false
	if f.KeyFrame {
		r.needKey = false
	}
	if !render.asap && (render.at-now).Abs() > DefaultMaxDelay || r.timing.target() > DefaultMaxDelay {
		r.stats.TimingResets++
		r.jitter = newJitterEstimator()
		r.timing.reset(now)
		render = r.timing.render(now, f.RTPTimestamp)
	}
	if f.Retransmitted {
		r.jitter.nacks.onFrame(now)
	} else {
		if d, ok := r.variation.next(f.RTPTimestamp, f.last); ok {
			r.jitter.update(now, d, f.Size)
		}
		r.timing.setJitter(r.jitter.delay(now))
		r.timing.onRelease(now, render)
	}
	r.count(f)
	r.timing.lastOut, r.timing.sent = now, true
	r.assembler.forget(f.ID)
	r.decode(f, render)
}

func (r *Receiver) count(f bufferedFrame) {
	s := &r.stats
	s.JitterBufferEmittedCount++
	s.JitterBufferDelay += max(r.now-f.first, 0)
	s.JitterBufferTargetDelay += max(r.timing.target()-r.timing.overhead(), 0)
	s.JitterBufferMinimumDelay += r.timing.delays.Jitter
}

func (r *Receiver) decode(f bufferedFrame, render due) {
	took := r.cfg.DecodeTime
	if r.cfg.Decode != nil {
		took = r.cfg.Decode(f.FrameInfo)
	}
	end := r.now + micros(min(max(took, 0), DefaultMaxDelay))
	r.ready, r.decoding = false, true
	r.inDecoder = decoderJob{first: f.first, from: r.now, to: end, key: f.KeyFrame}

	shown := max(end, r.lastRender)
	if !render.asap {
		shown = max(shown, render.at)
	}
	r.lastRender = shown
	f.FirstPacket, f.LastPacket = r.origin.Add(f.first), r.origin.Add(f.last)
	r.out = append(r.out, ReleasedFrame{
		FrameInfo: f.FrameInfo,
		Released:  r.origin.Add(r.now),
		Decoded:   r.origin.Add(end),
		Render:    r.origin.Add(shown),
	})
}

func (r *Receiver) onDecoded() {
	r.decoding = false
	j := r.inDecoder
	r.timing.decode.add(r.now, j.to-j.from)
	s := &r.stats
	s.TotalDecodeTime += j.to - j.from
	s.TotalProcessingDelay += max(j.to-j.first, 0)
	if j.key {
		s.KeyFramesDecoded++
	}
	at := roundMs(j.to)
	if s.FramesDecoded > 0 {
		gap := time.Duration(at-r.lastDecoded) * time.Millisecond
		s.TotalInterFrameDelay += gap
		s.TotalSquaredInterFrameDelay += gap.Seconds() * gap.Seconds()
	}
	r.lastDecoded = at
	s.FramesDecoded++
	s.FramesRendered++
	r.freezes.OnFrameRendered(r.origin.Add(time.Duration(at) * time.Millisecond))
	r.becomeReady()
}

// onNoFrame is the timeout without a frame to decode.
func (r *Receiver) onNoFrame(to time.Duration) {
	r.timeouts.running = false
	if !r.ready { // it is the decoder that keeps us waiting
		return
	}
	active := r.anyPacket && r.now-r.lastPacket < inactiveAfter
	keyComing := r.anyKeyPacket && r.now-r.lastKeyPacket < r.timeouts.forKey
	if active && !keyComing {
		r.stats.KeyFrameRequests++
	}
	r.becomeReady()
	if !active {
		r.freezes.OnPause()
		r.timeouts.skip(to)
	}
}
