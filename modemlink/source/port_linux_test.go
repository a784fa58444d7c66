// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

// ports are the ways to a fake modem that real sockets and terminals make.
func ports() map[string]func(t *testing.T, m *fakemodem.Modem) (string, opener) {
	return map[string]func(t *testing.T, m *fakemodem.Modem) (string, opener){
		"serial": func(t *testing.T, m *fakemodem.Modem) (string, opener) {
			path, err := m.OpenPTY()
			if err != nil {
				t.Fatal(err)
			}

			return "serial:" + path, openSerial(path, defaultBaud)
		},
		"tcp": func(t *testing.T, m *fakemodem.Modem) (string, opener) {
			addr, err := m.ListenTCP()
			if err != nil {
				t.Fatal(err)
			}

			return "tcp:" + addr, openTCP(addr)
		},
		"router": func(t *testing.T, m *fakemodem.Modem) (string, opener) {
			name := fmt.Sprintf("@gbrcc-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
			if err := m.ListenRouter(name); err != nil {
				t.Fatal(err)
			}

			return "diag", openRouter([]string{name + "-nobody", name}, silentLog())
		},
	}
}

// collect runs a source until there is enough. How long that takes depends on
// what else the machine does.
func collect(t *testing.T, src Source, enough func(got *telemetry) bool) *telemetry {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	timeout := time.AfterFunc(30*time.Second, func() { cancel(context.DeadlineExceeded) })
	defer timeout.Stop()
	var got telemetry
	err := src.Run(ctx, func(tel gbr.Telemetry) {
		if got.emit(tel); enough(&got) {
			cancel(errDone)
		}
	})
	if !errors.Is(err, errDone) {
		t.Fatalf("after %d samples: %v", len(got.samples), err)
	}

	return &got
}

// eventually waits for what another goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * ms) {
		if time.Now().After(end) {
			t.Fatalf("not within 5 s: %s", what)
		}
	}
}

func TestPorts(t *testing.T) {
	for name, open := range ports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			m := fakemodem.New(fakemodem.Config{Play: busy(t, 10240*ms)})
			t.Cleanup(func() { _ = m.Close() })
			spec, opener := open(t, m)
			got := collect(t, &modem{name: spec, open: opener, cfg: Config{Logger: silentLog()}}, func(got *telemetry) bool {
				return len(got.samples) >= 300
			})
			if !slices.IsSortedFunc(got.samples, func(a, b gbr.Sample) int { return a.At.Compare(b.At) }) {
				t.Error("samples are not in order")
			}
			// Only the router is drained: bursts of 380 ms, or none. Loose, for a
			// machine that is busy.
			if p50 := got.quantile(.5); name == "router" && p50 > 120*ms || name != "router" && p50 < 130*ms {
				t.Errorf("age p50 %v", p50)
			}
			eventually(t, "masks off", func() bool { return len(m.Masked()) == 0 })
			if name == "router" {
				eventually(t, "mode restored", func() bool { return slices.Equal(m.Modes(), []uint32{modeSocket, modeUSB}) })
				if n := m.Drains(); n < 100 {
					t.Errorf("%d drains in 2 s", n)
				}
			}
		})
	}
}

// A second client is told so, and the first one goes on.
func TestPortsSecondClient(t *testing.T) {
	for name, open := range ports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			m := fakemodem.New(fakemodem.Config{Play: busy(t, 10240*ms), Burst: 20 * ms})
			t.Cleanup(func() { _ = m.Close() })
			spec, opener := open(t, m)
			var second atomic.Pointer[error]
			started, after := false, 0
			got := collect(t, &modem{name: spec, open: opener, cfg: Config{Logger: silentLog()}}, func(got *telemetry) bool {
				if !started && len(got.samples) > 0 {
					started = true
					go func() {
						err := (&modem{name: spec, open: opener, cfg: Config{Logger: silentLog()}}).Run(t.Context(), func(gbr.Telemetry) {})
						second.Store(&err)
					}()
				}
				if second.Load() != nil && after == 0 {
					after = len(got.samples)
				}

				return after > 0 && len(got.samples) >= after+100
			})
			if got.longest > 2*time.Second {
				t.Errorf("the first client had to wait for %v", got.longest)
			}
			err := *second.Load()
			if want := map[string]error{"serial": ErrBusy, "tcp": ErrGone, "router": ErrGone}[name]; !errors.Is(err, want) ||
				!strings.Contains(err.Error(), "program") {
				t.Errorf("the second client got %v, want %v with what to do", err, want)
			}
		})
	}
}

