// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

const (
	// maxRecordingLine is that of package source, maxEventLine a feedback
	// report on very many packets.
	maxRecordingLine = 64 << 10
	maxEventLine     = 4 << 20
)

// readLines calls fn with every line that is not blank, and says which one is
// bad.
func (in *input) readLines(longest int, fn func(line []byte) error) error {
	scan := bufio.NewScanner(in.r)
	scan.Buffer(make([]byte, 0, 4096), longest)
	for n := 1; scan.Scan(); n++ {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := fn(line); err != nil {
			var out *outputError
			if errors.As(err, &out) {
				return err
			}

			return in.errorf("line %d: %w", n, err)
		}
	}
	switch err := scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return in.errorf("a line is longer than %d KiB", longest>>10)
	case err != nil:
		return in.readError(err)
	}

	return nil
}

// jsonError says it without the names of Go types.
func jsonError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return fmt.Errorf("want a JSON object, not a %s", wrong.Value)
		}

		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	}

	return fmt.Errorf("not JSON: %w", err)
}
