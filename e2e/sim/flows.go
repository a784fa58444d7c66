// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"strings"
	"time"
)

// addFlow adds another flow.
func (w *world) addFlow(n int, f Flow, first *phone, cc string, params Params) error {
	if f.CC == "" {
		f.CC = cc
	}
	if f.Name == "" {
		f.Name = fmt.Sprintf("%s-%d", f.CC, n)
	}
	p := first
	var err error
	switch f.Where {
	case SamePhone:
	case OwnPhone:
		p, err = w.joinShared()
	case OwnRadio:
		config := w.sc.Cell
		if f.Cell != nil {
			config = *f.Cell
		}
		p, err = w.addPhone(config, w.seed+uint64(n)*1_000_003)
	}
	if err != nil {
		return err
	}
	if f.CC == Cubic || f.CC == ShortTCP {
		return w.addTransfer(f, p)
	}
	_, err = w.addCall(f, p, params)

	return err
}

// counted is how long a flow was there after warm-up: to its end, or until the
// last of it has come through.
func (r *route) counted() time.Duration {
	to := r.w.sc.Duration
	if r.spec.To > 0 {
		_, last := r.flow.goodBytes()
		to = min(to, max(r.spec.To, time.Duration(last)))
	}

	return max(to-max(r.spec.From, r.w.sc.Warmup), 0)
}

// leastCounted is the time below which a flow's rate tells how it began, and not
// what it got.
const leastCounted = 5 * time.Second

// competes tells whether a flow has a share that can be fair: short transfers
// want none, and one that was hardly there has had none.
func (r *route) competes() bool { return r.spec.CC != ShortTCP && r.counted() >= leastCounted }

// mbps is a flow's payload over its time.
func (r *route) mbps() float64 {
	d := r.counted()
	if d == 0 {
		return 0
	}
	bytes, _ := r.flow.goodBytes()

	return float64(bytes) * 8 / d.Seconds() / 1e6
}

// share says who got how much.
func (w *world) share(res *Result) {
	var ahead, reverse []string
	var sum, squares, n float64
	for _, r := range w.routes {
		mbps := r.mbps()
		text := fmt.Sprintf("%s=%.3f", r.name, mbps)
		if r.spec.Reverse {
			reverse = append(reverse, "<-"+text)

			continue
		}
		ahead = append(ahead, text)
		if r.competes() {
			n++
			sum += mbps
			squares += mbps * mbps
		}
	}
	res.Flows = len(ahead)
	res.FlowGoodputs = strings.Join(append(ahead, reverse...), " ")
	if mine := w.main.route; sum > 0 {
		res.JainIndex = sum * sum / (n * squares)
		if mine.competes() {
			res.FairShare = mine.mbps() * n / sum
		}
	}
}
