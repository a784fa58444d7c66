// SPDX-License-Identifier: MIT

package rrc

// nrCCCH walks DL-CCCH-Message, TS 38.331 6.2.1.
func (w *walker) nrCCCH() {
	if w.bool() {
		w.unmodelled("messageClassExtension")

		return
	}
	switch w.below(4) {
	case 0: // rrcReject
	case 1:
		w.rrcSetup()
	default:
		w.unmodelled("spare message")
	}
}

// nrDCCH walks DL-DCCH-Message, TS 38.331 6.2.1.
func (w *walker) nrDCCH() {
	if w.bool() {
		w.unmodelled("messageClassExtension")

		return
	}
	switch w.below(16) {
	case 0:
		w.nrReconfiguration()
	case 1:
		w.rrcResume()
	case 8:
		w.unmodelled("mobilityFromNRCommand")
	case 9:
		w.unmodelled("dlDedicatedMessageSegment-r16")
	case 11:
		w.unmodelled("dlInformationTransferMRDC-r16")
	case 13, 14, 15:
		w.unmodelled("spare message")
	}
	// The others have no radio configuration.
}

// nrCritical reads the transaction and the criticalExtensions.
func (w *walker) nrCritical() {
	w.skip(2) // rrc-TransactionIdentifier
	if w.below(2) != 0 {
		w.unmodelled("criticalExtensionsFuture")
	}
}

func (w *walker) rrcSetup() {
	w.nrCritical()
	w.sequence(2)
	w.radioBearerConfig()
	w.cellGroup()
}

func (w *walker) rrcResume() {
	w.nrCritical()
	o := w.sequence(6)
	bearers, group := o.next(), o.next()
	if !group {
		return
	}
	if bearers {
		w.radioBearerConfig()
	}
	w.cellGroup()
}

// nrReconfiguration walks RRCReconfiguration, TS 38.331 6.2.2.
func (w *walker) nrReconfiguration() {
	w.nrCritical()
	o := w.sequence(5)
	bearers, secondary, meas, late, more := o.next(), o.next(), o.next(), o.next(), o.next()
	if !secondary && !more {
		return // nothing of interest behind the rest
	}
	if bearers {
		w.radioBearerConfig()
	}
	if secondary {
		w.cellGroup()
	}
	if !more {
		return
	}
	if meas {
		w.unmodelled("measConfig")
	}
	if late {
		w.octets() // lateNonCriticalExtension
	}
	o = w.sequence(8) // RRCReconfiguration-v1530-IEs
	if o.next() {
		w.cellGroup() // masterCellGroup
	}
	if o.bits&1 == 1 {
		// Further down is mrdc-SecondaryCellGroupConfig.
		w.unmodelled("RRCReconfiguration-v1540-IEs")
	}
}
