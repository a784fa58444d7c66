// SPDX-License-Identifier: MIT

//go:build !codec

package main

import (
	"errors"

	"github.com/gbrcc/gbrcc/e2e/sound"
	"github.com/gbrcc/gbrcc/e2e/video"
)

var errBuild = errors.New("not in this build")

// These are not reached without an encoder.
func newCamera() (source, error)         { return nil, errBuild }
func newMicrophone() (microphone, error) { return nil, errBuild }
func newOpus() (sound.Encoder, error)    { return nil, errBuild }

// newEncoder says how to build a program that has encoders.
func newEncoder() (video.Builder, error) {
	return nil, errors.New("this program was built without an encoder; with libvpx (Debian: apt-get install gcc g++ pkg-config libvpx-dev): go run -tags codec ./examples/call -video")
}
