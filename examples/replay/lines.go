// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"io"

	"github.com/gbrcc/gbrcc/modemlink/source"
)

// maxEventLine is a feedback report on very many packets.
const maxEventLine = 4 << 20

// readLines calls fn with every line that is not blank, and says which one is
// bad.
func (in *input) readLines(longest int, fn func(line []byte) error) error {
	lines := source.NewLineReader(in.r, longest)
	for {
		line, err := lines.Next()
		var long *source.LongLineError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			return in.errorf("%w", err)
		case err != nil:
			return in.readError(err)
		}
		if err := fn(line); err != nil {
			var out *outputError
			if errors.As(err, &out) {
				return err
			}

			return in.errorf("line %d: %w", lines.Line(), err)
		}
	}
}
