// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// asMap is a value as JSON tools see it.
func asMap(tb testing.TB, v any) map[string]any {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		tb.Fatal(err)
	}

	return m
}

// Every field that other tools read from real captures is the same here.
func TestDetailsGolden(t *testing.T) {
	type key struct{ file, k string }
	got := map[key][]map[string]any{}
	logged := map[key][]Timestamp{}
	for _, name := range captures() {
		file := name + ".hdlc"
		for _, p := range packets(t, readFile(t, dataset.File(t, "diag", file))) {
			details, err := Details(p)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			for _, d := range details {
				m := asMap(t, d)
				k := key{file, m["k"].(string)}
				got[k] = append(got[k], m)
				logged[k] = append(logged[k], p.Logged)
			}
		}
	}
	count, at := map[string]int{}, map[key]int{}
	for line := range bytes.Lines(readFile(t, dataset.File(t, "diag", "golden.jsonl"))) {
		var want map[string]any
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		var header struct{ TS uint64 }
		if err := json.Unmarshal(line, &header); err != nil {
			t.Fatal(err)
		}
		k := key{want["file"].(string), want["k"].(string)}
		i := at[k]
		at[k]++
		count[k.k]++
		if i >= len(got[k]) {
			t.Errorf("%v: %d samples", k, i)

			continue
		}
		if logged[k][i] != Timestamp(header.TS) {
			t.Errorf("%v %d: logged %d, want %d", k, i, logged[k][i], header.TS)
		}
		for name, value := range want {
			if name == "file" || name == "code" || name == "ts" {
				continue
			}
			if !reflect.DeepEqual(got[k][i][name], value) {
				t.Errorf("%v %d: %s is %v, want %v", k, i, name, got[k][i][name], value)
			}
		}
	}
	want := map[string]int{"b060": 12, "b064": 96, "b066": 120, "b067": 6, "b139": 57}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("lines compared: %v, want %v", count, want)
	}
}

// The hand-made bodies with all their fields.
func TestDetailsVectors(t *testing.T) {
	var out strings.Builder
	for _, v := range vectors(t) {
		fmt.Fprintf(&out, "%s\n", v.name)
		details, err := Details(Packet{Code: v.code, Body: v.body})
		for _, d := range details {
			b, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "  %s\n", b)
		}
		if err != nil {
			fmt.Fprintf(&out, "  %v\n", err)
		}
	}
	golden.Assert(t, out.String(), "details.golden")
}

// Parts of a message are told from whole ones.
func TestB0C0Segments(t *testing.T) {
	parts := map[string]uint8{}
	for _, v := range vectors(t) {
		if v.code != LogB0C0 {
			continue
		}
		_ = WalkB0C0(Packet{Code: v.code, Body: v.body}, func(m B0C0) { // some are meant to fail
			if !m.Whole() {
				parts[v.name] = m.Segment
			}
		})
	}
	if want := map[string]uint8{"b0c0 v30 part": 1, "b0c0 v31 last part": LastSegment}; !reflect.DeepEqual(parts, want) {
		t.Errorf("%v, want %v", parts, want)
	}
}
