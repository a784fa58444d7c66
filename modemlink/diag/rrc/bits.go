// SPDX-License-Identifier: MIT

package rrc

import "math/bits"

// reader reads UPER bits, most significant first. The first error sticks: from
// then on every read gives zero and every list is empty, so that callers need
// not check after each field.
type reader struct {
	buf []byte
	pos int // bit
	end int // bit
	// short is the error of reading past end: inside an octet string that was
	// there in full it is not the message that is too short.
	short error
	err   error
}

func newReader(b []byte) reader {
	return reader{buf: b, end: 8 * len(b), short: ErrTruncated}
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// unmodelled ends the walk at a field that is not modelled.
func (r *reader) unmodelled(field string) {
	if r.err == nil {
		r.err = &SkippedError{Field: field}
	}
}

// has reports whether n more bits can be read and fails otherwise.
func (r *reader) has(n int) bool {
	if r.err != nil {
		return false
	}
	if n > r.end-r.pos {
		r.err = r.short

		return false
	}

	return true
}

// skip passes over n bits.
func (r *reader) skip(n int) {
	if r.has(n) {
		r.pos += n
	}
}

// bits reads up to 64 bits.
func (r *reader) bits(n int) uint64 {
	if !r.has(n) {
		return 0
	}
	var v uint64
	for n > 0 {
		left := 8 - r.pos&7 // unread bits of this byte
		take := min(left, n)
		b := uint64(r.buf[r.pos>>3]) >> (left - take) & (1<<take - 1)
		v = v<<take | b
		r.pos += take
		n -= take
	}

	return v
}

func (r *reader) bool() bool { return r.bits(1) == 1 }

// below reads the index of one of n values: a root enumeration or choice.
func (r *reader) below(n int) int {
	v := int(r.bits(bits.Len(uint(n - 1)))) //nolint:gosec // n is a small constant
	if v >= n {
		r.fail(ErrMalformed)

		return 0
	}

	return v
}

// integer reads a constrained whole number, X.691 11.5.
func (r *reader) integer(lo, hi int) int { return lo + r.below(hi-lo+1) }

// count reads the size of a list of 1 to most elements, as all lists of RRC on
// the way are. It is 0 after an error.
func (r *reader) count(most int) int {
	n := r.integer(1, most)
	if r.err != nil {
		return 0
	}

	return n
}

// small reads a normally small number, X.691 11.6. Those above 63 are refused:
// no choice of RRC has so many alternatives.
func (r *reader) small() int {
	if r.bool() {
		r.unmodelled("normally small number above 63")
	}

	return int(r.bits(6)) //nolint:gosec // six bits
}

// enumerated passes over an extensible enumeration with n root values.
func (r *reader) enumerated(n int) {
	if r.bool() {
		r.small()

		return
	}
	r.below(n)
}

// extension is what choice gives for an alternative past the root.
const extension = -1

// choice reads an extensible choice with n root alternatives. An alternative
// past the root is passed over.
func (r *reader) choice(n int) int {
	if !r.bool() {
		return r.below(n)
	}
	r.small()
	r.octets()

	return extension
}

// length reads a length determinant, X.691 11.9. Content of 16384 octets and
// more comes in fragments, which are refused: no RRC message is that long.
func (r *reader) length() int {
	switch {
	case !r.bool():
		return int(r.bits(7)) //nolint:gosec // seven bits
	case !r.bool():
		return int(r.bits(14)) //nolint:gosec // fourteen bits
	}
	r.unmodelled("fragmented length")

	return 0
}

// octets passes over an octet string or open type and returns a reader of its
// content.
func (r *reader) octets() reader {
	n := 8 * r.length()
	if !r.has(n) {
		return reader{err: r.err}
	}
	sub := reader{buf: r.buf, pos: r.pos, end: r.pos + n, short: ErrMalformed}
	r.pos += n

	return sub
}

// optional is the bit map in front of a sequence: a bit per OPTIONAL or DEFAULT
// field, in order.
type optional struct {
	bits uint64
	n    int
}

func (o *optional) next() bool {
	o.n--

	return o.bits>>o.n&1 == 1
}

// sequence reads the bit map of a sequence with n optional fields.
func (r *reader) sequence(n int) optional {
	return optional{bits: r.bits(n), n: n}
}

// extensible reads the extension bit and the bit map of an extensible sequence.
// The bit goes to additions or passAdditions after the last root field.
func (r *reader) extensible(n int) (optional, bool) {
	ext := r.bool()

	return r.sequence(n), ext
}

// additions reads which extension additions are there; each is an open type.
func (r *reader) additions(ext bool) optional {
	if !ext {
		return optional{}
	}
	n := 0
	if r.bool() {
		n = r.length()
		if n > 64 {
			r.unmodelled("more than 64 extension additions")
		}
	} else {
		n = int(r.bits(6)) + 1 //nolint:gosec // six bits
	}
	if r.err != nil {
		return optional{}
	}

	return r.sequence(n)
}

// passAdditions passes over all extension additions.
func (r *reader) passAdditions(ext bool) {
	for o := r.additions(ext); o.n > 0 && r.err == nil; {
		if o.next() {
			r.octets()
		}
	}
}
