// SPDX-License-Identifier: MIT

package ratio

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

func TestNewRefuses(t *testing.T) {
	for _, cfg := range []Config{
		{Period: -1},
		{Period: 2561 * time.Millisecond},
		{Period: time.Microsecond},
		{Lag: -1},
		{Lag: 101 * time.Millisecond},
		{Lag: 1500 * time.Microsecond},
		{NRPeriod: 2561 * time.Millisecond},
		{NRLag: -1},
		{Hold: -1},
		{Hold: 2 * time.Second},
	} {
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", cfg, err)
		}
	}
}

func start() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }

// The agent's clock may run faster or slower than the cell's: times follow
// within a few ms, although the records come in bursts.
func TestClockFollowsDrift(t *testing.T) {
	for _, ppm := range []int{-100, 0, 100} {
		a := newAssembler(t, Config{Settle: -1})
		const seconds = 600
		for ms := 0; ms < seconds*1000; ms += 10 {
			air := time.Duration(ms) * time.Millisecond
			local := air + air*time.Duration(ppm)/1e6
			delay := time.Duration(31-ms%40) * time.Millisecond // 1 to 31 ms
			tel := a.OnRecord(start().Add(local+delay), diag.Record{
				Kind: diag.KindGrant, Code: diag.LogB139, RAT: diag.LTE, TTI: ms % wrap, Bytes: 100,
			})
			if ms < 10000 {
				continue // the first seconds learn the delay
			}
			if len(tel.Grants) != 1 {
				t.Fatalf("%d ppm, %d ms: %d grants", ppm, ms, len(tel.Grants))
			}
			if off := tel.Grants[0].At.Sub(start().Add(local)); off < -time.Millisecond || off > 3*time.Millisecond {
				t.Fatalf("%d ppm, %d ms: time off by %v, want -1 to 3 ms", ppm, ms, off)
			}
		}
		if s := a.Stats(); s.Restarts != 0 {
			t.Errorf("%d ppm: %d restarts", ppm, s.Restarts)
		}
	}
}

// Moving all clocks changes nothing but the times.
func TestShiftedClocks(t *testing.T) {
	run := func(shift time.Duration, tti int) []gbr.Sample {
		a := newAssembler(t, Config{Settle: -1})
		var out []gbr.Sample
		for ms := 0; ms < 2000; ms += 5 {
			at := start().Add(shift + time.Duration(ms)*time.Millisecond)
			g := diag.Record{Kind: diag.KindGrant, Code: diag.LogB064, RAT: diag.LTE, TTI: (tti + ms) % wrap, Bytes: 100 + ms}
			b := g
			b.Kind, b.Form, b.LCGs, b.Trigger = diag.KindBSR, diag.FormShort, 1, diag.TriggerPeriodic
			b.Index[0] = uint8(ms % 64)
			for _, s := range a.OnRecords(at, []diag.Record{g, b}).Samples {
				s.At = s.At.Add(-shift)
				s.SFN = (s.SFN - tti/10 + 1024) % 1024
				out = append(out, s)
			}
		}

		return out
	}
	want := run(0, 0)
	if len(want) < 100 {
		t.Fatalf("%d samples", len(want))
	}
	for _, tti := range []int{10, 5000, wrap - 10} {
		if got := run(time.Duration(tti)*time.Hour, tti); !reflect.DeepEqual(got, want) {
			t.Errorf("shift %d: samples differ", tti)
		}
	}
}

// Bursts from a diagnostic buffer that nobody drains make the hold grow, so
// that silence between bursts is not taken for starvation.
func TestHoldIsLearned(t *testing.T) {
	a := newAssembler(t, Config{Period: 5 * time.Millisecond, Lag: 8 * time.Millisecond, Settle: -1})
	starved, samples := 0, 0
	count := func(tel gbr.Telemetry) {
		for _, s := range tel.Samples {
			samples++
			if s.Granted == 0 {
				starved++
			}
		}
	}
	const burst = 380
	for end := burst; end < 20*burst; end += burst {
		at := start().Add(time.Duration(end) * time.Millisecond)
		for {
			next := a.NextTimeout()
			if next.IsZero() || next.After(at) {
				break
			}
			count(a.OnTimeout(next))
		}
		if end == 4*burst {
			starved, samples = 0, 0 // learned by now
		}
		var recs []diag.Record
		for ms := end - burst; ms < end; ms++ {
			r := diag.Record{Kind: diag.KindGrant, Code: diag.LogB139, RAT: diag.LTE, TTI: ms % wrap, Bytes: 500}
			recs = append(recs, r)
			if ms%5 == 0 {
				r.Kind, r.Code, r.Form, r.LCGs, r.Trigger = diag.KindBSR, diag.LogB064, diag.FormShort, 1, diag.TriggerPeriodic
				r.Index[0] = 55
				recs = append(recs, r)
			}
		}
		count(a.OnRecords(at, recs))
	}
	if starved > 0 || samples < 15*burst/5 {
		t.Errorf("%d starved of %d samples, want 0 of at least %d", starved, samples, 15*burst/5)
	}
	if hold := a.Stats().GrantHold; hold < 375*time.Millisecond || hold > 390*time.Millisecond {
		t.Errorf("hold %v, want 375 to 390 ms", hold)
	}
}

