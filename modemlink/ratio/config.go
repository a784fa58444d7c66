// SPDX-License-Identifier: MIT

package ratio

import (
	"errors"
	"fmt"
	"time"
)

// ErrConfig is returned by New for settings that make no sense.
var ErrConfig = errors.New("ratio: bad configuration")

// Config tunes an Assembler. The zero value learns everything from the records.
type Config struct {
	// Period is the periodicBSR-Timer T of LTE when known otherwise; it wins over
	// what the records say. 0: from the MAC configuration record, else the
	// observed spacing. At most 2560 ms (TS 36.331 MAC-MainConfig).
	Period time.Duration
	// Lag is the response lag L of LTE: a BSR in TTI n is answered from TTI n
	// + L on. 0: learned, 8 ms until then (FDD: 4 ms to the grant, 4 ms to the
	// transmission). 1 ms to 100 ms.
	Lag time.Duration
	// NRPeriod and NRLag are the same for NR. L is 5 ms until it is learned: a
	// period of the usual TDD patterns.
	NRPeriod, NRLag time.Duration
	// ExtendedBSR selects the extended buffer size table of LTE
	// (extendedBSR-Sizes), whatever the records say. False: as the MAC
	// configuration records tell, the usual table until then.
	ExtendedBSR bool
	// LCGs is the set of logical channel groups with user data, bit i for
	// LCG i. 0: all groups.
	LCGs uint8
	// Hold is how long after a TTI the modem may still tell of a grant in
	// it; what has not come by then was not there. 0: learned from how late
	// records come, at least 15 ms when LTE's PUSCH report (B139) is logged,
	// 105 ms when only transport blocks (B064) are, 20 ms on NR. At most 1 s.
	Hold time.Duration
	// Settle is how long after the first record nothing is told and only
	// the clock is learned, because modems flush stale buffers when logging
	// starts. 0: 200 ms. Negative: none.
	Settle time.Duration
}

const (
	maxPeriod     = 2560 * time.Millisecond
	maxLag        = 100 * time.Millisecond
	maxHold       = time.Second
	defaultSettle = 200 * time.Millisecond
)

func (c Config) validate() error {
	for _, d := range [...]struct {
		name     string
		v, limit time.Duration
	}{{"period", c.Period, maxPeriod}, {"lag", c.Lag, maxLag}, {"NR period", c.NRPeriod, maxPeriod}, {"NR lag", c.NRLag, maxLag}} {
		if d.v < 0 || d.v > d.limit || d.v%time.Millisecond != 0 {
			return fmt.Errorf("%w: %s %v, want whole milliseconds up to %v", ErrConfig, d.name, d.v, d.limit)
		}
	}
	if c.Hold < 0 || c.Hold > maxHold {
		return fmt.Errorf("%w: hold %v, want up to %v", ErrConfig, c.Hold, maxHold)
	}

	return nil
}
