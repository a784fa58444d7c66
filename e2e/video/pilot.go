// SPDX-License-Identifier: MIT

package video

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"sync/atomic"
	"time"
)

// Source has pictures by number. A picture is not changed by the caller and is
// valid until the next call.
type Source interface {
	Size() (width, height int)
	Picture(number int) (*image.YCbCr, error)
}

// Order is what an encoder is to make of the next picture.
type Order struct {
	// At is its time of capture, Interval the time until the next one.
	At, Interval time.Duration
	// Bps is the rate of encoded bytes, in bit/s.
	Bps int
	// Budget is the bytes that this frame should have; negative: what Bps gives
	// it.
	Budget int
	// Key asks for a key frame.
	Key bool
}

// Encoder is a codec at work. Encode returns the bytes of a frame, none if it was
// left out; they are valid until the next call.
type Encoder interface {
	Encode(img *image.YCbCr, o Order) ([]byte, error)
	Close() error
}

// Builder makes encoders. Those of a Resizable one take pictures up to the size
// that they were built for, others only that size.
type Builder interface {
	Build(width, height int, fps float64) (Encoder, error)
	Resizable() bool
}

// Frame is one encoded picture.
type Frame struct {
	// Number counts captured frames, those left out included, and is what is
	// stamped into the picture. Captured is since the start.
	Number   int
	Captured time.Duration
	// Data is the encoder's, and valid until the next frame.
	Data []byte
	// Key tells that a key frame was asked for, by the first frame of a size or by
	// KeyFrame.
	Key           bool
	Width, Height int
}

// Config is a pilot's. Builder, Source, Target and Write are needed.
type Config struct {
	Builder Builder
	Source  Source
	// FPS is the source's frame rate; 30.
	FPS int
	// Target is the rate to be followed, in bit/s on the link. MaxBps caps it; 0
	// does not.
	Target func() int
	MaxBps int
	// Budget is what the frame captured now may have on the link, where somebody
	// knows; 0 leaves it out. May be nil. Not all encoders can obey it.
	Budget func() (bytes int, ok bool)
	// Leave is asked before each frame whether it is better left out. May be nil.
	Leave func() bool
	// Write takes an encoded frame. An error ends Run.
	Write func(Frame) error
	// Text is drawn beside the stamp; nil draws the time.
	Text func(number int, at time.Duration) string
	// FixedSize keeps the source's size and frame rate whatever the target.
	FixedSize bool
}

// What frames of a size cost on the link: packets of at most PacketBytes of
// payload, and Overhead for each: IPv4 20, UDP 8, RTP 12 with an extension of 8
// less padding, SRTP 10, as everywhere in e2e.
const (
	PacketBytes = 1200
	Overhead    = 50
)

// Stats counts.
type Stats struct {
	// Captured frames were encoded, or SkippedByAdvice, SkippedByRate (the
	// ladder's half frame rate), SkippedByBudget or SkippedByEncoder.
	Captured, Encoded                                                 int
	SkippedByAdvice, SkippedByRate, SkippedByBudget, SkippedByEncoder int
	KeyFrames, Resizes                                                int
	Bytes                                                             int64
	// EncodeTime is what encoding took in all, scaling included.
	EncodeTime time.Duration
	// Width and Height are of the last frame.
	Width, Height int
}

// Pilot runs an encoder. Skip, KeyFrame and Stats may be called from anywhere
// and never wait for the encoder.
type Pilot struct {
	cfg    Config
	ladder *ladder
	scaler Scaler

	skip  atomic.Bool
	key   atomic.Bool
	stats atomic.Pointer[Stats]

	// The loop's alone.
	count  Stats
	canvas *image.YCbCr
	enc    Encoder
}

// New returns a pilot; nothing happens before Run or Step.
func New(cfg Config) (*Pilot, error) {
	if cfg.Builder == nil || cfg.Source == nil || cfg.Target == nil || cfg.Write == nil {
		return nil, errors.New("video: Builder, Source, Target and Write are needed")
	}
	if cfg.FPS <= 0 {
		cfg.FPS = 30
	}
	if cfg.Text == nil {
		cfg.Text = func(_ int, at time.Duration) string { return fmt.Sprintf("%6.2f s", at.Seconds()) }
	}
	w, h := cfg.Source.Size()
	p := &Pilot{cfg: cfg, ladder: newLadder(w, h, float64(cfg.FPS)), canvas: image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)}
	p.stats.Store(&Stats{})

	return p, nil
}

// Skip leaves out frames until it is called with false.
func (p *Pilot) Skip(skip bool) { p.skip.Store(skip) }

// KeyFrame makes the next frame a key frame.
func (p *Pilot) KeyFrame() { p.key.Store(true) }

// Stats returns the counters.
func (p *Pilot) Stats() Stats { return *p.stats.Load() }

