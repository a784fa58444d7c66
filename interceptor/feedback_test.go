// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/ccfb"
	"github.com/pion/interceptor/pkg/rtpfb"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gcc"
)

func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// sendTransport sends n packets, one each millisecond, with the numbers that
// follow first.
func sendTransport(h *history, first uint16, n int) {
	h.nextTransport = 1<<16 + int64(first)
	for i := range n {
		h.beginTransport(epoch().Add(time.Duration(i)*time.Millisecond), 1000+i, false)
	}
}

// status is one packet of a report: small, large, none or no delta.
type status struct {
	symbol uint16
	delta  int64 // us
}

// encode makes a report of random chunks, not always the shortest ones.
func encode(rng *rand.Rand, base uint16, reference uint32, statuses []status) *rtcp.TransportLayerCC {
	fb := &rtcp.TransportLayerCC{
		Header:             rtcp.Header{Type: rtcp.TypeTransportSpecificFeedback, Count: rtcp.FormatTCC},
		BaseSequenceNumber: base, PacketStatusCount: uint16(len(statuses)), ReferenceTime: reference & 0xffffff,
	}
	for _, s := range statuses {
		if timed(s.symbol) {
			fb.RecvDeltas = append(fb.RecvDeltas, &rtcp.RecvDelta{Type: s.symbol, Delta: s.delta})
		}
	}
	for len(statuses) > 0 {
		run := 1
		for run < len(statuses) && statuses[run].symbol == statuses[0].symbol {
			run++
		}
		oneBit := true
		for _, s := range statuses[:min(14, len(statuses))] {
			oneBit = oneBit && s.symbol <= rtcp.TypeTCCPacketReceivedSmallDelta
		}
		take := 0
		switch k := rng.IntN(3); {
		case run >= 7 || k == 0:
			take = run
			length := run
			if run == len(statuses) && rng.IntN(2) == 0 {
				length = min(8191, run+rng.IntN(50)) // more than the count says
			}
			fb.PacketChunks = append(fb.PacketChunks, &rtcp.RunLengthChunk{
				PacketStatusSymbol: statuses[0].symbol, RunLength: uint16(length),
			})
		default:
			c := &rtcp.StatusVectorChunk{Type: rtcp.TypeTCCStatusVectorChunk, SymbolSize: rtcp.TypeTCCSymbolSizeTwoBit}
			size := 7
			if oneBit && k == 1 {
				c.SymbolSize, size = rtcp.TypeTCCSymbolSizeOneBit, 14
			}
			take = min(size, len(statuses))
			for i := range size {
				symbol := uint16(0)
				if i < take {
					symbol = statuses[i].symbol
				}
				c.SymbolList = append(c.SymbolList, symbol)
			}
			fb.PacketChunks = append(fb.PacketChunks, c)
		}
		statuses = statuses[take:]
	}
	size := fb.MarshalSize()
	n := 4 + 16 + 2*len(fb.PacketChunks)
	for _, d := range fb.RecvDeltas {
		n += int(d.Type) // a small delta is 1, a large one 2 bytes
	}
	fb.Header.Padding = size != n
	fb.Header.Length = uint16(size/4 - 1)

	return fb
}

