// SPDX-License-Identifier: MIT

package cell

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	// maxTraceFile bounds what ParseTrace reads.
	maxTraceFile = 32 << 20
	// mahimahiBytes is what one line of a mahimahi trace can carry on the
	// wire: mahimahi's 1500 bytes and its 4 byte tunnel header.
	mahimahiBytes = 1504
)

// ParseTrace reads a trace file. Two formats are known:
//
//   - mahimahi: each line is the millisecond of one chance to send 1504 bytes;
//     times do not descend.
//   - CSV with a header that names a time (ms, t_ms or t_s) and a value: bytes
//     (of that very millisecond) or ul_kbps or ul_mbps (until the next line;
//     the last one holds as long as the one before it, or a second). Other
//     columns are ignored.
//
// A CSV with nr_tbs and lte_tbs has two legs; see ParseTraceLeg, of which this
// is both.
//
// Rates above 1 Gbit/s are an error; see DropNoLimit.
//
// Time starts at 0; before the first line there is no capacity. An error is
// one line that names the trace and the line of the file.
func ParseTrace(name string, data []byte) (Trace, error) {
	return ParseTraceLeg(name, data, "")
}

// parseTrace reads a trace file for a leg, which must be a known one.
func parseTrace(name string, data []byte, leg string) (Trace, error) {
	p := traceParser{name: name, leg: leg, rest: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	if len(data) > maxTraceFile {
		return Trace{}, p.errorf("file of %d bytes is larger than %d", len(data), maxTraceFile)
	}
	first, ok := p.next()
	if !ok {
		return Trace{}, p.errorf("no data")
	}
	var err error
	if bytes.IndexByte(first, ',') >= 0 {
		err = p.csv(string(first))
	} else if err = p.noLegs(); err == nil {
		err = p.mahimahi(first)
	}
	if err != nil {
		return Trace{}, err
	}
	t := p.b.trace(name)
	if _, some := t.peak(); !some {
		return Trace{}, p.errorf("no capacity anywhere")
	}
	return t, nil
}

// traceParser walks over the lines of a file.
type traceParser struct {
	name string
	leg  string
	rest []byte
	line int // of the last line read, from 1
	b    builder
}

func (p *traceParser) errorf(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if p.line > 0 {
		msg = fmt.Sprintf("line %d: %s", p.line, msg)
	}
	return fmt.Errorf("cell: trace %s: %s", p.name, msg)
}

// next returns the next line that is not blank, without surrounding space.
func (p *traceParser) next() ([]byte, bool) {
	for len(p.rest) > 0 {
		line, rest, _ := bytes.Cut(p.rest, []byte("\n"))
		p.rest = rest
		p.line++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, true
		}
	}
	p.line = 0 // errors after the last line speak of the whole file
	return nil, false
}

// put adds bytes to a millisecond that is the last one or later.
func (p *traceParser) put(ms, n int64) error {
	if len(p.b.cum) == 0 {
		p.b.cum = append(p.b.cum, 0)
	}
	for int64(len(p.b.cum)) <= ms+1 {
		p.b.cum = append(p.b.cum, p.b.cum[len(p.b.cum)-1])
	}
	p.b.cum[ms+1] += n
	if p.b.cum[ms+1]-p.b.cum[ms] > maxBytesPerMs {
		return p.errorf("more than %d bytes (1 Gbit/s) in ms %d", maxBytesPerMs, ms)
	}
	return nil
}

func (p *traceParser) mahimahi(line []byte) error {
	last := int64(0)
	for ok := true; ok; line, ok = p.next() {
		ms, err := p.ms(string(line), 1)
		if err != nil {
			return err
		}
		if ms < last {
			return p.errorf("time %d ms comes after %d ms", ms, last)
		}
		last = ms
		if err := p.put(ms, mahimahiBytes); err != nil {
			return err
		}
	}
	return nil
}

// ms reads a time, with scale milliseconds to the unit.
func (p *traceParser) ms(s string, scale float64) (int64, error) {
	v, err := p.number("time", s)
	if err != nil {
		return 0, err
	}
	if v *= scale; v >= maxTraceMs {
		return 0, p.errorf("time %s is an hour or more", clip(s))
	}
	return int64(math.Round(v)), nil
}

