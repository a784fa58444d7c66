// SPDX-License-Identifier: MIT

//go:build codec

package devices

import (
	"errors"
	"fmt"
	"image"
	"sync"

	"github.com/pion/mediadevices"
	_ "github.com/pion/mediadevices/pkg/driver/camera" // registers the cameras of this machine
	mdvideo "github.com/pion/mediadevices/pkg/io/video"
	"github.com/pion/mediadevices/pkg/prop"
)

// ErrClosed is returned by a Camera after Close.
var ErrClosed = errors.New("devices: the camera is closed")

// Camera is a camera of this machine. It implements video.Source: Picture is the
// latest one, whatever its number. It is safe for concurrent use.
type Camera struct {
	stream mediadevices.MediaStream
	w, h   int

	mu     sync.Mutex
	latest *image.YCbCr
	err    error
}

// NewCamera opens the camera whose pictures are the nearest to a size and frame
// rate, and waits for the first one.
func NewCamera(width, height, fps int) (*Camera, error) {
	s, err := mediadevices.GetUserMedia(mediadevices.MediaStreamConstraints{Video: func(c *mediadevices.MediaTrackConstraints) {
		c.Width, c.Height, c.FrameRate = prop.Int(width), prop.Int(height), prop.Float(fps)
	}})
	if err != nil {
		return nil, fmt.Errorf("devices: no camera: %w", err)
	}
	c := &Camera{stream: s}
	tracks := s.GetVideoTracks()
	track, ok := tracks[0].(*mediadevices.VideoTrack)
	if !ok {
		return nil, errors.Join(errors.New("devices: the camera has no pictures"), c.closeTracks())
	}
	r := mdvideo.ToI420(track.NewReader(false))
	if err := c.take(r); err != nil {
		return nil, errors.Join(err, c.closeTracks())
	}
	c.w, c.h = c.latest.Rect.Dx(), c.latest.Rect.Dy()
	go func() {
		for c.take(r) == nil {
		}
	}()

	return c, nil
}

// take reads a picture. The reader may use its memory again, and a picture that was
// given out must not change, so each gets its own.
func (c *Camera) take(r mdvideo.Reader) error {
	img, release, err := r.Read()
	var p *image.YCbCr
	if err == nil {
		defer release()
		p, err = evenCopy(img)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("devices: camera: %w", err)
	}
	if c.err != nil {
		return c.err
	}
	c.latest = p

	return nil
}

// evenCopy copies a picture, less the last row or column of an odd size.
func evenCopy(img image.Image) (*image.YCbCr, error) {
	p, ok := img.(*image.YCbCr)
	if !ok || p.SubsampleRatio != image.YCbCrSubsampleRatio420 {
		return nil, errors.New("no 4:2:0 picture")
	}
	w, h := p.Rect.Dx()&^1, p.Rect.Dy()&^1
	out := image.NewYCbCr(image.Rect(0, 0, w, h), p.SubsampleRatio)
	for y := range h {
		copy(out.Y[y*out.YStride:][:w], p.Y[y*p.YStride:])
	}
	for y := range h / 2 {
		copy(out.Cb[y*out.CStride:][:w/2], p.Cb[y*p.CStride:])
		copy(out.Cr[y*out.CStride:][:w/2], p.Cr[y*p.CStride:])
	}

	return out, nil
}

// Size implements video.Source.
func (c *Camera) Size() (width, height int) { return c.w, c.h }

// Picture implements video.Source.
func (c *Camera) Picture(int) (*image.YCbCr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.latest, c.err
}

func (c *Camera) closeTracks() error {
	var errs []error
	for _, t := range c.stream.GetTracks() {
		errs = append(errs, t.Close())
	}

	return errors.Join(errs...)
}

// Close lets the camera go. It does not wait for a picture under way: some drivers
// never finish it.
func (c *Camera) Close() error {
	c.mu.Lock()
	c.err = ErrClosed
	c.mu.Unlock()

	return c.closeTracks()
}
