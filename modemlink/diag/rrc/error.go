// SPDX-License-Identifier: MIT

package rrc

import "errors"

// Errors of a walk. None of them quotes the message.
var (
	// ErrNoMAC says that the message was understood and has no MAC
	// configuration: what was in force stays in force.
	ErrNoMAC = errors.New("rrc: no MAC configuration in the message")
	// ErrSkipped matches every SkippedError.
	ErrSkipped = errors.New("rrc: not walked")
	// ErrTruncated says that the message ends before the walk does.
	ErrTruncated = errors.New("rrc: message truncated")
	// ErrMalformed says that a value is out of its range.
	ErrMalformed = errors.New("rrc: message malformed")
)

// SkippedError says that the walk stopped at something that is not modelled.
// It matches ErrSkipped.
type SkippedError struct {
	// Field is the name of the message or field in the ASN.1 module. The set of
	// names is small and fixed, so it is fit to count by.
	Field string
}

func (e *SkippedError) Error() string { return "rrc: not walked: " + e.Field }

// Is reports whether target is ErrSkipped.
func (e *SkippedError) Is(target error) bool { return target == ErrSkipped }
