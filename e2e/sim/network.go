// SPDX-License-Identifier: MIT

package sim

import "github.com/gbrcc/gbrcc/e2e/cell"

// kind is what a datagram is.
type kind uint8

const (
	kindMedia    kind = iota
	kindFeedback      // TWCC
	kindNACK
	kindKeyFrame // PLI
	kindSegment  // TCP
	kindAck
)

// tag is a datagram's mark on its way: kind, flow and the flow's own number.
type tag int64

const (
	indexBits = 40
	flowBits  = 16
	maxFlows  = 1 << flowBits
)

func newTag(k kind, flow int, index int64) tag {
	return tag(int64(k)<<(indexBits+flowBits) | int64(flow)<<indexBits | index)
}

func (t tag) kind() kind   { return kind(t >> (indexBits + flowBits)) }
func (t tag) flow() int    { return int(t>>indexBits) & (maxFlows - 1) }
func (t tag) index() int64 { return int64(t) & (1<<indexBits - 1) }

// wire is a path alone on its way to someone.
type wire struct {
	w    *world
	path *cell.Wire
	to   func(d *cell.Delivery)
	due  instant
}

func newWire(w *world, p cell.PathConfig, seed uint64, to func(d *cell.Delivery)) (*wire, error) {
	path, err := cell.NewWire(cell.WireConfig{Start: w.start, Seed: seed, Path: p})
	if err != nil {
		return nil, err
	}

	return &wire{w: w, path: path, to: to, due: never}, nil
}

// enqueue sends a datagram that begins here, forward one that was on the way
// already.
func (x *wire) enqueue(t tag, size int) {
	x.path.Enqueue(x.w.now, cell.Packet{ID: int64(t), Size: size})
	x.due = x.w.instant(x.path.NextTimeout())
}

func (x *wire) forward(d *cell.Delivery) {
	x.path.Forward(d.At, *d)
	x.due = x.w.instant(x.path.NextTimeout())
}

// run hands out what has come by now.
func (x *wire) run(at instant) {
	if at < x.due {
		return
	}
	out := x.path.Advance(x.w.now)
	x.due = x.w.instant(x.path.NextTimeout())
	for i := range out.Delivered {
		x.to(&out.Delivered[i])
	}
	for _, p := range out.Dropped {
		x.w.lost(p)
	}
}

// route is a flow's way, both ways.
type route struct {
	w       *world
	number  int
	name    string
	spec    Flow
	phone   *phone
	flow    flow
	touched bool // something has reached it
	due     instant
	// lateUp and lateDown are Flow.Delay, nil for none.
	lateUp, lateDown *wire
}

func (w *world) newRoute(f Flow, p *phone) (*route, error) {
	r := &route{w: w, number: len(w.routes), spec: f, name: f.Name, phone: p, due: instant(f.From)}
	if f.Delay > 0 {
		var err error
		if r.lateUp, err = newWire(w, cell.PathConfig{Delay: f.Delay}, 0, r.receive); err != nil {
			return nil, err
		}
		if r.lateDown, err = newWire(w, cell.PathConfig{Delay: f.Delay}, 0, r.receive); err != nil {
			return nil, err
		}
	}
	w.routes = append(w.routes, r)

	return r, nil
}

// ahead sends in the direction of the media, back in the other one.
func (r *route) ahead(k kind, index int64, size int) { r.send(r.spec.Reverse, k, index, size) }
func (r *route) back(k kind, index int64, size int)  { r.send(!r.spec.Reverse, k, index, size) }

func (r *route) send(down bool, k kind, index int64, size int) {
	t := newTag(k, r.number, index)
	if down {
		r.phone.down.enqueue(t, size)

		return
	}
	r.phone.touched = true
	r.phone.up.Enqueue(r.w.now, cell.Packet{ID: int64(t), Size: size})
}

func (r *route) receive(d *cell.Delivery) {
	r.touched = true
	t := tag(d.ID)
	r.flow.receive(t.kind(), t.index(), d)
}

// active tells whether the flow sends media.
func (r *route) active() bool {
	t := r.w.since()
	if !(Span{r.spec.From, r.spec.To}).holds(t) {
		return false
	}
	for _, p := range r.spec.Pauses {
		if p.holds(t) {
			return false
		}
	}

	return true
}

// fromRadio takes what a cell has delivered.
func (w *world) fromRadio(d *cell.Delivery) {
	if w.backhaul != nil {
		w.backhaul.forward(d)

		return
	}
	w.farEnd(d)
}

// farEnd takes what has come through all that is shared on the way up.
func (w *world) farEnd(d *cell.Delivery) {
	r := w.routes[tag(d.ID).flow()]
	if r.lateUp != nil {
		r.lateUp.forward(d)

		return
	}
	r.receive(d)
}

// nearEnd is the same on the way down.
func (w *world) nearEnd(d *cell.Delivery) {
	r := w.routes[tag(d.ID).flow()]
	if r.lateDown != nil {
		r.lateDown.forward(d)

		return
	}
	r.receive(d)
}

func (w *world) lost(p cell.Packet) {
	t := tag(p.ID)
	w.routes[t.flow()].flow.lose(t.kind(), t.index())
}

// Sizes of what goes back, on the link: IPv4 20 and UDP 8; SRTCP's index 4 and
// tag 10 (RFC 3711 3.4).
const (
	rtcpOverhead = 20 + 8 + 4 + 10
	// twccBytes is without packets, twccPerPacket about a status and a delta of
	// each: draft-holmer-rmcat-transport-wide-cc-extensions-01 3.1.
	twccBytes, twccPerPacket = 20, 2
	// nackBytes is without requests, nackPerPacket one each: RFC 4585 6.2.1.
	nackBytes, nackPerPacket = 12, 4
	// pliBytes is RFC 4585 6.3.1.
	pliBytes = 12
)
