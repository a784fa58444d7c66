// SPDX-License-Identifier: MIT

package modemtest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var errDone = errors.New("test is done")

// A script with every fault, in memory: the client comes through it.
func TestPlay(t *testing.T) {
	s := modemtest.NewServer(t, modemtest.InMemory())
	var granted []int
	connects := 0
	c, err := modemlink.NewClient(s.URL, modemlink.ClientConfig{
		Dialer: s.Dial, MinBackoff: 5 * ms, MaxBackoff: 10 * ms,
		OnEvent: func(e modemlink.Event) {
			if e.Kind == modemlink.Connected {
				connects++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- c.Run(ctx, func(tel gbr.Telemetry) {
			for _, smp := range tel.Samples {
				granted = append(granted, smp.Granted)
			}
		})
	}()
	for !c.Status().Connected {
		time.Sleep(ms)
	}
	window := func(n int) func(time.Time) gbr.Telemetry {
		return func(now time.Time) gbr.Telemetry { return modemtest.Window(now, n, 10) }
	}
	steps := modemtest.Repeat(3, modemtest.Step{After: 5 * ms, Send: window(1)})
	steps = append(steps,
		modemtest.Step{Do: (*modemtest.Server).Pause},
		modemtest.Step{Send: window(2)},
		modemtest.Step{After: 100 * ms, Do: (*modemtest.Server).Resume},
		modemtest.Step{After: 200 * ms, Do: (*modemtest.Server).Kill},
		modemtest.Step{Send: window(3)}, // nobody hears it
		modemtest.Step{After: 50 * ms, Do: (*modemtest.Server).Restart},
		modemtest.Step{After: 500 * ms, Send: window(4)},
		modemtest.Step{After: 200 * ms},
	)
	if err := s.Play(t.Context(), steps...); err != nil {
		t.Fatal(err)
	}
	cancel(errDone)
	if err := <-done; !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	want := []int{1, 1, 1, 2, 4}
	if len(granted) != len(want) {
		t.Fatalf("granted %v, want %v", granted, want)
	}
	for i := range want {
		if granted[i] != want[i] {
			t.Fatalf("granted %v, want %v", granted, want)
		}
	}
	if connects != 2 {
		t.Errorf("%d connections, want 2", connects)
	}
	if err := s.Play(ctx, modemtest.Step{After: time.Hour}); !errors.Is(err, errDone) {
		t.Errorf("Play returned %v, want the cause", err)
	}
}

func TestDeadAgent(t *testing.T) {
	s := modemtest.NewServer(t)
	url := s.URL
	c, err := s.Dial(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it is broken anyway
	time.Sleep(20 * ms)
	s.Kill()
	s.Kill()
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	if _, err := io.ReadAll(c); err == nil {
		t.Error("the connection ended in order, want a reset")
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // a plain check
		t.Error("the connection outlived its agent")
	}
	if _, err := s.Dial(t.Context(), ""); err == nil {
		t.Error("a dead agent was reached")
	}
	s.Publish(gbr.Telemetry{})
	if s.Clients() != 0 {
		t.Error("a dead agent has clients")
	}
	s.Restart()
	s.Restart()
	if s.URL != url {
		t.Error("the URL changed with the restart")
	}
	s.Close()
	s.Close()
}
