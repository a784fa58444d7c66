// SPDX-License-Identifier: MIT

package browser

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const (
	ms        = time.Millisecond
	clockRate = 90_000 // Hz, RFC 3551 5
	maxPacket = 1200   // bytes of a frame in a packet
)

// script says when the packets of a video arrive.
type script struct {
	name, about string
	// rtt is how long a repair takes, or a key frame that is asked for; zero
	// stands for no repair.
	rtt, keyRTT time.Duration
	frames      []frame
	events      []event // in order of time
}

type frame struct {
	rtp  uint32
	size int
}

// event is the arrival of a packet, or its loss: then it is the time at which it
// would have arrived.
type event struct {
	at                  time.Duration
	frame, index, count int
	lost                bool
}

func (s *script) length() time.Duration { return s.events[len(s.events)-1].at }

// path is how a script is made. Functions get the number of the frame and its
// capture time; those left out stand for nothing.
type path struct {
	name, about string
	fps         float64
	seconds     float64
	size        func(i int, at time.Duration) float64
	// muted is when there are no frames.
	muted func(at time.Duration) bool
	// delay is from capture to the first packet, before the queue of the link.
	delay func(i int, at time.Duration) time.Duration
	// bps is the rate of the link, by time; packets queue for it.
	bps func(at time.Duration) float64
	// hold moves an arrival, in order.
	hold func(at time.Duration) time.Duration
	// lost tells of packet n of all.
	lost func(n, frame int, at time.Duration) bool
	// swap delays a single packet, so that later ones overtake it.
	swap        func(n int) time.Duration
	rtt, keyRTT time.Duration
	drift       float64 // of the sender's clock
}

func (p path) script() script {
	s := script{name: p.name, about: p.about, rtt: p.rtt, keyRTT: p.keyRTT}
	var free, last time.Duration
	n := 0
	for k := range int(p.seconds * p.fps) {
		at := time.Duration(float64(k) / p.fps * 1e9)
		if p.muted != nil && p.muted(at) {
			continue
		}
		i := len(s.frames)
		size := max(int(p.size(i, at)), minFrame)
		s.frames = append(s.frames, frame{rtp: uint32(math.Round(at.Seconds() * clockRate * (1 + p.drift))), size: size})
		sent := at
		if p.delay != nil {
			sent += p.delay(i, at)
		}
		count := (size + maxPacket - 1) / maxPacket
		for k := range count {
			// Down the link, one after the other.
			begin := max(sent, free)
			bytes := part(size, k, count)
			free = begin + time.Duration(float64(bytes*8)/p.bps(begin)*1e9)
			arrives := free
			if p.hold != nil {
				arrives = p.hold(arrives)
			}
			arrives = max(arrives, last)
			last = arrives
			e := event{at: arrives, frame: i, index: k, count: count}
			if p.swap != nil {
				e.at += p.swap(n)
			}
			if p.lost != nil {
				e.lost = p.lost(n, i, at)
			}
			s.events = append(s.events, e)
			n++
		}
	}
	slices.SortStableFunc(s.events, func(a, b event) int { return int(a.at - b.at) })

	return s
}

// part is the size of packet k of count of a frame.
func part(size, k, count int) int { return size*(k+1)/count - size*k/count }

func rate(mbps float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return mbps * 1e6 }
}

func bytes4000(int, time.Duration) float64 { return 4000 }

// stalls holds everything up for a time, again and again.
func stalls(length, every time.Duration) func(time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		if begin := at.Truncate(every); begin > 0 && at-begin < length {
			return begin + length
		}

		return at
	}
}

