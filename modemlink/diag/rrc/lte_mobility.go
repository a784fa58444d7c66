// SPDX-License-Identifier: MIT

package rrc

// mobilityControlInfo passes over MobilityControlInfo, TS 36.331 6.3.4.
func (w *walker) mobilityControlInfo() {
	o, ext := w.extensible(4)
	w.integer(0, 503) // targetPhysCellId
	if o.next() {
		p := w.sequence(1)
		w.skip(16) // dl-CarrierFreq
		if p.next() {
			w.skip(16) // ul-CarrierFreq
		}
	}
	if o.next() {
		p := w.sequence(1)
		w.skip(4) // dl-Bandwidth
		if p.next() {
			w.skip(4) // ul-Bandwidth
		}
	}
	if o.next() {
		w.skip(5) // additionalSpectrumEmission
	}
	w.skip(3 + 16) // t304, newUE-Identity
	w.radioResourceConfigCommon()
	if o.next() {
		w.skip(6 + 4) // rach-ConfigDedicated
	}
	w.passAdditions(ext)
}

// radioResourceConfigCommon passes over RadioResourceConfigCommon.
func (w *walker) radioResourceConfigCommon() {
	o, ext := w.extensible(9)
	if o.next() {
		w.rachCommon()
	}
	w.prach()
	if o.next() {
		w.integer(-60, 50) // pdsch-ConfigCommon
		w.skip(2)
	}
	w.puschCommon()
	if o.next() {
		w.skip(1 + 2) // phich-Config
	}
	if o.next() { // pucch-ConfigCommon
		w.below(3)
		w.integer(0, 98)
		w.skip(3 + 11)
	}
	if o.next() && w.below(2) == 1 { // soundingRS-UL-ConfigCommon
		w.sequence(1) // srs-MaxUpPts: a single value
		w.skip(3 + 4 + 1)
	}
	if o.next() {
		w.uplinkPowerControlCommon()
	}
	if o.next() {
		w.skip(2) // antennaInfoCommon
	}
	if o.next() {
		w.integer(-30, 33) // p-Max
	}
	if o.next() { // tdd-Config
		w.below(7)
		w.below(9)
	}
	w.skip(1) // ul-CyclicPrefixLength
	w.passAdditions(ext)
}

func (w *walker) rachCommon() {
	_, ext := w.extensible(0)
	o := w.sequence(1) // preambleInfo
	w.skip(4)          // numberOfRA-Preambles
	if o.next() {      // preamblesGroupAConfig
		_, inner := w.extensible(0)
		w.below(15)
		w.skip(2 + 3)
		w.passAdditions(inner)
	}
	w.skip(2 + 4) // powerRampingParameters
	w.below(11)   // preambleTransMax
	w.skip(3 + 3) // ra-ResponseWindowSize, mac-ContentionResolutionTimer
	w.skip(3)     // maxHARQ-Msg3Tx
	w.passAdditions(ext)
}

func (w *walker) prach() {
	o := w.sequence(1)
	w.integer(0, 837) // rootSequenceIndex
	if o.next() {
		w.skip(6 + 1 + 4) // prach-ConfigIndex, highSpeedFlag, zeroCorrelationZoneConfig
		w.integer(0, 94)  // prach-FreqOffset
	}
}

func (w *walker) puschCommon() {
	w.skip(2 + 1)    // n-SB, hoppingMode
	w.integer(0, 98) // pusch-HoppingOffset
	w.skip(1)        // enable64QAM
	w.skip(1)        // groupHoppingEnabled
	w.integer(0, 29) // groupAssignmentPUSCH
	w.skip(1 + 3)    // sequenceHoppingEnabled, cyclicShift
}

func (w *walker) uplinkPowerControlCommon() {
	w.integer(-126, 24)                         // p0-NominalPUSCH
	w.skip(3 + 5)                               // alpha, p0-NominalPUCCH
	for _, n := range [...]int{3, 3, 4, 3, 3} { // deltaFList-PUCCH
		w.below(n)
	}
	w.skip(3) // deltaPreambleMsg3
}

// securityConfigHO passes over SecurityConfigHO, TS 36.331 6.3.3.
func (w *walker) securityConfigHO() {
	_, ext := w.extensible(0)
	if w.below(2) == 0 { // intraLTE
		o := w.sequence(1)
		if o.next() {
			w.securityAlgorithms()
		}
		w.skip(1 + 3) // keyChangeIndicator, nextHopChainingCount
	} else { // interRAT
		w.securityAlgorithms()
		w.skip(6 * 8) // nas-SecurityParamToEUTRA
	}
	w.passAdditions(ext)
}

func (w *walker) securityAlgorithms() {
	w.enumerated(8)
	w.enumerated(8)
}
