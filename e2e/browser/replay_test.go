// SPDX-License-Identifier: MIT

package browser

import (
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/qoe"
)

// figures are those of getStats, in its units: seconds, and ms of Unix time.
// The names are W3C webrtc-stats'.
type figures struct {
	Timestamp                   float64 `json:"timestamp"`
	FramesReceived              int     `json:"framesReceived"`
	FramesDecoded               int     `json:"framesDecoded"`
	FramesDropped               int     `json:"framesDropped"`
	KeyFramesDecoded            int     `json:"keyFramesDecoded"`
	FreezeCount                 int     `json:"freezeCount"`
	TotalFreezesDuration        float64 `json:"totalFreezesDuration"`
	PauseCount                  int     `json:"pauseCount"`
	TotalPausesDuration         float64 `json:"totalPausesDuration"`
	JitterBufferDelay           float64 `json:"jitterBufferDelay"`
	JitterBufferEmittedCount    int     `json:"jitterBufferEmittedCount"`
	JitterBufferTargetDelay     float64 `json:"jitterBufferTargetDelay"`
	JitterBufferMinimumDelay    float64 `json:"jitterBufferMinimumDelay"`
	TotalDecodeTime             float64 `json:"totalDecodeTime"`
	TotalProcessingDelay        float64 `json:"totalProcessingDelay"`
	TotalInterFrameDelay        float64 `json:"totalInterFrameDelay"`
	TotalSquaredInterFrameDelay float64 `json:"totalSquaredInterFrameDelay"`
	TotalAssemblyTime           float64 `json:"totalAssemblyTime"`
	PacketsReceived             int     `json:"packetsReceived"`
	PacketsLost                 int     `json:"packetsLost"`
	NackCount                   int     `json:"nackCount"`
	PliCount                    int     `json:"pliCount"`
	FrameWidth                  int     `json:"frameWidth"`
}

// meanDelay is the mean jitter buffer delay in ms.
func (f figures) meanDelay() float64 { return per(f.JitterBufferDelay, f.JitterBufferEmittedCount) }

// meanTarget is the mean of the delay aimed at, in ms.
func (f figures) meanTarget() float64 {
	return per(f.JitterBufferTargetDelay, f.JitterBufferEmittedCount)
}

func per(seconds float64, n int) float64 {
	if n == 0 {
		return 0
	}

	return seconds / float64(n) * 1000
}

func modelFigures(at time.Time, s qoe.ReceiverStats, packets int) figures {
	return figures{
		Timestamp:                   float64(at.UnixMicro()) / 1000,
		FramesReceived:              s.FramesReceived,
		FramesDecoded:               s.FramesDecoded,
		FramesDropped:               s.FramesDropped,
		KeyFramesDecoded:            s.KeyFramesDecoded,
		FreezeCount:                 s.FreezeCount,
		TotalFreezesDuration:        s.TotalFreezesDuration.Seconds(),
		PauseCount:                  s.PauseCount,
		TotalPausesDuration:         s.TotalPausesDuration.Seconds(),
		JitterBufferDelay:           s.JitterBufferDelay.Seconds(),
		JitterBufferEmittedCount:    s.JitterBufferEmittedCount,
		JitterBufferTargetDelay:     s.JitterBufferTargetDelay.Seconds(),
		JitterBufferMinimumDelay:    s.JitterBufferMinimumDelay.Seconds(),
		TotalDecodeTime:             s.TotalDecodeTime.Seconds(),
		TotalProcessingDelay:        s.TotalProcessingDelay.Seconds(),
		TotalInterFrameDelay:        s.TotalInterFrameDelay.Seconds(),
		TotalSquaredInterFrameDelay: s.TotalSquaredInterFrameDelay,
		PacketsReceived:             packets,
		PliCount:                    s.KeyFrameRequests,
	}
}

// inOrder is what left the socket in order of time.
func inOrder(log []sent) []sent {
	return slices.SortedStableFunc(slices.Values(log), func(a, b sent) int { return a.at.Compare(b.at) })
}

// replay gives a receiver what was sent, and returns its figures at given
// times, which are in order.
func replay(cfg qoe.ReceiverConfig, log []sent, rtts []roundTrip, at []time.Time) []figures {
	log = inOrder(log)
	r := qoe.NewReceiver(cfg)
	out := make([]figures, 0, len(at))
	packets := 0
	for _, t := range at {
		for ; packets < len(log) && !log[packets].at.After(t); packets++ {
			p := log[packets]
			for ; len(rtts) > 0 && !rtts[0].at.After(p.at); rtts = rtts[1:] {
				r.OnRTT(rtts[0].at, rtts[0].rtt)
			}
			r.OnPacket(p.at, qoe.PacketInfo{
				Frame: int64(p.frame), Index: p.index, Count: p.count, RTPTimestamp: p.rtp,
				KeyFrame: p.key, Size: p.size, Retransmitted: p.asked,
			})
		}
		if packets > 0 {
			r.OnTimeout(t)
		}
		out = append(out, modelFigures(t, r.Stats(), packets))
	}

	return out
}
