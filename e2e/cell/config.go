// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// ErrConfig is wrapped by every error of New.
var ErrConfig = errors.New("cell: bad config")

// Config describes a cell. Start and Capacity are required; a zero in any
// other field means the default given with it.
type Config struct {
	// Start is the beginning of TTI 0, and of the trace. Two cells with the
	// same Start and Capacity have the same capacity at the same time.
	Start time.Time
	// Seed drives everything random: first SFN, SR phase, block errors,
	// handovers, path loss and jitter, telemetry faults. Each has its own
	// stream of numbers, so that one leaves the others alone.
	Seed uint64
	// Radio is the air interface; LTEFDD. What is said of TTIs below holds for
	// its slots.
	Radio Radio
	// Capacity is what this phone can send, per TTI on air, headers of RLC
	// and MAC included; an uplink slot of TDD has what came up since the one
	// before. At most 65,535 bytes a TTI, 262,143 a slot of NR.
	Capacity Trace

	// Second is what a second carrier can send beside it (carrier aggregation);
	// none. Both are granted in the same slot, each has its HARQ, and reports are
	// of what both leave. Not in a Shared cell.
	Second Trace

	// BSRPeriod is periodicBSR-Timer, whole milliseconds or diag.Infinite; 5 ms.
	BSRPeriod time.Duration
	// RetxBSR is retxBSR-Timer, whole milliseconds; 320 ms.
	RetxBSR time.Duration
	// ExtendedBSR selects the table of extendedBSR-Sizes-r10. Without it any
	// backlog above 150 kB reads as index 63. On NR it has the phone send long
	// BSRs, as with data in several groups: 8 bits up to 81 MB in place of 5
	// up to 150 kB.
	ExtendedBSR bool

	// SRPeriod is the distance of the scheduling request occasions, whole
	// milliseconds; 20 ms. Their phase comes from Seed.
	SRPeriod time.Duration
	// SRGrantBytes is what the base station grants on a request, not knowing
	// how much there is, and on a poll; 512, as in open base stations. Below
	// 64 it counts as 64.
	SRGrantBytes int

	// ReportTTIs is from a report or request on air to the scheduler; 4, NRFDD 3.
	ReportTTIs int
	// GrantTTIs is from the scheduler's grant to the PUSCH; 4, NRFDD 3.
	// TS 36.213 8 (FDD: n+4). With TDD it is the least: the grant goes out in
	// the last slot downlink that is so far ahead (k2 of TS 38.214 6.1.2.1).
	GrantTTIs int

	// BufferBytes is the phone's buffer, drop-tail; 1.5 MB.
	BufferBytes int
	// BLER is the block error rate of first transmissions, 0..0.5. Each
	// retransmission errs ten times less. Default 0.
	BLER float64
	// OtherAppsBps is constant traffic of other apps on the phone, in packets
	// of 600 bytes through the same queue. They are never delivered. Default 0.
	OtherAppsBps int

	// RLC is for blocks that HARQ cannot save; none.
	RLC RLCConfig
	// Handovers are those planned, in order; none. RandomHandovers are in
	// their place.
	Handovers       []Handover
	RandomHandovers RandomHandovers
	// Outages are times without radio, in order; none.
	Outages []Outage

	Path      PathConfig
	Telemetry TelemetryConfig
}

// PathConfig is the way from the base station to the far end. It keeps the
// order of packets unless Reorder says otherwise.
type PathConfig struct {
	// Delay is from the end of the TTI in which the base station has the
	// packet to the far end, decoding included; 25 ms. Negative: none.
	Delay time.Duration
	// Delays changes it during the run; times ascend.
	Delays []DelayStep
	// RateBps is a bottleneck behind the radio; 0 is none.
	RateBps int
	// RateFrom is how long after Start that bottleneck appears; at once.
	RateFrom time.Duration
	// Rate is a bottleneck whose rate changes, in place of the two above: one
	// step after the other from Start on, and the last one for good. A step
	// of 0 bit/s has no bottleneck.
	Rate []Step
	// QueueBytes is the bottleneck's buffer, drop-tail; 200 ms of its highest
	// rate, but at least 15,000 bytes.
	QueueBytes int
	// AQM manages that buffer; DropTail.
	AQM AQM
	// Loss is the share of packets lost at random, 0..1.
	Loss float64
	// Burst loses packets in bursts, besides; none.
	Burst GilbertElliott
	// JitterMax adds a delay uniform in 0..JitterMax; none.
	JitterMax time.Duration
	// Reorder delays some packets so that others overtake them; none.
	Reorder Reorder
}

