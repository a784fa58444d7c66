// SPDX-License-Identifier: MIT

//go:build codec

package devices

import (
	"errors"
	"image"
	"time"

	"github.com/pion/mediadevices/pkg/codec"
	"github.com/pion/mediadevices/pkg/prop"

	"github.com/gbrcc/gbrcc/e2e/video"
)

// FrameController is a codec.EncoderController that can be told of the next
// frame: its time of capture, on any clock, the time until the frame after it, and
// the bytes that it should have, negative for what the rate gives it.
type FrameController interface {
	SetFrame(at, interval time.Duration, budget int) error
}

// Encoder makes encoders of mediadevices' kind; resizable says whether theirs
// take pictures whose size changes.
func Encoder(b codec.VideoEncoderBuilder, resizable bool) video.Builder {
	return &builder{b, resizable}
}

type builder struct {
	codec.VideoEncoderBuilder
	resizable bool
}

func (b *builder) Resizable() bool { return b.resizable }

func (b *builder) Build(width, height int, fps float64) (video.Encoder, error) {
	e := &encoder{}
	var err error
	e.r, err = b.BuildVideoEncoder(e, prop.Media{Video: prop.Video{Width: width, Height: height, FrameRate: float32(fps)}})

	return e, err
}

// encoder is also the reader that its codec takes the picture from.
type encoder struct {
	r       codec.ReadCloser
	img     *image.YCbCr
	bps     int
	release func()
}

var errRead = errors.New("devices: the encoder reads ahead")

// Read implements mediadevices' video.Reader.
func (e *encoder) Read() (image.Image, func(), error) {
	img := e.img
	if e.img = nil; img == nil {
		return nil, func() {}, errRead
	}

	return img, func() {}, nil
}

// Encode implements video.Encoder.
func (e *encoder) Encode(img *image.YCbCr, o video.Order) ([]byte, error) {
	c := e.r.Controller()
	if o.Bps != e.bps {
		if c, ok := c.(codec.BitRateController); ok {
			if err := c.SetBitRate(o.Bps); err != nil {
				return nil, err
			}
		}
		e.bps = o.Bps
	}
	if c, ok := c.(FrameController); ok {
		if err := c.SetFrame(o.At, o.Interval, o.Budget); err != nil {
			return nil, err
		}
	}
	if c, ok := c.(codec.KeyFrameController); ok && o.Key {
		if err := c.ForceKeyFrame(); err != nil {
			return nil, err
		}
	}
	if e.release != nil {
		e.release()
	}
	e.img = img
	data, release, err := e.r.Read()
	e.release = release

	return data, err
}

// Close implements video.Encoder.
func (e *encoder) Close() error { return e.r.Close() }
