// SPDX-License-Identifier: MIT

//go:build linux

package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

// driver is a kernel's diagnostic driver with a fake modem behind it.
type driver struct {
	modem *fakemodem.Modem
	// size is the only length of the mode argument that it takes, 0 for a
	// number; param what has to be in it.
	size  int
	param byte
	// remote modems have a token before each buffer.
	remote bool
	// noBuffer drivers know no buffer modes, noQuery not which processors there
	// are.
	noBuffer, noQuery bool
	// busy is the answer when another program logs.
	busy error

	pipe    io.ReadWriteCloser
	mu      sync.Mutex
	modes   []uint32
	mask    uint32
	devices uint32
	buffer  []byte
	deinit  bool
	closed  bool
}

func (d *driver) open() (device, error) {
	a, b := fakePipe()
	d.pipe = a
	go d.modem.ServeStream(b)

	return d, nil
}

// fakePipe is a connection with a buffer: a driver's write does not wait for the
// modem.
func fakePipe() (a, b io.ReadWriteCloser) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()

	return &duplex{ar, aw}, &duplex{br, bw}
}

type duplex struct {
	r *io.PipeReader
	w *io.PipeWriter
}

func (d *duplex) Read(p []byte) (int, error)  { return d.r.Read(p) }
func (d *duplex) Write(p []byte) (int, error) { return d.w.Write(p) }
func (d *duplex) Close() error                { return errors.Join(d.r.Close(), d.w.Close()) }

func (d *driver) Read(p []byte) (int, error) {
	buf := make([]byte, 8192)
	n, err := d.pipe.Read(buf)
	if err != nil {
		return 0, err
	}
	// Two buffers a read, cut anywhere.
	pieces := [][]byte{buf[:n/3], buf[n/3 : n]}
	b := binary.LittleEndian.AppendUint32(nil, 0x20)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(pieces)))
	for _, piece := range pieces {
		if d.remote {
			b = binary.LittleEndian.AppendUint32(b, 0xFFFFFFFF)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(piece)))
		b = append(b, piece...)
	}

	return copy(p, b), nil
}

func (d *driver) Write(p []byte) (int, error) {
	head := 4
	if d.remote {
		head = 8
		if len(p) < 8 || binary.LittleEndian.Uint32(p[4:]) != 0xFFFFFFFF {
			return 0, syscall.EINVAL
		}
	}
	if len(p) < head || binary.LittleEndian.Uint32(p) != 0x20 {
		return 0, syscall.EINVAL
	}
	if bytes.HasPrefix(p[head:], []byte{0x63}) {
		return 0, syscall.EFAULT // a command that nobody registered
	}
	_, err := d.pipe.Write(p[head:])

	return len(p), err
}

func (d *driver) Ioctl(req uintptr, arg []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch req {
	case reqRemoteDev:
		if d.remote {
			arg[0] = 1
		}

		return nil
	case reqQueryCon, reqQueryConOld:
		if d.noQuery || req == reqQueryCon {
			return syscall.EINVAL
		}
		binary.LittleEndian.PutUint32(arg, 0x42)

		return nil
	case reqSwitchLogging:
		switch {
		case d.busy != nil:
			return d.busy
		case d.size == 0 || len(arg) != d.size:
			return syscall.EFAULT
		case d.size > 12 && arg[12] != d.param && binary.LittleEndian.Uint32(arg) == modeMemory:
			return syscall.EINVAL
		}
		d.modes = append(d.modes, binary.LittleEndian.Uint32(arg))
		if len(arg) >= 8 {
			d.mask = binary.LittleEndian.Uint32(arg[4:])
		}
		if len(arg) >= 24 {
			d.devices = binary.LittleEndian.Uint32(arg[20:])
		}

		return nil
	case reqBufConfig:
		if d.noBuffer {
			return syscall.EIO
		}
		d.buffer = bytes.Clone(arg)

		return nil
	case reqBufDrain:
		if d.noBuffer {
			return syscall.EIO
		}
		d.modem.Drain()

		return nil
	case reqDeinit:
		d.deinit = true

		return nil
	default:
		return syscall.ENOTTY
	}
}

func (d *driver) IoctlInt(req, arg uintptr) error {
	if req != reqSwitchLogging || d.size != 0 {
		return syscall.EFAULT
	}
	if d.busy != nil {
		return d.busy
	}
	d.modes = append(d.modes, uint32(arg))

	return nil
}

func (d *driver) Close() error {
	d.closed = true

	return d.pipe.Close()
}

