// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

// lossRig sends at a rate through a path that loses as it likes, one
// observation each 250 ms.
type lossRig struct {
	m  lossModel
	us int64
}

func newLossRig(kbps float64) *lossRig {
	cfg := Config{MinBps: 100_000, MaxBps: 20_000_000}
	r := &lossRig{m: newLossModel(&cfg)}
	r.run(3, kbps, 0, kbps)

	return r
}

// run makes n observations of a rate of which a share is lost. The delay limit
// is delayKbps, what is not lost arrives.
func (r *lossRig) run(n int, kbps, share, delayKbps float64) *lossRig {
	for range n {
		bytes := kbps * 1000 / 8 / 4
		first := r.us
		r.us += 250_000
		if r.m.count(first, r.us, int(bytes), int(bytes*share)) {
			r.m.update(lossInput{delayBps: delayKbps * 1000, ackedBps: kbps * (1 - share) * 1000})
		}
	}

	return r
}

func (r *lossRig) want(t *testing.T, what string, state LossState, lo, hi float64) {
	t.Helper()
	if r.m.state != state {
		t.Errorf("%s: %v, want %v", what, r.m.state, state)
	}
	if state != LossIdle {
		band(t, what, r.m.result/1000, lo, hi, "kbit/s")
	}
}

func TestLossModelNeedsThreeObservations(t *testing.T) {
	cfg := Config{MinBps: 100_000, MaxBps: 20_000_000}
	r := &lossRig{m: newLossModel(&cfg)}
	r.run(2, 1000, 0, 1000)
	if r.m.ready() {
		t.Error("ready after 2 observations")
	}
	if r.run(1, 1000, 0, 1000); !r.m.ready() {
		t.Error("not ready after 3 observations")
	}
}

func TestLossModelObservations(t *testing.T) {
	cfg := Config{MinBps: 100_000, MaxBps: 20_000_000}
	m := newLossModel(&cfg)
	for _, tt := range []struct {
		first, last int64
		bytes, lost int
		closed      bool
	}{
		{1_000_000, 1_100_000, 1000, 0, false},
		{1_150_000, 1_249_000, 1000, 500, false},
		{1_249_500, 1_250_000, 1000, 0, true}, // 250 ms after the first
		{1_260_000, 1_499_000, 9000, 0, false},
		{1_499_500, 1_800_000, 1000, 9999, true}, // 550 ms
	} {
		if got := m.count(tt.first, tt.last, tt.bytes, tt.lost); got != tt.closed {
			t.Errorf("up to %d us: closed %v", tt.last, got)
		}
	}
	if o := m.obs[0]; o.kb != 3 || o.lostKB != 0.5 || o.bps != 96_000 {
		t.Errorf("first %+v", o)
	}
	if o := m.obs[1]; o.kb != 10 || o.lostKB != 9.999 || o.bps < 145_000 || o.bps > 146_000 {
		t.Errorf("second %+v", o)
	}
}

// Loss that does not follow the rate costs nothing for long; loss that does is
// the path's limit.
func TestLossModelPatterns(t *testing.T) {
	newLossRig(1000).run(40, 1000, 0, 1100).want(t, "no loss", LossIdle, 0, 0)
	newLossRig(1000).run(40, 1000, 0.02, 1050).want(t, "2 % for 10 s", LossIdle, 0, 0)

	// A bottleneck of 1 Mbit/s without a queue loses the excess. The limit goes
	// to what arrives.
	r := newLossRig(2000).run(20, 2000, 0.5, 3000)
	r.want(t, "half is lost", LossDecreasing, 1000, 1300)
	// The sender obeys and the loss is gone: held, then raised bit by bit, by
	// 1.5 times what arrives at the most.
	r.run(1, 1000, 0, 3000)
	if r.m.result > 1.31e6 {
		t.Errorf("%.0f bit/s at once after the loss", r.m.result)
	}
	r.run(20, 1000, 0, 3000)
	band(t, "5 s later, while 1000 arrive", r.m.result/1000, 1000, 1500, "kbit/s")
	r.run(60, 2900, 0, 3000).want(t, "when all arrives", LossIdle, 0, 0)

	// The hold doubles with every cut, and is forgotten when the delay limit
	// takes over.
	r = newLossRig(2000)
	hold := r.m.holdUs
	if hold != 300_000 {
		t.Errorf("first hold %d us", hold)
	}
	r.run(4, 2000, 0.4, 3000)
	if r.m.holdUs != 600_000 {
		t.Errorf("second hold %d us, want 600000", r.m.holdUs)
	}
	if r.run(100, 2900, 0, 3000); r.m.holdUs != 300_000 || r.m.state != LossIdle {
		t.Errorf("hold %d us after recovery in %v", r.m.holdUs, r.m.state)
	}
}

