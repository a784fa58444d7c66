// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/phone"
)

// A short call of both estimators, with somebody who watches the page.
func TestCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-duration", "5s", "-json", file)
	v := watchPage(t, r.out.wait(t, `Live page: (http://127\.0\.0\.1:\d+/)\n`))
	v.wait(t, func(v *viewer) bool { return v.rows > 10 })
	select {
	case <-r.done:
		t.Fatal("the page came to life only after the call")
	default:
	}
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	v.end(t)

	runs := readResults(t, file, false)
	if len(runs) != 2 || runs[0].CC != "gbrcc" || runs[1].CC != "pion" {
		t.Fatalf("runs: %+v", runs)
	}
	gbrcc, pion := runs[0], runs[1]
	for _, run := range runs {
		within(t, run.CC+" duration", run.DurationS, 4.9, 6.5, "s")
		within(t, run.CC+" frames rendered", float64(run.FramesRendered)/run.DurationS, 26, 30.5, "a second")
		within(t, run.CC+" capacity", run.CapacityMbps, 5, 9, "Mbit/s")
		// It starts at 0.3 Mbit/s and has little time.
		within(t, run.CC+" goodput", run.GoodputMbps, 0.2, 4, "Mbit/s")
		within(t, run.CC+" playout p50", run.PlayoutP50, 50, 200, "ms")
		within(t, run.CC+" playout p95", run.PlayoutP95, run.PlayoutP50, 600+1000*late(t, r), "ms")
		within(t, run.CC+" time frozen", run.FreezeRatio*run.DurationS, 0, 0.3+5*late(t, r), "s")
	}
	within(t, "same capacity", gbrcc.CapacityMbps/pion.CapacityMbps, 0.95, 1.05, "of each other")
	// At most a buffer report in 5 ms; frames come every 33 ms.
	within(t, "gbrcc samples", float64(gbrcc.Samples)/gbrcc.DurationS, 30, 200, "a second")
	// The modem commits every 10 ms and needs 3 ms for it to get out.
	within(t, "gbrcc telemetry age", gbrcc.TelemetryAge, 2, 25, "ms")
	if pion.Samples != 0 || pion.TelemetryAge != 0 {
		t.Errorf("pion got %d samples of age %v ms, want none", pion.Samples, pion.TelemetryAge)
	}

	var table bytes.Buffer
	if err := writeTable(&table, runs); err != nil {
		t.Fatal(err)
	}
	// A busy machine adds a note.
	if !strings.Contains(r.out.String(), "\n\n"+table.String()) {
		t.Errorf("at the end no table\n%s\nbut\n%s", &table, &r.out)
	}
	if strings.Contains(r.out.String(), "agent lost") {
		t.Errorf("an agent was lost:\n%s", &r.out)
	}

	v.check(t, []string{"gbrcc", "pion"})
	want := [][]string{gbrcc.row(), pion.row()}
	want[1][0] = "pion"
	want[1][len(want[1])-2], want[1][len(want[1])-1] = "", ""
	if !slices.EqualFunc(v.summary, want, slices.Equal) {
		t.Errorf("the page's table is %v, want %v", v.summary, want)
	}
	if v.status["gbrcc"] != "dual" || v.status["pion"] != "end to end" {
		t.Errorf("the page's badges are %v", v.status)
	}
	if !v.finished {
		t.Error("the page was not told of the end")
	}
}

// readResults reads a file that -json wrote, and compares its keys with those that
// others read.
func readResults(t *testing.T, file string, withSound bool) []result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Runs []result }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var all map[string][]map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all["runs"] == nil {
		t.Errorf("top keys: %s", data)
	}
	want := []string{
		"capacity_mbps", "cc", "duration_s", "frames_rendered", "freeze_count", "freeze_ratio", "goodput_mbps",
		"playout_ms_p50", "playout_ms_p95", "samples", "telemetry_age_ms_p50",
	}
	for _, run := range all["runs"] {
		if _, ok := run["sound"]; ok != withSound {
			t.Errorf("sound: %v", run["sound"])
		}
		delete(run, "sound")
		if keys := slices.Sorted(maps.Keys(run)); !slices.Equal(keys, want) {
			t.Errorf("keys %v, want %v", keys, want)
		}
	}

	return got.Runs
}

// late is how late the machine was, in seconds, if that is worth a note: time
// frozen because of it is not what is tested.
func late(t *testing.T, r *running) float64 {
	t.Helper()
	m := regexp.MustCompile(`ran up to (\d+) ms late`).FindStringSubmatch(r.out.String())
	if m == nil {
		return 0
	}
	t.Log(m[0])
	ms, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}

	return float64(ms) / 1000
}

// inOrder checks that texts come one after the other, with anything in between.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("%q is missing, or not in its place, in\n%s", w, text)

			return
		}
		rest = after
	}
}