// A backlog without grants gives one sample of 0 per T, the first one within
// lag, T and hold, and they end after 2 s of a silent modem.
func TestStarvedRate(t *testing.T) {
	a := newAssembler(t, Config{Period: 5 * time.Millisecond, Lag: 8 * time.Millisecond, Settle: -1})
	g := diag.Record{Kind: diag.KindGrant, Code: diag.LogB139, RAT: diag.LTE, TTI: 100, Bytes: 500}
	b := g
	b.Kind, b.Code, b.Form, b.LCGs, b.Trigger = diag.KindBSR, diag.LogB064, diag.FormShort, 1, diag.TriggerPeriodic
	b.Index[0] = 55
	a.OnRecords(start(), []diag.Record{g, b})
	var first, last time.Duration
	n := 0
	for {
		next := a.NextTimeout()
		if next.IsZero() {
			break
		}
		for _, s := range a.OnTimeout(next).Samples {
			if eta, ok := s.Ratio(); !ok || eta != 0 || s.Window != 5*time.Millisecond {
				t.Fatalf("%+v", s)
			}
			if n++; n == 1 {
				first = next.Sub(start())
			}
			last = next.Sub(start())
		}
		if n > 1000 {
			t.Fatal("starved for ever")
		}
	}
	if first < 25*time.Millisecond || first > 30*time.Millisecond { // 5 + 7 + 15
		t.Errorf("first starved sample after %v, want 25 to 30 ms", first)
	}
	if n < 398 || n > 402 || last < 2*time.Second || last > 2050*time.Millisecond {
		t.Errorf("%d starved samples until %v, want about 400 in 2 s", n, last)
	}
}

