// SPDX-License-Identifier: MIT

package rrc

// radioBearerConfig passes over RadioBearerConfig, TS 38.331 6.3.2.
func (w *walker) radioBearerConfig() {
	o, ext := w.extensible(5)
	if o.next() {
		for range w.count(2) {
			w.nrSRB()
		}
	}
	o.next() // srb3-ToRelease: a single value, no bits
	if o.next() {
		for range w.count(29) {
			w.nrDRB()
		}
	}
	if o.next() {
		for range w.count(29) { // drb-ToReleaseList
			w.skip(5)
		}
	}
	if o.next() {
		w.nrSecurity()
	}
	w.passAdditions(ext)
}

func (w *walker) nrSRB() {
	o, ext := w.extensible(3)
	w.integer(1, 3) // srb-Identity
	o.next()        // reestablishPDCP: a single value, no bits
	o.next()        // discardOnPDCP: likewise
	if o.next() {
		w.nrPDCP()
	}
	w.passAdditions(ext)
}

func (w *walker) nrDRB() {
	o, ext := w.extensible(4)
	if o.next() {
		if w.below(2) == 0 {
			w.skip(4) // eps-BearerIdentity
		} else {
			w.sdap()
		}
	}
	w.skip(5) // drb-Identity
	o.next()  // reestablishPDCP: a single value, no bits
	o.next()  // recoverPDCP: likewise
	if o.next() {
		w.nrPDCP()
	}
	w.passAdditions(ext)
}

// sdap passes over SDAP-Config.
func (w *walker) sdap() {
	o, ext := w.extensible(2)
	w.skip(8 + 1 + 1 + 1) // pdu-Session, sdap-HeaderDL, sdap-HeaderUL, defaultDRB
	for range 2 {         // mappedQoS-FlowsToAdd, mappedQoS-FlowsToRelease
		if o.next() {
			for range w.count(64) {
				w.skip(6)
			}
		}
	}
	w.passAdditions(ext)
}

// nrPDCP passes over PDCP-Config.
func (w *walker) nrPDCP() {
	o, ext := w.extensible(3)
	if o.next() {
		w.nrPDCPDRB()
	}
	if o.next() { // moreThanOneRLC
		p := w.sequence(2)
		path := w.sequence(2)
		if path.next() {
			w.skip(2) // cellGroup
		}
		if path.next() {
			w.skip(5) // logicalChannel
		}
		if p.next() {
			w.skip(5) // ul-DataSplitThreshold
		}
		if p.next() {
			w.skip(1) // pdcp-Duplication
		}
	}
	if o.next() {
		w.skip(6) // t-Reordering
	}
	w.passAdditions(ext)
}

// nrPDCPDRB passes over the part of PDCP-Config that only data bearers have.
func (w *walker) nrPDCPDRB() {
	o := w.sequence(6)
	if o.next() {
		w.skip(4) // discardTimer
	}
	if o.next() {
		w.skip(1) // pdcp-SN-SizeUL
	}
	if o.next() {
		w.skip(1) // pdcp-SN-SizeDL
	}
	switch w.choice(3) { // headerCompression
	case 1:
		w.rohc(9)
	case 2:
		w.rohc(1) // uplinkOnlyROHC
	}
	// What follows are single values without bits.
}

func (w *walker) rohc(profiles int) {
	o := w.sequence(2)
	if o.next() {
		w.integer(1, 16383) // maxCID
	}
	w.skip(profiles)
}

// nrSecurity passes over SecurityConfig.
func (w *walker) nrSecurity() {
	o, ext := w.extensible(2)
	if o.next() {
		p, inner := w.extensible(1)
		w.enumerated(8) // cipheringAlgorithm
		if p.next() {
			w.enumerated(8) // integrityProtAlgorithm
		}
		w.passAdditions(inner)
	}
	if o.next() {
		w.skip(1) // keyToUse
	}
	w.passAdditions(ext)
}