func TestTransportCC(t *testing.T) {
	const small, large, none, noDelta = rtcp.TypeTCCPacketReceivedSmallDelta, rtcp.TypeTCCPacketReceivedLargeDelta,
		rtcp.TypeTCCPacketNotReceived, rtcp.TypeTCCPacketReceivedWithoutDelta
	run := func(symbol, length uint16) rtcp.PacketStatusChunk {
		return &rtcp.RunLengthChunk{PacketStatusSymbol: symbol, RunLength: length}
	}
	deltas := func(us ...int64) (d []*rtcp.RecvDelta) {
		for _, v := range us {
			d = append(d, &rtcp.RecvDelta{Delta: v})
		}

		return d
	}
	type want struct {
		seq     int64
		arrival gcc.RemoteTime // -1: missing
	}
	ref := gcc.RemoteTime(10 * 64000)
	for _, c := range []struct {
		name    string
		first   uint16 // number of the first of 20 packets sent
		fb      rtcp.TransportLayerCC
		want    []want
		unknown int64
		untimed int64
		bad     bool
	}{
		{name: "run of received", fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 2, PacketStatusCount: 2, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(small, 2)}, RecvDeltas: deltas(250, 500),
		}, want: []want{{2, ref + 250}, {3, ref + 750}}},
		{name: "negative and large deltas", fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 0, PacketStatusCount: 3, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(large, 3)}, RecvDeltas: deltas(-8192000, 8191750, -250),
		}, want: []want{{0, ref - 8192000}, {1, ref - 250}, {2, ref - 500}}},
		{name: "missing, and more statuses than counted", fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 5, PacketStatusCount: 3, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{
				&rtcp.StatusVectorChunk{SymbolList: []uint16{none, small, none, small, small}}, run(small, 9),
			}, RecvDeltas: deltas(0),
		}, want: []want{{5, -1}, {6, ref}, {7, -1}}},
		{name: "unknown packets use up their deltas", first: 1, fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 65534, PacketStatusCount: 4, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(small, 4)}, RecvDeltas: deltas(250, 250, 250, 250),
		}, want: []want{{0, ref + 1000}}, unknown: 3},
		{name: "wrapped numbers", first: 65530, fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 65535, PacketStatusCount: 2, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(small, 2)}, RecvDeltas: deltas(0, 250),
		}, want: []want{{5, ref}, {6, ref + 250}}},
		{name: "not sent yet", fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 19, PacketStatusCount: 2, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(small, 2)}, RecvDeltas: deltas(0, 250),
		}, want: []want{{19, ref}}, unknown: 1},
		{name: "received without delta is no loss", fb: rtcp.TransportLayerCC{
			BaseSequenceNumber: 1, PacketStatusCount: 2, ReferenceTime: 10,
			PacketChunks: []rtcp.PacketStatusChunk{run(noDelta, 1), run(small, 1)}, RecvDeltas: deltas(250),
		}, want: []want{{2, ref + 250}}, untimed: 1},
		{name: "empty", fb: rtcp.TransportLayerCC{}},
		{name: "too few deltas", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 2, PacketChunks: []rtcp.PacketStatusChunk{run(small, 2)}, RecvDeltas: deltas(0),
		}, bad: true},
		{name: "too few chunks", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 3, PacketChunks: []rtcp.PacketStatusChunk{run(small, 2)}, RecvDeltas: deltas(0, 0, 0),
		}, bad: true},
		{name: "nil delta", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 1, PacketChunks: []rtcp.PacketStatusChunk{run(small, 1)}, RecvDeltas: []*rtcp.RecvDelta{nil},
		}, bad: true},
		{name: "nil chunk", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 1, PacketChunks: []rtcp.PacketStatusChunk{nil},
		}, bad: true},
		{name: "nil run", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 1, PacketChunks: []rtcp.PacketStatusChunk{(*rtcp.RunLengthChunk)(nil)},
		}, bad: true},
		{name: "nil vector", fb: rtcp.TransportLayerCC{
			PacketStatusCount: 1, PacketChunks: []rtcp.PacketStatusChunk{(*rtcp.StatusVectorChunk)(nil)},
		}, bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory()
			sendTransport(h, c.first, 20)
			r := feedbackReader{history: h}
			now := epoch().Add(time.Second)
			results, err := r.onTransportCC(now, &c.fb)
			if c.bad != errors.Is(err, errMalformed) {
				t.Fatalf("error %v, want malformed: %v", err, c.bad)
			}
			var got []want
			for _, p := range results {
				w := want{p.Seq, p.Arrival}
				if !p.Received {
					w.arrival = -1
				}
				if p.Size != 1000+int(p.Seq) || !p.At.Equal(epoch().Add(time.Duration(p.Seq)*time.Millisecond)) {
					t.Errorf("packet %d has size %d, sent at %v", p.Seq, p.Size, p.At)
				}
				got = append(got, w)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v\nwant %v", got, c.want)
			}
			if r.unknown != c.unknown || r.untimed != c.untimed {
				t.Errorf("%d unknown, %d untimed, want %d, %d", r.unknown, r.untimed, c.unknown, c.untimed)
			}
			// The same again says nothing new.
			if again, _ := r.onTransportCC(now, &c.fb); len(again) != 0 {
				t.Errorf("repeated report gives %v", again)
			}
		})
	}
}

