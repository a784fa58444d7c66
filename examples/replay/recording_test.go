// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// What an agent records is read, and -json prints the same lines for its samples.
func TestAgentsRecording(t *testing.T) {
	const ms = time.Millisecond
	epoch := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	var rec bytes.Buffer
	w := source.NewWriter(&rec)
	for _, b := range []struct {
		now time.Duration
		tel gbr.Telemetry
	}{
		{20 * ms, gbr.Telemetry{
			Samples: []gbr.Sample{
				{
					At: at(5 * ms), Window: 5 * ms, Granted: 700, Reported: 1552, ReportedLow: 1326,
					SumGranted: 700, SumReported: 1552, RAT: gbr.RATLTE, SFN: 1023, Flags: gbr.FlagFirstGrant,
				},
				{At: at(10*ms + 7*time.Microsecond), Window: 5 * ms, Reported: 1552, Flags: gbr.FlagCorrected | gbr.FlagInferred},
			},
			Grants:  []gbr.Grant{{At: at(3 * ms), Bytes: 300}, {At: at(4 * ms), Bytes: 400, Cell: 1}},
			Reports: []gbr.Report{{At: at(0), Low: 1326, High: 1552}, {At: at(1 * ms), Low: 150_001, High: -1, Padding: true}},
			Config:  &gbr.RadioConfig{RAT: gbr.RATLTE, Period: 5 * ms, Lag: 8 * ms, PCI: 77},
		}},
		{31250 * time.Microsecond, gbr.Telemetry{Samples: []gbr.Sample{{At: at(30 * ms), Window: 20 * ms, RAT: gbr.RATNR, SFN: -1}}}},
		{40 * ms, gbr.Telemetry{Samples: []gbr.Sample{{At: at(35 * ms), Granted: 9, Reported: 3, SumGranted: 9, SumReported: 3, Flags: gbr.FlagSummed}}}},
	} {
		if err := w.Write(at(b.now), b.tel); err != nil {
			t.Fatal(err)
		}
	}
	var want strings.Builder
	for line := range strings.Lines(rec.String()) {
		if !strings.Contains(line, `"kind"`) {
			want.WriteString(line)
		}
	}
	path := write(t, "agent.jsonl", rec.Bytes())
	if r := execute(t, "-json", path); r.out != want.String() || strings.Count(r.out, "\n") != 4 || r.status != 0 || r.errors != "" {
		t.Errorf("%+v, want\n%s", r, &want)
	}
	r := execute(t, path)
	for _, want := range []string{
		"lines    config 1, grant 2, report 2, sample 4\n", "LTE, cell PCI 77, T 5 ms, L 8 ms", "2 first transmissions, 700 bytes",
		"2 (BSRs), 1 of them padding",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s", want, r.out)
		}
	}
}

// What -json prints is played by an agent: the same samples, in time.
func TestAgentPlaysSamples(t *testing.T) {
	r := execute(t, "-json", write(t, "hand.hdlc", hdlc(byHand(t))))
	var want []source.Item
	for line := range strings.Lines(r.out) {
		it, known, err := source.ParseLine([]byte(line))
		if err != nil || !known || it.Kind != source.KindSample {
			t.Fatalf("%s: %t, %v", line, known, err)
		}
		want = append(want, it)
	}
	if len(want) < 100 {
		t.Fatalf("%d samples", len(want))
	}
	path := write(t, "samples.jsonl", []byte(r.out))
	synctest.Test(t, func(t *testing.T) {
		src, err := source.Open("file:"+path, source.Config{})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var got []source.Item
		if err := src.Run(context.Background(), func(tel gbr.Telemetry) {
			for _, s := range tel.Samples {
				it := source.Item{At: s.At.Sub(start) + want[0].Out, Out: time.Since(start) + want[0].Out, Sample: s, Config: want[len(got)].Config}
				it.Sample.At = time.Time{}
				got = append(got, it)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d samples, want %d", len(got), len(want))
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("sample %d is\n%+v, want\n%+v", i, got[i], want[i])
				}
			}
		}
	})
}
