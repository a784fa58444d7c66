// SPDX-License-Identifier: MIT

package peer

import (
	"testing"
	"time"
)

// Frames come out in order, once, whole or given up, whatever the packets do.
func TestFrames(t *testing.T) {
	type in struct {
		ms    int
		frame uint32
		index uint16
	}
	const perFrame = 2
	for _, c := range []struct {
		name  string
		first uint32
		in    []in
		want  []bool // complete, per frame that came out
		fresh int
	}{
		{"in order", 0, []in{{0, 0, 0}, {1, 0, 1}, {2, 1, 0}, {3, 1, 1}}, []bool{true, true}, 4},
		{"duplicate", 0, []in{{0, 0, 0}, {1, 0, 0}, {2, 0, 1}, {3, 0, 1}}, []bool{true}, 2},
		{"retransmitted in time", 0, []in{{0, 0, 0}, {1, 1, 0}, {2, 1, 1}, {90, 0, 1}}, []bool{true, true}, 4},
		{"lost", 0, []in{{0, 0, 0}, {1, 1, 0}, {2, 1, 1}, {400, 2, 0}, {501, 2, 1}, {503, 3, 0}}, []bool{false, true, true}, 6},
		{"too late", 0, []in{{0, 0, 0}, {1, 1, 0}, {2, 1, 1}, {600, 2, 0}, {700, 0, 1}}, []bool{false, true}, 4},
		{"numbers wrap", 1<<32 - 1, []in{{0, 1<<32 - 1, 0}, {1, 0, 0}, {2, 0, 1}, {3, 1<<32 - 1, 1}}, []bool{true, true}, 4},
		{"nonsense from far away", 0, []in{{0, 0, 0}, {1, 1 << 20, 0}, {2, 1 << 20, 1}, {3, 0, 1}}, []bool{true}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Unix(1e9, 0)
			var f frames
			var got []wholeFrame
			fresh := 0
			for _, i := range c.in {
				var isNew bool
				got, isNew = f.add(start.Add(time.Duration(i.ms)*time.Millisecond),
					piece{frame: i.frame, index: i.index, count: perFrame, capture: time.Duration(i.frame) * time.Second}, got)
				if isNew {
					fresh++
				}
			}
			if len(got) != len(c.want) || fresh != c.fresh {
				t.Fatalf("%d frames of %d new packets: %v, want %v of %d", len(got), fresh, got, c.want, c.fresh)
			}
			for i, w := range c.want {
				if got[i].complete != w {
					t.Errorf("frame %d complete: %v, want %v", i, got[i].complete, w)
				}
				if at := time.Duration(c.first+uint32(i)) * time.Second; w && got[i].capture != at {
					t.Errorf("frame %d captured at %v, want %v", i, got[i].capture, at)
				}
			}
			if len(f.pending) > 1 {
				t.Errorf("%d frames still pending", len(f.pending))
			}
		})
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 1, 2, 1, 0, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		var fr frames
		now := time.Unix(1e9, 0)
		out, whole := 0, 0
		for i := 0; i+2 < len(ops); i += 3 {
			now = now.Add(time.Duration(ops[i]) * time.Millisecond)
			p := piece{frame: uint32(ops[i]%16) << (ops[i] % 28), index: uint16(ops[i+1] % 4), count: uint16(ops[i+2]%4) + 1}
			frames, _ := fr.add(now, p, nil)
			out += len(frames)
			for _, w := range frames {
				if w.complete {
					whole++
				}
			}
			if whole > len(ops)/3 {
				t.Fatalf("%d whole frames of %d packets", whole, len(ops)/3)
			}
		}
		if out > 1<<17 {
			t.Fatalf("%d frames out", out)
		}
	})
}

func TestParsePiece(t *testing.T) {
	var b [minPayload]byte
	want := piece{frame: 7, index: 1, count: 3, capture: 1234567 * time.Microsecond}
	want.put(b[:])
	if got, err := parsePiece(b[:]); err != nil || got != want {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	for name, change := range map[string]func([]byte) []byte{
		"short":            func(b []byte) []byte { return b[:minPayload-1] },
		"empty":            func([]byte) []byte { return nil },
		"no packets":       func(b []byte) []byte { b[6], b[7] = 0, 0; return b },
		"index too high":   func(b []byte) []byte { b[5] = 3; return b },
		"negative capture": func(b []byte) []byte { b[8] = 0x80; return b },
	} {
		c := b
		if _, err := parsePiece(change(c[:])); err == nil {
			t.Errorf("%s: parsed", name)
		}
	}
}
