// SPDX-License-Identifier: MIT

package gbr_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// pair is two senders on one phone.
type pair struct {
	senders [2]*gbr.Estimator
	sent    [2]float64 // bytes after the warm-up
	delays  []float64  // in the phone, ms
}

// run lets both send frames, the second one's a few ms after the first one's. They
// know of each other's packets unless deaf is set.
func (p *pair) run(t *testing.T, share float64, budgets, deaf bool) {
	t.Helper()
	const bps, dur, warm = 8_000_000, 14_000, 4000 // ms
	phone, err := cell.New(cell.Config{Start: epoch, Seed: 1, Capacity: cell.Constant(bps)})
	if err != nil {
		t.Fatal(err)
	}
	asm, err := ratio.New(ratio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.senders {
		if p.senders[i], err = gbr.NewEstimator(&scripted{rate: 20_000_000}, gbr.Config{MaxBps: 20_000_000}); err != nil {
			t.Fatal(err)
		}
		p.senders[i].SetShare(epoch, []float64{share, 1 - share}[i])
	}
	type packet struct {
		by int
		gcc.SentPacket
	}
	packets := map[int64]packet{}
	var seq [2]int64
	var id int64
	var results [2][]gcc.PacketResult
	deliver := func(now time.Time, m gbr.Telemetry) {
		for _, e := range p.senders {
			e.OnTelemetry(now, m)
		}
	}
	for ms := range int64(dur) {
		now := epoch.Add(time.Duration(ms)*time.Millisecond + 370*time.Microsecond)
		out := phone.Advance(now)
		for _, d := range out.Delivered {
			s := packets[d.ID]
			delete(packets, d.ID)
			results[s.by] = append(results[s.by], gcc.PacketResult{SentPacket: s.SentPacket, Received: true, Arrival: gcc.RemoteTime(d.At.Sub(epoch).Microseconds())})
			if ms > warm {
				p.delays = append(p.delays, float64(d.LeftPhone.Sub(d.Queued))/1e6)
			}
		}
		var recs []diag.Record
		for _, r := range out.Records {
			recs = append(recs, r.Record)
		}
		if len(recs) > 0 {
			deliver(now, asm.OnRecords(now, recs))
		}
		if next := asm.NextTimeout(); !next.IsZero() && !next.After(now) {
			deliver(now, asm.OnTimeout(now))
		}
		for i, e := range p.senders {
			if ms%50 == 49 && len(results[i]) > 0 {
				e.OnFeedback(now, gcc.Feedback{Packets: results[i]})
				results[i] = nil
			}
			if ms%33 != int64(9*i) {
				continue
			}
			size := 10_000 // nothing is known at first
			if b, ok := e.FrameBudget(now); ok && budgets {
				size = b
			} else if ok {
				size = e.Target().BitrateBps / 8000 * 33
			}
			for ; size > 60; size -= 1250 {
				s := gcc.SentPacket{Seq: seq[i], Size: min(size, 1250), At: now}
				seq[i]++
				phone.Enqueue(now, cell.Packet{ID: id, Size: s.Size})
				packets[id] = packet{i, s}
				id++
				e.OnPacketSent(now, s)
				if !deaf {
					p.senders[1-i].OnOthersSent(now, s)
				}
				if ms > warm {
					p.sent[i] += float64(s.Size)
				}
			}
		}
	}
	for i := range p.sent {
		p.sent[i] /= bps / 8000 * (dur - warm)
	}
}

// Two senders of one phone that know of each other's packets and have a share each
// fill the radio together as one does alone, with rates and with budgets, and
// without a longer queue.
func TestShares(t *testing.T) {
	for _, share := range []float64{0.5, 0.75} {
		for _, budgets := range []bool{false, true} {
			t.Run(fmt.Sprintf("share=%v,budgets=%v", share, budgets), func(t *testing.T) {
				var p pair
				p.run(t, share, budgets, false)
				within(t, "both", p.sent[0]+p.sent[1], 0.93, 0.06, "of the radio")
				within(t, "share", p.sent[0]/(p.sent[0]+p.sent[1]), share, 0.05, "")
				within(t, "time in the phone p95", quantile(p.delays, 0.95), 30, 12, "ms")
			})
		}
	}
}

// Who is not told of the others' packets takes them for another app's: it is worse
// off, since it leaves these theirs and has its share of the rest, but it neither
// starves nor floods.
func TestSharesOfTheDeaf(t *testing.T) {
	var p pair
	p.run(t, 0.5, false, true)
	within(t, "both", p.sent[0]+p.sent[1], 0.65, 0.15, "of the radio")
	within(t, "time in the phone p95", quantile(p.delays, 0.95), 35, 25, "ms")
}

// A new share is there at once, however small the step: what the encoder does not
// see of the radio's moves it sees of somebody's decision.
func TestSetShareIsFollowedAtOnce(t *testing.T) {
	var p pair
	p.run(t, 0.5, false, false)
	end := epoch.Add(14 * time.Second)
	e := p.senders[0]
	rate := func(share float64) float64 {
		e.SetShare(end, share)
		e.OnTimeout(end)
		bps, _, mode := e.Rates()
		if mode != gbr.Dual {
			t.Fatalf("mode is %v", mode)
		}

		return float64(bps)
	}
	half := rate(0.5)
	for _, share := range []float64{0.45, 0.48, 0.3, 0.1, 0.55} {
		within(t, fmt.Sprintf("share %v", share), rate(share)/half, share/0.5, 0.02, "of half the radio's")
	}
}

// Clock is known once telemetry has told enough, and SetClock is for whom it is not.
func TestClock(t *testing.T) {
	e := newEstimator(t, &scripted{rate: 1_000_000}, nil)
	if ahead, ok := e.Clock(); ok {
		t.Errorf("knows without telemetry that the clock is ahead by %v", ahead)
	}
	var p pair
	p.run(t, 0.5, false, false)
	ahead, ok := p.senders[0].Clock()
	within(t, "clock", float64(ahead)/1e6, 0, 8, "ms") // the cell's is ours
	if !ok {
		t.Error("not known after 14 s")
	}
	p.senders[0].SetClock(epoch.Add(14*time.Second), time.Second)
	if again, ok := p.senders[0].Clock(); !ok || again != ahead {
		t.Errorf("who knew %v was made to believe %v, %v", ahead, again, ok)
	}
}

func TestSetShareRefusesNonsense(t *testing.T) {
	var rec []gcc.Event
	e := newEstimator(t, &scripted{rate: 1_000_000}, func(c *gbr.Config) { c.Recorder = recorder(func(ev gcc.Event) { rec = append(rec, ev) }) })
	for _, share := range []float64{0, -1, 1.5, 1} {
		e.SetShare(epoch, share)
	}
	e.SetShare(epoch, 0.25)
	e.SetShare(epoch, 0.25)
	if len(rec) != 1 || rec[0] != (gbr.ShareEvent{Share: 0.25}) {
		t.Errorf("events %v", rec)
	}
}

type recorder func(gcc.Event)

func (r recorder) Record(_ time.Time, ev gcc.Event) { r(ev) }
