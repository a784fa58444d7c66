// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/e2e/sim"
)

// traceHelp is what -trace says of formats.
const traceHelp = "run on the capacity in `FILE` instead of -scenarios: mahimahi, or CSV by its header, either with gzip; " +
	"FILE#nr, FILE#lte: one leg of a CSV with nr_tbs and lte_tbs; steps above 1 Gbit/s mean no limit and are left out"

// maxTraceFile is what package cell reads at the most.
const maxTraceFile = 32 << 20

// readTrace reads a trace file, with the leg behind a #. The sum is the file's.
func readTrace(name, file string) (t cell.Trace, sum string, err error) {
	path, leg := cell.SplitLeg(file)
	data, err := os.ReadFile(path)
	if err != nil {
		return t, "", err
	}
	sum = fingerprint(data)
	if data, err = unzip(data); err != nil {
		return t, "", fmt.Errorf("%s: %w", file, err)
	}
	limited, _ := cell.DropNoLimit(data)
	if t, err = cell.ParseTraceLeg(name, limited, leg); err != nil {
		return t, "", fmt.Errorf("%s: %w", file, err)
	}

	return t, sum, nil
}

// unzip is what a file with gzip has in it, and any other file as it is.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) { // RFC 1952 2.3.1
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxTraceFile+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("gzip: the file is cut short")
	case err != nil:
		return nil, fmt.Errorf("gzip: %w", err)
	case len(out) > maxTraceFile:
		return nil, fmt.Errorf("gzip: more than %d bytes in it", maxTraceFile)
	}

	return out, nil
}

// recording is a real trace of the data folder.
type recording struct {
	file, leg, doc string
	radio          cell.Radio
}

// recordings are those that are known, and what they were recorded on.
func recordings() []recording {
	const korea = "korea_nsa_static_LGU_20220330_"

	return []recording{
		{"Verizon-LTE-short.up", "", "Verizon LTE, 6 Mbit/s on average, 7 gaps a minute of 100 ms to 1.7 s", cell.LTEFDD},
		{"TMobile-LTE-short.up", "", "T-Mobile LTE, 13 Mbit/s on average, hardly any gaps", cell.LTEFDD},
		{"ATT-LTE-driving-2016.up", "", "AT&T LTE in a car, 1.9 Mbit/s on average, 45 gaps a minute", cell.LTEFDD},
		{"alphartc_4G_3mbps_ul.csv", "", "a 4G uplink of about 3 Mbit/s, in steps of 200 ms", cell.LTEFDD},
		{"alphartc_5G_12mbps_ul.csv", "", "a 5G uplink of about 12 Mbit/s, in steps of 200 ms", cell.NRTDD},
		{korea + "1354.csv", "nr", "NR leg of an NSA phone in Korea, 3.5 Mbit/s on average, often 0", cell.NRTDD},
		{korea + "1354.csv", "lte", "LTE leg of the same, 41 Mbit/s", cell.LTEFDD},
		{korea + "1354.csv", "both", "both legs of the same", cell.LTEFDD},
		{korea + "1334.csv", "nr", "NR leg of an NSA phone in Korea, 34 Mbit/s on average, 13 to 113", cell.NRTDD},
		{korea + "1334.csv", "lte", "LTE leg of the same, 0.3 Mbit/s", cell.LTEFDD},
		{korea + "1334.csv", "both", "both legs of the same", cell.NRTDD},
		{"umn_tmobile_SA_n71_walk_ul_1.csv", "", "T-Mobile 5G SA on n71, walking, 27 Mbit/s on average, 0 to 58", cell.NRFDD},
		{"umn_tmobile_NSA_walk_ul_1.csv", "", "T-Mobile 5G NSA in the low band, walking, 83 Mbit/s on average", cell.NRFDD},
	}
}

// name is the file's without its ending, and the leg.
func (r recording) name() string { return stem(r.file) + r.suffix() }

func (r recording) suffix() string {
	if r.leg == "" {
		return ""
	}

	return "#" + r.leg
}