func TestMissingMayArriveLater(t *testing.T) {
	h := newHistory()
	sendTransport(h, 0, 3)
	r := feedbackReader{history: h}
	report := func(symbol uint16) []gcc.PacketResult {
		fb := &rtcp.TransportLayerCC{
			BaseSequenceNumber: 1, PacketStatusCount: 1, ReferenceTime: 1,
			PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{PacketStatusSymbol: symbol, RunLength: 1}},
			RecvDeltas:   []*rtcp.RecvDelta{{}},
		}
		results, err := r.onTransportCC(epoch().Add(time.Second), fb)
		if err != nil {
			t.Fatal(err)
		}

		return results
	}
	for i, c := range []struct {
		symbol   uint16
		results  int
		received bool
	}{
		{rtcp.TypeTCCPacketNotReceived, 1, false},
		{rtcp.TypeTCCPacketNotReceived, 0, false},
		{rtcp.TypeTCCPacketReceivedSmallDelta, 1, true},
		{rtcp.TypeTCCPacketReceivedSmallDelta, 0, false},
		{rtcp.TypeTCCPacketNotReceived, 0, false},
	} {
		got := report(c.symbol)
		if len(got) != c.results || (len(got) == 1 && got[0].Received != c.received) {
			t.Errorf("report %d: %v", i, got)
		}
	}
}

// The reference time wraps after 12.4 days, an NTP timestamp's middle after 18
// hours: arrival times go on.
func TestReceiverClockWraps(t *testing.T) {
	t.Run("transport-cc", func(t *testing.T) {
		h := newHistory()
		sendTransport(h, 0, 4)
		r := feedbackReader{history: h}
		var got []gcc.RemoteTime
		// The third report is older than the second.
		for i, ref := range []uint32{1<<24 - 2, 1, 1<<24 - 1, 3} {
			results, err := r.onTransportCC(epoch().Add(time.Second), &rtcp.TransportLayerCC{
				BaseSequenceNumber: uint16(i), PacketStatusCount: 1, ReferenceTime: ref,
				PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{PacketStatusSymbol: 1, RunLength: 1}},
				RecvDeltas:   []*rtcp.RecvDelta{{Delta: 1000}},
			})
			if err != nil || len(results) != 1 {
				t.Fatal(results, err)
			}
			got = append(got, results[0].Arrival)
		}
		for i, want := range []int64{0, 3 * 64, 64, 5 * 64} {
			if d := got[i].Sub(got[0]); d.Milliseconds() != want {
				t.Errorf("report %d is %v after the first, want %d ms", i, d, want)
			}
		}
	})
	t.Run("ccfb", func(t *testing.T) {
		h := newHistory()
		var got []gcc.RemoteTime
		r := feedbackReader{history: h}
		for i, ts := range []uint32{1<<32 - 65536, 0, 65536 / 2} {
			h.beginRTP(9, uint16(i), epoch(), 100, false)
			results := r.onCCFB(epoch().Add(time.Second), &rtcp.CCFeedbackReport{
				ReportTimestamp: ts, ReportBlocks: []rtcp.CCFeedbackReportBlock{{
					MediaSSRC: 9, BeginSequence: uint16(i),
					MetricBlocks: []rtcp.CCFeedbackMetricBlock{{Received: true, ArrivalTimeOffset: 512}},
				}},
			})
			if len(results) != 1 {
				t.Fatal(results)
			}
			got = append(got, results[0].Arrival)
		}
		if got[1].Sub(got[0]) != time.Second || got[2].Sub(got[1]) != 500*time.Millisecond {
			t.Errorf("arrivals %v, want steps of 1 s and 0.5 s", got)
		}
	})
}

