// SPDX-License-Identifier: MIT

package ratio

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// truth is everything that happened on air on one radio, slot by slot. On LTE
// a slot is a TTI of 1 ms.
type truth struct {
	rat gbr.RAT
	mu  int
	// base is the TTI (1 ms) of the frame cycle in which it begins.
	base        int
	lag, period int
	tx          []int // bytes of a slot, -1 for none
	bsr         []*diag.Record
	inferred    []bool // of a slot's grants
	// queue is the phone's own, in bytes by ms, of which the modem tells; -1
	// for what is lost. reports is made of it, where there are no BSRs.
	queue   []int
	reports []*ownReport
	// stamped: log packets bear the modem's time.
	stamped bool
}

// ownReport is the phone's own queue taken for a report, since when it waits.
type ownReport struct{ bytes, since int }

// window is a sample of the oracle: what the assembler tells, and what it is
// made from.
type window struct {
	gbr.Sample
	start, end, to int // ms
	idle           bool
}

// naive computes the windows from the whole log: it walks TTI by TTI, looks at
// everything anew in each, and ends a window as soon as its rule holds. It
// leaves out windows that end after limit.
func (tr *truth) naive(limit int) []window {
	var (
		out         []window
		start, last = -1, 0 // ms
		from        int     // first slot of the open window
		origin      int     // slot of its BSR, -1 when resumed
		reported    bool    // inferred
		low, high   int
	)
	first := func(ms int) int { return ms << tr.mu }
	sample := func(end, low, high int) {
		w := window{Sample: gbr.Sample{Reported: high, ReportedLow: low}, start: start, end: end, to: end + tr.lag - 1}
		length, onItsWay, inferred := end-start, false, reported
		for s := from; s < first(end+tr.lag); s++ {
			w.Granted += max(0, tr.tx[s])
			onItsWay = onItsWay || tr.tx[s] >= 0 && s < first(start+tr.lag)
			inferred = inferred || tr.tx[s] >= 0 && tr.inferredIn(s>>tr.mu)
		}
		if onItsWay {
			length += tr.lag - 1
		}
		w.Window = millis(int64(length))
		if high < 0 {
			w.Reported = low
		}
		if inferred {
			w.Flags |= gbr.FlagInferred
		}
		if tr.blind(origin) {
			w.Flags |= gbr.FlagFirstGrant
		}
		if end <= limit && (w.Granted > 0 || low > 0) {
			out = append(out, w)
		}
	}
	idle := func(t int) {
		if start = -1; t <= limit {
			w := window{Sample: gbr.Sample{Window: millis(int64(tr.period))}, start: t, end: t, to: t, idle: true}
			if reported {
				w.Flags |= gbr.FlagInferred
			}
			out = append(out, w)
		}
	}
	open := func(t int) {
		origin = tr.border(t)
		if tr.reports != nil {
			low, high = tr.reports[t].bytes, tr.reports[t].bytes
		} else {
			reported = tr.bsr[origin].Inferred
			low, high = tr.bsr[origin].Buffer(false)
		}
		start, last, from = t, t, origin+1
		if high == 0 {
			idle(t)
		}
	}
	for k := range len(tr.tx) >> tr.mu {
		if start < 0 {
			if tr.border(k) >= 0 {
				open(k)
			}

			continue
		}
		for again := true; again && start >= 0; {
			again = false
			next := start + 1
			for next <= k && tr.border(next) < 0 {
				next++
			}
			drained, lastTx := 0, last
			for s := from; s < first(k+1) && s < first(next); s++ {
				if tr.tx[s] >= 0 {
					drained += tr.tx[s]
					lastTx = s >> tr.mu
				}
			}
			quiet := max(start+tr.period, lastTx+1)
			need := quiet + tr.lag - 1
			if drained >= low && (high < 0 || drained < high) {
				need = max(need, lastTx+tr.period+1)
			}
			switch {
			case next <= k && need >= next: // the next BSR ends it, once its answers are over
				if k < next+tr.lag-1 {
					break
				}
				sample(next, low, high)
				open(next)
				// A BSR that came meanwhile opens the next one.
				for t := next + 1; t <= k && start < 0; t++ {
					if tr.border(t) >= 0 {
						open(t)
					}
				}
				again = true
			case k >= need && drained >= low:
				end := max(start+tr.period, lastTx-tr.lag+1)
				if low > 0 || drained > 0 {
					sample(end, low, high)
				} else {
					end = start
				}
				idle(end)
				for t := end + 1; t <= k && start < 0; t++ {
					if tr.border(t) >= 0 {
						open(t)
					}
				}
				again = true
			case k >= need:
				sample(quiet, low, high)
				start, last, from, origin = quiet, lastTx, first(quiet+1), -1
				low -= drained
				if high >= 0 {
					high -= drained
				}
				again = true
			}
		}
	}

	return out
}

