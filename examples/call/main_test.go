// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asProgram makes the test binary be the program itself.
const asProgram = "GBRCC_TEST_CALL"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// screen is a terminal to look at while something is printed on it.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.text.String()
}

// wait returns the first match of a pattern, or its group, once it is there.
func (s *screen) wait(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m := re.FindStringSubmatch(s.String()); m != nil {
			return m[len(m)-1]
		}
	}
	t.Fatalf("no %q on the screen:\n%s", pattern, s)

	return ""
}

// running is run in the background.
type running struct {
	out  screen
	done chan struct{}
	err  error // after done
}

func start(ctx context.Context, args ...string) *running {
	r := &running{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = run(ctx, args, &r.out, io.Discard)
	}()

	return r
}

// end waits for the program's end.
func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("it hangs:\n%s", &r.out)
	}

	return r.err
}

// within checks a band, both ends of it.
func within(t *testing.T, what string, got, low, high float64, unit string) {
	t.Helper()
	if !(low <= got && got <= high) {
		t.Errorf("%s: %.4g %s, want %g to %g", what, got, unit, low, high)
	}
}

// program runs the program as a process of its own.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *screen) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stdout, stderr = &screen{}, &screen{}
	cmd.Stdout, cmd.Stderr = stdout, stderr

	return cmd, stdout, stderr
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		t.Fatal(err)

		return -1
	}
}

func TestExitStatus(t *testing.T) {
	tests := []struct {
		args []string
		code int
		want string // on stderr
	}{
		{[]string{"-h"}, 0, "Usage: call"},
		{[]string{"-cc", "bbr"}, 1, "call: -cc: "},
		{[]string{"-nosuchflag"}, 1, "call: flag provided but not defined: -nosuchflag"},
	}
	for _, tt := range tests {
		cmd, stdout, stderr := program(t, tt.args...)
		if code := exitCode(t, cmd.Run()); code != tt.code {
			t.Errorf("%v: exit status %d, want %d", tt.args, code, tt.code)
		}
		if !strings.HasPrefix(stderr.String(), tt.want) || stdout.String() != "" {
			t.Errorf("%v: stderr %q, stdout %q", tt.args, stderr, stdout)
		}
		if lines := strings.Count(stderr.String(), "\n"); tt.code != 0 && lines != 1 {
			t.Errorf("%v: %d lines on stderr, want 1:\n%s", tt.args, lines, stderr)
		}
	}
}

// Ctrl-C ends the program at once, and not as if it had done its work.
func TestInterrupt(t *testing.T) {
	cmd, stdout, stderr := program(t, "-duration", "30s", "-http", "off")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.wait(t, "of 30: capacity")
	at := time.Now()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd.Wait()); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	within(t, "time to stop", time.Since(at).Seconds(), 0, 10, "s")
	// A machine that stood still is warned of, in lines of their own.
	said := slices.DeleteFunc(strings.Split(strings.TrimSpace(stderr.String()), "\n"), func(l string) bool {
		return strings.Contains(l, " WARNING: ")
	})
	if len(said) != 1 || !strings.HasPrefix(said[0], "call: stopped: ") {
		t.Errorf("stderr: %q", stderr)
	}
	if strings.Contains(stdout.String(), "goodput") {
		t.Errorf("a table of a call that was cut off:\n%s", stdout)
	}
}
