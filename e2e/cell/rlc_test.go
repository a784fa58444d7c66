// SPDX-License-Identifier: MIT

package cell

import (
	"testing"
	"time"
)

// A lost block costs four transmissions, a status round and a grant; all that
// is behind it comes with it.
func TestRLCRecovery(t *testing.T) {
	c := mustNew(t, Config{Capacity: Constant(10e6), Seed: 4, RLC: RLCConfig{Loss: 0.002}})
	var worst, n, stalls, late float64
	last, lastID := time.Time{}, int64(-1)
	bytes := 0
	saturate(c, 0, 60_000, 20_000, func(_ int, out Output) {
		for _, d := range out.Delivered {
			if d.ID < lastID || d.At.Before(last) {
				t.Fatalf("packet %d at %v, after %d at %v", d.ID, d.At, lastID, last)
			}
			n++
			behind := ms(d.At.Sub(d.LeftPhone)) - 25
			worst = max(worst, behind)
			if behind > 0 {
				late++
			}
			if !last.IsZero() && d.At.Sub(last) > 50*tti {
				stalls++
			}
			last, lastID = d.At, d.ID
			bytes += d.Size
		}
	})
	lost := float64(c.Events().BlocksLost)
	within(t, "lost", lost/float64(c.Stats().Grants), 0.002, 0.0006, "of blocks")
	within(t, "retransmissions", float64(c.Stats().Retransmissions), 3*lost, 3, "")
	// 24 ms of HARQ, 40 to 80 ms of status round, 0 to 20 ms until the
	// retransmission's turn; more when that is lost as well.
	within(t, "most behind the phone", worst, 130, 40, "ms")
	within(t, "stalls", stalls, lost, lost/4, "")
	// 1000 blocks a second; each one lost holds up those of some 85 ms.
	within(t, "late", late/n, lost/60_000*88, 0.04, "of packets")
	// A block of 1250 bytes has 5 of headers; one lost takes four more.
	within(t, "goodput", float64(bytes)*8/60/10e6, 0.995*(1-0.002*4), 0.004, "of the link")
}

func TestRLCRound(t *testing.T) {
	// One packet alone: four transmissions, the round, a request, a grant.
	cfg := Config{Capacity: Constant(10e6), SRPeriod: tti, RLC: RLCConfig{Loss: 0.5, RoundMin: 60 * tti, RoundMax: 60 * tti}}
	c := mustNew(t, cfg)
	times := map[int]int{}
	for i := range 300 {
		now := at(i * 1000)
		c.Advance(now)
		c.Enqueue(now, Packet{Size: 300})
		for k := range 1000 {
			for _, d := range c.Advance(now.Add(time.Duration(k) * tti)).Delivered {
				times[int(d.At.Sub(d.LeftPhone)/tti)-25]++
			}
		}
	}
	// From the first transmission's end to the fourth's 24 ms, the round 60,
	// SR to PUSCH 9.
	const once = 24 + 60 + 9
	within(t, "at once", float64(times[0]), 150, 25, "packets")
	within(t, "after one round", float64(times[once]), 75, 20, "packets")
	if times[0]+times[once]+times[2*once]+times[3*once]+times[4*once] < 290 {
		t.Errorf("times: %v, want multiples of %d ms", times, once)
	}
}
