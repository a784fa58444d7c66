// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func mustShared(t testing.TB, cfg SharedConfig) *Shared {
	t.Helper()
	if cfg.Start.IsZero() {
		cfg.Start = t0()
	}
	s, err := NewShared(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mixed is the cell of the reference: one phone at 150 m, eight others.
func mixed(u UserConfig) []UserConfig {
	var users []UserConfig
	for _, mcs := range []int{14, 14, 12, 12, 18, 18, 14, 12} {
		u.Link.MCS = mcs
		users = append(users, u)
	}
	return users
}

func saturatedMbps(t *testing.T, cfg SharedConfig, phone int) float64 {
	t.Helper()
	cfg.Start = t0()
	tr, err := Saturated(cfg, phone, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return float64(tr.MeanBps(time.Second, 10*time.Second)) / 1e6
}

func schedulers() []Scheduler {
	return []Scheduler{CappedFair, CappedPF, EqualSplit, RoundRobin, WaterPF}
}

func TestSaturatedAlone(t *testing.T) {
	for _, s := range schedulers() {
		cfg := SharedConfig{Scheduler: s, Phones: []PhoneConfig{{}}}
		within(t, s.String()+": one phone at 150 m", saturatedMbps(t, cfg, 0), 22.9, 0.3, "Mbit/s")
	}
}

// Many phones that always have data share as the scheduler says.
func TestSharesOfTheSaturated(t *testing.T) {
	for _, tc := range []struct {
		s          Scheduler
		near, far  float64 // Mbit/s of the phones at 150 m and at 280 m
		sum, share float64 // of all, and the tolerance
	}{
		{CappedFair, 2.55, 1.2, 14, 0.7},
		{CappedPF, 2.55, 1.2, 14, 0.7},
		{EqualSplit, 2.3, 1.0, 12.5, 0.8},
		{RoundRobin, 2.55, 1.2, 14, 0.7},
		{WaterPF, 2.55, 1.2, 14, 0.7},
	} {
		cfg := SharedConfig{Start: t0(), Scheduler: tc.s, Phones: []PhoneConfig{{}}}
		for _, u := range mixed(UserConfig{}) {
			cfg.Phones = append(cfg.Phones, PhoneConfig{Link: u.Link})
		}
		traces, err := SaturatedAll(cfg, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, tr := range traces {
			sum += float64(tr.MeanBps(time.Second, 10*time.Second)) / 1e6
		}
		mbps := func(i int) float64 { return float64(traces[i].MeanBps(time.Second, 10*time.Second)) / 1e6 }
		within(t, tc.s.String()+": near", mbps(0), tc.near, 0.25, "Mbit/s")
		within(t, tc.s.String()+": far", mbps(3), tc.far, 0.25, "Mbit/s")
		within(t, tc.s.String()+": all", sum, tc.sum, tc.share, "Mbit/s")
	}
}

// Phones that have data at times, or so much of it, leave the rest to others.
func TestSaturatedByDemand(t *testing.T) {
	cfg := SharedConfig{Start: t0(), Phones: make([]PhoneConfig, 4)}
	traces, err := SaturatedBy(cfg, [][]Demand{
		{{}}, {{To: 4 * time.Second}, {From: 8 * time.Second}}, {{From: 6 * time.Second, To: 8 * time.Second, Bps: 2_000_000}}, nil,
	}, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][5]float64{{11.4, 11.4, 22.9, 20.8, 11.4}, {11.4, 11.4, 0, 0, 11.4}, {0, 0, 0, 2.1, 0}, {}} {
		for j, w := range want {
			from := time.Duration(2*j)*time.Second + 100*time.Millisecond
			within(t, fmt.Sprintf("phone %d from %v", i, from), float64(traces[i].MeanBps(from, from+1800*time.Millisecond))/1e6, w, 0.4, "Mbit/s")
		}
	}
	for name, d := range map[string][][]Demand{
		"too few": {{{}}}, "backwards": {{{From: 2, To: 1}}, nil, nil, nil}, "less than nothing": {{{Bps: -1}}, nil, nil, nil},
	} {
		if _, err := SaturatedBy(cfg, d, time.Second); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// drive sends packets of 1200 bytes at a rate through phone 0 until a time and
// returns the delivered rate and the delays in the phone.
func drive(s *Shared, bps, to int) (mbps float64, delays []float64) {
	p := s.Phone(0)
	bytes, due := 0, 0.0
	for i := range to {
		for _, d := range p.Advance(at(i)).Delivered {
			bytes += d.Size
			delays = append(delays, ms(d.LeftPhone.Sub(d.Queued)))
		}
		for due += float64(bps) / 8000; due >= 1200; due -= 1200 {
			p.Enqueue(at(i), Packet{ID: int64(i), Size: 1200})
		}
	}
	return float64(bytes) * 8 / float64(to) / 1000, delays
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func TestSharedPhone(t *testing.T) {
	for _, tc := range []struct {
		name               string
		cfg                SharedConfig
		bps                int
		mbps, delay, delta float64
	}{
		{"alone, 2 Mbit/s", SharedConfig{}, 2_000_000, 2, 10, 5},
		{"alone, 30 Mbit/s", SharedConfig{}, 30_000_000, 22.7, 530, 40},
		{"busy, below its share", SharedConfig{Background: mixed(UserConfig{Bps: 2_000_000})}, 1_500_000, 1.5, 12, 5},
		{"busy, above its share", SharedConfig{Background: mixed(UserConfig{Bps: 2_500_000})}, 6_000_000, 2.6, 4000, 1500},
	} {
		tc.cfg.Phones = []PhoneConfig{{}}
		mbps, delays := drive(mustShared(t, tc.cfg), tc.bps, 20_000)
		within(t, tc.name+": rate", mbps, tc.mbps, tc.mbps*0.05, "Mbit/s")
		within(t, tc.name+": delay in the phone", mean(delays), tc.delay, tc.delta, "ms")
	}
}

// What a phone could have had is what it has if it takes all.
func TestSharedCapacity(t *testing.T) {
	for _, s := range schedulers() {
		for _, total := range []int{0, 4, 8, 20} {
			cfg := SharedConfig{Start: t0(), Seed: 3, Scheduler: s, Phones: []PhoneConfig{{}}}
			if total > 0 {
				cfg.Background = mixed(UserConfig{Bps: total * 1_000_000 / 8})
			}
			want := saturatedMbps(t, cfg, 0)
			c := mustShared(t, cfg)
			drive(c, 1_000_000, 10_000)
			got := float64(c.Phone(0).CapacityBps(at(10_000), 9*time.Second)) / 1e6
			within(t, fmt.Sprintf("%v with %d Mbit/s of others: capacity", s, total), got, want, 0.001, "Mbit/s")
		}
	}
}

// A clairvoyant's trace holds the fading and the load of the very run.
func TestSaturatedTellsTheFuture(t *testing.T) {
	cfg := SharedConfig{
		Seed: 5, Phones: []PhoneConfig{{Link: Link{SNR: 15, FadeSigma: 4, FadeTau: time.Second}}},
		Background: mixed(UserConfig{Traffic: OnOff, Bps: 3_000_000}),
	}
	cfg.Start = t0()
	tr, err := Saturated(cfg, 0, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	s := mustShared(t, cfg)
	drive(s, 500_000, 20_000)
	var all []float64
	for from := time.Second; from < 19*time.Second; from += 200 * time.Millisecond {
		to := from + 200*time.Millisecond
		told := tr.MeanBps(from, to)
		all = append(all, float64(told))
		if was := s.Phone(0).CapacityBps(t0().Add(to), 200*time.Millisecond); was != told {
			t.Fatalf("%v: %d bit/s, %d foretold", from, was, told)
		}
	}
	if spread := deviation(all) / mean(all); spread < 0.2 {
		t.Errorf("capacity varies by %.2f only", spread)
	}
}

func deviation(v []float64) float64 {
	m, sum := mean(v), 0.0
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// A phone's capacity is less while another one in the cell sends.
func TestSharedCapacityKnowsTheOthers(t *testing.T) {
	s := mustShared(t, SharedConfig{Phones: []PhoneConfig{{}, {}}})
	second := s.Phone(1)
	second.CapacityBps(at(0), time.Second)
	drive(s, 30_000_000, 5000)
	got := float64(second.CapacityBps(at(5000), 4*time.Second)) / 1e6
	within(t, "beside one who takes all", got, 11.4, 0.3, "Mbit/s")
}

// Whatever happens in a cell, no byte is lost count of.
func TestSharedKeepsTheBooks(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 95))
		cfg := SharedConfig{
			Seed: seed, Radio: Radio(rng.IntN(4)), Scheduler: Scheduler(rng.IntN(5)), RBs: []int{6, 25, 50, 100}[rng.IntN(4)], IdealBSR: rng.IntN(4) == 0, FillTTIs: rng.IntN(3),
			EagerRequests: seed%3 == 1, LoneRepeats: seed%4 == 1,
		}
		for range 1 + rng.IntN(3) {
			p := PhoneConfig{Config: richConfig(rng), Link: Link{Distance: 50 + 400*rng.Float64(), FadeSigma: 6 * rng.Float64()}}
			p.Telemetry.Encoded, p.Second = false, Trace{}
			cfg.Phones = append(cfg.Phones, p)
		}
		for range rng.IntN(6) {
			cfg.Background = append(cfg.Background, UserConfig{Link: Link{SNR: 20 * rng.Float64(), FadeSigma: 3}, Traffic: Traffic(rng.IntN(4)), To: 5 * time.Second})
		}
		t.Run(fmt.Sprintf("%d %v %v", seed, cfg.Radio, cfg.Scheduler), func(t *testing.T) {
			s := mustShared(t, cfg)
			var audits []*audit
			for i, p := range cfg.Phones {
				audits = append(audits, &audit{t: t, c: s.Phone(i), overtake: p.Path.Reorder.Share > 0, overfull: true})
			}
			id := int64(0)
			for ms := 0; ms < 5000; ms += rng.IntN(4) {
				for _, a := range audits {
					a.read(a.c.Advance(at(ms)))
					for n := rng.IntN(3); n > 0; n-- {
						id++
						a.enqueue(at(ms), Packet{ID: id, Size: 1 + rng.IntN(1500)})
					}
				}
			}
			for ms, busy := 5000, true; busy && ms < 400_000; ms += 10 {
				busy = ms < 20_000
				for i, a := range audits {
					a.read(a.c.Advance(at(ms)))
					st := a.c.Stats()
					busy = busy || cfg.Phones[i].OtherAppsBps == 0 && st.BytesQueued+st.BytesInFlight > 0
				}
			}
			for i, a := range audits {
				st := a.c.Stats()
				if st.PacketsDelivered != int64(a.packets) || st.PacketsDelivered == 0 {
					t.Errorf("phone %d: delivered %d of %d, %+v", i, a.packets, st.PacketsIn, st)
				}
				if cfg.Phones[i].OtherAppsBps == 0 && st.BytesQueued+st.BytesInFlight != 0 {
					t.Errorf("phone %d is stuck: %+v, %+v", i, st, a.c.Events())
				}
			}
			for i := range cfg.Background {
				if b := s.Background(i); b.BytesIn != b.BytesDelivered+b.BytesDropped+b.BytesQueued || b.BytesIn > 0 && b.BytesDelivered == 0 {
					t.Errorf("background user %d: %+v", i, b)
				}
			}
			if l := s.Load(); l.RBs < 0 || l.RBs > l.Of {
				t.Errorf("load %+v", l)
			}
		})
	}
}

func TestSharedConfigErrors(t *testing.T) {
	for name, set := range map[string]func(*SharedConfig){
		"no start time":      func(c *SharedConfig) { c.Start = time.Time{} },
		"radio 9":            func(c *SharedConfig) { c.Radio = 9 },
		"2 RBs":              func(c *SharedConfig) { c.RBs = 2 },
		"200 RBs":            func(c *SharedConfig) { c.RBs = 200 },
		"scheduler 7":        func(c *SharedConfig) { c.Scheduler = 7 },
		"-1 users":           func(c *SharedConfig) { c.UsersPerTTI = -1 },
		"0 phones":           func(c *SharedConfig) { c.Phones = nil },
		"lags":               func(c *SharedConfig) { c.GrantTTIs = 8 },
		"requests":           func(c *SharedConfig) { c.RequestTTIs = -1 },
		"blocks filled":      func(c *SharedConfig) { c.FillTTIs = 4 },
		"MCS 29":             func(c *SharedConfig) { c.Phones[0].Link.MCS = 29 },
		"SNR of NaN":         func(c *SharedConfig) { c.Phones[0].Link.SNR = math.NaN() },
		"distance of -1":     func(c *SharedConfig) { c.Phones[0].Link.Distance = -1 },
		"BLER 1.5 of wide":   func(c *SharedConfig) { c.Phones[0].Link.WideBLER = 1.5 },
		"fading of 21":       func(c *SharedConfig) { c.Phones[0].Link.FadeSigma = 21 },
		"second carrier":     func(c *SharedConfig) { c.Phones[0].Second = Constant(1e6) },
		"buffer of -1":       func(c *SharedConfig) { c.Phones[0].BufferBytes = -1 },
		"traffic 4":          func(c *SharedConfig) { c.Background = []UserConfig{{Traffic: 4}} },
		"traffic of -1":      func(c *SharedConfig) { c.Background = []UserConfig{{Bps: -1}} },
		"packets of 9 bytes": func(c *SharedConfig) { c.Background = []UserConfig{{PacketBytes: 9}} },
		"traffic on for -":   func(c *SharedConfig) { c.Background = []UserConfig{{On: -1}} },
		"files of -1":        func(c *SharedConfig) { c.Background = []UserConfig{{FileBytes: -1}} },
		"-5 frames":          func(c *SharedConfig) { c.Background = []UserConfig{{FPS: -5}} },
		"traffic from -1ns":  func(c *SharedConfig) { c.Background = []UserConfig{{From: -1}} },
		"fading over -1ns":   func(c *SharedConfig) { c.Background = []UserConfig{{Link: Link{FadeTau: -1}}} },
	} {
		cfg := SharedConfig{Start: t0(), Phones: []PhoneConfig{{}}}
		set(&cfg)
		if _, err := NewShared(cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q: %v", name, err)
		}
	}
	cfg := SharedConfig{Start: t0(), Phones: []PhoneConfig{{}}}
	for _, f := range []func() error{
		func() error { _, err := Saturated(cfg, 1, time.Second); return err },
		func() error { _, err := Saturated(cfg, -1, time.Second); return err },
		func() error { _, err := Saturated(cfg, 0, 0); return err },
		func() error { _, err := SaturatedAll(SharedConfig{}, time.Second); return err },
	} {
		if err := f(); !errors.Is(err, ErrConfig) {
			t.Errorf("%v", err)
		}
	}
}

// A phone at the edge of the cell gets little, takes few RBs for it, and does
// not take the others' share.
func TestCellEdge(t *testing.T) {
	last := 1e9
	for _, tc := range []struct {
		metres, mbps float64
		load         float64 // share of the RBs that it takes when alone
	}{
		{150, 22.9, 1}, {400, 5.16, 1}, {600, 2.09, 0.4}, {1000, 0.39, 0.08}, {1500, 0.144, 0.06}, {4000, 0, 0},
	} {
		for _, s := range schedulers() {
			cfg := SharedConfig{Scheduler: s, Phones: []PhoneConfig{{Link: Link{Distance: tc.metres}}}}
			mbps := saturatedMbps(t, cfg, 0)
			within(t, fmt.Sprintf("%v at %v m", s, tc.metres), mbps, tc.mbps, 0.12*tc.mbps+0.01, "Mbit/s")
			if s == CappedFair {
				if mbps > last {
					t.Errorf("more at %v m than nearer", tc.metres)
				}
				last = mbps
			}
		}
		c := mustShared(t, SharedConfig{Phones: []PhoneConfig{{Link: Link{Distance: tc.metres}}}})
		drive(c, 40_000_000, 5000)
		l := c.Load()
		within(t, fmt.Sprintf("load at %v m", tc.metres), float64(l.RBs)/float64(l.Of), tc.load, 0.03, "")
	}
	near := SharedConfig{Start: t0(), Phones: []PhoneConfig{{}, {Link: Link{Distance: 1000}}}}
	both, err := SaturatedAll(near, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "near beside far", float64(both[0].MeanBps(time.Second, 10*time.Second))/1e6, 21, 1, "Mbit/s")
}

// Steady traffic makes no garbage, shadows included.
func TestSharedAllocs(t *testing.T) {
	for _, r := range radios() {
		cfg := SharedConfig{Radio: r, Scheduler: WaterPF, Phones: []PhoneConfig{{Config: Config{BLER: 0.1}}, {}}, Background: mixed(UserConfig{Traffic: Upload})}
		cfg.Background[0].Traffic, cfg.Background[1].Traffic = Video, OnOff
		s := mustShared(t, cfg)
		i := 0
		second := func() {
			for end := i + 1000; i < end; i++ {
				for p := range 2 {
					s.Phone(p).Advance(at(i))
					s.Phone(p).Enqueue(at(i), Packet{Size: 300})
				}
			}
			s.Phone(0).CapacityBps(at(i), time.Second)
		}
		for range 20 {
			second()
		}
		if n := testing.AllocsPerRun(5, second); n > 2 && !raceEnabled {
			t.Errorf("%v: %v allocations per second of traffic", r, n)
		}
	}
}

// Run in one go or ms by ms, and whichever phone is asked, it is the same.
func TestSharedStepSizeDoesNotMatter(t *testing.T) {
	for seed := range uint64(8) {
		run := func(often int) string {
			s := mustShared(t, SharedConfig{
				Seed: seed, Radio: Radio(seed % 4), Scheduler: Scheduler(seed % 5), RBs: 25, Background: mixed(UserConfig{Traffic: Traffic(seed % 4)}),
				Phones: []PhoneConfig{
					{Config: Config{BLER: 0.1, RandomHandovers: RandomHandovers{PerMinute: 20}}, Link: Link{FadeSigma: 4}},
					{Link: Link{Distance: 300}},
				},
			})
			var log strings.Builder
			for i := range 5000 {
				for p := range 2 {
					if i%often == 0 || i == 4999 {
						for _, d := range s.Phone(p).Advance(at(i)).Delivered {
							fmt.Fprintln(&log, p, d.ID, d.LeftPhone.Sub(t0()), d.At.Sub(t0()))
						}
					}
					if i%(3+p) == 0 {
						s.Phone(p).Enqueue(at(i), Packet{ID: int64(i), Size: 900})
					}
				}
			}
			fmt.Fprint(&log, s.Background(3), s.Load())
			return log.String()
		}
		one, few := run(1), run(37)
		for _, p := range "01" {
			if kinds(one, byte(p)) != kinds(few, byte(p)) {
				t.Errorf("seed %d: phone %c depends on the steps: %s", seed, p, diff(kinds(one, byte(p)), kinds(few, byte(p))))
			}
		}
		if len(one) != len(few) || one == "" {
			t.Errorf("seed %d: %d and %d bytes of log", seed, len(one), len(few))
		}
	}
}

func BenchmarkShared(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := mustShared(b, SharedConfig{Phones: []PhoneConfig{{}}, Background: mixed(UserConfig{Bps: 1_000_000})})
		drive(s, 2_000_000, 60_000)
	}
}
