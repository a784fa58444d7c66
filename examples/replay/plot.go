// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth, plotHeight = 28 * vg.Centimeter, 20 * vg.Centimeter
	// grantSpan is what grants are summed over.
	grantSpan = 100 * time.Millisecond
	// ratioFloor and ratioCeil are the edges of the ratio's panel; what is
	// beyond is drawn on them.
	ratioFloor, ratioCeil = 0.01, 10
)

// picture is -plot.
type picture struct {
	grants, events columns
	// fromSamples: the file has no reports, so the samples' are drawn.
	reports, fromSamples columns
}

func newPicture() *picture {
	const fine = time.Millisecond

	return &picture{
		grants: columns{width: grantSpan}, events: columns{width: fine},
		reports: columns{width: fine}, fromSamples: columns{width: fine},
	}
}

func (p *picture) batch(b *batch) {
	for _, g := range b.grants {
		p.grants.at(g.At).bytes += g.Grant.Bytes
	}
	for _, r := range b.reports {
		p.reports.at(r.At).report(r.Report.Low, max(r.Report.Low, r.Report.High))
	}
	for i := range b.samples {
		s := &b.samples[i]
		p.fromSamples.at(s.At).report(s.Sample.ReportedLow, s.Sample.Reported)
		if ratio, ok := s.Sample.Ratio(); ok {
			p.events.at(s.At).rate(ratio)
		}
	}
}

// save draws to a file, whole or not at all.
func (p *picture) save(path string, f *facts) error {
	if len(p.grants.cols)+len(p.reports.cols)+len(p.fromSamples.cols) == 0 {
		return f.in.errorf("nothing to draw: no grant, report or sample in it")
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".replay-*.svg")
	if err != nil {
		return fmt.Errorf("-plot: %w", fileError(path, err))
	}
	err = p.draw(tmp, f)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error matters

		return fmt.Errorf("-plot: %w", fileError(path, err))
	}

	return nil
}

func (p *picture) draw(w io.Writer, f *facts) error {
	backlog, err := p.backlogPanel()
	if err != nil {
		return err
	}
	grants, err := p.grantsPanel()
	if err != nil {
		return err
	}
	ratio, err := p.ratioPanel()
	if err != nil {
		return err
	}
	backlog.Title.Text = printable(filepath.Base(f.in.path)) + ": " + f.radioShort()
	ratio.X.Label.Text = "time since the beginning of the file, s"
	panels := [][]*plot.Plot{{backlog}, {grants}, {ratio}}
	shareTime(panels)
	c := vgsvg.New(plotWidth, plotHeight)
	tiles := draw.Tiles{
		Rows: len(panels), Cols: 1, PadY: vg.Millimeter * 3,
		PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter * 2, PadLeft: vg.Millimeter * 2, PadRight: vg.Millimeter * 4,
	}
	for i, row := range plot.Align(panels, tiles, draw.New(c)) {
		panels[i][0].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := c.WriteTo(&svg); err != nil {
		return err
	}
	// Where that font is not installed, another one without serifs.
	_, err = w.Write(bytes.ReplaceAll(svg.Bytes(), []byte("Liberation Sans"), []byte("Liberation Sans,Arial,sans-serif")))

	return err
}

// shareTime gives all panels the same axis of time.
func shareTime(panels [][]*plot.Plot) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range panels {
		lo, hi = min(lo, row[0].X.Min), max(hi, row[0].X.Max)
	}
	switch {
	case math.IsInf(lo, 0) || hi <= lo:
		hi = lo + 1
	case lo > 0 && lo < hi/20:
		lo = 0
	}
	for _, row := range panels {
		row[0].X.Min, row[0].X.Max = lo, hi
	}
}

func blue() color.Color  { return color.RGBA{R: 0x1F, G: 0x77, B: 0xB4, A: 0xFF} }
func pale() color.Color  { return color.RGBA{R: 0x9E, G: 0xC5, B: 0xE0, A: 0xFF} }
func green() color.Color { return color.RGBA{R: 0x2C, G: 0x8A, B: 0x3C, A: 0xFF} }
func red() color.Color   { return color.RGBA{R: 0xD6, G: 0x27, B: 0x28, A: 0xFF} }
func grey() color.Color  { return color.Gray{Y: 0xDD} }

func panel(y string) *plot.Plot {
	p := plot.New()
	p.Y.Label.Text = y
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = grey(), grey()
	p.Add(grid)
	p.Legend.Top = true
	p.Legend.ThumbnailWidth, p.Legend.Padding = vg.Millimeter*5, vg.Millimeter
	for _, f := range [...]*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
		&p.Legend.TextStyle.Font,
	} {
		f.Variant = "Sans"
	}

	return p
}

