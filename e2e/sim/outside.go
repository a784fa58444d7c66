// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// HeaderBytes is what every packet of media costs on the link beside it.
const HeaderBytes = headerBytes

// ipv4UDP is the bytes of IPv4 and UDP header on the link.
const ipv4UDP = 28

// Outside is a run in which the measured call's sender and receiver are
// somebody else's: the radio, the paths, the other flows, the telemetry, the
// source and all figures are of this package, the datagrams in between are not.
//
//	Capture ─► their sender ─► SendMedia, Send ─► radio, path ─► Far ─► their receiver
//	              ▲ Near ◄─ way back ◄─ SendBack ◄──────────────────────────┘
//
// Times are on the caller's clock and must not go back. What is called back
// must not call Outside.
type Outside struct {
	w    *world
	f    *external
	over bool
}

// Hooks is what an Outside calls, all from Run.
type Hooks struct {
	// Far takes a datagram that has reached the far end, Near one that has come
	// back.
	Far, Near func(b []byte)
	// Telemetry is what the phone tells; its slices are used again.
	Telemetry func(t gbr.Telemetry)
}

// Media is a packet's worth of a frame, under its own number.
type Media struct {
	Piece int32
	Bytes int
}

// CheckOutside tells why a scenario cannot have an outside sender.
func CheckOutside(sc Scenario) error {
	if err := sc.check(); err != nil {
		return err
	}
	if sc.Audio != nil {
		return fmt.Errorf("sim: %s has audio beside the video, which an outside sender has not", sc.Name)
	}
	for i, f := range sc.Flows {
		if f.CC == "" {
			return fmt.Errorf("sim: flow %d of %s has the measured algorithm, which is outside", i+1, sc.Name)
		}
	}

	return nil
}

// NewOutside begins a run, which is called name in its result.
func NewOutside(sc Scenario, name string, seed uint64, start time.Time, hooks Hooks, opts Options) (*Outside, error) {
	if err := CheckOutside(sc); err != nil {
		return nil, err
	}
	// Any algorithm will do until it is replaced.
	w, err := newWorld(sc, "fixed", seed, start, Params{}, opts)
	if err != nil {
		return nil, err
	}
	o := &Outside{w: w}
	o.f = &external{call: w.main, outside: o, hooks: hooks}
	w.main.alg, w.main.budget = &o.f.rates, nil
	w.main.spec.CC = name
	w.main.viewer.silent = true
	w.main.flow = o.f

	return o, nil
}

// External kinds of datagrams: what is not media, ahead and back.
const (
	kindOther kind = 0x40 + iota
	kindReturn
)

// external is the measured flow: a call whose datagrams are real.
type external struct {
	*call
	outside *Outside
	hooks   Hooks
	rates   noted
}

func (f *external) receive(k kind, index int64, d *cell.Delivery) {
	switch k {
	case kindMedia:
		if !f.outside.over {
			sent := f.packets[index].sentAt
			f.roundTrip = time.Duration(f.w.instant(d.At)-sent) + f.w.sc.ReturnDelay + f.spec.Delay
			f.arrive(index, d)
		}
		f.hooks.Far(d.Payload)
	case kindOther:
		f.hooks.Far(d.Payload)
	case kindReturn:
		f.hooks.Near(d.Payload)
	case kindKeyFrame:
		f.source.OnKeyFrameRequest(f.w.now)
	default:
	}
}

func (f *external) lose(k kind, _ int64) {
	if k == kindMedia && !f.outside.over {
		f.lost++
	}
}

func (f *external) telemetry(t gbr.Telemetry) { f.hooks.Telemetry(t) }

func (f *external) step() {
	if !f.outside.over {
		f.viewer.step()
	}
}

func (f *external) wake() instant {
	if f.outside.over {
		return never
	}

	return f.viewer.wake()
}

// noted is an algorithm that somebody else has.
type noted Rates

