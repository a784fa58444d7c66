// SPDX-License-Identifier: MIT

package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line of a recording, bytes.
const MaxLine = 64 << 10

// LongLineError is a line that is longer than a [LineReader] takes.
type LongLineError struct {
	// Limit is the longest line, bytes.
	Limit int
}

func (e *LongLineError) Error() string {
	return fmt.Sprintf("a line is longer than %d KiB", e.Limit>>10)
}

// LineReader reads a recording, or another file of JSON lines, by lines. Not safe
// for concurrent use.
type LineReader struct {
	scan  *bufio.Scanner
	limit int
	n     int
}

// NewLineReader reads r. Lines are up to limit bytes, [MaxLine] in a recording.
func NewLineReader(r io.Reader, limit int) *LineReader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, min(4096, limit)), limit)

	return &LineReader{scan: s, limit: limit}
}

// Next returns the next line that is not blank, without the space around it, valid
// until the next call. The error is io.EOF at the end, a [LongLineError], or that
// of the underlying reader.
func (l *LineReader) Next() ([]byte, error) {
	for l.scan.Scan() {
		l.n++
		if data := bytes.TrimSpace(l.scan.Bytes()); len(data) > 0 {
			return data, nil
		}
	}
	switch err := l.scan.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		l.n++

		return nil, &LongLineError{Limit: l.limit}
	case err != nil:
		l.n++

		return nil, err
	}

	return nil, io.EOF
}

// Line is the number of the line that Next returned or failed at, from 1.
func (l *LineReader) Line() int { return l.n }

// UnmarshalLine is json.Unmarshal with errors for people: without the names of
// Go types.
func UnmarshalLine(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return fmt.Errorf("want a JSON object, not a %s", wrong.Value)
		}

		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	}

	return fmt.Errorf("not JSON: %w", err)
}
