// SPDX-License-Identifier: MIT

package pacing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// oracle is the same pacer written the other way round: no budget, but the
// bits the rate has offered since the start and the bits that are booked
// ("virtual scheduling"), in floating point, with slices.
type oracle struct {
	cfg          Config
	rate         float64
	offered      float64 // bit
	booked       float64 // bit
	last         time.Time
	lead         int
	paced, ahead []oraclePacket
	urgent       []oraclePacket
}

type oraclePacket struct{ item, size int }

func newOracle(cfg Config, now time.Time) *oracle {
	o := &oracle{cfg: cfg, rate: float64(cfg.MinRateBps), last: now}
	o.booked = -o.rate * cfg.Burst.Seconds()

	return o
}

func (o *oracle) queued() float64 {
	sum := 0
	for _, p := range slices.Concat(o.paced, o.ahead, o.urgent) {
		sum += p.size * 8
	}

	return float64(sum)
}

// settle books what was neither used nor can be saved.
func (o *oracle) settle() {
	o.booked = max(o.booked, o.offered-o.queued()-o.rate*o.cfg.Burst.Seconds())
}

func (o *oracle) advance(now time.Time) {
	if d := now.Sub(o.last); d > 0 {
		o.offered += o.rate * d.Seconds()
		o.last = now
	}
	o.settle()
}

func (o *oracle) setRate(now time.Time, bps int) {
	o.advance(now)
	o.rate = math.Max(float64(bps), float64(o.cfg.MinRateBps))
	o.settle()
}

// wait is how many seconds a packet pushed now would wait.
func (o *oracle) wait() float64 { return (o.booked + o.queued() - o.offered) / o.rate }

func (o *oracle) pop() (item int, ok bool) {
	if len(o.urgent) > 0 {
		p := o.urgent[0]
		o.urgent = o.urgent[1:]
		limit := max(o.booked, o.offered+o.rate*o.cfg.MaxQueue.Seconds())
		o.booked = min(o.booked+float64(8*p.size), limit)

		return p.item, true
	}
	if len(o.paced)+len(o.ahead) == 0 || o.offered <= o.booked {
		return 0, false
	}
	from := &o.paced
	if len(o.ahead) > 0 && (len(o.paced) == 0 || o.lead <= int(o.rate*maxLead.Seconds()/8)) {
		if from = &o.ahead; len(o.paced) > 0 {
			o.lead += o.ahead[0].size
		}
	} else {
		o.lead = max(0, o.lead-o.paced[0].size)
	}
	p := (*from)[0]
	*from = (*from)[1:]
	o.booked += float64(8 * p.size)

	return p.item, true
}

