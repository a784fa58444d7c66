// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	piongcc "github.com/pion/interceptor/pkg/gcc"

	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/peer"
	"github.com/gbrcc/gbrcc/e2e/phone"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
)

// leg is one estimator's call: its own peers, phone and copy of the cell.
type leg struct {
	cc      string
	link    *live.Link
	phone   *phone.Agent // nil: no telemetry, or another agent's
	client  *modemlink.Client
	call    *peer.Call
	samples atomic.Int64
	show    *progress
	page    *page
	mode    string        // as last shown
	queue   time.Duration // the longest since it was last shown

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// wantsTelemetry tells which estimators listen to the modem.
func wantsTelemetry(cc string) bool { return cc == "gbrcc" || cc == "seed" }

// startMode is what an estimator goes by at first; pion and gcc stay with it.
func startMode(cc string) string {
	if wantsTelemetry(cc) {
		return gbr.OuterOnly.String()
	}

	return "end to end"
}

// newLeg makes the link; nothing flows before dial.
func newLeg(o options, name string, start time.Time, show *progress, p *page) (*leg, error) {
	link, err := live.New(live.Config{Cell: o.cell(start)})
	if err != nil {
		return nil, err
	}
	if err := link.Start(); err != nil {
		return nil, errors.Join(err, link.Close())
	}

	return &leg{cc: name, link: link, show: show, page: p, mode: startMode(name)}, nil
}

// dial connects the peers over loopback, and the sender with the phone.
func (l *leg) dial(ctx context.Context, o options) error {
	sender, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	receiver, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, sender.Close())
	}

	return l.connect(ctx, o, sender, receiver)
}

// connect is dial on given sockets, which are the leg's from then on.
func (l *leg) connect(ctx context.Context, o options, sender, receiver net.PacketConn) (err error) {
	cfg := peer.Config{
		Sender: l.link.Uplink(sender), Receiver: l.link.Downlink(receiver),
		Estimator: l.estimator, Seed: o.seed,
	}
	if o.film != nil {
		failed := func(what string, err error) {
			if err != nil {
				text := l.cc + ": " + what + ": " + err.Error()
				l.show.line(text)
				l.page.event(text)
			}
		}
		cfg.Video = func(ctx context.Context, v *peer.Video) { failed("no video", o.film.show(ctx, v)) }
		if a := o.film.audio; a != nil {
			cfg.Audio = func(ctx context.Context, to *peer.Audio) { failed("no sound", a.send(ctx, to)) }
		}
		if l.page != nil {
			cfg.Received, cfg.ReceivedAudio = l.page.viewers.forward(l.cc)
		}
	}
	l.call, err = peer.Dial(ctx, cfg)
	if err != nil {
		return fmt.Errorf("%s: %w", l.cc, err)
	}
	if o.film != nil && l.page != nil {
		l.page.viewers.join(l.cc, l.call.Start(), l.call.RequestKeyFrame)
	}
	if !wantsTelemetry(l.cc) {
		return nil
	}

	return l.connectPhone(o.modem)
}

// estimator makes the estimator under the leg's name.
func (l *leg) estimator() (cc.BandwidthEstimator, error) {
	algorithm := gbr.Default
	switch l.cc {
	case "pion":
		return piongcc.NewSendSideBWE(
			piongcc.SendSideBWEInitialBitrate(startBps),
			piongcc.SendSideBWEMinBitrate(minBps),
			piongcc.SendSideBWEMaxBitrate(maxBps),
			piongcc.SendSideBWEPacer(piongcc.NewNoOpPacer()),
		)
	case "seed", "gcc": // without telemetry the outer loop is all there is
		algorithm = gbr.Seed
	}

	return interceptor.NewEstimator(
		interceptor.WithAlgorithm(algorithm), interceptor.WithBitrateBounds(minBps, startBps, maxBps))
}

// event tells what happened to a leg that is connected.
func (l *leg) event(text string) {
	text = l.cc + ": " + text
	l.show.line(fmt.Sprintf("%5.1f s  %s", time.Since(l.call.Start()).Seconds(), text))
	l.page.event(text)
}

// connectPhone streams telemetry from the agent into the estimator.
func (l *leg) connectPhone(modem string) error {
	url := modem
	if modem == "sim" {
		var err error
		if l.phone, err = phone.New(l.link.Diag); err != nil {
			return err
		}
		url = l.phone.URL()
	}
	estimator, ok := l.call.Estimator().(*interceptor.Estimator)
	if !ok {
		return fmt.Errorf("%s takes no telemetry", l.cc)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	var err error
	l.client, err = modemlink.NewClient(url, modemlink.ClientConfig{MaxBackoff: time.Second, OnEvent: func(e modemlink.Event) {
		switch {
		case ctx.Err() != nil: // the end of the call is no event
		case e.Kind == modemlink.Connected:
			l.event("agent connected")
		case e.Kind == modemlink.Disconnected:
			l.event("agent lost")
		}
	}})
	if err != nil {
		return err
	}
	l.wg.Go(func() {
		err := l.client.Run(ctx, func(t gbr.Telemetry) {
			l.samples.Add(int64(len(t.Samples)))
			estimator.PushTelemetry(t)
		})
		if ctx.Err() == nil {
			l.event("no telemetry: " + err.Error())
		}
	})

	return nil
}

// checkAgent says so when there was no answer from the agent yet.
func (l *leg) checkAgent() {
	if l.client == nil {
		return
	}
	if s := l.client.Status(); s.Connects == 0 {
		l.event(fmt.Sprintf("no answer from the agent: %v", s.Err))
	}
}

// state is what the page shows of a leg.
type state struct {
	targetBps int
	mode      string
	ratio     float64       // NaN: unknown
	queue     time.Duration // the longest since the state before
	link      live.Snapshot
	stats     peer.Stats
}

// look is called more often than state: every queue should be seen, and not
// only those that a frame in step with state makes.
func (l *leg) look() { l.queue = max(l.queue, l.link.Snapshot().QueueDelay) }

// state is the leg's now, but for the queue.
func (l *leg) state() state {
	s := state{
		targetBps: l.call.Estimator().GetTargetBitrate(),
		mode:      startMode(l.cc), ratio: math.NaN(), queue: l.queue,
		link: l.link.Snapshot(), stats: l.call.Stats(),
	}
	l.queue = 0
	if e, ok := l.call.Estimator().(*interceptor.Estimator); ok && wantsTelemetry(l.cc) {
		t := e.Target()
		s.mode = t.Mode.String()
		if t.RatioOK && t.Mode != gbr.OuterOnly {
			s.ratio = t.Ratio
		}
	}

	return s
}

// close ends everything that the leg started.
func (l *leg) close() error {
	var errs []error
	if l.cancel != nil {
		l.cancel()
	}
	l.wg.Wait()
	if l.phone != nil {
		l.phone.Kill()
	}
	if l.call != nil {
		errs = append(errs, l.call.Close())
	}
	errs = append(errs, l.link.Close())

	return errors.Join(errs...)
}
