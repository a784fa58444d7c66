// SPDX-License-Identifier: MIT

package modemlink

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gbrcc/gbrcc/gbr"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// decoderAt has an agent clock that is 1 h ahead of the local one.
func decoderAt(base time.Time) *decoder {
	d := &decoder{base: base}
	d.clock.pinged(0, 0, time.Hour, time.Hour)

	return d
}

func TestRoundTrip(t *testing.T) {
	base := time.Now()
	in := gbr.Telemetry{
		Samples: []gbr.Sample{
			{At: base.Add(-3 * ms), Window: 5 * ms, Granted: 700, Reported: 1500, ReportedLow: 1200},
			{
				At: base.Add(-2 * ms), Window: 5 * ms, Granted: 700, Reported: 1500, ReportedLow: 1200,
				SumGranted: 1400, SumReported: maxSum, RAT: gbr.RATLTE, Flags: gbr.FlagFirstGrant | gbr.FlagCorrected,
			},
			{At: base.Add(-1 * ms), Reported: 1, RAT: gbr.RATNR, SFN: 1023, Flags: gbr.FlagInferred},
			{At: base.Add(1 * ms), Reported: 1, Flags: gbr.FlagSummed | gbr.FlagCorrected},
			{At: base.Add(2 * ms), Window: 5 * ms, RAT: gbr.RATNR, SFN: -1},
		},
		Grants:  []gbr.Grant{{At: base.Add(-2 * ms), Bytes: 700, Cell: 1}, {At: base}},
		Reports: []gbr.Report{{At: base, Low: 0, High: 0, Padding: true}, {At: base, Low: 81_338_368, High: -1}},
		Config:  &gbr.RadioConfig{RAT: gbr.RATNR, Period: 5 * ms, Lag: 8 * ms, PCI: 1007},
	}
	// The agent's epoch lies an hour before the client's.
	enc := encoder{epoch: base.Add(-time.Hour)}
	b := enc.encode(in)
	b.Config = encodeConfig(*in.Config)
	b.SentAtNs = int64(time.Hour + 3*ms)
	data, err := proto.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(data))
	var back pb.Batch
	if err := proto.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	d := decoderAt(base)
	got := d.decode(10*ms, &back)
	if !reflect.DeepEqual(got, in) || d.ignored != 0 {
		t.Errorf("got  %+v %+v\nwant %+v %+v\nignored %d", got, got.Config, in, in.Config, d.ignored)
	}
}

func TestEncodeEmpty(t *testing.T) {
	if b := (encoder{}).encode(gbr.Telemetry{Config: &gbr.RadioConfig{}}); b != nil {
		t.Errorf("an empty batch became %v", b)
	}
}

func TestEncodeClamps(t *testing.T) {
	b := encoder{}.encode(gbr.Telemetry{
		Samples: []gbr.Sample{{Window: -1, Granted: -1, Reported: math.MaxInt, ReportedLow: math.MinInt}},
		Grants:  []gbr.Grant{{Bytes: math.MaxInt, Cell: -7}},
	})
	s, g := b.GetSamples()[0], b.GetGrants()[0]
	if s.GetWindowUs() != 0 || s.GetGrantedBytes() != 0 || s.GetReportedBytes() != maxBytes || s.GetReportedLowBytes() != 0 ||
		g.GetBytes() != maxBytes || g.GetCell() != 0 {
		t.Errorf("got %v", b)
	}
	c := encodeConfig(gbr.RadioConfig{RAT: 99, Period: time.Duration(math.MaxInt64), PCI: 5000})
	if c.GetRat() != pb.Rat_RAT_UNSPECIFIED || c.GetPeriodUs() != math.MaxUint32 || c.Pci != nil {
		t.Errorf("got %v", c)
	}
}

