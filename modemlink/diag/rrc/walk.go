// SPDX-License-Identifier: MIT

package rrc

import "time"

// RAT is the radio that a configuration is for.
type RAT uint8

// Known radios.
const (
	LTE RAT = iota + 1
	NR
)

func (r RAT) String() string {
	switch r {
	case LTE:
		return "LTE"
	case NR:
		return "NR"
	}

	return "RAT(?)"
}

// Channel says how the first bits of a message are to be read.
type Channel uint8

// Channels that can bring a MAC configuration. All are downlink.
const (
	// LTECCCH is DL-CCCH-Message of TS 36.331.
	LTECCCH Channel = iota + 1
	// LTEDCCH is DL-DCCH-Message of TS 36.331.
	LTEDCCH
	// NRCCCH is DL-CCCH-Message of TS 38.331.
	NRCCCH
	// NRDCCH is DL-DCCH-Message of TS 38.331.
	NRDCCH
	// NRReconfiguration is a bare RRCReconfiguration of TS 38.331, as LTE
	// carries it to add NR.
	NRReconfiguration
)

func (c Channel) String() string {
	switch c {
	case LTECCCH:
		return "LTE DL-CCCH"
	case LTEDCCH:
		return "LTE DL-DCCH"
	case NRCCCH:
		return "NR DL-CCCH"
	case NRDCCH:
		return "NR DL-DCCH"
	case NRReconfiguration:
		return "NR RRCReconfiguration"
	}

	return "Channel(?)"
}

// Config is what a message says about buffer status reports. A field whose Has
// is false was not in the message: the value in force stays.
type Config struct {
	RAT RAT
	// Secondary says that it is for the secondary cell group, as for NR beside
	// LTE.
	Secondary bool
	// Default says that the message asks for the default configuration, whose
	// values are those of TS 36.331 9.2.2.
	Default bool
	// Periodic is periodicBSR-Timer: Infinite, or 1 ms to 2.56 s.
	Periodic    time.Duration
	HasPeriodic bool
	// Retx is retxBSR-Timer: 10 ms to 10.24 s.
	Retx    time.Duration
	HasRetx bool
	// ExtendedBSR is extendedBSR-Sizes-r10, LTE only: the buffer sizes are of
	// TS 36.321 table 6.1.3.1-2.
	ExtendedBSR    bool
	HasExtendedBSR bool
	// SRDelay is logicalChannelSR-ProhibitTimer (LTE) or -DelayTimer (NR):
	// 20 ms to 2.56 s, 0 for none or not told.
	SRDelay time.Duration
}

// maxConfigs is how many one message can bring: an LTE master, and NR cell
// groups within.
const maxConfigs = 3

// Walk returns the first configuration of the message, whatever stands behind
// it. Without one, the error is ErrNoMAC, ErrTruncated, ErrMalformed or a
// SkippedError; errors.Is(err, ErrSkipped) finds the latter.
func Walk(channel Channel, payload []byte) (Config, error) {
	w := walker{reader: newReader(payload)}
	w.walk(channel)
	if w.n > 0 {
		return w.configs[0], nil
	}

	return Config{}, w.err
}

// WalkAll appends every configuration of the message to dst: LTE with NR beside
// it, or both cell groups of NR. Configurations found before an error are valid
// and are returned with it. Errors are as for Walk; ErrNoMAC only when nothing
// was found.
func WalkAll(channel Channel, payload []byte, dst []Config) ([]Config, error) {
	w := walker{reader: newReader(payload)}
	w.walk(channel)

	return append(dst, w.configs[:w.n]...), w.err
}

// walker is a reader that collects configurations.
type walker struct {
	reader
	configs [maxConfigs]Config
	n       int
}

// walk reads the whole message.
func (w *walker) walk(channel Channel) {
	switch channel {
	case LTECCCH:
		w.lteCCCH()
	case LTEDCCH:
		w.lteDCCH()
	case NRCCCH:
		w.nrCCCH()
	case NRDCCH:
		w.nrDCCH()
	case NRReconfiguration:
		w.nrReconfiguration()
	default:
		w.unmodelled("channel")
	}
	if w.n == 0 {
		w.fail(ErrNoMAC)
	}
}

// found adds c, which was read to its end.
func (w *walker) found(c Config) {
	if w.err == nil && w.n < maxConfigs {
		w.configs[w.n] = c
		w.n++
	}
}

// enter continues the walk inside an octet string; leave takes what it returns.
func (w *walker) enter() (outer reader) {
	inner := w.octets()
	outer = w.reader
	w.reader = inner

	return outer
}

// leave continues behind the octet string.
func (w *walker) leave(outer reader) {
	outer.err = w.err
	w.reader = outer
}
