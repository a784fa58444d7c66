// SPDX-License-Identifier: MIT

package cell

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

func allFaults() TelemetryFaults {
	return TelemetryFaults{
		Loss: 0.05, Late: 0.02, LateMax: 300 * tti, Duplicate: 0.05, Reorder: Reorder{0.1, 40 * tti}, Scale: 1.5,
		Freezes:  []Freeze{{At: 500 * tti, For: 200 * tti}, {At: time.Second, For: 100 * tti, Repeat: true}},
		Restarts: []time.Duration{1500 * tti, 2200*tti + 300*time.Microsecond},
	}
}

// Whatever goes wrong is the same in records and in bytes, and the bytes are
// always good ones.
func TestFaultsAreTheSameEncoded(t *testing.T) {
	for _, scale := range []float64{0.1, 1, 10} {
		cfg := Config{Capacity: SynthLTE(2, 10*time.Second), BLER: 0.1, Seed: 8, Handovers: []Handover{{At: 2500 * tti, KeepQueue: true}}}
		cfg.Telemetry.Faults = allFaults()
		cfg.Telemetry.Faults.Scale = scale
		plain := telemetry(t, cfg, 4000)
		cfg.Telemetry.Encoded = true
		encoded := telemetry(t, cfg, 4000)
		if len(plain) < 4000 || len(plain) != len(encoded) {
			t.Fatalf("scale %v: %d records, %d encoded", scale, len(plain), len(encoded))
		}
		for i := range plain {
			if plain[i] != encoded[i] {
				t.Fatalf("scale %v, record %d:\n%+v\nencoded\n%+v", scale, i, plain[i], encoded[i])
			}
		}
	}
}

// The radio does not know what the reader of its log sees.
func TestFaultsLeaveTheRadioAlone(t *testing.T) {
	cfg := Config{Capacity: SynthLTE(1, 10*time.Second), BLER: 0.1}
	every := func(int) bool { return true }
	good := trail(mustNew(t, cfg), 1, every)
	cfg.Telemetry.Faults = allFaults()
	bad := trail(mustNew(t, cfg), 1, every)
	if kinds(good, 'd') != kinds(bad, 'd') || kinds(good, 'x') != kinds(bad, 'x') {
		t.Error("telemetry faults change the packets")
	}
	if kinds(good, 'r') == kinds(bad, 'r') {
		t.Error("no fault in the records")
	}
	if again := trail(mustNew(t, cfg), 1, every); again != bad {
		t.Error("the same seed gives two trails")
	}
}

// logPacket is a B139 packet: when it was read in ms, and its stamp.
type logPacket struct {
	at     float64
	logged diag.Timestamp
	first  diag.Record
	n      int
}

// packetsOf groups the B139 records of a saturated cell by their packet.
func packetsOf(t *testing.T, faults TelemetryFaults, length int) (ps []logPacket) {
	cfg := Config{Capacity: Constant(10e6), Seed: 3, Telemetry: TelemetryConfig{Delay: -1, JitterMax: -1, Faults: faults}}
	for _, r := range telemetry(t, cfg, length) {
		if r.Code != diag.LogB139 {
			continue
		}
		at := ms(r.At.Sub(t0()))
		if n := len(ps); n > 0 && ps[n-1].logged == r.Logged && ps[n-1].at == at && ps[n-1].n < 10 {
			ps[n-1].n++
			continue
		}
		ps = append(ps, logPacket{at, r.Logged, r.Record, 1})
	}
	return ps
}

func TestFaultShares(t *testing.T) {
	const length = 50_000
	base := packetsOf(t, TelemetryFaults{}, length)
	n := float64(len(base))
	within(t, "no faults", n, length/10, 20, "packets")

	within(t, "loss", float64(len(packetsOf(t, TelemetryFaults{Loss: 0.2}, length)))/n, 0.8, 0.02, "of packets")

	ps, twice := packetsOf(t, TelemetryFaults{Duplicate: 0.2}, length), 0
	for i := 1; i < len(ps); i++ {
		if ps[i] == ps[i-1] {
			twice++
		}
	}
	within(t, "duplicates", float64(twice)/n, 0.2, 0.02, "of packets")
	within(t, "with duplicates", float64(len(ps))/n, 1.2, 0.02, "of packets")

	age := func(p logPacket) float64 { return p.at - ms(p.logged.Time().Sub(t0())) }
	ps = packetsOf(t, TelemetryFaults{Late: 0.001}, length)
	worst, old := 0.0, 0.0
	for i, p := range ps {
		worst = max(worst, age(p))
		if age(p) > 2 {
			old++
		}
		if i > 0 && p.logged < ps[i-1].logged {
			t.Fatalf("late packets are out of order: %+v after %+v", p, ps[i-1])
		}
	}
	// Ten with those of B064, 0.5 s each, which hold up all behind.
	within(t, "late: worst", worst, 800, 220, "ms")
	within(t, "late: held up", old/n, 10*50/n, 0.04, "of packets")

	ps = packetsOf(t, TelemetryFaults{Reorder: Reorder{0.1, 50 * tti}}, length)
	back := 0
	for i := 1; i < len(ps); i++ {
		if ps[i].logged < ps[i-1].logged {
			back++
		}
	}
	// Those held back by more than the 10 ms to the next one.
	within(t, "overtaken", float64(back)/n, 0.1*0.8*0.93, 0.012, "of packets")

	want, got := 0.0, 0.0
	for i, p := range packetsOf(t, TelemetryFaults{Scale: 2.5}, 5000) {
		got += float64(p.first.Bytes)
		want += float64(base[i].first.Bytes)
	}
	within(t, "scale", got/want, 2.5, 0.01, "of the bytes")
}