// scripts are the 20 of the comparison; the same on every run.
func scripts() []script {
	random := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xb405e2)) }
	var out []script
	add := func(p path) { out = append(out, p.script()) }

	add(path{name: "steady-30", about: "30 fps, 1 Mbit/s, no jitter", fps: 30, seconds: 12, size: bytes4000, bps: rate(20)})
	add(path{
		name: "mute-60", about: "60 fps, 1.2 Mbit/s, no jitter; nothing is sent for 7 s", fps: 60, seconds: 17, bps: rate(20),
		size:  func(int, time.Duration) float64 { return 2500 },
		muted: func(at time.Duration) bool { return at > 5*time.Second && at < 12*time.Second },
		// A key frame is asked for meanwhile, and comes at the end of it.
		keyRTT: 60 * ms,
	})
	add(path{
		name: "steady-5", about: "5 fps, as of a shared screen", fps: 5, seconds: 20, bps: rate(20),
		size: func(int, time.Duration) float64 { return 12_000 },
	})

	rng := random(1)
	uniform := func(most float64) func(int, time.Duration) time.Duration {
		return func(int, time.Duration) time.Duration { return time.Duration(rng.Float64() * most * 1e6) }
	}
	pause := random(9)
	var until, from time.Duration
	add(path{
		name: "stalls", about: "every second or so nothing for 50 to 450 ms", fps: 30, seconds: 20, size: bytes4000, bps: rate(20),
		delay: uniform(5),
		hold: func(at time.Duration) time.Duration {
			for at >= until {
				from = until + time.Duration((0.5+pause.Float64())*1e9)
				until = from + time.Duration((50+400*pause.Float64())*1e6)
			}
			if at >= from {
				return until
			}

			return at
		},
	})
	add(path{name: "jitter-40", about: "uniform jitter up to 40 ms", fps: 30, seconds: 16, size: bytes4000, bps: rate(20), delay: uniform(40)})
	add(path{
		name: "jitter-tail", about: "exponential jitter, mean 20 ms", fps: 30, seconds: 18, size: bytes4000, bps: rate(20),
		delay: func(int, time.Duration) time.Duration { return time.Duration(rng.ExpFloat64() * 20e6) },
	})
	harq := random(2)
	add(path{
		name: "lte-harq", about: "LTE: grants in 1 ms at 3 Mbit/s, one packet in 10 waits 8 ms more, and so on, in order", fps: 30, seconds: 16,
		size: bytes4000, bps: rate(3), hold: func(at time.Duration) time.Duration {
			at = at.Truncate(ms) + ms
			for harq.Float64() < 0.1 {
				at += 8 * ms
			}

			return at
		},
	})
	lognormal := func(rng *rand.Rand, mean, sigma float64) float64 {
		return mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2)
	}
	big := random(3)
	add(path{
		name: "large-frames", about: "frame sizes vary, every 90th is 5 times as large, on 3 Mbit/s", fps: 30, seconds: 18, bps: rate(3),
		size: func(i int, _ time.Duration) float64 {
			if i%90 == 89 {
				return 25_000
			}

			return lognormal(big, 5000, 0.4)
		},
	})

	noise := random(4)
	small := func(int, time.Duration) time.Duration { return time.Duration(noise.Float64() * 3e6) }
	for _, stall := range []struct {
		name   string
		length time.Duration
	}{{"stall-150", 150 * ms}, {"stall-220", 220 * ms}, {"stall-400", 400 * ms}, {"stall-800", 800 * ms}} {
		add(path{
			name: stall.name, about: "nothing for " + stall.length.String() + " every 4 s, then all of it", fps: 30, seconds: 18,
			size: bytes4000, bps: rate(20), delay: small, hold: stalls(stall.length, 4*time.Second),
		})
	}

	steps := random(5)
	add(path{
		name: "link-down-up", about: "link of 4, 0.8 and 4 Mbit/s; the video follows a second late", fps: 30, seconds: 20,
		bps: func(at time.Duration) float64 {
			if at > 6*time.Second && at < 13*time.Second {
				return 0.8e6
			}

			return 4e6
		},
		size: func(_ int, at time.Duration) float64 {
			if at > 7*time.Second && at < 14*time.Second {
				return lognormal(steps, 0.6e6/8/30, 0.15)
			}

			return lognormal(steps, 2e6/8/30, 0.15)
		},
	})
	add(path{
		name: "rate-steps", about: "video of 0.5, 3 and 1 Mbit/s on 5 Mbit/s", fps: 30, seconds: 18, bps: rate(5),
		size: func(_ int, at time.Duration) float64 {
			return lognormal(steps, []float64{0.5e6, 3e6, 1e6}[min(at/(6*time.Second), 2)]/8/30, 0.2)
		},
	})
	add(path{
		name: "delay-ramp", about: "delay rises by 200 ms in 4 s, falls again, then jumps by 100 ms", fps: 30, seconds: 20, size: bytes4000,
		bps: rate(20), delay: func(_ int, at time.Duration) time.Duration {
			t := at.Seconds()
			switch {
			case t < 4:
				return small(0, 0)
			case t < 8:
				return time.Duration((t - 4) / 4 * 200e6)
			case t < 12:
				return time.Duration((12 - t) / 4 * 200e6)
			case t < 15:
				return small(0, 0)
			default:
				return 100*ms + small(0, 0)
			}
		},
	})
	add(path{
		name: "clock-drift", about: "the sender's clock is 0.5 % fast", fps: 30, seconds: 20, size: bytes4000, bps: rate(20),
		delay: small, drift: 0.005,
	})

	loss := random(6)
	add(path{
		name: "loss-2", about: "2 % loss, repaired after 60 ms", fps: 30, seconds: 18, size: bytes4000, bps: rate(20), delay: small,
		rtt: 60 * ms, keyRTT: 60 * ms, lost: func(int, int, time.Duration) bool { return loss.Float64() < 0.02 },
	})
	burst := random(7)
	losing := 0
	add(path{
		name: "loss-bursts", about: "bursts of 5 lost packets, repaired after 150 ms", fps: 30, seconds: 18, size: bytes4000, bps: rate(20),
		delay: small, rtt: 150 * ms, keyRTT: 150 * ms, lost: func(n, _ int, _ time.Duration) bool {
			if n < 60 {
				return false
			}
			if losing > 0 {
				losing--

				return true
			}
			if burst.Float64() < 0.005 {
				losing = 4

				return true
			}

			return false
		},
	})
	add(path{
		name: "loss-no-repair", about: "a packet lost at 5 s and at 12 s, never repaired; key frames on request after 100 ms", fps: 30, seconds: 20,
		size: bytes4000, bps: rate(20), delay: small, keyRTT: 100 * ms,
		lost: func(n, _ int, _ time.Duration) bool { return n == 4*150+1 || n == 4*360+2 },
	})
	swaps := random(8)
	add(path{
		name: "reordering", about: "one packet in 20 comes up to 25 ms late, others overtake it; nothing is lost", fps: 30, seconds: 16, size: bytes4000,
		bps: rate(3), swap: func(int) time.Duration {
			if swaps.Float64() < 0.05 {
				return time.Duration(swaps.Float64() * 25e6)
			}

			return 0
		},
	})

	return out
}

