// SPDX-License-Identifier: MIT

package interceptor

import (
	"math"
	"time"
)

const (
	// repairMemory is the time constant of the share: retransmissions come in
	// bursts, and the encoder should not follow each.
	repairMemory = 2 * time.Second
	// repairLimit bounds it. goog_cc: fec_controller_default takes half at most.
	repairLimit = 0.5
	// repairStep is the least change that the encoder is told of.
	repairStep = 0.01
)

// repairMeter measures which share of what is sent repairs losses, FEC and
// retransmissions: the encoder may not use it. Not safe for concurrent use.
type repairMeter struct {
	media, repair float64 // bytes, fading
	at            time.Time
	applied       float64
}

func (m *repairMeter) sent(now time.Time, size int, repair bool) {
	if d := now.Sub(m.at); d > time.Millisecond {
		fade := 0.0
		if d < 20*repairMemory {
			fade = math.Exp(-d.Seconds() / repairMemory.Seconds())
		}
		m.media *= fade
		m.repair *= fade
		m.at = now
	}
	if repair {
		m.repair += float64(size)
	} else {
		m.media += float64(size)
	}
	share := min(m.repair/(m.media+m.repair), repairLimit)
	if math.Abs(share-m.applied) > repairStep || share < repairStep/10 {
		m.applied = share
	}
}

// share is the part that the encoder has to leave, 0..0.5.
func (m *repairMeter) share() float64 { return m.applied }
