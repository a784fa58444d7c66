// SPDX-License-Identifier: MIT

package rrc

import "time"

// Infinite stands for a timer that never fires.
const Infinite = time.Duration(1<<63 - 1)

// Marks in the tables of timers.
const (
	spare    = -1
	infinity = -2
)

// timer turns a table entry in subframes to a duration. Spare values fail.
func (r *reader) timer(sf int) time.Duration {
	switch sf {
	case spare:
		r.fail(ErrMalformed)

		return 0
	case infinity:
		return Infinite
	}

	return time.Duration(sf) * time.Millisecond
}

// ltePeriodicBSR reads PeriodicBSR-Timer-r12, TS 36.331 6.3.2.
func (r *reader) ltePeriodicBSR() time.Duration {
	sf := [...]int{5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1280, 2560, infinity, spare}

	return r.timer(sf[r.below(len(sf))])
}

// lteRetxBSR reads RetxBSR-Timer-r12, TS 36.331 6.3.2.
func (r *reader) lteRetxBSR() time.Duration {
	sf := [...]int{320, 640, 1280, 2560, 5120, 10240, spare, spare}

	return r.timer(sf[r.below(len(sf))])
}

// nrPeriodicBSR reads periodicBSR-Timer, TS 38.331 BSR-Config.
func (r *reader) nrPeriodicBSR() time.Duration {
	sf := [...]int{1, 5, 10, 16, 20, 32, 40, 64, 80, 128, 160, 320, 640, 1280, 2560, infinity}

	return r.timer(sf[r.below(len(sf))])
}

// nrRetxBSR reads retxBSR-Timer, TS 38.331 BSR-Config.
func (r *reader) nrRetxBSR() time.Duration {
	sf := [...]int{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, spare, spare, spare, spare, spare}

	return r.timer(sf[r.below(len(sf))])
}

// srDelay reads logicalChannelSR-ProhibitTimer-r12 (TS 36.331) or
// logicalChannelSR-DelayTimer (TS 38.331), which have the same values.
func (r *reader) srDelay() time.Duration {
	sf := [...]int{20, 40, 64, 128, 512, 1024, 2560, spare}

	return r.timer(sf[r.below(len(sf))])
}