func TestSplit(t *testing.T) {
	in := gbr.Telemetry{Samples: make([]gbr.Sample, 3), Grants: make([]gbr.Grant, 2*maxEntries+1), Config: &gbr.RadioConfig{}}
	for i := range in.Grants {
		in.Grants[i].Bytes = i
	}
	var sizes, grants []int
	split(in, func(t gbr.Telemetry) {
		sizes = append(sizes, len(t.Samples), len(t.Grants))
		for _, g := range t.Grants {
			grants = append(grants, g.Bytes)
		}
	})
	if want := []int{3, maxEntries, 0, maxEntries, 0, 1}; !slices.Equal(sizes, want) {
		t.Errorf("parts %v, want %v", sizes, want)
	}
	if len(grants) != len(in.Grants) || !slices.IsSorted(grants) {
		t.Errorf("%d grants, sorted %t", len(grants), slices.IsSorted(grants))
	}
}

// What a hostile or broken agent may send is left out, the rest is kept.
func TestDecodeIgnoresNonsense(t *testing.T) {
	base := time.Now()
	const sent = int64(time.Hour)
	high := uint32(5)
	big := uint32(math.MaxUint32)
	b := &pb.Batch{
		SentAtNs: sent,
		Samples: []*pb.Sample{
			nil, // as an empty message, at time 0
			{AtNs: math.MinInt64},
			{AtNs: math.MaxInt64},
			{AtNs: sent, GrantedBytes: math.MaxUint32},
			{AtNs: sent, ReportedBytes: math.MaxUint32},
			{AtNs: sent, ReportedBytes: 5, ReportedLowBytes: 6},
			{AtNs: sent, GrantedBytes: 1, ReportedBytes: 2, WindowUs: math.MaxUint32},
			{AtNs: sent - int64(ms), GrantedBytes: 2, ReportedBytes: 2}, // before the one above
			{AtNs: sent, Rat: 77, Sfn: &big, SumGrantedBytes: big, SumReportedBytes: big},
			{AtNs: sent, Rat: pb.Rat_RAT_NR, Sfn: &big},
		},
		Grants: []*pb.Grant{
			{AtNs: sent, Bytes: math.MaxUint32},
			{AtNs: sent, Cell: math.MaxUint32},
			{AtNs: sent + int64(5*time.Second), Bytes: 3}, // from the future
		},
		Reports: []*pb.Report{
			{AtNs: sent, LowBytes: 6, HighBytes: &high},
			{AtNs: sent, LowBytes: big},
			{AtNs: sent, HighBytes: &big},
			{AtNs: sent, LowBytes: 4, HighBytes: &high},
		},
		Config: &pb.RadioConfig{Rat: 77, Pci: &big, PeriodUs: big, LagUs: big},
	}
	d := decoderAt(base)
	got := d.decode(20*ms, b)
	if d.ignored != 11 {
		t.Errorf("ignored %d entries, want 11", d.ignored)
	}
	if len(got.Samples) != 4 || got.Samples[0].Granted != 1 || got.Samples[1].At != got.Samples[0].At {
		t.Fatalf("samples %+v, want four, with ascending times", got.Samples)
	}
	if s := got.Samples[2]; s.RAT != gbr.RATUnknown || s.SFN != 0 || s.SumGranted != maxSum || s.SumReported != maxSum {
		t.Errorf("sample %+v, want an unknown RAT and bounded sums", s)
	}
	if s := got.Samples[3]; s.RAT != gbr.RATNR || s.SFN != -1 {
		t.Errorf("sample %+v, want NR with an unknown frame number", s)
	}
	if len(got.Grants) != 1 || got.Grants[0].At != base.Add(20*ms) {
		t.Errorf("grants %+v, want one, at now", got.Grants)
	}
	if len(got.Reports) != 1 || got.Reports[0].High != 5 {
		t.Errorf("reports %+v, want one", got.Reports)
	}
	if c := got.Config; c == nil || c.RAT != gbr.RATUnknown || c.PCI != -1 || c.Period != math.MaxUint32*time.Microsecond {
		t.Errorf("config %+v", c)
	}
	many := &pb.Batch{SentAtNs: sent, Grants: make([]*pb.Grant, maxEntries+10)}
	for i := range many.GetGrants() {
		many.Grants[i] = &pb.Grant{AtNs: sent}
	}
	if got := d.decode(20*ms, many); len(got.Grants) != maxEntries {
		t.Errorf("%d grants in a batch, want at most %d", len(got.Grants), maxEntries)
	}
}

