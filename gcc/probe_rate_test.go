// SPDX-License-Identifier: MIT

package gcc

import "testing"

func TestProbeRate(t *testing.T) {
	cluster := ProbeCluster{ID: 3, RateBps: 4_000_000, MinBytes: 7500, MinPackets: 5}
	even := func(n, size int, sendUs, arriveUs int64) (s []sample) {
		for i := range int64(n) {
			s = append(s, sample{i * sendUs, 1e9 + i*arriveUs, size, 3})
		}

		return s
	}
	for _, tt := range []struct {
		name      string
		packets   []sample
		kbps      float64 // 0: no result
		saturated bool
	}{
		// 1250 B each 2.5 ms are 4 Mbit/s.
		{"the path carries it", even(7, 1250, 2500, 2500), 4000, false},
		{"arrives a little faster", even(7, 1250, 2500, 2000), 4000, false},
		{"arrives at 0.93", even(7, 1250, 2500, 2700), 3704, false},
		{"arrives at 0.8: this is what the path has", even(7, 1250, 2500, 3125), 3040, true},
		{"arrives at a quarter", even(7, 1250, 2500, 10_000), 950, true},
		{"arrives more than twice as fast", even(7, 1250, 2500, 1200), 0, false},
		{"arrives at once", even(7, 1250, 2500, 0), 0, false},
		{"sent at once", even(7, 1250, 0, 2500), 0, false},
		{"not enough packets", even(3, 3000, 2500, 2500), 0, false},
		{"not enough bytes", even(7, 850, 2500, 2500), 0, false},
		{"80 % of the bytes", even(5, 1200, 2400, 2400), 4000, false},
		{"takes more than 1 s to send", even(7, 1250, 300_000, 300_000), 0, false},
		{"takes more than 1 s to arrive", even(7, 1250, 2500, 300_000), 0, false},
		{"another cluster", []sample{{0, 0, 9000, 4}, {1, 1, 9000, 4}, {2, 2, 9000, 4}, {3, 3, 9000, 4}, {4, 4, 9000, 4}}, 0, false},
		{"no probe", []sample{{0, 0, 9000, 0}, {1, 1, 9000, 0}, {2, 2, 9000, 0}, {3, 3, 9000, 0}, {4, 4, 9000, 0}}, 0, false},
		// A frame's last packet is small; that is no sign of a full path.
		{"a small last packet", append(even(6, 1250, 2500, 2500), sample{15_000, 1e9 + 15_000, 100, 3}), 4000, false},
	} {
		var p probeRate
		p.expect(cluster)
		var last probeResult
		for _, s := range tt.packets {
			if r, ok := p.add(s); ok {
				last = r
			}
		}
		band(t, tt.name, last.bps/1000, tt.kbps*0.99, tt.kbps*1.01, "kbit/s")
		if last.saturated != tt.saturated {
			t.Errorf("%s: saturated %v", tt.name, last.saturated)
		}
	}
}

// A cluster whose last packets come late, in another report, has said what it has
// said; one that turns out faster says so.
func TestProbeRateOfALateTail(t *testing.T) {
	for _, tt := range []struct {
		name string
		us   []int64 // arrivals; sent each 2.5 ms
		kbps []float64
	}{
		{"late tail", []int64{0, 2500, 5000, 7500, 10_000, 25_000, 30_000}, []float64{4000}},
		{"late, then in time", []int64{0, 2500, 5000, 20_000, 20_050, 20_100, 20_150}, []float64{1425, 1895, 2363, 2829}},
	} {
		var p probeRate
		p.expect(ProbeCluster{ID: 3, RateBps: 4_000_000, MinBytes: 6250, MinPackets: 5})
		var got []float64
		for i, us := range tt.us {
			if r, ok := p.add(sample{int64(i) * 2500, 1e9 + us, 1250, 3}); ok {
				got = append(got, r.bps/1000)
			}
		}
		if len(got) != len(tt.kbps) {
			t.Fatalf("%s: results %v, want %v", tt.name, got, tt.kbps)
		}
		for i, want := range tt.kbps {
			band(t, tt.name, got[i], want*0.99, want*1.01, "kbit/s")
		}
	}
}

// What a probe has carried lifts a loss limit that rises, and no other.
func TestProbeLiftsALossLimit(t *testing.T) {
	for _, tt := range []struct {
		state LossState
		kbps  float64
		want  float64
	}{
		{LossIncreasing, 1500, 1500},
		{LossIncreasing, 700, 800},
		{LossDecreasing, 1500, 800},
		{LossIdle, 1500, 800},
	} {
		c := newTest(t, Config{StartBps: 1_000_000})
		c.model = newLossRig(1000).m
		c.model.set(800_000)
		c.model.state, c.model.result = tt.state, 800_000
		c.useProbe(t0, probeResult{1, tt.kbps * 1000, false})
		band(t, tt.state.String(), c.model.result/1000, tt.want, tt.want, "kbit/s")
	}
}

// Whether a result moves the delay limit.
func TestUseProbe(t *testing.T) {
	for _, tt := range []struct {
		name      string
		usage     Usage
		result    probeResult
		ackedKbps float64
		want      float64 // kbit/s; the estimate is 1000 before
	}{
		{"higher", UsageNormal, probeResult{1, 2e6, false}, 900, 2000},
		{"higher and saturated", UsageNormal, probeResult{1, 2e6, true}, 900, 2000},
		{"higher while queues empty", UsageUnder, probeResult{1, 2e6, false}, 900, 2000},
		{"during overuse", UsageOver, probeResult{1, 2e6, false}, 900, 1000},
		{"lower, but carried", UsageNormal, probeResult{1, 8e5, false}, 900, 1000},
		{"lower: the path is full", UsageNormal, probeResult{1, 8e5, true}, 700, 800},
		{"far below what arrives", UsageNormal, probeResult{1, 3e5, true}, 900, 765},
		{"far below what arrives, which is above the estimate", UsageNormal, probeResult{1, 3e5, true}, 2000, 1000},
		{"nothing known to arrive", UsageNormal, probeResult{1, 3e5, true}, 0, 300},
	} {
		c := newTest(t, Config{StartBps: 1_000_000})
		c.overuse.usage, c.ackedBps = tt.usage, tt.ackedKbps*1000
		used := c.useProbe(t0, tt.result)
		band(t, tt.name, c.aimd.rate/1000, tt.want, tt.want, "kbit/s")
		if !tt.result.saturated && used != (tt.want != 1000) {
			t.Errorf("%s: used %v", tt.name, used)
		}
	}
}
