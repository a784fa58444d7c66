// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/examples/command"
)

const (
	// connectTimeout is for ICE and DTLS over the emulated cell.
	connectTimeout = 15 * time.Second
	// lookEvery is how often the queues are looked at, sampleEvery the page's
	// resolution.
	lookEvery   = 10 * time.Millisecond
	sampleEvery = 100 * time.Millisecond
	// agentTimeout is a little longer than one attempt of modemlink's client.
	agentTimeout = 4 * time.Second
)

// run is the whole program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.film != nil {
		defer o.film.close() //nolint:errcheck // it was only looked at
	}
	p, err := newPage(o)
	if err != nil {
		return err
	}
	defer p.close()
	fmt.Fprintf(stdout, "Video call for %v over %s (mean %.1f Mbit/s, seed %d): %s, side by side.\n",
		o.duration, o.traceName, float64(o.trace.MeanBps(0, o.duration))/1e6, o.seed, strings.Join(o.cc, ", "))
	if p != nil {
		fmt.Fprintf(stdout, "Live page: %s\n", p.url)
	}
	results, err := call(ctx, o, p, newProgress(stdout))
	if err != nil {
		return err
	}
	p.summary(results)
	fmt.Fprintln(stdout)
	if err := writeTable(stdout, results); err != nil {
		return err
	}
	fmt.Fprint(stdout, busyNote(results))
	if o.json != "" {
		if err := command.WriteJSON(o.json, map[string][]result{"runs": results}); err != nil {
			return fmt.Errorf("-json: %w", err)
		}
	}

	return nil
}

// call runs all legs at the same time.
func call(ctx context.Context, o options, p *page, show *progress) (results []result, err error) {
	var legs []*leg
	defer func() {
		var wg sync.WaitGroup
		errs := make([]error, len(legs))
		for i, l := range legs {
			wg.Go(func() { errs[i] = l.close() })
		}
		wg.Wait()
		err = errors.Join(append([]error{err}, errs...)...)
	}()
	start := time.Now()
	for _, name := range o.cc {
		l, err := newLeg(o, name, start, show, p)
		if err != nil {
			return nil, err
		}
		legs = append(legs, l)
	}
	if err := dialAll(ctx, legs, o); err != nil {
		return nil, err
	}
	if err := watch(ctx, legs, o, p, show); err != nil {
		return nil, err
	}
	for _, l := range legs {
		results = append(results, l.result(o, l.call.Start().Sub(start), time.Since(l.call.Start())))
	}

	return results, nil
}

// dialAll connects all legs at once, so that they meet the same capacity.
func dialAll(ctx context.Context, legs []*leg, o options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errors.New("no connection after "+connectTimeout.String()))
	defer cancel()
	errs := make([]error, len(legs))
	var wg sync.WaitGroup
	for i, l := range legs {
		wg.Go(func() { errs[i] = l.dial(ctx, o) })
	}
	wg.Wait()

	return errors.Join(errs...)
}

// step is something to do during the call.
type step struct {
	at time.Duration
	do func() error
}

// plan is what happens during the call, in order of time.
func plan(o options, legs []*leg) []step {
	steps := []step{{agentTimeout, func() error {
		for _, l := range legs {
			l.checkAgent()
		}

		return nil
	}}}
	if o.outageAt > 0 {
		steps = append(steps, step{o.outageAt, func() error {
			for _, l := range legs {
				if l.phone != nil {
					l.event("agent killed")
					l.phone.Kill()
				}
			}

			return nil
		}}, step{o.outageAt + o.outageFor, func() error {
			for _, l := range legs {
				if l.phone != nil {
					l.event("agent restarted")
					if err := l.phone.Start(); err != nil {
						return err
					}
				}
			}

			return nil
		}})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })

	return steps
}

// watch shows the call until it is over, and does on the way what is planned.
func watch(ctx context.Context, legs []*leg, o options, p *page, show *progress) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	began, steps := time.Now(), plan(o, legs)
	defer show.done()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped: %w", context.Cause(ctx))
		case <-tick.C:
		}
		now := time.Now()
		at := now.Sub(began)
		if at >= o.duration {
			return nil
		}
		for ; len(steps) > 0 && at >= steps[0].at; steps = steps[1:] {
			if err := steps[0].do(); err != nil {
				return err
			}
		}
		for _, l := range legs {
			l.look()
		}
		if n%int(sampleEvery/lookEvery) > 0 {
			continue
		}
		states := make([]state, len(legs))
		for i, l := range legs {
			states[i] = l.state()
			p.push(now, l, states[i])
			if mode := states[i].mode; mode != l.mode {
				l.event(l.mode + " → " + mode)
				l.mode = mode
			}
		}
		show.update(at, o.duration, legs, states)
	}
}

// progress is one line that is rewritten on a terminal and left out elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Duration
	mu       sync.Mutex
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil {
			p.terminal = st.Mode()&os.ModeCharDevice != 0
		}
	}

	return p
}

// update shows the state: four times a second on a terminal, every five seconds
// in a log.
func (p *progress) update(at, all time.Duration, legs []*leg, states []state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < p.next {
		return
	}
	p.next = at + 250*time.Millisecond
	if !p.terminal {
		p.next = at.Truncate(5*time.Second) + 5*time.Second
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%5.1f s of %.0f: capacity %.2f Mbit/s", at.Seconds(), all.Seconds(), float64(states[0].link.CapacityBps)/1e6)
	for i, l := range legs {
		s := states[i]
		fmt.Fprintf(&b, " | %s %.2f, %.0f ms", l.cc, float64(s.targetBps)/1e6, ms(s.stats.PlayoutLast))
		if wantsTelemetry(l.cc) {
			fmt.Fprintf(&b, ", %s", s.mode)
		}
	}
	if p.terminal {
		// Not wrapped: only one line can be rewritten.
		fmt.Fprintf(p.w, "\r\033[K\033[?7l%s\033[?7h", b.String())
	} else {
		fmt.Fprintln(p.w, b.String())
	}
}

// line prints something of its own.
func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
	fmt.Fprintln(p.w, text)
}

// done clears the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
