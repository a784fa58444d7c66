// SPDX-License-Identifier: MIT

//go:build !race

package interceptor

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"

	"github.com/gbrcc/gbrcc/gbr"
)

// What a connection takes with 500 packets of 1200 bytes a second in 30 frames, 20
// reports and 200 batches of telemetry a second, when its histories are full: a
// thousand of them fit 300 MB.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, seconds = 25, 7
		used := func() float64 {
			runtime.GC()
			runtime.GC() // pools
			var m runtime.MemStats
			runtime.ReadMemStats(&m)

			return float64(m.HeapInuse+m.StackInuse) / 1000
		}
		var sent atomic.Int64
		all := make([]*loaded, n)
		payload := make([]byte, 1200)
		before := used()
		for i := range all {
			e, err := NewEstimator(WithBitrateBounds(100_000, 5_200_000, 5_200_000), WithLoggerFactory(&logBook{}))
			if err != nil {
				t.Fatal(err)
			}
			l := &loaded{e: e, sent: &sent, header: *header(mediaSSRC, 0)}
			l.chunk.PacketStatusSymbol = rtcp.TypeTCCPacketReceivedLargeDelta
			l.fb.PacketChunks = []rtcp.PacketStatusChunk{&l.chunk}
			l.report = []rtcp.Packet{&l.fb}
			if err := l.header.SetExtension(extID, []byte{0, 0}); err != nil {
				t.Fatal(err)
			}
			info := videoInfo()
			info.SSRCForwardErrorCorrection = 0
			l.w = e.AddStream(info, l)
			all[i] = l
		}
		for step := range seconds * 1000 {
			now := time.Now()
			for i, l := range all {
				if (step+i)%33 == 0 {
					l.frame(payload, 16+step/33%2)
				}
				if (step+i)%50 == 0 {
					l.feed()
				}
				if (step+i)%5 == 0 {
					e, _ := l.e.(*Estimator)
					e.PushTelemetry(gbr.Telemetry{
						Grants:  []gbr.Grant{{At: now.Add(-3 * time.Millisecond), Bytes: 3005}},
						Reports: []gbr.Report{{At: now.Add(-3 * time.Millisecond), Low: 3000, High: 4000}},
						Samples: []gbr.Sample{{At: now, Window: 5 * time.Millisecond, Granted: 3000, Reported: 4000}},
					})
				}
			}
			time.Sleep(time.Millisecond)
		}
		within(t, "memory of one", (used()-before)/n, 225, 55, "kB")
		within(t, "packets", float64(sent.Load()), 500*n*seconds, 500*n, "")
		for _, l := range all {
			if err := l.e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
