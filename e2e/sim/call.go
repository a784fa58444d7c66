// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/gcc/pacing"
	"github.com/gbrcc/gbrcc/qoe"
)

const (
	// resendLimit is how often one piece of media is sent again.
	resendLimit = 5
	// maxPacerQueue is the pacer's bound; the source stops well before.
	maxPacerQueue = 2 * time.Second
)

// call is a sender of video, and its viewer.
type call struct {
	*route
	cfg SourceConfig

	alg    Algorithm
	budget budgeter // nil for algorithms that only know rates
	source *source
	pacer  *pacing.Pacer[outgoing]
	rcv    *receiver
	nextFb time.Time
	// reports are those under way, by number.
	reports []report
	unused  []int64 // of reports

	packets []packet
	frames  []frame

	ueQueue, senderQueue, rtt, targets qoe.Series
	good                               int
	sent, lost                         int
}

// outgoing is a packet in the pacer.
type outgoing struct {
	frame, media, attempt int
	queued                instant
}

type report struct{ results []gcc.PacketResult }

// packet is what the run remembers of everything sent; its index is the
// transport-wide sequence number.
type packet struct {
	frame    int
	media    int // payload bytes, without headers
	attempt  int // 0 for the first sending of this media
	sentAt   instant
	queuedAt instant // into the pacer
	arrival  instant // never: not yet
}

func (p *packet) size() int { return p.media + headerBytes }

// frame is one captured picture.
type frame struct {
	capture instant
	missing int // packets not yet there
	done    instant
}

func (w *world) addCall(f Flow, p *phone, params Params) (*call, error) {
	r, err := w.newRoute(f, p)
	if err != nil {
		return nil, err
	}
	limits, src := w.sc.Limits, w.sc.Source
	if f.Limits != nil {
		limits = *f.Limits
	}
	if f.Source != nil {
		src = *f.Source
	}
	c := &call{route: r, cfg: src}
	r.flow = c
	if c.alg, err = newAlgorithm(f.CC, limits, params, &view{route: r}); err != nil {
		return nil, err
	}
	c.budget, _ = c.alg.(budgeter)
	if c.pacer, err = pacing.New[outgoing](pacing.Config{MaxQueue: maxPacerQueue}); err != nil {
		return nil, err
	}
	begin := w.start.Add(f.From)
	c.source = newSource(src, begin, w.seed+uint64(r.number)<<32)
	c.rcv = newReceiver(c)
	c.nextFb = begin.Add(w.sc.FeedbackEvery)

	return c, nil
}

func (c *call) step() {
	now := c.w.now
	if due(c.alg.NextTimeout(), now) {
		c.alg.OnTimeout(now)
	}
	rates := c.alg.Rates()
	c.source.OnTarget(now, rates.TargetBps)
	c.pacer.SetRate(now, rates.PacingBps)
	c.capture()
	c.transmit()
	c.feedbackLeaves()
}

func (c *call) wake() time.Time {
	at := c.source.NextTimeout()
	for _, t := range [...]time.Time{c.nextFb, c.pacer.NextSend(c.w.now), c.alg.NextTimeout()} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}

	return at
}

func (c *call) telemetry(t gbr.Telemetry) { c.alg.OnTelemetry(c.w.now, t) }

func (c *call) receive(k kind, index int64, d *cell.Delivery) {
	switch k {
	case kindMedia:
		c.arrive(index, d)
	case kindFeedback:
		c.feedbackArrives(index)
	default:
	}
}

func (c *call) lose(k kind, index int64) {
	if k == kindFeedback {
		c.unused = append(c.unused, index)
	}
}

func (c *call) arrive(seq int64, d *cell.Delivery) {
	p := &c.packets[seq]
	first := p.arrival == never
	c.rcv.onArrival(seq, c.w.instant(d.At))
	counted := c.w.counts(d.At)
	if counted && !c.spec.Reverse {
		left := c.w.instant(d.LeftPhone)
		c.ueQueue.Add(ms(d.LeftPhone.Sub(d.Queued)))
		c.senderQueue.Add(ms(time.Duration(left - p.queuedAt)))
		c.rtt.Add(ms(time.Duration(c.w.instant(d.At)-p.sentAt) + c.w.sc.ReturnDelay))
	}
	c.w.observeDelivery(c, d, p, first)
	if !first {
		return
	}
	if counted {
		c.good += p.media
	}
	f := &c.frames[p.frame]
	if f.missing--; f.missing == 0 {
		f.done = c.w.instant(d.At)
	}
}

func (c *call) feedbackArrives(index int64) {
	results := c.reports[index].results
	c.alg.OnFeedback(c.w.now, gcc.Feedback{Packets: results})
	for _, res := range results {
		if !res.Received {
			c.lost++
			c.resend(res.Seq)
		}
	}
	c.unused = append(c.unused, index)
}

// resend answers a loss as a NACK would.
func (c *call) resend(seq int64) {
	p := &c.packets[seq]
	if p.arrival != never || p.attempt >= resendLimit {
		return
	}
	// The frame keeps waiting for this piece: its count does not change.
	c.pacer.PushUrgent(c.w.now, outgoing{frame: p.frame, media: p.media, attempt: p.attempt + 1, queued: c.w.instant(c.w.now)}, p.size())
}

func (c *call) capture() {
	now := c.w.now
	for !now.Before(c.source.NextTimeout()) {
		var b Budget
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
			c.targets.Add(float64(c.source.Target(now)))
		}
		if c.cfg.SkipAbove > 0 && c.pacer.Delay() > c.cfg.SkipAbove {
			c.source.OnSkipped(now)

			continue
		}
		c.queueFrame(f.Size)
	}
}

func (c *call) queueFrame(size int) {
	now := c.w.instant(c.w.now)
	id := len(c.frames)
	f := frame{capture: now, done: never}
	for left := size; left > 0; {
		media := min(left, maxPayload)
		left -= media
		f.missing++
		// A refused packet is never sent, so its frame never completes.
		c.pacer.Push(c.w.now, outgoing{frame: id, media: media, queued: now}, media+headerBytes)
	}
	c.frames = append(c.frames, f)
}

func (c *call) transmit() {
	now := c.w.now
	for {
		o, ok := c.pacer.Pop(now)
		if !ok {
			return
		}
		seq := int64(len(c.packets))
		c.packets = append(c.packets, packet{
			frame: o.frame, media: o.media, attempt: o.attempt,
			sentAt: c.w.instant(now), queuedAt: o.queued, arrival: never,
		})
		c.sent++
		size := o.media + headerBytes
		c.alg.OnPacketSent(now, gcc.SentPacket{Seq: seq, Size: size, At: now})
		c.ahead(kindMedia, seq, size)
	}
}

func (c *call) feedbackLeaves() {
	for due(c.nextFb, c.w.now) {
		c.nextFb = c.nextFb.Add(c.w.sc.FeedbackEvery)
		var index int64
		if n := len(c.unused); n > 0 {
			index, c.unused = c.unused[n-1], c.unused[:n-1]
		} else {
			index = int64(len(c.reports))
			c.reports = append(c.reports, report{})
		}
		rep := &c.reports[index]
		if rep.results = c.rcv.report(rep.results[:0]); len(rep.results) == 0 {
			c.unused = append(c.unused, index)

			continue
		}
		c.back(kindFeedback, index, rtcpOverhead+twccBytes+twccPerPacket*len(rep.results))
	}
}

func (c *call) finish() {}

func (c *call) goodBytes() int { return c.good }
