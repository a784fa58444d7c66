// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// deframe feeds the stream in pieces of the given sizes, the last repeated, and
// copies the frames.
func deframe(d *Deframer, stream []byte, sizes ...int) [][]byte {
	var out [][]byte
	for i := 0; len(stream) > 0; i++ {
		n := min(len(stream), max(1, sizes[min(i, len(sizes)-1)]))
		d.Write(stream[:n])
		stream = stream[n:]
		for {
			f, err := d.Next()
			if err != nil {
				break
			}
			out = append(out, bytes.Clone(f))
		}
	}

	return out
}

func TestCRC16CheckValue(t *testing.T) {
	// The catalogue's check value of CRC-16/IBM-SDLC, also named X-25.
	if got := crc16([]byte("123456789")); got != 0x906E {
		t.Errorf("crc = %#x, want 0x906e", got)
	}
	if got := crc16(nil); got != 0 {
		t.Errorf("crc of nothing = %#x, want 0", got)
	}
}

func TestHDLCRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	var (
		stream []byte
		want   [][]byte
	)
	for range 300 {
		p := make([]byte, 1+rng.IntN(300))
		for i := range p {
			p[i] = byte(0x7A + rng.IntN(8)) // dense in flags and escapes
		}
		want = append(want, p)
		if rng.IntN(3) == 0 {
			stream = append(stream, hdlcFlag) // a leading flag is allowed
		}
		stream = AppendHDLC(stream, p)
	}
	for _, size := range []int{1, 2, 3, 7, 64, 1000, len(stream)} {
		var d Deframer
		got := deframe(&d, stream, size)
		if len(got) != len(want) {
			t.Fatalf("writes of %d bytes: %d frames, want %d", size, len(got), len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("writes of %d bytes: frame %d differs", size, i)
			}
		}
		if s := d.Stats(); s != (FrameStats{Frames: uint64(len(want))}) {
			t.Errorf("writes of %d bytes: stats %+v", size, s)
		}
	}
}

func TestDeframerDropsAndResynchronises(t *testing.T) {
	good := AppendHDLC(nil, []byte("good"))
	bad := AppendHDLC(nil, []byte("evil"))
	bad[0] ^= 1
	tooLong := AppendHDLC(nil, make([]byte, maxRawFrame))
	longest := AppendHDLC(nil, make([]byte, maxRawFrame-crcLen-1)) // the checksum may need an escape
	for _, c := range []struct {
		name   string
		junk   []byte
		frames int
		want   FrameStats
	}{
		{"bad checksum", bad, 1, FrameStats{Frames: 1, BadCRC: 1}},
		{"empty frames", []byte{hdlcFlag, hdlcFlag}, 1, FrameStats{Frames: 1}},
		{"only a checksum", AppendHDLC(nil, nil), 1, FrameStats{Frames: 1, Short: 1}},
		{"one byte", []byte{1, hdlcFlag}, 1, FrameStats{Frames: 1, Short: 1}},
		{"escape before the flag", []byte{1, 2, 3, hdlcEscape, hdlcFlag}, 1, FrameStats{Frames: 1, BadCRC: 1}},
		{"oversized", tooLong, 1, FrameStats{Frames: 1, Oversized: 1}},
		{"longest", longest, 2, FrameStats{Frames: 2}},
		{"half a frame", bad[:3], 0, FrameStats{BadCRC: 1}},
	} {
		for _, size := range []int{1, 100, 4096, 1 << 20} {
			var d Deframer
			got := deframe(&d, append(bytes.Clone(c.junk), good...), size)
			if len(got) != c.frames || c.frames > 0 && string(got[len(got)-1]) != "good" {
				t.Errorf("%s, writes of %d bytes: %d frames, want %d", c.name, size, len(got), c.frames)
			}
			if s := d.Stats(); s != c.want {
				t.Errorf("%s, writes of %d bytes: stats %+v, want %+v", c.name, size, s, c.want)
			}
		}
	}
}

func TestDeframerMemoryIsBounded(t *testing.T) {
	var d Deframer
	junk := make([]byte, 1<<20)
	for range 64 { // no flag in 64 MiB
		d.Write(junk)
		if _, err := d.Next(); !errors.Is(err, ErrMore) {
			t.Fatal(err)
		}
	}
	if c := cap(d.buf); c > 2*maxBuffered {
		t.Errorf("buffer of %d bytes, want at most %d", c, 2*maxBuffered)
	}
	if s := d.Stats(); s != (FrameStats{Oversized: 1}) {
		t.Errorf("stats %+v, want one oversized frame", s)
	}

	frame := AppendHDLC(nil, make([]byte, 1021)) // 1024 bytes
	for range 10 * maxBuffered / 1024 {          // and nobody reads
		d.Write(frame)
	}
	if c := cap(d.buf); c > 2*maxBuffered {
		t.Errorf("buffer of %d bytes, want at most %d", c, 2*maxBuffered)
	}
	n := 0
	for {
		if _, err := d.Next(); err != nil {
			break
		}
		n++
	}
	if want := maxBuffered / 1024; n < want-1 || n > want {
		t.Errorf("%d frames kept, want %d or one less", n, want)
	}
	if s := d.Stats(); s.Lost < 9*maxBuffered || s.Lost > 10*maxBuffered {
		t.Errorf("lost %d bytes, want about %d", s.Lost, 9*maxBuffered)
	}

	d = Deframer{}
	d.Write(append(make([]byte, 3*maxBuffered), frame...))
	if f, err := d.Next(); err == nil {
		t.Errorf("a frame of %d bytes out of junk", len(f))
	}
	d.Write(frame)
	if _, err := d.Next(); err != nil {
		t.Errorf("no frame after a lost stretch: %v", err)
	}
}

// However the stream is cut, the frames and counters are the same.
func FuzzDeframer(f *testing.F) {
	f.Add([]byte{}, uint16(1), uint16(1))
	f.Add(AppendHDLC(AppendHDLC([]byte{hdlcFlag}, []byte("a~b}c")), []byte{0}), uint16(2), uint16(5))
	f.Add([]byte{hdlcEscape, hdlcFlag, hdlcEscape, hdlcEscape, hdlcFlag, 1, 2}, uint16(1), uint16(3))
	f.Fuzz(func(t *testing.T, stream []byte, first, rest uint16) {
		var whole, cut Deframer
		a := deframe(&whole, bytes.Clone(stream), len(stream))
		b := deframe(&cut, bytes.Clone(stream), int(first), int(rest))
		if len(a) != len(b) || whole.Stats() != cut.Stats() {
			t.Fatalf("%d frames %+v, cut %d frames %+v", len(a), whole.Stats(), len(b), cut.Stats())
		}
		for i := range a {
			if !bytes.Equal(a[i], b[i]) {
				t.Fatalf("frame %d differs", i)
			}
		}
		var again Deframer
		if len(stream) > 0 {
			got := deframe(&again, AppendHDLC(nil, stream), 1+int(first))
			if len(got) != 1 || !bytes.Equal(got[0], stream) {
				t.Fatal("payload did not survive framing")
			}
		}
	})
}
