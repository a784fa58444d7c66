// SPDX-License-Identifier: MIT

package ns3

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// errNoRaw tells of a run of which there is nothing but its summary.
var errNoRaw = errors.New("ns3: no raw files")

// readSummary reads the reference's own figures by run; columns are named by
// its header.
func readSummary(fsys fs.FS, name string, columns map[string]func(*Stats) *float64) (map[string]Stats, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("ns3: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("ns3: %s: %d rows: %w", name, len(rows), err)
	}
	runs := map[string]Stats{}
	for _, row := range rows[1:] {
		var s Stats
		for i, head := range rows[0] {
			to, ok := columns[head]
			if !ok {
				continue
			}
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return nil, fmt.Errorf("ns3: %s: %s of %s: %w", name, head, row[0], err)
			}
			*to(&s) = v
		}
		runs[row[0]] = s
	}
	return runs, nil
}

// rows calls fn for each line of numbers of a raw file.
func rows(fsys fs.FS, name string, fn func(v []float64)) error {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", errNoRaw, name)
	}
	if err != nil {
		return fmt.Errorf("ns3: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("ns3: %s: %w", name, err)
	}
	lines := bufio.NewScanner(z)
	var v []float64
	for lines.Scan() {
		v = v[:0]
		for part := range strings.SplitSeq(lines.Text(), ",") {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return fmt.Errorf("ns3: %s: %w", name, err)
			}
			v = append(v, x)
		}
		fn(v)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("ns3: %s: %w", name, err)
	}
	return nil
}

// rntis are the phones of the flows of a run, in the scheduler's numbers.
func rntis(fsys fs.FS, base string) (map[int]int, error) {
	m := map[int]int{}
	err := rows(fsys, base+".map.csv.gz", func(v []float64) { m[int(v[0])] = int(v[1]) })
	return m, err
}

// readRun reads the raw files of a run; what was granted or delivered to
// anybody counts from warm-up on.
func readRun(fsys fs.FS, base string, warmup float64) (*run, error) {
	phones, err := rntis(fsys, base)
	if err != nil {
		return nil, err
	}
	r := &run{}
	observed := float64(phones[0])
	if err := rows(fsys, base+".bsr.csv.gz", func(v []float64) {
		if v[1] == observed {
			r.reports = append(r.reports, event{ms: v[0], bytes: v[2]})
		}
	}); err != nil {
		return nil, err
	}
	if err := rows(fsys, base+".grant.csv.gz", func(v []float64) {
		if v[0] >= warmup {
			r.rbs += v[2]
		}
		if v[1] == observed && v[5] == 1 {
			r.grants = append(r.grants, event{ms: v[0], bytes: v[4]})
		}
	}); err != nil {
		return nil, err
	}
	err = rows(fsys, base+".delay.csv.gz", func(v []float64) {
		if v[0] >= warmup {
			r.all += v[4]
		}
		if v[1] == 0 {
			r.deliveries = append(r.deliveries, event{ms: v[0], bytes: v[4], delay: v[3]})
		}
	})
	return r, err
}

// arrivals are the times at which a flow sends, in ms of the run at which the
// others together send 1 Mbit/s: gaps are in inverse proportion to the rate,
// all drawn from the same numbers.
type arrivals struct {
	first float64   // ms, whatever the rate
	gaps  []float64 // ms at 1 Mbit/s
}

// readArrivals gets them from a run in which nothing was lost.
func readArrivals(fsys fs.FS, base string, mbps float64) (flows map[int]arrivals, err error) {
	flows = map[int]arrivals{}
	last := map[int]float64{}
	err = rows(fsys, base+".delay.csv.gz", func(v []float64) {
		flow, sent := int(v[1]), v[0]-v[3]
		if flow == 0 {
			return
		}
		a, ok := flows[flow]
		switch {
		case !ok:
			a.first = sent
		case math.Abs(sent-last[flow]) < sameBurst:
			return
		default:
			a.gaps = append(a.gaps, (sent-last[flow])*mbps)
		}
		last[flow], flows[flow] = sent, a
	})
	return flows, err
}

// sameBurst is less than the time between bursts, ms: deliveries are stamped to
// the µs.
const sameBurst = 0.01
