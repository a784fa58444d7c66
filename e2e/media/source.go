// SPDX-License-Identifier: MIT

package media

import (
	"math"
	"math/rand/v2"
	"time"
)

// MinFrameBytes keeps a picture a picture however low the target or the budget.
const MinFrameBytes = 100

const (
	// minKeyInterval is how long after a request for a key frame another one is
	// not obeyed. libwebrtc: EncoderRtcpFeedback.
	minKeyInterval = 300 * time.Millisecond
	// maxLate is from when on missed captures are not made up for.
	maxLate = time.Second
)

// Frame is what an encoder or a microphone hands over.
type Frame struct {
	// Size is bytes of media payload, at least 1.
	Size int
	// Key is a frame that can be decoded without those before it.
	Key bool
	// Audio tells speech from pictures.
	Audio bool
	// Layer is the highest simulcast layer in it. Size counts all layers of an
	// instant: they leave together.
	Layer int
	// Capture is the time given to Capture.
	Capture time.Time
}

// Budget is how many bytes of payload a frame may have, when OK.
type Budget struct {
	Bytes int
	OK    bool
}

// keyNeed says what the next frame has to be, in order of importance.
type keyNeed uint8

const (
	keyNone  keyNeed = iota
	keySmall         // marked, but of ordinary size
	keyLarge
)

// open is what the next frame still has to settle.
type open struct {
	key       keyNeed
	transient bool // RFC 8593
	debt      debt
	appeared  bool // screen
	unsent    float64
	top       int // simulcast
}

// Source is an encoder and what is in front of it.
type Source struct {
	cfg      Config
	targets  targets
	reaction reaction
	size     sizeNoise
	tick     ticker
	next     time.Time
	muted    int // windows of cfg.Muted that lie before next

	scene  scene
	screen screen
	layers layers

	key       keyNeed
	transient bool
	debt      debt
	asked     time.Time // the request that was last obeyed

	before   open // the latest frame
	captured bool // and it can be taken back
}

// New makes a source.
func New(cfg Config) (*Source, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	content := rand.New(rand.NewPCG(cfg.Seed, seedContent))
	s := &Source{
		cfg:     cfg,
		targets: targets{lag: cfg.Lag},
		size:    sizeNoise{rand.New(rand.NewPCG(cfg.Seed, seedSize)), cfg.Model, cfg.Noise},
		tick:    newTicker(cfg),
		next:    cfg.Start,
		scene:   scene{rng: content, end: cfg.Start, capBps: cfg.CapBps},
		screen:  newScreen(cfg, content),
		layers:  layers{cfg: cfg.Layers},
		key:     keySmall,
	}
	if cfg.StartLarge {
		s.key = keyLarge
	}
	s.skipMuted()

	return s, nil
}

// OnTarget says what rate the encoder is to have, bit/s on the link. The first
// one is in force at once, later ones after Lag. Rates above 2 Gbit/s count as
// that.
func (s *Source) OnTarget(now time.Time, bps int) { s.targets.add(now, bps) }

// Target is the rate that frames obey now: what was asked for Lag ago.
func (s *Source) Target(now time.Time) int { return s.targets.at(now) }

// OnKeyFrameRequest makes the next frame a key frame, as a picture loss
// indication does; not within 300 ms of the request before.
func (s *Source) OnKeyFrameRequest(now time.Time) {
	if !s.asked.IsZero() && now.Sub(s.asked) < minKeyInterval {
		return
	}
	s.asked, s.key = now, keyLarge
}

// OnSkipped takes the latest frame back: it did not leave, so the next one is
// coded against what the receiver has. A key frame stays due, a page unsent,
// and nothing has to be paid back. Once a frame.
func (s *Source) OnSkipped(time.Time) {
	if !s.captured {
		return
	}
	s.captured = false
	b := s.before
	s.key, s.transient = max(s.key, b.key), s.transient || b.transient
	s.debt, s.layers.top = b.debt, b.top
	s.screen.unsent, s.screen.appeared = b.unsent, s.screen.appeared || b.appeared
}

// NextTimeout is when the next frame is captured.
func (s *Source) NextTimeout() time.Time { return s.next }

// Capture returns the frame that is due, if one is. A budget is obeyed to the
// byte, but for what the content cannot use and for MinFrameBytes. Captures
// missed by up to a second are made up for: ask until there is none.
func (s *Source) Capture(now time.Time, b Budget) (Frame, bool) {
	if now.Before(s.next) {
		return Frame{}, false
	}
	noise := s.size.draw()
	bps := s.targets.at(now)
	if s.cfg.Model == RFC8593 {
		rate, abruptly := s.reaction.follow(now, bps)
		bps, s.transient = rate, s.transient || abruptly
	}
	limit := s.contentBps(now)
	if limit > 0 {
		bps = min(bps, limit)
		b.Bytes = min(b.Bytes, limit/8/s.cfg.FPS)
	}
	f := Frame{Capture: now}
	if s.cfg.Kind == ScreenShare {
		moving := s.screen.look(now)
		s.remember()
		f.Size = s.screenFrame(bps, noise, moving, b)
	} else {
		s.remember()
		f.Size = s.cameraFrame(bps, noise, b)
	}
	f.Key, f.Layer = s.key != keyNone, s.layers.top
	s.key, s.transient = keyNone, false
	s.advance(now)

	return f, true
}

