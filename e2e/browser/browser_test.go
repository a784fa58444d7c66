// SPDX-License-Identifier: MIT

//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sys/unix"
)

var (
	atOnce = flag.Int("at-once", 4, "scripts that play at the same time")
	only   = flag.String("scripts", "", "comma separated names; default all")
	keep   = flag.Bool("record", false, "store what was sent and said in testdata")
	out    = flag.String("out", "", "folder for the table and pictures; default $GBRCC_ARTIFACTS, else out/browser of the module")
)

// The comparison: every script to one browser, several at a time, each in its
// own connection. What the browser says must be what the model says.
func TestReceiverAgainstChromium(t *testing.T) {
	dir := artefacts(t)
	ctx := openPage(t, receiverPage)
	all := scripts()
	var chosen []script
	for _, s := range all {
		if *only == "" || strings.Contains(","+*only+",", ","+s.name+",") {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no script %q", *only)
	}
	outcomes, runs := make([]outcome, len(chosen)), make([]run, len(chosen))
	work := make(chan int)
	var wg sync.WaitGroup
	for range *atOnce {
		wg.Go(func() {
			for i := range work {
				var err error
				if outcomes[i], runs[i], err = compare(ctx, chosen[i], dir); err != nil {
					t.Errorf("%s: %v", chosen[i].name, err)
				}
			}
		})
	}
	for i := range chosen {
		work <- i
		if i == len(chosen)/2 {
			wg.Go(func() {
				time.Sleep(8 * time.Second) // until there is something to see
				screenshot(t, ctx, filepath.Join(dir, "playing.png"))
			})
		}
	}
	close(work)
	wg.Wait()
	screenshot(t, ctx, filepath.Join(dir, "page.png"))

	table := markdown(outcomes)
	write(t, filepath.Join(dir, "browser.md"), []byte(table))
	b, err := json.MarshalIndent(outcomes, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "browser.json"), append(b, '\n'))
	t.Log("\n" + table)
	for _, o := range outcomes {
		for _, f := range o.faults() {
			t.Errorf("%s: %s", o.Script, f)
		}
	}
	for _, f := range allFaults(outcomes) {
		t.Error(f)
	}
	if *keep {
		keepRuns(t, outcomes, runs)
	}
}

// keepRuns stores what the tests without a browser compare with.
func keepRuns(t *testing.T, outcomes []outcome, runs []run) {
	t.Helper()
	var all []recording
	for i, r := range runs {
		if t.Failed() || outcomes[i].stalled() {
			t.Fatalf("%s: not a run to keep", r.script)
		}
		all = append(all, record(r))
	}
	if err := store(recorded, all); err != nil {
		t.Fatal(err)
	}
}

// compare plays a script until the browser gets processor time enough, at most
// three times.
func compare(ctx context.Context, s script, dir string) (outcome, run, error) {
	for try := 1; ; try++ {
		o, r, err := playOnce(ctx, s, try, dir)
		if err != nil || !o.stalled() || try == triesMax {
			return o, r, err
		}
	}
}

// seen is what the page returns.
type seen struct {
	Samples []figures `json:"samples"`
	StallMs float64   `json:"stallMs"`
	// Corner is the level of grey in the corner of the picture at the end.
	Corner int `json:"corner"`
}

// check sees whether it is our pictures that are shown: one of the last two, as
// the very last may be lost.
func (s *seen) check(sc *script) error {
	for i := len(sc.frames) - 2; i < len(sc.frames); i++ {
		// From the range of video to that of screens. ITU-R BT.601 2.5.
		want := (int(draw(i)[0][0]) - 16) * 255 / 219
		if d := s.Corner - want; d >= -2 && d <= 2 {
			return nil
		}
	}

	return fmt.Errorf("browser: level %d in the corner, which is not that of the last frame", s.Corner)
}