func TestCCFB(t *testing.T) {
	h := newHistory()
	// Two streams, interleaved; the second one's numbers wrap.
	for i := range 5 {
		h.beginRTP(1, uint16(100+i), epoch(), 1000, false)
		h.beginRTP(2, uint16(65534+i), epoch(), 500, false)
	}
	r := feedbackReader{history: h}
	fb := &rtcp.CCFeedbackReport{ReportTimestamp: 10 << 16, ReportBlocks: []rtcp.CCFeedbackReportBlock{
		{MediaSSRC: 2, BeginSequence: 65534, MetricBlocks: []rtcp.CCFeedbackMetricBlock{
			{Received: true, ArrivalTimeOffset: 1024},
			{},
			{Received: true, ArrivalTimeOffset: 1},
			{Received: true, ArrivalTimeOffset: 0x1FFE},
			{Received: true, ArrivalTimeOffset: 0x1FFF},
		}},
		{MediaSSRC: 1, BeginSequence: 99, MetricBlocks: []rtcp.CCFeedbackMetricBlock{
			{Received: true}, {Received: true, ArrivalTimeOffset: 0x1FFD, ECN: rtcp.ECNCE}, {Received: true},
		}},
		{MediaSSRC: 3, BeginSequence: 0, MetricBlocks: make([]rtcp.CCFeedbackMetricBlock, 2)},
		{MediaSSRC: 1, BeginSequence: 0},
	}}
	parsed, ok := viaBytes(t, fb)[0].(*rtcp.CCFeedbackReport)
	if !ok {
		t.Fatal("not a report")
	}
	const us = 10_000_000
	type want struct {
		seq      int64
		received bool
		arrival  gcc.RemoteTime
	}
	var got []want
	for _, p := range r.onCCFB(epoch().Add(time.Second), parsed) {
		got = append(got, want{p.Seq, p.Received, p.Arrival})
	}
	if w := []want{
		{0, true, us - 7_997_071}, {1, true, us - 1_000_000}, {2, true, us}, {3, false, 0}, {5, true, us - 977},
	}; !reflect.DeepEqual(got, w) {
		t.Errorf("got  %v\nwant %v", got, w)
	}
	if r.unknown != 3 || r.untimed != 2 {
		t.Errorf("%d unknown, %d untimed, want 3, 2", r.unknown, r.untimed)
	}
	if again := r.onCCFB(epoch().Add(time.Second), fb); len(again) != 0 {
		t.Errorf("the reader of another SSRC gives %v again", again)
	}
}

