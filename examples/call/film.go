// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gbrcc/gbrcc/e2e/peer"
	"github.com/gbrcc/gbrcc/e2e/video"
	"github.com/gbrcc/gbrcc/examples/command"
	"github.com/gbrcc/gbrcc/interceptor"
)

// film is what is shown with -video: an encoder, and a picture for each leg.
type film struct {
	encoder video.Builder
	shared  video.Source // of all legs: the pattern, a camera; nil: from a file
	close   func() error // of the devices
	file    string
	fps     int
	audio   *audio // nil: silent
}

// source is pictures that have to be given back.
type source interface {
	video.Source
	io.Closer
}

// listen adds the sound.
func (f *film) listen(which, picture string) (err error) {
	if f.audio, err = newAudio(which, picture); err != nil {
		return errors.Join(err, f.close())
	}
	camera := f.close
	f.close = func() error { return errors.Join(f.audio.close(), camera()) }

	return nil
}

const (
	filmFPS  = 30
	filmSeed = 1
)

// newFilm reads -picture: pattern:WIDTHxHEIGHT, camera, or a file.
func newFilm(picture string) (*film, error) {
	encoder, err := newEncoder()
	if err != nil {
		return nil, err
	}
	f := &film{encoder: encoder, fps: filmFPS, close: func() error { return nil }}
	if size, ok := strings.CutPrefix(picture, "pattern:"); ok {
		var w, h int
		if n, _ := fmt.Sscanf(size, "%dx%d", &w, &h); n != 2 || fmt.Sprintf("%dx%d", w, h) != size {
			return nil, fmt.Errorf("-picture %s: want pattern:640x360", picture)
		}
		if f.shared, err = video.NewPattern(w, h, filmSeed); err != nil {
			return nil, fmt.Errorf("-picture %s: %w", picture, err)
		}

		return f, nil
	}
	if picture == "camera" {
		c, err := newCamera()
		if err != nil {
			return nil, fmt.Errorf("-picture camera: %w", err)
		}
		f.shared, f.close = c, c.Close

		return f, nil
	}
	f.file = picture
	y, done, err := f.open()
	if err != nil {
		return nil, err
	}
	f.fps = y.FPS()

	return f, done()
}

// open opens the file.
func (f *film) open() (y *video.Y4M, done func() error, err error) {
	r, err := os.Open(f.file)
	if err != nil {
		return nil, nil, fmt.Errorf("-picture %s: %w", f.file, command.Plain(err))
	}
	if y, err = video.NewY4M(r); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("-picture %s: %w", f.file, err), r.Close())
	}

	return y, r.Close, nil
}

// show is the sender of a leg: it encodes what the estimator has room for. What the
// estimator has to say is noted, and obeyed with the next frame.
func (f *film) show(ctx context.Context, v *peer.Video) (err error) {
	source := f.shared
	if source == nil {
		y, done, err := f.open()
		if err != nil {
			return err
		}
		defer done() //nolint:errcheck // it was only read
		source = y
	}
	share, err := newShare(v.Estimator(), f.audio != nil)
	if err != nil {
		return err
	}
	var pilot *video.Pilot
	cfg := video.Config{
		Builder: f.encoder, Source: source, FPS: f.fps, MaxBps: maxBps,
		Target: func() int {
			if v.KeyWanted() {
				pilot.KeyFrame()
			}

			return int(share.pictures.Load())
		},
		Write: func(fr video.Frame) error { return v.Write(fr.Data, fr.Captured, fr.Key) },
	}
	e, own := v.Estimator().(*interceptor.Estimator)
	if own {
		cfg.Leave = e.SkipFrame
	}
	if pilot, err = video.New(cfg); err != nil {
		return err
	}
	if own {
		e.OnAdvice(func(a interceptor.Advice) {
			pilot.Skip(a.SkipFrames)
			if a.KeyFrame {
				pilot.KeyFrame()
			}
		})
	}
	err = pilot.Run(ctx, v.Start())
	if ctx.Err() != nil {
		err = nil // the connection goes down
	}

	return errors.Join(err, pilot.Close())
}