// backlogPanel is the lower and the upper edge of what the phone reported. A
// report holds until the next one.
func (p *picture) backlogPanel() (*plot.Plot, error) {
	panel := panel("reported backlog, kB")
	c := &p.reports
	if len(c.cols) == 0 {
		c = &p.fromSamples
	}
	var low, high plotter.XYs
	for i, col := range c.cols {
		if col.reported {
			low = append(low, plotter.XY{X: c.mid(i), Y: float64(col.low) / 1e3})
			high = append(high, plotter.XY{X: c.mid(i), Y: float64(col.high) / 1e3})
		}
	}
	for _, l := range [...]struct {
		name  string
		xys   plotter.XYs
		color color.Color
	}{{"upper edge of the bin", high, pale()}, {"lower edge", low, blue()}} {
		if err := addSteps(panel, l.name, l.xys, l.color); err != nil {
			return nil, err
		}
	}
	headroom(panel)
	if len(c.cols) == 0 {
		panel.Legend.Add("no report in the file")
	}

	return panel, nil
}

// grantsPanel is bytes of first transmissions.
func (p *picture) grantsPanel() (*plot.Plot, error) {
	panel := panel("granted, kB per 100 ms")
	var xys plotter.XYs
	c := &p.grants
	for i, col := range c.cols {
		xys = append(xys, plotter.XY{X: c.edge(i), Y: float64(col.bytes) / 1e3 * float64(grantSpan) / float64(c.width)})
	}
	if n := len(xys); n > 0 {
		xys = append(xys, plotter.XY{X: c.edge(n), Y: xys[n-1].Y})
	}
	name := "first transmissions"
	if c.width > grantSpan {
		name += fmt.Sprintf(", means of %v", c.width)
	}

	err := addSteps(panel, name, xys, green())
	headroom(panel)
	if len(xys) == 0 {
		panel.Legend.Add("no grant in the file")
	}

	return panel, err
}

// headroom makes room for the legend.
func headroom(panel *plot.Plot) {
	panel.Y.Min = 0
	if panel.Y.Max *= 1.25; !(panel.Y.Max > 0) {
		panel.Y.Max = 1
	}
}

func addSteps(panel *plot.Plot, name string, xys plotter.XYs, c color.Color) error {
	if len(xys) == 0 {
		return nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.StepStyle, line.Color, line.Width = plotter.PostStep, c, vg.Points(1)
	panel.Add(line)
	panel.Legend.Add(name, line)

	return nil
}

// ratioPanel is the least and the greatest ratio of each column, on a
// logarithmic axis.
func (p *picture) ratioPanel() (*plot.Plot, error) {
	panel := panel("ratio, granted / reported")
	panel.Y.Scale = plot.LogScale{}
	panel.Y.Tick.Marker = plot.ConstantTicks{
		{Value: 0.01, Label: "0.01"}, {Value: 0.1, Label: "0.1"}, {Value: 1, Label: "1"}, {Value: 10, Label: "10"},
	}
	panel.Y.Min, panel.Y.Max = ratioFloor, ratioCeil
	var points, starved plotter.XYs
	c := &p.events
	add := func(i int, v float64) {
		if v == 0 {
			starved = append(starved, plotter.XY{X: c.mid(i), Y: ratioFloor})
		} else {
			points = append(points, plotter.XY{X: c.mid(i), Y: min(max(v, ratioFloor), ratioCeil)})
		}
	}
	for i, col := range c.cols {
		if !col.rated {
			continue
		}
		add(i, col.least)
		if col.most != col.least {
			add(i, col.most)
		}
	}
	for _, s := range [...]struct {
		name  string
		xys   plotter.XYs
		color color.Color
	}{{"sample", points, blue()}, {"starved: reported, nothing granted", starved, red()}} {
		if len(s.xys) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(s.xys)
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Radius, dots.Shape = s.color, vg.Points(1.5), draw.CircleGlyph{}
		panel.Add(dots)
		panel.Legend.Add(s.name, dots)
	}
	// Adding widens the axes.
	panel.Y.Min, panel.Y.Max = ratioFloor, ratioCeil
	if len(points)+len(starved) == 0 {
		panel.Legend.Add("no sample in the file")
	}

	return panel, nil
}

// radioShort is the title's part about the radio.
func (f *facts) radioShort() string {
	s := strings.ToUpper(f.config.RAT.String())
	if f.config.Period > 0 {
		s += fmt.Sprintf(", T %d ms", f.config.Period.Milliseconds())
	}
	if f.config.Lag > 0 {
		s += fmt.Sprintf(", L %d ms", f.config.Lag.Milliseconds())
	}

	return s
}

// printable is a text that any XML can hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}

		return r
	}, s)
}
