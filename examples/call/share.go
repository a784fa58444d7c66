// SPDX-License-Identifier: MIT

package main

import (
	"sync/atomic"

	"github.com/pion/interceptor/pkg/cc"

	"github.com/gbrcc/gbrcc/e2e/sound"
	"github.com/gbrcc/gbrcc/interceptor"
)

// share divides a leg's target: sound has a fixed rate, always, pictures the rest.
type share struct{ pictures atomic.Int64 }

func newShare(e cc.BandwidthEstimator, withSound bool) (*share, error) {
	streams := []interceptor.StreamBounds{{ID: "pictures"}}
	if withSound {
		streams = append(streams, interceptor.StreamBounds{
			ID: "sound", Priority: 1, MinBps: sound.LinkBps, MaxBps: sound.LinkBps, Always: true,
		})
	}
	s := &share{}
	a, err := interceptor.NewAllocator(streams, func(rates []interceptor.Allocation) {
		s.pictures.Store(int64(rates[len(rates)-1].BitrateBps)) // the lowest priority
	})
	if err != nil {
		return nil, err
	}
	a.SetTarget(e.GetTargetBitrate())
	if own, ok := e.(*interceptor.Estimator); ok {
		a.Serve(own)
	} else {
		e.OnTargetBitrateChange(a.SetTarget)
	}

	return s, nil
}
