// SPDX-License-Identifier: MIT

package ratio

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// script runs a scenario. Lines:
//
//	config period=5 lag=8 nrperiod=5 nrlag=5 hold=15 settle=-1 lcgs=14   ms; before all others
//	at MS            the agent's clock for what follows
//	RECORD; RECORD   one log packet; RECORD is
//	  grant tti=N bytes=N [retx=N] [cell=N] [pci=N] [src=b064]
//	  bsr tti=N idx=N [lcg=N] [trigger=periodic] [form=short]
//	  timer periodic=MS
//	  queue tti=N bytes=N [sig=N] [n=N] [age=MS] the phone's own, in n TTIs; the
//	    last is age old
//	  nrgrant slot=N mu=N bytes=N [retx=N] [cell=N] [src=b883]
//	  nrbsr slot=N mu=N idx=N [lcg=N] [trigger=periodic] [form=short]
//	  nrtimer periodic=MS
//	    any with [log=MS] the modem's stamp, [radio=N], [inferred=1]; each with
//	    [x=N step=N] N times, TTI advancing by step
//	run MS           call OnTimeout whenever it is due until then
//	skip MS          the same, and only count samples
//	stats            print the counters that matter
//
// The golden output echoes the script with what each line brought.
type script struct {
	tb  testing.TB
	a   *Assembler
	t0  time.Time
	at  time.Time
	out strings.Builder
}

func (s *script) ms(t time.Time) string {
	return strconv.FormatFloat(float64(t.Sub(s.t0).Microseconds())/1000, 'f', -1, 64)
}

func (s *script) print(tel gbr.Telemetry) {
	if c := tel.Config; c != nil {
		fmt.Fprintf(&s.out, "    config %v period=%v lag=%v pci=%d\n", c.RAT, c.Period, c.Lag, c.PCI)
	}
	for _, g := range tel.Grants {
		fmt.Fprintf(&s.out, "    grant at=%s bytes=%d cell=%d\n", s.ms(g.At), g.Bytes, g.Cell)
	}
	for _, r := range tel.Reports {
		fmt.Fprintf(&s.out, "    report at=%s bytes=%d..%d padding=%v\n", s.ms(r.At), r.Low, r.High, r.Padding)
	}
	for _, w := range tel.Samples {
		what := "idle"
		if eta, ok := w.Ratio(); ok {
			what = fmt.Sprintf("ratio=%.3f", eta)
		}
		for i, word := range []string{" first_grant", " corrected", " inferred", " summed"} {
			if w.Flags>>i&1 != 0 {
				what += word
			}
		}
		fmt.Fprintf(&s.out, "    sample at=%s window=%v granted=%d reported=%d..%d %s sums=%d/%d %v sfn=%d\n",
			s.ms(w.At), w.Window, w.Granted, w.ReportedLow, w.Reported, what, w.SumGranted, w.SumReported, w.RAT, w.SFN)
	}
}

func (s *script) number(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		s.tb.Fatal(err)
	}

	return n
}

func (s *script) config(words []string) Config {
	var cfg Config
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		d := time.Duration(s.number(v)) * time.Millisecond
		switch k {
		case "period":
			cfg.Period = d
		case "lag":
			cfg.Lag = d
		case "nrperiod":
			cfg.NRPeriod = d
		case "nrlag":
			cfg.NRLag = d
		case "hold":
			cfg.Hold = d
		case "settle":
			cfg.Settle = d
		case "lcgs":
			cfg.LCGs = uint8(s.number(v))
		default:
			s.tb.Fatalf("config %q", w)
		}
	}

	return cfg
}