func TestFreeze(t *testing.T) {
	for _, repeat := range []bool{false, true} {
		ps := packetsOf(t, TelemetryFaults{Freezes: []Freeze{{At: time.Second, For: 500 * tti, Repeat: repeat}}}, 3000)
		var during, gap float64
		stamps := map[diag.Timestamp]bool{}
		for i, p := range ps {
			if i > 0 {
				gap = max(gap, p.at-ps[i-1].at)
			}
			if p.at >= 1000 && p.at < 1500 {
				during++
				stamps[p.logged] = true
			}
		}
		if !repeat {
			within(t, "silence: packets", during, 0, 0, "packets")
			within(t, "silence: gap", gap, 505, 6, "ms")
			continue
		}
		// One every 10 ms, always the same.
		within(t, "repeat: stamps", float64(len(stamps)), 1, 0, "")
		within(t, "repeat: packets", during, 50, 3, "packets")
	}
}

func TestRestart(t *testing.T) {
	cfg := Config{Capacity: Constant(10e6), Seed: 3, Telemetry: TelemetryConfig{Delay: -1, JitterMax: -1}}
	cfg.Telemetry.Faults.Restarts = []time.Duration{time.Second}
	stale, configs, jump := map[diag.Timestamp]bool{}, 0, 0
	lastTTI, seen := -1, map[diag.Timestamp]float64{}
	for _, r := range telemetry(t, cfg, 3000) {
		at := ms(r.At.Sub(t0()))
		if r.Kind == diag.KindConfig {
			configs++
			continue
		}
		if first, ok := seen[r.Logged]; ok && first < at {
			stale[r.Logged] = true
			within(t, "flush", at, 1000, 1, "ms")
			continue
		}
		seen[r.Logged] = at
		if r.Code != diag.LogB139 || r.Retx > 0 {
			continue
		}
		if at > 1000 && jump == 0 {
			jump = (r.TTI - lastTTI + ttiWrap) % ttiWrap
		}
		lastTTI = r.TTI
	}
	within(t, "configurations", float64(configs), 2, 0, "")
	// Eight packets, some of them with the same stamp.
	within(t, "stale stamps", float64(len(stale)), 6, 2, "")
	if jump < 30 || jump > ttiWrap-30 {
		t.Errorf("TTI numbers jump by %d", jump)
	}
}

func TestBurstEvery(t *testing.T) {
	for name, cfg := range map[string]TelemetryConfig{"380": BurstTelemetry(), "140": SawtoothTelemetry()} {
		var every float64
		fmt.Sscan(name, &every) //nolint:errcheck // a constant
		old := 0.0
		for _, r := range telemetry(t, Config{Capacity: Constant(10e6), Telemetry: cfg}, 5000) {
			at := ms(r.At.Sub(t0()))
			if math.Mod(at, every) != 0 {
				t.Fatalf("a record at %v ms", at)
			}
			old = max(old, at-ms(r.Logged.Time().Sub(t0())))
		}
		within(t, name+": oldest since its commit", old, every, 12, "ms")
	}
	old, late, n := 0.0, 0.0, 0.0
	for _, r := range telemetry(t, Config{Capacity: Constant(10e6), Telemetry: DrainedTelemetry()}, 20_000) {
		age := ms(r.At.Sub(t0())) - ms(r.Logged.Time().Sub(t0()))
		old, n = max(old, age), n+1
		if age > 2.5 {
			late++
		}
	}
	within(t, "drained: oldest since its commit", old, 20, 4, "ms")
	within(t, "drained: spikes", late/n, 0.014, 0.01, "of records")
}

func TestFaultErrors(t *testing.T) {
	for _, tc := range []struct {
		want string
		cfg  TelemetryConfig
	}{
		{"bursts", TelemetryConfig{BurstEvery: -1}},
		{"shares", TelemetryConfig{Faults: TelemetryFaults{Loss: 1.1}}},
		{"shares", TelemetryConfig{Faults: TelemetryFaults{Late: math.NaN()}}},
		{"shares", TelemetryConfig{Faults: TelemetryFaults{Duplicate: -1}}},
		{"shares", TelemetryConfig{Faults: TelemetryFaults{Reorder: Reorder{Share: 2}}}},
		{"late by", TelemetryConfig{Faults: TelemetryFaults{Late: 0.1, LateMax: -1}}},
		{"late by", TelemetryConfig{Faults: TelemetryFaults{Reorder: Reorder{Max: 2 * time.Hour}}}},
		{"scale", TelemetryConfig{Faults: TelemetryFaults{Scale: 11}}},
		{"freeze", TelemetryConfig{Faults: TelemetryFaults{Freezes: []Freeze{{At: -1, For: 1}}}}},
		{"freeze", TelemetryConfig{Faults: TelemetryFaults{Freezes: []Freeze{{At: 1, For: 0}}}}},
		{"restart", TelemetryConfig{Faults: TelemetryFaults{Restarts: []time.Duration{5, 5}}}},
	} {
		_, err := New(Config{Start: t0(), Capacity: Constant(1e6), Telemetry: tc.cfg})
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}
