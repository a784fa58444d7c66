// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gbrcc/gbrcc/e2e/peer"
	"github.com/gbrcc/gbrcc/e2e/sound"
)

// audio is what is heard with -video: every leg has an encoder and a tone of its
// own, or all of them the microphone.
type audio struct {
	microphone microphone // nil: a tone
}

type microphone interface {
	Listen() *sound.Listener
	io.Closer
}

// newAudio reads -sound: tone, microphone, or none, for which it returns nil.
// Nothing said is the microphone beside a camera, else a tone.
func newAudio(which, picture string) (*audio, error) {
	if which == "" {
		which = "tone"
		if picture == "camera" {
			which = "microphone"
		}
	}
	switch which {
	case "none":
		return nil, nil //nolint:nilnil // a nil audio is the documented "none"
	case "tone":
		return &audio{}, nil
	case "microphone":
		m, err := newMicrophone()
		if err != nil {
			return nil, fmt.Errorf("-sound microphone: %w (-sound tone or none does without)", err)
		}

		return &audio{m}, nil
	default:
		return nil, fmt.Errorf("-sound %s: want tone, microphone or none", which)
	}
}

// send is the sender of a leg.
func (a *audio) send(ctx context.Context, to *peer.Audio) error {
	enc, err := newOpus()
	if err != nil {
		return err
	}
	var source sound.Source = sound.NewTone(to.Start())
	if a.microphone != nil {
		l := a.microphone.Listen()
		defer l.Close()
		source = l
	}
	err = sound.Run(ctx, source, enc, func(p sound.Packet) error { return to.Write(p.Data, p.Captured.Sub(to.Start())) })
	if ctx.Err() != nil {
		err = nil // the connection goes down
	}

	return errors.Join(err, enc.Close())
}

// close lets the microphone go.
func (a *audio) close() error {
	if a == nil || a.microphone == nil {
		return nil
	}

	return a.microphone.Close()
}
