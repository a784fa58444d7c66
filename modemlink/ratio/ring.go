// SPDX-License-Identifier: MIT

package ratio

const (
	// ringSize is how many TTIs of grants are kept: 4 s, twice the longest
	// time that anything waits for.
	ringSize = 4096
	// parts is how many slots of NR a TTI may have: 120 kHz (mu 3). 240 kHz
	// carries no data (TS 38.300 5.1).
	parts = 8
	// lastPart is the end of a TTI.
	lastPart = parts - 1
)

// source is a log code's part in telling about a TTI.
type source uint8

const (
	sourceNone source = iota
	// sourceFast brings grants and no BSRs: LTE's PUSCH report (B139), 4 to
	// 12 ms old, or NR's channel schedule (B883).
	sourceFast
	// sourceSlow brings both: LTE's transport blocks (B064), up to 102 ms old,
	// and NR's (B872).
	sourceSlow
	// sourceOwn brings the phone's own queue and no grants: B066, up to 40 ms
	// old.
	sourceOwn
	sources
)

// slot is what is known of one TTI.
type slot struct {
	tti   int64
	bytes int
	// grants has a bit for each carrier and part counted.
	grants uint64
	// bsrs has a bit for each part with a BSR.
	bsrs uint8
	// source is who told of the grants.
	source source
	// user: there was a grant or a report of user data.
	user, inferred bool
	// repeat: something was sent again.
	repeat bool
}

// ring holds the last ringSize TTIs. TTIs begin at 1.
type ring struct {
	slots [ringSize]slot
	// parts is the bytes of a TTI by part; nil on LTE, where all is in part 0.
	parts []([parts]int32)
	// newestUser is the newest TTI with a grant or a report of user data.
	newestUser int64
}

func (r *ring) slot(tti int64) *slot {
	i := tti & (ringSize - 1)
	s := &r.slots[i]
	if s.tti != tti {
		*s = slot{tti: tti}
		if r.parts != nil {
			r.parts[i] = [parts]int32{}
		}
	}

	return s
}

// addGrant notes a first transmission and tells whether it is new. On LTE both
// codes tell all of a TTI: the second one's are the same again.
func (r *ring) addGrant(tti int64, part, cell int, src source, bytes int, inferred bool) bool {
	s := r.slot(tti)
	bit := uint64(1) << (cell & 63)
	if r.parts != nil {
		bit = 1 << ((cell&7)*parts + part)
	} else if s.source != sourceNone && s.source != src {
		return false
	}
	if s.grants&bit != 0 {
		return false
	}
	s.grants |= bit
	s.source = src
	s.bytes += bytes
	s.inferred = s.inferred || inferred
	if r.parts != nil {
		r.parts[tti&(ringSize-1)][part] += int32(min(bytes, maxBlock))
	}
	r.mark(s)

	return true
}

// addRepeat notes that something was sent again and tells whether it is new.
func (r *ring) addRepeat(tti int64) bool {
	s := r.slot(tti)
	is := !s.repeat
	s.repeat = true

	return is
}

// maxBlock is beyond any transport block (TS 38.214 5.1.3.2: 160 kB).
const maxBlock = 1 << 24

func (r *ring) mark(s *slot) {
	s.user = true
	r.newestUser = max(r.newestUser, s.tti)
}

// addBSR notes a BSR and tells whether it is new.
func (r *ring) addBSR(tti int64, part int) bool {
	s := r.slot(tti)
	if s.bsrs>>part&1 != 0 {
		return false
	}
	s.bsrs |= 1 << part

	return true
}

// at returns what is known of a TTI, nil for nothing.
func (r *ring) at(tti int64) *slot {
	if s := &r.slots[tti&(ringSize-1)]; s.tti == tti {
		return s
	}

	return nil
}

// bytes returns the first transmissions of a TTI, and whether there was one.
func (r *ring) bytes(tti int64) (int, bool) {
	s := r.at(tti)
	if s == nil || s.source == sourceNone {
		return 0, false
	}

	return s.bytes, true
}

// after returns the first transmissions of a TTI in the parts after one, and
// whether there was one.
func (r *ring) after(tti int64, part int) (total int, ok bool) {
	if part >= lastPart || r.parts == nil || r.at(tti) == nil {
		return 0, false
	}
	for _, n := range r.parts[tti&(ringSize-1)][part+1:] {
		total += int(n)
	}

	return total, total > 0
}

// before tells whether there was a first transmission in a TTI before a part.
func (r *ring) before(tti int64, part int) bool {
	if r.parts == nil || r.at(tti) == nil {
		return false
	}
	for _, n := range r.parts[tti&(ringSize-1)][:part] {
		if n > 0 {
			return true
		}
	}

	return false
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

// inferred tells whether a grant in TTIs from..to is.
func (r *ring) inferred(from, to int64) bool {
	for t := max(from, to-ringSize+1); t <= to; t++ {
		if s := r.at(t); s != nil && s.inferred {
			return true
		}
	}

	return false
}

// used tells whether there was a grant or a report of user data in TTIs
// from..to.
func (r *ring) used(from, to int64) bool {
	if r.newestUser < from {
		return false
	}
	for t := min(to, r.newestUser); t >= from; t-- {
		if s := r.at(t); s != nil && s.user {
			return true
		}
	}

	return false
}
