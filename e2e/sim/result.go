// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"slices"

	"github.com/gbrcc/gbrcc/qoe"
)

// Result is one run. Rates are Mbit/s, times ms, ratios 0..1; a figure that
// does not exist (no frame was ever rendered) is 0.
type Result struct {
	Scenario  string  `json:"scenario"`
	Class     string  `json:"class"`
	CC        string  `json:"cc"`
	Seed      uint64  `json:"seed"`
	DurationS float64 `json:"duration_s"`
	// CapacityMbps is what the radio could carry after warm-up.
	CapacityMbps float64 `json:"capacity_mbps"`
	// GoodputMbps is media payload first received after warm-up, per second.
	GoodputMbps float64 `json:"goodput_mbps"`
	Utilization float64 `json:"utilization"`
	// Playout latency is capture to render.
	PlayoutP50 float64 `json:"playout_ms_p50"`
	PlayoutP95 float64 `json:"playout_ms_p95"`
	PlayoutP99 float64 `json:"playout_ms_p99"`
	// UEQueue is a packet's time in the phone, SenderQueue in pacer and phone.
	UEQueueP50     float64 `json:"ue_queue_ms_p50"`
	UEQueueP95     float64 `json:"ue_queue_ms_p95"`
	UEQueueMax     float64 `json:"ue_queue_ms_max"`
	SenderQueueP50 float64 `json:"sender_queue_ms_p50"`
	SenderQueueP95 float64 `json:"sender_queue_ms_p95"`
	SenderQueueMax float64 `json:"sender_queue_ms_max"`
	RTTP50         float64 `json:"rtt_ms_p50"`
	RTTP95         float64 `json:"rtt_ms_p95"`
	FreezeCount    int     `json:"freeze_count"`
	FreezeRatio    float64 `json:"freeze_ratio"`
	FramesSent     int     `json:"frames_sent"`
	FramesRendered int     `json:"frames_rendered"`
	LossRatio      float64 `json:"loss_ratio"`
	// KeyFrameRequests is how often the viewer could not go on without one.
	KeyFrameRequests int     `json:"key_frame_requests"`
	TargetMean       float64 `json:"target_mbps_mean"`
	// TargetCV is the encoder target's coefficient of variation.
	TargetCV float64 `json:"target_cv"`
	// TargetMoves is how often a second, at the frames, the target was more than
	// 10 % from where it was when last counted.
	TargetMoves float64 `json:"target_moves_per_s"`
	// RiseS is how long, in s, after the radio's last leap until nine tenths of
	// what it carries then arrived for 200 ms, headers included and without what
	// had waited; the rest of the run if never, 0 without a leap.
	RiseS float64 `json:"rise_s"`
	// Samples counts the ratio samples that reached the algorithm.
	Samples int `json:"samples"`

	// Flows is how many send in the measured call's direction, it included.
	Flows int `json:"flows"`
	// FlowGoodputs is each flow's payload per second of its time after warm-up
	// in Mbit/s, the measured one first, as "main=2.413 gcc-1=1.220". Those in
	// the other direction come last, with an arrow.
	FlowGoodputs string `json:"flow_goodputs_mbps"`
	// JainIndex of those goodputs is 1 when they are equal and one over their
	// number when one has it all; without short transfers, and flows that were
	// there for less than 5 s after warm-up. R. Jain et al., DEC TR-301, 1984.
	JainIndex float64 `json:"jain_index"`
	// FairShare is the measured goodput over the mean of the same: 1 is fair.
	FairShare float64 `json:"fair_share"`

	// The clairvoyant sender on the same trace and seed, one frame ahead.
	OracleGoodput    float64 `json:"oracle_goodput_mbps"`
	OraclePlayoutP50 float64 `json:"oracle_playout_ms_p50"`
	OraclePlayoutP95 float64 `json:"oracle_playout_ms_p95"`
	// OraclePlayoutAtGoodput is the clairvoyant's median playout latency at
	// this run's goodput, on the frontier over its horizons.
	OraclePlayoutAtGoodput float64 `json:"oracle_playout_ms_at_goodput"`
}

