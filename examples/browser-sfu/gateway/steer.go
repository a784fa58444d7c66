// SPDX-License-Identifier: MIT

package gateway

import (
	"context"
	"log/slog"
	"time"

	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor"
)

const (
	retryEvery = time.Second
	// tellEvery is how often the browser hears a new rate: applying one costs
	// it more than a packet, and it does not follow faster.
	tellEvery = 50 * time.Millisecond
)

// Keep forwards a publication until it ends: forward is one connection's life,
// and is called again a little after it has returned.
func Keep(p *sfu.Publication, log *slog.Logger, forward func(context.Context, *sfu.Publication) error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	for ctx.Err() == nil {
		if err := forward(ctx, p); err != nil && ctx.Err() == nil {
			log.Warn("uplink", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
}

// Steer lets the browser know what to encode, until ctx is done. current is asked
// again and again: the connection, and its estimator, may be replaced.
func Steer(ctx context.Context, p *sfu.Publication, current func() *interceptor.Estimator) {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	var est *interceptor.Estimator
	last, at := 0, time.Time{}
	for {
		if e := current(); e != est {
			if est = e; est != nil {
				est.OnAdvice(func(a interceptor.Advice) {
					if a.KeyFrame {
						p.RequestKeyFrame()
					}
				})
			}
		}
		// What changes little waits; what was said once may not have been heard:
		// the data channel opens later than the media.
		if est != nil {
			now, bps := time.Now(), est.GetTargetBitrate()
			if d := bps - last; now.Sub(at) >= time.Second || d <= -last/50 || d >= last/20 {
				last, at = bps, now
				p.SetMaxBitrate(bps)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// OutletOf has video held back to what the uplink carries: the estimator's pacer
// lets a frame out faster than that, and a browser needs most of a second to
// obey. What it sends in that time would wait in the phone, where nothing can be
// dropped, and would look like an uplink that is worse than it is.
func OutletOf(m sfu.Medium, write func(*rtp.Packet) error, current func() *interceptor.Estimator) sfu.Outlet {
	o := sfu.Outlet{Write: write}
	if m.Kind == "video" {
		o.Rate = func() int {
			if est := current(); est != nil {
				return est.Target().RateBps
			}

			return StartBps
		}
	}

	return o
}
