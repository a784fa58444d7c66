// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/logging"
	"github.com/pion/rtcp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/gcc/pacing"
)

// largestReport is what fits an MTU of 1280 bytes with IPv6, UDP and SRTCP.
const largestReport = 1200

var _ cc.BandwidthEstimator = (*Estimator)(nil)

// Estimator is the bandwidth estimator of one PeerConnection. Make it with
// [NewEstimator], or let pkg/cc make it with [Factory]. It is safe for
// concurrent use and must be closed, which a PeerConnection does for the ones
// it has made.
type Estimator struct {
	// What each packet and sample needs comes first, and side by side: of a
	// thousand Estimators nothing is in the cache.

	mu      sync.Mutex // guards all that is not said to be free of it
	closed  bool
	sending bool // somebody is in transmit

	// transport is true once a stream has the transport-wide extension. Streams
	// that have only RFC 8888 are not tracked then: the two kinds of report do
	// not share a clock.
	transport bool
	calling   bool // a callback runs now
	mode      gbr.Mode

	epoch  time.Time    // see now; this and the next two never change
	seat   *seat        // on the Scheduler
	rec    gcc.Recorder // nil when off
	core   *gbr.Estimator
	uplink *Uplink

	// wakeAt is when run is called next, zero while it is; ran is when it was.
	wakeAt, ran time.Time
	followed    time.Time // when the next two were
	pacingBps   int       // as the pacer was told
	encoderBps  int       // the target less what repair takes
	minBps      int
	armed       time.Time // by telemetry
	// coreNotBefore keeps a core that is always due from being asked all the time.
	coreNotBefore time.Time

	pacer   pacing.Pacer[*packet]
	history history
	watch   watchdog
	repair  repairMeter
	advice  adviser
	count   counters
	reader  feedbackReader

	// padded is the stream whose RTX carries padding: the latest that sent media.
	padded  *stream
	outer   io.Closer // core's, nil when it needs none
	rtx     map[uint32]*rtxNumbers
	fec     map[uint32]bool
	needBps int      // what the application can use, 0 for unknown
	heard   int64    // of the others on the uplink, see sentLog
	hooks   []func() // of Close

	onAdvice  func(Advice)
	callback  func(int)
	delivered int // the latest value it was given, 0 for none yet

	switching sync.Mutex // Switch; before mu
	cfg       *config    // of core, written with both held

	// The rest is free of mu.

	saidOrder, saidLarge atomic.Bool
	fecDeaf              atomic.Bool // the receiver does not report FEC
	bereft               atomic.Bool // of the reports about RTX

	log    logging.LeveledLogger
	events *EventLog     // nil when off
	idle   chan struct{} // Close's: nobody sends any more
	notify chan struct{} // the notifier's: the target or the callback is new
	done   chan struct{} // closed by Close

	left, notifierDone, flusherDone chan struct{} // left: the Scheduler
}

// NewEstimator returns a running Estimator, which has to be closed. The error wraps
// [ErrOption], [gbr.ErrConfig] or what the end-to-end loop or the pacer said; then
// nothing runs.
func NewEstimator(opts ...Option) (*Estimator, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	core, outer, err := cfg.newCore()
	if err != nil {
		return nil, err
	}
	cfg.pacer.MaxPadding = maxFiller
	pacer, err := pacing.New[*packet](cfg.pacer)
	if err != nil {
		if outer != nil {
			_ = outer.Close() // the pacer's configuration is what is wrong
		}

		return nil, fmt.Errorf("interceptor: %w", err)
	}
	e := &Estimator{
		log:          cfg.loggers.NewLogger("gbrcc"),
		events:       cfg.events,
		rec:          cfg.core.Recorder,
		epoch:        time.Now(),
		minBps:       cfg.core.MinBps,
		cfg:          cfg,
		idle:         make(chan struct{}, 1),
		notify:       make(chan struct{}, 1),
		done:         make(chan struct{}),
		left:         make(chan struct{}),
		notifierDone: make(chan struct{}),
		flusherDone:  make(chan struct{}),
		core:         core,
		outer:        outer,
		pacer:        *pacer,
		history:      *newHistory(),
		rtx:          map[uint32]*rtxNumbers{},
		fec:          map[uint32]bool{},
		advice:       adviser{limit: cfg.skipDelay},
		uplink:       cfg.uplink,
	}
	if e.rec != nil {
		e.rec.Record(e.now(), cfg.configured())
	}
	e.reader.history = &e.history
	scheduler := cfg.scheduler
	if scheduler == nil {
		scheduler = newScheduler(1)
	}
	e.seat = scheduler.join(e)
	e.mu.Lock()
	now := e.now()
	e.follow(now)
	e.arm(now)
	e.mu.Unlock()
	go e.notifier()
	if e.events != nil {
		go e.flusher()
	} else {
		close(e.flusherDone)
	}
	if e.uplink != nil {
		e.uplink.join(e, cfg.weight)
	}

	return e, nil
}

