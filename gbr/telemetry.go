// SPDX-License-Identifier: MIT

package gbr

import (
	"strconv"
	"time"
)

// Telemetry is one batch of what the modem said. All times are on the local
// clock (modemlink translates them); within each slice they ascend. An empty
// batch is a sign of life: the link and the modem are there and idle.
//
// The receiver of a batch may keep it only until it returns.
type Telemetry struct {
	// Samples are finished windows, the inner loop's input.
	Samples []Sample
	// Grants are the first transmissions of single TTIs, Reports the BSRs as
	// sent: the events that samples are made from.
	Grants  []Grant
	Reports []Report
	// Config is set when it is first known and when it changes.
	Config *RadioConfig
}

// Sample is one window of the ratio granted / reported: a regular or periodic
// BSR and everything granted from then on until the next BSR is answered.
type Sample struct {
	// At is when the next BSR was sent.
	At time.Time
	// Window is the time that the grants took: Window / ratio is how long a
	// byte waits in a queue that does not run empty.
	Window time.Duration
	// Granted is the bytes of first transmissions in the window.
	Granted int
	// Reported and ReportedLow are the upper and the lower edge of the BSR's
	// bin at the window's start, in bytes, over all LCGs with user data.
	Reported, ReportedLow int
}

// Ratio returns granted / reported. It is not ok when nothing was reported:
// such a window is idle and says nothing about the cell. A window with a
// report and no grant is ok and 0: a starved sender.
func (s Sample) Ratio() (ratio float64, ok bool) {
	if s.Reported <= 0 || s.Granted < 0 {
		return 0, false
	}

	return float64(s.Granted) / float64(s.Reported), true
}

// Idle tells whether the phone reported an empty queue.
func (s Sample) Idle() bool { return s.Reported <= 0 }

// Grant is the first-transmission bytes of one TTI on one carrier.
type Grant struct {
	At    time.Time
	Bytes int
	// Cell is the carrier, 0 for the primary one.
	Cell int
}

// Report is one BSR as sent to the base station: the queue was within
// [Low, High] bytes. High is -1 when the table's last bin has no upper edge.
type Report struct {
	At        time.Time
	Low, High int
	// Padding marks a padding BSR: it tells what is left after a grant and
	// is no window border.
	Padding bool
}

// RAT is a radio access technology.
type RAT uint8

// Known technologies.
const (
	RATUnknown RAT = iota
	RATLTE
	RATNR
)

func (r RAT) String() string {
	switch r {
	case RATUnknown:
		return "unknown"
	case RATLTE:
		return "lte"
	case RATNR:
		return "nr"
	default:
		return "rat(" + strconv.Itoa(int(r)) + ")"
	}
}

// RadioConfig is what the base station configured.
type RadioConfig struct {
	RAT RAT
	// Period is the periodicBSR-Timer, or the observed mode of the spacing;
	// 0 when unknown or infinite.
	Period time.Duration
	// Lag is the time from a BSR on air to the first transmission that
	// answers it; 0 when unknown.
	Lag time.Duration
	// PCI is the physical cell identity, -1 when unknown. A change is a
	// handover.
	PCI int
}
