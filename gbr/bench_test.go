// SPDX-License-Identifier: MIT

package gbr_test

import (
	"strconv"
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

// BenchmarkMany is what many estimators make of a second each: 500 packets in 30
// frames, three packets at a time, 20 reports and 200 samples. With a thousand of
// them nothing of one is still in the processor's cache when its turn comes again.
func BenchmarkMany(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			all := make([]*busy, n)
			for i := range all {
				all[i] = &busy{Estimator: dual(b)}
			}
			const stepsASecond = 1000
			now := epoch
			run := func(steps int) {
				for step := range steps {
					now = now.Add(time.Second / stepsASecond)
					for i, e := range all {
						e.step(now, step+i)
					}
				}
			}
			run(6 * stepsASecond) // memories are full
			b.ReportAllocs()
			packets := all[0].seq
			b.ResetTimer()
			for range b.N {
				run(stepsASecond / 10)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(all[0].seq-packets)/float64(n), "ns/packet")
		})
	}
}

// busy is an estimator at work.
type busy struct {
	*gbr.Estimator
	seq  int64
	sent []gcc.PacketResult
}

// step is a ms.
func (e *busy) step(now time.Time, step int) {
	if step%33 < 12 && step%2 == 0 {
		for range 3 - step%33/10 {
			e.seq++
			p := gcc.SentPacket{Seq: e.seq, Size: 1250, At: now}
			e.OnPacketSent(now, p)
			e.sent = append(e.sent, gcc.PacketResult{SentPacket: p, Received: true, Arrival: gcc.RemoteTime(now.UnixMicro() + 20_000)})
		}
		_ = e.NextTimeout()
	}
	if step%50 == 0 {
		e.OnFeedback(now, gcc.Feedback{Packets: e.sent})
		e.sent = e.sent[:0]
		_ = e.NextTimeout()
	}
	if step%5 == 0 {
		e.OnSample(now, gbr.Sample{At: now, Window: 5 * time.Millisecond, Granted: 3000, Reported: 4000})
	}
}
