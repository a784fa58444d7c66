// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// What can be wrong with a modem's port. The errors of Run wrap them, and say
// what to do.
var (
	// ErrBusy: a modem has one diagnostic client at a time.
	ErrBusy = errors.New("another program owns the modem")
	// ErrPermission: diagnostic ports are for root, unless somebody is let in.
	ErrPermission = errors.New("permission denied")
	// ErrNoDevice: there is no such port, or nothing behind it.
	ErrNoDevice = errors.New("no such device")
	// ErrRefused: the modem answers, but logs nothing of what is needed.
	ErrRefused = errors.New("the modem refuses the log mask")
	// ErrSilent: the port is open and nobody answers.
	ErrSilent = errors.New("the modem does not answer")
	// ErrGone: the port was there and is not any more.
	ErrGone = errors.New("the modem is gone")
)

// port is one way to a modem. Read is called from one goroutine, Send from
// another, Close from any.
type port interface {
	// Read returns bytes of the modem's HDLC stream, as an io.Reader.
	Read(p []byte) (int, error)
	// Send writes one command, which is not framed yet.
	Send(cmd []byte) error
	// Close undoes what opening changed, and ends a Read or Send under way.
	Close() error
}

// opener opens a port. Its errors wrap the ones above where they can.
type opener func(ctx context.Context) (port, error)

// portError tells what a system's error means, and adds the advice that goes
// with it. name is the source as the user gave it.
func portError(name string, err error, advice string) error {
	kind := classify(err)
	switch {
	case kind == nil:
		return fmt.Errorf("source: %s: %w", name, err)
	case errors.Is(kind, ErrPermission):
		advice = "run as root, or let this user in (on Linux with a udev rule)"
	case errors.Is(kind, ErrBusy):
		advice = "stop the other one (another agent, QXDM, ModemManager, a logger app)"
	}
	if advice != "" {
		advice = ": " + advice
	}

	return fmt.Errorf("source: %s: %w%s (%w)", name, kind, advice, err)
}

// classify returns which of the errors above a system's error is, or nil.
func classify(err error) error {
	for _, kind := range [...]error{ErrBusy, ErrPermission, ErrNoDevice, ErrRefused, ErrSilent, ErrGone} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EEXIST), errors.Is(err, syscall.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV),
		errors.Is(err, syscall.ECONNREFUSED):
		return ErrNoDevice
	}

	return nil
}
