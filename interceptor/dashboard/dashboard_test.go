// SPDX-License-Identifier: MIT

package dashboard

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// two is a dashboard with one panel and the columns a.x and b.x.
func two(t testing.TB, opts ...Option) *Dashboard {
	t.Helper()
	d, err := New("two", []Panel{{Title: "X", Unit: "ms", Series: []Series{{Key: "a.x"}, {Key: "b.x"}}}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)

	return d
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// message is what the page reads.
type message struct {
	Page *struct {
		Title   string
		History int
		Panels  []struct {
			Title, Unit string
			Series      []struct {
				Key, Label, Color string
				Col               int
			}
		}
	}
	T        []float64
	V        [][]any // float64, nil for a gap, false for "goes on"
	Marks    []mark
	Status   *[]status
	Summary  *summary
	Finished bool
}

// next returns what a page is told, and whether it is told anything.
func next(t *testing.T, d *Dashboard, p *view) (message, bool) {
	t.Helper()
	if !d.update(p) {
		return message{}, false
	}
	b, err := p.appendJSON(nil, d.panels, len(d.index))
	if err != nil {
		t.Fatal(err)
	}

	return decode(t, b), true
}

func decode(t *testing.T, b []byte) message {
	t.Helper()
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v in %s", err, b)
	}

	return m
}

func TestNewRefuses(t *testing.T) {
	series := func(s ...Series) []Panel { return []Panel{{Title: "x", Series: s}} }
	for name, panels := range map[string][]Panel{
		"a panel without series": {{Title: "x"}},
		"an empty key":           series(Series{Label: "x"}),
		"a key used twice":       append(series(Series{Key: "x"}), series(Series{Key: "x"})...),
		"an unknown colour":      series(Series{Key: "x", Color: "mauve"}),
		"CSS for a colour":       series(Series{Key: "x", Color: "#fff;} body{"}),
		"a limit that is NaN":    {{Limit: math.NaN(), Series: []Series{{Key: "x"}}}},
		"an infinite maximum":    {{Max: math.Inf(1), Series: []Series{{Key: "x"}}}},
	} {
		if _, err := New("t", panels); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, want ErrConfig", name, err)
		}
	}
	if _, err := New("t", nil, WithHistory(1)); !errors.Is(err, ErrConfig) {
		t.Errorf("history of 1: error %v, want ErrConfig", err)
	}
}

func TestFirstUpdateDescribesThePage(t *testing.T) {
	d, err := New("call", []Panel{
		{Title: "Rate", Unit: "Mbit/s", Series: []Series{{Key: "a.r", Label: "A", Color: "#12ab9F"}, {Key: "b.r", Color: Grey}}},
		{Title: "Delay", Unit: "ms", Series: []Series{{Key: "a.d"}}},
	}, WithHistory(77))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var p view
	m, ok := next(t, d, &p)
	if !ok || m.Page == nil || m.Page.Title != "call" || m.Page.History != 77 || len(m.Page.Panels) != 2 {
		t.Fatalf("first update: %+v", m)
	}
	s := m.Page.Panels[1].Series[0]
	if s.Key != "a.d" || s.Col != 2 || s.Color != string(Blue) {
		t.Errorf("series of the second panel: %+v, want a.d in column 2, blue by default", s)
	}
	if len(m.V) != 3 {
		t.Errorf("%d columns, want 3", len(m.V))
	}
	if m, ok := next(t, d, &p); ok {
		t.Errorf("nothing happened, but the page is told %+v", m)
	}
}

func TestPushValues(t *testing.T) {
	d := two(t)
	for _, p := range []struct {
		at     float64
		values map[string]float64
	}{
		{10, map[string]float64{"a.x": 1, "b.x": 10}}, // second 0 of the page
		{10.5, map[string]float64{"a.x": 2}},          // b goes on
		{11, map[string]float64{"a.x": 3}},            // b was left out for just a second
		{11.1, map[string]float64{"a.x": 4}},          // and now for longer: a gap
		{11.2, map[string]float64{"b.x": math.NaN()}}, // a gap on purpose
		{11.3, map[string]float64{"a.x": math.Inf(1), "b.x": math.Inf(-1)}},
		{11.2, map[string]float64{"a.x": -5, "c.x": 9}}, // the past, and a key nobody knows
		{11.4, map[string]float64{"b.x": 1234567.8}},
	} {
		d.Push(at(p.at), p.values)
	}
	var p view
	m, _ := next(t, d, &p)
	if want := []float64{0, .5, 1, 1.1, 1.2, 1.3, 1.3, 1.4}; !reflect.DeepEqual(m.T, want) {
		t.Errorf("times %v s, want %v s", m.T, want)
	}
	want := [][]any{
		{1., 2., 3., 4., false, nil, -5., false},
		{10., false, false, nil, nil, nil, false, 1.23457e6},
	}
	if !reflect.DeepEqual(m.V, want) {
		t.Errorf("got  %v\nwant %v", m.V, want)
	}
}

