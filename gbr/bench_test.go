// SPDX-License-Identifier: MIT

package gbr_test

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

func dual(b *testing.B) *gbr.Estimator {
	b.Helper()
	outer, err := gcc.New(gcc.Config{})
	if err != nil {
		b.Fatal(err)
	}
	e, err := gbr.NewEstimator(outer, gbr.Config{})
	if err != nil {
		b.Fatal(err)
	}

	return e
}

// BenchmarkOnSample is one sample through the dual-loop estimator.
func BenchmarkOnSample(b *testing.B) {
	e := dual(b)
	now := epoch
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(T)
		e.OnSample(now, sampleAt(now, time.Duration(5+i%60)*time.Millisecond))
	}
}

// BenchmarkOnFeedback is one packet sent and acknowledged, ten to a report.
func BenchmarkOnFeedback(b *testing.B) {
	e := dual(b)
	const perReport = 10
	results := make([]gcc.PacketResult, perReport)
	now := epoch
	var arrival gcc.RemoteTime
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(time.Millisecond)
		arrival = arrival.Add(time.Millisecond)
		p := gcc.SentPacket{Seq: int64(i), Size: 1250, At: now}
		e.OnPacketSent(now, p)
		results[i%perReport] = gcc.PacketResult{SentPacket: p, Received: true, Arrival: arrival}
		if i%perReport == perReport-1 {
			e.OnFeedback(now.Add(50*time.Millisecond), gcc.Feedback{Packets: results})
		}
	}
}
