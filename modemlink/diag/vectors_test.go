// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/golden"
)

type vector struct {
	name string
	code LogCode
	body []byte
}

func vectors(tb testing.TB) []vector {
	tb.Helper()
	var out []vector
	for line := range strings.Lines(string(readFile(tb, filepath.Join("testdata", "vectors.txt")))) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		cols := strings.Split(line, "|")
		if len(cols) != 3 {
			tb.Fatalf("%q: three columns expected", line)
		}
		code, err := strconv.ParseUint(strings.TrimSpace(cols[1]), 16, 16)
		if err != nil {
			tb.Fatal(err)
		}
		v := vector{name: strings.TrimSpace(cols[0]), code: LogCode(code)}
		for _, word := range strings.Fields(cols[2]) {
			digits, times, repeat := strings.Cut(word, "*")
			n := 1
			if repeat {
				if n, err = strconv.Atoi(times); err != nil {
					tb.Fatal(err)
				}
			}
			b, err := hex.DecodeString(digits)
			if err != nil {
				tb.Fatalf("%s: %v", v.name, err)
			}
			for range n {
				v.body = append(v.body, b...)
			}
		}
		out = append(out, v)
	}

	return out
}

func describe(r Record) string {
	s := fmt.Sprintf("%v %v", r.RAT, r.Kind)
	switch r.Kind {
	case KindGrant:
		s += fmt.Sprintf(" tti=%d cell=%d bytes=%d padding=%d retx=%d", r.TTI, r.Cell, r.Bytes, r.Padding, r.Retx)
		if r.HasPCI {
			s += fmt.Sprintf(" pci=%d", r.PCI)
		}
	case KindBSR:
		low, high := r.Buffer(false)
		s += fmt.Sprintf(" tti=%d cell=%d %v %v lcgs=%04b idx=%v bytes=%d..%d",
			r.TTI, r.Cell, r.Trigger, r.Form, r.LCGs, r.Index[:lteLCGs], low, high)
	case KindBuffer:
		s += fmt.Sprintf(" tti=%d age=%d ms queued=%d signalling=%d", r.TTI, r.AgeMs, r.Queued, r.Signalling)
	case KindConfig:
		s += fmt.Sprintf(" periodic=%v retx=%v", r.PeriodicBSR, r.RetxBSR)
	}

	return s
}

func TestVectors(t *testing.T) {
	var out strings.Builder
	for _, v := range vectors(t) {
		fmt.Fprintf(&out, "%s\n", v.name)
		recs, err := ParseLog(Packet{Code: v.code, Radio: 2, Logged: 77, Body: v.body}, nil)
		for _, r := range recs {
			if r.Code != v.code || r.Radio != 2 || r.Logged != 77 {
				t.Errorf("%s: header fields of %+v", v.name, r)
			}
			fmt.Fprintf(&out, "  %s\n", describe(r))
		}
		if err != nil {
			fmt.Fprintf(&out, "  %v\n", err)
		}
	}
	golden.Assert(t, out.String(), "vectors.golden")
}
