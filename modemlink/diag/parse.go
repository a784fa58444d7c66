// SPDX-License-Identifier: MIT

package diag

import "fmt"

// UnsupportedCodeError is a log code without a parser.
type UnsupportedCodeError struct{ Code LogCode }

func (e *UnsupportedCodeError) Error() string {
	return fmt.Sprintf("diag: %v: unsupported log code", e.Code)
}

// UnsupportedVersionError is a layout that is not known.
type UnsupportedVersionError struct {
	Code LogCode
	// Version is the packet's, or with Sub that of the sub-packet.
	Version uint32
	Sub     bool
}

func (e *UnsupportedVersionError) Error() string {
	what := "version"
	if e.Sub {
		what = "sub-version"
	}

	return fmt.Sprintf("diag: %v: unsupported %s %v", e.Code, what, NRVersion(e.Version))
}

// parser appends the records of a packet's body to dst. On error it may have
// appended some; ParseLog takes them away.
type parser func(p Packet, dst []Record) ([]Record, error)

// parserOf is the registry of log codes.
func parserOf(code LogCode) parser {
	switch code {
	case LogB060:
		return parseB060
	case LogB064:
		return parseB064
	case LogB066:
		return parseB066
	case LogB067:
		return parseB067
	case LogB0C0:
		return parseB0C0
	case LogB139:
		return parseB139
	case LogB16C:
		return parseB16C
	case LogB821:
		return parseB821
	case LogB872:
		return parseB872
	case LogB873:
		return parseB873
	case LogB881:
		return parseB881
	case LogB883:
		return parseB883
	case LogB885:
		return parseB885
	default:
		return nil
	}
}

// ParseLog appends the records of a packet to dst. On error dst comes back as
// it was: *UnsupportedCodeError, *UnsupportedVersionError, or an error that is
// ErrTruncated or ErrMalformed.
func ParseLog(p Packet, dst []Record) ([]Record, error) {
	parse := parserOf(p.Code)
	if parse == nil {
		return dst, &UnsupportedCodeError{Code: p.Code}
	}
	n := len(dst)
	dst, err := parse(p, dst)
	if err != nil {
		return dst[:n], err
	}

	return dst, nil
}

func truncated(code LogCode, what string) error {
	return fmt.Errorf("%w: %v: %s", ErrTruncated, code, what)
}

func malformed(code LogCode, what string, value int) error {
	return fmt.Errorf("%w: %v: %s %d", ErrMalformed, code, what, value)
}