// number reads a decimal number that is not negative.
func (p *traceParser) number(what, s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, p.errorf("%s %s is not a number", what, clip(s))
	case v < 0:
		return 0, p.errorf("%s %s is negative", what, clip(s))
	}
	return v, nil
}

// clip quotes a piece of the file for an error line.
func clip(s string) string {
	if len(s) > 24 {
		s = s[:24] + "..."
	}
	return strconv.Quote(s)
}

// columns of a CSV trace.
type columns struct {
	time      int
	timeScale float64 // to ms
	values    []column
	bytes     bool // the one value is bytes of its millisecond, else bit/s
}

// column is one value; several are added up.
type column struct {
	at    int
	scale float64 // to bit/s, or to bytes
	what  string
}

func (p *traceParser) header(line string) (columns, error) {
	c := columns{time: -1}
	legs := 0
	for i, name := range strings.Split(line, ",") {
		isTime, isLeg := false, false
		var scale float64
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "ms", "t_ms":
			isTime, scale = true, 1
		case "t_s":
			isTime, scale = true, 1000
		case "bytes":
			scale = 1
		case "ul_kbps":
			scale = 1e3
		case "ul_mbps":
			scale = 1e6
		default:
			var leg string
			if leg, scale, isLeg = legColumn(name); !isLeg || !wantsLeg(p.leg, leg) {
				continue
			}
			legs++
		}
		switch {
		case isTime && c.time < 0:
			c.time, c.timeScale = i, scale
		case !isTime && (len(c.values) == 0 || isLeg && legs == len(c.values)+1 && c.values[0].what != name):
			c.values = append(c.values, column{i, scale, name})
			c.bytes = name == "bytes"
		default:
			return c, p.errorf("column %s is one too many", clip(name))
		}
	}
	if c.time < 0 || len(c.values) == 0 {
		return c, p.errorf("header %s names no time (ms, t_ms, t_s) with bytes, ul_kbps, ul_mbps, nr_tbs or lte_tbs", clip(line))
	}
	if legs == 0 {
		return c, p.noLegs()
	}
	return c, nil
}

func (p *traceParser) csv(header string) error {
	c, err := p.header(header)
	if err != nil {
		return err
	}
	p.b.cum = []int64{0}
	var rate float64 // of the row before
	last, rows, span := int64(0), 0, int64(1000)
	for {
		line, ok := p.next()
		if !ok {
			break
		}
		ms, v, err := p.row(c, string(line))
		if err != nil {
			return err
		}
		if ms < last || !c.bytes && rows > 0 && ms == last {
			return p.errorf("time %d ms comes after %d ms", ms, last)
		}
		if c.bytes {
			if err := p.put(ms, int64(v)); err != nil {
				return err
			}
		} else {
			p.b.add(ms-last, rate)
			if rows > 0 {
				span = ms - last
			}
		}
		last, rate = ms, v
		rows++
	}
	if rows == 0 {
		return p.errorf("a header but no data")
	}
	if !c.bytes {
		p.b.add(span, rate)
	}
	return nil
}

// row reads one line: its time and its bytes or bit/s.
func (p *traceParser) row(c columns, line string) (ms int64, sum float64, err error) {
	n, seen := 0, 0
	for field := range strings.SplitSeq(line, ",") {
		field = strings.TrimSpace(field)
		if n == c.time {
			if ms, err = p.ms(field, c.timeScale); err != nil {
				return 0, 0, err
			}
			seen++
		}
		// At most one value is in this column.
		for _, col := range c.values {
			if n != col.at {
				continue
			}
			v, err := p.value(c, col, field)
			if err != nil {
				return 0, 0, err
			}
			sum += v
			seen++
		}
		n++
	}
	if seen <= len(c.values) {
		return 0, 0, p.errorf("%d columns are too few", n)
	}
	if len(c.values) > 1 && sum > maxBytesPerMs*8000 {
		return 0, 0, p.errorf("the legs together are more than 1 Gbit/s")
	}
	return ms, sum, nil
}

// value reads one value and brings it to bytes or bit/s.
func (p *traceParser) value(c columns, col column, field string) (float64, error) {
	v, err := p.number(col.what, field)
	if err != nil {
		return 0, err
	}
	limit := float64(maxBytesPerMs)
	if !c.bytes {
		limit *= 8000
	}
	if v *= col.scale; v > limit {
		return 0, p.errorf("%s %s is more than 1 Gbit/s", col.what, clip(field))
	}
	return v, nil
}
