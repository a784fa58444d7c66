// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// draw plots a file and returns the SVG, which is well-formed.
func drawn(t *testing.T, path string) []byte {
	t.Helper()
	svg := filepath.Join(t.TempDir(), "a.svg")
	r := execute(t, "-plot", svg, path)
	if r.status != 0 || r.errors != "" || r.out == "" {
		t.Fatalf("%s: status %d, %s", path, r.status, r.errors)
	}
	data, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	paths := 0
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	if paths < 20 || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
		t.Errorf("%s: %d paths", path, paths)
	}
	if left, err := os.ReadDir(filepath.Dir(svg)); err != nil || len(left) != 1 {
		t.Errorf("%s leaves %v, %v", path, left, err)
	}

	return data
}

// The picture is the same every time, and whatever the file's name.
func TestPlot(t *testing.T) {
	data := hdlc(byHand(t))
	hand := write(t, "hand.hdlc", data)
	first := drawn(t, hand)
	if again := drawn(t, hand); !bytes.Equal(first, again) {
		t.Error("two pictures of one file differ")
	}
	for _, want := range []string{"reported backlog, kB", "granted, kB per 100 ms", "starved", "T 5 ms, L 8 ms"} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	drawn(t, write(t, "a&<b>\x01\xff.hdlc", data))
	samples := execute(t, "-json", hand)
	drawn(t, write(t, "samples.jsonl", []byte(samples.out))) // without grants and reports
	drawn(t, write(t, "one.jsonl", []byte(`{"t_ms":1e9,"bsr_bytes":0,"grant_bytes":0}`)))
}

func TestPlotRealCaptures(t *testing.T) {
	for _, path := range captures(t) {
		drawn(t, path)
	}
}

func TestPlotBadTarget(t *testing.T) {
	hand := write(t, "hand.svg", hdlc(byHand(t)))
	for target, want := range map[string]string{
		hand: "would write over it",
		filepath.Join(t.TempDir(), "missing", "a.svg"): "no such file or directory",
	} {
		r := execute(t, "-plot", target, hand)
		if r.status != 1 || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%s: status %d, %q", target, r.status, r.errors)
		}
	}
	config := write(t, "a.jsonl", []byte(`{"t_ms":1,"kind":"config","rat":"lte"}`))
	svg := filepath.Join(t.TempDir(), "a.svg")
	if r := execute(t, "-plot", svg, config); r.status != 1 || !strings.Contains(r.errors, "nothing to draw") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(svg); err == nil {
		t.Error("there is a picture of nothing")
	}
}

// Columns hold all bytes and the extremes, and never get too many.
func TestColumns(t *testing.T) {
	c := columns{width: time.Millisecond}
	const n = 100_000
	for i := range n {
		col := c.at(5*time.Second + time.Duration(i)*time.Millisecond)
		col.bytes++
		col.rate(float64(i % 1000))
		col.report(i, i+1)
	}
	if len(c.cols) > maxColumns || c.width != 64*time.Millisecond {
		t.Errorf("%d columns of %v", len(c.cols), c.width)
	}
	bytes, most := 0, 0.0
	for i, col := range c.cols {
		bytes += col.bytes
		most = max(most, col.most)
		if last := min(n, (i+1)*64) - 1; col.high != last+1 || col.low != last {
			t.Fatalf("column %d: %+v", i, col)
		}
	}
	if bytes != n || most != 999 || c.edge(0) != 5 {
		t.Errorf("%d bytes, most %g, from %g s", bytes, most, c.edge(0))
	}
	c.at(0).bytes++ // before all others
	if c.cols[0].bytes != 65 {
		t.Errorf("%d bytes in the first column", c.cols[0].bytes)
	}
}
