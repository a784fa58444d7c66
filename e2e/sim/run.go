// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// Options are what a run may be asked for beside its result.
type Options struct {
	// Observe, when not nil, gets a Point for every ObserveEvery of the run, in
	// order, when the run is over. It does not change the run.
	Observe      func(Point)
	ObserveEvery time.Duration
	// Recorder, when not nil, gets the measured controller's inputs and
	// decisions.
	Recorder gcc.Recorder
}

// Run runs one algorithm through one scenario. The same arguments give the same
// result, bit by bit.
func Run(sc Scenario, alg string, seed uint64, p Params, opts Options) (Result, error) {
	w, err := newWorld(sc, alg, seed, p, opts)
	if err != nil {
		return Result{}, err
	}
	if err := w.loop(); err != nil {
		return Result{}, err
	}
	res := w.result()
	for _, p := range w.points {
		opts.Observe(p)
	}

	return res, nil
}
<<<<<<< HEAD
=======

type timedFeedback struct {
	at      time.Time
	results []gcc.PacketResult
}

type timedRecords struct {
	at      time.Time
	records []diag.Record
}

type run struct {
	sc         Scenario
	name       string
	seed       uint64
	opts       Options
	start, end time.Time
	now        time.Time

	alg    Algorithm
	budget budgeter // nil for algorithms that only know rates
	prober prober   // nil for algorithms that do not probe
	trace  cell.Trace
	cell   *cell.Cell
	source *source
	pacer  *pacing.Pacer[outgoing]
	rcv    *receiver

	packets []packet
	frames  []frame

	feedback  []timedFeedback
	nextFb    time.Time
	records   []timedRecords
	deframer  diag.Deframer
	assembler *ratio.Assembler
	nextBeat  time.Time

	points  []Point // one for every ObserveEvery; none when nobody looks
	pointed int     // of which the state is filled in

	ueQueue, senderQueue, rtt, targets qoe.Series
	goodBytes                          int
	sent, lost, samples                int
}

// outgoing is a packet in the pacer.
type outgoing struct {
	frame, media, attempt int
	queued                time.Time
}

func newRun(sc Scenario, name string, seed uint64, p Params, opts Options) (*run, error) {
	if sc.Duration <= sc.Warmup {
		return nil, fmt.Errorf("sim: a run of %v is shorter than its warm-up of %v", sc.Duration, sc.Warmup)
	}
	// Any instant will do; a fixed one keeps event logs the same.
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := &run{sc: sc, name: name, seed: seed, opts: opts, start: start, end: start.Add(sc.Duration), now: start}
	cc := sc.Cell
	cc.Start, cc.Seed = start, seed
	if sc.Trace != nil {
		cc.Capacity = sc.Trace(seed, sc.Duration)
	}
	r.trace = cc.Capacity
	var err error
	if r.cell, err = cell.New(cc); err != nil {
		return nil, err
	}
	if r.assembler, err = ratio.New(ratio.Config{ExtendedBSR: cc.ExtendedBSR}); err != nil {
		return nil, err
	}
	w := &world{start: start, trace: r.trace, pathBps: cc.Path.RateBps, pathFrom: cc.Path.RateFrom, backlog: func() int {
		return r.cell.Backlog() + r.pacer.Bytes()
	}}
	p.GBR.Recorder = opts.Recorder
	if r.alg, err = newAlgorithm(name, sc.Limits, p, w); err != nil {
		return nil, err
	}
	r.budget, _ = r.alg.(budgeter)
	r.prober, _ = r.alg.(prober)
	if r.pacer, err = pacing.New[outgoing](pacing.Config{MaxQueue: maxPacerQueue}); err != nil {
		return nil, err
	}
	r.pacer.AllowPadding(true) // RTX is negotiated
	r.source = newSource(sc.Source, start, seed)
	r.rcv = newReceiver(&r.packets, start)
	r.nextFb = start.Add(sc.FeedbackEvery)
	r.nextBeat = start
	r.points = newPoints(sc, opts)

	return r, nil
}

// loop goes from event to event. The order within an instant is fixed: what has
// happened, what is known of it, what follows from it.
func (r *run) loop() error {
	r.applyRates()
	for {
		if err := r.radio(); err != nil {
			return err
		}
		if err := r.telemetry(); err != nil {
			return err
		}
		r.feedbackArrives()
		if due(r.alg.NextTimeout(), r.now) {
			r.alg.OnTimeout(r.now)
		}
		r.applyRates()
		r.capture()
		r.send()
		r.feedbackLeaves()
		r.observe()
		next := r.next()
		if next.After(r.end) {
			return nil
		}
		r.now = next
	}
}

// next is the earliest instant at which anything can happen, always after now.
func (r *run) next() time.Time {
	next := r.end.Add(time.Nanosecond)
	add := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	add(r.source.next)
	add(r.nextFb)
	add(r.cell.NextTimeout())
	add(r.pacer.NextSend(r.now))
	add(r.alg.NextTimeout())
	if len(r.feedback) > 0 {
		add(r.feedback[0].at)
	}
	if len(r.records) > 0 {
		add(r.records[0].at)
	}
	add(r.nextBeat)
	add(r.assembler.NextTimeout())
	// A timer that is due but not served (an algorithm that asks for the
	// past) must not stop time.
	if floor := r.now.Add(time.Microsecond); next.Before(floor) {
		return floor
	}

	return next
}