func TestScripts(t *testing.T) {
	all := scripts()
	if len(all) != 20 {
		t.Errorf("%d scripts, want 20", len(all))
	}
	names := map[string]bool{}
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			if names[s.name] || s.about == "" {
				t.Error("a second one of this name, or no word about it")
			}
			names[s.name] = true
			if got := s.length(); got < 11*time.Second || got > 21*time.Second {
				t.Errorf("takes %v, want 11..21 s", got)
			}
			if again := scripts()[i]; !slices.Equal(again.events, s.events) || !slices.Equal(again.frames, s.frames) {
				t.Error("not the same twice")
			}
			// Every packet once, in order of time, and no frame before its capture.
			seen := map[[2]int]bool{}
			bytes := 0
			for k, e := range s.events {
				if k > 0 && e.at < s.events[k-1].at {
					t.Fatalf("event %d at %v, after %v", k, e.at, s.events[k-1].at)
				}
				if captured := float64(s.frames[e.frame].rtp) / clockRate; e.at.Seconds() < captured*0.99 {
					t.Fatalf("frame %d arrives at %v, captured at %.3f s", e.frame, e.at, captured)
				}
				if seen[[2]int{e.frame, e.index}] {
					t.Fatalf("packet %d of frame %d twice", e.index, e.frame)
				}
				seen[[2]int{e.frame, e.index}] = true
				bytes += part(s.frames[e.frame].size, e.index, e.count)
			}
			want := 0
			for _, f := range s.frames {
				want += f.size
			}
			if bytes != want {
				t.Errorf("%d bytes in packets, %d in frames", bytes, want)
			}
		})
	}
}
