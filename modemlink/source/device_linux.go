// SPDX-License-Identifier: MIT

package source

import (
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const devicePath = "/dev/diag"

// pollMillis is how long a Read waits before it looks whether it was closed.
const pollMillis = 100

// kernelDevice opens the driver of this kernel.
func kernelDevice() (device, error) {
	// Not os.File: the driver's read blocks whatever O_NONBLOCK says, and a
	// File under Read cannot be closed.
	fd, err := unix.Open(devicePath, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: devicePath, Err: err}
	}

	return newFDDevice(fd), nil
}

// fdDevice is a device by its descriptor. The descriptor is closed when the last
// user is gone, so that no call hits another file with its number.
type fdDevice struct {
	fd     int
	closed atomic.Bool
	users  atomic.Int64
}

func newFDDevice(fd int) *fdDevice {
	d := &fdDevice{fd: fd}
	d.users.Store(1)

	return d
}

// enter returns false when it is closed.
func (d *fdDevice) enter() bool {
	for {
		n := d.users.Load()
		if n == 0 || d.closed.Load() {
			return false
		}
		if d.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (d *fdDevice) leave() {
	if d.users.Add(-1) == 0 {
		_ = unix.Close(d.fd) // nothing is buffered
	}
}

// Read is device's.
func (d *fdDevice) Read(p []byte) (int, error) {
	if !d.enter() {
		return 0, io.EOF
	}
	defer d.leave()
	for !d.closed.Load() {
		fds := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, pollMillis)
		switch {
		case err == unix.EINTR || n == 0 && err == nil:
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		}
		n, err = unix.Read(d.fd, p)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}

		return n, nil
	}

	return 0, io.EOF
}

// Write is device's.
func (d *fdDevice) Write(p []byte) (int, error) {
	if !d.enter() {
		return 0, os.ErrClosed
	}
	defer d.leave()
	n, err := unix.Write(d.fd, p)
	if err != nil {
		return 0, os.NewSyscallError("write", err)
	}

	return n, nil
}

// Ioctl is device's.
func (d *fdDevice) Ioctl(req uintptr, arg []byte) error {
	if !d.enter() {
		return os.ErrClosed
	}
	defer d.leave()
	// A driver may read or write more than arg: it gets memory for that.
	var b [256]byte
	n := copy(b[:], arg)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.fd), req, uintptr(unsafe.Pointer(&b[0])))
	runtime.KeepAlive(&b)
	if errno != 0 {
		return os.NewSyscallError("ioctl", errno)
	}
	copy(arg, b[:n])

	return nil
}

// IoctlInt is device's.
func (d *fdDevice) IoctlInt(req, arg uintptr) error {
	if !d.enter() {
		return os.ErrClosed
	}
	defer d.leave()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.fd), req, arg); errno != 0 {
		return os.NewSyscallError("ioctl", errno)
	}

	return nil
}

// Close is device's.
func (d *fdDevice) Close() error {
	if !d.closed.Swap(true) {
		d.leave()
	}

	return nil
}