// AddStream implements cc.BandwidthEstimator: it returns the writer that queues
// the packets of a stream, of its RTX stream and of its FEC stream for next. The
// writer is safe for concurrent use and copies what it is given. A stream that no
// feedback will report on is said in the log, once.
func (e *Estimator) AddStream(info *pion.StreamInfo, next pion.RTPWriter) pion.RTPWriter {
	s := newStream(e, info, next)
	e.mu.Lock()
	now := e.now()
	e.history.expire(now)
	if s.tracking == byTransport {
		e.transport = true
	}
	if info.SSRCRetransmission != 0 {
		// The numbers of a stream that is bound again go on: SSRC and key are
		// the same.
		if s.rtx = e.rtx[info.SSRCRetransmission]; s.rtx == nil {
			s.rtx = &rtxNumbers{ssrc: info.SSRCRetransmission, payloadType: info.PayloadTypeRetransmission}
			e.rtx[s.rtx.ssrc] = s.rtx
		}
	}
	if info.SSRCForwardErrorCorrection != 0 {
		e.fec[info.SSRCForwardErrorCorrection] = true
	}
	warn := s.tracking == untracked && !e.watch.saidUntracked
	if warn {
		e.watch.saidUntracked = true
	}
	if e.rec != nil {
		e.rec.Record(now, StreamEvent{
			SSRC: info.SSRC, RTX: info.SSRCRetransmission, FEC: info.SSRCForwardErrorCorrection,
			MIME: info.MimeType, Feedback: s.tracking.String(),
		})
	}
	e.mu.Unlock()
	if inner, ok := next.(*stream); ok && inner.e != e {
		e.log.Warn("another Estimator is next to the network already, and packets pass both: add one factory to the registry")
	}
	if warn {
		e.log.Warnf("stream %d (%s) has no congestion feedback, its packets are paced but not measured: call "+
			"webrtc.ConfigureTWCCHeaderExtensionSender before making the PeerConnection, and let the "+
			"remote peer accept %s", info.SSRC, info.MimeType, transportCCURI)
	}

	return s
}

// WriteRTCP implements cc.BandwidthEstimator: it takes in what Pion has read.
// It always returns nil: pkg/cc would pass an error on to the application's
// reader. Feedback that cannot be read is counted, see [StatFeedbackMalformed].
func (e *Estimator) WriteRTCP(pkts []rtcp.Packet, _ pion.Attributes) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	now := e.now()
	e.watch.rtcp = true
	changed, large := false, 0
	for _, pkt := range pkts {
		var results []gcc.PacketResult
		var err error
		switch fb := pkt.(type) {
		case *rtcp.TransportLayerCC:
			if fb != nil {
				large = max(large, 4*(int(fb.Header.Length)+1))
				results, err = e.reader.onTransportCC(now, fb)
			}
		case *rtcp.CCFeedbackReport:
			if fb != nil {
				results = e.reader.onCCFB(now, fb)
			}
		}
		if err != nil {
			e.count.malformed++
			if e.rec != nil {
				e.rec.Record(now, MalformedEvent{err.Error()})
			}
		}
		if len(results) > 0 {
			e.count.reports++
			if d := e.watch.heard(now); d > 0 && e.rec != nil {
				e.rec.Record(now, FeedbackBackEvent{milliseconds(d)})
			}
			e.hearOthers(now)
			e.core.OnFeedback(now, gcc.Feedback{Packets: results})
			changed = true
		}
	}
	if changed {
		e.follow(now)
		e.arm(now)
	}
	// Under the lock, like the events: these happen once.
	if e.reader.deaf() {
		e.warnOnce(&e.fecDeaf, "the remote peer does not report on FEC packets (Pion's receivers do not): they are paced but not measured")
	}
	if e.reader.bereft() {
		e.pacer.AllowPadding(false) // each probe would lose its report
		e.warnOnce(&e.bereft, "the remote peer's feedback right after retransmissions or padding does not arrive, as Pion "+
			"reads no RTCP about RTX streams: set BufferFactory of webrtc's SettingEngine to PeerFactory.BufferFactory. "+
			"Until then no padding is sent, and rates rise later")
	}
	if large > largestReport {
		e.warnOnce(&e.saidLarge, fmt.Sprintf("the remote peer sends feedback of %d bytes in a packet, which IP fragments or "+
			"drops (interceptor#416): let it report more often, with twcc.SendInterval", large))
	}

	return nil
}

