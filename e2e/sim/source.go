// SPDX-License-Identifier: MIT

package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	// maxPayload is the media bytes of a full packet.
	maxPayload = 1200
	// headerBytes is IPv4 20 + UDP 8 + RTP 12 with a transport-wide number 8
	// of extension less padding + SRTP tag 10, as every comparison counts it.
	headerBytes = 50
	// minFrame keeps a frame a frame however low the target is.
	minFrame = 100
)

// SourceConfig is the encoder model.
type SourceConfig struct {
	// FPS is the frame rate.
	FPS int
	// Lag is how old a target is when a frame obeys it.
	Lag time.Duration
	// Noise is the standard deviation of the logarithm of frame sizes.
	Noise float64
	// SkipAbove is the pacer queue in time above which a frame is skipped,
	// as a real-time encoder would be told to.
	SkipAbove time.Duration
	// CapBps is what the content can use at the most; 0 for no cap.
	CapBps int
}

// Budget is what a frame may have, when the controller says so.
type Budget struct {
	Bytes int
	OK    bool
}

// Frame is one picture.
type Frame struct {
	// Size is the media bytes.
	Size int
	Key  bool
}

// source makes frames of the size the target allows.
type source struct {
	cfg     SourceConfig
	rng     *rand.Rand
	next    time.Time
	period  time.Duration
	key     bool
	targets []timedTarget // newest last; enough of them to look back by Lag
}

type timedTarget struct {
	at  time.Time
	bps int
}

func newSource(cfg SourceConfig, start time.Time, seed uint64) *source {
	return &source{
		cfg: cfg, rng: rand.New(rand.NewPCG(seed, 0x50c)), next: start, key: true,
		period: time.Second / time.Duration(cfg.FPS),
	}
}

// OnTarget notes a target.
func (s *source) OnTarget(now time.Time, bps int) {
	if n := len(s.targets); n > 0 && s.targets[n-1].bps == bps {
		return
	}
	s.targets = append(s.targets, timedTarget{now, bps})
	drop := 0
	for drop+1 < len(s.targets) && now.Sub(s.targets[drop+1].at) > s.cfg.Lag+time.Second {
		drop++
	}
	if drop > 64 {
		s.targets = append(s.targets[:0], s.targets[drop:]...)
	}
}

// OnKeyFrameRequest makes the next frame a key frame.
func (s *source) OnKeyFrameRequest(time.Time) { s.key = true }

// OnSkipped says that the frame just captured was left out.
func (s *source) OnSkipped(time.Time) {}

// NextTimeout is when the next frame is captured.
func (s *source) NextTimeout() time.Time { return s.next }

// Target is the rate that was asked for Lag ago.
func (s *source) Target(now time.Time) int {
	at := now.Add(-s.cfg.Lag)
	for i := len(s.targets) - 1; i > 0; i-- {
		if !s.targets[i].at.After(at) {
			return s.targets[i].bps
		}
	}
	if len(s.targets) == 0 {
		return 0
	}

	return s.targets[0].bps
}

// Capture is the frame captured now, when one is due. A budget is obeyed to the
// byte.
func (s *source) Capture(now time.Time, budget Budget) (f Frame, due bool) {
	if now.Before(s.next) {
		return Frame{}, false
	}
	s.next = s.next.Add(s.period)
	f.Key, s.key = s.key, false
	bps := s.Target(now)
	if s.cfg.CapBps > 0 {
		bps = min(bps, s.cfg.CapBps)
	}
	// Drawn for every frame, so that one algorithm's choices do not shift
	// another's noise.
	noise := s.rng.NormFloat64()
	if budget.OK {
		if s.cfg.CapBps > 0 {
			budget.Bytes = min(budget.Bytes, s.cfg.CapBps/8/s.cfg.FPS)
		}
		f.Size = max(minFrame, budget.Bytes)

		return f, true
	}
	// The mean of exp(N(0, sigma)) is exp(sigma^2/2); taking it out keeps the
	// mean rate at the target.
	sigma := s.cfg.Noise
	factor := math.Exp(sigma*noise - sigma*sigma/2)
	// The target counts what goes over the link, headers included.
	link := float64(bps) / 8 / float64(s.cfg.FPS) * factor
	packets := math.Ceil(link / (maxPayload + headerBytes))
	f.Size = max(minFrame, int(link-packets*headerBytes))

	return f, true
}
