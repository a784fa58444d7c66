// SPDX-License-Identifier: MIT

package rrc

// maxMeas bounds measurement objects, reports and identities, and the cells of
// an object: maxObjectId, maxReportConfigId, maxMeasId and maxCellMeas of TS
// 36.331 are all the same.
const maxMeas = 32

// measConfig passes over MeasConfig, TS 36.331 6.3.5.
func (w *walker) measConfig() {
	o, ext := w.extensible(11)
	if o.next() {
		w.measIDs() // measObjectToRemoveList
	}
	if o.next() {
		for range w.count(maxMeas) {
			w.measObject()
		}
	}
	if o.next() {
		w.measIDs() // reportConfigToRemoveList
	}
	if o.next() {
		for range w.count(maxMeas) {
			w.reportConfig()
		}
	}
	if o.next() {
		w.measIDs() // measIdToRemoveList
	}
	if o.next() {
		for range w.count(maxMeas) { // measIdToAddModList
			w.skip(5 + 5 + 5)
		}
	}
	if o.next() {
		w.quantityConfig()
	}
	if o.next() && w.below(2) == 1 { // measGapConfig
		switch w.choice(2) {
		case 0:
			w.below(40)
		case 1:
			w.below(80)
		}
	}
	if o.next() {
		w.integer(0, 97) // s-Measure
	}
	if o.next() {
		w.preRegistration()
	}
	if o.next() && w.below(2) == 1 { // speedStatePars
		w.skip(3 + 3 + 4 + 4) // mobilityStateParameters
		w.skip(2 + 2)         // timeToTrigger-SF
	}
	w.passAdditions(ext)
}

// measIDs passes over a list of identities or cell indices.
func (w *walker) measIDs() {
	for range w.count(maxMeas) {
		w.skip(5)
	}
}

// measObject passes over MeasObjectToAddMod. Objects of other radios are not
// modelled, except those that came later as extensions.
func (w *walker) measObject() {
	w.skip(5) // measObjectId
	switch w.choice(4) {
	case 0:
		w.measObjectEUTRA()
	case 1:
		w.unmodelled("measObjectUTRA")
	case 2:
		w.unmodelled("measObjectGERAN")
	case 3:
		w.unmodelled("measObjectCDMA2000")
	}
}

func (w *walker) measObjectEUTRA() {
	o, ext := w.extensible(6)
	w.skip(16)    // carrierFreq
	w.below(6)    // allowedMeasBandwidth
	w.skip(1 + 2) // presenceAntennaPort1, neighCellConfig
	if o.next() {
		w.below(31) // offsetFreq
	}
	if o.next() {
		w.measIDs() // cellsToRemoveList
	}
	if o.next() { // cellsToAddModList
		for range w.count(maxMeas) {
			w.skip(5) // cellIndex
			w.below(504)
			w.below(31)
		}
	}
	if o.next() {
		w.measIDs() // excluded cells to remove
	}
	if o.next() { // excluded cells to add
		for range w.count(maxMeas) {
			w.skip(5) // cellIndex
			p := w.sequence(1)
			w.below(504)
			if p.next() {
				w.skip(4) // range
			}
		}
	}
	if o.next() {
		w.below(504) // cellForWhichToReportCGI
	}
	w.passAdditions(ext)
}

func (w *walker) reportConfig() {
	w.skip(5) // reportConfigId
	if w.below(2) == 0 {
		w.reportConfigEUTRA()
	} else {
		w.reportConfigInterRAT()
	}
}

func (w *walker) reportConfigEUTRA() {
	_, ext := w.extensible(0)
	if w.below(2) == 0 {
		switch w.choice(5) { // events A1 to A5
		case 0, 1, 3:
			w.thresholdEUTRA()
		case 2:
			w.integer(-30, 30)
			w.bool()
		case 4:
			w.thresholdEUTRA()
			w.thresholdEUTRA()
		}
		w.eventTail()
	} else {
		w.skip(1) // purpose
	}
	w.skip(1 + 1)     // triggerQuantity, reportQuantity
	w.skip(3 + 4 + 3) // maxReportCells, reportInterval, reportAmount
	w.passAdditions(ext)
}

func (w *walker) reportConfigInterRAT() {
	_, ext := w.extensible(0)
	if w.below(2) == 0 {
		switch w.choice(2) { // events B1 and B2
		case 0:
			w.thresholdInterRAT()
		case 1:
			w.thresholdEUTRA()
			w.thresholdInterRAT()
		}
		w.eventTail()
	} else {
		w.below(3) // purpose
	}
	w.skip(3 + 4 + 3) // maxReportCells, reportInterval, reportAmount
	w.passAdditions(ext)
}

// eventTail passes over hysteresis and timeToTrigger.
func (w *walker) eventTail() {
	w.integer(0, 30)
	w.skip(4)
}

func (w *walker) thresholdEUTRA() {
	if w.below(2) == 0 {
		w.integer(0, 97) // RSRP
	} else {
		w.integer(0, 34) // RSRQ
	}
}

func (w *walker) thresholdInterRAT() {
	if w.below(3) != 0 {
		w.skip(6) // GERAN, CDMA2000

		return
	}
	if w.below(2) == 0 {
		w.integer(-5, 91) // UTRA RSCP
	} else {
		w.integer(0, 49) // UTRA EcN0
	}
}

func (w *walker) quantityConfig() {
	o, ext := w.extensible(4)
	if o.next() { // EUTRA
		p := w.sequence(2)
		for range 2 {
			if p.next() {
				w.enumerated(16)
			}
		}
	}
	if o.next() { // UTRA; the quantity of TDD is a single value
		p := w.sequence(1)
		w.skip(1)
		if p.next() {
			w.enumerated(16)
		}
	}
	if o.next() { // GERAN; the quantity is a single value
		p := w.sequence(1)
		if p.next() {
			w.enumerated(16)
		}
	}
	if o.next() {
		w.skip(1) // CDMA2000
	}
	w.passAdditions(ext)
}

// preRegistration passes over PreRegistrationInfoHRPD.
func (w *walker) preRegistration() {
	o := w.sequence(2)
	w.bool()
	if o.next() {
		w.skip(8)
	}
	if o.next() {
		for range w.count(2) {
			w.skip(8)
		}
	}
}