// inferredIn tells whether a grant of a TTI is inferred.
func (tr *truth) inferredIn(ms int) bool {
	for s := ms << tr.mu; s < (ms+1)<<tr.mu; s++ {
		if tr.tx[s] >= 0 && tr.inferred[s] {
			return true
		}
	}

	return false
}

// blind: nothing was sent in the 20 ms, or two lags, before the TTI of slot s,
// nor in that TTI before s.
func (tr *truth) blind(s int) bool {
	silent := max(20, 2*tr.lag)
	ms := s>>tr.mu - silent
	if s >= 0 && tr.reports != nil {
		ms = tr.reports[s].since - silent
		if s-tr.reports[s].since >= silent {
			return false
		}
	}
	if s < 0 || ms < 0 {
		return false
	}
	for t := ms << tr.mu; t < s; t++ {
		if tr.tx[t] >= 0 {
			return false
		}
	}

	return true
}

// border is the slot of the last BSR of a TTI that is no padding one, -1 for
// none.
func (tr *truth) border(ms int) int {
	if tr.reports != nil {
		if tr.reports[ms] == nil {
			return -1
		}

		return ms
	}
	for s := (ms+1)<<tr.mu - 1; s >= ms<<tr.mu; s-- {
		if tr.bsr[s] != nil && tr.bsr[s].Trigger != diag.TriggerPadding {
			return s
		}
	}

	return -1
}

// finish adds what a sample has of the samples before, and its place.
func (tr *truth) finish(ws []window) {
	for i := range ws {
		w := &ws[i]
		if w.Flags&gbr.FlagSummed == 0 {
			w.RAT, w.SFN = tr.rat, (tr.base+w.end)%10240/10
		}
		for j := range ws[:i+1] {
			if o := &ws[j]; o.end > w.end-30 && o.Reported > 0 {
				w.SumGranted += o.Granted
				w.SumReported += o.Reported
			}
		}
	}
}

const oracleTTIs = 6000

// randomTruth makes bursts of transmissions with BSRs; silences are at most
// gap TTIs.
func randomTruth(rng *rand.Rand, rat gbr.RAT, mu, gap int) *truth {
	n := oracleTTIs << mu
	tr := &truth{
		rat: rat, mu: mu, base: rng.IntN(10240),
		lag: 4 + rng.IntN(9), period: []int{5, 10, 16, 20}[rng.IntN(4)],
		tx: make([]int, n), bsr: make([]*diag.Record, n), inferred: make([]bool, n),
	}
	if rat == gbr.RATNR {
		tr.lag = 1 + rng.IntN(10)
	}
	for i := range tr.tx {
		tr.tx[i] = -1
		tr.inferred[i] = rng.IntN(100) == 0
	}
	since, lastMs := 0, -1
	for s := 10 << mu; s < n-20<<mu; {
		ms := s >> mu
		tr.tx[s] = 1 + rng.IntN(1+rng.IntN(3000))
		if since >= tr.period<<mu && rng.IntN(4) > 0 || rng.IntN(10) == 0 {
			r := diag.Record{
				Kind: diag.KindBSR, RAT: diag.RAT(rat), Numerology: uint8(mu), Inferred: rng.IntN(50) == 0,
				Form: diag.FormShort, LCGs: 1, Trigger: diag.TriggerPeriodic,
			}
			values := 64
			if rat == gbr.RATNR {
				values = 32
				if rng.IntN(2) == 0 {
					r.Form, values = diag.FormLong, 255
				}
			}
			// Of two in one TTI none may be empty: whether the first one is
			// told as idle depends on when it is read.
			if rng.IntN(4) > 0 || ms == lastMs {
				r.Index[0] = uint8(1 + rng.IntN(values-1))
			}
			if rng.IntN(5) == 0 {
				r.Trigger = diag.TriggerPadding
			}
			if r.Index[0] > 0 || ms != lastMs {
				tr.bsr[s] = &r
			}
			if r.Index[0] == 0 {
				s = (ms+1)<<mu - 1 // the TTI's last
			}
			since, lastMs = 0, ms
		}
		d := 1 + rng.IntN(4)
		if rng.IntN(8) == 0 {
			d = 1 + rng.IntN(gap)<<mu
		} else if rng.IntN(3) == 0 {
			d <<= mu
		}
		since += d
		s += d
	}

	return tr
}

