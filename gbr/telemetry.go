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
	// Grants are the transmissions of single TTIs, Reports the BSRs as sent: the
	// events that samples are made from.
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

	// SumGranted and SumReported are the sums of Granted and Reported over the
	// same radio's samples of the last 30 ms, this one included and idle ones
	// not: greedy schedulers serve a phone in bursts, so single windows are 0 or
	// 1 where the sums are steady. Both 0 where the source does not tell, and
	// when there were idle ones only.
	SumGranted, SumReported int
	// RAT is the radio, RATUnknown where the source does not tell or both
	// radios of EN-DC were summed.
	RAT RAT
	// SFN is the frame number at At, 0..1023, -1 for unknown; it means something
	// only with a RAT.
	SFN   int
	Flags SampleFlags
}

// SampleFlags says what is special about a sample.
type SampleFlags uint8

// Flags of samples.
const (
	// FlagFirstGrant: the report went out on the first transmission after a
	// silence (of 20 ms or two lags), thus most likely on a grant that answered
	// a scheduling request, whose size knows nothing of the demand.
	FlagFirstGrant SampleFlags = 1 << iota
	// FlagCorrected: grants of the window came late, at most 200 ms after it
	// was told; this sample replaces the one before it with the same At. It
	// comes once. The inner loop leaves it out, as it has been steered by the
	// first one.
	FlagCorrected
	// FlagInferred: records of a layout that is not documented, accepted
	// because it fits.
	FlagInferred
	// FlagSummed: the window of one radio with the other one's bytes added
	// (EN-DC). Both radios' windows are told so, and cover the same bytes.
	FlagSummed
)

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

// Grant is the first-transmission bytes of one TTI on one carrier, of NR one
// slot: At is when it begins. Without bytes, what had been sent before was sent
// again (HARQ): what came after it waited for that.
type Grant struct {
	At    time.Time
	Bytes int
	// Cell is the carrier, 0 for the primary one of LTE, from 8 on those of NR.
	Cell int
}

// Report is one BSR as sent to the base station, or the modem's own count of its
// queue where it tells no BSRs: the queue was within [Low, High] bytes after the
// TTI or slot that begins at At. High is -1 when the table's last bin has no upper
// edge.
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
