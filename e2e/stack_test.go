// SPDX-License-Identifier: MIT

package e2e

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/peer"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// stack is the whole of Pion in virtual time: two peers over a made-up wire with
// the cell in it, and the cell's diagnostic bytes decoded for the estimator. It
// must be made and closed inside a synctest bubble.
type stack struct {
	t         testing.TB
	link      *live.Link
	call      *peer.Call
	estimator *interceptor.Estimator
	stop      context.CancelFunc
	modem     chan struct{} // closed when the telemetry has ended
}

type stackConfig struct {
	capacity    cell.Trace
	path        cell.PathConfig
	seed        uint64
	rfc8888     bool
	noTelemetry bool
	options     []interceptor.Option
	audio       func(context.Context, *peer.Audio)
	source      func(context.Context, cc.BandwidthEstimator, func(*rtp.Packet) error)
}

func newStack(t testing.TB, cfg stackConfig) *stack {
	t.Helper()
	link, err := live.New(live.Config{Cell: cell.Config{
		Start: time.Now(), Seed: cfg.seed, Capacity: cfg.capacity, Path: cfg.path,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	s := &stack{t: t, link: link, modem: make(chan struct{})}
	port := link.Diag()
	src, err := source.NewDiag(port, source.DiagConfig{AliveWhileOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	near, far := newWire()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.call, err = peer.Dial(ctx, peer.Config{
		Sender: link.Uplink(near), Receiver: link.Downlink(far), Seed: cfg.seed, RFC8888: cfg.rfc8888, Audio: cfg.audio, Source: cfg.source,
		Estimator: func() (cc.BandwidthEstimator, error) {
			e, err := interceptor.NewEstimator(append(cfg.options, interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000))...)
			s.estimator = e

			return e, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(context.Background())
	s.stop = func() {
		stop()
		_ = port.Close()
	}
	go func() {
		defer close(s.modem)
		if cfg.noTelemetry {
			return
		}
		_ = src.Run(run, s.estimator.PushTelemetry) // ends with run
	}()

	return s
}

// close ends everything; synctest then fails the test if a goroutine is left.
func (s *stack) close() {
	s.stop()
	<-s.modem
	if err := s.call.Close(); err != nil {
		s.t.Error("closing the call:", err)
	}
	if err := s.link.Close(); err != nil {
		s.t.Error("closing the link:", err)
	}
	// Pion's timers and transports wind down.
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4g %s, want %.4g ± %.4g", what, got, unit, want, tolerance)
	}
}

// goodput is media in Mbit/s between two moments of the call.
func goodput(from, to peer.Stats, d time.Duration) float64 {
	return float64(to.Bytes-from.Bytes) * 8 / d.Seconds() / 1e6
}

// A minute of GBR-CC over a radio of 6 Mbit/s: it fills most of the link and
// keeps the queue short.
func TestStackFillsTheRadio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{capacity: cell.Constant(6_000_000), seed: 1})
		time.Sleep(10 * time.Second)
		warm := s.call.Stats()
		time.Sleep(50 * time.Second)
		end, target := s.call.Stats(), s.estimator.Target()
		s.close()
		within(t, "goodput", goodput(warm, end, 50*time.Second), 5.2, 0.5, "Mbit/s")
		within(t, "playout p50", end.PlayoutMsP50, 104, 20, "ms")
		within(t, "playout p95", end.PlayoutMsP95, 110, 30, "ms")
		within(t, "frames rendered", float64(end.FramesRendered), 1800, 20, "")
		if end.FreezeCount > 0 || end.FramesSkipped > 0 {
			t.Errorf("%d freezes, %d frames lost", end.FreezeCount, end.FramesSkipped)
		}
		if target.Mode != gbr.Dual || !target.RatioOK {
			t.Errorf("in the end: %v, ratio known: %v", target.Mode, target.RatioOK)
		}
	})
}

// The same with feedback in RFC 8888's format, which Pion numbers by stream.
func TestStackRFC8888(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{capacity: cell.Constant(3_000_000), seed: 2, rfc8888: true})
		time.Sleep(10 * time.Second)
		warm := s.call.Stats()
		time.Sleep(20 * time.Second)
		end, stats := s.call.Stats(), s.estimator.GetStats()
		s.close()
		within(t, "goodput", goodput(warm, end, 20*time.Second), 2.55, 0.35, "Mbit/s")
		within(t, "playout p95", end.PlayoutMsP95, 110, 40, "ms")
		if stats[interceptor.StatFeedbackMalformed] != int64(0) || stats[interceptor.StatPacketsUntracked] != int64(0) {
			t.Errorf("malformed %v, untracked %v", stats[interceptor.StatFeedbackMalformed], stats[interceptor.StatPacketsUntracked])
		}
	})
}