// Any sequence of operations: no panic, times not after now and ascending
// within a slice, NextTimeout moves on, sums as the records say.
func FuzzAssembler(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 10, 0, 0, 100, 3, 1, 10, 0, 0, 40, 1, 3, 200, 0, 0, 0, 0})
	f.Add([]byte{4, 1, 0, 0, 0, 0, 0, 10, 0, 50, 100, 3, 1, 10, 0, 50, 40, 1, 3, 255, 255, 0, 0, 0, 2, 0, 0, 0, 0, 0})
	// Both radios, then late grants of each, then silence.
	f.Add([]byte{
		1, 10, 0, 40, 100, 0x22, 7, 10, 0, 2, 100, 0x24, 3, 100, 0, 0, 0, 0, 1, 15, 0, 40, 100, 0x12, 7, 15, 0, 2, 100, 0x14,
		3, 250, 0, 9, 0, 0, 0, 11, 0, 9, 100, 2, 6, 12, 0, 9, 100, 4, 3, 250, 0, 90, 0, 0,
	})
	// The phone's own queue after two seconds of grants alone, and then a BSR.
	f.Add([]byte{
		0, 10, 0, 40, 100, 0, 3, 208, 7, 9, 0, 0, 0, 218, 7, 40, 100, 0, 5, 200, 7, 40, 100, 1, 3, 10, 0, 19, 0, 0,
		5, 240, 7, 40, 1, 3, 3, 250, 0, 1, 0, 0, 1, 240, 7, 40, 100, 2, 5, 10, 8, 40, 100, 1,
	})
	f.Fuzz(func(t *testing.T, ops []byte) {
		a := newAssembler(t, Config{Settle: -1})
		now, high := start(), start()
		sum := 0
		check := func(tel gbr.Telemetry) {
			prev := time.Time{}
			for _, g := range tel.Grants {
				if g.At.Before(prev) || g.At.After(high) || g.Bytes <= 0 {
					t.Fatalf("grant %+v at %v", g, high)
				}
				prev = g.At
				sum += g.Bytes
			}
			prev = time.Time{}
			for _, r := range tel.Reports {
				if r.At.Before(prev) || r.At.After(high) || r.Low < 0 || r.High != -1 && r.High < r.Low {
					t.Fatalf("report %+v at %v", r, high)
				}
				prev = r.At
			}
			prev = time.Time{}
			for _, s := range tel.Samples {
				if s.At.Before(prev) || s.At.After(high) || s.Window <= 0 && !s.Idle() || s.Window > maxWindow*time.Millisecond ||
					s.Granted < 0 || s.Granted > sum || s.ReportedLow < 0 || s.Reported < s.ReportedLow ||
					s.Reported > 0 && (s.SumGranted < s.Granted || s.SumReported < s.Reported) ||
					s.SFN < 0 || s.SFN > 1023 || (s.RAT == gbr.RATUnknown) != (s.Flags&gbr.FlagSummed != 0) {
					t.Fatalf("sample %+v at %v, %d bytes granted", s, high, sum)
				}
				prev = s.At
			}
		}
		for len(ops) >= 6 {
			op, x, arg, n := ops[0]%8, int(binary.LittleEndian.Uint16(ops[1:])), int(ops[3]), int(ops[4])
			flags := ops[5]
			ops = ops[6:]
			r := diag.Record{Kind: diag.KindGrant, Code: diag.LogB139, RAT: diag.LTE, TTI: x, Cell: int(flags >> 6), Bytes: n * arg}
			if flags&1 != 0 {
				r.Logged = diag.TimestampOf(now)
			}
			if flags&2 != 0 {
				r.Code = diag.LogB064
			}
			if op >= 6 {
				r.RAT, r.Code, r.Numerology, r.Inferred = diag.NR, diag.LogB872, flags>>2&3, flags&32 != 0
				if flags&2 != 0 {
					r.Code = diag.LogB883
				}
				r.TTI = x << r.Numerology & 0x1FFFF
			}
			switch op {
			case 0:
				check(a.OnRecord(now, r))
			case 1:
				b := r
				b.Kind, b.Code, b.Form, b.LCGs = diag.KindBSR, diag.LogB064, diag.Form(flags>>2&3), 15
				b.Trigger = diag.Trigger(flags >> 4 & 3)
				b.Index[arg&3] = uint8(n)
				check(a.OnRecords(now, []diag.Record{r, b}))
			case 2:
				r.PCI, r.HasPCI, r.Retx, r.Radio = arg, true, int(flags>>4&1), uint32(flags>>5&1)
				check(a.OnRecord(now, r))
			case 3:
				now = now.Add(time.Duration(x) * time.Duration(1+arg) * 100 * time.Microsecond)
			case 4:
				now = now.Add(-time.Duration(x) * time.Millisecond)
			case 6:
				check(a.OnRecords(now, []diag.Record{r, r}))
			case 7:
				b := r
				b.Kind, b.Code, b.Form, b.LCGs = diag.KindBSR, diag.LogB872, diag.Form(arg&3), 255
				b.Trigger = diag.Trigger(flags >> 4 & 3)
				b.Index[arg&7] = uint8(n)
				check(a.OnRecords(now, []diag.Record{r, b, r}))
			case 5:
				if flags&1 != 0 {
					q := diag.Record{
						Kind: diag.KindBuffer, Code: diag.LogB066, RAT: diag.LTE, TTI: x, AgeMs: n, Queued: arg * n, Signalling: int(flags >> 4),
					}
					if flags&2 != 0 {
						q.Logged, q.TTI = diag.TimestampOf(now), x-wrap
					}
					next := q
					next.TTI, next.AgeMs, next.Queued = x+1, n-1, int(flags&4)
					check(a.OnRecords(now, []diag.Record{q, q, next}))

					break
				}
				check(a.OnRecord(now, diag.Record{Kind: diag.KindConfig, RAT: diag.LTE, PeriodicBSR: time.Duration(x) * time.Millisecond}))
			}
			if now.After(high) {
				high = now
			}
			for i := 0; ; i++ {
				next := a.NextTimeout()
				if next.IsZero() || next.After(high) {
					break
				}
				if i > 100000 {
					t.Fatal("NextTimeout does not move on")
				}
				tel := a.OnTimeout(high)
				check(tel)
			}
		}
	})
}

