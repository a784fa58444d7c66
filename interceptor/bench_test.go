// SPDX-License-Identifier: MIT

package interceptor

import (
	"strconv"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	pioncc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// rtpSink is a next writer that costs nothing.
func rtpSink(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
	return h.MarshalSize() + len(payload), nil
}

// One packet through the queue and out, beside what Pion's estimator takes
// without a pacer.
func BenchmarkWrite(b *testing.B) {
	payload := make([]byte, 1200)
	b.Run("gbrcc", func(b *testing.B) {
		pace := 1_000_000_000
		if strconv.IntSize == 64 {
			pace *= 100 // nothing waits
		}
		outer := &fakeOuter{bitrate: 1_000_000, pacing: pace}
		e, err := NewEstimator(WithOuter(func() (gbr.Outer, error) { return quietOuter{outer}, nil }), WithLoggerFactory(&logBook{}))
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		w := e.AddStream(videoInfo(), pion.RTPWriterFunc(rtpSink))
		h := header(mediaSSRC, 0)
		if err := h.SetExtension(extID, make([]byte, 2)); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			h.SequenceNumber++
			if _, err := w.Write(h, payload, nil); err != nil {
				b.Fatal(err)
			}
			// Do not measure refusals.
			for h.SequenceNumber%64 == 0 && e.queueLen() > 0 {
				time.Sleep(time.Microsecond)
			}
		}
		b.ReportMetric(float64(e.refusedCount())/float64(b.N), "refused/op")
	})
	b.Run("pion-noop", func(b *testing.B) {
		e, err := pioncc.NewSendSideBWE(pioncc.SendSideBWEPacer(pioncc.NewNoOpPacer()))
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		w := e.AddStream(videoInfo(), pion.RTPWriterFunc(rtpSink))
		h := header(mediaSSRC, 0)
		b.ReportAllocs()
		for b.Loop() {
			h.SequenceNumber++
			if err := h.SetExtension(extID, []byte{byte(h.SequenceNumber >> 8), byte(h.SequenceNumber)}); err != nil {
				b.Fatal(err)
			}
			if _, err := w.Write(h, payload, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// queueLen and refusedCount read single figures without the map of GetStats.
func (e *Estimator) queueLen() int {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.pacer.Len()
}

func (e *Estimator) refusedCount() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.count.refused
}

// quietOuter does not collect.
type quietOuter struct{ *fakeOuter }

func (quietOuter) OnPacketSent(time.Time, gcc.SentPacket) {}
