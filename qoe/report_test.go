// SPDX-License-Identifier: MIT

package qoe

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{7}, 0.3, 7},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{10, 20, 30, 40, 50}, 0.95, 48},
		{[]float64{10, 20, 30, 40, 50}, 0.25, 20},
		{[]float64{1, 2, 3}, 0, 1},
		{[]float64{1, 2, 3}, 1, 3},
		{[]float64{1, 2, 3}, -4, 1},
		{[]float64{1, 2, 3}, 4, 3},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 0.5, 0},
	} {
		if got := Quantile(c.values, c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Quantile([]float64{1}, math.NaN())) {
		t.Error("no NaN for no answer")
	}
}

func TestQuantileProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		values := make([]float64, 1+rng.IntN(50))
		for i := range values {
			values[i] = rng.NormFloat64() * 100
		}
		slices.Sort(values)
		last := math.Inf(-1)
		for q := 0.0; q <= 1; q += 0.01 {
			v := Quantile(values, q)
			if v < last || v < values[0] || v > values[len(values)-1] {
				t.Fatalf("Quantile(%v, %v) = %v after %v", values, q, v, last)
			}
			last = v
			// Between the neighbours of its rank.
			below := 0
			for _, x := range values {
				if x < v {
					below++
				}
			}
			if rank := q * float64(len(values)-1); math.Abs(rank-float64(below)) > 1+1e-9 {
				t.Fatalf("%d of %d values below the %v quantile", below, len(values), q)
			}
		}
	}
}

func TestSeries(t *testing.T) {
	var s Series
	if !math.IsNaN(s.Quantile(0.5)) || !math.IsNaN(s.Mean()) || !math.IsNaN(s.CV()) {
		t.Error("an empty series answers")
	}
	for _, v := range []float64{3, 1, math.NaN(), math.Inf(1), 2} {
		s.Add(v)
	}
	if s.Len() != 3 || s.Quantile(0.5) != 2 {
		t.Errorf("%d values, median %v", s.Len(), s.Quantile(0.5))
	}
	s.Add(10) // still in order
	s.Add(0)  // no more
	if got := s.Quantile(0); got != 0 {
		t.Errorf("minimum %v after another Add", got)
	}
	if got := s.Quantile(1); got != 10 {
		t.Errorf("maximum %v", got)
	}
	within(t, "mean", s.Mean(), 3.2, 1e-12, "")
	within(t, "CV", s.CV(), math.Sqrt(12.56)/3.2, 1e-12, "")
	var o Series
	o.Add(-5)
	s.Merge(&o)
	s.Merge(&Series{})
	if got := s.Quantile(0); got != -5 || s.Len() != 6 || o.Len() != 1 {
		t.Errorf("after Merge: minimum %v, %d values", got, s.Len())
	}
	s.Reset()
	if s.Len() != 0 || !math.IsNaN(s.Quantile(0.5)) {
		t.Error("Reset leaves values")
	}
	s.Add(4)
	if got := s.Quantile(0.5); got != 4 {
		t.Errorf("median %v after Reset", got)
	}
}

// stream plays 30 fps with a 1 s outage at the end, every tenth frame lost.
func stream(r *Report, seed uint64, frames int) time.Time {
	rng := rand.New(rand.NewPCG(seed, 0))
	j := NewJitterBuffer(JitterBufferConfig{Epoch: epoch()})
	for n := range frames {
		network := 40*ms + time.Duration(rng.Int64N(int64(30*ms)))
		if n%100 == 50 {
			network += 400 * ms
		}
		render, ok := j.OnFrame(epoch().Add(captured(n)+network), captured(n), n%10 != 9)
		if !ok {
			r.OnSkipped()

			continue
		}
		latency, _ := j.Latency()
		r.OnFrame(render, latency)
	}

	return epoch().Add(captured(frames) + time.Second)
}

func TestReportGolden(t *testing.T) {
	var empty, one, two Report
	one.Close(stream(&one, 1, 300))
	two.Close(stream(&two, 2, 600))
	var merged Report
	merged.Merge(&one)
	merged.Merge(&two)
	var out bytes.Buffer
	for _, c := range []struct {
		name string
		r    *Report
	}{{"empty", &empty}, {"one", &one}, {"two", &two}, {"merged", &merged}} {
		text, err := json.MarshalIndent(map[string]*Report{c.name: c.r}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(text, '\n'))
	}
	golden.Assert(t, out.String(), "report.golden")
}

func TestReportMerge(t *testing.T) {
	var a, b, ab, ba Report
	stream(&a, 1, 300) // left open
	b.Close(stream(&b, 2, 600))
	ab.Merge(&a)
	ab.Merge(&b)
	ba.Merge(&b)
	ba.Merge(&a)
	if ab.Summary() != ba.Summary() {
		t.Errorf("the order matters:\n%+v\n%+v", ab.Summary(), ba.Summary())
	}
	sa, sb, s := a.Summary(), b.Summary(), ab.Summary()
	if s.FramesRendered != sa.FramesRendered+sb.FramesRendered || s.FramesSkipped != sa.FramesSkipped+sb.FramesSkipped ||
		s.FreezeCount != sa.FreezeCount+sb.FreezeCount || s.Frozen != sa.Frozen+sb.Frozen || s.Playback != sa.Playback+sb.Playback {
		t.Errorf("%+v and %+v make %+v", sa, sb, s)
	}
	within(t, "ratio", s.FreezeRatio, s.Frozen.Seconds()/s.Playback.Seconds(), 1e-12, "")
	// With itself: twice the time, the same quantiles.
	before := a.Summary()
	a.Merge(&a)
	if got := a.Summary(); got.FramesRendered != 2*before.FramesRendered || got.FreezeRatio != before.FreezeRatio || got.PlayoutMsP50 != before.PlayoutMsP50 {
		t.Errorf("%+v merged with itself is %+v", before, got)
	}
}

func TestReportDiscard(t *testing.T) {
	var r Report
	at := epoch()
	frame := func(gap int) {
		at = at.Add(time.Duration(gap) * ms)
		r.OnFrame(at, 500*ms)
	}
	for range 60 {
		frame(33)
	}
	frame(1000)
	r.OnSkipped()
	r.Discard()
	if got := r.Summary(); got.FramesRendered != 0 || got.FramesSkipped != 0 || got.FreezeCount != 0 || got.Playback != 0 || !math.IsNaN(got.PlayoutMsP50) {
		t.Errorf("after Discard %+v", got)
	}
	for range 30 {
		frame(33)
	}
	frame(188) // judged by the gaps before
	r.OnPause()
	frame(5000)
	got := r.Summary()
	if got.FramesRendered != 32 || got.FreezeCount != 1 || got.Frozen != 188*ms || got.Playback != (30*33+188)*ms {
		t.Errorf("%+v", got)
	}
	r.Close(at.Add(time.Second))
	if got := r.Summary(); got.FreezeCount != 2 || got.Frozen != 1188*ms {
		t.Errorf("after Close %+v", got)
	}
	r.Close(at.Add(time.Hour))
	if got := r.Summary(); got.FreezeCount != 2 {
		t.Errorf("closed twice: %+v", got)
	}
}

func BenchmarkReport(b *testing.B) {
	var r Report
	at := epoch()
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		at = at.Add(33 * ms)
		r.OnFrame(at, 100*ms)
		if n++; n%10_000 == 0 {
			r.Discard()
		}
	}
}
