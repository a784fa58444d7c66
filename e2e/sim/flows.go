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

// counted is how long a flow was there after warm-up.
func (r *route) counted() time.Duration {
	to := r.w.sc.Duration
	if r.spec.To > 0 {
		to = min(to, r.spec.To)
	}

	return max(to-max(r.spec.From, r.w.sc.Warmup), 0)
}

// share says who got how much.
func (w *world) share(res *Result) {
	var ahead, reverse []string
	var sum, squares, mine float64
	for _, r := range w.routes {
		mbps := 0.0
		if d := r.counted(); d > 0 {
			mbps = float64(r.flow.goodBytes()) * 8 / d.Seconds() / 1e6
		}
		text := fmt.Sprintf("%s=%.3f", r.name, mbps)
		if r.spec.Reverse {
			reverse = append(reverse, "<-"+text)

			continue
		}
		ahead = append(ahead, text)
		sum += mbps
		squares += mbps * mbps
		if r == w.main.route {
			mine = mbps
		}
	}
	res.Flows = len(ahead)
	res.FlowGoodputs = strings.Join(append(ahead, reverse...), " ")
	if sum > 0 {
		res.JainIndex = sum * sum / (float64(res.Flows) * squares)
		res.FairShare = mine * float64(res.Flows) / sum
	}
}
