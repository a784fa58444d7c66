// SPDX-License-Identifier: MIT

package peer

import (
	"testing"
	"time"
)

// Frames are shown once, in order, whatever the packets do; what is lost for
// good is got over with a key frame.
func TestReceiver(t *testing.T) {
	start := time.Unix(1e9, 0)
	var b [minPayload]byte
	frame := func(i int) time.Duration { return time.Duration(i) * 33 * time.Millisecond }
	for _, c := range []struct {
		name                                  string
		lost                                  func(frame, index int) bool
		late                                  func(frame, index int) time.Duration // 0: on time
		key                                   func(frame int) bool
		rendered, skipped, freezes, keyFrames int
		bytes                                 int64
	}{
		{name: "all there", rendered: 150, bytes: 300 * minPayload},
		{
			name: "twice and late", rendered: 150, bytes: 300 * minPayload,
			late: func(f, i int) time.Duration {
				if f == 50 && i == 1 {
					return 60 * time.Millisecond
				}

				return 0
			},
		},
		{
			// It waits 3 s for what is missing, then asks.
			name: "lost", rendered: 50 + 7, skipped: 150 - 57, freezes: 1, keyFrames: 1, bytes: 299 * minPayload,
			lost: func(f, i int) bool { return f == 50 && i == 1 },
			key:  func(f int) bool { return f == 143 },
		},
		{name: "nothing", lost: func(int, int) bool { return true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			type packet struct {
				at time.Duration
				p  piece
			}
			var packets []packet
			for f := range 150 {
				for i := range 2 {
					if c.lost != nil && c.lost(f, i) {
						continue
					}
					p := packet{frame(f) + 50*time.Millisecond, piece{frame: uint32(f), index: uint16(i), count: 2, capture: frame(f), key: f == 0 || c.key != nil && c.key(f)}}
					packets = append(packets, p)
					if c.late != nil && c.late(f, i) > 0 {
						packets[len(packets)-1].at += c.late(f, i)
						packets = append(packets, packets[len(packets)-1])
					}
				}
			}
			r := newReceiver(start)
			for now := time.Duration(0); now < 6*time.Second; now += time.Millisecond {
				for _, p := range packets {
					if p.at == now {
						p.p.put(b[:])
						r.onPacket(start.Add(now), b[:], uint32(p.p.capture.Milliseconds()*90), false)
					}
				}
				r.onTimer(start.Add(now))
			}
			s := r.stats(start.Add(frame(150)))
			if s.FramesRendered != c.rendered || s.FramesSkipped != c.skipped || s.FreezeCount != c.freezes || s.Bytes != c.bytes {
				t.Errorf("%+v, want %+v", s, c)
			}
			if c.keyFrames > 0 && s.KeyFrameRequests < c.keyFrames || c.keyFrames == 0 && s.KeyFrameRequests != 0 {
				t.Errorf("%d requests for key frames, want %d", s.KeyFrameRequests, c.keyFrames)
			}
			if c.rendered == 150 && (s.PlayoutMsP50 < 60 || s.PlayoutMsP50 > 130) {
				t.Errorf("playout p50 %.0f ms", s.PlayoutMsP50)
			}
		})
	}
}

// Whatever arrives, nothing breaks and no frame is shown twice.
func FuzzReceiver(f *testing.F) {
	f.Add([]byte{0, 0, 2, 0, 1, 2, 1, 0, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := newReceiver(time.Unix(1e9, 0))
		now := r.start
		var b [minPayload]byte
		for i := 0; i+2 < len(ops); i += 3 {
			now = now.Add(time.Duration(ops[i]) * time.Millisecond)
			p := piece{frame: uint32(ops[i]%16) << (ops[i] % 28), index: uint16(ops[i+1] % 4), count: uint16(ops[i+2]%4) + 4, key: ops[i+2] > 127}
			p.put(b[:])
			r.onPacket(now, b[:], uint32(ops[i])*3000, ops[i+1] > 127)
		}
		if s := r.stats(now.Add(time.Minute)); s.FramesRendered > len(ops)/3 || s.Bytes > int64(len(ops)/3*minPayload) {
			t.Fatalf("%+v of %d packets", s, len(ops)/3)
		}
	})
}

func TestParsePiece(t *testing.T) {
	for _, want := range []piece{
		{frame: 7, index: 1, count: 3, capture: 1234567 * time.Microsecond},
		{frame: 1, index: maxPackets - 1, count: maxPackets, key: true},
	} {
		var b [minPayload]byte
		want.put(b[:])
		if got, err := parsePiece(b[:]); err != nil || got != want {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
	}
	var b [minPayload]byte
	piece{frame: 7, index: 1, count: 3}.put(b[:])
	for name, change := range map[string]func([]byte) []byte{
		"short":            func(b []byte) []byte { return b[:minPayload-1] },
		"empty":            func([]byte) []byte { return nil },
		"no packets":       func(b []byte) []byte { b[6], b[7] = 0, 0; return b },
		"too many packets": func(b []byte) []byte { b[6] = 0x7f; return b },
		"index too high":   func(b []byte) []byte { b[5] = 3; return b },
		"negative capture": func(b []byte) []byte { b[8] = 0x80; return b },
	} {
		c := b
		if _, err := parsePiece(change(c[:])); err == nil {
			t.Errorf("%s: parsed", name)
		}
	}
}
