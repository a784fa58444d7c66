// SPDX-License-Identifier: MIT

package pionrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) && !strings.Contains(s, "\n") }

// A job is the same after the way to a worker, whatever the scenario has in it.
func TestJobRoundTrip(t *testing.T) {
	n := 0
	recorded := cell.SynthLTE(5, 20*time.Second)
	recorded.Name = "const-3" // as a file may be called
	for _, sc := range append(sim.Catalogue(), sim.FromTrace(recorded)) {
		if Supports(sc) != nil {
			continue
		}
		n++
		sc.Duration = 20 * time.Second
		want := Job{Scenario: sc, CC: Own, Seed: 3, ObserveEvery: time.Second}
		want.Params.GBR.Beta, want.Params.GBR.TargetDelay = 17.25, 31*time.Millisecond
		line, err := want.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(line)
		if err != nil {
			t.Fatal(err)
		}
		seeds := []uint64{want.Seed, 1, 2}
		if _, ok := inCatalogue(sc); !ok {
			seeds = seeds[:1] // a recording goes along as the job's seed has it
		}
		for _, seed := range seeds {
			if sc.Trace != nil && !reflect.DeepEqual(got.Scenario.Trace(seed, sc.Duration), sc.Trace(seed, sc.Duration)) {
				t.Errorf("%s: another trace", sc.Name)
			}
		}
		if (got.Scenario.Shared == nil) != (sc.Shared == nil) {
			t.Errorf("%s: another cell", sc.Name)
		}
		got.Scenario.Trace, want.Scenario.Trace = nil, nil
		got.Scenario.Shared, want.Scenario.Shared = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", sc.Name, got, want)
		}
	}
	if n < 5 {
		t.Errorf("only %d scenarios", n)
	}
}

// Garbage gets an answer of one line, and the next job its run.
func TestServeGarbage(t *testing.T) {
	sc := sim.FromTrace(cell.Constant(3_000_000))
	sc.Duration = 12 * time.Second
	line, err := Job{Scenario: sc, CC: Pion, Seed: 1}.encode()
	if err != nil {
		t.Fatal(err)
	}
	lines := []struct{ in, want string }{
		{"\n", "not a job"},
		{"hello\n", "not a job"},
		{"{}\n", "classes"},
		{"[1,2]\n", "not a job"},
		{"{\"Trace\":[-1]}\n", "not a job"},
		{strings.Replace(string(line), `"CC":"pion"`, `"CC":"tcp"`, 1), "unknown row"},
		{strings.Replace(string(line), `"Class":"trace"`, `"Class":"stress"`, 1), "stress"},
		{strings.Replace(string(line), `"Trace":[375,`, `"Trace":[1000000,`, 1), "not a job"},
		{strings.Replace(string(line), `"FeedbackEvery":50000000`, `"FeedbackEvery":0`, 1), "feedback"},
		{string(line), ""},
		{`{"Scenario":`, ""}, // half a line: nobody waits for its answer
	}
	var in, out bytes.Buffer
	for _, l := range lines {
		in.WriteString(l.in)
	}
	if err := serve(t, &in, &out); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if first+"\n" != greeting {
		t.Errorf("greeted with %q", first)
	}
	answers := strings.Split(strings.TrimSpace(rest), "\n")
	if len(answers) != len(lines)-1 {
		t.Fatalf("%d answers to %d lines", len(answers), len(lines)-1)
	}
	for i, a := range answers {
		var r wireReply
		if err := json.Unmarshal([]byte(a), &r); err != nil {
			t.Fatal(err)
		}
		want := lines[i].want
		if want == "" && (r.Error != "" || r.Result.GoodputMbps < 0.3) || !contains(r.Error, want) {
			t.Errorf("%.40q: %q, goodput %g; want %q", lines[i].in, r.Error, r.Result.GoodputMbps, want)
		}
	}
}

