// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/gcc/pacing"
	"github.com/gbrcc/gbrcc/qoe"
)

const (
	// maxPacerDelay is from when on no frame is queued; the source stops well
	// before. The pacer itself refuses later, so that frames go in whole.
	maxPacerDelay = 2 * time.Second
	maxPacerQueue = 10 * time.Second
	// maxPayload is the media bytes of a full packet, headerBytes IPv4 20 + UDP 8
	// + RTP 12 with a transport-wide number 8 of extension less padding + SRTP tag
	// 10, as every comparison counts it.
	maxPayload  = media.DefaultPayloadBytes
	headerBytes = media.DefaultHeaderBytes
	// A packet can be sent again while it is one of the last keptPackets, or not
	// older than keptTime and three round trips. libwebrtc: rtp_packet_history.
	keptPackets = 600
	keptTime    = time.Second
)

// seedPhase is the stream of when flows begin to film.
const seedPhase = 0xf10 << 16

// call is a sender of video and audio, and its viewer.
type call struct {
	*route

	alg     Algorithm
	budget  budgeter // nil for algorithms that only know rates
	prober  prober   // nil for algorithms that do not probe
	skipper skipper  // nil for algorithms that leave no frame out
	source  *media.Source
	audio   *media.Audio // nil for none
	pacer   *pacing.Pacer[outgoing]
	held    int // link bytes in a pacer that is somebody else's
	viewer  *viewer

	nextFb    instant
	reports   pool[report]  // on their way back
	asks      pool[[]int64] // RTP numbers, on their way back
	roundTrip time.Duration // 0: not known yet

	packets []packet // by transport-wide number
	pieces  []piece  // by their own number
	video   []int32  // pieces by RTP number
	frames  []frame

	ueQueue, senderQueue, rtt, targets qoe.Series
	good                               int
	lastGood                           instant
	sent, lost, framesSent             int
	level                              float64 // of the target, when its last move was counted
	moves                              int
	climb                              climb
}

// report is one of TWCC.
type report struct {
	at      instant
	results []gcc.PacketResult
}

// outgoing is a packet in the pacer.
type outgoing struct {
	piece  int32
	queued instant
}

// packet is what the run remembers of everything sent.
type packet struct {
	piece    int32
	size     int32   // on the link
	probe    int32   // cluster, 0 for none
	sentAt   instant // by the pacer
	queuedAt instant // into the pacer
	arrival  instant // never: not yet
}

// piece is a packet's worth of a frame, however often it is sent.
type piece struct {
	frame   int32 // noFrame for audio and padding
	index   int32 // within the frame
	rtp     int64
	media   int32 // payload bytes, without headers
	sent    int32 // times
	pending bool  // in the pacer
	here    bool
	sentAt  instant // last
}

// targetMove is the share by which an encoder's target has to change to count.
const targetMove = 0.1

// noFrame marks what is no video.
const noFrame = -1

// frame is one coded picture.
type frame struct {
	capture instant
	rtp     int64 // of the first piece
	pieces  int32
	key     bool
}

func (w *world) addCall(f Flow, p *phone, params Params) (*call, error) {
	r, err := w.newRoute(f, p)
	if err != nil {
		return nil, err
	}
	limits, src := w.limits(f), w.sc.Source
	if f.Source != nil {
		src = *f.Source
	}
	begin := w.start.Add(f.From)
	if r.number > 0 {
		// Cameras are not in step.
		phase := rand.New(rand.NewPCG(w.seed, seedPhase+uint64(r.number)))
		begin = begin.Add(time.Duration(phase.Int64N(int64(time.Second) / int64(fps(src)))))
	}
	src.Start, src.Seed = begin, w.seed+uint64(r.number)<<32
	c := &call{route: r, climb: newClimb(w)}
	r.flow = c
	if c.alg, err = newAlgorithm(f.CC, limits, params, &view{route: r, fps: fps(src), source: src}); err != nil {
		return nil, err
	}
	c.budget, _ = c.alg.(budgeter)
	c.prober, _ = c.alg.(prober)
	c.skipper, _ = c.alg.(skipper)
	pacer := pacing.Config{MaxQueue: maxPacerQueue}
	if b, ok := c.alg.(burster); ok {
		pacer.Burst = b.burst()
	}
	if c.pacer, err = pacing.New[outgoing](pacer); err != nil {
		return nil, err
	}
	c.pacer.AllowPadding(true) // RTX is negotiated
	if c.source, err = media.New(src); err != nil {
		return nil, err
	}
	if f.Audio != nil {
		voice := *f.Audio
		voice.Start, voice.Seed = begin, src.Seed
		if c.audio, err = media.NewAudio(voice); err != nil {
			return nil, err
		}
	}
	c.viewer = newViewer(c, begin)
	c.nextFb = w.instant(begin.Add(w.sc.FeedbackEvery))

	return c, nil
}

