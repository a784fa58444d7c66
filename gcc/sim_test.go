// SPDX-License-Identifier: MIT

package gcc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc/pacing"
)

// bottleneck is a fluid model: a source of frames, a pacer, one queue with a
// rate, a delay on both ways and a report each 50 ms.
type bottleneck struct {
	// linkBps is the capacity over time.
	linkBps func(t time.Duration) int
	// sourceBps caps the source; 0 follows the estimate.
	sourceBps func(t time.Duration) int
	oneWay    time.Duration
	interval  time.Duration
	// loss is the share of packets lost at random behind the queue.
	loss func(t time.Duration) float64
	// deaf: no report arrives.
	deaf     func(t time.Duration) bool
	queueMax time.Duration
	seed     uint64
	epoch    time.Time
	remote   RemoteTime
	recorder Recorder
	cfg      Config
	// split hands each report over in two halves.
	split bool
	// holdBack delays OnDelay behind OnAcked.
	holdBack time.Duration
	// noPadding: probes must do with what there is to send.
	noPadding bool
	// jitter delays arrivals by up to that, packets stay in order.
	jitter time.Duration
}

// trace is one row for each 100 ms.
type trace struct {
	t       time.Duration
	est     Estimate
	queue   time.Duration
	goodput float64 // bit/s over the last 100 ms
	sentBps float64
	padding float64 // bit/s of it
	alr     bool
	probes  int
}

type simPacket struct {
	res  PacketResult
	done time.Duration // when it leaves the queue
	lost bool

	padding bool
}

const simMTU = 1200