// background starts a run that takes a while and returns once it is under way.
func background(t *testing.T, p *Pool, ctx context.Context) (result <-chan error, pid func() *os.Process) {
	t.Helper()
	started := make(chan *os.Process, 1)
	p.started = func(x *os.Process) {
		select {
		case started <- x:
		default:
		}
	}
	c := make(chan error, 1)
	go func() {
		_, err := p.Run(ctx, Job{Scenario: scenario(t, "const-8", time.Hour), CC: Pion, Seed: 1})
		c <- err
	}()
	select {
	case x := <-started:
		time.Sleep(200 * time.Millisecond)

		return c, func() *os.Process { return x }
	case err := <-c:
		t.Fatal(err)

		return nil, nil
	}
}

func wait(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("no end")

		return nil
	}
}

func runsWell(t *testing.T, p *Pool) {
	t.Helper()
	r, err := p.Run(t.Context(), Job{Scenario: scenario(t, "const-3", 12*time.Second), CC: PionLeaky, Seed: 1, ObserveEvery: time.Second})
	if err != nil || r.Result.GoodputMbps < 0.3 || len(r.Points) != 12 {
		t.Errorf("%v, goodput %g, %d points", err, r.Result.GoodputMbps, len(r.Points))
	}
}

// A worker that dies takes its run along, and nothing else.
func TestWorkerKilled(t *testing.T) {
	p := NewPool()
	defer p.Close()
	result, process := background(t, p, t.Context())
	if err := process().Kill(); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, result); err == nil || !contains(err.Error(), "killed") || errors.Is(err, ErrStart) {
		t.Errorf("%v, want that it was killed", err)
	}
	for range 2 * maxWorkers { // every place of the pool
		runsWell(t, p)
	}
}

func TestCancel(t *testing.T) {
	p := NewPool()
	defer p.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	result, _ := background(t, p, ctx)
	enough := errors.New("enough")
	cancel(enough)
	if err := wait(t, result); !errors.Is(err, enough) {
		t.Errorf("%v, want the cause", err)
	}
	if _, err := p.Run(ctx, Job{Scenario: scenario(t, "const-3", 12*time.Second), CC: Pion, Seed: 1}); !errors.Is(err, enough) {
		t.Errorf("afterwards: %v", err)
	}
	runsWell(t, p)
}

// A run that does not end is ended.
func TestPatience(t *testing.T) {
	p := NewPool()
	defer p.Close()
	p.patience = 300*time.Millisecond - time.Hour
	result, _ := background(t, p, t.Context())
	if err := wait(t, result); err == nil || !contains(err.Error(), "not done after 300ms") {
		t.Errorf("%v", err)
	}
	p.patience = patience
	runsWell(t, p)
}

// What is no worker is found out.
func TestNoWorker(t *testing.T) {
	for name, command := range map[string]func() (*exec.Cmd, error){
		"missing": func() (*exec.Cmd, error) { return exec.Command("/nonesuch/program"), nil },
		"another program": func() (*exec.Cmd, error) {
			path, err := os.Executable()

			return exec.Command(path, "-test.run=^$"), err // this one, but no worker
		},
		"no path": func() (*exec.Cmd, error) { return nil, errors.New("no path") },
	} {
		p := NewPool()
		p.command = command
		_, err := p.Run(t.Context(), Job{Scenario: scenario(t, "const-3", 12*time.Second), CC: Pion, Seed: 1})
		if !errors.Is(err, ErrStart) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		p.Close()
	}
}

func TestReason(t *testing.T) {
	var s said
	for _, part := range []string{"--- FAIL: worker\npan", "ic: deadlock: x\n\ngoroutine 1\npanic: again\n", strings.Repeat("x", saidLimit)} {
		if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if r := s.reason(); r != "panic: deadlock: x" || s.buf.Len() != saidLimit {
		t.Errorf("%q of %d bytes", r, s.buf.Len())
	}
}