// TelemetryConfig is how the modem's log gets out. The modem logs each PUSCH
// in B139 and, with its BSR, in B064 (on NR: in B883 and B872, to which what is
// said of the two applies); it commits a packet of either when the
// packet is full or old enough, and all its records carry that moment.
type TelemetryConfig struct {
	// Off gives no telemetry at all.
	Off bool
	// Encoded gives Output.Diag instead of Output.Records. On LTE only: the
	// layouts of NR's log codes are not known well enough to be written.
	Encoded bool

	// B139Records and B139Span commit a grant packet: 10 records or 10 ms
	// since the first one, as measured on phones.
	B139Records int
	B139Span    time.Duration
	// B064Samples and B064Span commit a report packet: 25 samples or 10 ms.
	// The span bounds the age of every BSR, hence of every ratio: 10 ms is a
	// modem drained for low latency, 102 ms what a phone does by itself
	// (BatchedTelemetry).
	B064Samples int
	B064Span    time.Duration

	// Delay is from commit to a reader of the diagnostic port; 3 ms.
	// Negative: none.
	Delay time.Duration
	// JitterMax adds a delay uniform in 0..JitterMax; 1 ms. Negative: none.
	JitterMax time.Duration
	// BurstEvery is how often the port gives out what it has, from Start on;
	// at once.
	BurstEvery time.Duration

	// Faults is what goes wrong; nothing.
	Faults TelemetryFaults
}

const (
	tti = time.Millisecond
	// minTB is the smallest grant. Capacity that comes in smaller pieces is
	// saved up, as a scheduler gives a block now and then instead of a few
	// bytes each TTI.
	minTB = 64
)

// withDefaults fills in the defaults and checks the limits.
func (c Config) withDefaults() (Config, error) {
	setDuration(&c.BSRPeriod, 5*time.Millisecond)
	setDuration(&c.RetxBSR, 320*time.Millisecond)
	setDuration(&c.SRPeriod, 20*time.Millisecond)
	setInt(&c.SRGrantBytes, 512)
	radio, _ := c.Radio.traits()
	setInt(&c.ReportTTIs, radio.report)
	setInt(&c.GrantTTIs, radio.grant)
	setInt(&c.BufferBytes, 1_500_000)
	setDuration(&c.Path.Delay, 25*time.Millisecond)
	c.RLC.setDefaults()
	c.setMobility()
	c.Path.setDefaults()
	t := &c.Telemetry
	setInt(&t.B139Records, 10)
	setDuration(&t.B139Span, 10*time.Millisecond)
	setInt(&t.B064Samples, 25)
	setDuration(&t.B064Span, 10*time.Millisecond)
	setDuration(&t.Delay, 3*time.Millisecond)
	setDuration(&t.JitterMax, time.Millisecond)
	t.Faults.setDefaults()
	t.Delay = max(t.Delay, 0)
	t.JitterMax = max(t.JitterMax, 0)
	return c, c.validate()
}

// setDefaults fills in all but the delay.
func (p *PathConfig) setDefaults() {
	setInt(&p.QueueBytes, max(p.peakBps()/8/5, 15_000))
	p.Delay = max(p.Delay, 0)
}

func setDuration(d *time.Duration, def time.Duration) {
	if *d == 0 {
		*d = def
	}
}

func setInt(n *int, def int) {
	if *n == 0 {
		*n = def
	}
}

// bad makes an error of New and its like.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
}

// checkCapacity is for a phone whose capacity is a trace.
func (c Config) checkCapacity() error {
	peak, some := c.Capacity.peak()
	second, _ := c.Second.peak()
	peak = max(peak, second)
	if !some {
		return bad("no capacity: trace %q carries nothing", c.Capacity.Name)
	}
	radio, _ := c.Radio.traits()
	// A slot of TDD has several milliseconds' bytes.
	slot := peak
	if f := newFrame(c.Radio, 1); f.ups < f.n {
		slot = peak * int(f.n*f.micros()/f.ups+1999) / 1000
	}
	highest := c.highestFactor()
	switch {
	case slot > radio.maxTB:
		return bad("trace %q has %d bytes in one TTI, more than a transport block of %v can hold (%d)", c.Capacity.Name, slot, c.Radio, radio.maxTB)
	case highest != 1 && float64(slot+1)*highest > float64(radio.maxTB):
		return bad("a handover to %v of the rate makes more of trace %q than a transport block can hold (%d)", highest, c.Capacity.Name, radio.maxTB)
	}
	return nil
}

