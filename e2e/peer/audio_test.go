// SPDX-License-Identifier: MIT

package peer

import (
	"testing"
	"time"

	"github.com/pion/rtp"
)

// Sound that arrives is known by its time of capture and its numbers, past the end
// of which it goes on.
func TestEar(t *testing.T) {
	start := time.Unix(1000, 0)
	var sent []*rtp.Packet
	a := &Audio{call: &Call{start: start}, seq: 65_000, write: func(p *rtp.Packet) error { sent = append(sent, p); return nil }}
	if err := a.Write([]byte{1}, -time.Nanosecond); err != nil || len(sent) > 0 {
		t.Fatalf("%d packets before the start, %v", len(sent), err)
	}
	const packets = 70_000 // 23 minutes
	e := &ear{start: start}
	for n := range packets {
		captured := time.Duration(n) * 20 * time.Millisecond
		if err := a.Write([]byte{1}, captured); err != nil {
			t.Fatal(err)
		}
		p := sent[n]
		if p.Timestamp != uint32(n*960) || p.SequenceNumber != uint16(65_000+n) || p.Marker {
			t.Fatalf("packet %d: %v", n, p)
		}
		delay := 40 * time.Millisecond
		switch n % 100 {
		case 50, 51:
			continue // lost
		case 60:
			continue // late, comes after the next one
		case 61:
			e.onPacket(start.Add(captured+delay), p)
			captured, p = captured-20*time.Millisecond, sent[n-1]
			delay = 90 * time.Millisecond
		}
		e.onPacket(start.Add(captured+delay), p)
	}
	got := e.stats()
	want := AudioStats{Packets: packets / 100 * 98, Lost: packets / 100 * 2, DelayMsP50: got.DelayMsP50, DelayMsP95: got.DelayMsP95, DelayMsMax: got.DelayMsMax}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for what, v := range map[string][2]float64{"p50": {got.DelayMsP50, 40}, "p95": {got.DelayMsP95, 40}, "max": {got.DelayMsMax, 90}} {
		if diff := v[0] - v[1]; diff < -0.1 || diff > 0.1 {
			t.Errorf("delay %s: %.2f ms, want %.0f", what, v[0], v[1])
		}
	}
	if s := (&ear{}).stats(); s != (AudioStats{}) {
		t.Errorf("of nothing: %+v", s)
	}
}
