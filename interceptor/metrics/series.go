// SPDX-License-Identifier: MIT

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gbrcc/gbrcc/interceptor"
)

// series is what a stat is called and how it is shown.
type series struct {
	stat string
	name string // without the prefix
	help string
	kind prometheus.ValueType
	// scale turns the stat's unit into the series', 0 is 1.
	scale float64
	// positive leaves out 0, zero and below mean unknown; known leaves out -1.
	positive, known bool
	// label names the label that a text has: the series is 1 then.
	label string
}

const fromMs = float64(time.Millisecond) / float64(time.Second)

// all returns a series for every key of GetStats.
func all() []series {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue

	return []series{
		{stat: interceptor.StatTargetBitrate, name: "target_bitrate_bps", help: "What the encoder should make.", kind: gauge},
		{stat: interceptor.StatPacingBitrate, name: "pacing_bitrate_bps", help: "The pacer's rate.", kind: gauge},
		{stat: interceptor.StatAckedBitrate, name: "acked_bitrate_bps", help: "What arrived lately.", kind: gauge},
		{stat: interceptor.StatDelayTargetBitrate, name: "delay_limit_bitrate_bps", help: "The end-to-end loop's limit by delay.", kind: gauge},
		{stat: interceptor.StatLossTargetBitrate, name: "loss_limit_bitrate_bps", help: "The end-to-end loop's limit by loss.", kind: gauge},
		{stat: interceptor.StatAverageLoss, name: "loss_ratio", help: "Share of packets lost lately.", kind: gauge},
		{stat: interceptor.StatUsage, name: "usage", help: "1 for what the overuse detector sees.", kind: gauge, label: "usage"},
		{stat: interceptor.StatState, name: "state", help: "1 for what the rate control does.", kind: gauge, label: "state"},
		{stat: interceptor.StatRTT, name: "round_trip_seconds", help: "Round-trip time.", kind: gauge, scale: fromMs, positive: true},
		{stat: interceptor.StatMode, name: "mode", help: "1 for who steers.", kind: gauge, label: "mode"},
		{stat: interceptor.StatRatio, name: "grant_ratio", help: "Bytes granted per byte reported by the modem.", kind: gauge, known: true},
		{stat: interceptor.StatRadioQueueDelay, name: "radio_queue_seconds", help: "Time a byte waits in the phone.", kind: gauge, scale: fromMs, positive: true},
		{stat: interceptor.StatTelemetryAge, name: "telemetry_age_seconds", help: "Age of the newest sample on arrival.", kind: gauge, scale: fromMs, positive: true},
		{stat: interceptor.StatPacerPackets, name: "pacer_packets", help: "Packets waiting in the pacer.", kind: gauge},
		{stat: interceptor.StatPacerBytes, name: "pacer_bytes", help: "Bytes waiting in the pacer.", kind: gauge},
		{stat: interceptor.StatPacerDelay, name: "pacer_queue_seconds", help: "The pacer's queue at its rate.", kind: gauge, scale: fromMs},
		{stat: interceptor.StatPacketsSent, name: "sent_packets_total", help: "Packets sent, of all kinds.", kind: counter},
		{stat: interceptor.StatBytesSent, name: "sent_bytes_total", help: "Bytes sent, headers included.", kind: counter},
		{stat: interceptor.StatRetransmissionsSent, name: "retransmitted_packets_total", help: "RTX packets sent.", kind: counter},
		{stat: interceptor.StatPaddingSent, name: "padding_packets_total", help: "Packets of padding sent for probes.", kind: counter},
		{stat: interceptor.StatRetransmittedBytesSent, name: "retransmitted_bytes_total", help: "Bytes of RTX packets sent.", kind: counter},
		{stat: interceptor.StatFECPacketsSent, name: "fec_packets_total", help: "FEC packets sent.", kind: counter},
		{stat: interceptor.StatFECBytesSent, name: "fec_bytes_total", help: "Bytes of FEC packets sent.", kind: counter},
		{stat: interceptor.StatRepairShare, name: "repair_ratio", help: "Share of RTX and FEC in what was sent lately.", kind: gauge},
		{stat: interceptor.StatPacketsUntracked, name: "untracked_packets_total", help: "Packets sent that no feedback reports on.", kind: counter},
		{stat: interceptor.StatPacketsRefused, name: "refused_packets_total", help: "Packets dropped by the full pacer.", kind: counter},
		{stat: interceptor.StatFramesRefused, name: "refused_frames_total", help: "Video frames dropped by the full pacer.", kind: counter},
		{stat: interceptor.StatSkipAdvice, name: "skip_advice_total", help: "Times the encoder was asked to leave out frames.", kind: counter},
		{stat: interceptor.StatKeyFrameAdvice, name: "key_frame_advice_total", help: "Times the encoder was asked for a key frame.", kind: counter},
		{stat: interceptor.StatPacketsUnsent, name: "unsent_packets_total", help: "Packets the transport did not take.", kind: counter},
		{stat: interceptor.StatFeedbackReports, name: "feedback_reports_total", help: "Feedback reports that said something new.", kind: counter},
		{stat: interceptor.StatFeedbackMalformed, name: "feedback_malformed_total", help: "Feedback reports that could not be read.", kind: counter},
		{stat: interceptor.StatFeedbackUnknown, name: "feedback_unknown_total", help: "Statuses of packets that nobody knows.", kind: counter},
		{stat: interceptor.StatFeedbackRepeated, name: "feedback_repeated_total", help: "Statuses that were told before.", kind: counter},
		{stat: interceptor.StatFeedbackUntimed, name: "feedback_untimed_total", help: "Packets received at an unknown time.", kind: counter},
		{stat: interceptor.StatSamplesUsed, name: "samples_used_total", help: "Modem samples steered by.", kind: counter},
		{stat: interceptor.StatSamplesIdle, name: "samples_idle_total", help: "Modem samples of an empty queue.", kind: counter},
		{stat: interceptor.StatSamplesDropped, name: "samples_dropped_total", help: "Modem samples that were stale, repeated or impossible.", kind: counter},
	}
}