// The table of buffer sizes is the one that the records tell of; a record that
// tells of it alone leaves T.
func TestExtendedBSR(t *testing.T) {
	told := func(extended bool) diag.Record {
		return diag.Record{Kind: diag.KindConfig, Code: diag.LogB0C0, RAT: diag.LTE, ExtendedBSR: extended, HasExtendedBSR: true}
	}
	withTimer := told(true)
	withTimer.PeriodicBSR = 10 * time.Millisecond
	timer := diag.Record{Kind: diag.KindConfig, Code: diag.LogB060, RAT: diag.LTE, PeriodicBSR: 20 * time.Millisecond}
	nr := told(true)
	nr.RAT = diag.NR
	for _, tc := range []struct {
		name     string
		cfg      Config
		records  []diag.Record
		extended bool
		period   time.Duration
	}{
		{"nothing told", Config{}, nil, false, 0},
		{"told", Config{}, []diag.Record{told(true)}, true, 0},
		{"told with the timer", Config{}, []diag.Record{withTimer}, true, 10 * time.Millisecond},
		{"timer that tells no table", Config{}, []diag.Record{withTimer, timer}, true, 20 * time.Millisecond},
		{"released", Config{}, []diag.Record{withTimer, told(false)}, false, 10 * time.Millisecond},
		{"NR has one table", Config{}, []diag.Record{timer, nr}, false, 20 * time.Millisecond},
		{"known otherwise", Config{ExtendedBSR: true}, []diag.Record{told(false)}, true, 0},
	} {
		tc.cfg.Settle = -1
		a := newAssembler(t, tc.cfg)
		var period time.Duration
		for _, r := range tc.records {
			if tel := a.OnRecord(start(), r); tel.Config != nil {
				period = tel.Config.Period
			}
		}
		_, bsr := traffic(1, diag.LTE)
		bsr.Index[0] = 40
		low, high := diag.LTEBufferSize(40, tc.extended)
		tel := a.OnRecord(start().Add(time.Millisecond), bsr)
		if len(tel.Reports) != 1 || tel.Reports[0].Low != low || tel.Reports[0].High != high || period != tc.period {
			t.Errorf("%s: %+v, period %v; want %d to %d, %v", tc.name, tel.Reports, period, low, high, tc.period)
		}
	}
}

// traffic is one ms of a busy phone: a grant in each, a BSR in every fifth.
func traffic(ms int, rat diag.RAT) (grant, bsr diag.Record) {
	grant = diag.Record{Kind: diag.KindGrant, Code: diag.LogB139, RAT: rat, TTI: ms % wrap, Bytes: 1000}
	bsr = grant
	bsr.Kind, bsr.Code, bsr.Form, bsr.LCGs, bsr.Trigger = diag.KindBSR, diag.LogB064, diag.FormShort, 1, diag.TriggerPadding
	if ms%5 == 0 {
		bsr.Trigger = diag.TriggerPeriodic
	}
	bsr.Index[0] = 30
	if rat == diag.NR {
		grant.Code, bsr.Code = diag.LogB872, diag.LogB872
		grant.Numerology, bsr.Numerology = 1, 1
		grant.TTI *= 2
		bsr.TTI *= 2
	}

	return grant, bsr
}

func BenchmarkOnRecord(b *testing.B) {
	for _, bm := range []struct {
		name string
		rats []diag.RAT
	}{{"lte", []diag.RAT{diag.LTE}}, {"nr", []diag.RAT{diag.NR}}, {"endc", []diag.RAT{diag.LTE, diag.NR}}} {
		b.Run(bm.name, func(b *testing.B) {
			a := newAssembler(b, Config{Settle: -1})
			b.ReportAllocs()
			i, samples := 0, 0
			for b.Loop() {
				ms := i / 2 / len(bm.rats)
				grant, bsr := traffic(ms, bm.rats[i/2%len(bm.rats)])
				if i&1 == 1 {
					grant = bsr
				}
				samples += len(a.OnRecord(start().Add(time.Duration(ms)*time.Millisecond), grant).Samples)
				i++
			}
			b.ReportMetric(float64(samples)/float64(b.N), "samples/op")
		})
	}
}

