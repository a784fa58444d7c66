// SPDX-License-Identifier: MIT

package modemlink_test

import (
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// readEvery is how often a modem's port has something.
const readEvery = 5 * ms

// histogram is latencies of what has a number.
type histogram struct {
	mu   sync.Mutex
	sent map[int]time.Time
	took []time.Duration
}

func newHistogram() *histogram { return &histogram{sent: make(map[int]time.Time)} }

func (h *histogram) begin(n int, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent[n] = at
}

func (h *histogram) end(n int, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if begin, ok := h.sent[n]; ok {
		h.took = append(h.took, at.Sub(begin))
		delete(h.sent, n)
	}
}

func (h *histogram) percentiles() (n int, p50, p99 time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = len(h.took)
	if n == 0 {
		return 0, 0, 0
	}
	slices.Sort(h.took)

	return n, h.took[n/2], h.took[n*99/100]
}

// read makes what one read of the port gives: the log packets of 5 ms. The first
// block's size is the number of the read.
func modemRead(tb testing.TB, n int, logged time.Time) []byte {
	tb.Helper()
	var grants, blocks []diag.Record
	for i := range 5 {
		g := diag.Record{Kind: diag.KindGrant, RAT: diag.LTE, TTI: (5*n + i) % 10240, Bytes: 60_000}
		if i == 0 {
			g.Bytes = 1000 + n%50_000
		}
		grants, blocks = append(grants, g), append(blocks, g)
		if i == 0 {
			bsr := g
			bsr.Kind, bsr.Bytes, bsr.Form, bsr.Trigger, bsr.LCGs = diag.KindBSR, 0, diag.FormShort, diag.TriggerPeriodic, 1<<2
			bsr.Index[2] = diag.LTEIndex(100_000, false)
			blocks = append(blocks, bsr)
		}
	}
	var out []byte
	body, err := diag.AppendB139(nil, grants...)
	if err != nil {
		tb.Fatal(err)
	}
	out = diag.AppendHDLC(out, diag.AppendLog(nil, diag.LogB139, diag.TimestampOf(logged), body))
	if body, err = diag.AppendB064(nil, blocks...); err != nil {
		tb.Fatal(err)
	}

	return diag.AppendHDLC(out, diag.AppendLog(nil, diag.LogB064, diag.TimestampOf(logged), body))
}

// latencies carries reads of a modem's port over the link, and between them bare
// messages over plain gRPC of the same kind, and measures both: from bytes to be
// read to telemetry in the sink, and from a message to be sent to it received.
func latencies(tb testing.TB, reads int) (link, echo *histogram) {
	tb.Helper()
	link, echo = newHistogram(), newHistogram()
	ctx, cancel := context.WithCancelCause(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(errDone)

	// The chain under test.
	server, err := modemlink.NewServer(modemlink.ServerConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	wg.Go(func() { _ = server.Serve(ctx, ln) })
	port, modem := io.Pipe()
	src, err := source.NewDiag(port, source.DiagConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	wg.Go(func() { _ = src.Run(ctx, server.Publish) })
	client, err := modemlink.NewClient(server.URL(ln.Addr()).String(), modemlink.ClientConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	wg.Go(func() {
		_ = client.Run(ctx, func(t gbr.Telemetry) {
			now := time.Now()
			for _, g := range t.Grants {
				link.end(g.Bytes-1000, now)
			}
		})
	})

	// The echo, in the same process at the same time.
	messages := make(chan *pb.Batch, 1)
	r := &rogue{say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
		for {
			select {
			case m := <-messages:
				if err := out.Send(m); err != nil {
					return err
				}
			case <-out.Context().Done():
				return nil
			}
		}
	}}
	r.start(tb)
	p, err := modemlink.ParseURL(r.url)
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///"+p.Addr(), grpc.WithTransportCredentials(insecureTLS()), grpc.WithNoProxy())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // no more to do
	in, err := pb.NewModemLinkClient(conn).Stream(metadata.AppendToOutgoingContext(ctx, "x", "y"), &pb.StreamRequest{})
	if err != nil {
		tb.Fatal(err)
	}
	wg.Go(func() {
		for {
			b, err := in.Recv()
			if err != nil {
				return
			}
			echo.end(int(b.GetSeq()), time.Now())
		}
	})

	for !client.Status().Connected {
		time.Sleep(ms)
	}
	const warm = 60 // for the assembler to settle
	begin := time.Now()
	for n := range reads + warm {
		data := modemRead(tb, n, begin.Add(time.Duration(n)*readEvery))
		message := &pb.Batch{Seq: uint64(n), SentAtNs: int64(n), Session: 1, Reports: []*pb.Report{{AtNs: int64(n), LowBytes: 1}}}
		for i := range 5 {
			message.Grants = append(message.Grants, &pb.Grant{AtNs: int64(n + i), Bytes: 60_000})
		}
		time.Sleep(time.Until(begin.Add(time.Duration(n) * readEvery)))
		now := time.Now()
		if n >= warm {
			link.begin(n, now)
		}
		if _, err := modem.Write(data); err != nil {
			tb.Fatal(err)
		}
		time.Sleep(time.Until(begin.Add(time.Duration(n)*readEvery + readEvery/2)))
		now = time.Now()
		if n >= warm {
			echo.begin(n, now)
		}
		messages <- message
	}
	time.Sleep(100 * ms)
	cancel(errDone)
	_ = modem.CloseWithError(errDone)

	return link, echo
}

func BenchmarkLatency(b *testing.B) {
	link, echo := latencies(b, max(b.N, 200))
	n, p50, p99 := link.percentiles()
	m, e50, e99 := echo.percentiles()
	if n == 0 || m == 0 {
		b.Fatalf("%d and %d of %d came", n, m, b.N)
	}
	b.ReportMetric(float64(p50.Microseconds()), "p50-us")
	b.ReportMetric(float64(p99.Microseconds()), "p99-us")
	b.ReportMetric(float64(e50.Microseconds()), "echo-p50-us")
	b.ReportMetric(float64(e99.Microseconds()), "echo-p99-us")
	b.ReportMetric(0, "ns/op") // it runs in real time
}

// From the modem's port to the sink in less than a millisecond, or, where not
// even a bare message over gRPC does that, in at most twice its time.
func TestLatency(t *testing.T) {
	const reads = 300
	link, echo := latencies(t, reads)
	n, p50, p99 := link.percentiles()
	m, e50, e99 := echo.percentiles()
	t.Logf("%d reads: p50 %v, p99 %v; %d bare messages: p50 %v, p99 %v", n, p50, p99, m, e50, e99)
	if n < reads*95/100 || m < reads*95/100 {
		t.Fatalf("%d and %d of %d came", n, m, reads)
	}
	if p50 > max(ms, 2*e50) {
		t.Errorf("p50 %v, want 1 ms or twice the %v of a bare message", p50, e50)
	}
	if p99 > max(10*ms, 3*e99) {
		t.Errorf("p99 %v, want 10 ms or thrice the %v of a bare message", p99, e99)
	}
}

// telemetry of one read, as a busy modem gives it.
func busyRead(now time.Time) gbr.Telemetry {
	t := gbr.Telemetry{Samples: []gbr.Sample{{At: now, Window: 5 * ms, Granted: 5000, Reported: 20_000, ReportedLow: 18_000}}}
	for i := range 5 {
		t.Grants = append(t.Grants, gbr.Grant{At: now.Add(time.Duration(i-5) * ms), Bytes: 1000})
	}
	t.Reports = append(t.Reports, gbr.Report{At: now, Low: 18_000, High: 20_000})

	return t
}

// Publish with one client that reads, and with none.
func BenchmarkPublish(b *testing.B) {
	for name, clients := range map[string]int{"idle": 0, "one client": 1} {
		b.Run(name, func(b *testing.B) {
			s, err := modemlink.NewServer(modemlink.ServerConfig{})
			if err != nil {
				b.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			var wg sync.WaitGroup
			defer wg.Wait()
			defer cancel(errDone)
			wg.Go(func() { _ = s.Serve(ctx, ln) })
			for range clients {
				c, err := modemlink.NewClient(s.URL(ln.Addr()).String(), modemlink.ClientConfig{})
				if err != nil {
					b.Fatal(err)
				}
				wg.Go(func() { _ = c.Run(ctx, func(gbr.Telemetry) {}) })
			}
			for s.Clients() != clients {
				time.Sleep(ms)
			}
			t := busyRead(time.Now())
			b.SetBytes(int64(len(t.Samples)*40 + len(t.Grants)*40 + len(t.Reports)*48))
			b.ReportAllocs()
			for b.Loop() {
				s.Publish(t)
			}
		})
	}
}
