// SPDX-License-Identifier: MIT

package media

import (
	"encoding/binary"
	"testing"
	"time"
)

// Whatever is called in whatever order, with time going where it likes: sizes
// stay within bounds, time goes on, memory stays.
func FuzzSource(f *testing.F) {
	for k := range byte(5) {
		f.Add(k, []byte("\x00\x10\x27\x00\x03\x20\x00\x03\x21\x00\x01\x00\x00\x03\x22\x00\x04\x00\x00\x03\x40\x00\x02\x10\x00"))
		f.Add(k|8, []byte("\x00\xff\xff\x03\x00\xff\x03\xff\xff\x05\xff\xff\x03\x01\x00\x03\x01\x00"))
	}
	f.Fuzz(func(t *testing.T, kind byte, ops []byte) {
		cfg := Config{
			Kind: Kind(kind & 7 % 5), Model: Model(kind >> 3 & 1), Seed: uint64(kind), Noise: float64(kind>>4&1) / 2, FPS: int(kind >> 5 * 8),
			StartLarge: kind>>6&1 == 1, Start: t0(),
		}
		s := mustNew(t, cfg)
		a, err := NewAudio(AudioConfig{Start: t0(), DTX: kind&1 == 1})
		if err != nil {
			t.Fatal(err)
		}
		now := t0()
		for ; len(ops) >= 3; ops = ops[3:] {
			v := int(binary.LittleEndian.Uint16(ops[1:]))
			switch ops[0] % 7 {
			case 0:
				s.OnTarget(now, v*v-1000)
			case 1:
				s.OnKeyFrameRequest(now)
			case 2:
				s.OnSkipped(now)
			case 3:
				now = now.Add(time.Duration(v) * time.Millisecond / 16)
			case 4:
				now = now.Add(-time.Duration(v) * time.Millisecond)
			case 5:
				now = now.Add(time.Duration(v) * time.Hour)
			case 6:
				now = s.NextTimeout()
			}
			b := Budget{v - 100, ops[0] >= 128}
			n := 0
			for _, c := range []capturer{s, a} {
				for fr, ok := c.Capture(now, b); ok; fr, ok = c.Capture(now, b) {
					if n++; n > 5000 {
						t.Fatalf("no end of frames at %v", now)
					}
					if fr.Size < 1 || fr.Size > maxBytes || fr.Layer < 0 || fr.Layer >= maxLayers || !fr.Audio && b.OK && fr.Size > max(MinFrameBytes, b.Bytes) {
						t.Fatalf("%+v with %+v", fr, b)
					}
				}
				if !c.NextTimeout().After(now) {
					t.Fatalf("nothing due at %v, but next is %v", now, c.NextTimeout())
				}
			}
			if len(s.targets.list) > maxTargets || s.Target(now) < 0 || !(s.debt.bytes >= 0 && s.screen.unsent >= 0) {
				t.Fatalf("%d targets, %d bit/s, debt %v, unsent %v", len(s.targets.list), s.Target(now), s.debt.bytes, s.screen.unsent)
			}
		}
	})
}