// PushTelemetry takes in what the modem says. It returns at once and is meant to
// be the sink of a link's client; t is not kept. An Estimator with a source or on an
// [Uplink] gets it from there.
func (e *Estimator) PushTelemetry(t gbr.Telemetry) { e.push(t, 0) }

// push is PushTelemetry to one that has a share of the radio, 0 for the same as
// before.
func (e *Estimator) push(t gbr.Telemetry, share float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	now := e.now()
	e.hearOthers(now)
	e.core.SetShare(now, share)
	e.core.OnTelemetry(now, t)
	e.afterTelemetry(now)
}

// PushSample is PushTelemetry with a single sample.
func (e *Estimator) PushSample(s gbr.Sample) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	now := e.now()
	e.core.OnSample(now, s)
	e.afterTelemetry(now)
}

// afterTelemetry is follow and arm, with what is seldom needed left out: there
// may be hundreds of samples a second. Called with mu held.
func (e *Estimator) afterTelemetry(now time.Time) {
	mode, pace := e.mode, e.pacingBps
	e.follow(now)
	switch {
	case e.mode != mode || now.Sub(e.armed) >= armEvery:
		e.armed = now
		e.arm(now)
	case e.pacingBps > pace && !e.sending:
		e.armFor(e.pacer.NextSend(now), now)
	}
}

// Target returns all that the estimator wants now.
func (e *Estimator) Target() gbr.Target {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.core.Target()
}

// PacerDelay is how long the pacer's queue is in time at the pacing rate. An
// encoder that leaves out frames while it is long keeps the call in time.
func (e *Estimator) PacerDelay() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.pacer.Delay()
}

// GetTargetBitrate implements cc.BandwidthEstimator: the encoder's rate in
// bit/s, which is that of Target less the share that FEC and retransmissions
// took lately, at most half. Headers count, as everywhere.
func (e *Estimator) GetTargetBitrate() int {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.encoderBps
}

// SetNeed tells the highest rate that the application can use, in bit/s with all
// headers, 0 for unknown, which it is at first: the sum of the encoders' maxima.
// Probes then go up to twice that and no further, and when it rises while the
// application sends less than it may the path is probed for it at once. The
// target is not bounded by it. An [Allocator] tells it by itself, see
// [Allocator.Serve].
func (e *Estimator) SetNeed(bps int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.needBps = max(bps, 0); e.closed {
		return
	}
	now := e.now()
	e.core.SetNeed(now, e.needBps)
	e.follow(now)
	e.arm(now)
}

// OnTargetBitrateChange implements cc.BandwidthEstimator: f is called with the
// present target of GetTargetBitrate, in bit/s, and then with every new one. It
// replaces the callback before; nil is none.
//
// Calls come from one goroutine, one after the other, with no lock held; f may
// take its time, and may call any method. Values that are outdated when f
// returns are left out, so the last call always has the latest target. A call
// that is under way when Close is called may end after it; none starts.
func (e *Estimator) OnTargetBitrateChange(f func(bitrate int)) {
	e.mu.Lock()
	e.callback, e.delivered = f, 0
	e.mu.Unlock()
	signal(e.notify)
}

// OnAdvice sets what is called when the pacer has something to ask of the
// encoder; it replaces the one before, nil is none. Calls come from the goroutine
// of OnTargetBitrateChange, with no lock held. An encoder that cannot leave out
// frames may ignore it: what does not fit the queue is dropped by whole frames.
func (e *Estimator) OnAdvice(f func(Advice)) {
	e.mu.Lock()
	e.onAdvice = f
	e.mu.Unlock()
	signal(e.notify)
}

// atClose registers what Close calls; at once when it was called before.
func (e *Estimator) atClose(f func()) {
	e.mu.Lock()
	closed := e.closed
	if !closed {
		e.hooks = append(e.hooks, f)
	}
	e.mu.Unlock()
	if closed {
		f()
	}
}