// randomQueue makes a queue from ms from on: data come at random
// and leave with the transmissions. Some of it is lost.
func (tr *truth) randomQueue(rng *rand.Rand, from int) {
	tr.queue = make([]int, len(tr.tx))
	waits, lost := 0, 0
	for s := from; s < len(tr.tx)-20; s++ {
		if waits == 0 && rng.IntN(20) == 0 || rng.IntN(6) == 0 {
			waits += rng.IntN(3000)
		}
		waits -= min(waits, max(0, tr.tx[s]))
		tr.queue[s] = waits
		if rng.IntN(500) == 0 {
			lost = s + rng.IntN(80)
		}
		if s < lost {
			tr.queue[s] = -1
		}
	}
}

// own makes reports of the queue: when it begins, each period while it lasts, and
// when it ends.
func (tr *truth) own() {
	tr.reports = make([]*ownReport, len(tr.queue))
	var last *ownReport
	at := 0
	for ms, q := range tr.queue {
		busy := last != nil && last.bytes > 0
		switch {
		case q < 0, q == 0 && !busy, busy && q > 0 && ms < at+tr.period:
			continue
		case busy:
			last = &ownReport{q, last.since}
		default:
			last = &ownReport{q, ms}
		}
		tr.reports[ms], at = last, ms
	}
}

// queuePackets logs the queue in batches of up to 40 ms. A stamped packet in
// which nothing was sent does not tell when that was.
func (tr *truth) queuePackets(rng *rand.Rand) (out []packet) {
	for s := 0; s < len(tr.queue); {
		end := min(s+1+rng.IntN(40), len(tr.queue))
		p := packet{at: millis(int64(end + 1 + rng.IntN(2)))}
		timed := !tr.stamped || slices.ContainsFunc(tr.tx[s:end], func(n int) bool { return n >= 0 })
		logged := tr.stamp(end)
		for ; s < end; s++ {
			if tr.queue[s] < 0 {
				continue
			}
			r := diag.Record{
				Kind: diag.KindBuffer, Code: diag.LogB066, RAT: diag.LTE, Logged: logged, TTI: (tr.base + s) % 10240,
				AgeMs: end - 1 - s, Signalling: rng.IntN(100),
			}
			r.Queued = tr.queue[s] + r.Signalling
			if !timed {
				r.TTI = -1
			}
			p.recs = append(p.recs, r)
		}
		if len(p.recs) > 0 {
			out = append(out, p)
			if rng.IntN(10) == 0 {
				out = append(out, p)
			}
		}
	}

	return out
}

// stamp is the modem's for a packet that it writes at the end of a ms.
func (tr *truth) stamp(ms int) diag.Timestamp {
	if !tr.stamped {
		return 0
	}

	return diag.TimestampOf(start().Add(time.Hour + millis(int64(ms))))
}

type packet struct {
	at   time.Duration
	recs []diag.Record
}

// packets logs the truth as a modem would: one code with grants alone in
// batches of 10 ms, one with both in batches of up to step ms, retransmissions,
// blocks of two carriers, some packets twice.
func (tr *truth) packets(rng *rand.Rand, both bool, step int) []packet {
	fast, slow := diag.LogB139, diag.LogB064
	if tr.rat == gbr.RATNR {
		fast, slow = diag.LogB883, diag.LogB872
	}
	var out []packet
	add := func(step, delay int, code diag.LogCode) {
		for s := 0; s < len(tr.tx); {
			end := min(s+1+rng.IntN(step<<tr.mu), len(tr.tx))
			p := packet{at: millis(int64(end>>tr.mu + 1 + rng.IntN(delay)))}
			for ; s < end; s++ {
				r := diag.Record{
					Kind: diag.KindGrant, Code: code, RAT: diag.RAT(tr.rat), Numerology: uint8(tr.mu),
					TTI: (tr.base<<tr.mu + s) % (10240 << tr.mu), Bytes: tr.tx[s], Inferred: tr.inferred[s],
					Logged: tr.stamp(end),
				}
				if tr.rat == gbr.RATNR && code == fast {
					r.Inferred = false
				}
				switch {
				case r.Bytes > 100:
					p.recs = append(p.recs, r, r)
					p.recs[len(p.recs)-2].Bytes -= 100
					p.recs[len(p.recs)-1].Bytes = 100
					p.recs[len(p.recs)-1].Cell = 3
				case r.Bytes >= 0:
					p.recs = append(p.recs, r)
				}
				if code == fast && rng.IntN(10) == 0 {
					r.Bytes, r.Retx = 500, 1
					p.recs = append(p.recs, r)
				}
				if code == slow && tr.bsr[s] != nil {
					b := *tr.bsr[s]
					b.Code, b.TTI = code, r.TTI
					p.recs = append(p.recs, b)
				}
			}
			if len(p.recs) > 0 {
				out = append(out, p)
				if rng.IntN(10) == 0 {
					out = append(out, p)
				}
			}
		}
	}
	if tr.reports == nil {
		add(step, 2, slow)
	}
	if both {
		add(10, 2, fast)
	}
	out = append(out, tr.queuePackets(rng)...)
	slices.SortStableFunc(out, func(a, b packet) int { return int(a.at - b.at) })

	return out
}

