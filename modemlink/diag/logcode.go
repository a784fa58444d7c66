// SPDX-License-Identifier: MIT

package diag

import "strconv"

// LogCode is the number of a log packet's format.
type LogCode uint16

// Log codes with a parser.
const (
	// LogB060 is the LTE MAC configuration.
	LogB060 LogCode = 0xB060
	// LogB064 is LTE uplink transport blocks.
	LogB064 LogCode = 0xB064
	// LogB139 is the LTE PUSCH transmission report.
	LogB139 LogCode = 0xB139
)

// String returns the code as 0xB139.
func (c LogCode) String() string {
	const digits = "0123456789ABCDEF"

	return string([]byte{'0', 'x', digits[c>>12], digits[c>>8&15], digits[c>>4&15], digits[c&15]})
}

// Codes returns the log codes that ParseLog knows, ascending: what to enable
// in the modem.
func Codes() []LogCode { return []LogCode{LogB060, LogB064, LogB139} }

func (k Kind) String() string {
	switch k {
	case KindGrant:
		return "grant"
	case KindBSR:
		return "bsr"
	case KindConfig:
		return "config"
	default:
		return "kind(" + strconv.Itoa(int(k)) + ")"
	}
}

func (f Form) String() string {
	switch f {
	case FormShort:
		return "short"
	case FormLong:
		return "long"
	case FormTruncated:
		return "truncated"
	case FormLongTruncated:
		return "long_truncated"
	default:
		return "form(" + strconv.Itoa(int(f)) + ")"
	}
}

func (t Trigger) String() string {
	switch t {
	case TriggerUnknown:
		return "unknown"
	case TriggerPeriodic:
		return "periodic"
	case TriggerRegular:
		return "regular"
	case TriggerRetx:
		return "retx"
	case TriggerPadding:
		return "padding"
	default:
		return "trigger(" + strconv.Itoa(int(t)) + ")"
	}
}

func (r RAT) String() string {
	switch r {
	case LTE:
		return "lte"
	case NR:
		return "nr"
	default:
		return "rat(" + strconv.Itoa(int(r)) + ")"
	}
}
