// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

func list(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SCENARIO\tCLASS\tWHAT")
	for _, s := range sim.Catalogue() {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.Name, s.Class, s.Doc)
	}
	fmt.Fprintln(tw, "\nALGORITHM\t\t")
	for _, a := range sim.Algorithms() {
		fmt.Fprintf(tw, "%s\t\t\n", a)
	}
	fmt.Fprintln(tw, "\nPARAMETER\t\t")
	for _, p := range params() {
		fmt.Fprintf(tw, "%s\t\t%s\n", p.key, p.doc)
	}

	return tw.Flush()
}

func writeJSON(w io.Writer, results []sim.Result) error {
	enc := json.NewEncoder(w)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}

	return nil
}

// row is the medians over the seeds of one scenario and algorithm.
type row struct {
	scenario, cc string
	seeds        int
	figures      []figure
}

type figure struct {
	name        string
	median      float64
	low, high   float64
	get         func(sim.Result) float64
	decimals    int
	percentages bool
}

func figures() []figure {
	return []figure{
		{name: "goodput Mbit/s", decimals: 2, get: func(r sim.Result) float64 { return r.GoodputMbps }},
		{name: "of capacity %", percentages: true, get: func(r sim.Result) float64 { return r.Utilization }},
		{name: "playout p50 ms", get: func(r sim.Result) float64 { return r.PlayoutP50 }},
		{name: "p95 ms", get: func(r sim.Result) float64 { return r.PlayoutP95 }},
		{name: "freezes", get: func(r sim.Result) float64 { return float64(r.FreezeCount) }},
		{name: "frozen %", percentages: true, decimals: 1, get: func(r sim.Result) float64 { return r.FreezeRatio }},
		{name: "sender queue p95 ms", get: func(r sim.Result) float64 { return r.SenderQueueP95 }},
		{name: "phone queue max ms", get: func(r sim.Result) float64 { return r.UEQueueMax }},
		{name: "target cv", decimals: 2, get: func(r sim.Result) float64 { return r.TargetCV }},
		{name: "clairvoyant Mbit/s", decimals: 2, get: func(r sim.Result) float64 { return r.OracleGoodput }},
		{name: "clairvoyant p50 ms", get: func(r sim.Result) float64 { return r.OraclePlayoutP50 }},
	}
}

// rows groups results, keeping their order, and takes medians.
func rows(results []sim.Result) []row {
	type key struct{ scenario, cc string }
	var order []key
	groups := map[key][]sim.Result{}
	for _, r := range results {
		k := key{r.Scenario, r.CC}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	var out []row
	for _, k := range order {
		g := groups[k]
		rw := row{scenario: k.scenario, cc: k.cc, seeds: len(g), figures: figures()}
		for i := range rw.figures {
			f := &rw.figures[i]
			var vs []float64
			for _, r := range g {
				vs = append(vs, f.get(r))
			}
			slices.Sort(vs)
			f.low, f.median, f.high = vs[0], median(vs), vs[len(vs)-1]
		}
		out = append(out, rw)
	}

	return out
}

func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}

	return (sorted[n/2-1] + sorted[n/2]) / 2
}

func (f figure) String() string {
	v := func(x float64) string {
		if f.percentages {
			x *= 100
		}

		return strconv.FormatFloat(x, 'f', f.decimals, 64)
	}
	if v(f.low) == v(f.high) {
		return v(f.median)
	}

	return fmt.Sprintf("%s [%s..%s]", v(f.median), v(f.low), v(f.high))
}

func writeTable(w io.Writer, results []sim.Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "scenario\tcc")
	for _, f := range figures() {
		fmt.Fprintf(tw, "\t%s", f.name)
	}
	fmt.Fprintln(tw)
	for _, r := range rows(results) {
		fmt.Fprintf(tw, "%s\t%s", r.scenario, r.cc)
		for _, f := range r.figures {
			fmt.Fprintf(tw, "\t%s", f)
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprintln(tw, "\nMedian over the seeds [lowest..highest].")

	return tw.Flush()
}

func writeMarkdown(w io.Writer, results []sim.Result) error {
	var b bytes.Buffer
	b.WriteString("| scenario | cc |")
	for _, f := range figures() {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	b.WriteString("\n|---|---|")
	for range figures() {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, r := range rows(results) {
		fmt.Fprintf(&b, "| %s | %s |", r.scenario, r.cc)
		for _, f := range r.figures {
			fmt.Fprintf(&b, " %s |", f)
		}
		b.WriteString("\n")
	}
	_, err := w.Write(b.Bytes())

	return err
}

// writeCSV has one row a run, with the keys of the JSON.
func writeCSV(w io.Writer, results []sim.Result) error {
	cw := csv.NewWriter(w)
	for i, r := range results {
		keys, values, err := flatten(r)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := cw.Write(keys); err != nil {
				return err
			}
		}
		if err := cw.Write(values); err != nil {
			return err
		}
	}
	cw.Flush()

	return cw.Error()
}

// flatten reads a result's JSON, so that both outputs have the same keys in the
// same order.
func flatten(r sim.Result) (keys, values []string, err error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		v, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, fmt.Sprint(k))
		values = append(values, fmt.Sprint(v))
	}

	return keys, values, nil
}

// writeFiles leaves no partial file behind: each is written beside its place and
// moved there when it is whole.
func writeFiles(dir string, results []sim.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	for name, write := range map[string]func(io.Writer, []sim.Result) error{
		"results.csv": writeCSV,
		"table.md":    writeMarkdown,
	} {
		var b bytes.Buffer
		if err := write(&b, results); err != nil {
			return err
		}
		tmp := filepath.Join(dir, "."+name+".tmp")
		if err := os.WriteFile(tmp, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
		if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
	}

	return nil
}