// marker is a record without delay, which sets the clock.
func (tr *truth) marker() diag.Record {
	return diag.Record{
		Kind: diag.KindGrant, RAT: diag.RAT(tr.rat), Numerology: uint8(tr.mu), TTI: tr.base << tr.mu, Retx: 1, Bytes: 1,
	}
}

// feed gives an assembler packets as an agent would.
func feed(a *Assembler, rng *rand.Rand, packets []packet, sink func(now time.Time, tel gbr.Telemetry)) {
	run := func(until time.Time) {
		for {
			next := a.NextTimeout()
			if next.IsZero() || next.After(until) {
				return
			}
			sink(next, a.OnTimeout(next))
		}
	}
	for _, p := range packets {
		at := start().Add(p.at)
		run(at.Add(-time.Microsecond))
		if rng.IntN(2) == 0 {
			sink(at, a.OnRecords(at, p.recs))
		} else {
			for _, r := range p.recs {
				sink(at, a.OnRecord(at, r))
			}
		}
	}
	run(start().Add((oracleTTIs + 500) * time.Millisecond))
}

// The assembler gives the same windows as a computation on the whole log,
// whichever log codes there are and however late and repeated their packets,
// on LTE and in NR's slots of 1 to 1/8 ms.
func TestAgainstNaive(t *testing.T) {
	for _, radio := range []struct {
		rat gbr.RAT
		mu  int
	}{{gbr.RATLTE, 0}, {gbr.RATNR, 0}, {gbr.RATNR, 1}, {gbr.RATNR, 2}, {gbr.RATNR, 3}} {
		t.Run(fmt.Sprintf("%v mu %d", radio.rat, radio.mu), func(t *testing.T) {
			flags := gbr.SampleFlags(0)
			for seed := range uint64(80) {
				flags |= againstNaive(t, seed, radio.rat, radio.mu)
			}
			if flags != gbr.FlagFirstGrant|gbr.FlagInferred {
				t.Errorf("flags %b, want first grants and inferred ones", flags)
			}
		})
	}
}