// Run captures at the frame rate until ctx ends, which is no error. Frames are due
// at absolute times, and those that would be more than a frame late are left out.
func (p *Pilot) Run(ctx context.Context, start time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	interval := time.Second / time.Duration(p.cfg.FPS)
	for n := 0; ; n++ {
		if late := time.Since(start) - time.Duration(n)*interval; late > interval {
			n = int(time.Since(start) / interval)
		}
		timer.Reset(time.Until(start.Add(time.Duration(n) * interval)))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := p.Step(n, time.Since(start)); err != nil {
			return err
		}
	}
}

// Step captures frame number n, which is what Run does at the frame rate.
func (p *Pilot) Step(n int, at time.Duration) error {
	defer func() { s := p.count; p.stats.Store(&s) }()
	p.count.Captured++
	target := p.cfg.Target()
	if p.cfg.MaxBps > 0 {
		target = min(target, p.cfg.MaxBps)
	}
	r := p.ladder.rungs[0]
	if !p.cfg.FixedSize {
		r = p.ladder.update(at, target)
	}
	switch {
	case p.skip.Load():
		p.count.SkippedByAdvice++

		return nil
	case r.half && n%2 == 1:
		p.count.SkippedByRate++

		return nil
	case p.cfg.Leave != nil && p.cfg.Leave():
		p.count.SkippedByAdvice++

		return nil
	}
	budget := -1
	if p.cfg.Budget != nil {
		if b, ok := p.cfg.Budget(); ok {
			if b <= 0 {
				p.count.SkippedByBudget++

				return nil
			}
			budget = b
		}
	}

	return p.encode(n, at, target, budget, r)
}

func (p *Pilot) encode(n int, at time.Duration, target, budget int, r rung) error {
	began := time.Now()
	picture, err := p.draw(n, at, r)
	if err != nil {
		return err
	}
	fps := float64(p.cfg.FPS)
	if r.half {
		fps /= 2
	}
	key := p.key.Swap(false)
	w, h := picture.Rect.Dx(), picture.Rect.Dy()
	if p.enc == nil || w != p.count.Width || h != p.count.Height {
		if err := p.resize(w, h, fps); err != nil {
			return err
		}
		key = true
	}
	data, err := p.enc.Encode(picture, p.order(at, target, budget, fps, key))
	if err != nil {
		return fmt.Errorf("video: encoder: %w", err)
	}
	p.count.EncodeTime += time.Since(began)
	if len(data) == 0 {
		p.count.SkippedByEncoder++
		if key { // it is still wanted
			p.key.Store(true)
		}

		return nil
	}
	p.count.Encoded++
	p.count.Bytes += int64(len(data))
	if key {
		p.count.KeyFrames++
	}

	return p.cfg.Write(Frame{Number: n, Captured: at, Data: data, Key: key, Width: w, Height: h})
}

// draw makes the picture that the encoder gets.
func (p *Pilot) draw(n int, at time.Duration, r rung) (*image.YCbCr, error) {
	from, err := p.cfg.Source.Picture(n)
	if err != nil {
		return nil, err
	}
	copy(p.canvas.Y, from.Y)
	copy(p.canvas.Cb, from.Cb)
	copy(p.canvas.Cr, from.Cr)
	Stamp(p.canvas, n, p.cfg.Text(n, at))
	w, h := r.size(p.canvas.Rect.Dx(), p.canvas.Rect.Dy())

	return p.scaler.Scale(p.canvas, w, h)
}

// resize makes the encoder one for another size.
func (p *Pilot) resize(w, h int, fps float64) error {
	if p.enc != nil {
		p.count.Resizes++
	}
	p.count.Width, p.count.Height = w, h
	if p.cfg.Builder.Resizable() {
		if p.enc != nil {
			return nil
		}
		w, h = p.canvas.Rect.Dx(), p.canvas.Rect.Dy()
	}
	if err := p.Close(); err != nil {
		return err
	}
	enc, err := p.cfg.Builder.Build(w, h, fps)
	if err != nil {
		return fmt.Errorf("video: encoder for %d x %d: %w", w, h, err)
	}
	p.enc = enc

	return nil
}

// order is what the encoder is told.
func (p *Pilot) order(at time.Duration, target, budget int, fps float64, key bool) Order {
	frame := float64(target) / 8 / fps
	o := Order{At: at, Interval: time.Duration(float64(time.Second) / fps), Bps: int(payload(frame) * 8 * fps), Budget: -1, Key: key}
	if budget >= 0 {
		if p.cfg.MaxBps > 0 {
			budget = min(budget, int(float64(p.cfg.MaxBps)/8/fps))
		}
		o.Budget = int(payload(float64(budget)))
	}

	return o
}

// payload is what is left of a frame's bytes on the link for the encoder.
func payload(link float64) float64 {
	packets := math.Ceil(link / (PacketBytes + Overhead))

	return max(link-packets*Overhead, 50)
}

// Close frees the encoder. It must not be called during Run or Step.
func (p *Pilot) Close() error {
	if p.enc == nil {
		return nil
	}
	err := p.enc.Close()
	p.enc = nil
	if err != nil {
		return fmt.Errorf("video: encoder: %w", err)
	}

	return nil
}
