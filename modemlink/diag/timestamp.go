// SPDX-License-Identifier: MIT

package diag

import "time"

// Timestamp is the modem's clock as logged: the upper 48 bits count ticks of
// 1.25 ms since 1980-01-06 00:00:00 without leap seconds, the lower 16 bits
// 1/49152 of a tick (1/32 chip of 1.2288 Mcps). It is when a packet was
// committed, not when its content was on air, and differs from the host's
// clock by up to seconds, or by decades before the network has told the time.
type Timestamp uint64

const (
	// epochUnix is 1980-01-06 in Unix seconds.
	epochUnix    = 315964800
	tickNanos    = 1250000
	ticksPerSec  = 800
	chipsPerTick = 49152
)

// Time returns the instant; the zero time.Time for a zero Timestamp, which
// some packets carry.
func (t Timestamp) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	ticks, chips := int64(t>>16), int64(t&0xFFFF)
	nanos := ticks%ticksPerSec*tickNanos + chips*tickNanos/chipsPerTick

	return time.Unix(epochUnix+ticks/ticksPerSec, nanos).UTC()
}

// TimestampOf is the inverse of Time, to the nearest 1/49152 of a tick (25 ns).
// The zero time and times before 1980-01-06 give 0.
func TimestampOf(t time.Time) Timestamp {
	sec, nanos := t.Unix()-epochUnix, int64(t.Nanosecond())
	if sec < 0 || sec >= 1<<48/ticksPerSec {
		return 0
	}
	ticks := sec*ticksPerSec + nanos/tickNanos
	chips := (nanos%tickNanos*chipsPerTick + tickNanos/2) / tickNanos
	if chips == chipsPerTick {
		ticks, chips = ticks+1, 0
	}

	return Timestamp(ticks<<16 | chips)
}
