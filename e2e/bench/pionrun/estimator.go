// SPDX-License-Identifier: MIT

package pionrun

import (
	"fmt"
	"slices"
	"strings"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/interceptor/pionbwe"
)

// The rows.
const (
	Pion      = "pion"
	PionLeaky = "pion-leaky"
	Own       = "gbrcc-pion"
	OnPion    = "gbrcc-on-pion"
)

// Names lists the rows.
func Names() []string { return []string{Pion, PionLeaky, Own, OnPion} }

// Known tells whether a row is of this package.
func Known(cc string) bool { return slices.Contains(Names(), cc) }

// Doc says in one line what a row is.
func Doc(cc string) string {
	switch cc {
	case Pion:
		return "Pion's GCC in the real Pion stack, with its NoOp pacer"
	case PionLeaky:
		return "the same with its leaky bucket pacer, whose queue is unbounded"
	case Own:
		return "gbrcc in the real Pion stack: what the simulation of it is worth"
	case OnPion:
		return "the same over Pion's GCC in place of ours"
	default:
		return ""
	}
}

// maxPacerQueue is that of our pacer in package sim.
const maxPacerQueue = 2 * time.Second

// leakyFactor is how much faster than the target Pion's leaky bucket is.
const leakyFactor = 1.5

// estimator is one under test: it taps what leaves.
type estimator struct {
	cc.BandwidthEstimator
	own    *interceptor.Estimator // nil for Pion's
	meter  *meter
	limits sim.Limits
	leaky  bool
}

func newEstimator(name string, l sim.Limits, p sim.Params, m *meter, logs logging.LoggerFactory) (*estimator, error) {
	e := &estimator{meter: m, limits: l, leaky: name == PionLeaky}
	var err error
	switch name {
	case Pion:
		e.BandwidthEstimator, err = newPion(l, logs, gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
	case PionLeaky:
		e.BandwidthEstimator, err = newPion(l, logs)
	case Own, OnPion:
		opts := []interceptor.Option{
			interceptor.WithConfig(p.GBR), interceptor.WithBitrateBounds(l.MinBps, l.StartBps, l.MaxBps),
			interceptor.WithMaxQueue(maxPacerQueue), interceptor.WithLoggerFactory(logs),
		}
		if name == OnPion {
			opts = append(opts, interceptor.WithOuter(func() (gbr.Outer, error) {
				bwe, err := newPion(l, logs, gcc.SendSideBWEPacer(gcc.NewNoOpPacer()))
				if err != nil {
					return nil, err
				}

				return pionbwe.New(bwe)
			}))
		}
		e.own, err = interceptor.NewEstimator(opts...)
		e.BandwidthEstimator = e.own
	default:
		err = fmt.Errorf("pionrun: unknown row %q, choose from %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}

	return e, nil
}

// newPion is Pion's GCC within the scenario's limits.
func newPion(l sim.Limits, logs logging.LoggerFactory, more ...gcc.Option) (cc.BandwidthEstimator, error) {
	return gcc.NewSendSideBWE(append(more,
		gcc.SendSideBWEInitialBitrate(l.StartBps), gcc.SendSideBWEMinBitrate(l.MinBps), gcc.SendSideBWEMaxBitrate(l.MaxBps),
		gcc.WithLoggerFactory(logs))...)
}

// AddStream taps a stream between the estimator and SRTP.
func (e *estimator) AddStream(info *pion.StreamInfo, next pion.RTPWriter) pion.RTPWriter {
	tap := pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
		switch h.SSRC {
		case info.SSRC:
			e.meter.leave(stream{h.SSRC, h.SequenceNumber}, h.SequenceNumber, false)
		case info.SSRCRetransmission:
			if len(payload) >= 2 { // RFC 4588 4: the original number comes first
				e.meter.leave(stream{h.SSRC, h.SequenceNumber}, uint16(payload[0])<<8|uint16(payload[1]), true)
			}
		}

		return next.Write(h, payload, a)
	})
	if e.own == nil && info.SSRCRetransmission != 0 {
		// Pion's pacers drop what they were not told of: resends, too.
		again := *info
		again.SSRC, again.SSRCRetransmission = info.SSRCRetransmission, 0
		e.BandwidthEstimator.AddStream(&again, tap)
	}

	return e.BandwidthEstimator.AddStream(info, tap)
}

// WriteRTCP passes feedback on. Pion's estimator calls feedback on packets that
// it has forgotten an error, which would end the application's reading.
func (e *estimator) WriteRTCP(pkts []rtcp.Packet, a pion.Attributes) error {
	_ = e.BandwidthEstimator.WriteRTCP(pkts, a)

	return nil
}

// rates is what the encoder and the pacer obey now. Pion's loss controller does
// not keep to the limits by itself.
func (e *estimator) rates() sim.Rates {
	if e.own != nil {
		t := e.own.Target()

		return sim.Rates{TargetBps: t.BitrateBps, PacingBps: t.PacingBps}
	}
	target := min(max(e.GetTargetBitrate(), e.limits.MinBps), e.limits.MaxBps)
	if e.leaky {
		return sim.Rates{TargetBps: target, PacingBps: int(leakyFactor * float64(target))}
	}

	return sim.Rates{TargetBps: target}
}

// pacerDelay is how long the pacer's queue is in time.
func (e *estimator) pacerDelay() time.Duration {
	if e.own != nil {
		return e.own.PacerDelay()
	}
	r := e.rates()
	if r.PacingBps == 0 {
		return 0
	}

	return time.Duration(float64(e.meter.pacer()) * 8 / float64(r.PacingBps) * float64(time.Second))
}

// hear takes what the modem says. Pion's estimator does not listen.
func (e *estimator) hear(t gbr.Telemetry) {
	if e.own != nil {
		e.own.PushTelemetry(t)
	}
}
