// SPDX-License-Identifier: MIT

package media

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// plain is the camera written down as simply as it can be, with all its targets
// kept. Whatever a Source does beside, this it has to be, bit by bit.
type plain struct {
	fps, capBps int
	lag         time.Duration
	sigma       float64
	rng         *rand.Rand
	at          []time.Time
	bps         []int
}

func (p *plain) target(now time.Time) int {
	for i := len(p.at) - 1; i >= 0; i-- {
		if i == 0 || !p.at[i].After(now.Add(-p.lag)) {
			return p.bps[i]
		}
	}

	return 0
}

func (p *plain) size(now time.Time, b Budget) int {
	bps, noise := p.target(now), p.rng.NormFloat64()
	if p.capBps > 0 {
		bps = min(bps, p.capBps)
		b.Bytes = min(b.Bytes, p.capBps/8/p.fps)
	}
	if b.OK {
		return max(100, b.Bytes)
	}
	link := float64(bps) / 8 / float64(p.fps) * math.Exp(p.sigma*noise-p.sigma*p.sigma/2)

	return max(100, int(link-50*math.Ceil(link/1250)))
}

func TestCameraIsPlain(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := &plain{fps: 30, lag: 20 * time.Millisecond, sigma: 0.15, rng: rand.New(rand.NewPCG(seed, 0x50c))}
		if seed%3 == 1 {
			p.capBps, p.fps = 1_000_000, 60
		}
		s := mustNew(t, Config{Start: t0(), Seed: seed, FPS: p.fps, Noise: p.sigma, CapBps: p.capBps})
		now, frames := t0(), 0
		for range 20_000 {
			now = now.Add(time.Duration(rng.IntN(3)) * time.Millisecond)
			if s.NextTimeout().Before(now) {
				now = s.NextTimeout() // a simulation stops there
			}
			if bps := rng.IntN(8_000_000); rng.IntN(3) > 0 {
				s.OnTarget(now, bps)
				p.at, p.bps = append(p.at, now), append(p.bps, bps)
			}
			if got, want := s.Target(now), p.target(now); got != want {
				t.Fatalf("seed %d, %v: target %d, want %d", seed, now.Sub(t0()), got, want)
			}
			b := Budget{rng.IntN(30_000), seed%3 == 2 && rng.IntN(2) == 0}
			for f, ok := s.Capture(now, b); ok; f, ok = s.Capture(now, b) {
				frames++
				if want := p.size(now, b); f.Size != want || f.Key != (frames == 1) || !f.Capture.Equal(now) {
					t.Fatalf("seed %d, %v: %+v, want %d bytes", seed, now.Sub(t0()), f, want)
				}
				if rng.IntN(4) == 0 {
					p.skip(s, now, frames)
				}
			}
		}
		if frames < 400 {
			t.Fatalf("%d frames", frames)
		}
	}
}

// skip takes a frame back, which an ordinary one does not notice.
func (p *plain) skip(s *Source, now time.Time, frames int) {
	if frames > 1 {
		s.OnSkipped(now)
	}
}
