// SPDX-License-Identifier: MIT

package ratio

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// ownQueue is one ms of a phone whose queue is never empty, as its log packet of
// 40 ms tells.
func ownQueue(ms int) diag.Record {
	return diag.Record{Kind: diag.KindBuffer, Code: diag.LogB066, RAT: diag.LTE, TTI: ms % wrap, Queued: 5000, Signalling: 60}
}

// The phone's own queue is taken for reports after a second of grants without
// transport blocks, or two when there were some; a transport block ends that.
func TestOwnWanted(t *testing.T) {
	type span struct {
		from, to int // ms
		code     diag.LogCode
	}
	for _, tc := range []struct {
		name   string
		spans  []span
		radio  uint32
		first  int // ms of the first report of the queue, 0 for none
		number [2]int
	}{
		{"grants alone", []span{{0, 5000, diag.LogB139}}, 0, 1000, [2]int{799, 801}},
		{"grants begin late", []span{{3000, 5000, diag.LogB139}}, 0, 4000, [2]int{199, 201}},
		{"no grants", nil, 0, 0, [2]int{}},
		{"transport blocks alone", []span{{0, 5000, diag.LogB064}}, 0, 0, [2]int{}},
		{"both", []span{{0, 5000, diag.LogB139}, {90, 5000, diag.LogB064}}, 0, 0, [2]int{}},
		{"both after a long silence", []span{{0, 500, diag.LogB139}, {90, 590, diag.LogB064}, {4000, 5000, diag.LogB139}, {4090, 5000, diag.LogB064}}, 0, 0, [2]int{}},
		{"transport blocks end", []span{{0, 5000, diag.LogB139}, {90, 500, diag.LogB064}}, 0, 2500, [2]int{499, 501}},
		{"transport blocks come", []span{{0, 5000, diag.LogB139}, {3000, 5000, diag.LogB064}}, 0, 1000, [2]int{399, 401}},
		{"another SIM's queue", []span{{0, 5000, diag.LogB139}}, 1, 0, [2]int{}},
	} {
		a := newAssembler(t, Config{Settle: -1})
		first, n := 0, 0
		for ms := range 5000 {
			at := start().Add(time.Duration(ms) * time.Millisecond)
			grant, _ := traffic(ms, diag.LTE)
			if ms == 0 {
				grant.Retx = 1 // begins the time line, no more
				a.OnRecord(at, grant)
				grant.Retx = 0
			}
			for _, s := range tc.spans {
				if grant.Code = s.code; ms >= s.from && ms < s.to {
					a.OnRecord(at, grant)
				}
			}
			queue := ownQueue(ms)
			queue.Radio = tc.radio
			for _, r := range a.OnRecord(at, queue).Reports {
				if n++; n == 1 {
					first = ms
				}
				if r.Low != 4940 || r.High != 4940 || r.Padding {
					t.Fatalf("%s: %+v, want 4940 bytes", tc.name, r)
				}
			}
		}
		if first != tc.first || n < tc.number[0] || n > tc.number[1] || a.Stats().Own != uint64(n) {
			t.Errorf("%s: %d reports from %d ms on, want %v from %d on; %+v", tc.name, n, first, tc.number, tc.first, a.Stats())
		}
	}
}

// A phone's own queue borders every T that is told, and a TTI that does not fit
// its stamp is of another cell.
func TestOwnPeriodAndCell(t *testing.T) {
	a := newAssembler(t, Config{Settle: -1})
	a.OnRecord(start(), diag.Record{Kind: diag.KindConfig, RAT: diag.LTE, PeriodicBSR: 20 * time.Millisecond})
	n := 0
	for ms := range 4000 {
		at := start().Add(time.Duration(ms) * time.Millisecond)
		grant, _ := traffic(ms, diag.LTE)
		queue := ownQueue(ms)
		if ms >= 3000 {
			queue.TTI += 50
		}
		grant.Logged, queue.Logged = diag.TimestampOf(at), diag.TimestampOf(at)
		a.OnRecord(at, grant)
		n += len(a.OnRecord(at, queue).Reports)
	}
	if n < 99 || n > 101 {
		t.Errorf("%d reports in the 2 s that fit, want 100, one in 20 ms", n)
	}
}

func BenchmarkOwn(b *testing.B) {
	a := newAssembler(b, Config{Settle: -1})
	b.ReportAllocs()
	ms, samples := 0, 0
	for b.Loop() {
		samples += ownStep(a, &ms)
	}
	b.ReportMetric(float64(samples)/float64(b.N), "samples/op")
}

// ownStep is one ms: a grant and a sample of the queue.
func ownStep(a *Assembler, ms *int) int {
	at := start().Add(time.Duration(*ms) * time.Millisecond)
	grant, _ := traffic(*ms, diag.LTE)
	n := len(a.OnRecord(at, grant).Samples) + len(a.OnRecord(at, ownQueue(*ms)).Samples) + len(a.OnTimeout(at).Samples)
	*ms++

	return n
}

func TestOwnAllocations(t *testing.T) {
	a := newAssembler(t, Config{Settle: -1})
	ms, samples := 0, 0
	for range 2000 {
		ownStep(a, &ms)
	}
	if n := testing.AllocsPerRun(10000, func() { samples += ownStep(a, &ms) }); n != 0 {
		t.Errorf("%.3f allocations per ms, want 0", n)
	}
	if samples < 1990 || samples > 2010 {
		t.Errorf("%d samples in 10 s, want 2000", samples)
	}
}
