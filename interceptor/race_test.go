// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"

	"github.com/gbrcc/gbrcc/gbr"
)

// Everything at once, for the race detector, with Close in the middle.
func TestEverythingAtOnce(t *testing.T) {
	e, err := NewEstimator(WithEventWriter(io.Discard), WithMaxQueue(50*time.Millisecond), WithLoggerFactory(&logBook{}))
	if err != nil {
		t.Fatal(err)
	}
	wire := &wire{}
	var wg sync.WaitGroup
	closing := time.Now().Add(300 * time.Millisecond)
	end := closing.Add(50 * time.Millisecond)
	run := func(f func(rng *rand.Rand)) {
		seed := uint64(time.Now().UnixNano())
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			for time.Now().Before(end) {
				f(rng)
				time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
			}
		})
	}
	for range 3 {
		w := e.AddStream(videoInfo(), wire)
		run(func(rng *rand.Rand) {
			h := header([]uint32{mediaSSRC, rtxSSRC, fecSSRC}[rng.IntN(3)], uint16(rng.Uint32()))
			payload := make([]byte, rng.IntN(1200))
			_, err := w.Write(h, payload, pion.Attributes{1: &resend{}})
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			clear(payload)
		})
	}
	var mu sync.Mutex
	rec, reported := twcc.NewRecorder(1), 0
	for range 2 {
		run(func(*rand.Rand) {
			mu.Lock()
			sent := wire.sent()
			for ; reported < len(sent); reported++ {
				if x := sent[reported].header.GetExtension(extID); len(x) == 2 {
					rec.Record(mediaSSRC, uint16(x[0])<<8|uint16(x[1]), time.Now().UnixMicro())
				}
			}
			pkts := rec.BuildFeedbackPacket()
			mu.Unlock()
			pkts = append(pkts, &rtcp.CCFeedbackReport{ReportBlocks: []rtcp.CCFeedbackReportBlock{{MediaSSRC: 8}}})
			if err := e.WriteRTCP(pkts, nil); err != nil {
				t.Error(err)
			}
		})
	}
	run(func(rng *rand.Rand) {
		e.PushTelemetry(gbr.Telemetry{})
		e.PushSample(gbr.Sample{At: time.Now(), Window: 5 * time.Millisecond, Granted: rng.IntN(5000), Reported: rng.IntN(5000)})
	})
	run(func(*rand.Rand) {
		_, _, _ = e.Target(), e.GetTargetBitrate(), e.GetStats()
		e.AddStream(ccfbInfo(8), wire)
	})
	var latest int // only ever touched by the one goroutine that calls
	run(func(rng *rand.Rand) {
		if rng.IntN(10) > 0 {
			e.OnTargetBitrateChange(func(bitrate int) { latest = bitrate })
		} else {
			e.OnTargetBitrateChange(nil)
		}
	})
	time.Sleep(time.Until(closing))
	for range 2 {
		wg.Go(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if latest == 0 || len(wire.sent()) == 0 {
		t.Errorf("latest target %d, %d packets sent: nothing has happened", latest, len(wire.sent()))
	}
}