// Random well-formed reports, through bytes, against Pion's pkg/rtpfb.
func TestAgainstRTPFB(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		factory, err := rtpfb.NewInterceptor()
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := factory.NewInterceptor("")
		if err != nil {
			t.Fatal(err)
		}
		var raw []byte
		reader := theirs.BindRTCPReader(pion.RTCPReaderFunc(
			func(b []byte, a pion.Attributes) (int, pion.Attributes, error) { return copy(b, raw), a, nil }))
		writer := theirs.BindLocalStream(videoInfo(), pion.RTPWriterFunc(
			func(*rtp.Header, []byte, pion.Attributes) (int, error) { return 0, nil }))

		h := newHistory()
		ours := feedbackReader{history: h}
		h.nextTransport = 1<<16 + rng.Int64N(1<<16)
		first := h.nextTransport
		base, reference := uint16(h.nextTransport), rng.Uint32N(1<<20)
		refBase := reference
		for range 20 {
			statuses := make([]status, 1+rng.IntN(60))
			for i := range statuses {
				s := status{symbol: uint16(rng.IntN(4))}
				if rng.IntN(3) > 0 && i > 0 {
					s.symbol = statuses[i-1].symbol // runs
				}
				if i == len(statuses)-1 { // a report ends with what was received
					s.symbol = rtcp.TypeTCCPacketReceivedSmallDelta
				}
				switch s.symbol {
				case rtcp.TypeTCCPacketReceivedSmallDelta:
					s.delta = 250 * rng.Int64N(256)
				case rtcp.TypeTCCPacketReceivedLargeDelta:
					s.delta = 250 * (rng.Int64N(1<<16) - 1<<15)
				}
				statuses[i] = s
				head := header(mediaSSRC, 0)
				ticket := h.beginTransport(epoch(), 100, false)
				if err := head.SetExtension(extID, []byte{byte(ticket.number >> 8), byte(ticket.number)}); err != nil {
					t.Fatal(err)
				}
				mustWrite(t, writer, head, nil)
			}
			fb := encode(rng, base, reference, statuses)
			if raw, err = fb.Marshal(); err != nil {
				t.Fatal(err)
			}
			_, attrs, err := reader.Read(make([]byte, 1<<16), nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			theirReport, _ := attrs.Get(rtpfb.CCFBAttributesKey).(rtpfb.Report)
			parsed, err := rtcp.Unmarshal(raw)
			if err != nil {
				t.Fatal(err)
			}
			results, err := ours.onTransportCC(epoch().Add(time.Second), parsed[0].(*rtcp.TransportLayerCC)) //nolint:forcetypeassert // made above
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			type packet struct {
				number   uint16
				received bool
				arrival  gcc.RemoteTime
			}
			var got, want []packet
			for _, p := range results {
				got = append(got, packet{uint16(first + p.Seq), p.Received, p.Arrival})
			}
			for _, p := range theirReport.PacketReports {
				if p.Arrived && p.Arrival.IsZero() {
					continue // without delta: settled, no result
				}
				x := packet{number: p.TWCCSequenceNumber, received: p.Arrived}
				if p.Arrived {
					x.arrival = gcc.RemoteTime(p.Arrival.Sub(time.Time{}).Microseconds())
				}
				want = append(want, x)
			}
			if len(want) == 0 || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d:\ngot  %v\nwant %v", seed, got, want)
			}
			base += uint16(len(statuses))
			reference = (refBase + rng.Uint32N(100)) & 0xffffff
		}
	}
}

// What Pion's own receivers report is what really arrived, in size and time.
func TestAgainstPionReceivers(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		trec, crec := twcc.NewRecorder(1), ccfb.NewRecorder()
		th, ch := newHistory(), newHistory()
		tr, cr := feedbackReader{history: th}, feedbackReader{history: ch}
		type arrived struct{ at, transport, rtp time.Duration }
		all := map[int64]*arrived{}
		now := epoch()
		settle := func() {
			for _, pkt := range viaBytes(t, trec.BuildFeedbackPacket()...) {
				results, err := tr.onTransportCC(now, pkt.(*rtcp.TransportLayerCC)) //nolint:forcetypeassert // Pion's
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range results {
					if p.Received {
						all[p.Seq].transport = time.Duration(p.Arrival) * time.Microsecond
					}
				}
			}
			for _, p := range cr.onCCFB(now, crec.BuildReport(now, 1200)) {
				if p.Received {
					all[p.Seq].rtp = time.Duration(p.Arrival) * time.Microsecond
				}
			}
		}
		for i := range 3000 {
			now = now.Add(time.Duration(rng.IntN(4000)) * time.Microsecond)
			seq := th.nextSeq
			tt := th.beginTransport(now, 100, false)
			ch.beginRTP(4, uint16(65000+i), now, 100, false)
			if rng.IntN(10) > 0 {
				trec.Record(4, uint16(tt.number), now.Sub(epoch()).Microseconds()+1e9)
				crec.AddPacket(now, 4, uint16(65000+i), 0)
				all[seq] = &arrived{at: now.Sub(epoch())}
			}
			if i%20 == 19 {
				now = now.Add(5 * time.Millisecond)
				settle()
			}
		}
		settle()
		base := all[0]
		if base == nil {
			base = all[1]
		}
		for seq, a := range all {
			dt := (a.transport - base.transport) - (a.at - base.at)
			dr := (a.rtp - base.rtp) - (a.at - base.at)
			if a.transport == 0 || dt.Abs() > time.Millisecond {
				t.Fatalf("seed %d, packet %d: transport-cc arrival is off by %v", seed, seq, dt)
			}
			if a.rtp == 0 || dr.Abs() > 3*time.Millisecond {
				t.Fatalf("seed %d, packet %d: ccfb arrival is off by %v", seed, seq, dr)
			}
		}
	}
}

