// SPDX-License-Identifier: MIT

package modemlink

import (
	"math"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

const (
	// maxEntries is how many samples, grants or reports one batch may have:
	// a second of one-millisecond TTIs. More than that is split or ignored.
	maxEntries = 1024
	// maxBytes is beyond any buffer or transport block: a BSR's last bin starts
	// at 81 MB (TS 38.321 6.1.3.1), a slot carries less than 1 MB.
	maxBytes = 1 << 30
	// maxAge is how old telemetry may be when it is sent. The slowest log
	// packet of a modem is kept back for 1.3 s.
	maxAge = 10 * time.Second
	// maxPCI is 1007 on NR and 503 on LTE, TS 38.211 7.4.2.1.
	maxPCI = 1007
	// maxCells is beyond the 32 carriers of carrier aggregation.
	maxCells = 64
	// maxSFN is the greatest frame number, TS 36.331 and TS 38.331 MIB.
	maxSFN = 1023
)

// encoder turns telemetry into messages. It is pure.
type encoder struct{ epoch time.Time }

func (e encoder) ns(t time.Time) int64 { return int64(t.Sub(e.epoch)) }

// encode copies t, so that the caller may reuse it. It returns nil when t has
// no samples, grants and reports. t has at most maxEntries of each.
func (e encoder) encode(t gbr.Telemetry) *pb.Batch {
	if len(t.Samples)+len(t.Grants)+len(t.Reports) == 0 {
		return nil
	}
	b := &pb.Batch{}
	if n := len(t.Samples); n > 0 {
		block := make([]pb.Sample, n)
		b.Samples = make([]*pb.Sample, n)
		for i, s := range t.Samples {
			m := &block[i]
			m.AtNs = e.ns(s.At)
			m.WindowUs = toMicros(s.Window)
			m.GrantedBytes = toBytes(s.Granted)
			m.ReportedBytes = toBytes(s.Reported)
			m.ReportedLowBytes = toBytes(s.ReportedLow)
			m.SumGrantedBytes, m.SumReportedBytes = toSum(s.SumGranted), toSum(s.SumReported)
			m.Rat = encodeRAT(s.RAT)
			if s.RAT != gbr.RATUnknown && s.SFN >= 0 && s.SFN <= maxSFN {
				sfn := uint32(s.SFN)
				m.Sfn = &sfn
			}
			m.FirstGrant = s.Flags&gbr.FlagFirstGrant != 0
			m.Corrected = s.Flags&gbr.FlagCorrected != 0
			m.Inferred = s.Flags&gbr.FlagInferred != 0
			m.Summed = s.Flags&gbr.FlagSummed != 0
			b.Samples[i] = m
		}
	}
	if n := len(t.Grants); n > 0 {
		block := make([]pb.Grant, n)
		b.Grants = make([]*pb.Grant, n)
		for i, g := range t.Grants {
			m := &block[i]
			m.AtNs, m.Bytes, m.Cell = e.ns(g.At), toBytes(g.Bytes), uint32(min(max(g.Cell, 0), maxCells-1))
			b.Grants[i] = m
		}
	}
	if n := len(t.Reports); n > 0 {
		block := make([]pb.Report, n)
		b.Reports = make([]*pb.Report, n)
		for i, r := range t.Reports {
			m := &block[i]
			m.AtNs, m.LowBytes, m.Padding = e.ns(r.At), toBytes(r.Low), r.Padding
			if r.High >= 0 {
				high := toBytes(r.High)
				m.HighBytes = &high
			}
			b.Reports[i] = m
		}
	}

	return b
}

func encodeConfig(c gbr.RadioConfig) *pb.RadioConfig {
	m := &pb.RadioConfig{Rat: encodeRAT(c.RAT), PeriodUs: toMicros(c.Period), LagUs: toMicros(c.Lag)}
	if c.PCI >= 0 && c.PCI <= maxPCI {
		pci := uint32(c.PCI)
		m.Pci = &pci
	}

	return m
}

func encodeRAT(r gbr.RAT) pb.Rat {
	switch r {
	case gbr.RATLTE:
		return pb.Rat_RAT_LTE
	case gbr.RATNR:
		return pb.Rat_RAT_NR
	case gbr.RATUnknown:
		fallthrough
	default:
		return pb.Rat_RAT_UNSPECIFIED
	}
}

// split cuts t into parts of at most maxEntries each and calls f with them.
func split(t gbr.Telemetry, f func(gbr.Telemetry)) {
	for len(t.Samples) > maxEntries || len(t.Grants) > maxEntries || len(t.Reports) > maxEntries {
		s, g, r := min(len(t.Samples), maxEntries), min(len(t.Grants), maxEntries), min(len(t.Reports), maxEntries)
		f(gbr.Telemetry{Samples: t.Samples[:s], Grants: t.Grants[:g], Reports: t.Reports[:r]})
		t.Samples, t.Grants, t.Reports = t.Samples[s:], t.Grants[g:], t.Reports[r:]
	}
	f(t)
}

func toBytes(n int) uint32 { return uint32(min(max(n, 0), maxBytes)) }

// maxSum bounds the sum of windows that may have maxBytes each; it fits an int
// everywhere.
const maxSum = math.MaxInt32

func toSum(n int) uint32 { return uint32(min(max(n, 0), maxSum)) }

func toMicros(d time.Duration) uint32 {
	return uint32(min(max(d.Microseconds(), 0), math.MaxUint32))
}

// decoder turns messages into telemetry in buffers of its own. It trusts
// nothing: what cannot be true is left out and counted. It is pure and not safe
// for concurrent use.
type decoder struct {
	clock clock
	// base is where local durations count from.
	base    time.Time
	tel     gbr.Telemetry
	config  gbr.RadioConfig
	ignored uint64
}

// decode returns b as telemetry at local time now, valid until the next call.
// Times are at or before now and ascend within each slice.
func (d *decoder) decode(now time.Duration, b *pb.Batch) gbr.Telemetry {
	d.tel.Samples, d.tel.Grants, d.tel.Reports = d.tel.Samples[:0], d.tel.Grants[:0], d.tel.Reports[:0]
	d.tel.Config = nil

	var last time.Time
	for i, m := range b.GetSamples() {
		at, ok := d.time(now, m.GetAtNs(), b.GetSentAtNs())
		if !ok || i >= maxEntries || m.GetGrantedBytes() > maxBytes ||
			m.GetReportedBytes() > maxBytes || m.GetReportedLowBytes() > m.GetReportedBytes() {
			d.ignored++

			continue
		}
		last = later(last, at)
		d.tel.Samples = append(d.tel.Samples, gbr.Sample{
			At: last, Window: micros(m.GetWindowUs()), Granted: int(m.GetGrantedBytes()),
			Reported: int(m.GetReportedBytes()), ReportedLow: int(m.GetReportedLowBytes()),
			SumGranted: int(min(m.GetSumGrantedBytes(), maxSum)), SumReported: int(min(m.GetSumReportedBytes(), maxSum)),
			RAT: decodeRAT(m.GetRat()), SFN: decodeSFN(m), Flags: decodeFlags(m),
		})
	}
	last = time.Time{}
	for i, m := range b.GetGrants() {
		at, ok := d.time(now, m.GetAtNs(), b.GetSentAtNs())
		if !ok || i >= maxEntries || m.GetBytes() > maxBytes || m.GetCell() >= maxCells {
			d.ignored++

			continue
		}
		last = later(last, at)
		d.tel.Grants = append(d.tel.Grants, gbr.Grant{At: last, Bytes: int(m.GetBytes()), Cell: int(m.GetCell())})
	}
	last = time.Time{}
	for i, m := range b.GetReports() {
		at, ok := d.time(now, m.GetAtNs(), b.GetSentAtNs())
		bounded := m != nil && m.HighBytes != nil
		if !ok || i >= maxEntries || m.GetLowBytes() > maxBytes ||
			bounded && (m.GetHighBytes() > maxBytes || m.GetHighBytes() < m.GetLowBytes()) {
			d.ignored++

			continue
		}
		last = later(last, at)
		r := gbr.Report{At: last, Low: int(m.GetLowBytes()), High: -1, Padding: m.GetPadding()}
		if bounded {
			r.High = int(m.GetHighBytes())
		}
		d.tel.Reports = append(d.tel.Reports, r)
	}
	if c := b.GetConfig(); c != nil {
		d.config = decodeConfig(c)
		d.tel.Config = &d.config
	}

	return d.tel
}

// time maps an agent time of a message sent at an agent time.
func (d *decoder) time(now time.Duration, at, sent int64) (time.Time, bool) {
	if age := satSub(time.Duration(sent), time.Duration(at)); age > maxAge || age < -maxAge {
		return time.Time{}, false
	}

	local := d.clock.local(now, time.Duration(at))
	if satSub(now, local) > 2*maxAge {
		return time.Time{}, false // clocks that cannot be compared
	}

	return d.base.Add(local), true
}

func decodeConfig(m *pb.RadioConfig) gbr.RadioConfig {
	c := gbr.RadioConfig{RAT: decodeRAT(m.GetRat()), Period: micros(m.GetPeriodUs()), Lag: micros(m.GetLagUs()), PCI: -1}
	if m.Pci != nil && m.GetPci() <= maxPCI {
		c.PCI = int(m.GetPci())
	}

	return c
}

func decodeRAT(r pb.Rat) gbr.RAT {
	switch r {
	case pb.Rat_RAT_LTE:
		return gbr.RATLTE
	case pb.Rat_RAT_NR:
		return gbr.RATNR
	case pb.Rat_RAT_UNSPECIFIED:
		fallthrough
	default: // a later version's
		return gbr.RATUnknown
	}
}

// decodeSFN returns -1 for unknown; without a RAT it means nothing.
func decodeSFN(m *pb.Sample) int {
	switch {
	case decodeRAT(m.GetRat()) == gbr.RATUnknown:
		return 0
	case m.Sfn == nil || m.GetSfn() > maxSFN:
		return -1
	default:
		return int(m.GetSfn())
	}
}

func decodeFlags(m *pb.Sample) (f gbr.SampleFlags) {
	for _, b := range [...]struct {
		set  bool
		flag gbr.SampleFlags
	}{
		{m.GetFirstGrant(), gbr.FlagFirstGrant},
		{m.GetCorrected(), gbr.FlagCorrected},
		{m.GetInferred(), gbr.FlagInferred},
		{m.GetSummed(), gbr.FlagSummed},
	} {
		if b.set {
			f |= b.flag
		}
	}

	return f
}

func micros(us uint32) time.Duration { return time.Duration(us) * time.Microsecond }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}

	return a
}
