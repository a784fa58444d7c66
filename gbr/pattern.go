// SPDX-License-Identifier: MIT

package gbr

const (
	// patternSpan is after how many TTIs any pattern of TDD begins anew: LTE's
	// after 5 or 10 ms (TS 36.211 4.2), NR's after a divisor of 20 ms, of two
	// patterns in a row, too (TS 38.213 11.1).
	patternSpan = 20
	// patternSure is how many grants a place without any should have had, by what
	// the others have, to be one in which the phone cannot send: a scheduler that
	// serves others leaves it out once in e^5 otherwise.
	patternSure = 5
	// patternMemory is how often a place is asked before half of it is forgotten:
	// the modem's milliseconds drift against ours.
	patternMemory = 128
)

// pattern learns in which TTIs the phone can send at all, by their place in the
// pattern of TDD: those in which the base station knew of a backlog and has never
// granted anything are not uplink. What the next one carries came up in their
// time as well.
//
//	place     0 1 2 3 4 5 6 7 8 9 ...      DDDDDDDSUU at 30 kHz
//	granted   . . . . g . . . . g
//	stands for└───────┘ └───────┘ 5 TTIs each
//
// In FDD all are granted sooner or later. One taken for the wrong kind only moves
// time to the next grant; no time is lost.
type pattern struct {
	asked, got       [patternSpan]int32
	askedAll, gotAll int32
}

// on notes a TTI with a backlog.
func (p *pattern) on(tti int64, granted bool) {
	i := place(tti)
	p.asked[i]++
	p.askedAll++
	if granted {
		p.got[i]++
		p.gotAll++
	}
	if p.asked[i] < patternMemory {
		return
	}
	p.askedAll, p.gotAll = 0, 0
	for i := range p.asked {
		p.asked[i] /= 2
		p.got[i] /= 2
		p.askedAll += p.asked[i]
		p.gotAll += p.got[i]
	}
}

// place is where in the pattern a TTI is; there are TTIs below 0.
func place(tti int64) int { return int((tti%patternSpan + patternSpan) % patternSpan) }

// closed tells that the phone cannot send in a TTI.
func (p *pattern) closed(tti int64) bool {
	i := place(tti)

	return p.got[i] == 0 && int64(p.asked[i])*int64(p.gotAll) >= patternSure*int64(p.askedAll) && p.gotAll > 0
}

// span is the TTIs that one in which the phone can send stands for: itself and
// those before it in which it cannot.
func (p *pattern) span(tti int64) int64 {
	n := int64(1)
	for n < patternSpan && p.closed(tti-n) {
		n++
	}

	return n
}
