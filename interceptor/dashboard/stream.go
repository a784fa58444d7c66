// SPDX-License-Identifier: MIT

package dashboard

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// view is what one page has seen and what it is to be told next. Its slices are
// reused.
type view struct {
	opened            bool
	row, mark, change int

	// The update: copied under the lock, written down outside of it.
	reset    bool
	t, v     []float64
	marks    []mark
	changed  bool
	status   []status
	summary  summary
	finished bool
}

// update copies what is new for the page and tells whether there is anything.
// A page that fell behind the history begins anew.
func (d *Dashboard) update(p *view) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.reset = !p.opened || p.row < d.rows.oldest()
	p.opened = true
	if p.reset {
		p.row, p.mark, p.change = d.rows.oldest(), d.marked-len(d.marks), -1
	}
	p.t, p.v = d.rows.appendSince(p.row, p.t[:0], p.v[:0])
	p.marks = append(p.marks[:0], d.marks[max(0, len(d.marks)-(d.marked-p.mark)):]...)
	if p.changed = p.change != d.version; p.changed {
		// Never nil: an empty list takes the badges away, null would not.
		p.status = append(make([]status, 0, len(d.status)), d.status...)
		p.summary = d.summary // never changed in place
	}
	p.row, p.mark, p.change, p.finished = d.rows.n, d.marked, d.version, d.closed

	return p.reset || p.finished || p.changed || len(p.t) > 0 || len(p.marks) > 0
}

// appendJSON appends the update as one JSON object in one line:
//
//	page      title, panels, size of the history: the page begins anew
//	t         instants, seconds
//	v         a column for each series: a number, null for a gap, false for
//	          "no value here, the line goes on"
//	marks, status, summary, finished
func (p *view) appendJSON(b []byte, page json.RawMessage, cols int) ([]byte, error) {
	b = append(b, '{')
	if p.reset {
		b = append(append(append(b, `"page":`...), page...), ',')
	}
	b = append(b, `"t":[`...)
	for i, t := range p.t {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, t, 'f', 3, 64)
	}
	b = append(b, `],"v":[`...)
	for c := range cols {
		if c > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for i := range p.t {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, p.v[i*cols+c])
		}
		b = append(b, ']')
	}
	b = append(b, ']')
	if len(p.marks) > 0 {
		text, err := json.Marshal(p.marks)
		if err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		b = append(append(b, `,"marks":`...), text...)
	}
	if p.changed {
		text, err := json.Marshal(map[string]any{"status": p.status, "summary": p.summary})
		if err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		b = append(append(b, ','), text[1:len(text)-1]...)
	}
	if p.finished {
		b = append(b, `,"finished":true`...)
	}

	return append(b, '}'), nil
}

func appendValue(b []byte, v float64) []byte {
	switch {
	case v == absent():
		return append(b, "false"...)
	case math.IsNaN(v):
		return append(b, "null"...)
	default:
		return strconv.AppendFloat(b, v, 'g', 6, 64)
	}
}
