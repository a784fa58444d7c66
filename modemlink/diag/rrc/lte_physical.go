// SPDX-License-Identifier: MIT

package rrc

// physicalConfigDedicated passes over PhysicalConfigDedicated, TS 36.331 6.3.2.
func (w *walker) physicalConfigDedicated() {
	o, ext := w.extensible(10)
	if o.next() {
		w.skip(3) // pdsch-ConfigDedicated
	}
	if o.next() {
		w.pucchDedicated()
	}
	if o.next() {
		w.skip(4 + 4 + 4) // pusch-ConfigDedicated
	}
	if o.next() {
		w.uplinkPowerControlDedicated()
	}
	for range 2 { // tpc-PDCCH-ConfigPUCCH, tpc-PDCCH-ConfigPUSCH
		if o.next() && w.below(2) == 1 {
			w.tpc()
		}
	}
	if o.next() {
		w.cqiReport()
	}
	if o.next() && w.below(2) == 1 { // soundingRS-UL-ConfigDedicated
		w.skip(2 + 2) // srs-Bandwidth, srs-HoppingBandwidth
		w.integer(0, 23)
		w.skip(1 + 10 + 1 + 3) // duration, srs-ConfigIndex, transmissionComb, cyclicShift
	}
	if o.next() && w.below(2) == 0 {
		w.antennaInfo()
	}
	if o.next() && w.below(2) == 1 { // schedulingRequestConfig
		w.skip(11) // sr-PUCCH-ResourceIndex
		w.integer(0, 157)
		w.skip(3) // dsr-TransMax
	}
	w.passAdditions(ext)
}

func (w *walker) pucchDedicated() {
	o := w.sequence(1)
	if w.below(2) == 1 {
		w.skip(2 + 11) // ackNackRepetition
	}
	if o.next() {
		w.skip(1) // tdd-AckNackFeedbackMode
	}
}

func (w *walker) uplinkPowerControlDedicated() {
	o := w.sequence(1)
	w.skip(4 + 1 + 1 + 4 + 4) // p0-UE-PUSCH, deltaMCS, accumulation, p0-UE-PUCCH, pSRS-Offset
	if o.next() {
		w.enumerated(16) // filterCoefficient
	}
}

func (w *walker) tpc() {
	w.skip(16) // tpc-RNTI
	if w.below(2) == 0 {
		w.integer(1, 15) // indexOfFormat3
	} else {
		w.integer(1, 31) // indexOfFormat3A
	}
}

func (w *walker) cqiReport() {
	o := w.sequence(2)
	if o.next() {
		w.skip(3) // cqi-ReportModeAperiodic
	}
	w.skip(3) // nomPDSCH-RS-EPRE-Offset
	if !o.next() || w.below(2) == 0 {
		return
	}
	p := w.sequence(1)
	w.integer(0, 1185) // cqi-PUCCH-ResourceIndex
	w.skip(10)         // cqi-pmi-ConfigIndex
	if w.below(2) == 1 {
		w.skip(2) // subbandCQI
	}
	if p.next() {
		w.skip(10) // ri-ConfigIndex
	}
	w.bool() // simultaneousAckNackAndCQI
}

// antennaInfo passes over AntennaInfoDedicated.
func (w *walker) antennaInfo() {
	o := w.sequence(1)
	w.skip(3) // transmissionMode
	if o.next() {
		width := [...]int{2, 4, 6, 64, 4, 16, 4, 16}
		w.skip(width[w.below(len(width))]) // codebookSubsetRestriction
	}
	if w.below(2) == 1 {
		w.skip(1) // ue-TransmitAntennaSelection
	}
}
