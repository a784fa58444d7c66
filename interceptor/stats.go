// SPDX-License-Identifier: MIT

package interceptor

import "time"

// Keys of [Estimator.GetStats], with the type of the value.
const (
	// StatTargetBitrate is the encoder's rate, StatPacingBitrate the pacer's,
	// StatAckedBitrate what arrived lately: int, bit/s.
	StatTargetBitrate = "targetBitrate"
	StatPacingBitrate = "pacingBitrate"
	StatAckedBitrate  = "ackedBitrate"
	// StatDelayTargetBitrate and StatLossTargetBitrate are the two limits of
	// the outer loop: int, bit/s.
	StatDelayTargetBitrate = "delayTargetBitrate"
	StatLossTargetBitrate  = "lossTargetBitrate"
	// StatAverageLoss is the share of lost packets: float64, 0..1.
	StatAverageLoss = "averageLoss"
	// StatUsage and StatState are the outer loop's detector and rate control:
	// string.
	StatUsage = "usage"
	StatState = "state"
	// StatRTT is the round-trip time: float64, ms; 0 when unknown.
	StatRTT = "rtt"
	// StatMode tells who steers, see [gbr.Mode]: string.
	StatMode = "mode"
	// StatRatio is granted / reported: float64; -1 when unknown.
	StatRatio = "ratio"
	// StatRadioQueueDelay is the time a byte waits in the phone: float64, ms; 0
	// when unknown.
	StatRadioQueueDelay = "radioQueueDelay"
	// StatTelemetryAge is the age of the newest used sample when it arrived:
	// float64, ms.
	StatTelemetryAge = "telemetryAge"

	// StatPacerPackets, StatPacerBytes and StatPacerDelay are what waits in the
	// pacer: int, int, float64 ms.
	StatPacerPackets = "pacerPackets"
	StatPacerBytes   = "pacerBytes"
	StatPacerDelay   = "pacerDelay"
	// StatPacketsSent and StatBytesSent count what has left, headers included:
	// int64. StatRetransmissionsSent are the RTX packets among them.
	StatPacketsSent         = "packetsSent"
	StatBytesSent           = "bytesSent"
	StatRetransmissionsSent = "retransmissionsSent"
	// StatPaddingSent counts the packets of padding among them: int64.
	StatPaddingSent = "paddingSent"
	// StatRetransmittedBytesSent are the bytes of RTX packets,
	// StatFECPacketsSent and StatFECBytesSent those of FEC: int64.
	// StatRepairShare is what both took of all that was sent lately, and what
	// the encoder's target leaves out: float64, 0..0.5.
	StatRetransmittedBytesSent = "retransmittedBytesSent"
	StatFECPacketsSent         = "fecPacketsSent"
	StatFECBytesSent           = "fecBytesSent"
	StatRepairShare            = "repairShare"
	// StatPacketsUntracked counts the packets among the sent ones that no
	// feedback will report on: int64.
	StatPacketsUntracked = "packetsUntracked"
	// StatPacketsRefused counts packets dropped by the full pacer: int64.
	StatPacketsRefused = "packetsRefused"
	// StatFramesRefused counts the video frames among them: once a packet is
	// dropped the rest of its frame is. StatSkipAdvice and StatKeyFrameAdvice
	// count how often the encoder was asked to leave out frames, and for a key
	// frame: int64.
	StatFramesRefused  = "framesRefused"
	StatSkipAdvice     = "skipAdvice"
	StatKeyFrameAdvice = "keyFrameAdvice"
	// StatPacketsUnsent counts packets that the next writer failed on or did
	// not send because the transport is not up: int64.
	StatPacketsUnsent = "packetsUnsent"

	// StatFeedbackReports counts the reports that said something new,
	// StatFeedbackMalformed those that could not be read: int64.
	StatFeedbackReports   = "feedbackReports"
	StatFeedbackMalformed = "feedbackMalformed"
	// StatFeedbackUnknown, StatFeedbackRepeated and StatFeedbackUntimed count
	// packet statuses: of packets not in the history, of packets settled
	// before, and received at an unknown time: int64.
	StatFeedbackUnknown  = "feedbackUnknown"
	StatFeedbackRepeated = "feedbackRepeated"
	StatFeedbackUntimed  = "feedbackUntimed"

	// StatSamplesUsed, StatSamplesIdle and StatSamplesDropped count telemetry
	// samples: int64. Dropped are the stale, repeated and impossible ones.
	StatSamplesUsed    = "samplesUsed"
	StatSamplesIdle    = "samplesIdle"
	StatSamplesDropped = "samplesDropped"
)

// counters are what the Estimator itself counts.
type counters struct {
	packetsSent, bytesSent, rtxSent, untracked int64
	rtxBytes, fecSent, fecBytes, padding       int64
	refused, framesRefused, unsent             int64
	reports, malformed                         int64
}

// GetStats implements cc.BandwidthEstimator. The keys are the Stat constants.
func (e *Estimator) GetStats() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, samples := e.core.Target(), e.core.Stats()
	ratio := -1.0
	if t.RatioOK {
		ratio = t.Ratio
	}

	return map[string]any{
		StatTargetBitrate:      e.encoderBps,
		StatPacingBitrate:      t.PacingBps,
		StatAckedBitrate:       t.Outer.AckedBps,
		StatDelayTargetBitrate: t.Outer.DelayBps,
		StatLossTargetBitrate:  t.Outer.LossBps,
		StatAverageLoss:        t.Outer.LossRatio,
		StatUsage:              t.Outer.Usage.String(),
		StatState:              t.Outer.State.String(),
		StatRTT:                milliseconds(t.Outer.RTT),
		StatMode:               t.Mode.String(),
		StatRatio:              ratio,
		StatRadioQueueDelay:    milliseconds(t.QueueDelay),
		StatTelemetryAge:       milliseconds(t.TelemetryAge),

		StatPacerPackets:           e.pacer.Len(),
		StatPacerBytes:             e.pacer.Bytes(),
		StatPacerDelay:             milliseconds(e.pacer.Delay()),
		StatPacketsSent:            e.count.packetsSent,
		StatBytesSent:              e.count.bytesSent,
		StatRetransmissionsSent:    e.count.rtxSent,
		StatPaddingSent:            e.count.padding,
		StatRetransmittedBytesSent: e.count.rtxBytes,
		StatFECPacketsSent:         e.count.fecSent,
		StatFECBytesSent:           e.count.fecBytes,
		StatRepairShare:            e.repair.share(),
		StatPacketsUntracked:       e.count.untracked,
		StatPacketsRefused:         e.count.refused,
		StatFramesRefused:          e.count.framesRefused,
		StatSkipAdvice:             e.advice.skips,
		StatKeyFrameAdvice:         e.advice.keys,
		StatPacketsUnsent:          e.count.unsent,

		StatFeedbackReports:   e.count.reports,
		StatFeedbackMalformed: e.count.malformed,
		StatFeedbackUnknown:   e.reader.unknown,
		StatFeedbackRepeated:  e.reader.repeated,
		StatFeedbackUntimed:   e.reader.untimed,

		StatSamplesUsed:    samples.Used,
		StatSamplesIdle:    samples.Idle,
		StatSamplesDropped: samples.Stale + samples.Duplicate + samples.Invalid,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
