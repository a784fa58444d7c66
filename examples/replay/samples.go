// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"io"

	"github.com/gbrcc/gbrcc/modemlink/source"
)

// samplePrinter is -json: samples as lines of a recording, with the name of the
// file in front when there are several.
type samplePrinter struct {
	w    io.Writer
	head []byte // replaces the opening brace
	buf  []byte
}

func newSamplePrinter(w io.Writer, file string) (*samplePrinter, error) {
	p := &samplePrinter{w: w, head: []byte("{")}
	if file == "" {
		return p, nil
	}
	name, err := json.Marshal(file)
	p.head = append(append([]byte(`{"file":`), name...), ',')

	return p, err
}

func (p *samplePrinter) batch(b *batch) error {
	for i := range b.samples {
		n := len(p.head) - 1
		p.buf = source.AppendLine(append(p.buf[:0], p.head[:n]...), &b.samples[i])
		p.buf[n] = p.head[n]
		if _, err := p.w.Write(p.buf); err != nil {
			return err
		}
	}

	return nil
}
