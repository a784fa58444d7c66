// SPDX-License-Identifier: MIT

package diag

// RRCJoiner puts the parts of an RRC message together that B821 or B0C0 logged
// in segments (1 to 6, then LastSegment). One for each radio and log code. The
// zero value is ready. Not safe for concurrent use.
type RRCJoiner struct {
	buf  []byte
	next uint8 // segment that comes next, 0 when none does
}

// Add takes a packet's segment number and payload. When they make a message
// whole it returns it: the payload itself, or a buffer that the next Add
// reuses. A part that does not follow the one before ends the message.
func (j *RRCJoiner) Add(segment uint8, payload []byte) (msg []byte, ok bool) {
	switch {
	case segment == 0:
		j.next = 0

		return payload, true
	case segment == 1:
		j.buf, j.next = append(j.buf[:0], payload...), 2

		return nil, false
	case j.next == 0 || segment != j.next && segment != LastSegment:
		j.next = 0

		return nil, false
	}
	j.buf = append(j.buf, payload...)
	if segment == LastSegment {
		j.next = 0

		return j.buf, true
	}
	j.next++

	return nil, false
}