func due(t, now time.Time) bool { return !t.IsZero() && !t.After(now) }

// radio lets the cell work up to now.
func (r *run) radio() error {
	out := r.cell.Advance(r.now)
	for _, d := range out.Delivered {
		r.arrive(d)
	}
	if r.sc.TelemetryGapFrom != r.sc.TelemetryGapTo {
		if t := r.now.Sub(r.start); t >= r.sc.TelemetryGapFrom && t < r.sc.TelemetryGapTo {
			return nil
		}
	}
	// The agent runs on the phone: it reads at once, the link comes after.
	for _, rec := range out.Records {
		r.queueRecords(rec.At, rec.Record)
	}
	for _, c := range out.Diag {
		if err := r.decode(c); err != nil {
			return err
		}
	}

	return nil
}

func (r *run) queueRecords(at time.Time, recs ...diag.Record) {
	at = at.Add(r.sc.TelemetryLink)
	if n := len(r.records); n > 0 && r.records[n-1].at.Equal(at) {
		r.records[n-1].records = append(r.records[n-1].records, recs...)

		return
	}
	r.records = append(r.records, timedRecords{at, recs})
}

// decode runs the diagnostic bytes through the product's decoders.
func (r *run) decode(c cell.Chunk) error {
	r.deframer.Write(c.Bytes)
	var recs []diag.Record
	for {
		f, err := r.deframer.Next()
		if err != nil {
			break
		}
		p, err := diag.ParseFrame(f)
		if err != nil {
			return fmt.Errorf("sim: the cell's own frame: %w", err)
		}
		if recs, err = diag.ParseLog(p, recs); err != nil {
			return fmt.Errorf("sim: the cell's own record: %w", err)
		}
	}
	if len(recs) > 0 {
		r.queueRecords(c.At, recs...)
	}

	return nil
}

func (r *run) arrive(d cell.Delivery) {
	p := &r.packets[d.ID]
	first := !p.received
	r.rcv.onArrival(d.ID, d.At)
	counted := d.At.Sub(r.start) >= r.sc.Warmup
	if counted {
		r.ueQueue.Add(ms(d.LeftPhone.Sub(d.Queued)))
		r.senderQueue.Add(ms(d.LeftPhone.Sub(p.queuedAt)))
		r.rtt.Add(ms(d.At.Sub(p.sentAt) + r.sc.ReturnDelay))
	}
	r.observeDelivery(d, p, first)
	if !first || p.padding {
		return
	}
	if counted {
		r.goodBytes += p.media
	}
	f := &r.frames[p.frame]
	if f.missing--; f.missing == 0 {
		f.done = d.At
	}
}

func (r *run) telemetry() error {
	gap := false
	if t := r.now.Sub(r.start); t >= r.sc.TelemetryGapFrom && t < r.sc.TelemetryGapTo {
		gap = true
	}
	for len(r.records) > 0 && !r.records[0].at.After(r.now) {
		r.deliver(r.assembler.OnRecords(r.now, r.records[0].records), false)
		r.records = r.records[1:]
	}
	if due(r.assembler.NextTimeout(), r.now) {
		t := r.assembler.OnTimeout(r.now)
		if !gap {
			r.deliver(t, false)
		}
	}
	if due(r.nextBeat, r.now) {
		if !gap {
			r.deliver(gbr.Telemetry{}, true)
		}
		r.nextBeat = r.nextBeat.Add(heartbeat)
	}

	return nil
}

func (r *run) deliver(t gbr.Telemetry, beat bool) {
	if !beat && len(t.Samples) == 0 && len(t.Grants) == 0 && len(t.Reports) == 0 && t.Config == nil {
		return
	}
	r.samples += len(t.Samples)
	r.alg.OnTelemetry(r.now, t)
}

func (r *run) feedbackArrives() {
	for len(r.feedback) > 0 && !r.feedback[0].at.After(r.now) {
		results := r.feedback[0].results
		r.feedback = r.feedback[1:]
		r.alg.OnFeedback(r.now, gcc.Feedback{Packets: results})
		for _, res := range results {
			if !res.Received {
				r.lost++
				r.resend(res.Seq)
			}
		}
	}
}

// resend answers a loss as a NACK would.
func (r *run) resend(seq int64) {
	p := r.packets[seq]
	if p.received || p.padding || p.attempt >= resendLimit {
		return
	}
	// The frame keeps waiting for this piece: its count does not change.
	r.pacer.PushUrgent(r.now, outgoing{frame: p.frame, media: p.media, attempt: p.attempt + 1, queued: r.now}, p.size)
}

func (r *run) applyRates() {
	rates := r.alg.Rates()
	r.source.onTarget(r.now, rates.TargetBps)
	r.pacer.SetRate(r.now, rates.PacingBps)
	for r.prober != nil {
		p, ok := r.prober.NextProbe()
		if !ok {
			break
		}
		r.pacer.Probe(r.now, pacing.Cluster(p))
	}
}