func FuzzBatch(f *testing.F) {
	base := time.Unix(1_000_000, 0)
	good := encoder{epoch: base}.encode(gbr.Telemetry{
		Samples: []gbr.Sample{{
			At: base.Add(time.Second), Window: 5 * ms, Granted: 7, Reported: 9, ReportedLow: 8,
			SumGranted: 7, SumReported: 9, RAT: gbr.RATLTE, SFN: 512, Flags: gbr.FlagFirstGrant | gbr.FlagInferred,
		}},
		Grants:  []gbr.Grant{{At: base.Add(time.Second), Bytes: 7}},
		Reports: []gbr.Report{{At: base.Add(time.Second), Low: 1, High: -1}},
	})
	good.Config = encodeConfig(gbr.RadioConfig{RAT: gbr.RATLTE, PCI: 3})
	good.SentAtNs = int64(time.Second)
	data, err := proto.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, int64(time.Second))
	f.Add([]byte{}, int64(0))
	f.Fuzz(func(t *testing.T, data []byte, now int64) {
		var b pb.Batch
		if now < 0 || proto.Unmarshal(data, &b) != nil {
			return
		}
		d := decoder{base: base}
		d.clock.heard(time.Duration(now), time.Duration(b.GetSentAtNs()))
		limit := base.Add(time.Duration(now))
		for range 2 { // the second time in used buffers
			checkTelemetry(t, d.decode(time.Duration(now), &b), limit)
		}
	})
}

func checkTelemetry(t *testing.T, tel gbr.Telemetry, now time.Time) {
	t.Helper()
	var last time.Time
	check := func(at time.Time, bytes ...int) {
		if at.After(now) || at.Before(last) {
			t.Errorf("time %v after now %v or before %v", at, now, last)
		}
		last = at
		for _, n := range bytes {
			if n < 0 || n > maxBytes {
				t.Errorf("%d bytes", n)
			}
		}
	}
	for _, s := range tel.Samples {
		check(s.At, s.Granted, s.Reported, s.ReportedLow, s.Reported-s.ReportedLow)
		if s.Window < 0 || s.SFN < -1 || s.SFN > maxSFN || s.SumGranted < 0 || s.SumReported < 0 || s.RAT.String()[0] == 'r' {
			t.Errorf("sample %+v", s)
		}
	}
	last = time.Time{}
	for _, g := range tel.Grants {
		check(g.At, g.Bytes, g.Cell)
	}
	last = time.Time{}
	for _, r := range tel.Reports {
		check(r.At, r.Low, max(r.High, 0))
		if r.High != -1 && r.High < r.Low {
			t.Errorf("report %+v", r)
		}
	}
	if c := tel.Config; c != nil && (c.PCI < -1 || c.PCI > maxPCI || c.Period < 0 || c.Lag < 0) {
		t.Errorf("config %+v", c)
	}
}

func BenchmarkEncode(b *testing.B) {
	now := time.Now()
	t := gbr.Telemetry{
		Samples: []gbr.Sample{{At: now, Window: 5 * ms, Granted: 900, Reported: 1500}},
		Grants:  make([]gbr.Grant, 5), Reports: make([]gbr.Report, 1),
	}
	enc := encoder{epoch: now}
	b.ReportAllocs()
	for b.Loop() {
		enc.encode(t)
	}
}

func BenchmarkDecode(b *testing.B) {
	base := time.Now()
	t := gbr.Telemetry{
		Samples: []gbr.Sample{{At: base, Window: 5 * ms, Granted: 900, Reported: 1500}},
		Grants:  slices.Repeat([]gbr.Grant{{At: base, Bytes: 200}}, 5), Reports: []gbr.Report{{At: base}},
	}
	m := encoder{epoch: base}.encode(t)
	d := decoder{base: base}
	d.clock.pinged(0, 0, 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		d.decode(ms, m)
	}
}