// limits are a flow's.
func (w *world) limits(f Flow) Limits {
	if f.Limits != nil {
		return *f.Limits
	}

	return w.sc.Limits
}

// fps is the frame rate of a source, or the usual one.
func fps(c media.Config) int {
	if c.FPS > 0 {
		return c.FPS
	}

	return media.DefaultFPS
}

func (c *call) step() {
	now := c.w.now
	if due(c.alg.NextTimeout(), now) {
		c.alg.OnTimeout(now)
	}
	rates := c.alg.Rates()
	c.source.OnTarget(now, rates.TargetBps)
	c.pacer.SetRate(now, rates.PacingBps)
	c.probe()
	c.capture()
	c.speak()
	c.transmit()
	c.viewer.step()
	c.feedbackLeaves()
}

// probe hands the clusters that the algorithm asks for to the pacer; after every
// input, so that they do not depend on what else wakes the call.
func (c *call) probe() {
	for c.prober != nil {
		p, ok := c.prober.NextProbe()
		if !ok {
			return
		}
		c.pacer.Probe(c.w.now, pacing.Cluster(p))
	}
}

func (c *call) wake() instant {
	at := never
	if c.audio != nil {
		at = c.w.instant(c.audio.NextTimeout())
	}

	return min(at, c.nextFb, c.viewer.wake(), c.w.instant(c.source.NextTimeout()),
		c.w.instant(c.pacer.NextSend(c.w.now)), c.w.instant(c.alg.NextTimeout()))
}

func (c *call) telemetry(t gbr.Telemetry) { c.alg.OnTelemetry(c.w.now, t) }

func (c *call) receive(k kind, index int64, d *cell.Delivery) {
	switch k {
	case kindMedia:
		c.arrive(index, d)
	case kindFeedback:
		c.feedbackArrives(c.reports.at(index))
		c.reports.free(index)
	case kindNACK:
		for _, rtp := range *c.asks.at(index) {
			c.resend(rtp)
		}
		c.asks.free(index)
	case kindKeyFrame:
		c.source.OnKeyFrameRequest(c.w.now)
	default:
	}
}

func (c *call) lose(k kind, index int64) {
	switch k {
	case kindFeedback:
		c.reports.free(index)
	case kindNACK:
		c.asks.free(index)
	default:
	}
}

func (c *call) arrive(seq int64, d *cell.Delivery) {
	p := &c.packets[seq]
	pc := &c.pieces[p.piece]
	first := !pc.here
	pc.here = true
	c.viewer.arrivals.onArrival(seq, c.w.instant(d.At))
	c.climb.onArrival(c.w.instant(d.At), p.queuedAt, p.size)
	counted := c.w.counts(d.At)
	if counted && !c.spec.Reverse {
		left := c.w.instant(d.LeftPhone)
		c.ueQueue.Add(ms(d.LeftPhone.Sub(d.Queued)))
		c.senderQueue.Add(ms(time.Duration(left - p.queuedAt)))
		c.rtt.Add(ms(time.Duration(c.w.instant(d.At)-p.sentAt) + c.w.sc.ReturnDelay + c.spec.Delay))
	}
	if counted && first {
		c.good += int(pc.media)
		c.lastGood = c.w.instant(d.At)
	}
	c.w.observeDelivery(c, d, p, first)
	if pc.frame != noFrame {
		c.viewer.onPacket(d, pc, first)
	}
}

func (c *call) feedbackArrives(rep *report) {
	c.alg.OnFeedback(c.w.now, gcc.Feedback{Packets: rep.results})
	for i := range rep.results {
		if r := &rep.results[i]; r.Received {
			// Without the time that the packet waited for the report.
			p := &c.packets[r.Seq]
			c.roundTrip = time.Duration(c.w.instant(c.w.now) - p.sentAt - (rep.at - p.arrival))
		} else {
			c.lost++
		}
	}
}

// resend answers a request for a packet.
func (c *call) resend(rtp int64) {
	now := c.w.instant(c.w.now)
	index := c.video[rtp]
	pc := &c.pieces[index]
	age := time.Duration(now - pc.sentAt)
	switch {
	case pc.pending:
		return
	case int64(len(c.video))-rtp > keptPackets && age > max(keptTime, 3*c.roundTrip):
		return // it is not kept any more
	case pc.sent > 1 && age < c.roundTrip:
		return // it is on its way
	}
	// As the product has it, and libwebrtc: ahead of the frames, at the pacer's rate.
	pc.pending = c.pacer.PushAhead(c.w.now, outgoing{piece: index, queued: now}, int(pc.media)+headerBytes)
}

