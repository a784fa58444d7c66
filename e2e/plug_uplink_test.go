// SPDX-License-Identifier: MIT

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

// host is several PeerConnections on one phone.
type host struct {
	t      *testing.T
	link   interface{ Close() error }
	uplink *interceptor.Uplink
	join   func(weight float64) *plugCall
	start  time.Time
	calls  []*plugCall
}

func newHost(t *testing.T, capacity cell.Trace) *host {
	t.Helper()
	link := newPlugLink(t, cell.Config{Seed: 10, Capacity: capacity})
	h := &host{t: t, link: link, uplink: interceptor.NewUplink(modemOf(link)), start: time.Now()}
	h.join = func(weight float64) *plugCall {
		c := newPlugCall(t, plugConfig{
			link: link, seed: uint64(11 + len(h.calls)), options: []interceptor.Option{interceptor.WithUplink(h.uplink, weight)},
		})
		h.calls = append(h.calls, c)

		return c
	}

	return h
}

// at waits for a time since the host's start. Frames begin when a stream is added.
func (h *host) at(d time.Duration) { time.Sleep(time.Until(h.start.Add(d))) }

// measure lets time pass. It returns what arrived of each call, in Mbit/s, and the
// 95th percentile of its packets' delays, in ms.
func (h *host) measure(d time.Duration) (rates, delays []float64, sum float64) {
	before, from := map[*plugCall]arrivals{}, map[*plugCall]int{}
	for _, c := range h.calls {
		before[c] = c.got("media")
		from[c] = len(before[c].delays)
	}
	time.Sleep(d)
	for _, c := range h.calls {
		rate := float64(c.got("media").bytes-before[c].bytes) * 8 / d.Seconds() / 1e6
		rates = append(rates, rate)
		delays = append(delays, c.delay("media", from[c], 0.95))
		sum += rate
	}

	return rates, delays, sum
}

// leave closes the last call.
func (h *host) leave() {
	last := len(h.calls) - 1
	h.calls[last].close()
	h.calls = h.calls[:last]
}

func (h *host) close() {
	for len(h.calls) > 0 {
		h.leave()
	}
	if err := h.link.Close(); err != nil {
		h.t.Error(err)
	}
}

// phases are where in the interval of a frame the next member's frames begin: all
// at once, and spread over it; with the race detector, whose business they are not,
// one of them.
func phases() []time.Duration {
	const ms = time.Millisecond
	if raceEnabled {
		return []time.Duration{7 * ms}
	}

	return []time.Duration{0, 5 * ms, 11 * ms, 17 * ms, 24 * ms, 32 * ms}
}

// PeerConnections of one phone share its uplink by weight, through the real
// stack, and leave as little of it unused as one does alone, with frames at any
// phase to each other; when one is closed the others take over.
func TestPlugUplinkIsShared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		weights []float64
		fps     int // of all but the first, whose is 30
		falls   bool
	}{
		"two":                  {weights: []float64{2, 1}},
		"two that are equal":   {weights: []float64{1, 1}},
		"two cameras":          {weights: []float64{1, 2}, fps: 25},
		"three":                {weights: []float64{3, 2, 1}},
		"three, least first":   {weights: []float64{1, 2, 3}},
		"four":                 {weights: []float64{1, 1, 1, 1}},
		"a radio that falls":   {weights: []float64{2, 1}, falls: true},
		"four, and that falls": {weights: []float64{1, 1, 1, 1}, falls: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, phase := range phases() {
				bubble(t, func(t *testing.T) {
					capacity, share := cell.Constant(6_000_000), 1.0
					if c.falls {
						capacity = cell.Steps(cell.Step{Bps: 6_000_000, For: 24 * time.Second}, cell.Step{Bps: 2_400_000, For: time.Hour})
						share = 0.4
					}
					h, weights := newHost(t, capacity), 0.0
					for i, weight := range c.weights {
						call, fps := h.join(weight), 30
						if i > 0 && c.fps > 0 {
							fps = c.fps
						}
						h.at(time.Duration(i) * (4*time.Second + phase))
						call.add("media", streamConfig{fps: fps})
						call.negotiate(nil)
						weights += weight
					}
					h.at(32 * time.Second)
					rates, delays, sum := h.measure(10 * time.Second)
					t.Logf("phase %v: %.2f together, %.2f, p95 %.0f ms", phase, sum, rates, delays)
					within(t, "together", sum/share, 5.65, 0.2, "Mbit/s")
					for i, call := range h.calls {
						within(t, fmt.Sprintf("phase %v, the %d. one's part of its weight's", phase, i+1), rates[i]/sum/(c.weights[i]/weights), 1, 0.1, "")
						within(t, fmt.Sprintf("phase %v, the %d. one's delay p95", phase, i+1), delays[i], 57, 28, "ms")
						if mode := call.estimator.Target().Mode; mode != gbr.Dual {
							t.Errorf("phase %v, the %d. one is %v", phase, i+1, mode)
						}
					}
					for len(h.calls) > 1 {
						h.leave()
					}
					time.Sleep(5 * time.Second)
					_, _, alone := h.measure(5 * time.Second)
					within(t, "the first one alone", alone/share, 5.65, 0.2, "Mbit/s")
					h.close()
				})
			}
		})
	}
}