func (c Config) validate() error {
	wholeMs := func(d time.Duration) bool { return d >= tti && d <= time.Minute && d%tti == 0 }
	radio, ok := c.Radio.traits()
	switch {
	case !ok:
		return bad("radio %d", c.Radio)
	case c.Start.IsZero():
		return bad("no start time")
	case !wholeMs(c.BSRPeriod) && c.BSRPeriod != diag.Infinite:
		return bad("BSR period %v is not whole milliseconds from 1 ms to 1 min", c.BSRPeriod)
	case !wholeMs(c.RetxBSR):
		return bad("retx BSR timer %v is not whole milliseconds from 1 ms to 1 min", c.RetxBSR)
	case !wholeMs(c.SRPeriod):
		return bad("SR period %v is not whole milliseconds from 1 ms to 1 min", c.SRPeriod)
	case c.SRGrantBytes < 0 || c.SRGrantBytes > radio.maxTB:
		return bad("SR grant of %d bytes", c.SRGrantBytes)
	case c.ReportTTIs < 1 || c.ReportTTIs > radio.maxLag || c.GrantTTIs < 1 || c.GrantTTIs > radio.maxLag:
		return bad("lags of %d and %d TTIs are not within 1..%d", c.ReportTTIs, c.GrantTTIs, radio.maxLag)
	case c.BufferBytes < 0 || c.BufferBytes > 1<<30:
		return bad("buffer of %d bytes", c.BufferBytes)
	case !(c.BLER >= 0 && c.BLER <= 0.5): // also catches NaN
		return bad("BLER %v is not within 0..0.5", c.BLER)
	case c.Telemetry.Encoded && !c.Telemetry.Off && radio.rat == diag.NR:
		return bad("telemetry of %v cannot be encoded, only given as records", c.Radio)
	case c.OtherAppsBps < 0 || c.OtherAppsBps > 1e9:
		return bad("other apps' rate %d bit/s", c.OtherAppsBps)
	}
	if err := c.RLC.validate(bad); err != nil {
		return err
	}
	if err := c.validateMobility(bad); err != nil {
		return err
	}
	if err := c.Path.validate(bad); err != nil {
		return err
	}
	return c.Telemetry.validate(bad)
}

func (p PathConfig) validate(bad func(string, ...any) error) error {
	switch {
	case p.Delay > time.Hour || p.JitterMax < 0 || p.JitterMax > time.Hour:
		return bad("path delay %v with jitter %v", p.Delay, p.JitterMax)
	case p.RateBps < 0 || p.RateBps > 2e9 || p.RateFrom < 0:
		return bad("path rate %d bit/s from %v on", p.RateBps, p.RateFrom)
	case p.QueueBytes < 0 || p.QueueBytes > 1<<30:
		return bad("path queue of %d bytes", p.QueueBytes)
	case !(p.Loss >= 0 && p.Loss <= 1):
		return bad("path loss %v is not within 0..1", p.Loss)
	case p.AQM > CoDel:
		return bad("path AQM %d", p.AQM)
	}
	if err := p.validateRate(bad); err != nil {
		return err
	}
	return p.validateImpairments(bad)
}

func (t TelemetryConfig) validate(bad func(string, ...any) error) error {
	// 31 and 255 are what the count fields of the two packets can hold.
	switch {
	case t.B139Records < 1 || t.B139Records > 31:
		return bad("%d records in a B139 packet are not within 1..31", t.B139Records)
	case t.B064Samples < 1 || t.B064Samples > 255:
		return bad("%d samples in a B064 packet are not within 1..255", t.B064Samples)
	case t.B139Span < 0 || t.B139Span > time.Hour || t.B064Span < 0 || t.B064Span > time.Hour:
		return bad("telemetry spans %v and %v", t.B139Span, t.B064Span)
	case t.Delay > time.Hour || t.JitterMax > time.Hour:
		return bad("telemetry delay %v with jitter %v", t.Delay, t.JitterMax)
	case t.BurstEvery < 0 || t.BurstEvery > time.Hour:
		return bad("telemetry in bursts every %v", t.BurstEvery)
	}
	return t.Faults.validate(bad)
}
