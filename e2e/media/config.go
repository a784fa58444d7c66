// SPDX-License-Identifier: MIT

package media

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is what is filmed or shown.
type Kind uint8

const (
	// Camera uses whatever the target allows, up to CapBps.
	Camera Kind = iota
	// AppLimited has scenes, each of which needs its own share of CapBps.
	AppLimited
	// ScreenShare is small frames while little moves, and large ones when the
	// page changes.
	ScreenShare
	// Mute is a Camera that is off during the windows of Muted.
	Mute
	// Simulcast is a Camera coded in several layers at once; how many of them
	// the target decides.
	Simulcast
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Camera:
		return "camera"
	case AppLimited:
		return "applimited"
	case ScreenShare:
		return "screenshare"
	case Mute:
		return "mute"
	case Simulcast:
		return "simulcast"
	default:
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
}

// Model is how an encoder follows its target.
type Model uint8

const (
	// Lognormal obeys every target after Lag; the logarithm of the sizes
	// deviates by Noise; frames come on the tick.
	Lognormal Model = iota
	// RFC8593 reacts at most every 200 ms, answers an abrupt change with a
	// large frame, and deviates in sizes and intervals as RFC 8593 section 5
	// has it. Noise is not used.
	RFC8593
)

// String returns the model's name.
func (m Model) String() string {
	switch m {
	case Lognormal:
		return "lognormal"
	case RFC8593:
		return "rfc8593"
	default:
		return fmt.Sprintf("Model(%d)", uint8(m))
	}
}

// Defaults of [Config].
const (
	// DefaultFPS is the frame rate of everything but a shared screen.
	DefaultFPS = 30
	// DefaultScreenFPS is the mean frame rate of a shared screen; the intervals
	// vary between two and four thirds of their mean.
	DefaultScreenFPS = 10
	// DefaultLag is how old a target is when a frame obeys it.
	DefaultLag = 20 * time.Millisecond
	// DefaultPayloadBytes keeps a packet within any path's MTU.
	DefaultPayloadBytes = 1200
	// DefaultHeaderBytes is IPv4 20 + UDP 8 + RTP 12 with a transport-wide
	// number 8 of extension less padding + SRTP tag 10.
	DefaultHeaderBytes = 50
	// DefaultKeyFrameScale is the size of a key frame in ordinary ones: video
	// conferencing content with one reference is coded about that much
	// cheaper between pictures than within one.
	DefaultKeyFrameScale = 5
	// DefaultAppLimitedBps is the most that AppLimited content needs.
	DefaultAppLimitedBps = 1_000_000
	// DefaultPageEvery is the mean time between page changes.
	DefaultPageEvery = 5 * time.Second
	// DefaultPageBytes is the median of a page's bytes.
	DefaultPageBytes = 100_000
)

const (
	maxFPS     = 240
	maxLag     = 10 * time.Second
	maxRateBps = 2_000_000_000 // fits an int of 32 bits
	maxBytes   = 1 << 24       // of a page, a budget
)

// ErrConfig is wrapped by the errors of [New] and [NewAudio].
var ErrConfig = errors.New("invalid config")

// Window is a part of a call, from its start.
type Window struct{ From, To time.Duration }

// Layer is one encoding of a simulcast sender, bit/s.
type Layer struct {
	// MinBps is below what it is not worth sending, TargetBps what it gets
	// before the next layer gets anything, MaxBps the most it can use.
	MinBps, TargetBps, MaxBps int
}

// DefaultLayers are 320x180, 640x360 and 1280x720 as browsers send them.
func DefaultLayers() []Layer {
	return []Layer{ // libwebrtc: video/config/simulcast.cc, kSimulcastFormats
		{MinBps: 30_000, TargetBps: 150_000, MaxBps: 200_000},
		{MinBps: 150_000, TargetBps: 500_000, MaxBps: 700_000},
		{MinBps: 600_000, TargetBps: 2_500_000, MaxBps: 2_500_000},
	}
}

