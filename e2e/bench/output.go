// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/gbrcc/gbrcc/e2e/sim"
)

func writeJSON(w io.Writer, results []record, failed []failure) error {
	enc := json.NewEncoder(w)
	for _, r := range results {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	for _, f := range failed {
		if err := enc.Encode(f); err != nil {
			return err
		}
	}

	return nil
}

// row is the medians over the seeds of one scenario and variant.
type row struct {
	scenario, cc, params string
	seeds                int
	figures              []figure
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
		{name: goodputFigure, decimals: 2, get: func(r sim.Result) float64 { return r.GoodputMbps }},
		{name: "of capacity %", percentages: true, get: func(r sim.Result) float64 { return r.Utilization }},
		{name: playoutFigure, get: func(r sim.Result) float64 { return r.PlayoutP50 }},
		{name: p95Figure, get: func(r sim.Result) float64 { return r.PlayoutP95 }},
		{name: "freezes", get: func(r sim.Result) float64 { return float64(r.FreezeCount) }},
		{name: frozenFigure, percentages: true, decimals: 1, get: func(r sim.Result) float64 { return r.FreezeRatio }},
		{name: "sender queue p95 ms", get: func(r sim.Result) float64 { return r.SenderQueueP95 }},
		{name: "phone queue max ms", get: func(r sim.Result) float64 { return r.UEQueueMax }},
		{name: "target cv", decimals: 2, get: func(r sim.Result) float64 { return r.TargetCV }},
		{name: "clairvoyant Mbit/s", decimals: 2, get: func(r sim.Result) float64 { return r.OracleGoodput }},
		{name: "clairvoyant p50 ms", get: func(r sim.Result) float64 { return r.OraclePlayoutP50 }},
	}
}

// rows groups results, keeping their order, and takes medians.
func rows(results []record) []row {
	type group struct{ scenario, cc, params string }
	var order []group
	groups := map[group][]record{}
	for _, r := range results {
		k := group{r.Scenario, r.CC, r.Params}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	var out []row
	for _, k := range order {
		g := groups[k]
		rw := row{scenario: k.scenario, cc: k.cc, params: k.params, seeds: len(g), figures: figures()}
		for i := range rw.figures {
			f := &rw.figures[i]
			var vs []float64
			for _, r := range g {
				vs = append(vs, f.get(r.Result))
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

// value is a figure's number, as shown.
func (f figure) value(v float64) string {
	if f.percentages {
		v *= 100
	}

	return strconv.FormatFloat(v, 'f', f.decimals, 64)
}

// Range is the spread over the seeds, empty when there is none to be seen.
func (f figure) Range() string {
	if f.value(f.low) == f.value(f.high) {
		return ""
	}

	return fmt.Sprintf("[%s..%s]", f.value(f.low), f.value(f.high))
}

// Median is the figure itself.
func (f figure) Median() string { return f.value(f.median) }

// Name is the head of its column.
func (f figure) Name() string { return f.name }

func (f figure) String() string {
	if r := f.Range(); r != "" {
		return f.Median() + " " + r
	}

	return f.Median()
}

// hasParams tells whether a table needs a column for them.
func hasParams(results []record) bool {
	return slices.ContainsFunc(results, func(r record) bool { return r.Params != "" })
}

func writeTable(w io.Writer, results []record, failed []failure) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	labelled := hasParams(results)
	fmt.Fprint(tw, "scenario\tcc")
	if labelled {
		fmt.Fprint(tw, "\tparams")
	}
	for _, f := range figures() {
		fmt.Fprintf(tw, "\t%s", f.name)
	}
	fmt.Fprintln(tw)
	for _, r := range rows(results) {
		fmt.Fprintf(tw, "%s\t%s", r.scenario, r.cc)
		if labelled {
			fmt.Fprintf(tw, "\t%s", r.params)
		}
		for _, f := range r.figures {
			fmt.Fprintf(tw, "\t%s", f)
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprintln(tw, "\nMedian over the seeds [lowest..highest].")
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, f := range failed {
		if _, err := fmt.Fprintf(w, "Failed: %s\n", f); err != nil {
			return err
		}
	}

	return nil
}

func writeMarkdown(w io.Writer, results []record, failed []failure) error {
	var b bytes.Buffer
	labelled := hasParams(results)
	b.WriteString("| scenario | cc |")
	if labelled {
		b.WriteString(" params |")
	}
	for _, f := range figures() {
		fmt.Fprintf(&b, " %s |", f.name)
	}
	b.WriteString("\n|---|---|")
	if labelled {
		b.WriteString("---|")
	}
	for range figures() {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, r := range rows(results) {
		fmt.Fprintf(&b, "| %s | %s |", r.scenario, r.cc)
		if labelled {
			fmt.Fprintf(&b, " %s |", r.params)
		}
		for _, f := range r.figures {
			fmt.Fprintf(&b, " %s |", f)
		}
		b.WriteString("\n")
	}
	for _, f := range failed {
		fmt.Fprintf(&b, "\nFailed: %s\n", f)
	}
	_, err := w.Write(b.Bytes())

	return err
}

// writeFiles puts the folder in order when all runs are there. Each file is
// written beside its place and moved there when it is whole.
func (e *engine) writeFiles(ctx context.Context, o options, jobs []job, records []record, failed []failure) error {
	if err := e.lookAgain(ctx, jobs); err != nil {
		if errors.Is(err, context.Canceled) {
			return interruptedError{len(jobs), len(jobs), true}
		}

		return err
	}
	e.store.close()
	keys := keysOf(jobs)
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{resultsName, func(w io.Writer) error { return writeCSV(w, e.store.results.ordered(keys)) }},
		{frontierName, func(w io.Writer) error { return writeCSV(w, e.store.frontier.ordered(frontierKeys(jobs))) }},
		{"classes.md", func(w io.Writer) error { return writeClasses(w, records, failed) }},
		{"table.md", func(w io.Writer) error { return writeMarkdown(w, records, failed) }},
		{"report.html", func(w io.Writer) error { return e.writeReport(w, o, jobs, records, failed) }},
	}
	for _, p := range sweepPlots(o, records) {
		files = append(files, struct {
			name  string
			write func(io.Writer) error
		}{"sweep-" + p.key + ".svg", func(w io.Writer) error {
			svg, err := p.svg()
			if err == nil {
				_, err = w.Write(svg)
			}

			return err
		}})
	}
	for _, f := range files {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return err
		}
		if err := replace(filepath.Join(o.out, f.name), b.Bytes()); err != nil {
			return fmt.Errorf("-out: %w (the %d runs are kept in %s)", err, len(e.store.results.rows), resultsName)
		}
	}

	return nil
}

func keysOf(jobs []job) []key {
	keys := make([]key, 0, len(jobs))
	for _, j := range jobs {
		keys = append(keys, j.key())
	}

	return keys
}

func frontierKeys(jobs []job) []key {
	var keys []key
	for _, j := range jobs {
		for _, v := range frontierVariants() {
			keys = append(keys, job{scenario: j.scenario, variant: v, seed: j.seed}.key())
		}
	}

	return keys
}