// One observation that lost everything between clean ones is an accident.
func TestLossModelAverage(t *testing.T) {
	r := newLossRig(1000).run(10, 1000, 0, 1000).run(1, 1000, 1, 1000).run(1, 1000, 0, 1000)
	band(t, "average after one accident", r.m.average, 0, 0, "")
	// At three times the rate of the others it was its own doing, and counts.
	r = newLossRig(1000).run(10, 1000, 0, 1000).run(1, 3000, 0.5, 1000).run(1, 1000, 0, 1000)
	band(t, "average after a burst that was too much", r.m.average, 0.1, 0.3, "")
	// Above 5 % the bound is 100 kbit/s over the excess.
	r = newLossRig(1000).run(15, 1000, 0.25, 1000)
	band(t, "average", r.m.average, 0.24, 0.26, "")
	band(t, "upper bound", r.m.upper/1000, 470, 530, "kbit/s")
}

func TestLossChannel(t *testing.T) {
	for _, tt := range []struct {
		c    lossChannel
		send float64
		want float64
	}{
		{lossChannel{0.02, 1e6}, 5e5, 0.02},
		{lossChannel{0.02, 1e6}, 1e6, 0.02},
		{lossChannel{0, 1e6}, 2e6, 0.5},
		{lossChannel{0.1, 1e6}, 2e6, 0.55},
		{lossChannel{0, 1e6}, 1e6, 1e-6},
		{lossChannel{1, 1e6}, 1e6, 1 - 1e-6},
	} {
		band(t, "probability", tt.c.probability(tt.send), tt.want-1e-12, tt.want+1e-12, "")
	}
	for _, tt := range []struct{ bps, loss, want float64 }{
		{1e6, 0.5, 0.15}, {1e6, 0.07, 0.07}, {1e6, 0, 0.001}, {1e5, 2, 1}, {0, 2, 1},
	} {
		band(t, "feasible", feasible(lossChannel{tt.loss, tt.bps}), tt.want-1e-12, tt.want+1e-12, "")
	}
}

func TestLossModelSet(t *testing.T) {
	r := newLossRig(2000).run(8, 2000, 0.5, 3000)
	r.m.set(1_700_000)
	band(t, "set while limiting", r.m.result, 1_700_000, 1_700_000, "bit/s")
	r.m.set(5)
	band(t, "set below the bounds", r.m.result, 100_000, 100_000, "bit/s")
}

// 2 % of loss on an idle link costs less than 15 % of the rate, whatever
// measures the acknowledged rate.
func TestRandomLossIsCheapWithAnyRule(t *testing.T) {
	for _, cfg := range []Config{{}, {Acked: AckedBayesian}, {Loss: LossThresholds}} {
		clean := bottleneck{linkBps: constant(3_000_000), cfg: cfg}
		want := mean(clean.run(t, 60*time.Second), 5*time.Second, 60*time.Second, goodMbps)
		b := bottleneck{linkBps: constant(3_000_000), loss: constant(0.02), seed: 9, cfg: cfg}
		got := mean(b.run(t, 60*time.Second), 5*time.Second, 60*time.Second, goodMbps)
		band(t, "goodput with 2 % loss against none", got/want, 0.85, 1.02, "")
	}
}