// clock is what the core knows of the modem's.
func (e *Estimator) clock() (ahead time.Duration, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.core.Clock()
}

// setClock tells the core what another one knows.
func (e *Estimator) setClock(ahead time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.core.SetClock(e.now(), ahead)
	}
}

// bytesSent is what has left so far.
func (e *Estimator) bytesSent() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.count.bytesSent
}

// Close ends its goroutines and drops what is queued. It may be called any
// number of times, from anywhere. The streams return [ErrClosed] from then on.
func (e *Estimator) Close() error {
	e.mu.Lock()
	first, calling, hooks := !e.closed, e.calling, e.hooks
	e.closed, e.hooks = true, nil
	e.mu.Unlock()
	if first {
		close(e.done)
		if e.uplink != nil {
			e.uplink.leave(e)
		}
		for _, f := range hooks {
			f()
		}
		e.seat.leave()
		close(e.left)
	}
	<-e.left
	<-e.flusherDone
	e.waitIdle()
	// The callback itself may be who closes: it cannot be waited for.
	if !calling {
		<-e.notifierDone
	}
	if first {
		e.drain()
		e.mu.Lock()
		outer := e.outer // nothing uses it after closed is set
		e.mu.Unlock()
		e.closeOuter(outer)
		if e.events != nil {
			return e.events.Flush()
		}
	}

	return nil
}

// waitIdle waits for a Write that is sending.
func (e *Estimator) waitIdle() {
	for {
		e.mu.Lock()
		sending := e.sending
		e.mu.Unlock()
		if !sending {
			signal(e.idle) // for others who wait
			return
		}
		<-e.idle
	}
}

// drain drops what is queued. Nothing is pushed after closed is set.
func (e *Estimator) drain() {
	var dropped []*packet
	e.mu.Lock()
	e.pacer.Drain(func(p *packet) { dropped = append(dropped, p) })
	e.mu.Unlock()
	for _, p := range dropped {
		e.release(p, false)
	}
}

// follow makes pacer and encoder follow the core, and hands its probes to the
// pacer. Called with mu held, after every input.
func (e *Estimator) follow(now time.Time) {
	e.followed = now
	bps, pace, mode := e.core.Rates()
	if pace != e.pacingBps {
		e.pacer.SetRate(now, pace)
	}
	e.pacingBps, e.mode = pace, mode
	if share := e.repair.share(); share > 0 {
		bps = max(int(float64(bps)*(1-share)), min(e.minBps, bps))
	}
	if bps != e.encoderBps {
		e.encoderBps = bps
		if e.callback != nil {
			signal(e.notify)
		}
	}
	for {
		c, ok := e.core.NextProbe()
		if !ok {
			return
		}
		e.pacer.Probe(now, pacing.Cluster(c))
	}
}

// notifier calls the callback until Close.
func (e *Estimator) notifier() {
	defer close(e.notifierDone)
	for {
		select {
		case <-e.done:
			return
		case <-e.notify:
		}
		for {
			f := e.news()
			if f == nil {
				break
			}
			f()
			e.mu.Lock()
			e.calling = false
			e.mu.Unlock()
		}
	}
}

// news returns the callback that is due, or nil.
func (e *Estimator) news() func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	if f, bitrate := e.callback, e.encoderBps; f != nil && bitrate != e.delivered {
		e.delivered, e.calling = bitrate, true

		return func() { f(bitrate) }
	}
	if f := e.onAdvice; f != nil {
		if a, ok := e.advice.take(e.pacer.Delay()); ok {
			e.calling = true
			if e.rec != nil {
				e.rec.Record(e.now(), AdviceEvent{a.SkipFrames, a.KeyFrame, milliseconds(a.PacerDelay)})
			}

			return func() { f(a) }
		}
	}

	return nil
}

// flusher writes the event log until Close, which writes the rest.
func (e *Estimator) flusher() {
	defer close(e.flusherDone)
	tick := time.NewTicker(eventFlushInterval)
	defer tick.Stop()
	for {
		select {
		case <-e.done:
			return
		case <-tick.C:
			if err := e.events.Flush(); err != nil {
				e.log.Warnf("no more events are written: %v", err)

				return
			}
		}
	}
}

// now reads the clock. All times have the wall clock of the start plus what the
// monotonic one has counted since, so that recorded times agree with each other
// whatever happens to the wall clock.
func (e *Estimator) now() time.Time { return e.epoch.Add(time.Since(e.epoch)) }

// signal wakes a goroutine that waits on c, or will.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