// Random operations against the oracle. Float rounding makes exact equality of
// decisions at the very edge a coin toss, so within 1e-3 bit of it, or 1 us,
// the oracle follows the pacer.
func TestAgainstOracle(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 7))
		cfg := Config{
			Burst:      time.Duration(1 + rng.Int64N(int64(40*time.Millisecond))),
			MaxQueue:   time.Duration(1 + rng.Int64N(int64(time.Second))),
			MinRateBps: 1 + rng.IntN(100_000),
		}
		p := newPacer(t, cfg)
		now := epoch()
		o := newOracle(cfg, now)
		p.SetRate(now, 1_000_000)
		o.setRate(now, 1_000_000)
		decided, popped := 0, 0
		for step := range 3000 {
			switch rng.IntN(10) {
			case 0:
				bps := rng.IntN(20_000_000)
				p.SetRate(now, bps)
				o.setRate(now, bps)
			case 1, 2, 3:
				size := 1 + rng.IntN(3000)
				o.advance(now)
				w := o.wait() - cfg.MaxQueue.Seconds()
				push, queue := p.Push, &o.paced
				if rng.IntN(3) == 0 {
					push, queue = p.PushAhead, &o.ahead
				}
				got := push(now, step, size)
				if math.Abs(w) > 1e-6 && got != (w < 0) {
					t.Fatalf("seed %d step %d: Push = %v, the oracle would wait %v s over the limit", seed, step, got, w)
				}
				if got {
					*queue = append(*queue, oraclePacket{step, size})
				}
			case 4:
				if p.PushUrgent(now, step, 100) {
					o.advance(now)
					o.urgent = append(o.urgent, oraclePacket{step, 100})
				}
			case 5, 6:
				now = now.Add(time.Duration(rng.Int64N(int64(3 * time.Millisecond))))
			case 7:
				if at := p.NextSend(now); !at.IsZero() {
					now = at
				}
			case 8:
				if rng.IntN(50) == 0 {
					now = now.Add(time.Duration(rng.Int64N(int64(time.Minute))))
				}
			default:
				o.advance(now)
				edge := math.Abs(o.offered-o.booked) < 1e-3
				got, ok := p.Pop(now)
				if edge && ok && len(o.urgent) == 0 {
					o.offered = max(o.offered, math.Nextafter(o.booked, math.Inf(1)))
				}
				if edge && !ok {
					continue
				}
				want, wantOK := o.pop()
				if got != want || ok != wantOK {
					t.Fatalf("seed %d step %d: Pop = %d, %v; oracle %d, %v", seed, step, got, ok, want, wantOK)
				}
				decided++
				if ok {
					popped++
				}
			}
			if p.Len() != len(o.paced)+len(o.ahead)+len(o.urgent) || float64(p.Bytes()*8) != o.queued() {
				t.Fatalf("seed %d step %d: %d packets, %d B; oracle %d, %v", seed, step, p.Len(), p.Bytes(), len(o.paced)+len(o.ahead)+len(o.urgent), o.queued()/8)
			}
			o.advance(now)
			p.advance(now)
			if diff := float64(p.budget)/1e9 - (o.offered - o.booked); math.Abs(diff) > 1e-2 {
				t.Fatalf("seed %d step %d: budget is %v bit off the oracle's", seed, step, diff)
			}
		}
		if decided < 100 || popped < 20 {
			t.Fatalf("seed %d: only %d decisions and %d packets compared", seed, decided, popped)
		}
	}
}

// FuzzPacer drives random operations with extreme arguments and checks what
// must always hold.
func FuzzPacer(f *testing.F) {
	f.Add([]byte{0, 10, 1, 200, 4, 3, 5, 0, 2, 9, 3, 255, 4, 0, 0, 255})
	f.Add([]byte{1, 255, 1, 255, 3, 250, 4, 0, 6, 7, 5, 5, 1, 1, 4, 4})
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := newPacer(t, Config{MinRateBps: 1})
		now := epoch()
		next, lastPaced := 0, -1
		for len(ops) >= 2 {
			// An exponential argument: 0 .. about 2^63.
			arg := int64(min(math.Exp2(float64(ops[1])/4), math.MaxInt64/2))
			switch op := ops[0] % 8; op {
			case 0:
				p.SetRate(now, int(arg))
			case 1:
				if p.Push(now, next, int(min(arg, math.MaxInt32))) {
					next++
				}
			case 2:
				p.PushUrgent(now, -1, int(arg))
			case 3:
				now = now.Add(time.Duration(arg))
			case 4:
				now = now.Add(-time.Duration(arg))
			case 5:
				p.Drain(nil)
				lastPaced = next - 1
			default:
				at := p.NextSend(now)
				if at.IsZero() != (p.Len() == 0) {
					t.Fatalf("NextSend %v with %d packets", at, p.Len())
				}
				if !at.IsZero() && at.Before(now) {
					t.Fatalf("NextSend %v is before now %v", at, now)
				}
				item, ok := p.Pop(now)
				if ok != (at.Equal(now) && !at.IsZero()) {
					t.Fatalf("Pop %v, NextSend in %v", ok, at.Sub(now))
				}
				if ok && item >= 0 {
					if item != lastPaced+1 {
						t.Fatalf("item %d after %d", item, lastPaced)
					}
					lastPaced = item
				}
			}
			if p.budget > p.ceiling() || p.budget < -maxUnits || p.Delay() < 0 || p.Bytes() < p.Len() {
				t.Fatalf("budget %d of %d, delay %v, %d packets, %d B", p.budget, p.ceiling(), p.Delay(), p.Len(), p.Bytes())
			}
			ops = ops[2:]
		}
		// What is queued always drains, in finite time.
		for p.Len() > 0 {
			at := p.NextSend(now)
			if _, ok := p.Pop(at); !ok {
				t.Fatal("Pop refuses at NextSend")
			}
			now = at
		}
	})
}