// What a member does not need is the others', by their weights: one whose source
// is at its most, and one that has no video at all.
func TestPlugUplinkOfWhoNeedsLittle(t *testing.T) {
	t.Parallel()
	for _, phase := range phases() {
		bubble(t, func(t *testing.T) {
			h := newHost(t, cell.Constant(6_000_000))
			first, second, little, voice := h.join(2), h.join(1), h.join(3), h.join(1)
			little.add("media", streamConfig{bps: func() int { return min(500_000, little.estimator.GetTargetBitrate()) }})
			voice.add("media", streamConfig{mime: webrtc.MimeTypeOpus, bps: func() int { return 64_000 }, fps: 50})
			little.negotiate(nil)
			voice.negotiate(nil)
			h.at(5 * time.Second)
			first.add("media", streamConfig{})
			first.negotiate(nil)
			h.at(8*time.Second + phase)
			second.add("media", streamConfig{})
			second.negotiate(nil)
			h.at(25 * time.Second)
			rates, delays, sum := h.measure(10 * time.Second)
			t.Logf("phase %v: %.2f together, %.2f, p95 %.0f ms", phase, sum, rates, delays)
			h.close()
			within(t, "together", sum, 5.65, 0.2, "Mbit/s")
			within(t, "who needs 0.5 Mbit/s", rates[2], 0.5, 0.03, "Mbit/s")
			within(t, "who only talks", rates[3], 0.064, 0.005, "Mbit/s")
			within(t, "weights of the others", rates[0]/rates[1], 2, 0.2, "")
			for i, d := range delays {
				within(t, fmt.Sprintf("phase %v, the %d. one's delay p95", phase, i+1), d, 57, 28, "ms")
			}
		})
	}
}

// One comes and goes, another one falls silent and speaks again: each time the
// uplink is shared anew within seconds, and nobody's packets wait for it.
func TestPlugUplinkComesAndGoes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		h := newHost(t, cell.Constant(6_000_000))
		first, muted := h.join(1), false
		first.add("media", streamConfig{})
		first.negotiate(nil)
		other := h.join(1)
		other.add("media", streamConfig{bps: func() int {
			other.mu.Lock()
			defer other.mu.Unlock()
			if muted {
				return 0
			}

			return other.estimator.GetTargetBitrate()
		}})
		other.negotiate(nil)
		mute := func(m bool) {
			other.mu.Lock()
			defer other.mu.Unlock()
			muted = m
		}
		h.at(12 * time.Second)
		for i := range 3 {
			guest := h.join(2)
			guest.add("media", streamConfig{})
			guest.negotiate(nil)
			time.Sleep(4 * time.Second)
			rates, delays, sum := h.measure(4 * time.Second)
			t.Logf("three: %.2f together, %.2f, p95 %.0f ms", sum, rates, delays)
			within(t, fmt.Sprintf("%d. time, three", i+1), sum, 5.7, 0.3, "Mbit/s")
			within(t, fmt.Sprintf("%d. time, the guest's part", i+1), rates[2]/sum, 0.5, 0.06, "")
			h.leave()
			time.Sleep(time.Second)
			rates, delays, sum = h.measure(4 * time.Second)
			t.Logf("two: %.2f together, %.2f, p95 %.0f ms", sum, rates, delays)
			within(t, fmt.Sprintf("%d. time, two", i+1), sum, 5.7, 0.3, "Mbit/s")
			within(t, fmt.Sprintf("%d. time, the first one's part", i+1), rates[0]/sum, 0.5, 0.05, "")
			within(t, fmt.Sprintf("%d. time, delay p95", i+1), max(delays[0], delays[1]), 57, 28, "ms")
			mute(true)
			time.Sleep(2 * time.Second)
			rates, delays, sum = h.measure(4 * time.Second)
			t.Logf("one silent: %.2f together, %.2f, p95 %.0f ms", sum, rates, delays)
			within(t, fmt.Sprintf("%d. time, beside a silent one", i+1), rates[0], 5.7, 0.3, "Mbit/s")
			mute(false)
			time.Sleep(4 * time.Second)
			rates, delays, sum = h.measure(4 * time.Second)
			t.Logf("speaks again: %.2f together, %.2f, p95 %.0f ms", sum, rates, delays)
			within(t, fmt.Sprintf("%d. time, who speaks again", i+1), rates[1]/sum, 0.5, 0.06, "")
		}
		h.close()
	})
}
