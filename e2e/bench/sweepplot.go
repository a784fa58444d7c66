// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// sweepPlot is one key's picture: what each algorithm that looks at the key does
// in each class over its values, which are at equal distances.
type sweepPlot struct {
	key, doc string
	values   []string
	lines    []sweepLine
}

// sweepLine is an algorithm in a class: goodput as a share of the clairvoyant's,
// and playout latency p95 in ms.
type sweepLine struct {
	cc, class    string
	goodput, p95 []float64
}

// sweepPlots are the pictures of all that is swept over one key, in its order.
func sweepPlots(o options, records []record) []sweepPlot {
	var plots []sweepPlot
	t := byClass(records)
	for _, cc := range o.cc {
		axes := o.axes(cc)
		if len(axes) != 1 || axes[0].param.key == without { // what is left out has no order
			continue
		}
		axis := axes[0]
		at := slices.IndexFunc(plots, func(p sweepPlot) bool { return p.key == axis.param.key })
		if at < 0 {
			at = len(plots)
			p := sweepPlot{key: axis.param.key, doc: axis.param.doc}
			for _, v := range axis.values {
				p.values = append(p.values, axis.param.word(v))
			}
			plots = append(plots, p)
		}
		for _, class := range t.classes {
			l := sweepLine{cc: cc, class: class}
			for _, v := range o.variants(cc) {
				if f, ok := t.at(class, v); ok && !math.IsInf(f.p95, 0) {
					l.goodput, l.p95 = append(l.goodput, f.goodput), append(l.p95, f.p95)
				}
			}
			if len(l.goodput) == len(axis.values) {
				plots[at].lines = append(plots[at].lines, l)
			}
		}
	}

	return slices.DeleteFunc(plots, func(p sweepPlot) bool { return len(p.lines) == 0 || len(p.values) < 2 })
}

// svg draws it: goodput on the left, latency on the right. Algorithms differ in
// colour, classes in how the line is broken.
func (p sweepPlot) svg() ([]byte, error) {
	colors := []color.Color{
		color.RGBA{0x1f, 0x6f, 0xb5, 0xff},
		color.RGBA{0xd9, 0x6b, 0x0b, 0xff},
		color.RGBA{0x77, 0x47, 0xa8, 0xff},
		color.RGBA{0x2c, 0x8a, 0x4b, 0xff},
		color.RGBA{0xb8, 0x2e, 0x3c, 0xff},
		color.RGBA{0x66, 0x66, 0x66, 0xff},
	}
	dashes := [][]vg.Length{nil, {vg.Points(5), vg.Points(3)}, {vg.Points(1.5), vg.Points(2)}, {vg.Points(7), vg.Points(2), vg.Points(1), vg.Points(2)}}
	goodput, late, legend := plot.New(), plot.New(), plot.NewLegend()
	goodput.Title.Text, late.Title.Text = "goodput / the clairvoyant's", "playout latency p95, ms"
	var ccs, classes []string
	for _, l := range p.lines {
		if !slices.Contains(ccs, l.cc) {
			ccs = append(ccs, l.cc)
		}
		if !slices.Contains(classes, l.class) {
			classes = append(classes, l.class)
		}
		for _, side := range []struct {
			panel  *plot.Plot
			values []float64
		}{{goodput, l.goodput}, {late, l.p95}} {
			var xys plotter.XYs
			for i, v := range side.values {
				xys = append(xys, plotter.XY{X: float64(i), Y: v})
			}
			line, dots, err := plotter.NewLinePoints(xys)
			if err != nil {
				return nil, err
			}
			line.Color = colors[slices.Index(ccs, l.cc)%len(colors)]
			line.Width, line.Dashes = vg.Points(1.5), dashes[slices.Index(classes, l.class)%len(dashes)]
			dots.Color, dots.Shape, dots.Radius = line.Color, draw.CircleGlyph{}, vg.Points(2)
			side.panel.Add(line, dots)
			if side.panel == goodput {
				legend.Add(l.cc+", "+l.class, line)
			}
		}
	}
	for _, panel := range []*plot.Plot{goodput, late} {
		panel.X.Label.Text, panel.Y.Min = p.key, 0
		var ticks []plot.Tick
		for i, v := range p.values {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: v})
		}
		panel.X.Tick.Marker, panel.X.Padding = plot.ConstantTicks(ticks), vg.Points(6)
	}
	c := vgsvg.New(26*vg.Centimeter, 7*vg.Centimeter)
	all := draw.New(c)
	// Beside the panels: within one of them some line crosses it.
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	legend.Draw(draw.Crop(all, 22*vg.Centimeter, 0, 0, -6*vg.Millimeter))
	panels := [][]*plot.Plot{{goodput, late}}
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: 6 * vg.Millimeter, PadTop: vg.Millimeter, PadBottom: vg.Millimeter, PadLeft: vg.Millimeter, PadRight: 3 * vg.Millimeter}
	for i, canvas := range plot.Align(panels, tiles, draw.Crop(all, 0, -4*vg.Centimeter, 0, 0))[0] {
		panels[0][i].Draw(canvas)
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	// One without serifs, as in the pictures of replay, where the browser has it.
	return bytes.ReplaceAll(b.Bytes(), []byte("Liberation Serif"), []byte("Liberation Sans,Arial,sans-serif")), nil
}