// remember is for OnSkipped.
func (s *Source) remember() {
	s.captured = true
	s.before = open{s.key, s.transient, s.debt, s.screen.appeared, s.screen.unsent, s.layers.top}
}

// contentBps is what the content can use; 0 for no limit.
func (s *Source) contentBps(now time.Time) int {
	switch s.cfg.Kind {
	case AppLimited:
		return s.scene.look(now)
	case Simulcast:
		if most := s.layers.maxBps(); s.cfg.CapBps == 0 || most < s.cfg.CapBps {
			return most
		}
	default:
	}

	return s.cfg.CapBps
}

// cameraFrame returns the size of a frame of which there is always more.
func (s *Source) cameraFrame(bps int, noise float64, b Budget) int {
	share := 1.0
	if s.cfg.Kind == Simulcast {
		var switched bool
		if bps, share, switched = s.layers.allocate(bps); switched && s.key == keyNone {
			// Whoever watches has nothing of that layer yet.
			s.key = keyLarge
		}
	}
	if b.OK {
		// Whoever gives the budget has counted what was sent.
		s.debt = debt{}

		return min(max(MinFrameBytes, b.Bytes), maxBytes)
	}
	ordinary := float64(bps) / 8 / float64(s.cfg.FPS) * noise
	scale := 1 + (s.scale()-1)*share
	if scale == 1 {
		return s.media(ordinary - s.debt.pay(ordinary))
	}
	s.debt.owe(ordinary*(scale-1), float64(bps)/8)

	return s.media(ordinary * scale)
}

// screenFrame returns the size of a frame that is as large as what has changed,
// or as what is allowed of it.
func (s *Source) screenFrame(bps int, noise, moving float64, b Budget) int {
	sc := &s.screen
	if s.key == keyLarge {
		sc.unsent = sc.page
	}
	want := moving + sc.unsent
	ordinary := float64(bps) / 8 / float64(s.cfg.FPS) * noise
	scale := s.scale()
	if sc.appeared {
		// A new page is all new, like a key frame.
		scale = max(scale, s.cfg.KeyFrameScale)
	}
	sc.appeared = false
	var size int
	if b.OK {
		s.debt = debt{}
		size = min(max(MinFrameBytes, min(b.Bytes, s.media(want))), maxBytes)
	} else {
		allowed := ordinary * scale
		if scale == 1 {
			allowed -= s.debt.pay(ordinary)
		}
		link := min(allowed, want)
		s.debt.owe(link-ordinary, float64(bps)/8)
		// What is not needed pays back, too.
		s.debt.bytes = max(0, s.debt.bytes-(allowed-link))
		size = s.media(link)
	}
	sc.unsent = max(0, sc.unsent-max(0, s.link(size)-moving))

	return size
}

// scale is the size of this frame in ordinary ones.
func (s *Source) scale() float64 {
	switch {
	case s.key == keyLarge:
		return s.cfg.KeyFrameScale
	case s.transient:
		return transientScale
	default:
		return 1
	}
}

// media is what is left of bytes on the link when the headers are gone.
func (s *Source) media(link float64) int {
	link = min(link, maxBytes)
	packets := math.Ceil(link / float64(s.cfg.PayloadBytes+s.cfg.HeaderBytes))

	return max(MinFrameBytes, int(link-packets*float64(s.cfg.HeaderBytes)))
}

// link is what a frame takes on the link.
func (s *Source) link(media int) float64 {
	packets := math.Ceil(float64(media) / float64(s.cfg.PayloadBytes))

	return float64(media) + packets*float64(s.cfg.HeaderBytes)
}

// advance sets the next capture.
func (s *Source) advance(now time.Time) {
	s.next = s.next.Add(s.tick.draw())
	if late := now.Sub(s.next); late > maxLate {
		s.next = s.next.Add(late.Truncate(s.tick.period))
	}
	s.skipMuted()
}

// skipMuted moves the next capture out of a muted window, on its tick.
func (s *Source) skipMuted() {
	for s.muted < len(s.cfg.Muted) {
		w := s.cfg.Muted[s.muted]
		if s.next.Before(s.cfg.Start.Add(w.From)) {
			return
		}
		if left := s.cfg.Start.Add(w.To).Sub(s.next); left > 0 {
			p := s.tick.period
			s.next = s.next.Add((left + p - 1).Truncate(p))
		}
		s.key = keyLarge
		s.muted++
	}
}