func playOnce(ctx context.Context, s script, try int, dir string) (o outcome, r run, err error) {
	r = run{script: s.name, about: s.about}
	o = outcome{Script: s.name, About: s.about, Tries: try}
	x, err := newSender(s)
	if err != nil {
		return o, r, err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	dialing, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	offer, err := x.offer(dialing)
	if err != nil {
		return o, r, err
	}
	id := fmt.Sprintf("%s-%d", s.name, try)
	answer, err := call[string](ctx, "start", id, s.name, s.about, offer, s.rtt > 0)
	if err != nil {
		return o, r, err
	}
	if err := x.connect(dialing, answer); err != nil {
		return o, r, err
	}
	start := time.Now().Add(500 * time.Millisecond)
	if err := x.play(ctx, start); err != nil {
		return o, r, err
	}
	time.Sleep(time.Second) // for what is in the jitter buffer
	text, err := call[string](ctx, "finish", id)
	if err != nil {
		return o, r, err
	}
	var got seen
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return o, r, err
	}
	if len(got.Samples) == 0 {
		return o, r, errors.New("browser: no statistics")
	}
	var asked feedback
	r.log, r.rtts, asked = x.result()
	r.browser = got.Samples[len(got.Samples)-1]
	if n := r.browser.FramesDecoded; n > 0 {
		r.decode = time.Duration(r.browser.TotalDecodeTime / float64(n) * 1e9)
	}
	if r.tick, err = bootTime(); err != nil {
		return o, r, err
	}
	for _, f := range got.Samples {
		r.at = append(r.at, time.UnixMicro(int64(f.Timestamp*1000)))
	}
	if n := distinct(r.log); n != r.browser.PacketsReceived {
		return o, r, fmt.Errorf("browser: %d packets sent, %d received", n, r.browser.PacketsReceived)
	}
	if err := got.check(&s); err != nil {
		return o, r, err
	}
	o, model := judge(r, r.config())
	o.Tries, o.Load, o.StallMs = try, loadAverage(), got.StallMs
	o.Asked.NACKs, o.Asked.PLIs = asked.nacks, asked.plis
	o.DecodeP95, o.DecodeMax = decodeTimes(got.Samples)
	o.SendLateP95 = lateness(&s, r.log, start)
	b, err := json.Marshal(map[string]any{"outcome": o, "sent": record(r), "browser": got.Samples, "model": model})
	if err != nil {
		return o, r, err
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", id+".json"), b, 0o644); err != nil {
		return o, r, err
	}
	_, err = call[any](ctx, "verdict", id, len(o.faults()) == 0, model, rows(o))

	return o, r, err
}

// distinct counts packets once: SRTP drops a repeated repair. RFC 3711 3.3.2.
func distinct(log []sent) int {
	seen := map[[2]int]bool{}
	for _, p := range log {
		seen[[2]int{p.frame, p.index}] = true
	}

	return len(seen)
}

func rows(o outcome) [][]string {
	b, m := o.Browser, o.Model
	row := func(name, format string, b, m any) []string {
		return []string{name, fmt.Sprintf(format, b), fmt.Sprintf(format, m)}
	}

	return [][]string{
		row("freezes", "%d", b.FreezeCount, m.FreezeCount),
		row("frozen, s", "%.2f", b.TotalFreezesDuration, m.TotalFreezesDuration),
		row("delay, ms", "%.1f", b.meanDelay(), m.meanDelay()),
		row("frames", "%d", b.FramesDecoded, m.FramesDecoded),
	}
}

func artefacts(t *testing.T) string {
	t.Helper()
	dir := *out
	if dir == "" {
		dir = os.Getenv("GBRCC_ARTIFACTS")
	}
	if dir == "" {
		dir = filepath.Join("..", "..", "out", "browser")
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil {
		t.Fatal(err)
	}

	return dir
}

func screenshot(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	b, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Errorf("screenshot: %v", err)

		return
	}
	write(t, path, b)
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Error(err)
	}
}

// bootTime is the zero of the monotonic clock, on which Chromium's metronome
// ticks.
func bootTime() (time.Time, error) {
	var since unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &since); err != nil {
		return time.Time{}, err
	}

	return time.Now().Add(-time.Duration(since.Nano())), nil
}

// loadAverage is the machine's over a minute; 0 if it does not say.
func loadAverage() float64 {
	var v float64
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(b), &v)
	}

	return v
}
