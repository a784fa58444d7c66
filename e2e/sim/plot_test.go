// SPDX-License-Identifier: MIT

package sim_test

import (
	"bytes"
	"flag"
	"image/color"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

var plotDir = flag.String("plot", "", "draw each golden scenario into an SVG file in this folder")

// plotEvery is what a point of a picture sums up.
const plotEvery = 200 * time.Millisecond

// plotted are the algorithms in a picture.
func plotted() []string { return []string{"gbrcc", "gcc", "causal"} }

// TestPlot draws. Without -plot it draws one short run, to see that it can.
func TestPlot(t *testing.T) {
	if *plotDir == "" {
		picture(t, scenario(t, "step-3-1-3", 20*time.Second), t.TempDir())

		return
	}
	if err := os.MkdirAll(*plotDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, sc := range representative(t) {
		sc.Duration = goldenDuration
		t.Log(picture(t, sc, *plotDir))
	}
}

// picture draws rate against capacity, queue, playout latency and freezes of a
// scenario.
func picture(t *testing.T, sc sim.Scenario, dir string) string {
	t.Helper()
	panels := []struct {
		label string
		value func(p sim.Point) float64
	}{
		{"goodput, Mbit/s", func(p sim.Point) float64 { return float64(p.GoodputBps) / 1e6 }},
		{"pacer and phone, ms", func(p sim.Point) float64 { return p.SenderDelay.Seconds() * 1000 }},
		{"playout, ms", func(p sim.Point) float64 { return p.Playout.Seconds() * 1000 }},
		{"frozen", func(p sim.Point) float64 { return p.Frozen.Seconds() / plotEvery.Seconds() }},
	}
	plots := make([]*plot.Plot, len(panels))
	for i, p := range panels {
		plots[i] = plot.New()
		plots[i].Y.Label.Text = p.label
		plots[i].Y.Min = 0
		plots[i].Add(plotter.NewGrid())
	}
	plots[0].Title.Text = sc.Name + ": " + sc.Doc
	plots[len(plots)-1].X.Label.Text = "s"
	plots[0].Legend.Top = true
	colors := []color.Color{color.RGBA{R: 0xd6, G: 0x27, B: 0x28, A: 0xff}, color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}, color.RGBA{R: 0x2c, G: 0xa0, B: 0x2c, A: 0xff}}
	line := func(pl *plot.Plot, points []sim.Point, c color.Color, value func(sim.Point) float64) *plotter.Line {
		xys := make(plotter.XYs, len(points))
		for i, p := range points {
			xys[i].X, xys[i].Y = p.At.Seconds(), value(p)
		}
		l, err := plotter.NewLine(xys)
		if err != nil {
			t.Fatal(err)
		}
		l.Color = c
		pl.Add(l)

		return l
	}
	for n, cc := range plotted() {
		_, points := observe(t, sc, cc, plotEvery)
		if n == 0 {
			capacity := line(plots[0], points, color.Gray{Y: 0xb0}, func(p sim.Point) float64 { return float64(p.CapacityBps) / 1e6 })
			plots[0].Legend.Add("capacity", capacity)
		}
		for i, p := range panels {
			l := line(plots[i], points, colors[n], p.value)
			if i == 0 {
				plots[0].Legend.Add(cc, l)
			}
		}
	}
	c := vgsvg.New(28*vg.Centimeter, 24*vg.Centimeter)
	rows := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		rows[i] = []*plot.Plot{p}
	}
	pad := 3 * vg.Millimeter
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: pad, PadTop: pad, PadBottom: pad, PadLeft: pad, PadRight: pad}
	for i, row := range plot.Align(rows, tiles, draw.New(c)) {
		plots[i].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := c.WriteTo(&svg); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(svg.Bytes(), []byte("</svg>")) || bytes.Count(svg.Bytes(), []byte("<path")) < 4*len(plotted()) {
		t.Errorf("%s: %d bytes that are no picture", sc.Name, svg.Len())
	}
	path := filepath.Join(dir, sc.Name+".svg")
	if err := os.WriteFile(path, svg.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}

	return path
}
