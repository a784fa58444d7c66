// SPDX-License-Identifier: MIT

//go:build linux || darwin || freebsd || openbsd

package source

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockDevice takes the advisory lock that terminal programs take on a serial
// device. Closing gives it back; so does the end of the process.
func lockDevice(dev string) (io.Closer, error) {
	// Without O_NONBLOCK opening waits for a carrier.
	fd, err := unix.Open(dev, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dev, Err: err}
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = unix.Close(fd) // nothing was done yet

		return nil, &os.PathError{Op: "lock", Path: dev, Err: err}
	}

	return lock(fd), nil
}

type lock int

// Close gives the lock back.
func (l lock) Close() error { return unix.Close(int(l)) }
