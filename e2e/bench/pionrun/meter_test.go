// SPDX-License-Identifier: MIT

package pionrun

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// A packet is known on the wire by its plain header, also when it is sent
// again; what is not media is not taken for it; what arrives counts once, and
// must be read.
func TestMeter(t *testing.T) {
	start := time.Unix(1e9, 0)
	m := newMeter()
	if err := m.begin(Job{Scenario: scenario(t, "const-3", 20*time.Second), CC: Pion, Seed: 1}, start); err != nil {
		t.Fatal(err)
	}
	m.target(start, 300_000)
	media, frame := m.capture(start, 0)
	if len(media) < 1 || frame != 0 {
		t.Fatalf("frame %d of %v", frame, media)
	}
	m.queue(7, piece{Piece: sim.Piece{Frame: frame}, media: media[0], queued: start})
	if m.pacer() != media[0]+50 {
		t.Errorf("%d bytes in the pacer", m.pacer())
	}
	m.leave(stream{1, 7}, 7, false)
	m.leave(stream{2, 99}, 7, true)
	m.leave(stream{2, 98}, 8, true) // nobody made it
	if m.pacer() != 0 {
		t.Errorf("%d bytes are left in the pacer", m.pacer())
	}
	rtp := func(ssrc, seq byte) []byte { return []byte{0x80, 0xe0, 0, seq, 0, 0, 0, 0, 0, 0, 0, ssrc, 1, 2, 3} }
	for name, b := range map[string][]byte{
		"other": rtp(2, 98), "rtcp": {0x80, 0xc8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1}, "stun": {0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 1}, "short": {0x80}, "empty": {},
	} {
		if size, _, media := m.enter(start, b); media != nil || size != len(b)+28 {
			t.Errorf("%s: taken for media: %v, %d bytes", name, media != nil, size)
		}
	}
	for i, b := range [][]byte{rtp(1, 7), rtp(2, 99)} {
		size, id, p := m.enter(start, b)
		if p == nil || size != media[0]+50 || id != int64(i) {
			t.Fatalf("packet %d: %v, %d bytes, number %d", i, p, size, id)
		}
		at := start.Add(time.Second)
		m.delivered(cell.Delivery{Packet: cell.Packet{ID: id}, Queued: start, LeftPhone: at, At: at}, p)
	}
	if _, _, p := m.enter(start, rtp(1, 7)); p != nil {
		t.Error("sent once, seen twice")
	}
	if err := m.unread(); err == nil || err.Error() != "the stack read only 0 of 1 packets that arrived" {
		t.Error(err)
	}
	m.received(7)
	m.received(7)
	m.received(9)
	if err := m.unread(); err != nil {
		t.Error(err)
	}
}
