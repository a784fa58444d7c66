// SPDX-License-Identifier: MIT

package rrc

import "time"

// macMainConfig reads mac-MainConfig of RadioResourceConfigDedicated.
func (w *walker) macMainConfig() {
	if w.below(2) == 1 { // defaultValue
		w.found(Config{
			RAT: LTE, Default: true,
			// TS 36.331 9.2.2
			Periodic: Infinite, HasPeriodic: true,
			Retx: 2560 * time.Millisecond, HasRetx: true,
			HasExtendedBSR: true,
		})

		return
	}
	c := Config{RAT: LTE}
	o, ext := w.extensible(3)
	if o.next() {
		w.ulSCH(&c)
	}
	if o.next() && w.below(2) == 1 {
		w.lteDRX()
	}
	w.skip(3) // timeAlignmentTimerDedicated
	if o.next() && w.below(2) == 1 {
		w.skip(3 + 3 + 2) // phr-Config
	}
	w.macAdditions(&c, ext)
	if c.HasPeriodic || c.HasRetx || c.HasExtendedBSR || c.SRDelay != 0 {
		w.found(c)
	}
}

func (w *walker) ulSCH(c *Config) {
	o := w.sequence(2)
	if o.next() {
		w.skip(4) // maxHARQ-Tx
	}
	if o.next() {
		c.Periodic, c.HasPeriodic = w.ltePeriodicBSR(), true
	}
	c.Retx, c.HasRetx = w.lteRetxBSR(), true
	w.bool() // ttiBundling
}

// macAdditions reads the two extension additions of MAC-MainConfig that matter.
func (w *walker) macAdditions(c *Config, ext bool) {
	const (
		v1020   = 1 // mac-MainConfig-v1020
		release = 3 // of release 12: e-HARQ-Pattern, dualConnectivityPHR, logicalChannelSR-Config
	)
	o := w.additions(ext)
	for i := 0; o.n > 0 && w.err == nil; i++ {
		if !o.next() {
			continue
		}
		outer := w.enter()
		switch i {
		case v1020:
			w.macV1020(c)
		case release:
			w.macR12(c)
		}
		w.leave(outer)
	}
}

func (w *walker) macV1020(c *Config) {
	group := w.sequence(1)
	if !group.next() {
		return
	}
	o := w.sequence(3)
	if o.next() {
		w.skip(3) // sCellDeactivationTimer-r10
	}
	// A single value without bits; its absence releases it.
	c.ExtendedBSR, c.HasExtendedBSR = o.next(), true
}

func (w *walker) macR12(c *Config) {
	o := w.sequence(3)
	if o.next() {
		w.bool() // e-HARQ-Pattern-r12
	}
	if o.next() && w.below(2) == 1 {
		w.skip(1) // dualConnectivityPHR
	}
	if o.next() && w.below(2) == 1 {
		c.SRDelay = w.srDelay()
	}
}

// lteDRX passes over a DRX-Config that is set up.
func (w *walker) lteDRX() {
	o := w.sequence(1)
	w.skip(4 + 5 + 3) // onDurationTimer, drx-InactivityTimer, drx-RetransmissionTimer
	cycles := [...]int{10, 20, 32, 40, 64, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560}
	w.below(cycles[w.below(len(cycles))]) // longDRX-CycleStartOffset
	if o.next() {
		w.skip(4 + 4) // shortDRX
	}
}
