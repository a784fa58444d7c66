// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// kind is what a file is.
type kind uint8

const (
	// kindCapture is the bytes of a diagnostic port.
	kindCapture kind = iota
	// kindRecording is JSON lines of source.Writer.
	kindRecording
	// kindEvents is JSON lines of interceptor.EventLog.
	kindEvents
)

// input is an open file, after gunzip.
type input struct {
	path   string
	file   *os.File
	kind   kind
	format diag.Format // of a capture
	gzip   bool
	r      *bufio.Reader
}

// open opens a file and finds out what it is.
func open(path string) (*input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	in := &input{path: path, file: f}
	if err := in.sniff(); err != nil {
		in.close()

		return nil, err
	}

	return in, nil
}

func (in *input) close() { _ = in.file.Close() } // only read from

func (in *input) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", in.path, fmt.Errorf(format, args...))
}

// fileError is an error of the operating system, with the path once.
func fileError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}

	return fmt.Errorf("%s: %w", path, err)
}

// readError says what went wrong while reading.
func (in *input) readError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case in.gzip && errors.Is(err, io.ErrUnexpectedEOF):
		return in.errorf("the gzip data are cut off")
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return in.errorf("the gzip data are damaged")
	default:
		return fileError(in.path, err)
	}
}

func (in *input) sniff() error {
	info, err := in.file.Stat()
	if err != nil {
		return fileError(in.path, err)
	}
	if info.IsDir() {
		return in.errorf("is a directory")
	}
	in.r = bufio.NewReaderSize(in.file, diag.SniffLen)
	if magic, _ := in.r.Peek(2); bytes.Equal(magic, []byte{0x1F, 0x8B}) { // RFC 1952 2.3.1
		in.gzip = true
		z, err := gzip.NewReader(in.r)
		if err != nil {
			return in.readError(err)
		}
		in.r = bufio.NewReaderSize(z, diag.SniffLen)
	}
	head, err := in.r.Peek(diag.SniffLen)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return in.readError(err)
	case len(head) == 0:
		return in.errorf("is empty")
	}
	if text := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(text, []byte("{")) {
		return in.sniffJSON(text)
	}
	var ok bool
	if in.format, ok = diag.Sniff(head); !ok {
		return in.errorf("is neither a modem capture nor a recording")
	}

	return nil
}

// sniffJSON tells recordings and event logs apart by their first line.
func (in *input) sniffJSON(text []byte) error {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	var l struct {
		TMs  *json.RawMessage `json:"t_ms"`
		Time *json.RawMessage `json:"time"`
		Name string           `json:"name"`
	}
	err := json.Unmarshal(line, &l)
	switch {
	case err == nil && l.TMs != nil:
		in.kind = kindRecording
	case err == nil && l.Time != nil && l.Name != "":
		in.kind = kindEvents
	case err != nil && !whole && len(text) >= diag.SniffLen/2:
		return in.errorf("line 1 is longer than any recording's")
	case err != nil:
		return in.errorf("line 1 is no JSON object, and the file is no modem capture")
	default:
		return in.errorf(`line 1 is of no recording: it has neither "t_ms" nor "time" and "name"`)
	}

	return nil
}

// what names the file's kind for people.
func (in *input) what() string {
	s := "modem capture (" + in.format.String()
	switch in.kind {
	case kindRecording:
		s = "recording (JSON lines"
	case kindEvents:
		s = "event log (JSON lines"
	case kindCapture:
	}
	if in.gzip {
		s += ", gzip"
	}

	return s + ")"
}

// read reads the whole file into f and s.
func (in *input) read(f *facts, s *sink) error {
	switch in.kind {
	case kindRecording:
		return in.lines(f, source.MaxLine, newRecording(f, s).line)
	case kindEvents:
		return in.lines(f, maxEventLine, newEvents(f, s).line)
	case kindCapture:
	}

	return newCapture(f, s).read(in)
}

// lines reads JSON lines, of which at least one is to be understood.
func (in *input) lines(f *facts, longest int, fn func([]byte) error) error {
	if err := in.readLines(longest, fn); err != nil {
		return err
	}
	if len(f.lines) == 0 {
		return in.errorf("nothing in this %s is telemetry", in.what())
	}

	return nil
}

// check reads a file through whose errors show only along the way, so that
// nothing is printed of a bad one. A pipe can be read only once.
func check(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	in, err := open(path)
	if err != nil {
		return err
	}
	defer in.close()
	switch {
	case in.kind == kindCapture && !in.gzip:
		return nil
	case in.kind == kindCapture:
		if _, err := io.Copy(io.Discard, in.r); err != nil {
			return in.readError(err)
		}

		return nil
	default:
		return in.read(newFacts(in), &sink{})
	}
}

// notTheSame refuses to write over the input.
func (in *input) notTheSame(path string) error {
	a, err := in.file.Stat()
	if err != nil {
		return fileError(in.path, err)
	}
	if b, err := os.Stat(path); err == nil && os.SameFile(a, b) {
		return in.errorf("-plot would write over it")
	}

	return nil
}
