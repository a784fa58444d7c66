// SPDX-License-Identifier: MIT

//go:build browser

package browser

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	plotdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

//go:embed sender.html
var senderPage string

var (
	runs    = flag.Int("runs", 1, "runs of each course; with less than 3 those that fail get more")
	side    = flag.String("side", "", "chromium or ours; default both")
	events  = flag.String("events", "", "folder for what our estimator does, as JSON lines")
	courseN = flag.String("courses", "", "comma separated names; default all")
)

// The encoder of ours does as Chromium's does here: libvpx takes some frames to
// follow a target, and the logarithms of its frames' sizes then deviate by about
// this. What a packet adds on the link is IPv4 20, UDP 8, RTP 12 with 8 of
// extension, and 16 of AES-GCM.
const (
	encoderLag    = 100 * ms
	encoderNoise  = 0.06
	encoderHeader = 64
)

// Our GCC in a Pion sender against libwebrtc's in Chromium, through the same
// emulated paths in real time: they settle at the same rates, in about the same
// time.
//
// All courses and both senders run at once; -runs repeats that. See slack for the
// tolerances.
func TestGCCAgainstChromium(t *testing.T) {
	dir := artefacts(t)
	ctx := openPage(t, senderPage)
	var duels []duel
	for _, c := range courses() {
		if *courseN == "" || strings.Contains(","+*courseN+",", ","+c.name+",") {
			duels = append(duels, duel{Course: c.name, course: c})
		}
	}
	if len(duels) == 0 {
		t.Fatalf("no course %q", *courseN)
	}
	// A single run says little: what is then beyond the tolerances gets two more.
	for run := range max(*runs, medianOf) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range duels {
			d := &duels[i]
			if run >= *runs && (*side != "" || t.Failed() || len(d.faults(d.slack())) == 0) {
				continue
			}
			seed := uint64(1 + run*len(duels) + i)
			for _, who := range []string{"chromium", "ours"} {
				if *side != "" && *side != who {
					continue
				}
				wg.Go(func() {
					c, err := race(ctx, d.course, who, run, seed)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						t.Errorf("%s, %s: %v", d.Course, who, err)
					case who == "ours":
						d.Ours = append(d.Ours, c)
					default:
						d.Chromium = append(d.Chromium, c)
					}
				})
			}
		}
		wg.Wait()
	}
	b, err := json.Marshal(duels)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "gcc.json"), b)
	for i := range duels {
		if err := duels[i].draw(t, filepath.Join(dir, "gcc-"+duels[i].Course+".svg")); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() || *side != "" {
		return // half of it
	}
	table := comparison(duels)
	write(t, filepath.Join(dir, "gcc.md"), []byte(table))
	head, _, _ := strings.Cut(table, "\nBy the second")
	t.Log("\n" + head)
	for _, d := range duels {
		for _, f := range d.faults(d.slack()) {
			t.Errorf("%s: %s", d.Course, f)
		}
	}
}

