// SPDX-License-Identifier: MIT

package modemlink

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gbrcc/gbrcc/gbr"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// BenchmarkReceive is the client's path from the bytes of a message to the sink:
// what gRPC does to decode it, and what the client does with it.
func BenchmarkReceive(b *testing.B) {
	c, err := NewClient("gbr://h:1?fp="+testFP+"&token="+testToken, ClientConfig{})
	if err != nil {
		b.Fatal(err)
	}
	c.dec.clock.pinged(0, 1, 0, 1)
	m := encoder{epoch: c.dec.base}.encode(gbr.Telemetry{
		Samples: []gbr.Sample{{At: c.dec.base, Window: 5 * ms, Granted: 5000, Reported: 20_000, ReportedLow: 18_000}},
		Reports: []gbr.Report{{At: c.dec.base, Low: 18_000, High: 20_000}},
		Grants:  make([]gbr.Grant, 5),
	})
	for i := range m.GetGrants() {
		m.Grants[i] = &pb.Grant{AtNs: int64(i), Bytes: 1000}
	}
	entries := 0
	sink := func(t gbr.Telemetry) { entries += len(t.Samples) + len(t.Grants) + len(t.Reports) }
	data, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	const seqAndSent = 2 * 10 // at most, with sizes as they are in a long session
	b.Run("unmarshal and decode", func(b *testing.B) {
		b.SetBytes(int64(len(data) + seqAndSent))
		b.ReportAllocs()
		for b.Loop() {
			in := &pb.Batch{}
			if err := proto.Unmarshal(data, in); err != nil {
				b.Fatal(err)
			}
			c.seq++
			in.Seq, in.SentAtNs = c.seq+1, int64(c.elapsed())
			c.take(in, sink)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(data) + seqAndSent))
		b.ReportAllocs()
		for b.Loop() {
			m.Seq, m.SentAtNs = c.seq+1, int64(c.elapsed())
			c.take(m, sink)
		}
	})
	if entries == 0 {
		b.Error("nothing came out")
	}
}

func (c *Client) take(b *pb.Batch, sink func(gbr.Telemetry)) {
	c.meter.take(c.elapsed(), b)
	c.onBatch(b, sink)
}

// A busy second, and a stall of three after it, is no flood; more than twice that
// is, and when it ends so does the dropping.
func TestMeter(t *testing.T) {
	var m meter
	b := &pb.Batch{Grants: make([]*pb.Grant, 8)}
	now := time.Duration(0)
	for range 20_000 { // ten seconds of slots of 0.5 ms, a batch each
		now += 500 * time.Microsecond
		if p := m.take(now, b); p != 0 {
			t.Fatalf("at %v: a pause of %v", now, p)
		}
	}
	for range 256 { // what an agent keeps, at once
		if p := m.take(now, b); p != 0 {
			t.Fatalf("a pause of %v in the burst", p)
		}
	}
	taken, end := 0, now+10*time.Second
	for now < end {
		p := m.take(now, b)
		if p < 0 || p > 1100*ms {
			t.Fatalf("a pause of %v", p)
		}
		if p == 0 {
			taken++
		}
		now += p + time.Microsecond
	}
	if rate := taken * (8 + batchCost) / 10; rate > 12*maxEntriesPerSecond/10 || rate < 9*maxEntriesPerSecond/10 {
		t.Errorf("%d a second of a flood, want %d and the burst", rate, maxEntriesPerSecond)
	}
	now += time.Second
	if p := m.take(now, b); p != 0 {
		t.Errorf("a second after the flood: a pause of %v", p)
	}
}
