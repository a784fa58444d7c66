// SPDX-License-Identifier: MIT

package rrc

// cellGroup walks an octet string that holds a CellGroupConfig, TS 38.331
// 6.3.2. Of it only the fields up to mac-CellGroupConfig are looked at.
func (w *walker) cellGroup() {
	outer := w.enter()
	o, _ := w.extensible(7)
	secondary := w.integer(0, 3) != 0 // cellGroupId: 0 is the master
	if o.next() {
		for range w.count(32) {
			w.rlcBearer()
		}
	}
	if o.next() {
		for range w.count(32) { // rlc-BearerToReleaseList
			w.skip(5)
		}
	}
	if o.next() {
		w.macCellGroup(secondary)
	}
	w.leave(outer)
}

// macCellGroup reads MAC-CellGroupConfig up to bsr-Config.
func (w *walker) macCellGroup(secondary bool) {
	o, _ := w.extensible(5)
	if o.next() && w.below(2) == 1 {
		w.nrDRX()
	}
	if o.next() {
		w.schedulingRequest()
	}
	if !o.next() {
		return
	}
	c := Config{RAT: NR, Secondary: secondary, HasPeriodic: true, HasRetx: true}
	p, _ := w.extensible(1)
	c.Periodic = w.nrPeriodicBSR()
	c.Retx = w.nrRetxBSR()
	if p.next() {
		c.SRDelay = w.srDelay()
	}
	w.found(c)
}

// nrDRX passes over a DRX-Config that is set up.
func (w *walker) nrDRX() {
	o := w.sequence(1)
	if w.below(2) == 0 {
		w.integer(1, 31) // drx-onDurationTimer in 1/32 ms
	} else {
		w.skip(5) // in ms
	}
	w.skip(5)        // drx-InactivityTimer
	w.integer(0, 56) // drx-HARQ-RTT-TimerDL
	w.integer(0, 56) // drx-HARQ-RTT-TimerUL
	w.skip(5 + 5)    // drx-RetransmissionTimerDL, drx-RetransmissionTimerUL
	cycles := [...]int{
		10, 20, 32, 40, 60, 64, 70, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560, 5120, 10240,
	}
	w.below(cycles[w.below(len(cycles))]) // drx-LongCycleStartOffset
	if o.next() {
		w.skip(5 + 4) // shortDRX
	}
	w.skip(5) // drx-SlotOffset
}

// schedulingRequest passes over SchedulingRequestConfig.
func (w *walker) schedulingRequest() {
	o := w.sequence(2)
	if o.next() {
		for range w.count(8) {
			p := w.sequence(1)
			w.skip(3) // schedulingRequestId
			if p.next() {
				w.skip(3) // sr-ProhibitTimer
			}
			w.skip(3) // sr-TransMax
		}
	}
	if o.next() {
		for range w.count(8) {
			w.skip(3)
		}
	}
}

// rlcBearer passes over RLC-BearerConfig.
func (w *walker) rlcBearer() {
	o, ext := w.extensible(4)
	w.skip(5) // logicalChannelIdentity
	if o.next() {
		if w.below(2) == 0 {
			w.integer(1, 3) // srb-Identity
		} else {
			w.skip(5) // drb-Identity
		}
	}
	o.next() // reestablishRLC: a single value, no bits
	if o.next() {
		w.nrRLC()
	}
	if o.next() {
		w.nrLogicalChannel()
	}
	w.passAdditions(ext)
}

// nrRLC passes over RLC-Config.
func (w *walker) nrRLC() {
	const (
		poll = 6 + 5 + 6 + 3 // t-PollRetransmit, pollPDU, pollByte, maxRetxThreshold
		dlAM = 5 + 6         // t-Reassembly, t-StatusProhibit
		dlUM = 5             // t-Reassembly
	)
	switch w.choice(4) {
	case 0:
		w.snFieldLength(poll)
		w.snFieldLength(dlAM)
	case 1:
		w.snFieldLength(0)
		w.snFieldLength(dlUM)
	case 2:
		w.snFieldLength(0)
	case 3:
		w.snFieldLength(dlUM)
	}
}

// snFieldLength passes over a sequence of an optional bit and a fixed rest.
func (w *walker) snFieldLength(rest int) {
	o := w.sequence(1)
	if o.next() {
		w.skip(1)
	}
	w.skip(rest)
}

// nrLogicalChannel passes over LogicalChannelConfig.
func (w *walker) nrLogicalChannel() {
	o, ext := w.extensible(1)
	if o.next() {
		p, inner := w.extensible(6)
		w.skip(4 + 4 + 4) // priority, prioritisedBitRate, bucketSizeDuration
		if p.next() {
			for range w.count(31) { // allowedServingCells
				w.skip(5)
			}
		}
		if p.next() {
			for range w.count(5) { // allowedSCS-List
				w.skip(3)
			}
		}
		if p.next() {
			w.skip(3) // maxPUSCH-Duration
		}
		p.next() // configuredGrantType1Allowed: a single value, no bits
		if p.next() {
			w.skip(3) // logicalChannelGroup
		}
		if p.next() {
			w.skip(3) // schedulingRequestID
		}
		w.skip(1 + 1) // logicalChannelSR-Mask, logicalChannelSR-DelayTimerApplied
		w.passAdditions(inner)
	}
	w.passAdditions(ext)
}