func (c *call) observeTarget(bps float64) {
	c.targets.Add(bps)
	if c.level == 0 {
		c.level = bps
	}
	if math.Abs(bps-c.level) > targetMove*c.level {
		c.level = bps
		c.moves++
	}
}

func (c *call) capture() {
	now := c.w.now
	for !now.Before(c.source.NextTimeout()) {
		var b media.Budget
		if c.budget != nil {
			b.Bytes, b.OK = c.budget.frameBudget(now)
		}
		f, isDue := c.source.Capture(now, b)
		if !isDue {
			return
		}
		if !c.active() {
			continue
		}
		if c.w.counts(now) {
			c.observeTarget(float64(c.source.Target(now)))
		}
		if c.skips(c.pacer.Delay()) {
			c.source.OnSkipped(now)

			continue
		}
		c.queueFrame(f)
	}
}

// skips tells whether the pacer has too much queued, in time, for another frame.
func (c *call) skips(delay time.Duration) bool {
	most := maxPacerDelay
	if skip := c.w.sc.SkipAbove; skip > 0 {
		most = min(most, skip)
	}

	return delay > most || c.skipper != nil && c.skipper.SkipFrame(c.w.now)
}

func (c *call) queueFrame(f media.Frame) {
	now := c.w.instant(c.w.now)
	number := c.newFrame(f.Key)
	for left := f.Size; left > 0; {
		size := min(left, maxPayload)
		left -= size
		// A refused packet is never sent, so its frame never completes.
		if c.pacer.Push(c.w.now, outgoing{piece: int32(len(c.pieces)), queued: now}, size+headerBytes) {
			c.pieces[c.newPiece(number, size)].pending = true
		} else {
			c.frames[number].pieces++
		}
	}
}

// newFrame begins a frame captured now.
func (c *call) newFrame(key bool) (number int32) {
	if c.w.counts(c.w.now) {
		c.framesSent++
	}
	c.frames = append(c.frames, frame{capture: c.w.instant(c.w.now), rtp: int64(len(c.video)), key: key})

	return int32(len(c.frames) - 1)
}

// newPiece adds a packet's worth to the newest frame.
func (c *call) newPiece(number int32, size int) int32 {
	f, p := &c.frames[number], int32(len(c.pieces))
	c.pieces = append(c.pieces, piece{frame: number, index: f.pieces, rtp: int64(len(c.video)), media: int32(size)})
	c.video = append(c.video, p)
	f.pieces++

	return p
}

// speak queues what the microphone has, ahead of all video and not paced, as a
// browser does.
func (c *call) speak() {
	if c.audio == nil {
		return
	}
	for now := c.w.now; !now.Before(c.audio.NextTimeout()); {
		f, isDue := c.audio.Capture(now, media.Budget{})
		if !isDue {
			return
		}
		if !c.active() {
			continue
		}
		number := int32(len(c.pieces))
		if c.pacer.PushUrgent(now, outgoing{piece: number, queued: c.w.instant(now)}, f.Size+headerBytes) {
			c.pieces = append(c.pieces, piece{frame: noFrame, media: int32(f.Size), pending: true})
		}
	}
}

func (c *call) transmit() {
	now := c.w.now
	for {
		next, ok := c.pacer.Next(now)
		if !ok {
			return
		}
		o := next.Item
		if next.Padding > 0 {
			o = outgoing{piece: int32(len(c.pieces)), queued: c.w.instant(now)}
			c.pieces = append(c.pieces, piece{frame: noFrame, media: 0})
		}
		pc := &c.pieces[o.piece]
		pc.pending, pc.sentAt = false, c.w.instant(now)
		pc.sent++
		seq := int64(len(c.packets))
		size := int(pc.media) + headerBytes
		if next.Padding > 0 {
			size = next.Padding
		}
		c.packets = append(c.packets, packet{
			piece: o.piece, size: int32(size), probe: int32(next.Cluster), sentAt: pc.sentAt, queuedAt: o.queued, arrival: never,
		})
		c.sent++
		c.alg.OnPacketSent(now, gcc.SentPacket{Seq: seq, Size: size, At: now, Probe: next.Cluster})
		c.probe()
		c.ahead(kindMedia, seq, size)
	}
}

func (c *call) feedbackLeaves() {
	for now := c.w.instant(c.w.now); now >= c.nextFb; c.nextFb += instant(c.w.sc.FeedbackEvery) {
		index, rep := c.reports.take()
		rep.at, rep.results = now, c.viewer.arrivals.report(rep.results[:0])
		if len(rep.results) == 0 {
			c.reports.free(index)

			continue
		}
		c.back(kindFeedback, index, rtcpOverhead+twccBytes+twccPerPacket*len(rep.results))
	}
}

func (c *call) finish() { c.viewer.finish() }

func (c *call) goodBytes() (bytes int, last instant) { return c.good, c.lastGood }