// The radio falls to a quarter and comes back: the queue that this costs is
// gone within seconds, and so is the loss of rate.
func TestStackFollowsTheRadio(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{seed: 3, capacity: cell.Steps(
			cell.Step{Bps: 8_000_000, For: 15 * time.Second},
			cell.Step{Bps: 2_000_000, For: 15 * time.Second},
			cell.Step{Bps: 8_000_000, For: time.Hour},
		)})
		time.Sleep(20*time.Second - time.Since(s.call.Start()))
		fell := s.call.Stats()
		time.Sleep(9 * time.Second)
		low := s.call.Stats()
		time.Sleep(6 * time.Second)
		back := s.call.Stats()
		time.Sleep(5 * time.Second)
		end := s.call.Stats()
		s.close()
		within(t, "goodput at 2 Mbit/s", goodput(fell, low, 9*time.Second), 1.7, 0.3, "Mbit/s")
		within(t, "latency 14 s after the fall", float64(low.PlayoutLast.Milliseconds()), 120, 60, "ms")
		within(t, "goodput from 5 s after the rise", goodput(back, end, 5*time.Second), 6.6, 1.3, "Mbit/s")
	})
}

// A bottleneck behind the radio is the outer loop's: found and kept to.
func TestStackBackhaul(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{capacity: cell.Constant(8_000_000), seed: 4, path: cell.PathConfig{RateBps: 3_000_000, QueueBytes: 300_000}})
		time.Sleep(20 * time.Second)
		warm := s.call.Stats()
		time.Sleep(40 * time.Second)
		end := s.call.Stats()
		s.close()
		within(t, "goodput", goodput(warm, end, 40*time.Second), 2.65, 0.35, "Mbit/s")
		within(t, "playout p50", end.PlayoutMsP50, 125, 45, "ms")
		within(t, "freeze ratio", end.FreezeRatio, 0, 0.02, "")
	})
}

// Random loss on the path is repaired by retransmissions, which reach the
// network, and costs little rate.
func TestStackLoss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{capacity: cell.Constant(3_000_000), seed: 5, path: cell.PathConfig{Loss: 0.01}})
		time.Sleep(10 * time.Second)
		warm := s.call.Stats()
		time.Sleep(30 * time.Second)
		end, stats, lost := s.call.Stats(), s.estimator.GetStats(), float64(s.link.Stats().PathDrops)
		s.close()
		within(t, "goodput", goodput(warm, end, 30*time.Second), 2.45, 0.4, "Mbit/s")
		within(t, "frames lost", float64(end.FramesSkipped), 0, 6, "")
		resent := float64(stats[interceptor.StatRetransmissionsSent].(int64))
		// Pion's receiver asks three times, also for what has come already. Of
		// what was lost, not of what should have been: that is a matter of luck.
		within(t, "retransmissions per packet lost", resent/lost, 2.8, 0.7, "")
	})
}

// Without telemetry the estimator is its outer loop.
func TestStackWithoutTelemetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, stackConfig{capacity: cell.Constant(3_000_000), seed: 6, noTelemetry: true})
		time.Sleep(10 * time.Second)
		warm := s.call.Stats()
		time.Sleep(30 * time.Second)
		end, target := s.call.Stats(), s.estimator.Target()
		s.close()
		within(t, "goodput", goodput(warm, end, 30*time.Second), 2.45, 0.35, "Mbit/s")
		if target.Mode != gbr.OuterOnly || target.RatioOK {
			t.Errorf("%v, ratio known: %v", target.Mode, target.RatioOK)
		}
	})
}

// A call may be closed at any point of its life.
func TestStackClosesAtAnyPoint(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, time.Millisecond, 40 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newStack(t, stackConfig{capacity: cell.Constant(3_000_000), seed: 7})
			time.Sleep(after)
			s.close()
			if err := s.call.Close(); err != nil {
				t.Errorf("closed again: %v", err)
			}
		})
	}
}

// BenchmarkStack is a minute of a whole Pion call: two peers, ICE, DTLS-SRTP,
// the cell and GBR-CC, in virtual time.
func BenchmarkStack(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		// A bubble wants a *testing.T, which a benchmark has none of.
		ok := testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{
			Name: "minute", F: func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStack(t, stackConfig{capacity: cell.Constant(6_000_000), seed: 1})
					time.Sleep(time.Minute)
					s.close()
				})
			},
		}})
		if !ok {
			b.Fatal("the call failed")
		}
	}
}
