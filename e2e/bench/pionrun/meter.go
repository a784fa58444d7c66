// SPDX-License-Identifier: MIT

package pionrun

import (
	"fmt"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// stream is one RTP packet's name on the wire, where the rest is encrypted.
type stream struct {
	ssrc uint32
	seq  uint16
}

// piece is the media of one packet.
type piece struct {
	sim.Piece
	media  int
	queued time.Time // when the source made it

	arrived, read bool
}

// meter follows the media from the source to the far end. It is safe for
// concurrent use.
type meter struct {
	mu      sync.Mutex
	run     *sim.Outside
	start   time.Time
	points  []sim.Point
	made    map[uint16]*piece  // by the number that the source gave it
	leaving map[stream]leaving // on its way from the estimator to the wire
	waiting int                // link bytes in the pacer
	over    bool
	// arrived and read count the pieces that reached the far socket, and those
	// that the stack behind it made something of.
	arrived, read int
}

// leaving is a piece with the moment its sending was decided on.
type leaving struct {
	*piece
	queued time.Time
}

func newMeter() *meter {
	return &meter{made: map[uint16]*piece{}, leaving: map[stream]leaving{}}
}

// begin starts the run; before it nothing is counted.
func (m *meter) begin(j Job, start time.Time) error {
	opts := sim.Options{ObserveEvery: j.ObserveEvery}
	if j.ObserveEvery > 0 {
		opts.Observe = func(p sim.Point) { m.points = append(m.points, p) }
	}
	run, err := sim.NewOutside(j.Scenario, j.CC, j.Seed, start, opts)
	m.run, m.start = run, start

	return err
}

func (m *meter) target(now time.Time, bps int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run.OnTarget(now, bps)
}

func (m *meter) nextCapture() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.run.NextCapture()
}

func (m *meter) observe(now time.Time, r sim.Rates, backlog int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run.Observe(now, r, backlog, m.waiting)
}

// capture has the frame that is due now.
func (m *meter) capture(now time.Time, pacer time.Duration) (media []int, frame int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	frame, media = m.run.Capture(now, pacer)

	return media, frame
}

// queue notes what the source gives to the stack.
func (m *meter) queue(seq uint16, p piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made[seq] = &p
	m.waiting += p.media + sim.HeaderBytes
}

// leave notes what the estimator lets go: the packet that the source called seq,
// in its own stream or again in another.
func (m *meter) leave(as stream, seq uint16, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.made[seq]
	if !ok {
		return
	}
	l := leaving{p, p.queued}
	if again {
		l.queued = time.Now()
	} else {
		m.waiting -= p.media + sim.HeaderBytes
	}
	m.leaving[as] = l
}

// enter is a datagram that enters the phone. It returns its size on the link,
// and the number that the run knows it by when it is media.
func (m *meter) enter(now time.Time, b []byte) (size int, id int64, media *piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size = len(b) + ipv4UDP
	name, ok := rtpName(b)
	if !ok {
		return size, 0, nil
	}
	p, ok := m.leaving[name]
	if !ok || m.over {
		return size, 0, nil
	}
	delete(m.leaving, name)
	// What a packet costs is the same in all rows, whatever its cipher's tag.
	return p.media + sim.HeaderBytes, m.run.Sent(now, p.Piece, p.media, p.queued), p.piece
}

func (m *meter) delivered(d cell.Delivery, p *piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.run.Delivered(d)
	if !p.arrived {
		p.arrived = true
		m.arrived++
	}
}

// received is a packet that the stack has read, under the source's number.
func (m *meter) received(seq uint16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.made[seq]; p != nil && !p.read {
		p.read = true
		m.read++
	}
}

// unread is what arrived and was thrown away by the stack: figures would count
// what no viewer has seen.
func (m *meter) unread() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived > m.read {
		return fmt.Errorf("the stack read only %d of %d packets that arrived", m.read, m.arrived)
	}

	return nil
}

func (m *meter) lost() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.run.Lost()
	}
}

func (m *meter) samples(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.run.Samples(n)
	}
}

// pacer is the link bytes that the estimator holds back.
func (m *meter) pacer() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.waiting
}

// finish ends the run: what comes later is not counted.
func (m *meter) finish() Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	r := m.run.Result()

	return Reply{r, m.points}
}

// rtpName reads the header of an RTP packet. RTCP shares the port: its types
// are 64 to 95 where RTP has its payload type. RFC 5761 4.
func rtpName(b []byte) (stream, bool) {
	if len(b) < 12 || b[0]>>6 != 2 || b[1]&0x7f >= 64 && b[1]&0x7f < 96 {
		return stream{}, false
	}

	return stream{
		ssrc: uint32(b[8])<<24 | uint32(b[9])<<16 | uint32(b[10])<<8 | uint32(b[11]),
		seq:  uint16(b[2])<<8 | uint16(b[3]),
	}, true
}