func TestOnRecordAllocations(t *testing.T) {
	a := newAssembler(t, Config{Settle: -1})
	ms, samples := 0, 0
	step := func() {
		at := start().Add(time.Duration(ms) * time.Millisecond)
		for _, rat := range []diag.RAT{diag.LTE, diag.NR} {
			grant, bsr := traffic(ms, rat)
			samples += len(a.OnRecord(at, grant).Samples)
			samples += len(a.OnRecord(at, bsr).Samples)
		}
		samples += len(a.OnTimeout(at).Samples)
		a.NextTimeout()
		ms++
	}
	for range 1000 {
		step()
	}
	if n := testing.AllocsPerRun(10000, step); n != 0 {
		t.Errorf("%.3f allocations per ms, want 0", n)
	}
	if s := a.Stats(); samples < 4000 || s.Summed < 4000 {
		t.Errorf("%d samples, %+v", samples, s)
	}
}

// The configuration told is that of the radio with more bytes; it changes at
// most once a second.
func TestConfigFollowsTheData(t *testing.T) {
	a := newAssembler(t, Config{Settle: -1})
	var got []gbr.RAT
	at := func(ms int) time.Time { return start().Add(time.Duration(ms) * time.Millisecond) }
	for ms := range 7000 {
		rats := []diag.RAT{diag.LTE, diag.NR}
		if ms < 1500 {
			rats = rats[:1]
		}
		for _, rat := range rats {
			r, _ := traffic(ms, rat)
			if (rat == diag.NR) == (ms < 3000 || ms >= 4500) {
				r.Bytes *= 10
			}
			if c := a.OnRecord(at(ms), r).Config; c != nil {
				got = append(got, c.RAT)
				t.Logf("%d ms: %v", ms, c.RAT)
			}
		}
	}
	want := []gbr.RAT{gbr.RATLTE, gbr.RATNR, gbr.RATLTE, gbr.RATNR}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("configurations of %v, want %v", got, want)
	}
}

// What is no record of a radio's slots is left out.
func TestIgnored(t *testing.T) {
	a := newAssembler(t, Config{Settle: -1})
	good, _ := traffic(10, diag.NR)
	bad := []diag.Record{good, good, good, good, good}
	bad[0].Kind = diag.KindBuffer
	bad[1].Numerology = 4 // 240 kHz carries no data
	bad[2].TTI = wrap * 2
	bad[3].RAT, bad[3].TTI = diag.LTE, 10 // with a numerology
	bad[4].RAT = 0
	tel := a.OnRecords(start(), bad)
	if s := a.Stats(); len(tel.Grants) != 0 || s.Records != 4 || s.Ignored != 4 || !a.NextTimeout().IsZero() {
		t.Errorf("%+v %+v", tel, s)
	}
	if tel := a.OnRecord(start(), good); len(tel.Grants) != 1 || tel.Grants[0].Cell != 8 {
		t.Errorf("%+v, want a grant on carrier 8", tel)
	}
}

// A grant that comes late is missing in the other radio's sum too.
func TestLateGrantOfTheOtherRadio(t *testing.T) {
	a := newAssembler(t, Config{
		Period: 5 * time.Millisecond, Lag: 8 * time.Millisecond, NRPeriod: 5 * time.Millisecond, NRLag: 5 * time.Millisecond,
		Hold: 15 * time.Millisecond, Settle: -1,
	})
	at := func(ms int) time.Time { return start().Add(time.Duration(ms) * time.Millisecond) }
	var samples []gbr.Sample
	take := func(tel gbr.Telemetry) {
		for _, s := range tel.Samples {
			if s.SFN == 0 && s.Flags&gbr.FlagSummed != 0 && s.At.Equal(at(105)) {
				samples = append(samples, s)
			}
		}
	}
	lte, _ := traffic(99, diag.LTE)
	lte.Code = diag.LogB064
	take(a.OnRecord(at(99), lte))
	for ms := 100; ms < 130; ms += 5 {
		grant, bsr := traffic(ms, diag.NR)
		take(a.OnRecords(at(ms), []diag.Record{grant, bsr}))
	}
	lte, _ = traffic(130, diag.LTE)
	lte.Code = diag.LogB064
	take(a.OnRecord(at(130), lte)) // all LTE grants before are known now
	lte.TTI, lte.Bytes = 103, 777
	take(a.OnRecord(at(150), lte))
	lte.TTI = 104
	take(a.OnRecord(at(151), lte)) // only once
	if len(samples) != 2 || samples[0].Flags != gbr.FlagSummed || samples[1].Flags != gbr.FlagSummed|gbr.FlagCorrected ||
		samples[1].Granted != samples[0].Granted+777 || samples[1].SumGranted != samples[0].SumGranted+777 {
		t.Errorf("%+v, want a sample and its correction by 777 bytes", samples)
	}
}