func (r *run) capture() {
	for {
		var budget int
		var ok bool
		if r.budget != nil && !r.now.Before(r.source.next) {
			budget, ok = r.budget.frameBudget(r.now)
		}
		size, isDue := r.source.frame(r.now, budget, ok)
		if !isDue {
			return
		}
		if r.now.Sub(r.start) >= r.sc.Warmup {
			r.targets.Add(float64(r.source.target(r.now)))
		}
		if r.sc.Source.SkipAbove > 0 && r.pacer.Delay() > r.sc.Source.SkipAbove {
			continue
		}
		r.queueFrame(size)
	}
}

func (r *run) queueFrame(size int) {
	id := len(r.frames)
	f := frame{capture: r.now}
	for left := size; left > 0; {
		media := min(left, maxPayload)
		left -= media
		f.missing++
		// A refused packet is never sent, so its frame never completes.
		r.pacer.Push(r.now, outgoing{frame: id, media: media, queued: r.now}, media+headerBytes)
	}
	r.frames = append(r.frames, f)
}

func (r *run) send() {
	for {
		next, ok := r.pacer.Next(r.now)
		if !ok {
			return
		}
		seq := int64(len(r.packets))
		o, size := next.Item, next.Padding
		if size == 0 {
			size = o.media + headerBytes
		} else {
			o.queued = r.now
		}
		r.packets = append(r.packets, packet{
			frame: o.frame, media: o.media, attempt: o.attempt, size: size, sentAt: r.now, queuedAt: o.queued,
			padding: next.Padding > 0, probe: next.Cluster,
		})
		r.sent++
		r.alg.OnPacketSent(r.now, gcc.SentPacket{Seq: seq, Size: size, At: r.now, Probe: next.Cluster})
		r.cell.Enqueue(r.now, cell.Packet{ID: seq, Size: size})
	}
}

func (r *run) feedbackLeaves() {
	for due(r.nextFb, r.now) {
		if results := r.rcv.report(); len(results) > 0 {
			r.feedback = append(r.feedback, timedFeedback{r.now.Add(r.sc.ReturnDelay), results})
		}
		r.nextFb = r.nextFb.Add(r.sc.FeedbackEvery)
	}
}

// result plays the frames out and sums up.
func (r *run) result() Result {
	seconds := (r.sc.Duration - r.sc.Warmup).Seconds()
	capacity := r.trace.MeanBps(r.sc.Warmup, r.sc.Duration)
	res := Result{
		Scenario: r.sc.Name, Class: r.sc.Class, CC: r.name, Seed: r.seed,
		DurationS:    r.sc.Duration.Seconds(),
		CapacityMbps: float64(capacity) / 1e6,
		GoodputMbps:  float64(r.goodBytes) * 8 / seconds / 1e6,
		Samples:      r.samples,
	}
	if capacity > 0 {
		res.Utilization = res.GoodputMbps / res.CapacityMbps
	}
	r.playout(&res)
	res.UEQueueP50, res.UEQueueP95, res.UEQueueMax = at(&r.ueQueue, 0.5), at(&r.ueQueue, 0.95), at(&r.ueQueue, 1)
	res.SenderQueueP50, res.SenderQueueP95, res.SenderQueueMax = at(&r.senderQueue, 0.5), at(&r.senderQueue, 0.95), at(&r.senderQueue, 1)
	res.RTTP50, res.RTTP95 = at(&r.rtt, 0.5), at(&r.rtt, 0.95)
	if r.sent > 0 {
		res.LossRatio = float64(r.lost) / float64(r.sent)
	}
	res.TargetMean, res.TargetCV = orElse(r.targets.Mean(), 0)/1e6, orElse(r.targets.CV(), 0)

	return res
}

// playout runs the receiver's model over all frames; figures count those
// captured after warm-up.
func (r *run) playout(res *Result) {
	buffer := qoe.NewJitterBuffer(qoe.JitterBufferConfig{Epoch: r.start})
	var report qoe.Report
	var seen frozenTime
	warm := false
	for _, f := range r.frames {
		capture := f.capture.Sub(r.start)
		if !warm && capture >= r.sc.Warmup {
			warm = true
			report.Discard()
		}
		if warm {
			res.FramesSent++
		}
		render, ok := buffer.OnFrame(f.done, capture, !f.done.IsZero())
		if !ok || render.After(r.end) {
			report.OnSkipped()

			continue
		}
		report.OnFrame(render, render.Sub(f.capture))
		r.observeFrame(&seen, render, render.Sub(f.capture))
	}
	r.observeEnd(&seen)
	s := report.SummaryAt(r.end)
	res.FramesRendered, res.FreezeCount = s.FramesRendered, s.FreezeCount
	res.FreezeRatio = orElse(s.FreezeRatio, 1) // it never played
	res.PlayoutP50, res.PlayoutP95, res.PlayoutP99 = orElse(s.PlayoutMsP50, 0), orElse(s.PlayoutMsP95, 0), orElse(s.PlayoutMsP99, 0)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
>>>>>>> wt-gcc
