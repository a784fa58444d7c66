// SPDX-License-Identifier: MIT

package rrc

import (
	"errors"
	"math/rand/v2"
	"testing"
)

func TestBitsAgainstOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	buf := make([]byte, 40)
	for i := range buf {
		buf[i] = byte(rng.IntN(256))
	}
	for range 2000 {
		at, n := rng.IntN(200), rng.IntN(65)
		var want uint64
		for i := at; i < at+n; i++ {
			want = want<<1 | uint64(buf[i/8]>>(7-i%8)&1)
		}
		r := newReader(buf)
		r.skip(at)
		if got := r.bits(n); got != want || r.err != nil || r.pos != at+n {
			t.Fatalf("%d bits at %d: %x, %x expected, at %d, %v", n, at, got, want, r.pos, r.err)
		}
	}
}

func TestReader(t *testing.T) {
	long := make([]byte, 2+200)
	long[0], long[1] = 0x80, 200
	for _, tt := range []struct {
		name string
		buf  []byte
		read func(*reader) int
		want int
		pos  int
		err  error
	}{
		{"integer at its low end", []byte{0x00}, func(r *reader) int { return r.integer(-30, 33) }, -30, 6, nil},
		{"integer at its high end", []byte{0xFC}, func(r *reader) int { return r.integer(-30, 33) }, 33, 6, nil},
		{"integer of one value has no bits", nil, func(r *reader) int { return r.integer(7, 7) }, 7, 0, nil},
		{"integer above its range", []byte{0xC0}, func(r *reader) int { return r.below(3) }, 0, 2, ErrMalformed},
		{"integer past the end", []byte{0xFF}, func(r *reader) int { return r.integer(0, 1023) }, 0, 0, ErrTruncated},
		{"list past the end is empty", nil, func(r *reader) int { return r.count(32) }, 0, 0, ErrTruncated},
		{"short length", []byte{0x7F}, (*reader).length, 127, 8, nil},
		{"long length", []byte{0xBF, 0xFF}, (*reader).length, 16383, 16, nil},
		{"fragmented length", []byte{0xC1, 0x00}, (*reader).length, 0, 2, ErrSkipped},
		{"length past the end", []byte{0x80}, (*reader).length, 0, 2, ErrTruncated},
		{"octets", long, func(r *reader) int { o := r.octets(); return o.end - o.pos }, 1600, 1616, nil},
		{"octets past the end", long[:201], func(r *reader) int { o := r.octets(); return o.end - o.pos }, 0, 16, ErrTruncated},
		{"small number", []byte{0x7E}, (*reader).small, 63, 7, nil},
		{"large small number", []byte{0xFE, 0}, (*reader).small, 0, 1, ErrSkipped},
		{"root choice", []byte{0x40}, func(r *reader) int { return r.choice(4) }, 2, 3, nil},
		{"later choice", []byte{0x80, 0x01, 0xAA}, func(r *reader) int { return r.choice(4) }, extension, 24, nil},
		{"later enumeration", []byte{0x82}, func(r *reader) int { r.enumerated(8); return 0 }, 0, 8, nil},
		{"no additions", []byte{0x80}, func(r *reader) int { r.passAdditions(false); return 0 }, 0, 0, nil},
		{"second of two additions", []byte{2, 0x80, 0x80, 0}, func(r *reader) int { r.passAdditions(true); return 0 }, 0, 25, nil},
		{"65 additions", []byte{0xA0, 0x80, 0}, func(r *reader) int { r.passAdditions(true); return 0 }, 0, 9, ErrSkipped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReader(tt.buf)
			if got := tt.read(&r); got != tt.want || r.pos != tt.pos || !errors.Is(r.err, tt.err) {
				t.Errorf("%d at bit %d, %v; %d at %d, %v expected", got, r.pos, r.err, tt.want, tt.pos, tt.err)
			}
		})
	}
}

// Past the end of an octet string that is there in full, the message is not cut
// but wrong.
func TestShortInside(t *testing.T) {
	r := newReader([]byte{1, 0xFF, 0xFF})
	inner := r.octets()
	if inner.bits(8) != 0xFF || inner.err != nil {
		t.Fatalf("content: %v", inner.err)
	}
	if inner.bits(1); !errors.Is(inner.err, ErrMalformed) {
		t.Errorf("%v", inner.err)
	}
}

func TestFirstErrorSticks(t *testing.T) {
	r := newReader([]byte{0xFF, 0xFF})
	r.below(3)
	r.unmodelled("late")
	r.fail(ErrTruncated)
	if r.bits(4) != 0 || !errors.Is(r.err, ErrMalformed) {
		t.Errorf("%v", r.err)
	}
}
