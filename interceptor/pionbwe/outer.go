// SPDX-License-Identifier: MIT

package pionbwe

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

const (
	transportCCURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// extensionID and ssrc are of the stream that the estimator is shown; nobody
	// else sees it.
	extensionID = 1
	ssrc        = 1
	// pacing is how much faster than the rate packets may leave while the inner
	// loop does not say. goog_cc: goog_cc_network_control.
	pacing = 2.5
)

// ErrNoEstimator is New's answer to nil.
var ErrNoEstimator = errors.New("pionbwe: no estimator")

var _ gbr.Outer = (*Outer)(nil)

// Outer is a bandwidth estimator of Pion's as an end-to-end loop.
type Outer struct {
	bwe cc.BandwidthEstimator
	// meter has what Pion's interface does not tell: the acknowledged rate and
	// the round trip.
	meter *gcc.Fixed

	stream   pion.RTPWriter
	header   rtp.Header
	number   []byte // of the extension in header
	zeros    []byte
	feedback feedback

	closing sync.Once
	closed  error
}

// New returns an Outer over bwe, which is the Outer's from then on: it is closed
// with it, and must not be given streams or feedback by others. Its pacer, if it
// has one, must let packets pass at once (gcc.NewNoOpPacer of Pion): what leaves
// is paced already.
func New(bwe cc.BandwidthEstimator) (*Outer, error) {
	if bwe == nil {
		return nil, ErrNoEstimator
	}
	o := &Outer{bwe: bwe, meter: gcc.NewFixed(1), header: rtp.Header{Version: 2, SSRC: ssrc}}
	o.number = make([]byte, 2)
	if err := o.header.SetExtension(extensionID, o.number); err != nil {
		return nil, err
	}
	o.number = o.header.GetExtension(extensionID)
	o.stream = bwe.AddStream(&pion.StreamInfo{
		SSRC: ssrc, RTPHeaderExtensions: []pion.RTPHeaderExtension{{URI: transportCCURI, ID: extensionID}},
	}, pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
		return h.MarshalSize() + len(payload), nil
	}))

	return o, nil
}

// OnPacketSent implements [gbr.Outer].
func (o *Outer) OnPacketSent(now time.Time, p gcc.SentPacket) {
	o.meter.OnPacketSent(now, p)
	seq := uint16(p.Seq) //nolint:gosec // as it is on the wire
	binary.BigEndian.PutUint16(o.number, seq)
	o.header.SequenceNumber = seq
	size := max(0, p.Size-o.header.MarshalSize())
	if size > len(o.zeros) {
		o.zeros = make([]byte, size)
	}
	// It fails when the estimator is closed: then it is at its last rate.
	_, _ = o.stream.Write(&o.header, o.zeros[:size], nil)
}

// OnAcked implements [gbr.Outer]. What is lost waits for the arrivals beside it:
// the estimator takes both from one report.
func (o *Outer) OnAcked(now time.Time, results []gcc.PacketResult) {
	o.meter.OnAcked(now, results)
	for i := range results {
		if !results[i].Received {
			o.feedback.lose(results[i].Seq)
		}
	}
}

// OnDelay implements [gbr.Outer].
func (o *Outer) OnDelay(_ time.Time, results []gcc.PacketResult) {
	if reports := o.feedback.of(results); len(reports) > 0 {
		o.tell(reports)
	}
}

// tell drops the error: Pion's GCC has one for feedback on what it has forgotten,
// and for being closed.
func (o *Outer) tell(reports []rtcp.Packet) { _ = o.bwe.WriteRTCP(reports, nil) }

// OnTimeout implements [gbr.Outer]: the estimator has timers of its own.
func (o *Outer) OnTimeout(time.Time) {}

// NextTimeout implements [gbr.Outer]: never.
func (o *Outer) NextTimeout() time.Time { return time.Time{} }

// SetEstimate implements [gbr.Outer]: the estimator cannot be moved.
func (o *Outer) SetEstimate(time.Time, int) {}

// Estimate implements [gbr.Outer].
func (o *Outer) Estimate() gcc.Estimate {
	e := o.meter.Estimate()
	bps := o.bwe.GetTargetBitrate()
	e.BitrateBps, e.DelayBps, e.LossBps, e.PacingBps = bps, bps, bps, int(pacing*float64(bps))

	return e
}

// GetStats is the estimator's.
func (o *Outer) GetStats() map[string]any { return o.bwe.GetStats() }

// Close closes the estimator, once: Pion's panics the second time.
func (o *Outer) Close() error {
	o.closing.Do(func() { o.closed = o.bwe.Close() })

	return o.closed
}
