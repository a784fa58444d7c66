// SPDX-License-Identifier: MIT

package diag

import "time"

// Kind says what a Record tells and thus which fields are set.
type Kind uint8

// Kinds of records.
const (
	// KindGrant is one uplink transmission: TTI, Cell, Bytes, Padding, Retx.
	KindGrant Kind = iota + 1
	// KindBSR is one buffer status report on air: TTI, Form, Trigger, LCGs, Index.
	KindBSR
	// KindConfig is a MAC configuration: PeriodicBSR, RetxBSR, ExtendedBSR.
	KindConfig
	// KindBuffer is what waits in the phone, not quantised and not told to
	// the base station: TTI, AgeMs, Queued, Signalling.
	KindBuffer
)

// Form is the format of a BSR MAC control element.
type Form uint8

// BSR formats of TS 36.321 6.1.3.1 and TS 38.321 6.1.3.1.
const (
	FormShort Form = iota + 1
	FormLong
	// FormTruncated is a short BSR that could not tell of all groups.
	FormTruncated
	// FormLongTruncated is the long one of NR, with the 8-bit table.
	FormLongTruncated
)

// Trigger says why a BSR was sent, TS 36.321 5.4.5.
type Trigger uint8

// BSR triggers.
const (
	TriggerUnknown Trigger = iota
	TriggerPeriodic
	TriggerRegular
	TriggerRetx
	TriggerPadding
)

// RAT is the radio the record comes from.
type RAT uint8

// Known radios.
const (
	LTE RAT = iota + 1
	NR
)

// MaxLCG is the number of logical channel groups: four on LTE, eight on NR.
const MaxLCG = 8

// Record is one fact decoded from a log packet. It has no pointers, so that
// slices of records can be reused without allocating.
type Record struct {
	Code LogCode
	Kind Kind
	RAT  RAT
	// Radio is the id of the multi-radio wrapper, 0 without one.
	Radio uint32
	// Logged is when the modem committed the packet; every record of one
	// packet shares it.
	Logged Timestamp
	// TTI is when it was on air: SFN*10+subframe on LTE (0..10239); slots
	// since frame 0 on NR. KindBuffer has -1 when the packet does not tell.
	TTI int
	// Numerology is NR's mu, 0..4: slots of 1 ms / 2^Numerology, of which TTI
	// counts 0..10240*2^Numerology-1. 0 on LTE. See TTIs and TTILength.
	Numerology uint8
	// Inferred tells that no parser knows the packet's version, and that its
	// layout is the only one that fits.
	Inferred bool
	// Cell is the carrier, 0 for the primary one.
	Cell int
	// PCI is the physical cell identity (0..503 on LTE, 0..1007 on NR) when
	// HasPCI; not every log code tells it.
	PCI    int
	HasPCI bool

	// Bytes is the transport block size and Padding what of it was padding.
	Bytes, Padding int
	// Retx is the HARQ retransmission index; 0 is a first transmission.
	Retx int

	// Queued is all bytes that wait, Signalling what of them is.
	Queued, Signalling int
	// AgeMs is milliseconds before the last sample of the packet, which is at
	// most 1 ms older than Logged.
	AgeMs int

	Form    Form
	Trigger Trigger
	// LCGs is a bit set of the groups that Index holds. A group that a long
	// BSR reports as empty is in the set with index 0.
	LCGs  uint8
	Index [MaxLCG]uint8

	// PeriodicBSR and RetxBSR are timers, 0 when the record does not tell;
	// PeriodicBSR is Infinite for "infinity".
	PeriodicBSR, RetxBSR time.Duration
	// ExtendedBSR is extendedBSR-Sizes of LTE, when HasExtendedBSR: the buffer
	// sizes are of TS 36.321 table 6.1.3.1-2.
	ExtendedBSR, HasExtendedBSR bool
}

// Infinite stands for a timer that never fires.
const Infinite = time.Duration(1<<63 - 1)