// FuzzRTCP feeds raw bytes, as from the network, to an estimator that has sent
// packets of both kinds.
func FuzzRTCP(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	statuses := []status{{1, 250}, {0, 0}, {2, -500}, {3, 0}, {1, 0}, {0, 0}, {0, 0}, {0, 0}, {2, 8191750}}
	for range 4 {
		raw, err := encode(rng, 65530, 77, statuses).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	raw, err := (&rtcp.CCFeedbackReport{ReportTimestamp: 1, ReportBlocks: []rtcp.CCFeedbackReportBlock{{
		MediaSSRC: 9, BeginSequence: 65535, MetricBlocks: []rtcp.CCFeedbackMetricBlock{{Received: true, ArrivalTimeOffset: 9}, {}},
	}}}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		pkts, err := rtcp.Unmarshal(raw)
		if err != nil {
			return
		}
		h := newHistory()
		sendTransport(h, 65500, 100)
		for i := range 100 {
			h.beginRTP(9, uint16(65500+i), epoch(), 100, false)
		}
		r := feedbackReader{history: h}
		received, missing := map[int64]bool{}, map[int64]bool{}
		for range 2 {
			for _, pkt := range pkts {
				var results []gcc.PacketResult
				switch fb := pkt.(type) {
				case *rtcp.TransportLayerCC:
					results, _ = r.onTransportCC(epoch().Add(time.Second), fb)
				case *rtcp.CCFeedbackReport:
					results = r.onCCFB(epoch().Add(time.Second), fb)
				}
				for i, p := range results {
					if i > 0 && results[i-1].Seq >= p.Seq {
						t.Fatalf("Seq %d after %d", p.Seq, results[i-1].Seq)
					}
					if p.Seq < 0 || p.Seq >= 200 || p.Size == 0 {
						t.Fatalf("packet that was not sent: %+v", p)
					}
					if received[p.Seq] || (!p.Received && missing[p.Seq]) {
						t.Fatalf("packet %d settled twice", p.Seq)
					}
					received[p.Seq] = received[p.Seq] || p.Received
					missing[p.Seq] = true
				}
			}
		}
	})
}

func BenchmarkTransportCC(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	h := newHistory()
	sendTransport(h, 0, 250)
	statuses := make([]status, 250)
	for i := range statuses {
		statuses[i] = status{symbol: 1, delta: 250}
	}
	fb := encode(rng, 0, 1, statuses)
	r := feedbackReader{history: h}
	b.ReportAllocs()
	for b.Loop() {
		for i := range h.transport.ring {
			h.transport.ring[i].flags &^= entryMissing | entryReceived
		}
		if res, err := r.onTransportCC(epoch().Add(time.Second), fb); err != nil || len(res) != 250 {
			b.Fatal(len(res), err)
		}
	}
}
