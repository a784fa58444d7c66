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
	// LogB066 is the LTE uplink buffer status inside the phone.
	LogB066 LogCode = 0xB066
	// LogB067 is LTE uplink transmission statistics.
	LogB067 LogCode = 0xB067
	// LogB0C0 is LTE RRC messages.
	LogB0C0 LogCode = 0xB0C0
	// LogB139 is the LTE PUSCH transmission report.
	LogB139 LogCode = 0xB139
	// LogB16C is LTE downlink control information, of which the uplink grants.
	LogB16C LogCode = 0xB16C
	// LogB821 is NR RRC messages.
	LogB821 LogCode = 0xB821
	// LogB872 is NR uplink transport blocks.
	LogB872 LogCode = 0xB872
	// LogB873 is NR buffer status reports.
	LogB873 LogCode = 0xB873
	// LogB881 is NR uplink counters.
	LogB881 LogCode = 0xB881
	// LogB883 is the NR uplink schedule.
	LogB883 LogCode = 0xB883
	// LogB885 is NR downlink control information, of which the uplink grants.
	LogB885 LogCode = 0xB885
)

// String returns the code as 0xB139.
func (c LogCode) String() string {
	const digits = "0123456789ABCDEF"

	return string([]byte{'0', 'x', digits[c>>12], digits[c>>8&15], digits[c>>4&15], digits[c&15]})
}

// Codes returns the log codes that ParseLog knows, ascending.
func Codes() []LogCode {
	return []LogCode{
		LogB060, LogB064, LogB066, LogB067, LogB0C0, LogB139, LogB16C,
		LogB821, LogB872, LogB873, LogB881, LogB883, LogB885,
	}
}

func (k Kind) String() string {
	switch k {
	case KindGrant:
		return "grant"
	case KindBSR:
		return "bsr"
	case KindConfig:
		return "config"
	case KindBuffer:
		return "buffer"
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
