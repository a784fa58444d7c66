// SPDX-License-Identifier: MIT

package rrc

import (
	"math/bits"
	"math/rand/v2"
)

// writer writes UPER bits. It has no idea of the reader: what both agree on is
// X.691.
type writer struct {
	buf []byte
	n   int // bits
}

func (w *writer) bit(on bool) {
	if w.n%8 == 0 {
		w.buf = append(w.buf, 0)
	}
	if on {
		w.buf[w.n/8] |= 0x80 >> (w.n % 8)
	}
	w.n++
}

func (w *writer) uint(v, width int) {
	for i := width - 1; i >= 0; i-- {
		w.bit(v>>i&1 == 1)
	}
}

// index writes one of n values.
func (w *writer) index(v, n int) { w.uint(v, bits.Len(uint(n-1))) }

func (w *writer) integer(v, lo, hi int) { w.index(v-lo, hi-lo+1) }

func (w *writer) length(n int) {
	switch {
	case n < 128:
		w.uint(n, 8)
	case n < 1<<14:
		w.uint(0x8000|n, 16)
	default:
		panic("fragments are not written")
	}
}

func (w *writer) octets(b []byte) {
	w.length(len(b))
	for _, o := range b {
		w.uint(int(o), 8)
	}
}

// generator writes messages with random optional fields. Fields that only have
// to be passed over get random values.
type generator struct {
	writer
	rng *rand.Rand
	// unknown allows extension additions and alternatives that no version of
	// the ASN.1 has; the walk passes over them.
	unknown bool
	want    []Config
}

func (g *generator) any(n int) { g.index(g.rng.IntN(n), n) }

func (g *generator) between(lo, hi int) { g.integer(lo+g.rng.IntN(hi-lo+1), lo, hi) }

func (g *generator) random(width int) {
	for range width {
		g.bit(g.rng.IntN(2) == 1)
	}
}

// flip writes a random bit and returns it.
func (g *generator) flip() bool {
	on := g.rng.IntN(2) == 1
	g.bit(on)

	return on
}

// flags writes n random bits of a bit map.
func (g *generator) flags(n int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = g.flip()
	}

	return out
}

// header writes the extension bit and the bit map of an extensible sequence.
func (g *generator) header(n int) (ext bool, fields []bool) {
	ext = g.unknown && g.rng.IntN(4) == 0
	g.bit(ext)

	return ext, g.flags(n)
}

// list writes the size of a list of 1 to most elements, and returns it. Lists
// are kept short.
func (g *generator) list(most int) int {
	n := 1 + g.rng.IntN(min(most, 4))
	g.integer(n, 1, most)

	return n
}

func (g *generator) noise(most int) []byte {
	b := make([]byte, 1+g.rng.IntN(most))
	for i := range b {
		b[i] = byte(g.rng.IntN(256))
	}

	return b
}

// additions writes random extension additions.
func (g *generator) additions(ext bool) {
	if !ext {
		return
	}
	n := 1 + g.rng.IntN(12)
	if g.rng.IntN(8) == 0 {
		n = 64
	}
	g.bit(false)
	g.uint(n-1, 6)
	here := g.flags(n)
	for _, on := range here {
		if on {
			g.octets(g.noise(10))
		}
	}
}

// choice writes an alternative of an extensible choice of n, or an unknown one.
func (g *generator) choice(n int) int {
	if g.unknown && g.rng.IntN(8) == 0 {
		g.bit(true)
		g.bit(false)
		g.uint(g.rng.IntN(64), 6)
		g.octets(g.noise(40))

		return extension
	}
	g.bit(false)
	i := g.rng.IntN(n)
	g.index(i, n)

	return i
}

// enum writes a value of an extensible enumeration of n, or an unknown one.
func (g *generator) enum(n int) {
	if g.unknown && g.rng.IntN(8) == 0 {
		g.bit(true)
		g.bit(false)
		g.uint(g.rng.IntN(64), 6)

		return
	}
	g.bit(false)
	g.any(n)
}

// inside writes an octet string with what f writes.
func (g *generator) inside(f func()) {
	outer := g.writer
	g.writer = writer{}
	f()
	inner := g.buf
	if len(inner) == 0 {
		inner = []byte{0}
	}
	g.writer = outer
	g.octets(inner)
}