// Every driver that there is can be opened, logs, and is put back.
func TestDeviceDrivers(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    *driver
		mask uint32
		devs uint32
	}{
		{"24 bytes", &driver{size: 24, param: 1}, 0x42, 1},
		{"24 bytes, parameter 0", &driver{size: 24}, 0x42, 1},
		{"20 bytes", &driver{size: 20, noQuery: true}, conAll, 0},
		{"16 bytes", &driver{size: 16, noQuery: true}, conAll, 0},
		{"12 bytes", &driver{size: 12, noQuery: true}, conAll, 0},
		{"4 bytes", &driver{size: 4, noQuery: true, noBuffer: true}, 0, 0},
		{"a number", &driver{size: 0, noQuery: true, noBuffer: true}, 0, 0},
		{"external modem", &driver{size: 24, param: 1, remote: true}, 0x42, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := tc.d
				d.modem = fakemodem.New(fakemodem.Config{Play: busy(t, 10240*ms)})
				defer d.modem.Close() //nolint:errcheck // nothing was opened
				src := &modem{name: "diag", open: openDevice(d.open, silentLog()), cfg: Config{Logger: silentLog()}}
				ctx, cancel := context.WithTimeoutCause(t.Context(), 6*time.Second, errDone)
				defer cancel()
				var got telemetry
				if err := src.Run(ctx, got.emit); !errors.Is(err, errDone) {
					t.Fatalf("Run returned %v", err)
				}
				synctest.Wait()
				if len(got.samples) < 600 {
					t.Errorf("%d samples in 6 s", len(got.samples))
				}
				if !slices.Equal(d.modes, []uint32{modeMemory, modeUSB}) || !d.deinit || !d.closed {
					t.Errorf("modes %v, deinit %t, closed %t; want memory then USB", d.modes, d.deinit, d.closed)
				}
				if d.mask != tc.mask || d.devices != tc.devs {
					t.Errorf("processors %#x devices %d, want %#x %d", d.mask, d.devices, tc.mask, tc.devs)
				}
				if on := d.modem.Masked(); len(on) != 0 {
					t.Errorf("left on: %v", on)
				}
				// Drained, records are as old as their batches; if not, bursts of
				// 380 ms come on top.
				p90 := got.quantile(.9)
				if d.noBuffer && (p90 < 250*ms || d.modem.Drains() != 0) || !d.noBuffer && (p90 > 60*ms || d.modem.Drains() < 3000) {
					t.Errorf("age p90 %v with %d drains", p90, d.modem.Drains())
				}
				if !d.noBuffer && !bytes.Equal(d.buffer, []byte{0, 0, 85, 15}) {
					t.Errorf("buffer configuration %v", d.buffer)
				}
			})
		})
	}
}

func TestDeviceRefusals(t *testing.T) {
	for _, tc := range []struct {
		name string
		open func() (device, error)
		want error
	}{
		{"not there", func() (device, error) { return nil, os.NewSyscallError("open", syscall.ENOENT) }, ErrNoDevice},
		{"no root", func() (device, error) { return nil, os.NewSyscallError("open", syscall.EACCES) }, ErrPermission},
		{"no SELinux permission", func() (device, error) { return nil, os.NewSyscallError("open", syscall.EPERM) }, ErrPermission},
		{"one client only", func() (device, error) { return nil, os.NewSyscallError("open", syscall.EBUSY) }, ErrBusy},
		{"other client", (&driver{busy: syscall.EBUSY}).fresh, ErrBusy},
		{"other client, other words", (&driver{busy: syscall.EEXIST}).fresh, ErrBusy},
		{"no layout", (&driver{size: 99}).fresh, ErrRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := openDevice(tc.open, silentLog())(t.Context())
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
	// The router is asked only where there is no device.
	no := func(err error) opener {
		return func(context.Context) (port, error) { return nil, portError("x", err, "") }
	}
	for _, tc := range []struct{ device, router, want error }{
		{ErrNoDevice, ErrNoDevice, ErrNoDevice},
		{ErrNoDevice, ErrPermission, ErrPermission},
		{ErrPermission, ErrNoDevice, ErrPermission},
		{ErrBusy, nil, ErrBusy},
	} {
		if _, err := phonePort(no(tc.device), no(tc.router))(t.Context()); !errors.Is(err, tc.want) {
			t.Errorf("device %v, router %v: got %v, want %v", tc.device, tc.router, err, tc.want)
		}
	}
}

func (d *driver) fresh() (device, error) {
	d.pipe, _ = fakePipe()

	return d, nil
}

func TestUserData(t *testing.T) {
	two := diag.AppendDeviceRead(nil, -1, []byte("abc"), []byte("defgh"))
	for _, tc := range []struct {
		name string
		in   []byte
		want string
		err  error
	}{
		{"two", two, "abcdefgh", nil},
		{"cut off", two[:len(two)-2], "abcdef", nil},
		{"masks", []byte{2, 0, 0, 0, 1, 0, 0, 0}, "", nil},
		{"end", []byte{0x10, 0, 0, 0}, "", io.EOF},
		{"nothing", nil, "", nil},
	} {
		if got, err := userData(bytes.Clone(tc.in)); string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
	buf := make([]byte, len(two))
	if n := testing.AllocsPerRun(100, func() { _, _ = userData(buf[:copy(buf, two)]) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// The device by its descriptor, on a file that can be polled.
func TestFDDevice(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := newFDDevice(pair[0]), newFDDevice(pair[1])
	if _, err := a.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := b.Read(buf); string(buf[:n]) != "hello" || err != nil {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if err := a.Ioctl(unix.TIOCINQ, make([]byte, 4)); err != nil {
		t.Errorf("ioctl: %v", err)
	}
	if err := a.Ioctl(reqSwitchLogging, make([]byte, 24)); err == nil {
		t.Error("a socket took a driver's request")
	}
	if err := a.IoctlInt(reqSwitchLogging, modeUSB); err == nil {
		t.Error("a socket took a driver's request")
	}
	// Close ends a Read under way.
	done := make(chan error)
	go func() {
		_, err := b.Read(buf)
		done <- err
	}()
	time.Sleep(20 * ms)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-done:
		if !errors.Is(err, io.EOF) {
			t.Errorf("Read returned %v", err)
		}
	case <-time.After(2 * time.Second):
		t.Fatal("Read goes on after Close")
	}
	if _, err := b.Read(buf); !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := b.Write(buf); err == nil {
		t.Error("Write after Close")
	}
	if err := b.Ioctl(unix.TIOCINQ, buf); err == nil {
		t.Error("Ioctl after Close")
	}
	_ = a.Close()
}
