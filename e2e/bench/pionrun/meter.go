// SPDX-License-Identifier: MIT

package pionrun

import (
	"fmt"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// stream is one RTP packet's name on the wire, where the rest is encrypted.
type stream struct {
	ssrc uint32
	seq  uint16
}

// piece is the media of one packet.
type piece struct {
	sim.Media
	queued time.Time // when the source made it
	read   bool      // by the stack at the far end
}

// leaving is a piece with the moment its sending was decided on.
type leaving struct {
	*piece
	queued time.Time
}

// meter joins the stack and the simulation: it knows which datagram is which
// piece of the source's media. It is safe for concurrent use.
type meter struct {
	mu      sync.Mutex
	run     *sim.Outside // nil until begin
	start   time.Time
	points  []sim.Point
	made    map[uint16]*piece  // by the number that the source gave it
	leaving map[stream]leaving // on its way from the estimator to the wire
	waiting int                // link bytes in the pacer
	read    int                // pieces

	// What a turn of the run has brought.
	far, near [][]byte
}

func newMeter() *meter {
	return &meter{made: map[uint16]*piece{}, leaving: map[stream]leaving{}}
}

// begin starts the run; before it there is nothing between the sockets. hear
// takes what the modem says: it is called with the lock held and must not call
// back.
func (m *meter) begin(j Job, start time.Time, hear func(gbr.Telemetry)) error {
	opts := sim.Options{ObserveEvery: j.ObserveEvery}
	if j.ObserveEvery > 0 {
		opts.Observe = func(p sim.Point) { m.points = append(m.points, p) }
	}
	run, err := sim.NewOutside(j.Scenario, j.CC, j.Seed, start, sim.Hooks{
		Far:       func(b []byte) { m.far = append(m.far, b) },
		Near:      func(b []byte) { m.near = append(m.near, b) },
		Telemetry: hear,
	}, opts)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run, m.start = run, start

	return err
}

// turn does what is due in the run. What it returns is valid until the next one.
func (m *meter) turn(now time.Time) (far, near [][]byte, next time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.far, m.near = m.far[:0], m.near[:0]
	next, err = m.run.Run(now)

	return m.far, m.near, next, err
}

// up sends a datagram ahead; false: the run has not begun.
func (m *meter) up(b []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run == nil {
		return false
	}
	if name, ok := rtpName(b); ok {
		if p, ok := m.leaving[name]; ok {
			delete(m.leaving, name)
			m.run.SendMedia(time.Now(), b, p.Piece, p.queued)

			return true
		}
	}
	m.run.Send(time.Now(), b)

	return true
}

// down is the same for the way back.
func (m *meter) down(b []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run == nil {
		return false
	}
	m.run.SendBack(time.Now(), b)

	return true
}

func (m *meter) rates(now time.Time, r sim.Rates) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run.OnRates(now, r, m.waiting)
}

func (m *meter) nextCapture() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.run.NextCapture()
}

// capture has the frame that is due now.
func (m *meter) capture(now time.Time, pacer time.Duration) []sim.Media {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.run.Capture(now, pacer)
}

// queue notes what the source gives to the stack.
func (m *meter) queue(now time.Time, seq uint16, media sim.Media) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made[seq] = &piece{Media: media, queued: now}
	m.waiting += media.Bytes + sim.HeaderBytes
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
		m.waiting -= p.Bytes + sim.HeaderBytes
	}
	m.leaving[as] = l
}

// pacer is the link bytes that the estimator holds back.
func (m *meter) pacer() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.waiting
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

// end is when the run is over.
func (m *meter) end() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.run.End()
}

// finish ends the run: what comes later is not counted.
func (m *meter) finish() Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.run.Finish()

	return Reply{r, m.points}
}

// unread is what arrived and was thrown away by the stack: figures would count
// what no viewer has seen.
func (m *meter) unread() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.run.Arrived(); n > m.read {
		return fmt.Errorf("the stack read only %d of %d packets that arrived", m.read, n)
	}

	return nil
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