func (s *script) records(text string) []diag.Record {
	words := strings.Fields(text)
	r := diag.Record{RAT: diag.LTE, Code: diag.LogB139}
	lcg, idx, times, step, age := 0, 0, 1, 0, 0
	verb, nr := strings.CutPrefix(words[0], "nr")
	switch verb {
	case "grant":
		r.Kind = diag.KindGrant
	case "bsr":
		r.Kind, r.Code, r.Form, r.Trigger = diag.KindBSR, diag.LogB064, diag.FormShort, diag.TriggerPeriodic
	case "timer":
		r.Kind, r.Code = diag.KindConfig, diag.LogB060
	case "queue":
		r.Kind, r.Code = diag.KindBuffer, diag.LogB066
	default:
		s.tb.Fatalf("record %q", text)
	}
	if nr {
		r.RAT, r.Code = diag.NR, diag.LogB872
	}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "mu":
			r.Numerology = uint8(s.number(v))
		case "inferred":
			r.Inferred = true
		case "tti", "slot":
			r.TTI = s.number(v)
		case "bytes":
			r.Bytes, r.Queued = s.number(v), s.number(v)
		case "sig":
			r.Signalling = s.number(v)
		case "n":
			times, step = s.number(v), 1
		case "age":
			age = s.number(v)
		case "retx":
			r.Retx = s.number(v)
		case "cell":
			r.Cell = s.number(v)
		case "pci":
			r.PCI, r.HasPCI = s.number(v), true
		case "src":
			r.Code = map[string]diag.LogCode{"b064": diag.LogB064, "b883": diag.LogB883}[v]
		case "idx":
			idx = s.number(v)
		case "lcg":
			lcg = s.number(v)
		case "form":
			r.Form = map[string]diag.Form{"long": diag.FormLong, "truncated": diag.FormTruncated}[v]
		case "trigger":
			r.Trigger = map[string]diag.Trigger{
				"regular": diag.TriggerRegular, "padding": diag.TriggerPadding, "retx": diag.TriggerRetx,
				"unknown": diag.TriggerUnknown,
			}[v]
		case "periodic":
			r.PeriodicBSR = time.Duration(s.number(v)) * time.Millisecond
		case "log":
			r.Logged = diag.TimestampOf(s.t0.Add(time.Duration(s.number(v)) * time.Millisecond))
		case "radio":
			r.Radio = uint32(s.number(v))
		case "x":
			times = s.number(v)
		case "step":
			step = s.number(v)
		default:
			s.tb.Fatalf("word %q", w)
		}
	}
	r.LCGs, r.Index[lcg] = 1<<lcg, uint8(idx)
	if r.Form == diag.FormLong && !nr {
		r.LCGs = 15
	}
	var out []diag.Record
	for i := range times {
		r.AgeMs = age + times - 1 - i
		out = append(out, r)
		if r.TTI >= 0 {
			r.TTI = (r.TTI + step) % r.TTIs()
		}
	}

	return out
}

func (s *script) line(line string) {
	words := strings.Fields(line)
	switch words[0] {
	case "config":
		s.a = newAssembler(s.tb, s.config(words[1:]))
	case "at":
		s.at = s.t0.Add(time.Duration(s.number(words[1])) * time.Millisecond)
	case "run", "skip":
		samples := 0
		end := s.t0.Add(time.Duration(s.number(words[1])) * time.Millisecond)
		for {
			next := s.a.NextTimeout()
			if next.IsZero() || next.After(end) {
				break
			}
			tel := s.a.OnTimeout(next)
			samples += len(tel.Samples)
			if words[0] == "run" {
				fmt.Fprintf(&s.out, "  timeout %s\n", s.ms(next))
				s.print(tel)
			}
			if again := s.a.NextTimeout(); !again.IsZero() && !again.After(next) {
				s.tb.Fatalf("NextTimeout stays at %s", s.ms(next))
			}
		}
		if words[0] == "skip" {
			fmt.Fprintf(&s.out, "    %d samples\n", samples)
		}
	case "stats":
		st := s.a.Stats()
		fmt.Fprintf(&s.out, "    %+v\n", st)
	default:
		var recs []diag.Record
		for _, text := range strings.Split(line, ";") {
			recs = append(recs, s.records(text)...)
		}
		s.print(s.a.OnRecords(s.at, recs))
	}
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t0 := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			s := &script{tb: t, t0: t0, at: t0}
			for line := range strings.Lines(string(b)) {
				line = strings.TrimSpace(line)
				fmt.Fprintln(&s.out, line)
				if line == "" || line[0] == '#' {
					continue
				}
				s.line(line)
			}
			golden.Assert(t, s.out.String(), name+".golden")
		})
	}
}
