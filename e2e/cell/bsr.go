// SPDX-License-Identifier: MIT

package cell

import (
	"math"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

const (
	// headerBytes is RLC (3) and MAC (2) header of a transport block with data.
	headerBytes = 5
	// userLCG is the logical channel group of user data; 0 is signalling.
	userLCG = 3
)

// bsrState is what the phone knows about its reports. TS 36.321 5.4.5 and
// 5.4.4; times are slots.
type bsrState struct {
	period, retx int64 // timers; period < 0 is infinite
	srPeriod     int64
	srPhase      int64
	sizes        sizes

	regular    diag.Trigger // pending regular BSR: TriggerRegular or TriggerRetx
	periodicAt int64        // when periodicBSR-Timer expires
	retxAt     int64        // when retxBSR-Timer expires

	ideal idealBSR
	// eager is SharedConfig.EagerRequests.
	eager bool
}

// ce is the BSR of one transport block; the zero value is none.
type ce struct {
	trigger diag.Trigger
	index   uint8
}

func (c ce) present() bool { return c.trigger != diag.TriggerUnknown }

// onData notes that a packet entered a buffer that held before bytes.
func (s *bsrState) onData(before int) {
	s.ideal.fresh = true
	if before == 0 {
		s.regular = diag.TriggerRegular
	}
}

// onTTI runs the timers at the beginning of slot k with bytes in the buffer.
func (s *bsrState) onTTI(k int64, bytes int) {
	if bytes > 0 && k >= s.retxAt && s.regular == diag.TriggerUnknown {
		s.regular = diag.TriggerRetx
	}
}

// wantsSR says whether a scheduling request goes out in uplink slot k, in which
// there is no grant. The slot before it was so many slots ago: an occasion
// between them is had now.
func (s *bsrState) wantsSR(k, since int64) bool {
	return s.regular != diag.TriggerUnknown && !s.ideal.on && (k-s.srPhase+s.srPeriod)%s.srPeriod < since
}

// fill decides what a transport block of size bytes in slot k carries of the
// bytes in the buffer: data, a report if it may have one, padding.
func (s *bsrState) fill(k int64, size, bytes int, report bool) (data int, c ce, padding int) {
	s.retxAt = k + s.retx // any grant for new data restarts it
	header := 0
	if bytes > 0 {
		header = headerBytes
	}
	if s.ideal.on {
		data = min(bytes, size-header)
		if s.ideal.againAt = math.MaxInt64; bytes > data {
			s.ideal.againAt = k + s.ideal.again
		}
		return data, ce{}, size - header - data
	}
	if s.eager {
		return s.fillEagerly(size-header-s.sizes.ce(), bytes)
	}
	if room := size - header; bytes <= room {
		// Everything goes: pending reports are cancelled, a spare two bytes
		// tell the base station so.
		s.regular = diag.TriggerUnknown
		data, padding = bytes, room-bytes
		if n := s.sizes.ce(); padding >= n && report {
			padding -= n
			c = ce{trigger: diag.TriggerPadding}
		}
	} else {
		switch {
		case !report:
		case s.regular != diag.TriggerUnknown:
			c.trigger = s.regular
		case s.period >= 0 && k >= s.periodicAt:
			c.trigger = diag.TriggerPeriodic
		}
		data = room
		if c.present() {
			data = room - s.sizes.ce()
			// The size is what is left after this block, without headers.
			c.index = s.sizes.index(bytes - data)
			s.regular = diag.TriggerUnknown
		}
	}
	if c.present() {
		s.periodicAt = k + max(s.period, 0)
		s.retxAt = k + s.retx
	}
	return data, c, padding
}

// fillEagerly is fill where every block ends with a report, of nothing, too.
func (s *bsrState) fillEagerly(room, bytes int) (data int, c ce, padding int) {
	s.regular = diag.TriggerUnknown
	data = min(bytes, room)
	return data, s.eagerCE(bytes - data), room - data
}

// eagerCE is such a report of what a block leaves.
func (s *bsrState) eagerCE(left int) ce {
	if left == 0 {
		return ce{trigger: diag.TriggerPadding}
	}
	return ce{trigger: diag.TriggerPeriodic, index: s.sizes.index(left)}
}

// asked notes that a request goes out in slot k. By the standard it goes out
// again until there is a grant.
func (s *bsrState) asked(k int64) {
	if s.eager {
		s.regular, s.retxAt = diag.TriggerUnknown, k+s.retx
	}
}

// idealBSR is how the phones of the reference simulator report: outside of
// blocks and without asking, in every slot before which there was news. News is
// a packet, or that a block left something behind a while ago. The station
// reads such a report every periodicBSR-Timer, see station.read.
type idealBSR struct {
	on      bool
	fresh   bool
	again   int64 // slots from a block that left something to the next news
	againAt int64
}

// wantsIdeal says whether such a report goes out in slot k.
func (s *bsrState) wantsIdeal(k int64, bytes int) bool {
	i := &s.ideal
	if !i.on {
		return false
	}
	if k >= i.againAt && bytes > 0 {
		i.fresh, i.againAt = true, k+i.again
	}
	fresh := i.fresh
	i.fresh = false
	return fresh
}

// rounded is a number of bytes as the base station reads it from a report.
func (s *bsrState) rounded(bytes int) int {
	return s.sizes.upper(s.sizes.index(bytes))
}
