// SPDX-License-Identifier: MIT

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

// Who looks at a key is in its picture, class by class; whose row has a hole, who
// looks at two keys, and what has no order are not.
func TestSweepPlots(t *testing.T) {
	o := options{cc: []string{"gbrcc", "seed", "gcc"}}
	for _, s := range []string{"telemetry_ms=2,50", "beta=10,25", "encoder_ms=20,60"} {
		sw, err := parseSweep(s)
		if err != nil {
			t.Fatal(err)
		}
		o.sweeps = append(o.sweeps, sw)
	}
	var records []record
	add := func(class, cc, params string, goodput, p95 float64) {
		records = append(records, record{Params: params, Result: sim.Result{Scenario: class + "-1", Class: class, CC: cc, GoodputMbps: goodput, OracleGoodput: 2, PlayoutP50: p95 - 20, PlayoutP95: p95}})
	}
	add("trace", "gcc", "encoder_ms=20", 1, 150)
	add("trace", "gcc", "encoder_ms=60", 0.5, 250)
	add("cell", "gcc", "encoder_ms=60", 0.5, 250)
	for _, v := range o.variants("gbrcc") {
		add("trace", "gbrcc", v.label, 1.8, 160)
	}
	plots := sweepPlots(o, records)
	if len(plots) != 1 || plots[0].key != "encoder_ms" || !slices.Equal(plots[0].values, []string{"20", "60"}) {
		t.Fatalf("%+v, want the one of encoder_ms", plots)
	}
	if ls := plots[0].lines; len(ls) != 1 || ls[0].cc != "gcc" || ls[0].class != "trace" ||
		!slices.Equal(ls[0].goodput, []float64{0.5, 0.25}) || !slices.Equal(ls[0].p95, []float64{150, 250}) {
		t.Errorf("lines %+v", ls)
	}
	svg, err := plots[0].svg()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"gcc, trace", "encoder_ms", ">60<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	o.sweeps = nil
	sw, err := parseSweep("without=each")
	if err != nil {
		t.Fatal(err)
	}
	o.sweeps = []sweep{sw}
	records = nil
	for _, v := range o.variants("gbrcc") {
		add("trace", "gbrcc", v.label, 1.8, 160)
	}
	if plots := sweepPlots(o, records); len(plots) != 0 {
		t.Errorf("%d pictures of what has no order", len(plots))
	}
}
