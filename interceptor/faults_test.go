// SPDX-License-Identifier: MIT

package interceptor

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
)

// What users of Pion's own estimator run into, each with the report it comes
// from. Where it costs nothing, Pion's figure is in the log of the test.
//
// The other two are tests of their own: who is whose estimator (webrtc#2998) is
// TestForPeerConnection, calls after the end and leaks (interceptor#131, #384,
// webrtc#2952) are TestCloseAtAnyPoint.

// interceptor PR#227: the queue of the leaky bucket pacer has no bound, and a
// packet leaves every 5 ms whatever the rate, 1.92 Mbit/s of packets of 1200 B.
func TestPionQueueAndFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bps = 300_000
		r := newRig(t, bps)
		w := r.video()
		var pionSent atomic.Int64
		theirs := pioncc.NewLeakyBucketPacer(bps)
		theirs.AddStream(mediaSSRC, pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
			pionSent.Add(int64(len(payload)))

			return len(payload), nil
		}))
		worst := time.Duration(0)
		for i := range 1000 { // 10 s of 1 Mbit/s
			h := header(mediaSSRC, uint16(i))
			h.Timestamp = uint32(i)
			mustWrite(t, w, h, payloadFor(1250))
			if _, err := theirs.Write(h, payloadFor(1250), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			worst = max(worst, r.PacerDelay())
		}
		sent := float64(len(r.wire.take())*1250*8) / 10 / 1000
		within(t, "sent", sent, 300, 5, "kbit/s")
		within(t, "longest queue", worst.Seconds()*1000, 1000, 40, "ms")
		t.Logf("Pion's pacer at 300 kbit/s: %.0f kbit/s", float64(pionSent.Load())*8/10/1000)
		if err := theirs.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Measured: pacers that know the media's SSRC alone drop resends and FEC.
func TestPionDropsResends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10_000_000)
		w := r.video()
		for _, ssrc := range []uint32{mediaSSRC, rtxSSRC, fecSSRC} {
			for i := range uint16(10) {
				mustWrite(t, w, header(ssrc, i), payloadFor(500))
			}
		}
		time.Sleep(time.Second)
		got := map[uint32]int{}
		numbers := map[uint16]bool{}
		for _, p := range r.wire.sent() {
			got[p.header.SSRC]++
			numbers[p.transportNumber(t)] = true
		}
		if got[mediaSSRC] != 10 || got[rtxSSRC] != 10 || got[fecSSRC] != 10 || len(numbers) != 30 {
			t.Errorf("sent %v under %d numbers", got, len(numbers))
		}
		within(t, "packets the core knows", float64(len(r.tracked())), 30, 0, "")
	})
}

// Read in the source: the callback is set without a lock, and each call has a
// goroutine of its own, so that an old value can come last.
func TestPionCallbackOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		rng := rand.New(rand.NewPCG(1, 0))
		var last, calls int
		r.OnTargetBitrateChange(func(bps int) {
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
			if bps < last {
				t.Errorf("%d after %d", bps, last)
			}
			last = bps
			calls++
		})
		for i := range 1000 {
			r.set(1_000_000+i, 1_000_000)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if last != 1_000_999 || calls < 300 {
			t.Errorf("last of %d values is %d", calls, last)
		}
	})
}

// interceptor PR#137: nobody can ask for the loss.
func TestPionTellsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := NewEstimator(WithLoggerFactory(&logBook{}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		wire := &wire{}
		w, rec := e.AddStream(videoInfo(), wire), twcc.NewRecorder(1)
		for i := range 500 {
			mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(500))
			time.Sleep(20 * time.Millisecond)
			for _, p := range wire.take() {
				if n := p.transportNumber(t); n%10 != 0 {
					rec.Record(mediaSSRC, n, p.at.UnixMicro())
				}
			}
			if i%5 == 4 {
				if err := e.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		loss, ok := e.GetStats()[StatAverageLoss].(float64)
		if !ok {
			t.Fatal("no loss")
		}
		within(t, "loss", loss, 0.1, 0.06, "")
		within(t, "loss in the target", e.Target().Outer.LossRatio, loss, 0, "")
	})
}

// interceptor#416: a report of more packets than fit the MTU may never arrive.
func TestPionLargeReportIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{1000, 3000} {
			r := newRig(t, 1_000_000)
			rec := twcc.NewRecorder(1)
			for i := range n {
				rec.Record(mediaSSRC, uint16(i), int64(i)*100)
			}
			for range 2 {
				if err := r.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
					t.Fatal(err)
				}
			}
			said := r.log.warnings()
			if (n > 1000) != (said != "") {
				t.Errorf("%d packets: log says %q", n, said)
			}
		}
	})
}

// A suspended laptop, a receiver that is restarted or sets its clock: the target
// stays in its bounds and comes back.
func TestClockJumps(t *testing.T) {
	for name, jump := range map[string]struct{ own, remote time.Duration }{
		"suspended for an hour": {own: time.Hour},
		"for a minute":          {own: time.Minute, remote: time.Minute},
		"receiver goes ahead":   {remote: 3 * time.Hour},
		"receiver goes back":    {remote: -3 * time.Hour},
		"receiver by 200 ms":    {remote: 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, err := NewEstimator(WithLoggerFactory(&logBook{}), WithBitrateBounds(100_000, 1_000_000, 3_000_000))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = e.Close() }()
				wire, start := &wire{}, time.Now()
				w := e.AddStream(videoInfo(), wire)
				rec, remote, seq := twcc.NewRecorder(1), time.Duration(0), uint16(0)
				low := 1 << 30
				run := func(d time.Duration) {
					for i := range int(d / (10 * time.Millisecond)) {
						for left := e.GetTargetBitrate() / 800; left > 0; left -= 1200 {
							h := header(mediaSSRC, seq)
							h.Timestamp = uint32(seq)
							seq++
							mustWrite(t, w, h, make([]byte, min(1200, left)))
						}
						time.Sleep(10 * time.Millisecond)
						e.PushTelemetry(gbr.Telemetry{}) // idle: a radio with room
						for _, p := range wire.take() {
							rec.Record(mediaSSRC, p.transportNumber(t), (4*time.Hour + p.at.Sub(start) + remote).Microseconds())
						}
						if i%5 == 4 {
							if err := e.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
								t.Fatal(err)
							}
						}
						low = min(low, e.GetTargetBitrate())
						if bps := e.GetTargetBitrate(); bps < 100_000 || bps > 3_000_000 {
							t.Fatalf("target is %d", bps)
						}
					}
				}
				run(20 * time.Second)
				before := e.GetTargetBitrate()
				low = before
				e.mu.Lock()
				e.epoch = e.epoch.Add(jump.own)
				e.mu.Unlock()
				remote += jump.remote
				run(30 * time.Second)
				t.Logf("before %d, lowest after %d, in the end %d bit/s", before, low, e.GetTargetBitrate())
				within(t, "target before", float64(before)/1e6, 2.9, 0.15, "Mbit/s")
				within(t, "target after", float64(e.GetTargetBitrate())/1e6, 2.9, 0.15, "Mbit/s")
				if err := e.WriteRTCP([]rtcp.Packet{&rtcp.ReceiverReport{}}, nil); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
