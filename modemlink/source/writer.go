// SPDX-License-Identifier: MIT

package source

import (
	"fmt"
	"io"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// Writer records telemetry as JSON lines that [File] replays: every sample as
// [AppendLine] writes it and, with lines that have a "kind", the grants, reports
// and configurations behind them; jq 'select(.kind == null)' leaves the samples.
// A sample that does not tell its radio gets the configuration's. t_ms counts
// from the first batch. Not safe for concurrent use.
type Writer struct {
	w      io.Writer
	buf    []byte
	epoch  time.Time
	config gbr.RadioConfig
	err    error
}

// NewWriter writes to w, one call a batch.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, config: gbr.RadioConfig{PCI: -1}} }

// Write records a batch that came out of the modem at now. An empty one leaves
// no trace. After an error every further call returns it.
func (w *Writer) Write(now time.Time, t gbr.Telemetry) error {
	if w.err != nil {
		return w.err
	}
	if w.epoch.IsZero() {
		w.epoch = now
	}
	w.buf = w.buf[:0]
	if t.Config != nil {
		w.config = *t.Config
		w.append(&Item{Kind: KindConfig}, now, now)
	}
	for _, r := range t.Reports {
		w.append(&Item{Kind: KindReport, Report: r}, now, r.At)
	}
	for _, g := range t.Grants {
		w.append(&Item{Kind: KindGrant, Grant: g}, now, g.At)
	}
	for _, s := range t.Samples {
		w.append(&Item{Kind: KindSample, Sample: s}, now, s.At)
	}
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.w.Write(w.buf); err != nil {
		w.err = fmt.Errorf("source: record: %w", err)
	}

	return w.err
}

// append adds an item that came out of the modem at out to the batch.
func (w *Writer) append(it *Item, out, at time.Time) {
	it.Out, it.At, it.Config = out.Sub(w.epoch), at.Sub(w.epoch), w.config
	w.buf = AppendLine(w.buf, it)
}
