// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// asAgent makes the test binary the agent.
const asAgent = "GBRCC_TEST_AS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

const one = `{"t_ms":0,"bsr_bytes":1500,"grant_bytes":750,"period_ms":5,"rat":"lte"}
{"t_ms":5,"bsr_bytes":1500,"grant_bytes":750,"period_ms":5,"rat":"lte"}
`

func recording(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// agent is a process.
type agent struct {
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
}

func startAgent(t *testing.T, args ...string) *agent {
	t.Helper()
	a := &agent{cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	a.cmd.Env = append(os.Environ(), asAgent+"=1")
	a.cmd.Stderr = &a.stderr
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = a.cmd.Wait()
		t.Fatalf("no pairing URL: %v; %s", err, a.stderr.String())
	}
	a.url = strings.TrimSpace(line)

	return a
}

// stop interrupts it and returns its exit status.
func (a *agent) stop(t *testing.T) int {
	t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait() // the status is what matters

	return a.cmd.ProcessState.ExitCode()
}

// receive returns n samples from the agent at url.
func receive(t *testing.T, url string, n int) (samples []gbr.Sample) {
	t.Helper()
	c, err := modemlink.NewClient(url, modemlink.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	timeout := time.AfterFunc(10*time.Second, func() { cancel(context.DeadlineExceeded) })
	defer timeout.Stop()
	err = c.Run(ctx, func(tel gbr.Telemetry) {
		if samples = append(samples, tel.Samples...); len(samples) >= n {
			cancel(enough)
		}
	})
	if !errors.Is(err, enough) {
		t.Fatalf("%d of %d samples: %v", len(samples), n, err)
	}

	return samples
}

func TestProcess(t *testing.T) {
	dir := t.TempDir()
	identity, record := filepath.Join(dir, "id.pem"), filepath.Join(dir, "out.jsonl")
	args := []string{"-source", "file:" + recording(t), "-loop", "-listen", "127.0.0.1:0", "-pair", "-identity", identity, "-record", record}
	a := startAgent(t, args...)
	for _, s := range receive(t, a.url, 5) {
		if s.Reported != 1500 || s.Granted != 750 || s.Window != 5*time.Millisecond {
			t.Errorf("sample %+v", s)
		}
	}
	if code := a.stop(t); code != 0 {
		t.Errorf("exit status %d after a signal, want 0; %s", code, a.stderr.String())
	}
	if n := strings.Count(a.stderr.String(), "\n"); n != 1 || !strings.Contains(a.stderr.String(), "serving") {
		t.Errorf("on stderr: %s", a.stderr.String())
	}
	if _, err := source.File(record, source.FileConfig{}); err != nil {
		t.Errorf("the record does not play: %v", err)
	}

	// Once more: paired before, at another port, without -pair.
	p, err := modemlink.ParseURL(a.url)
	if err != nil {
		t.Fatal(err)
	}
	b := startAgent(t, args...)
	q, err := modemlink.ParseURL(b.url)
	if err != nil {
		t.Fatal(err)
	}
	if q.Fingerprint != p.Fingerprint || q.Token != p.Token {
		t.Error("the identity did not survive the restart")
	}
	p.Port = q.Port
	receive(t, p.String(), 1)
	if code := b.stop(t); code != 0 {
		t.Errorf("exit status %d; %s", code, b.stderr.String())
	}
}

func runWith(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	code = run(ctx, args, &out, &errs)

	return code, out.String(), errs.String()
}

func TestSourceThatEnds(t *testing.T) {
	code, out, errs := runWith(t, "-source", "file:"+recording(t), "-listen", "127.0.0.1:0", "-pair")
	if code != 0 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "gbr://127.0.0.1:") {
		t.Errorf("status %d, stdout %q, stderr %q", code, out, errs)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(bad, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := "file:" + recording(t)
	record := filepath.Join(dir, "record.jsonl")
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no source", []string{"-pair"}, 2, "-source is missing"},
		{"unknown flag", []string{"-nonsense"}, 2, "-nonsense"},
		{"argument", []string{"-source", good, "-pair", "x"}, 2, `unexpected argument "x"`},
		{"nobody", []string{"-source", good}, 2, "nobody could connect"},
		{"unknown source", []string{"-source", "x", "-pair", "-record", record}, 1, "unknown"},
		{"no modem", []string{"-source", "serial:" + filepath.Join(dir, "none"), "-listen", "127.0.0.1:0", "-pair", "-record", record}, 1, "no such device"},
		{"bad file", []string{"-source", "file:" + bad, "-pair", "-record", record}, 1, "bad.jsonl:1: not JSON"},
		{"speed", []string{"-source", good, "-pair", "-speed", "-3", "-record", record}, 1, "speed"},
		{"address", []string{"-source", good, "-pair", "-listen", "nonsense", "-record", record}, 1, "nonsense"},
		{"identity", []string{"-source", good, "-identity", bad, "-listen", "127.0.0.1:0", "-record", record}, 1, "not an identity file"},
		{"record", []string{"-source", good, "-pair", "-listen", "127.0.0.1:0", "-record", filepath.Join(dir, "no", "such")}, 1, "no such file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := runWith(t, tc.args...)
			if code != tc.code || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.want) {
				t.Errorf("status %d, stdout %q, stderr %q; want %d and one line with %q", code, out, errs, tc.code, tc.want)
			}
			if _, err := os.Stat(record); err == nil {
				t.Error("a record was left behind")
			}
		})
	}
}

func TestHelp(t *testing.T) {
	code, out, errs := runWith(t, "-h")
	if code != 0 || errs != "" {
		t.Errorf("status %d, stderr %q", code, errs)
	}
	for _, want := range []string{
		"-source", "-listen", "-pair", "-identity", "-record", "-speed", "-loop", "-unknown", "-v",
		"sim", "file:PATH", "diag", "serial:DEV", "tcp:ADDR", "adb forward",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the help does not tell of %s", want)
		}
	}
}

// A record that cannot be written ends the agent with that error.
func TestRecordFails(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Log("no /dev/full on this system; nothing to see")

		return
	}
	code, _, errs := runWith(t, "-source", "file:"+recording(t), "-loop", "-listen", "127.0.0.1:0", "-pair", "-record", "/dev/full")
	if code != 1 || !strings.Contains(errs, "no space left") {
		t.Errorf("status %d, stderr %q", code, errs)
	}
}
