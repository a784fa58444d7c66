// SPDX-License-Identifier: MIT

package pionrun

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// A packet is known on the wire by its plain header, also when it is sent
// again; what is not media is not taken for it; what arrives must be read.
func TestMeter(t *testing.T) {
	start := time.Now()
	m := newMeter()
	if m.up([]byte{1}) || m.down([]byte{1}) {
		t.Error("a run before it has begun")
	}
	if err := m.begin(Job{Scenario: scenario(t, "const-3", 20*time.Second), CC: Pion, Seed: 1}, start, func(gbr.Telemetry) {}); err != nil {
		t.Fatal(err)
	}
	m.rates(start, sim.Rates{TargetBps: 300_000})
	media := m.capture(start, 0)
	if len(media) < 1 || media[0].Bytes < 100 {
		t.Fatalf("a frame of %v", media)
	}
	m.queue(start, 7, media[0])
	if want := media[0].Bytes + 50; m.pacer() != want {
		t.Errorf("%d bytes in the pacer, want %d", m.pacer(), want)
	}
	m.leave(stream{1, 7}, 7, false)
	m.leave(stream{2, 99}, 7, true)
	m.leave(stream{2, 98}, 8, true) // nobody made it
	if m.pacer() != 0 {
		t.Errorf("%d bytes are left in the pacer", m.pacer())
	}
	if len(m.leaving) != 2 {
		t.Errorf("%d packets on their way, want 2", len(m.leaving))
	}
	rtp := func(ssrc, seq byte) []byte { return []byte{0x80, 0xe0, 0, seq, 0, 0, 0, 0, 0, 0, 0, ssrc, 1, 2, 3} }
	for name, b := range map[string][]byte{
		"other": rtp(2, 98), "rtcp": {0x80, 0xc8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1},
		"stun": {0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 0, 0, 0, 1}, "short": {0x80}, "empty": {},
	} {
		if !m.up(b) || len(m.leaving) != 2 {
			t.Errorf("%s: taken for media", name)
		}
	}
	for _, b := range [][]byte{rtp(1, 7), rtp(2, 99), rtp(1, 7)} {
		if !m.up(b) {
			t.Error("not taken")
		}
	}
	if len(m.leaving) != 0 {
		t.Errorf("%d packets are still on their way", len(m.leaving))
	}
	for at := start; at.Before(start.Add(time.Second)); at = at.Add(time.Millisecond) {
		if _, _, next, err := m.turn(at); err != nil || !next.After(at) {
			t.Fatal(next, err)
		}
	}
	_ = m.up(rtp(1, 7))
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