func againstNaive(t *testing.T, seed uint64, rat gbr.RAT, mu int) (flags gbr.SampleFlags) {
	t.Helper()
	both := seed%2 == 0
	gap := 250
	if both && rat == gbr.RATLTE {
		// Longer silences are told before the BSRs before them are known.
		gap = outage - 2
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	tr := randomTruth(rng, rat, mu, gap)
	if rat == gbr.RATLTE && seed%4 < 2 {
		tr.randomQueue(rng, 0) // says nothing, as the BSRs are told
	}
	period, lag := millis(int64(tr.period)), millis(int64(tr.lag))
	// Until lateness is learned NR's hold is short of what packets are late here.
	a := newAssembler(t, Config{Period: period, Lag: lag, NRPeriod: period, NRLag: lag, Hold: 110 * time.Millisecond, Settle: -1})
	if both && rat == gbr.RATLTE {
		a = newAssembler(t, Config{Period: period, Lag: lag, Settle: -1})
	}
	var (
		got     []gbr.Sample
		sum     int
		reports int
		prev    time.Time
	)
	sink := func(now time.Time, tel gbr.Telemetry) {
		for _, s := range tel.Samples {
			if s.At.Before(prev.Add(-120*time.Millisecond)) || s.At.After(now) {
				t.Fatalf("seed %d: sample at %v told at %v", seed, s.At, now)
			}
			prev = s.At
			s.At = time.Time{}
			got = append(got, s)
		}
		for _, g := range tel.Grants {
			sum += g.Bytes
			if g.Cell>>3 != 0 != (rat == gbr.RATNR) {
				t.Fatalf("seed %d: grant on carrier %d", seed, g.Cell)
			}
		}
		reports += len(tel.Reports)
	}
	sink(start(), a.OnRecord(start(), tr.marker()))
	feed(a, rng, tr.packets(rng, both, 100), sink)

	// After the last BSRs nothing contradicts the silence.
	want := tr.naive(oracleTTIs - 500)
	tr.finish(want)
	for i, w := range want {
		flags |= w.Flags
		if i >= len(got) || got[i] != w.Sample {
			t.Fatalf("seed %d both=%v lag=%d period=%d: sample %d of TTIs %d..%d:\n got %s\nwant %+v", seed, both, tr.lag, tr.period,
				i, w.start, w.end, show(got, i), w.Sample)
		}
	}
	if len(want) < 50 {
		t.Fatalf("seed %d: %d samples compared", seed, len(want))
	}
	total, bsrs := 0, 0
	for i, n := range tr.tx {
		total += max(0, n)
		if tr.bsr[i] != nil {
			bsrs++
		}
	}
	if sum != total || reports != bsrs {
		t.Fatalf("seed %d: %d bytes granted, want %d; %d reports, want %d", seed, sum, total, reports, bsrs)
	}
	if s := a.Stats(); s.Late != 0 && !both || s.Corrected != 0 || s.Restarts != 0 || s.Stale != 0 {
		t.Fatalf("seed %d: %+v", seed, s)
	}

	return flags
}

// The same of the phone's own queue, where grants alone are told besides.
func TestOwnAgainstNaive(t *testing.T) {
	flags := gbr.SampleFlags(0)
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 8))
		tr := randomTruth(rng, gbr.RATLTE, 0, 60)
		tr.stamped = seed%2 == 0
		clear(tr.bsr)
		// It takes a second of grants alone to begin.
		const from = 1100
		for ms := 20; ms < from; ms++ {
			tr.tx[ms] = -1
		}
		tr.randomQueue(rng, from)
		tr.own()
		a := newAssembler(t, Config{Period: millis(int64(tr.period)), Lag: millis(int64(tr.lag)), Settle: -1})
		var got []gbr.Sample
		var reports []gbr.Report
		sink := func(now time.Time, tel gbr.Telemetry) {
			for _, s := range tel.Samples {
				if s.At.After(now) {
					t.Fatalf("seed %d: sample at %v told at %v", seed, s.At, now)
				}
				s.At = time.Time{}
				got = append(got, s)
			}
			for _, r := range tel.Reports {
				if r.At.After(now) || r.Low != r.High || r.Padding {
					t.Fatalf("seed %d: report %+v told at %v", seed, r, now)
				}
				reports = append(reports, r)
			}
		}
		first := tr.marker()
		first.Code, first.Logged = diag.LogB139, tr.stamp(0)
		sink(start(), a.OnRecord(start(), first))
		feed(a, rng, tr.packets(rng, true, 100), sink)

		want := tr.naive(oracleTTIs - 500)
		tr.finish(want)
		for i, w := range want {
			flags |= w.Flags
			if i >= len(got) || got[i] != w.Sample {
				t.Fatalf("seed %d lag=%d period=%d: sample %d of TTIs %d..%d:\n got %s\nwant %+v", seed, tr.lag, tr.period,
					i, w.start, w.end, show(got, i), w.Sample)
			}
		}
		n := 0
		for _, r := range tr.reports {
			if r == nil {
				continue
			}
			if n >= len(reports) || reports[n].High != r.bytes {
				t.Fatalf("seed %d: report %d is not of %d bytes", seed, n, r.bytes)
			}
			n++
		}
		if s := a.Stats(); len(want) < 50 || len(reports) != n || s.Own != uint64(n) || s.Late != 0 || s.Restarts != 0 || s.Stale != 0 {
			t.Fatalf("seed %d: %d samples compared, %d reports, want %d; %+v", seed, len(want), len(reports), n, s)
		}
	}
	if flags != gbr.FlagFirstGrant|gbr.FlagInferred {
		t.Errorf("flags %b, want first grants and inferred ones", flags)
	}
}

func show(s []gbr.Sample, i int) string {
	return fmt.Sprintf("%+v", s[min(len(s), max(0, i-2)):min(len(s), i+3)])
}