func stem(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// noTrace are the files of the folder that tell of a phone, but not of its
// capacity.
const noTrace = "lte_real_ue_"

// recorded are the real traces of the data folder: those that are known, then
// whatever else is there and can be read as a trace, on LTE. Sums are
// fingerprints of the files by the scenarios' names.
func recorded() (scenarios []sim.Scenario, sums map[string]string, err error) {
	dir, err := dataset.Dir()
	if err != nil {
		return nil, nil, err
	}
	dir = filepath.Join(dir, "traces")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", dataset.ErrMissing, err)
	}
	all := recordings()
	for _, e := range entries {
		known := slices.ContainsFunc(recordings(), func(r recording) bool { return r.file == e.Name() })
		ext := filepath.Ext(e.Name())
		if !known && (ext == ".up" || ext == ".csv") && !strings.HasPrefix(e.Name(), noTrace) {
			all = append(all, recording{file: e.Name()})
		}
	}
	sums = map[string]string{}
	for _, r := range all {
		t, sum, err := readTrace(r.name(), filepath.Join(dir, r.file)+r.suffix())
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		s := sim.FromTrace(t)
		s.Cell.Radio = r.radio
		if r.doc != "" {
			s.Doc = "recorded: " + r.doc
		}
		sums[s.Name] = sum
		scenarios = append(scenarios, s)
	}

	return scenarios, sums, nil
}

// catalogue is the built-in scenarios with the real traces, where there are any,
// behind the synthetic ones, and the held-out ones at the end.
func catalogue() (all []sim.Scenario, sums map[string]string, err error) {
	all = sim.Catalogue()
	real, sums, err := recorded()
	held, heldSums := heldOut(real, sums)
	at := 0
	for i, s := range all {
		if s.Class == traceClass {
			at = i + 1
		}
	}

	maps.Copy(heldSums, sums)

	return append(slices.Insert(all, at, real...), held...), heldSums, err
}

// heldOut are the scenarios that are drawn by numbers; those of recordings bear
// the fingerprint of all of them, as a number's depends on which there are.
func heldOut(real []sim.Scenario, sums map[string]string) (all []sim.Scenario, of map[string]string) {
	of = map[string]string{}
	var traces []cell.Trace
	var radios []cell.Radio
	var text strings.Builder
	for _, s := range real {
		traces, radios = append(traces, s.Trace(1, s.Duration)), append(radios, s.Cell.Radio) // seed 1 has the whole
		text.WriteString(s.Name + " " + sums[s.Name] + "\n")
	}
	drawn := sim.FromRecordings(traces, radios)
	for _, s := range drawn {
		of[s.Name] = fingerprint([]byte(text.String()))
	}

	return append(sim.Random(), drawn...), of
}

const traceClass = "trace"

// choose finds the scenarios of -scenarios, and the fingerprints of the traces
// among them.
func (o options) choose(stderr io.Writer) ([]sim.Scenario, map[string]string, error) {
	all, sums, missing := catalogue()
	if missing != nil && !errors.Is(missing, dataset.ErrMissing) {
		return nil, nil, missing
	}
	picked, err := sim.SelectFrom(all, o.scenarios)
	if err != nil {
		return nil, nil, err
	}
	if missing != nil && slices.ContainsFunc(picked, func(s sim.Scenario) bool { return s.Class == traceClass }) {
		fmt.Fprintf(stderr, "bench: only built-in traces: %v\n", missing)
	}
	var used map[string]string
	for _, s := range picked {
		if sum, ok := sums[s.Name]; ok {
			if used == nil {
				used = map[string]string{}
			}
			used[s.Name] = sum
		}
	}

	return picked, used, nil
}

// fromFile is the scenario of -trace.
func (o options) fromFile() (sim.Scenario, string, error) {
	t, sum, err := readTrace(filepath.Base(o.trace), o.trace)
	if err != nil {
		return sim.Scenario{}, "", fmt.Errorf("-trace: %w", err)
	}
	if o.traceFrom > 0 {
		if o.traceFrom >= t.Len() {
			return sim.Scenario{}, "", fmt.Errorf("-trace-from %v: %s is %v long", o.traceFrom, filepath.Base(o.trace), t.Len())
		}
		if t, err = sim.From(t, o.traceFrom); err != nil {
			return sim.Scenario{}, "", fmt.Errorf("-trace: %w", err)
		}
	}

	return sim.FromTrace(t), sum, nil
}
