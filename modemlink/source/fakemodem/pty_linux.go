// SPDX-License-Identifier: MIT

package fakemodem

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenPTY puts the modem on a new pseudo terminal and returns the device's path.
// Clients come one after the other. [Modem.Unplug] makes the device vanish.
func (m *Modem) OpenPTY() (path string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("fakemodem: ptmx: %w", err)
	}
	master := os.NewFile(uintptr(fd), "ptmx")
	fail := func(err error) (string, error) {
		_ = master.Close() // the first error is told

		return "", fmt.Errorf("fakemodem: pty: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return fail(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fail(err)
	}
	path = fmt.Sprintf("/dev/pts/%d", n)
	// Somebody has to have the device open, or reads of the other end fail
	// between two clients; and before the first one sets it, an echo would come
	// back to us.
	slave, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return fail(err)
	}
	if err := raw(int(slave.Fd())); err != nil {
		_ = slave.Close() // the first error is told

		return fail(err)
	}
	m.keep(closeOnce{master})
	m.keep(closeOnce{slave})
	m.wg.Add(1)
	go func() {
		defer m.wg.Done()
		m.stream(master)
	}()

	return path, nil
}

// raw turns off what a terminal does to bytes.
func raw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0

	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}