// Unplugged and plugged in again.
func TestPortsUnplugged(t *testing.T) {
	for name, open := range ports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			m := fakemodem.New(fakemodem.Config{Play: busy(t, 10240*ms), Burst: 20 * ms})
			t.Cleanup(func() { _ = m.Close() })
			spec, first := open(t, m)
			var again atomic.Pointer[opener]
			opens := 0
			src := &modem{name: spec, cfg: Config{Logger: silentLog()}, open: func(ctx context.Context) (port, error) {
				if opens++; again.Load() != nil {
					return (*again.Load())(ctx)
				}

				return first(ctx)
			}}
			before := 0
			collect(t, src, func(got *telemetry) bool {
				if before == 0 && len(got.samples) >= 50 {
					before = len(got.samples)
					m.Unplug()
					if name == "serial" {
						_, next := open(t, m) // it comes back as another device
						again.Store(&next)
					}
				}

				return opens >= 2 && len(got.samples) >= before+100
			})
			if opens > 4 {
				t.Errorf("%d opens for one loss", opens)
			}
		})
	}
}

func TestPortsNotThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close() // nobody is at this address now
	for _, tc := range []struct {
		open opener
		want error
		says string
	}{
		{openSerial(filepath.Join(dir, "none"), defaultBaud), ErrNoDevice, "none"},
		{openSerial(file, defaultBaud), nil, "serial"},
		{openSerial("/dev/null", defaultBaud), nil, "serial"}, // a device, but one that does not poll
		{openTCP(ln.Addr().String()), ErrNoDevice, "adb forward"},
		{openRouter([]string{"@gbrcc-test-nobody"}, silentLog()), ErrNoDevice, "diag-router"},
	} {
		p, err := tc.open(t.Context())
		if err == nil {
			_ = p.Close()
			t.Error("it opened")

			continue
		}
		if tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("got %v, want %v with %q", err, tc.want, tc.says)
		}
	}
}

func TestPortErrors(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want error
		says string
	}{
		{syscall.EACCES, ErrPermission, "root"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EPERM}, ErrPermission, "udev"},
		{syscall.EBUSY, ErrBusy, "ModemManager"},
		{syscall.EAGAIN, ErrBusy, "stop the other one"},
		{syscall.ENOENT, ErrNoDevice, ""},
		{syscall.ENODEV, ErrNoDevice, ""},
		{syscall.ENXIO, ErrNoDevice, ""},
		{syscall.EIO, nil, "input/output"},
	} {
		err := portError("serial:x", tc.err, "")
		if tc.want != nil && !errors.Is(err, tc.want) || !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.says) ||
			!strings.HasPrefix(err.Error(), "source: serial:x: ") {
			t.Errorf("%v: got %v", tc.err, err)
		}
	}
}

// The name that strncpy makes of "\0diag" is all zeros, 108 of them.
func TestRouterNames(t *testing.T) {
	for i, want := range []string{strings.Repeat("\x00", 108), "\x00diag" + strings.Repeat("\x00", 103), "\x00diag"} {
		got := []byte(routerNames()[i])
		got[0] = 0 // what package net makes of it
		if string(got) != want {
			t.Errorf("name %d is %q, want %q", i, got, want)
		}
	}
}

// Devices that are no terminals are opened as files: a pseudo terminal's other
// end stands in for one.
func TestCharDevice(t *testing.T) {
	f, err := openCharDevice("/dev/ptmx")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := f.Read(make([]byte, 1))
		done <- err
	}()
	time.Sleep(20 * ms)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		if err == nil {
			t.Error("Read read something")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Read goes on after Close")
	}
}
