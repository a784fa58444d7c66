// SPDX-License-Identifier: MIT

package rrc

// radioResourceConfigDedicated walks RadioResourceConfigDedicated, TS 36.331
// 6.3.2. It stops at the MAC configuration unless more is to be read behind.
func (w *walker) radioResourceConfigDedicated(more bool) {
	o, ext := w.extensible(6)
	if o.next() {
		for range w.count(2) {
			w.srbToAddMod()
		}
	}
	if o.next() {
		for range w.count(11) {
			w.drbToAddMod()
		}
	}
	if o.next() {
		for range w.count(11) { // drb-ToReleaseList
			w.integer(1, 32)
		}
	}
	if o.next() {
		w.macMainConfig()
	}
	if !more {
		return
	}
	if o.next() {
		w.spsConfig()
	}
	if o.next() {
		w.physicalConfigDedicated()
	}
	w.passAdditions(ext)
}

func (w *walker) srbToAddMod() {
	o, ext := w.extensible(2)
	w.integer(1, 2) // srb-Identity
	// Both are explicit or the default, which has no bits.
	if o.next() && w.below(2) == 0 {
		w.lteRLC()
	}
	if o.next() && w.below(2) == 0 {
		w.lteLogicalChannel()
	}
	w.passAdditions(ext)
}

func (w *walker) drbToAddMod() {
	o, ext := w.extensible(5)
	if o.next() {
		w.skip(4) // eps-BearerIdentity
	}
	w.skip(5) // drb-Identity
	if o.next() {
		w.ltePDCP()
	}
	if o.next() {
		w.lteRLC()
	}
	if o.next() {
		w.integer(3, 10) // logicalChannelIdentity
	}
	if o.next() {
		w.lteLogicalChannel()
	}
	w.passAdditions(ext)
}

// ltePDCP passes over PDCP-Config.
func (w *walker) ltePDCP() {
	o, ext := w.extensible(3)
	if o.next() {
		w.skip(3) // discardTimer
	}
	if o.next() {
		w.bool() // rlc-AM
	}
	if o.next() {
		w.skip(1) // rlc-UM
	}
	if w.below(2) == 1 { // headerCompression: rohc
		p, inner := w.extensible(1)
		if p.next() {
			w.integer(1, 16383) // maxCID
		}
		w.skip(9) // profiles
		w.passAdditions(inner)
	}
	w.passAdditions(ext)
}

// lteRLC passes over RLC-Config.
func (w *walker) lteRLC() {
	const (
		ulAM = 6 + 3 + 4 + 3 // t-PollRetransmit, pollPDU, pollByte, maxRetxThreshold
		dlAM = 5 + 6         // t-Reordering, t-StatusProhibit
		ulUM = 1             // sn-FieldLength
		dlUM = 1 + 5         // sn-FieldLength, t-Reordering
	)
	switch w.choice(4) {
	case 0:
		w.skip(ulAM + dlAM)
	case 1:
		w.skip(ulUM + dlUM)
	case 2:
		w.skip(ulUM)
	case 3:
		w.skip(dlUM)
	}
}

// lteLogicalChannel passes over LogicalChannelConfig.
func (w *walker) lteLogicalChannel() {
	o, ext := w.extensible(1)
	if o.next() {
		p := w.sequence(1)
		w.skip(4 + 4 + 3) // priority, prioritisedBitRate, bucketSizeDuration
		if p.next() {
			w.skip(2) // logicalChannelGroup
		}
	}
	w.passAdditions(ext)
}

// spsConfig passes over SPS-Config.
func (w *walker) spsConfig() {
	o := w.sequence(3)
	if o.next() {
		w.skip(16) // semiPersistSchedC-RNTI
	}
	if o.next() && w.below(2) == 1 { // sps-ConfigDL: setup
		_, ext := w.extensible(0)
		w.skip(4 + 3)          // interval, numberOfConfSPS-Processes
		for range w.count(4) { // n1PUCCH-AN-PersistentList
			w.skip(11)
		}
		w.passAdditions(ext)
	}
	if o.next() && w.below(2) == 1 { // sps-ConfigUL: setup
		p, ext := w.extensible(2)
		w.skip(4 + 2) // interval, implicitReleaseAfter
		if p.next() {
			w.integer(-126, 24) // p0-NominalPUSCH-Persistent
			w.skip(4)           // p0-UE-PUSCH-Persistent
		}
		p.next() // twoIntervalsConfig: a single value, no bits
		w.passAdditions(ext)
	}
}
