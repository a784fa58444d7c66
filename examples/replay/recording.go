// SPDX-License-Identifier: MIT

package main

import (
	"fmt"

	"github.com/gbrcc/gbrcc/modemlink/source"
)

// recording reads the lines of a recording.
type recording struct {
	f     *facts
	sink  *sink
	batch batch
}

func newRecording(f *facts, s *sink) *recording { return &recording{f: f, sink: s} }

func (r *recording) line(data []byte) error {
	it, known, err := source.ParseLine(data)
	if err != nil {
		return err
	}
	if !known {
		r.f.line(fmt.Sprintf("%.20q", string(it.Kind)), false)

		return nil
	}
	kind := string(it.Kind)
	if it.Kind == source.KindSample {
		kind = "sample"
	}
	r.f.line(kind, true)
	r.batch.reset()
	r.batch.add(it)

	return output(r.sink.give(&r.batch))
}
