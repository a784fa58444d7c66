// SPDX-License-Identifier: MIT

//go:build unix

package interceptor

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	pioncc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
)

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}

	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkScale is what many connections cost in real time, each with 500
// packets of 1200 bytes a second in 30 frames, 20 reports and, for ours, 200
// samples of the modem: the share of a core, memory, and objects per packet. The
// load itself (frames and reports made, nothing estimated) is a row of its own,
// to be taken off. TestMemory has the memory in virtual time, with full histories.
func BenchmarkScale(b *testing.B) {
	n := 1000
	if s := os.Getenv("GBRCC_SCALE"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	bounds := WithBitrateBounds(100_000, 5_200_000, 5_200_000)
	for _, c := range []struct {
		name string
		make func() (cc.BandwidthEstimator, error)
	}{
		{"load", func() (cc.BandwidthEstimator, error) { return &idleEstimator{}, nil }},
		{"gbrcc", Factory(bounds, WithLoggerFactory(&logBook{}))},
		{"pion-gcc", func() (cc.BandwidthEstimator, error) {
			return pioncc.NewSendSideBWE(pioncc.SendSideBWEInitialBitrate(5_200_000), pioncc.SendSideBWEMaxBitrate(5_200_000))
		}},
		{"pion-gcc-noop", func() (cc.BandwidthEstimator, error) {
			return pioncc.NewSendSideBWE(pioncc.SendSideBWEInitialBitrate(5_200_000), pioncc.SendSideBWEMaxBitrate(5_200_000),
				pioncc.SendSideBWEPacer(pioncc.NewNoOpPacer()))
		}},
	} {
		b.Run(fmt.Sprintf("%s-%d", c.name, n), func(b *testing.B) { scale(b, n, c.make) })
	}
}

// idleEstimator is the load alone.
type idleEstimator struct{ cc.BandwidthEstimator }

func (*idleEstimator) AddStream(_ *pion.StreamInfo, w pion.RTPWriter) pion.RTPWriter { return w }
func (*idleEstimator) WriteRTCP([]rtcp.Packet, pion.Attributes) error                { return nil }
func (*idleEstimator) Close() error                                                  { return nil }

// loaded is a connection under load.
type loaded struct {
	e       cc.BandwidthEstimator
	w       pion.RTPWriter
	header  rtp.Header
	seq     uint16 // pion's numbers are the chain's, one per packet here
	mu      sync.Mutex
	numbers []uint16
	times   []int64
	report  []rtcp.Packet
	chunk   rtcp.RunLengthChunk
	deltas  []rtcp.RecvDelta
	fb      rtcp.TransportLayerCC
	count   uint8
	sent    *atomic.Int64
}

func newLoaded(e cc.BandwidthEstimator, sent *atomic.Int64) (*loaded, error) {
	l := &loaded{e: e, sent: sent, header: *header(mediaSSRC, 0)}
	l.chunk.PacketStatusSymbol = rtcp.TypeTCCPacketReceivedLargeDelta
	l.fb.PacketChunks = []rtcp.PacketStatusChunk{&l.chunk}
	l.report = []rtcp.Packet{&l.fb}
	if err := l.header.SetExtension(extID, []byte{0, 0}); err != nil {
		return nil, err
	}
	info := videoInfo()
	info.SSRCForwardErrorCorrection = 0
	l.w = e.AddStream(info, l)

	return l, nil
}

func (l *loaded) Write(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
	if x := h.GetExtension(extID); len(x) == 2 {
		l.mu.Lock()
		l.numbers = append(l.numbers, uint16(x[0])<<8|uint16(x[1]))
		l.times = append(l.times, time.Now().UnixMicro())
		l.mu.Unlock()
	}
	l.sent.Add(1)

	return h.MarshalSize() + len(payload), nil
}

func (l *loaded) frame(payload []byte, packets int) {
	for range packets {
		l.seq++
		l.header.SequenceNumber = l.seq
		ext := l.header.GetExtension(extID)
		ext[0], ext[1] = byte(l.seq>>8), byte(l.seq)
		_, _ = l.w.Write(&l.header, payload, nil)
	}
	l.header.Timestamp += 3000
}

// feed reports what was sent, without allocating.
func (l *loaded) feed() {
	l.mu.Lock()
	n := len(l.numbers)
	if n == 0 {
		l.mu.Unlock()

		return
	}
	reference := l.times[0] / 64_000
	last := reference * 64_000
	l.fb.BaseSequenceNumber, l.fb.PacketStatusCount = l.numbers[0], uint16(n)
	l.fb.ReferenceTime, l.fb.FbPktCount = uint32(reference)&0xffffff, l.count
	l.chunk.RunLength = uint16(n)
	l.fb.RecvDeltas = l.fb.RecvDeltas[:0]
	for len(l.deltas) < n {
		l.deltas = append(l.deltas, rtcp.RecvDelta{Type: rtcp.TypeTCCPacketReceivedLargeDelta})
	}
	for i, at := range l.times {
		l.deltas[i].Delta = (at - last) / 250 * 250
		last += l.deltas[i].Delta
		l.fb.RecvDeltas = append(l.fb.RecvDeltas, &l.deltas[i])
	}
	l.numbers, l.times = l.numbers[:0], l.times[:0]
	l.mu.Unlock()
	l.count++
	_ = l.e.WriteRTCP(l.report, nil)
}

func scale(b *testing.B, n int, newEstimator func() (cc.BandwidthEstimator, error)) {
	b.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var sent atomic.Int64
	all := make([]*loaded, n)
	for i := range all {
		e, err := newEstimator()
		if err != nil {
			b.Fatal(err)
		}
		if all[i], err = newLoaded(e, &sent); err != nil {
			b.Fatal(err)
		}
	}
	payload := make([]byte, 1200)
	// 1 ms steps; connection i is at phase i of each period.
	run := func(d time.Duration) {
		start := time.Now()
		for step := 0; time.Duration(step)*time.Millisecond < d; step++ {
			if wait := time.Until(start.Add(time.Duration(step) * time.Millisecond)); wait > 0 {
				time.Sleep(wait)
			}
			for i := step % 33; i < n; i += 33 { // 30.3 frames of 16 or 17 packets
				all[i].frame(payload, 16+step/33%2)
			}
			for i := step % 50; i < n; i += 50 {
				all[i].feed()
			}
			for i := step % 5; i < n; i += 5 {
				if e, ok := all[i].e.(*Estimator); ok {
					e.PushSample(gbr.Sample{At: time.Now(), Window: 5 * time.Millisecond, Granted: 3000, Reported: 4000})
				}
			}
		}
	}
	warm, measured := 6*time.Second, 4*time.Second
	if n < 200 {
		warm, measured = time.Second, time.Second
	}
	run(warm) // histories are full
	for b.Loop() {
		var from, to runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&from)
		cpu, wall, packets := processorTime(), time.Now(), sent.Load()
		run(measured)
		used, took := processorTime()-cpu, time.Since(wall)
		runtime.ReadMemStats(&to)
		packets = sent.Load() - packets
		b.ReportMetric(100*used.Seconds()/took.Seconds(), "%core")
		// On a machine that is too busy fewer packets were sent: what all would cost.
		b.ReportMetric(100*used.Seconds()/float64(packets)*500*float64(n), "%core-at-500/s")
		b.ReportMetric(float64(to.HeapInuse+to.StackInuse-before.HeapInuse-before.StackInuse)/1e6, "MB")
		b.ReportMetric(float64(to.Mallocs-from.Mallocs)/float64(max(packets, 1)), "allocs/packet")
		b.ReportMetric(float64(packets)/took.Seconds()/float64(n), "packets/s")
	}
	for _, l := range all {
		if err := l.e.Close(); err != nil {
			b.Error(err)
		}
	}
}