// SetOracle fills the comparison from the clairvoyant's runs over its horizons,
// the shortest first.
func (r *Result) SetOracle(frontier []Result) {
	if len(frontier) == 0 {
		return
	}
	first := frontier[0]
	r.OracleGoodput, r.OraclePlayoutP50, r.OraclePlayoutP95 = first.GoodputMbps, first.PlayoutP50, first.PlayoutP95
	r.OraclePlayoutAtGoodput = interpolate(frontier, r.GoodputMbps)
}

// interpolate reads the median playout latency at a goodput off the frontier.
// Outside of it the nearest end holds: a slower clairvoyant would not be later
// than its fastest.
func interpolate(frontier []Result, goodput float64) float64 {
	pts := slices.Clone(frontier)
	slices.SortFunc(pts, func(a, b Result) int {
		switch {
		case a.GoodputMbps < b.GoodputMbps:
			return -1
		case a.GoodputMbps > b.GoodputMbps:
			return 1
		default:
			return 0
		}
	})
	if goodput <= pts[0].GoodputMbps {
		return pts[0].PlayoutP50
	}
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		if goodput <= b.GoodputMbps && b.GoodputMbps > a.GoodputMbps {
			f := (goodput - a.GoodputMbps) / (b.GoodputMbps - a.GoodputMbps)

			return a.PlayoutP50 + f*(b.PlayoutP50-a.PlayoutP50)
		}
	}

	return pts[len(pts)-1].PlayoutP50
}

// at is a quantile, 0 for an empty series.
func at(s *qoe.Series, q float64) float64 { return orElse(s.Quantile(q), 0) }

// orElse stands in for what is not known: JSON has no NaN.
func orElse(v, otherwise float64) float64 {
	if math.IsNaN(v) {
		return otherwise
	}

	return v
}

// result sums up.
func (w *world) result() Result {
	c := w.main
	counted := w.sc.Duration - w.sc.Warmup
	capacity := w.capacityBps()
	res := Result{
		Scenario: w.sc.Name, Class: w.sc.Class, CC: c.spec.CC, Seed: w.seed,
		DurationS:    w.sc.Duration.Seconds(),
		CapacityMbps: float64(capacity) / 1e6,
		GoodputMbps:  float64(c.good) * 8 / counted.Seconds() / 1e6,
		Samples:      c.phone.samples,
	}
	if capacity > 0 {
		res.Utilization = res.GoodputMbps / res.CapacityMbps
	}
	res.FramesSent, res.FramesRendered = c.framesSent, c.viewer.rendered
	res.FreezeCount, res.FreezeRatio = c.viewer.frozen()
	res.KeyFrameRequests = c.viewer.asked
	playout := &c.viewer.playout
	res.PlayoutP50, res.PlayoutP95, res.PlayoutP99 = at(playout, 0.5), at(playout, 0.95), at(playout, 0.99)
	res.UEQueueP50, res.UEQueueP95, res.UEQueueMax = at(&c.ueQueue, 0.5), at(&c.ueQueue, 0.95), at(&c.ueQueue, 1)
	res.SenderQueueP50, res.SenderQueueP95, res.SenderQueueMax = at(&c.senderQueue, 0.5), at(&c.senderQueue, 0.95), at(&c.senderQueue, 1)
	res.RTTP50, res.RTTP95 = at(&c.rtt, 0.5), at(&c.rtt, 0.95)
	if c.sent > 0 {
		res.LossRatio = float64(c.lost) / float64(c.sent)
	}
	w.share(&res)
	res.TargetMean, res.TargetCV = orElse(c.targets.Mean(), 0)/1e6, orElse(c.targets.CV(), 0)
	res.TargetMoves = float64(c.moves) / counted.Seconds()
	res.RiseS = c.climb.seconds(w)

	return res
}
