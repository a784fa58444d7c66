// SPDX-License-Identifier: MIT

package e2e

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/peer"
)

// speak sends packets as Opus at 32 kbit/s does.
func speak(ctx context.Context, a *peer.Audio) {
	every(ctx, 20*time.Millisecond, func(at time.Duration) error {
		return a.Write(make([]byte, 80), at-20*time.Millisecond)
	})
}

// every calls f until ctx ends or it fails.
func every(ctx context.Context, interval time.Duration, f func(at time.Duration) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if f(time.Since(start)) != nil {
				return
			}
		}
	}
}

// flood sends video at 1.5 times the target, as an encoder that does not obey.
func flood(ctx context.Context, e cc.BandwidthEstimator, write func(*rtp.Packet) error) {
	seq, bytes := uint16(0), 0
	every(ctx, 10*time.Millisecond, func(at time.Duration) error {
		for bytes += e.GetTargetBitrate() * 3 / 2 / 8 / 100; bytes > 0; bytes -= 1250 {
			p := &rtp.Packet{
				Header:  rtp.Header{Version: 2, Marker: true, SequenceNumber: seq, Timestamp: uint32(at.Seconds() * 90_000)},
				Payload: make([]byte, 1200),
			}
			seq++
			if err := write(p); err != nil {
				return err
			}
		}

		return nil
	})
}

// Sound does not wait for pictures: not for those of an encoder that takes all there
// is, not when the radio falls, not when the pacer is full of them. What is left is
// its own length, the air, and what pictures have put into the phone before.
func TestStackAudioIsNotStarved(t *testing.T) {
	t.Parallel()
	fall := cell.Steps(cell.Step{Bps: 4_000_000, For: 15 * time.Second}, cell.Step{Bps: 1_000_000, For: time.Hour})
	tests := []struct {
		name     string
		capacity cell.Trace
		source   func(context.Context, cc.BandwidthEstimator, func(*rtp.Packet) error)
		// Were it paced like video the encoder's p95 would be 94 ms, the flood's longest 190.
		p95, tolerance     float64
		longest, tolerated float64
	}{
		{"encoder", cell.Constant(2_000_000), nil, 86, 7, 110, 45},
		{"fall", fall, nil, 92, 10, 300, 220},
		{"flood", cell.Constant(2_000_000), flood, 116, 15, 143, 40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, stackConfig{capacity: tt.capacity, seed: 6, audio: speak, source: tt.source})
				const length = 30 * time.Second
				time.Sleep(length - time.Since(s.call.Start()))
				end := s.call.Stats().Audio
				s.close()
				t.Logf("%+v", end)
				within(t, "packets", float64(end.Packets), length.Seconds()*50, 15, "")
				within(t, "lost", float64(end.Lost), 0, 0, "")
				within(t, "delay p95", end.DelayMsP95, tt.p95, tt.tolerance, "ms")
				within(t, "longest delay", end.DelayMsMax, tt.longest, tt.tolerated, "ms")
			})
		})
	}
}
