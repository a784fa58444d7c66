// SPDX-License-Identifier: MIT

//go:build !linux && !darwin && !freebsd && !openbsd

package source

import "io"

// lockDevice does nothing where opening a serial device is exclusive.
func lockDevice(string) (io.Closer, error) { return noLock{}, nil }

type noLock struct{}

// Close does nothing.
func (noLock) Close() error { return nil }
