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

	return fmt.Sprintf("diag: %v: unsupported %s %d", e.Code, what, e.Version)
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
	case LogB139:
		return parseB139
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