func (*noted) OnPacketSent(time.Time, gcc.SentPacket) {}
func (*noted) OnFeedback(time.Time, gcc.Feedback)     {}
func (*noted) OnTelemetry(time.Time, gbr.Telemetry)   {}
func (*noted) OnTimeout(time.Time)                    {}
func (*noted) NextTimeout() time.Time                 { return time.Time{} }
func (n *noted) Rates() Rates                         { return Rates(*n) }

// at sets the run's clock.
func (o *Outside) at(now time.Time) {
	if now.After(o.w.now) {
		o.w.now = now
	}
}

// End is when the run is over.
func (o *Outside) End() time.Time { return o.w.end }

// Run does what is due and tells when there will be more.
func (o *Outside) Run(now time.Time) (next time.Time, err error) {
	o.at(now)
	at, err := o.w.turn()

	return o.w.start.Add(time.Duration(at)), err
}

// NextCapture is when the source has its next frame.
func (o *Outside) NextCapture() time.Time { return o.f.source.NextTimeout() }

// OnRates notes what the sender wants, and the link bytes in its pacer. The
// source obeys the target as late as the scenario says.
func (o *Outside) OnRates(now time.Time, r Rates, pacer int) {
	o.at(now)
	o.f.rates, o.f.held = noted(r), pacer
	o.f.source.OnTarget(o.w.now, r.TargetBps)
}

// Capture is the frame that is due now, in packets: none when none is due, or
// when it is skipped because so much time is queued in the pacer.
func (o *Outside) Capture(now time.Time, pacer time.Duration) []Media {
	o.at(now)
	f := o.f
	coded, isDue := f.source.Capture(o.w.now, media.Budget{})
	if !isDue || !f.active() {
		return nil
	}
	if o.w.counts(o.w.now) {
		f.targets.Add(float64(f.source.Target(o.w.now)))
	}
	if f.skips(pacer) {
		f.source.OnSkipped(o.w.now)

		return nil
	}
	number := f.newFrame(coded.Key)
	var out []Media
	for left := coded.Size; left > 0; left -= maxPayload {
		m := min(left, maxPayload)
		out = append(out, Media{f.newPiece(number, m), m})
	}

	return out
}

// SendMedia sends a datagram that carries media, again or for the first time,
// made at queued. On the link it has HeaderBytes beside them.
func (o *Outside) SendMedia(now time.Time, b []byte, piece int32, queued time.Time) {
	o.at(now)
	f := o.f
	pc := &f.pieces[piece]
	pc.sentAt = o.w.instant(o.w.now)
	pc.sent++
	seq := int64(len(f.packets))
	size := int(pc.media) + headerBytes
	f.packets = append(f.packets, packet{
		piece: piece, size: int32(size), sentAt: pc.sentAt, queuedAt: o.w.instant(queued), arrival: never,
	})
	f.sent++
	o.enqueue(kindMedia, seq, b, size)
}

// Send sends any other datagram to the far end.
func (o *Outside) Send(now time.Time, b []byte) {
	o.at(now)
	o.enqueue(kindOther, 0, b, len(b)+ipv4UDP)
}

func (o *Outside) enqueue(k kind, index int64, b []byte, size int) {
	p := o.f.phone
	p.touched = true
	p.up.Enqueue(o.w.now, cell.Packet{ID: int64(newTag(k, o.f.number, index)), Size: size, Payload: b})
}

// SendBack sends a datagram from the far end.
func (o *Outside) SendBack(now time.Time, b []byte) {
	o.at(now)
	x := o.f.phone.down
	x.path.Enqueue(o.w.now, cell.Packet{ID: int64(newTag(kindReturn, o.f.number, 0)), Size: len(b) + ipv4UDP, Payload: b})
	x.due = o.w.instant(x.path.NextTimeout())
}

// Arrived is how many pieces have reached the far end.
func (o *Outside) Arrived() int {
	n := 0
	for i := range o.f.pieces {
		if o.f.pieces[i].here {
			n++
		}
	}

	return n
}

// Finish ends the run and sums up; datagrams still pass afterwards, and count
// for nothing.
func (o *Outside) Finish() Result {
	w := o.w
	w.finish()
	o.over = true
	res := w.result()
	for _, p := range w.points {
		w.opts.Observe(p)
	}

	return res
}
