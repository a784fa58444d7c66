// SPDX-License-Identifier: MIT

package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"
	"time"
)

// ErrConfig is wrapped by every error of New.
var ErrConfig = errors.New("dashboard: bad configuration")

// Color is one of the named colours, which have a shade for a light and one for
// a dark page, or "#rrggbb".
type Color string

// Colours that can be told apart next to each other.
const (
	Blue   Color = "blue"
	Orange Color = "orange"
	Grey   Color = "grey"
	Green  Color = "green"
	Purple Color = "purple"
	Red    Color = "red"
	Teal   Color = "teal"
)

// Series is one line.
type Series struct {
	// Key names the values in Push, Label the line in the legend.
	Key, Label string
	// Color is the next one of the palette when empty.
	Color Color
	// Fill shades the area below the line; filled series lie behind others.
	Fill bool
	// Dash draws a dashed line.
	Dash bool
}

// Panel is one chart. Its vertical axis begins at zero, or at the lowest value
// when that is negative.
type Panel struct {
	Title, Unit string
	Series      []Series
	// Max, when not zero, is what the vertical axis reaches at least, Limit
	// what it reaches at most: higher values leave the chart at the top.
	Max, Limit float64
}

// Dashboard holds what is shown. Make one with New.
type Dashboard struct {
	panels json.RawMessage // title, panels and size of the history, for the page
	index  map[string]int  // key -> column
	done   chan struct{}   // closed by Close

	mu      sync.Mutex
	start   time.Time
	rows    history
	lastOf  []float64 // column -> time of its last value
	marks   []mark
	marked  int // marks ever made
	status  []status
	summary summary
	// version counts changes of status and summary.
	version int
	closed  bool
	streams int
	drained chan struct{} // closed when closed and no stream is left
}

type mark struct {
	T    float64 `json:"t"`
	Text string  `json:"text"`
}

type status struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

type summary struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

const (
	defaultHistory = 6000 // ten minutes at 10 Hz
	maxMarks       = 500
	// A series without a value for longer than gapAfter seconds has a gap
	// there, so that a line never pretends to know.
	gapAfter = 1.0
	// Close waits this long for the pages to hear the end.
	closeWait = time.Second
)

// Option changes a default.
type Option func(*config) error

type config struct {
	history int
	start   time.Time
}

// WithHistory keeps the newest n values of every series; the default is 6000.
func WithHistory(n int) Option {
	return func(c *config) error {
		if n < 2 {
			return fmt.Errorf("%w: history of %d", ErrConfig, n)
		}
		c.history = n

		return nil
	}
}

// WithStart sets the instant that the page calls zero; the default is that of
// the first Push or Event.
func WithStart(at time.Time) Option {
	return func(c *config) error {
		c.start = at

		return nil
	}
}

// New returns a dashboard with the given panels, from top to bottom. It fails
// with ErrConfig on a key that is empty or used twice, a panel without series
// and an unknown colour.
func New(title string, panels []Panel, opts ...Option) (*Dashboard, error) {
	c := config{history: defaultHistory}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, err
		}
	}
	d := &Dashboard{
		index:   map[string]int{},
		done:    make(chan struct{}),
		drained: make(chan struct{}),
		start:   c.start,
	}
	page, err := d.layout(title, panels, c.history)
	if err != nil {
		return nil, err
	}
	d.panels = page
	d.rows = newHistory(len(d.index), c.history)
	d.lastOf = make([]float64, len(d.index))
	for i := range d.lastOf {
		d.lastOf[i] = math.Inf(-1)
	}

	return d, nil
}