// The agent dies in mid call: the estimator goes on without it and takes it
// back, and the viewer hardly notices.
func TestAgentOutage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-duration", "8s", "-agent-outage", "2s,2s", "-cc", "gbrcc", "-json", file)
	v := watchPage(t, r.out.wait(t, `Live page: (\S+)\n`))
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	v.end(t)
	story := []string{
		"gbrcc: agent connected", "→ dual", "gbrcc: agent killed", "gbrcc: agent lost", "→ outer-only",
		"gbrcc: agent restarted", "gbrcc: agent connected", "→ dual",
	}
	inOrder(t, r.out.String(), story...)
	inOrder(t, strings.Join(v.marks, "\n"), story...)
	// Sampled ten times a second, hold may be missed.
	modes := regexp.MustCompile(`gbrcc: \S+ → (\S+)`).FindAllStringSubmatch(r.out.String(), -1)
	if last := modes[len(modes)-1][1]; last != "dual" {
		t.Errorf("in the end %s, want dual:\n%s", last, &r.out)
	}

	runs := readResults(t, file, false)
	run := runs[0]
	within(t, "frames rendered", float64(run.FramesRendered)/run.DurationS, 26, 30.5, "a second")
	within(t, "time frozen", run.FreezeRatio*run.DurationS, 0, 0.3+5*late(t, r), "s")
	within(t, "samples", float64(run.Samples)/run.DurationS, 15, 150, "a second")
}

// Ended from outside it stops at once, leaves nothing and does not pretend to
// have a result.
func TestCancel(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r := start(ctx, "-duration", "30s", "-json", filepath.Join(dir, "result.json"))
	v := watchPage(t, r.out.wait(t, `Live page: (\S+)\n`))
	r.out.wait(t, "→ dual")
	why := errors.New("enough")
	at := time.Now()
	cancel(why)
	if err := r.end(t); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	within(t, "time to stop", time.Since(at).Seconds(), 0, 10, "s")
	v.end(t)
	if !v.finished || v.summary != nil {
		t.Errorf("the page: finished %v, result %v", v.finished, v.summary)
	}
	if strings.Contains(r.out.String(), "goodput") {
		t.Errorf("a table of a call that was cut off:\n%s", &r.out)
	}
	empty(t, dir)
}

// The same before anything is connected.
func TestCancelWhileConnecting(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	at := time.Now()
	r := start(ctx, "-http", "off")
	if err := r.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	within(t, "time to stop", time.Since(at).Seconds(), 0, 10, "s")
}

// A far end that dies in mid call is a frozen picture, not a program that hangs.
func TestDeadPeer(t *testing.T) {
	defer goleak.VerifyNone(t)
	o, err := parse([]string{"-cc", "gbrcc", "-duration", "5s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	show := newProgress(&screen{})
	l, err := newLeg(o, "gbrcc", time.Now(), show, nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), connectTimeout)
	defer cancel()
	if err := l.connect(ctx, o, sender, receiver); err != nil {
		t.Fatal(err)
	}
	const enough = 30 // frames, a second's
	var last int
	var at time.Duration
	death := make(chan error, 1)
	go func() {
		for l.call.Stats().FramesRendered < enough {
			time.Sleep(5 * time.Millisecond)
		}
		err := receiver.Close()
		last, at = l.call.Stats().FramesRendered, time.Since(l.call.Start())
		death <- err
	}()
	if err := watch(t.Context(), []*leg{l}, o, nil, show); err != nil {
		t.Error(err)
	}
	if err := <-death; err != nil {
		t.Error(err)
	}
	length := time.Since(l.call.Start())
	r := l.result(o, 0, length)
	closing := time.Now()
	if err := l.close(); err != nil {
		t.Error("close:", err)
	}
	within(t, "time to close", time.Since(closing).Seconds(), 0, 10, "s")
	// What had arrived may be shown yet.
	within(t, "frames rendered", float64(r.FramesRendered), float64(last), float64(last+15), "")
	dead := (length - at).Seconds()
	within(t, "time frozen", r.FreezeRatio*r.DurationS, 0.8*dead-0.5, length.Seconds(), "s")
}

// Telemetry from another agent: here that of a modem with a load of its own.
func TestOtherAgent(t *testing.T) {
	link, err := live.NewLoad(live.LoadConfig{Config: live.Config{Cell: cell.Config{Capacity: cell.Constant(5_000_000)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close() //nolint:errcheck // always nil
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	agent, err := phone.New(link.Diag)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Kill()
	file := filepath.Join(t.TempDir(), "result.json")
	r := start(t.Context(), "-duration", "2s", "-cc", "seed", "-modem", agent.URL(), "-json", file, "-http", "off")
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	inOrder(t, r.out.String(), "seed: agent connected", "→ dual")
	runs := readResults(t, file, false)
	// Always backlogged: a buffer report, and a sample, every 5 ms.
	within(t, "samples", float64(runs[0].Samples)/runs[0].DurationS, 120, 220, "a second")

	wrong := regexp.MustCompile(`token=.*`).ReplaceAllString(agent.URL(), "token="+secret)
	r = start(t.Context(), "-duration", "1s", "-cc", "gbrcc", "-modem", wrong, "-http", "off")
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	inOrder(t, r.out.String(), "gbrcc: no telemetry: ", "pair again", "samples")
	if strings.Contains(r.out.String(), secret) {
		t.Errorf("the token is printed:\n%s", &r.out)
	}
}

// Without an answer from the agent the call goes on, and says why.
func TestNoAgent(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	r := start(t.Context(), "-duration", "5s", "-cc", "gbrcc", "-modem", pairing(ln.Addr().String()), "-http", "off")
	if err := r.end(t); err != nil {
		t.Fatal(err)
	}
	inOrder(t, r.out.String(), "outer-only", "gbrcc: no answer from the agent: ", "connection refused", "telemetry age")
	if strings.Contains(r.out.String(), secret) || strings.Contains(r.out.String(), "dual") {
		t.Errorf("the token is printed, or telemetry came from nowhere:\n%s", &r.out)
	}
}
