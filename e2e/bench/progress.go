// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress is one line on a terminal: how far, how fast, how long still, and
// what is being run. It is silent elsewhere.
type progress struct {
	w   io.Writer // nil for silence
	now func() time.Time

	mu        sync.Mutex
	start     time.Time
	there     int // when it began
	done, all int
	at        string
	work      float64 // of the runs that are done since it began, see job.work
	allWork   float64
	shown     time.Time
}

func newProgress(w io.Writer) *progress {
	p := &progress{now: time.Now}
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}

	return p
}

func (p *progress) begin(there int, todo []job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := there + len(todo)
	p.start, p.there, p.done, p.all = p.now(), there, there, all
	for _, j := range todo {
		p.allWork += j.work()
	}
	if p.w != nil && there > 0 {
		fmt.Fprintf(p.w, "%d of %d runs are there already\n", there, all)
	}
}

func (p *progress) running(j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = fmt.Sprintf("%s, %s, seed %d", j.scenario.Name, j.variant.name(), j.seed)
	p.show()
}

func (p *progress) finished(j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.work += j.work()
	p.show()
}

// show draws the line at most ten times a second.
func (p *progress) show() {
	now := p.now()
	if p.w == nil || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	rate := "" // nothing is known before the first run is done
	if n, took := p.done-p.there, now.Sub(p.start); n > 0 && took > 0 {
		left := time.Duration(float64(took) * (p.allWork/p.work - 1)).Round(time.Second)
		rate = fmt.Sprintf("  %.1f/s  %v left", float64(n)/took.Seconds(), left)
	}
	fmt.Fprintf(p.w, "\r\033[K%d/%d runs%s  %.60s", p.done, p.all, rate, p.at)
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