// layout checks the panels, fills the index and describes all to the page.
func (d *Dashboard) layout(title string, panels []Panel, history int) (json.RawMessage, error) {
	type seriesJSON struct {
		Key   string `json:"key"`
		Label string `json:"label"`
		Color Color  `json:"color"`
		Fill  bool   `json:"fill"`
		Dash  bool   `json:"dash"`
		Col   int    `json:"col"`
	}
	type panelJSON struct {
		Title  string       `json:"title"`
		Unit   string       `json:"unit"`
		Max    float64      `json:"max"`
		Limit  float64      `json:"limit"`
		Series []seriesJSON `json:"series"`
	}
	named := []Color{Blue, Orange, Green, Purple, Teal, Red, Grey}
	hex := regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	out := make([]panelJSON, 0, len(panels))
	for _, p := range panels {
		if len(p.Series) == 0 {
			return nil, fmt.Errorf("%w: panel %q has no series", ErrConfig, p.Title)
		}
		if !finite(p.Max) || !finite(p.Limit) {
			return nil, fmt.Errorf("%w: panel %q: Max %v, Limit %v", ErrConfig, p.Title, p.Max, p.Limit)
		}
		pj := panelJSON{Title: p.Title, Unit: p.Unit, Max: p.Max, Limit: p.Limit}
		for i, s := range p.Series {
			if _, twice := d.index[s.Key]; twice || s.Key == "" {
				return nil, fmt.Errorf("%w: key %q is empty or used twice", ErrConfig, s.Key)
			}
			if s.Color == "" {
				s.Color = named[i%len(named)]
			}
			if !slices.Contains(named, s.Color) && !hex.MatchString(string(s.Color)) {
				return nil, fmt.Errorf("%w: unknown colour %q of %q", ErrConfig, s.Color, s.Key)
			}
			col := len(d.index)
			d.index[s.Key] = col
			pj.Series = append(pj.Series, seriesJSON{s.Key, s.Label, s.Color, s.Fill, s.Dash, col})
		}
		out = append(out, pj)
	}

	page, err := json.Marshal(map[string]any{"title": title, "panels": out, "history": history})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}

	return page, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Push adds values at an instant. A value that is NaN or infinite is a gap in
// its line; a key that is left out keeps its line going until it has been left
// out for a second, so that several goroutines can each push their own keys.
// Unknown keys are ignored; an instant before the newest one is taken for the
// newest one. The map is not kept. Push does not block and does not allocate.
func (d *Dashboard) Push(at time.Time, values map[string]float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	t := d.since(at)
	if d.rows.n > 0 {
		t = max(t, d.rows.last())
	}
	row := d.rows.push(t)
	for i := range row {
		row[i] = absent()
		if t-d.lastOf[i] > gapAfter {
			row[i] = math.NaN()
		}
	}
	for k, v := range values {
		i, ok := d.index[k]
		if !ok {
			continue
		}
		d.lastOf[i] = t
		if !finite(v) {
			v = math.NaN()
		}
		row[i] = v
	}
}

// Event marks an instant, such as "telemetry lost", on all charts and in a list.
// The newest 500 are kept.
func (d *Dashboard) Event(at time.Time, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if len(d.marks) == maxMarks {
		d.marks = append(d.marks[:0], d.marks[1:]...)
	}
	d.marks = append(d.marks, mark{d.since(at), text})
	d.marked++
}

// SetStatus shows a badge, such as the mode of the controller called key. An
// empty text takes it away. Badges stay in the order of their first use.
func (d *Dashboard) SetStatus(key, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.status, func(s status) bool { return s.Key == key })
	switch {
	case d.closed || i >= 0 && d.status[i].Text == text || i < 0 && text == "":
		return
	case text == "":
		d.status = slices.Delete(d.status, i, i+1)
	case i < 0:
		d.status = append(d.status, status{key, text})
	default:
		d.status[i].Text = text
	}
	d.version++
}

// SetSummary shows a table above the charts: the result of a run, one row for
// each controller, whose name is the first cell.
func (d *Dashboard) SetSummary(columns []string, rows [][]string) {
	s := summary{Columns: slices.Clone(columns)}
	for _, r := range rows {
		s.Rows = append(s.Rows, slices.Clone(r))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.summary = s
	d.version++
}

// Close ends the run: pages get what they have not seen and say that it is
// finished, and their streams end. It waits for them, for a second at most. The
// handler goes on serving the final state; other calls have no effect any more.
// Calling Close again does nothing.
func (d *Dashboard) Close() {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()

		return
	}
	d.closed = true
	close(d.done)
	if d.streams == 0 {
		close(d.drained)
	}
	d.mu.Unlock()

	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-d.drained:
	case <-timer.C:
	}
}

// since returns seconds since the start; the first caller sets it.
func (d *Dashboard) since(at time.Time) float64 {
	if d.start.IsZero() {
		d.start = at
	}

	return at.Sub(d.start).Seconds()
}
