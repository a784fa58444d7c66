// SPDX-License-Identifier: MIT

package ratio

// ringSize is how many TTIs of grants are kept: 4 s, twice the longest time
// that anything waits for.
const ringSize = 4096

// source is a log code's part in telling about a TTI.
type source uint8

const (
	sourceNone source = iota
	// sourceFast is the PUSCH report (B139): grants 4 to 12 ms old, no BSRs.
	sourceFast
	// sourceSlow is everything that brings BSRs (B064): up to 102 ms old.
	sourceSlow
)

// slot is what is known of one TTI.
type slot struct {
	tti   int64
	bytes int
	// source is who told of the grants; another one's are the same again.
	source source
	// cells has a bit for each carrier counted.
	cells uint16
	bsr   bool
}

// ring holds the last ringSize TTIs. TTIs begin at 1.
type ring struct{ slots [ringSize]slot }

func (r *ring) slot(tti int64) *slot {
	s := &r.slots[tti&(ringSize-1)]
	if s.tti != tti {
		*s = slot{tti: tti}
	}

	return s
}

// addGrant notes a first transmission and tells whether it is new.
func (r *ring) addGrant(tti int64, cell int, src source, bytes int) bool {
	s := r.slot(tti)
	bit := uint16(1) << (cell & 15)
	if s.source != sourceNone && s.source != src || s.cells&bit != 0 {
		return false
	}
	s.source = src
	s.cells |= bit
	s.bytes += bytes

	return true
}

// addBSR notes a BSR and tells whether it is new.
func (r *ring) addBSR(tti int64) bool {
	s := r.slot(tti)
	if s.bsr {
		return false
	}
	s.bsr = true

	return true
}

// bytes returns the first transmissions of a TTI, and whether there was one.
func (r *ring) bytes(tti int64) (int, bool) {
	s := &r.slots[tti&(ringSize-1)]
	if s.tti != tti || s.source == sourceNone {
		return 0, false
	}

	return s.bytes, true
}

// sum returns the bytes in TTIs from..to.
func (r *ring) sum(from, to int64) int {
	total := 0
	for t := max(from, to-ringSize+1); t <= to; t++ {
		n, _ := r.bytes(t)
		total += n
	}

	return total
}

// any tells whether there was a first transmission in TTIs from..to.
func (r *ring) any(from, to int64) bool {
	for t := max(from, to-ringSize+1); t <= to; t++ {
		if _, ok := r.bytes(t); ok {
			return true
		}
	}

	return false
}
