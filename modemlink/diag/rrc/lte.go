// SPDX-License-Identifier: MIT

package rrc

// lteCCCH walks DL-CCCH-Message, TS 36.331 6.2.1.
func (w *walker) lteCCCH() {
	if w.bool() {
		w.unmodelled("messageClassExtension")

		return
	}
	switch w.below(4) {
	case 0:
		w.rrcConnectionReestablishment()
	case 3:
		w.rrcConnectionSetup()
	}
	// The other two reject the UE.
}

// lteDCCH walks DL-DCCH-Message, TS 36.331 6.2.1.
func (w *walker) lteDCCH() {
	if w.bool() {
		w.unmodelled("messageClassExtension")

		return
	}
	switch w.below(16) {
	case 3:
		w.unmodelled("mobilityFromEUTRACommand")
	case 4:
		w.rrcConnectionReconfiguration()
	case 11:
		w.unmodelled("rnReconfiguration-r10")
	case 12:
		w.rrcConnectionResume()
	case 13:
		w.unmodelled("dlDedicatedMessageSegment-r16")
	case 14, 15:
		w.unmodelled("spare message")
	}
	// The others have no radio configuration.
}

// critical reads the transaction and the criticalExtensions of n versions, of
// which only the first is defined.
func (w *walker) critical(n int) {
	w.skip(2) // rrc-TransactionIdentifier
	if w.bool() {
		w.unmodelled("criticalExtensionsFuture")
	} else if w.below(n) != 0 {
		w.unmodelled("spare critical extension")
	}
}

func (w *walker) rrcConnectionSetup() {
	w.critical(8)
	w.sequence(1) // nonCriticalExtension
	w.radioResourceConfigDedicated(false)
}

func (w *walker) rrcConnectionReestablishment() {
	w.critical(8)
	w.sequence(1)
	w.radioResourceConfigDedicated(false)
}

// rrcConnectionResume walks RRCConnectionResume-r13.
func (w *walker) rrcConnectionResume() {
	w.critical(4)
	o := w.sequence(6)
	if o.next() {
		w.radioResourceConfigDedicated(false)
	}
}

func (w *walker) rrcConnectionReconfiguration() {
	w.critical(8)
	o := w.sequence(6)
	meas, mobility, nas, dedicated, security, more := o.next(), o.next(), o.next(), o.next(), o.next(), o.next()
	if !dedicated && !more {
		return // nothing of interest behind the rest
	}
	if meas {
		w.measConfig()
	}
	if mobility {
		w.mobilityControlInfo()
	}
	if nas {
		for range w.count(11) {
			w.octets()
		}
	}
	if dedicated {
		w.radioResourceConfigDedicated(more)
	}
	if !more {
		return
	}
	if security {
		w.securityConfigHO()
	}
	w.reconfigurationExtensions()
}

// reconfigurationExtensions follows the chain of nonCriticalExtension from
// RRCConnectionReconfiguration-v890-IEs to -v1510-IEs, which holds NR.
func (w *walker) reconfigurationExtensions() {
	o := w.sequence(2) // v890
	if o.next() {
		w.octets() // lateNonCriticalExtension
	}
	if !o.next() {
		return
	}
	o = w.sequence(3) // v920
	if o.next() {
		w.otherConfig()
	}
	o.next() // fullConfig-r9: a single value, no bits
	if !o.next() {
		return
	}
	o = w.sequence(3) // v1020
	if o.next() {
		for range w.count(4) { // sCellToReleaseList-r10
			w.integer(1, 7)
		}
	}
	if o.next() {
		w.unmodelled("sCellToAddModList-r10")
	}
	if !o.next() {
		return
	}
	o = w.sequence(2) // v1130
	if o.next() {
		w.octets() // systemInformationBlockType1Dedicated-r11
	}
	if !o.next() {
		return
	}
	o = w.sequence(6) // v1250
	for _, name := range [...]string{
		"wlan-OffloadInfo-r12", "scg-Configuration-r12", "sl-SyncTxControl-r12",
		"sl-DiscConfig-r12", "sl-CommConfig-r12",
	} {
		if o.next() {
			w.unmodelled(name)
		}
	}
	if o.next() {
		w.reconfigurationExtensionsR13()
	}
}

func (w *walker) reconfigurationExtensionsR13() {
	o := w.sequence(6) // v1310
	for _, name := range [...]string{
		"sCellToReleaseListExt-r13", "sCellToAddModListExt-r13", "lwa-Configuration-r13",
		"lwip-Configuration-r13", "rclwi-Configuration-r13",
	} {
		if o.next() {
			w.unmodelled(name)
		}
	}
	if !o.next() {
		return
	}
	o = w.sequence(5) // v1430
	if o.next() {
		w.unmodelled("sl-V2X-ConfigDedicated-r14")
	}
	if o.next() {
		w.unmodelled("sCellToAddModListExt-v1430")
	}
	o.next() // perCC-GapIndicationRequest-r14: a single value, no bits
	if o.next() {
		w.octets() // systemInformationBlockType2Dedicated-r14
	}
	if !o.next() {
		return
	}
	o = w.sequence(6) // v1510
	if o.next() {
		w.nrConfig()
	}
}

// nrConfig walks nr-Config-r15, in which LTE hands an RRCReconfiguration of NR
// to the UE.
func (w *walker) nrConfig() {
	if w.below(2) == 0 {
		return // release
	}
	o := w.sequence(2)
	w.bool() // endc-ReleaseAndAdd-r15
	if o.next() {
		outer := w.enter()
		w.nrReconfiguration()
		w.leave(outer)
	}
}

// otherConfig passes over OtherConfig-r9.
func (w *walker) otherConfig() {
	o, ext := w.extensible(1)
	if o.next() {
		w.sequence(2) // reportProximityConfig-r9: two single values
	}
	w.passAdditions(ext)
}