func (b *bottleneck) run(t testing.TB, dur time.Duration) []trace {
	t.Helper()
	if b.oneWay == 0 {
		b.oneWay = 25 * time.Millisecond
	}
	if b.interval == 0 {
		b.interval = 50 * time.Millisecond
	}
	if b.queueMax == 0 {
		b.queueMax = time.Second
	}
	if b.epoch.IsZero() {
		b.epoch = time.Unix(1000, 0)
	}
	b.cfg.Recorder = b.recorder
	c, err := New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}

	const step = time.Millisecond
	var (
		rng     = rand.New(rand.NewPCG(b.seed, 0))
		rows    []trace
		seq     int64
		busy    time.Duration
		lastOut time.Duration
		flight  []simPacket
		reports []struct {
			at  time.Duration
			res []PacketResult
		}
		heldBack []struct {
			at  time.Duration
			res []PacketResult
		}
		nextFrame, nextReport time.Duration
		row                   trace
	)
	pacer, err := pacing.New[int](pacing.Config{MaxQueue: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	pacer.AllowPadding(!b.noPadding)
	send := func(now time.Duration, size int, s pacing.Send[int]) {
		at := b.epoch.Add(now)
		p := SentPacket{Seq: seq, Size: size, At: at, Probe: s.Cluster}
		seq++
		row.sentBps += float64(size) * 8 * 10
		row.padding += float64(s.Padding) * 8 * 10
		c.OnPacketSent(at, p)
		busy = max(busy, now)
		lost := b.loss != nil && rng.Float64() < b.loss(now)
		if busy-now > b.queueMax {
			lost = true
		} else {
			busy += time.Duration(int64(size) * 8 * int64(time.Second) / int64(b.linkBps(now)))
		}
		arrival := busy + b.oneWay
		if b.jitter > 0 {
			arrival += time.Duration(rng.Int64N(int64(b.jitter)))
		}
		arrival = max(arrival, lastOut)
		lastOut = arrival
		flight = append(flight, simPacket{
			res:  PacketResult{SentPacket: p, Received: !lost, Arrival: b.remote.Add(arrival)},
			done: arrival, lost: lost, padding: s.Padding > 0,
		})
	}
	for now := time.Duration(0); now < dur; now += step {
		at := b.epoch.Add(now)
		if now >= nextFrame {
			rate := float64(c.Estimate().BitrateBps)
			if b.sourceBps != nil {
				rate = min(rate, float64(b.sourceBps(now)))
			}
			for left := int(rate / 30 / 8); left > 0; left -= simMTU {
				size := max(min(left, simMTU), 100)
				pacer.Push(at, size, size)
			}
			nextFrame += time.Second / 30
		}
		for {
			p, ok := c.NextProbe()
			if !ok {
				break
			}
			row.probes++
			pacer.Probe(at, pacing.Cluster(p))
		}
		pacer.SetRate(at, c.Estimate().PacingBps)
		for {
			s, ok := pacer.Next(at)
			if !ok {
				break
			}
			send(now, max(s.Item, s.Padding), s)
		}
		if now >= nextReport {
			nextReport += b.interval
			var res []PacketResult
			for len(flight) > 0 && flight[0].done <= now {
				res = append(res, flight[0].res)
				if !flight[0].lost && !flight[0].padding {
					row.goodput += float64(flight[0].res.Size) * 8 * 10
				}
				flight = flight[1:]
			}
			if len(res) > 0 && (b.deaf == nil || !b.deaf(now)) {
				reports = append(reports, struct {
					at  time.Duration
					res []PacketResult
				}{now + b.oneWay, res})
			}
		}
		for len(reports) > 0 && reports[0].at <= now {
			res := reports[0].res
			reports = reports[1:]
			switch {
			case b.holdBack > 0:
				c.OnAcked(at, res)
				heldBack = append(heldBack, struct {
					at  time.Duration
					res []PacketResult
				}{now + b.holdBack, res})
			case b.split && len(res) > 1:
				c.OnFeedback(at, Feedback{Packets: res[:len(res)/2]})
				c.OnFeedback(at, Feedback{Packets: res[len(res)/2:]})
			default:
				c.OnFeedback(at, Feedback{Packets: res})
			}
		}
		for len(heldBack) > 0 && heldBack[0].at <= now {
			c.OnDelay(at, heldBack[0].res)
			heldBack = heldBack[1:]
		}
		if next := c.NextTimeout(); !next.IsZero() && !next.After(at) {
			c.OnTimeout(at)
			if next := c.NextTimeout(); !next.IsZero() && !next.After(at) {
				t.Fatalf("%v: timeout still due after OnTimeout", now)
			}
		}
		if now%(100*time.Millisecond) == 0 {
			row.t, row.est, row.queue, row.alr = now, c.Estimate(), max(0, busy-now), c.alr.active
			rows = append(rows, row)
			row = trace{}
		}
	}

	return rows
}

func constant[T any](v T) func(time.Duration) T { return func(time.Duration) T { return v } }

// mean of f over rows in [from, to).
func mean(rows []trace, from, to time.Duration, f func(trace) float64) float64 {
	var sum float64
	var n int
	for _, r := range rows {
		if r.t >= from && r.t < to {
			sum += f(r)
			n++
		}
	}

	return sum / float64(max(n, 1))
}

// most is the highest f over rows in [from, to).
func most(rows []trace, from, to time.Duration, f func(trace) float64) float64 {
	var top float64
	for _, r := range rows {
		if r.t >= from && r.t < to {
			top = max(top, f(r))
		}
	}

	return top
}

func mbps(r trace) float64        { return float64(r.est.BitrateBps) / 1e6 }
func goodMbps(r trace) float64    { return r.goodput / 1e6 }
func paddingMbps(r trace) float64 { return r.padding / 1e6 }
func queueMillis(r trace) float64 { return float64(r.queue.Microseconds()) / 1000 }

func band(t *testing.T, what string, got, lo, hi float64, unit string) {
	t.Helper()
	if got < lo || got > hi || got != got {
		t.Errorf("%s = %.3f %s, want %.3f..%.3f", what, got, unit, lo, hi)
	}
}

// eventLog writes one line an event.
type eventLog struct {
	strings.Builder
	t     testing.TB
	start time.Time
	skip  func(now time.Time, ev Event) bool
}

func (l *eventLog) Record(now time.Time, ev Event) {
	if l.skip != nil && l.skip(now, ev) {
		return
	}
	data, err := json.Marshal(ev)
	if err != nil {
		l.t.Errorf("%s: %v", ev.EventName(), err)
	}
	_, _ = fmt.Fprintf(l, "%6d %-18s %s\n", now.Sub(l.start).Milliseconds(), ev.EventName(), data)
}
