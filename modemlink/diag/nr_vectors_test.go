// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/golden"
)

// nrVector is a file testdata/<code>/v<version>_<what>.hex: hexadecimal, NN*K
// repeats a byte, # begins a comment. The first comment tells where it is from.
type nrVector struct {
	path string // without .hex
	code LogCode
	body []byte
}

func nrVectors(tb testing.TB) []nrVector {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "b8*", "*.hex"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d vectors, %v", len(files), err)
	}
	var out []nrVector
	for _, file := range files {
		code, err := strconv.ParseUint(filepath.Base(filepath.Dir(file)), 16, 16)
		if err != nil {
			tb.Fatal(err)
		}
		v := nrVector{path: strings.TrimSuffix(file, ".hex"), code: LogCode(code)}
		text := string(readFile(tb, file))
		if !strings.HasPrefix(text, "# Made by hand") {
			tb.Errorf("%s: where is it from?", file)
		}
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			for _, word := range strings.Fields(line) {
				digits, times, repeat := strings.Cut(word, "*")
				n := 1
				if repeat {
					if n, err = strconv.Atoi(times); err != nil {
						tb.Fatal(err)
					}
				}
				b, err := hex.DecodeString(digits)
				if err != nil {
					tb.Fatalf("%s: %v", file, err)
				}
				for range n {
					v.body = append(v.body, b...)
				}
			}
		}
		out = append(out, v)
	}

	return out
}

func describeNR(r Record) string {
	s := fmt.Sprintf("%v %v tti=%d numerology=%d cell=%d", r.RAT, r.Kind, r.TTI, r.Numerology, r.Cell)
	if r.Inferred {
		s += " inferred"
	}
	if r.Kind == KindGrant {
		return s + fmt.Sprintf(" bytes=%d padding=%d retx=%d", r.Bytes, r.Padding, r.Retx)
	}
	low, high := r.Buffer(false)

	return s + fmt.Sprintf(" %v %v lcgs=%08b idx=%v bytes=%d..%d", r.Trigger, r.Form, r.LCGs, r.Index, low, high)
}

func TestNRVectors(t *testing.T) {
	for _, v := range nrVectors(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(v.path), "testdata/"), func(t *testing.T) {
			var out strings.Builder
			p := Packet{Code: v.code, Radio: 2, Logged: 77, Body: v.body}
			recs, err := ParseLog(p, nil)
			for _, r := range recs {
				if r.Code != v.code || r.Radio != 2 || r.Logged != 77 || r.RAT != NR {
					t.Errorf("header fields of %+v", r)
				}
				fmt.Fprintf(&out, "%s\n", describeNR(r))
			}
			details, err2 := Details(p)
			if fmt.Sprint(err) != fmt.Sprint(err2) {
				t.Errorf("%v from ParseLog, %v from Details", err, err2)
			}
			for _, d := range details {
				line, err := json.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s\n", line)
			}
			if err != nil {
				fmt.Fprintf(&out, "%v\n", err)
			}
			name, err := filepath.Rel("testdata", v.path+".golden")
			if err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, out.String(), name)
		})
	}
}

// The parsers of NR do not panic, give back dst on error, and make records
// only within the ranges that they promise.
func FuzzParseNR(f *testing.F) {
	for _, v := range nrVectors(f) {
		f.Add(uint16(v.code), v.body)
	}
	for _, c := range nrCases() {
		body, _ := c.random(rand.New(rand.NewPCG(5, uint64(c.version))), c.version)
		f.Add(uint16(c.code), body)
	}
	f.Fuzz(func(t *testing.T, code uint16, body []byte) {
		p := Packet{Code: LogCode(code), Body: body}
		if code>>8 != 0xB8 || parserOf(p.Code) == nil {
			return
		}
		before := []Record{{TTI: 1}}
		recs, err := ParseLog(p, before)
		if len(recs) < 1 || recs[0] != before[0] {
			t.Fatal("dst was touched")
		}
		details, err2 := Details(p)
		if fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%v from ParseLog, %v from Details", err, err2)
		}
		if recs = recs[1:]; err != nil {
			if len(recs)+len(details) != 0 || !isBad(err) && !isUnsupported(err) {
				t.Fatalf("%d records, %d details, %v", len(recs), len(details), err)
			}

			return
		}
		// At most a grant and a BSR from 20 bytes; the smallest sample has 4.
		if len(recs) > len(body)/10 || len(details) > len(body)/4 {
			t.Fatalf("%d records, %d details from %d bytes", len(recs), len(details), len(body))
		}
		for _, r := range recs {
			low, high := r.Buffer(false)
			if r.RAT != NR || r.TTI < 0 || r.TTI >= r.TTIs() || r.Numerology > 4 || r.Bytes < 0 || r.Bytes >= 1<<18 ||
				r.Padding < 0 || r.Padding > r.Bytes || low < 0 || high != -1 && high < low ||
				r.Kind == KindGrant && r.Bytes == 0 || r.Kind == KindBSR && r.Form == 0 {
				t.Fatalf("%+v", r)
			}
		}
		if len(body) >= 4 {
			if _, err := ParseLog(Packet{Code: p.Code, Body: body[:3]}, nil); !errors.Is(err, ErrTruncated) {
				t.Fatalf("three bytes: %v", err)
			}
		}
	})
}

// FuzzNRControlElements: a BSR that is read is one that TS 38.321 allows.
func FuzzNRControlElements(f *testing.F) {
	f.Add([]byte{57, 1, 2, 61, 0x49})
	f.Add([]byte{62, 4, 0x85, 10, 254, 32})
	f.Add([]byte{60, 2, 0x19, 77, 33})
	f.Fuzz(func(t *testing.T, b []byte) {
		bsr, _, err := parseNRCEs(b)
		if err != nil {
			return
		}
		if bsr.LCGs&bsr.More != 0 || bsr.More != 0 && bsr.LCID != 60 {
			t.Fatalf("%+v", bsr)
		}
		for g, idx := range bsr.Index {
			if idx != 0 && bsr.LCGs>>g&1 == 0 {
				t.Fatalf("%+v: index of a group that is not in the set", bsr)
			}
		}
		if (bsr.LCID == 0) != (bsr.form() == 0) {
			t.Fatalf("%+v", bsr)
		}
	})
}

// Decoding NR allocates nothing once dst has grown.
func TestNRAllocations(t *testing.T) {
	for _, c := range nrCases() {
		body, _ := c.random(rand.New(rand.NewPCG(6, 1)), c.version)
		p := Packet{Code: c.code, Body: body}
		var recs []Record
		if n := testing.AllocsPerRun(100, func() {
			var err error
			if recs, err = ParseLog(p, recs[:0]); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %.1f allocations a packet, want 0", c, n)
		}
	}
}

func BenchmarkNR(b *testing.B) {
	for _, c := range nrCases() {
		if c.code != LogB872 && c.code != LogB883 {
			continue
		}
		b.Run(c.String(), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(7, 0))
			var packets []Packet
			size := 0
			for range 100 {
				body, _ := c.random(rng, c.version)
				packets = append(packets, Packet{Code: c.code, Body: body})
				size += len(body)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var recs []Record
			n := 0
			for b.Loop() {
				for _, p := range packets {
					var err error
					if recs, err = ParseLog(p, recs[:0]); err != nil {
						b.Fatal(err)
					}
					n += len(recs)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
		})
	}
}
