// SPDX-License-Identifier: MIT

//go:build codec

package main

import (
	"github.com/gbrcc/gbrcc/e2e/sound"
	"github.com/gbrcc/gbrcc/e2e/video"
	"github.com/gbrcc/gbrcc/e2e/video/devices"
	"github.com/gbrcc/gbrcc/e2e/video/vp8"
)

// newCamera opens a camera of this machine, and is to be closed.
func newCamera() (source, error) { return devices.NewCamera(1280, 720, filmFPS) }

// newEncoder makes the encoders of -video.
func newEncoder() (video.Builder, error) { return devices.Encoder(&vp8.Builder{}, true), nil }

// newMicrophone opens the microphone of this machine, and is to be closed.
func newMicrophone() (microphone, error) { return sound.NewMicrophone() }

// newOpus makes the encoders of -sound.
func newOpus() (sound.Encoder, error) { return sound.NewOpus() }