func TestUpdatesHoldOnlyNews(t *testing.T) {
	d := two(t)
	d.Push(at(0), map[string]float64{"a.x": 1})
	d.Event(at(0), "one")
	d.SetStatus("a", "dual")
	var early, late view
	if m, _ := next(t, d, &early); len(m.T) != 1 || len(m.Marks) != 1 || len(*m.Status) != 1 {
		t.Fatalf("first update: %+v", m)
	}
	d.Push(at(.5), map[string]float64{"a.x": 2})
	d.Event(at(.5), "two")
	m, _ := next(t, d, &early)
	if m.Page != nil || !reflect.DeepEqual(m.T, []float64{.5}) || !reflect.DeepEqual(m.Marks, []mark{{.5, "two"}}) || m.Status != nil {
		t.Errorf("second update: %+v, want one row, one mark and no page", m)
	}
	if m, _ := next(t, d, &late); m.Page == nil || len(m.T) != 2 || len(m.Marks) != 2 || len(*m.Status) != 1 {
		t.Errorf("a page that comes late gets %+v, want all", m)
	}
	d.SetStatus("a", "dual") // no news
	if m, ok := next(t, d, &early); ok {
		t.Errorf("the same status again is told as %+v", m)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	d := two(t, WithHistory(100))
	var p view
	next(t, d, &p)
	push := func(from, to int) {
		for i := from; i < to; i++ {
			d.Push(at(float64(i)), map[string]float64{"a.x": float64(i)})
			d.Event(at(float64(i)), "x")
		}
	}
	push(0, 100)
	if m, _ := next(t, d, &p); m.Page != nil || len(m.T) != 100 {
		t.Errorf("a page that kept up: %d rows, anew %v, want 100 and no", len(m.T), m.Page != nil)
	}
	push(100, 1000)
	m, _ := next(t, d, &p)
	if m.Page == nil || len(m.T) != 100 || m.T[0] != 900 || m.V[0][99] != 999. {
		t.Errorf("a page that fell behind: anew %v, %d rows from %v s, want yes, 100, 900 s", m.Page != nil, len(m.T), m.T[0])
	}
	if len(m.Marks) != maxMarks || m.Marks[maxMarks-1].T != 999 {
		t.Errorf("%d marks, want the newest %d", len(m.Marks), maxMarks)
	}
}

func TestStatusAndSummary(t *testing.T) {
	d := two(t)
	d.SetStatus("b", "")
	d.SetStatus("a", "one")
	d.SetStatus("b", "two")
	d.SetStatus("a", "three")
	rows := [][]string{{"a", "4.6"}}
	d.SetSummary([]string{"cc", "Mbit/s"}, rows)
	rows[0][1] = "changed by the caller"
	var p view
	m, _ := next(t, d, &p)
	if want := []status{{"a", "three"}, {"b", "two"}}; !reflect.DeepEqual(*m.Status, want) {
		t.Errorf("status %v, want %v", *m.Status, want)
	}
	if want := (summary{[]string{"cc", "Mbit/s"}, [][]string{{"a", "4.6"}}}); !reflect.DeepEqual(*m.Summary, want) {
		t.Errorf("summary %v, want %v", *m.Summary, want)
	}
	d.SetStatus("a", "")
	if m, _ := next(t, d, &p); !reflect.DeepEqual(*m.Status, []status{{"b", "two"}}) {
		t.Errorf("status %v, want only b", *m.Status)
	}
}

func TestNothingAfterClose(t *testing.T) {
	d := two(t, WithStart(at(-1)))
	d.Push(at(0), map[string]float64{"a.x": 1})
	d.Close()
	d.Close()
	d.Push(at(1), map[string]float64{"a.x": 2})
	d.Event(at(1), "late")
	d.SetStatus("a", "late")
	d.SetSummary([]string{"late"}, [][]string{{"late"}})
	var p view
	m, _ := next(t, d, &p)
	if !m.Finished || !reflect.DeepEqual(m.T, []float64{1}) || len(m.Marks) > 0 || len(*m.Status) > 0 || len(m.Summary.Rows) > 0 {
		t.Errorf("after Close: %+v, want one row at 1 s, finished", m)
	}
}

// One event is one line, or a text could end it and begin another.
func TestTextStaysInItsLine(t *testing.T) {
	d := two(t)
	text := "a\n\ndata: {}\r\n</script>\x00\xff"
	d.Event(at(0), text)
	d.SetStatus(text, text)
	d.SetSummary([]string{text}, [][]string{{text}})
	var p view
	d.update(&p)
	b, err := p.appendJSON(nil, d.panels, len(d.index))
	if err != nil || strings.ContainsAny(string(b), "\r\n") {
		t.Fatalf("%v, %q", err, b)
	}
	if m := decode(t, b); m.Marks[0].Text != strings.ToValidUTF8(text, "\ufffd") {
		t.Errorf("text came back as %q", m.Marks[0].Text)
	}
}

func TestPushDoesNotAllocate(t *testing.T) {
	d := two(t)
	values := map[string]float64{"a.x": 1, "b.x": 2}
	now := start
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(10 * time.Millisecond)
		d.Push(now, values)
	}); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

func BenchmarkPush(b *testing.B) {
	d := two(b)
	values := map[string]float64{"a.x": 1, "b.x": 2}
	b.ReportAllocs()
	for b.Loop() {
		d.Push(start, values)
	}
}

// BenchmarkReplay is what a page costs that connects to a full history.
func BenchmarkReplay(b *testing.B) {
	d := two(b)
	for i := range defaultHistory {
		d.Push(at(float64(i)/10), map[string]float64{"a.x": float64(i) / 3, "b.x": float64(i) / 7})
	}
	b.ReportAllocs()
	for b.Loop() {
		var p view
		d.update(&p)
		if _, err := p.appendJSON(nil, d.panels, len(d.index)); err != nil {
			b.Fatal(err)
		}
	}
}
