// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// HeaderBytes is what every packet costs on the link beside its media.
const HeaderBytes = headerBytes

// Outside is a run that somebody else has: the source's frames and the figures
// of this package for a sender and a network that are not. Times are the
// caller's; they must not go back.
type Outside struct {
	run     *run
	arrived map[Piece]bool
}

// Piece is a packet's media: part of a frame.
type Piece struct{ Frame, Index int }

// NewOutside begins a run at start. The caller runs its own cell, on CellConfig.
func NewOutside(sc Scenario, name string, seed uint64, start time.Time, opts Options) (*Outside, error) {
	if sc.Duration <= sc.Warmup {
		return nil, fmt.Errorf("sim: a run of %v is shorter than its warm-up of %v", sc.Duration, sc.Warmup)
	}
	r := &run{
		sc: sc, name: name, seed: seed, opts: opts, start: start, end: start.Add(sc.Duration), now: start,
		trace: sc.CellConfig(start, seed).Capacity, source: newSource(sc.Source, start, seed), points: newPoints(sc, opts),
	}
	r.rcv = newReceiver(&r.packets, start)

	return &Outside{run: r, arrived: map[Piece]bool{}}, nil
}

// CellConfig is the scenario's cell for a run.
func (sc Scenario) CellConfig(start time.Time, seed uint64) cell.Config {
	c := sc.Cell
	c.Start, c.Seed = start, seed
	if sc.Trace != nil {
		c.Capacity = sc.Trace(seed, sc.Duration)
	}

	return c
}

// End is when the run is over.
func (o *Outside) End() time.Time { return o.run.end }

// OnTarget notes the target for the source, in bit/s.
func (o *Outside) OnTarget(now time.Time, bps int) { o.run.source.onTarget(now, bps) }

// NextCapture is when the source has its next frame.
func (o *Outside) NextCapture() time.Time { return o.run.source.next }

// Capture returns the media bytes of each packet of the frame that is due now:
// none when none is due, or when it is skipped because the pacer's queue of
// that length is too long. frame is what Sent wants.
func (o *Outside) Capture(now time.Time, pacer time.Duration) (frame int, media []int) {
	r := o.run
	size, isDue := r.source.frame(now, 0, false)
	if !isDue {
		return 0, nil
	}
	if now.Sub(r.start) >= r.sc.Warmup {
		r.targets.Add(float64(r.source.target(now)))
	}
	if r.sc.Source.SkipAbove > 0 && pacer > r.sc.Source.SkipAbove {
		return 0, nil
	}
	for left := size; left > 0; left -= maxPayload {
		media = append(media, min(left, maxPayload))
	}
	r.frames = append(r.frames, frameOf(now, len(media)))

	return len(r.frames) - 1, media
}

// Sent notes a packet that enters the phone, retransmissions too: media bytes
// that the source made at queued. The result is what Delivered wants.
func (o *Outside) Sent(now time.Time, p Piece, media int, queued time.Time) (id int64) {
	r := o.run
	r.packets = append(r.packets, packet{frame: p.Frame, index: p.Index, media: media, size: media + headerBytes, sentAt: now, queuedAt: queued})
	r.sent++

	return int64(len(r.packets) - 1)
}

// Delivered notes the arrival of a packet; d.ID is what Sent returned.
func (o *Outside) Delivered(d cell.Delivery) {
	r := o.run
	if d.At.After(r.end) {
		return
	}
	p := &r.packets[d.ID]
	piece := Piece{p.frame, p.index}
	p.received = p.received || o.arrived[piece] // a second copy is no goodput
	o.arrived[piece] = true
	r.arrive(d)
}

// Lost notes that a packet will not arrive.
func (o *Outside) Lost() { o.run.lost++ }

// Samples notes ratio samples that reached the algorithm.
func (o *Outside) Samples(n int) { o.run.samples += n }

// Observe notes the sender's state for Options.Observe. The backlogs are bytes
// in the phone and in the pacer.
func (o *Outside) Observe(now time.Time, rates Rates, backlog, pacer int) {
	o.run.observeState(now, rates, backlog, pacer)
}

// Result plays the frames out and sums up, when the run is over.
func (o *Outside) Result() Result {
	res := o.run.result()
	for _, p := range o.run.points {
		o.run.opts.Observe(p)
	}

	return res
}

func frameOf(capture time.Time, packets int) frame { return frame{capture: capture, missing: packets} }