// Config of a [Source]. The zero value is a camera without noise; a zero field
// stands for its default unless it says otherwise.
type Config struct {
	Kind  Kind
	Model Model
	// Start is the instant of the first frame.
	Start time.Time
	// Seed picks the noise and the content.
	Seed uint64
	// FPS is the frame rate, 1 to 240. Default 30, for ScreenShare 10.
	FPS int
	// Lag is how old a target is when a frame obeys it. Default 20 ms; negative
	// for none.
	Lag time.Duration
	// Noise is the standard deviation of the logarithm of frame sizes, 0 to 1;
	// 0 for none. A camera's is about 0.15.
	Noise float64
	// CapBps is what the content can use at the most; 0 for no cap.
	CapBps int
	// PayloadBytes is the media in a full packet and HeaderBytes what every
	// packet adds on the link. Defaults 1200 and 50.
	PayloadBytes, HeaderBytes int
	// KeyFrameScale is the size of a key frame in ordinary frames, 1 to 20.
	// Default 5, for RFC8593 3.24.
	KeyFrameScale float64
	// StartLarge gives the first frame the size of a key frame. Without it the
	// first one is an ordinary one: a call's start is its warm-up.
	StartLarge bool

	// PageEvery and PageBytes are the mean time between page changes and the
	// median of a page's bytes; ScreenShare only.
	PageEvery time.Duration
	PageBytes int
	// Muted are the windows in which nothing is captured, in order; Mute only.
	// Default 20 s to 35 s.
	Muted []Window
	// Layers are the encodings from the smallest, at most 4; Simulcast only.
	// Default DefaultLayers.
	Layers []Layer
}

const maxLayers = 4

func (c Config) withDefaults() (Config, error) {
	if c.FPS == 0 {
		c.FPS = DefaultFPS
		if c.Kind == ScreenShare {
			c.FPS = DefaultScreenFPS
		}
	}
	if c.Lag == 0 {
		c.Lag = DefaultLag
	}
	c.Lag = max(c.Lag, 0)
	if c.KeyFrameScale == 0 {
		c.KeyFrameScale = DefaultKeyFrameScale
		if c.Model == RFC8593 {
			c.KeyFrameScale = transientScale
		}
	}
	if c.CapBps == 0 && c.Kind == AppLimited {
		c.CapBps = DefaultAppLimitedBps
	}
	orElse(&c.PayloadBytes, DefaultPayloadBytes)
	orElse(&c.HeaderBytes, DefaultHeaderBytes)
	orElse(&c.PageEvery, DefaultPageEvery)
	orElse(&c.PageBytes, DefaultPageBytes)
	if c.Kind == Mute && c.Muted == nil {
		c.Muted = []Window{{20 * time.Second, 35 * time.Second}}
	}
	if c.Kind == Simulcast && c.Layers == nil {
		c.Layers = DefaultLayers()
	}

	return c, c.check()
}

// orElse puts a default where there is nothing.
func orElse[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

func (c Config) check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("media: %w: "+format, append([]any{ErrConfig}, a...)...)
	}
	switch {
	case c.Kind > Simulcast:
		return bad("%v", c.Kind)
	case c.Model > RFC8593:
		return bad("%v", c.Model)
	case c.FPS < 1 || c.FPS > maxFPS:
		return bad("%d frames per second, want 1 to %d", c.FPS, maxFPS)
	case c.Lag > maxLag:
		return bad("a lag of %v, want at most %v", c.Lag, maxLag)
	case !(c.Noise >= 0 && c.Noise <= 1): // not NaN either
		return bad("noise %v, want 0 to 1", c.Noise)
	case c.CapBps < 0 || c.CapBps > maxRateBps:
		return bad("a cap of %d bit/s", c.CapBps)
	case c.PayloadBytes < 1 || c.PayloadBytes > 1<<16 || c.HeaderBytes < 0 || c.HeaderBytes > 1<<16:
		return bad("packets of %d + %d bytes", c.PayloadBytes, c.HeaderBytes)
	case !(c.KeyFrameScale >= 1 && c.KeyFrameScale <= 20):
		return bad("key frames of %v frames, want 1 to 20", c.KeyFrameScale)
	case c.PageEvery < 0 || c.PageBytes < 0 || c.PageBytes > maxBytes:
		return bad("pages of %d bytes every %v", c.PageBytes, c.PageEvery)
	case c.Kind != Mute && c.Muted != nil:
		return bad("%v with muted windows", c.Kind)
	case c.Kind != Simulcast && c.Layers != nil:
		return bad("%v with layers", c.Kind)
	case c.Kind == Simulcast && (len(c.Layers) == 0 || len(c.Layers) > maxLayers):
		return bad("%d layers, want 1 to %d", len(c.Layers), maxLayers)
	}
	end := time.Duration(0)
	for _, w := range c.Muted {
		if w.From < end || w.To <= w.From {
			return bad("muted windows %v are not in order", c.Muted)
		}
		end = w.To
	}
	if i := slices.IndexFunc(c.Layers, func(l Layer) bool {
		return l.MinBps < 0 || l.TargetBps < l.MinBps || l.MaxBps < l.TargetBps || l.MaxBps < 1 || l.MaxBps > maxRateBps
	}); i >= 0 {
		return bad("layer %d: %+v", i, c.Layers[i])
	}

	return nil
}
