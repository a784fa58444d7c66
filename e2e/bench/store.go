// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	resultsName  = "results.csv"
	frontierName = "frontier.csv"
	versionName  = "version.json"
	// format is that of the files in the folder.
	format = 1
)

// version says by what the runs of a folder were made: rows of different code,
// or of another trace of the same name, do not belong into one table.
type version struct {
	Format int    `json:"format"`
	Code   string `json:"code"`
	// Traces are fingerprints of the files of -trace.
	Traces map[string]string `json:"traces,omitempty"`
}

// store keeps runs: in memory, and in a folder when it has one.
type store struct {
	dir      string
	results  *table
	frontier *table
}

// openStore reads what is there already, so that it need not be run again.
// Without a folder it keeps nothing beyond the process.
func openStore(dir string, v version) (*store, error) {
	s := &store{dir: dir, results: newTable(), frontier: newTable()}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	if err := claim(dir, v); err != nil {
		return nil, fmt.Errorf("-out %s: %w", dir, err)
	}
	for name, t := range map[string]*table{resultsName: s.results, frontierName: s.frontier} {
		if err := t.open(filepath.Join(dir, name)); err != nil {
			s.close()

			return nil, fmt.Errorf("-out: %w", err)
		}
	}

	return s, nil
}

func (s *store) close() {
	s.results.close()
	s.frontier.close()
}

// claim writes the folder's version, or compares it.
func claim(dir string, v version) error {
	path := filepath.Join(dir, versionName)
	old := version{}
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(dir, resultsName)); err == nil {
			return fmt.Errorf("%s is there without %s: it is not from this program, choose another folder", resultsName, versionName)
		}
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(raw, &old); err != nil {
			return fmt.Errorf("%s: %w", versionName, err)
		}
		if old.Format != v.Format || old.Code != v.Code {
			return fmt.Errorf("its runs are of other code (%s, this is %s): choose another folder, or remove it to start again", old.Code, v.Code)
		}
	}
	if old.Format != 0 && v.Traces == nil {
		return nil
	}
	merged := version{Format: v.Format, Code: v.Code, Traces: old.Traces}
	for name, sum := range v.Traces {
		if was, ok := old.Traces[name]; ok && was != sum {
			return fmt.Errorf("its runs on %s are on another trace of that name: choose another folder", name)
		}
		if merged.Traces == nil {
			merged.Traces = map[string]string{}
		}
		merged.Traces[name] = sum
	}
	text, err := json.MarshalIndent(merged, "", "  ")
	if err != nil {
		return err
	}

	return replace(path, append(text, '\n'))
}

// table is one CSV file that grows run by run.
type table struct {
	rows map[key]record
	file appender // nil without a file
	size int64    // up to the last whole row
}

type appender interface {
	io.WriteCloser
	Truncate(size int64) error
}

func newTable() *table { return &table{rows: map[key]record{}} }

// open reads the rows of a file and gets ready to append to it. A last line
// that is not whole is of a run that was killed while it wrote.
func (t *table) open(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	t.file = f
	raw, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1]
	if len(whole) < len(raw) {
		if err := f.Truncate(int64(len(whole))); err != nil {
			return err
		}
	}
	t.size = int64(len(whole))
	if len(whole) == 0 {
		header, _, err := flatten(record{})
		if err != nil {
			return err
		}

		return t.write(header)
	}
	if err := t.parse(whole); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}

	return nil
}

func (t *table) parse(text []byte) error {
	want, _, err := flatten(record{})
	if err != nil {
		return err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	for n := 1; ; n++ {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 1 {
			if !slices.Equal(fields, want) {
				return errors.New("its columns are not those that this program writes: choose another folder, or remove it to start again")
			}

			continue
		}
		rec, err := unflatten(want, fields)
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		t.rows[rec.key()] = rec
	}
}

// add keeps a run, at once.
func (t *table) add(r record) error {
	t.rows[r.key()] = r
	if t.file == nil {
		return nil
	}
	_, values, err := flatten(r)
	if err != nil {
		return err
	}
	if err := t.write(values); err != nil {
		return fmt.Errorf("-out: %w (%d runs are kept)", err, len(t.rows)-1)
	}

	return nil
}

// write appends a row in one piece. What a full disk took of it is taken back.
func (t *table) write(fields []string) error {
	row, err := csvRow(fields)
	if err != nil {
		return err
	}
	if _, err := t.file.Write(row); err != nil {
		// Should that fail too, the next run drops the piece.
		_ = t.file.Truncate(t.size)

		return err
	}
	t.size += int64(len(row))

	return nil
}

func (t *table) close() {
	if t.file != nil {
		_ = t.file.Close() // every row was written already
		t.file = nil
	}
}

// ordered is the rows of the jobs in their order, then all others in an order
// of their own.
func (t *table) ordered(keys []key) []record {
	var out, rest []record
	first := map[key]bool{}
	for _, k := range keys {
		if r, ok := t.rows[k]; ok && !first[k] {
			first[k] = true
			out = append(out, r)
		}
	}
	for k, r := range t.rows {
		if !first[k] {
			rest = append(rest, r)
		}
	}
	slices.SortFunc(rest, func(a, b record) int {
		return cmp.Or(strings.Compare(a.Scenario, b.Scenario), cmp.Compare(a.DurationS, b.DurationS), cmp.Compare(a.Seed, b.Seed),
			strings.Compare(a.CC, b.CC), strings.Compare(a.Params, b.Params))
	})

	return append(out, rest...)
}

// replace writes a file whole or not at all.
func replace(path string, text []byte) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	err := os.WriteFile(tmp, text, 0o644)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}

	return err
}

func csvRow(fields []string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(fields); err != nil {
		return nil, err
	}
	w.Flush()

	return b.Bytes(), w.Error()
}

// writeCSV has one row a run, with the keys of the JSON.
func writeCSV(w io.Writer, records []record) error {
	header, _, err := flatten(record{})
	if err != nil {
		return err
	}
	rows := [][]string{header}
	for _, r := range records {
		_, values, err := flatten(r)
		if err != nil {
			return err
		}
		rows = append(rows, values)
	}
	cw := csv.NewWriter(w)

	return cw.WriteAll(rows)
}

// flatten reads a run's JSON, so that both outputs have the same keys in the
// same order.
func flatten(r record) (keys, values []string, err error) {
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

// unflatten is the way back, to the bit: a number is read as JSON wrote it.
func unflatten(keys, values []string) (record, error) {
	var r record
	if len(values) != len(keys) {
		return r, fmt.Errorf("%d columns, want %d", len(values), len(keys))
	}
	m := map[string]any{}
	for i, k := range keys {
		switch k {
		case "scenario", "class", "cc", "params", "flow_goodputs_mbps":
			m[k] = values[i]
		default:
			m[k] = json.Number(values[i])
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return r, err
	}

	return r, json.Unmarshal(raw, &r)
}