// race sends one sender through a course.
func race(ctx context.Context, c course, who string, run int, seed uint64) (out curve, err error) {
	s, err := newSink(c.path, seed)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var from source
	if who == "ours" {
		var w io.Writer
		if *events != "" {
			f, err := os.Create(filepath.Join(*events, fmt.Sprintf("%s-%d.jsonl", c.name, run)))
			if err != nil {
				return out, err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			w = f
		}
		from, err = newOurs(sourceBps, seed, w)
	} else {
		from = &chromium{id: fmt.Sprintf("%s-%d", c.name, run), title: c.name, maxBps: sourceBps}
	}
	if err != nil {
		return out, err
	}
	dialing, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	offer, err := from.offer(dialing)
	if err != nil {
		return out, err
	}
	answer, err := s.answer(dialing, offer)
	if err != nil {
		return out, err
	}
	if err := from.accept(dialing, answer); err != nil {
		return out, err
	}
	// From the first packet to the end of the course.
	var start time.Time
	for start.IsZero() {
		if dialing.Err() != nil {
			return out, errors.New("browser: no media")
		}
		time.Sleep(50 * ms)
		start = s.relay.begun()
	}
	time.Sleep(time.Until(start.Add(c.length() + 500*ms)))
	samples, err := from.finish(ctx)
	if err != nil {
		return out, err
	}
	bins, drops, lags := s.relay.result()
	n := int(c.length() / shapeBin)
	if len(bins) < n*9/10 || len(samples) < n/2 {
		return out, fmt.Errorf("browser: %d bins of %d and %d samples: it stopped", len(bins), n, len(samples))
	}
	out.Estimate = gridOf(n, func(i int) (time.Duration, float64) {
		return samples[i].At.Sub(start), samples[i].EstimateBps
	}, len(samples))
	for i := range n {
		v := 0.0
		if i < len(bins) {
			v = float64(bins[i]*8) / rateBin.Seconds()
		}
		out.Received = append(out.Received, v)
	}
	out.Drops = drops
	slices.Sort(lags)
	out.LagP99 = float64(lags[len(lags)*99/100]) / float64(ms)

	return out, nil
}

// draw makes a picture of both curves: estimates above, what arrived below.
func (d *duel) draw(t *testing.T, path string) error {
	t.Helper()
	blue, orange := color.RGBA{R: 0x1F, G: 0x77, B: 0xB4, A: 0xFF}, color.RGBA{R: 0xE0, G: 0x7B, B: 0x12, A: 0xFF}
	lighter := func(c color.RGBA) color.Color { return color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0x50} }
	var rows [][]*plot.Plot
	for _, row := range []struct {
		y  string
		of func(curve) []float64
	}{
		{"estimate, Mbit/s", func(c curve) []float64 { return c.Estimate }},
		{"received, Mbit/s", func(c curve) []float64 { return c.Received }},
	} {
		p := plot.New()
		p.Y.Label.Text, p.Y.Min = row.y, 0
		p.Legend.Top, p.Legend.Left = false, false
		p.Add(plotter.NewGrid())
		var link plotter.XYs
		for _, ph := range d.course.phases {
			link = append(link, plotter.XY{X: ph.from.Seconds(), Y: ph.bps / 1e6}, plotter.XY{X: ph.to.Seconds(), Y: ph.bps / 1e6})
		}
		line := func(name string, xys plotter.XYs, c color.Color, width float64) error {
			l, err := plotter.NewLine(xys)
			if err != nil {
				return err
			}
			l.Color, l.Width = c, vg.Points(width)
			p.Add(l)
			if name != "" {
				p.Legend.Add(name, l)
			}

			return nil
		}
		if err := line("link", link, color.Gray{Y: 0x90}, 1); err != nil {
			return err
		}
		for _, s := range []struct {
			name string
			runs []curve
			c    color.RGBA
		}{{"Chromium", d.Chromium, blue}, {"ours", d.Ours, orange}} {
			for _, r := range s.runs {
				if err := line("", points(row.of(r), shapeBin), lighter(s.c), 0.5); err != nil {
					return err
				}
			}
			if len(s.runs) > 0 {
				if err := line(s.name, points(bySecond(s.runs, row.of), time.Second), s.c, 1.5); err != nil {
					return err
				}
			}
		}
		rows = append(rows, []*plot.Plot{p})
	}
	rows[0][0].Title.Text = d.course.about
	rows[1][0].X.Label.Text = "s"
	c := vgsvg.New(24*vg.Centimeter, 16*vg.Centimeter)
	tiles := plotdraw.Tiles{Rows: 2, Cols: 1, PadY: vg.Millimeter * 3}
	for i, row := range plot.Align(rows, tiles, plotdraw.New(c)) {
		rows[i][0].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := c.WriteTo(&svg); err != nil {
		return err
	}
	write(t, path, svg.Bytes())

	return nil
}

// points are values in the middle of their bins, in Mbit/s.
func points(v []float64, bin time.Duration) plotter.XYs {
	var out plotter.XYs
	for i, y := range v {
		out = append(out, plotter.XY{X: (float64(i) + 0.5) * bin.Seconds(), Y: y / 1e6})
	}

	return out
}
