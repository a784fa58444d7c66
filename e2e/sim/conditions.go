// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// Conditions change any scenario's, for the question how much an algorithm
// depends on them. Zero values leave what the scenario has. They are no
// parameters of an algorithm, and what a scenario is compared with (its
// clairvoyant) is not changed.
type Conditions struct {
	// BSRPeriod is the phone's periodicBSR-Timer.
	BSRPeriod time.Duration
	// TelemetryLink is the delay from the phone's agent to the sender.
	TelemetryLink time.Duration
	// Table is what the phone's queue is told in, to the base station and to the
	// sender alike; the radio goes with it.
	Table BSRTable
	// EncoderLag is how old a target is when a frame obeys it; negative for none.
	EncoderLag time.Duration
}

// BSRTable is a table of buffer status reports, with its radio.
type BSRTable uint8

// The tables, and by what factor a bin's edges are apart.
const (
	// LTETable is of 6 bits, up to 150 kB: 1.17. TS 36.321 6.1.3.1.
	LTETable BSRTable = iota + 1
	// LTEExtended is of 6 bits, up to 3 MB: 1.23.
	LTEExtended
	// NRShort is of 5 bits, up to 150 kB: 1.39. TS 38.321 6.1.3.1.
	NRShort
	// NRLong is of 8 bits, up to 81 MB: 1.06.
	NRLong
)

// BSRTables are their names, the first one's first.
func BSRTables() []string { return []string{"lte", "lte-extended", "nr-short", "nr-long"} }

func (c Conditions) check() error {
	switch {
	case c.BSRPeriod < 0 || c.BSRPeriod%time.Millisecond != 0 || c.BSRPeriod > time.Minute:
		return fmt.Errorf("sim: BSR period %v is not whole milliseconds up to 1 min", c.BSRPeriod)
	case c.TelemetryLink < 0 || c.TelemetryLink > time.Minute:
		return fmt.Errorf("sim: telemetry %v late", c.TelemetryLink)
	case c.EncoderLag > 10*time.Second:
		return fmt.Errorf("sim: an encoder that is %v late", c.EncoderLag)
	case int(c.Table) > len(BSRTables()):
		return fmt.Errorf("sim: BSR table %d", c.Table)
	}

	return nil
}

// on applies them.
func (c Conditions) on(s Scenario) Scenario {
	if c.TelemetryLink > 0 {
		s.TelemetryLink = c.TelemetryLink
	}
	if c.EncoderLag != 0 {
		s.Source.Lag = c.EncoderLag
		s.Flows = slices.Clone(s.Flows)
		for i := range s.Flows {
			if src := s.Flows[i].Source; src != nil {
				changed := *src
				changed.Lag = c.EncoderLag
				s.Flows[i].Source = &changed
			}
		}
	}
	if c.BSRPeriod == 0 && c.Table == 0 {
		return s
	}
	c.onPhone(&s.Cell)
	if c.Table != 0 {
		s.Cell.Radio = c.radio()
	}
	if shared := s.Shared; shared != nil {
		s.Shared = func(seed uint64) cell.SharedConfig {
			config := shared(seed)
			if c.Table != 0 {
				config.Radio = c.radio()
			}
			config.Phones = slices.Clone(config.Phones)
			for i := range config.Phones {
				c.onPhone(&config.Phones[i].Config)
			}

			return config
		}
	}

	return s
}

func (c Conditions) onPhone(p *cell.Config) {
	if c.BSRPeriod > 0 {
		p.BSRPeriod = c.BSRPeriod
	}
	if c.Table != 0 {
		p.ExtendedBSR = c.Table == LTEExtended || c.Table == NRLong
	}
}

func (c Conditions) radio() cell.Radio {
	if c.Table >= NRShort {
		return cell.NRFDD
	}

	return cell.LTEFDD
}
