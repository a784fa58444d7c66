// SPDX-License-Identifier: MIT

package modemlink_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// An agent that sends as fast as it can. The client takes 64 Ki entries a second
// and a burst of twice that, drops the rest unread, and keeps nothing of it.
func TestSampleFlood(t *testing.T) {
	for name, size := range map[string]int{"full batches": 1024, "one sample": 1, "too many in a batch": 10_000, "empty": 0} {
		t.Run(name, func(t *testing.T) {
			var messages atomic.Int64
			r := &rogue{say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
				b := &pb.Batch{Session: 1, Samples: make([]*pb.Sample, size)}
				for i := range b.GetSamples() {
					b.Samples[i] = &pb.Sample{AtNs: int64(i), WindowUs: 5000, GrantedBytes: 1000, ReportedBytes: 2000}
				}
				for {
					if size > 0 {
						b.Seq++
					}
					b.SentAtNs++
					if err := out.Send(b); err != nil {
						return err
					}
					messages.Add(1)
				}
			}}
			r.start(t)
			before := use()
			var samples, calls atomic.Int64
			c, err := modemlink.NewClient(r.url, modemlink.ClientConfig{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			begin := time.Now()
			go func() {
				for c.Status().Flooded < 5 && time.Since(begin) < 2200*ms {
					time.Sleep(10 * ms)
				}
				cancel(errDone)
			}()
			if err := c.Run(ctx, func(tel gbr.Telemetry) {
				samples.Add(int64(len(tel.Samples)))
				calls.Add(1)
			}); !errors.Is(err, errDone) {
				t.Fatal(err)
			}
			took := time.Since(begin)
			after, st := use(), c.Status()
			t.Logf("in %v %d messages were sent, %d with %d samples taken, %d dropped; heap %d kB -> %d kB",
				took, messages.Load(), calls.Load(), samples.Load(), st.Flooded, before.heap>>10, after.heap>>10)
			allowed := int64(float64(64<<10) * (2 + took.Seconds()))
			if taken := samples.Load() + 16*calls.Load(); taken > allowed || st.Flooded == 0 && taken > allowed*19/20 {
				t.Errorf("%d entries taken, want %d at most; %d batches dropped", taken, allowed, st.Flooded)
			} else if st.Flooded == 0 {
				return // a machine too slow to send too much
			}
			// What is not taken is not even read, but for a few and the windows.
			if n := messages.Load() - calls.Load() - int64(st.Flooded); n > 10_000 {
				t.Errorf("%d messages were read and not counted", n)
			}
			if st.Flooded > 200 {
				t.Errorf("%d batches were read for nothing", st.Flooded)
			}
			if size > 0 && st.LostBatches+st.Ignored == 0 {
				t.Errorf("the loss was not told: %+v", st)
			}
			if after.heap > before.heap+8<<20 {
				t.Errorf("the heap grew by %d kB", (after.heap-before.heap)>>10)
			}
		})
	}
}

// After a stall an honest agent sends all it kept at once: nothing is dropped.
func TestBurstIsNotAFlood(t *testing.T) {
	t.Parallel()
	r := &rogue{say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
		for seq := range uint64(256) {
			b := &pb.Batch{Seq: seq, Session: 1}
			for range 128 {
				b.Grants = append(b.Grants, &pb.Grant{Bytes: 1})
			}
			if err := out.Send(b); err != nil {
				return err
			}
		}
		<-out.Context().Done()

		return out.Context().Err()
	}}
	r.start(t)
	run := start(t, r.url, modemlink.ClientConfig{})
	within(t, 5*time.Second, "all batches", func() bool { return run.Status().Batches == 256 })
	if st := run.Status(); st.Flooded != 0 || st.Gaps != 0 {
		t.Errorf("status %+v", st)
	}
}

// An agent that answers the first ping and then no more: the stream goes on, and
// what is said of the clocks grows as they may drift.
func TestPingsStayUnanswered(t *testing.T) {
	t.Parallel()
	var pings atomic.Int32
	begin := time.Now()
	now := func() int64 { return int64(time.Since(begin)) }
	block := make(chan struct{})
	r := &rogue{
		ping: func() (*pb.PingResponse, error) {
			if pings.Add(1) > 1 {
				<-block
			}

			return &pb.PingResponse{ReceivedAtNs: now(), SentAtNs: now(), Session: 1}, nil
		},
		say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
			for seq := uint64(1); out.Context().Err() == nil; seq++ {
				at := now()
				if err := out.Send(&pb.Batch{Seq: seq, Session: 1, SentAtNs: at, Samples: []*pb.Sample{{AtNs: at, ReportedBytes: 1}}}); err != nil {
					return err
				}
				time.Sleep(10 * ms)
			}

			return nil
		},
	}
	r.start(t)
	t.Cleanup(func() { close(block) })
	run := start(t, r.url, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", run.connected)
	first := run.Status().OffsetError
	within(t, 10*time.Second, "samples", func() bool { n, _, _ := run.count(); return n >= 350 })
	st := run.Status()
	if st.Connects != 1 || st.OffsetError < 0 || st.OffsetError > first+2*ms || st.AgeP95 > 100*ms {
		t.Errorf("%v at first, then %+v", first, st)
	}
	if n := pings.Load(); n > 5 {
		t.Errorf("%d pings are under way or were sent", n)
	}
}

// An agent that never answers a ping is no agent: the client says so, tries
// again at bounded intervals, and hands out nothing.
func TestNoPingAtAll(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	r := &rogue{
		ping: func() (*pb.PingResponse, error) { <-block; return nil, errDone },
		say:  func(grpc.ServerStreamingServer[pb.Batch]) error { return errDone },
	}
	r.start(t)
	t.Cleanup(func() { close(block) })
	run := start(t, r.url, modemlink.ClientConfig{MinBackoff: 10 * ms})
	within(t, 6*time.Second, "a reason", func() bool { return run.Status().Err != nil })
	if n, empty, _ := run.count(); n+empty != 0 || run.connected() || r.streams.Load() != 0 {
		t.Errorf("%d samples, %d empty, %d streams, %+v", n, empty, r.streams.Load(), run.Status())
	}
}

// An agent whose clock jumps within a session, there and back. Ages are never
// negative or absurd, and right again after the next round trip.
func TestAgentClockJumps(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	var jump atomic.Int64
	now := func() int64 { return int64(time.Since(begin)) + jump.Load() }
	r := &rogue{
		ping: func() (*pb.PingResponse, error) {
			at := now()

			return &pb.PingResponse{ReceivedAtNs: at, SentAtNs: at, Session: 1}, nil
		},
		say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
			for seq := uint64(1); out.Context().Err() == nil; seq++ {
				at := now()
				if err := out.Send(&pb.Batch{Seq: seq, Session: 1, SentAtNs: at, Samples: []*pb.Sample{{AtNs: at, ReportedBytes: 1}}}); err != nil {
					return err
				}
				time.Sleep(5 * ms)
			}

			return nil
		},
	}
	r.start(t)
	run := start(t, r.url, modemlink.ClientConfig{})
	within(t, 5*time.Second, "samples", func() bool { n, _, _ := run.count(); return n >= 20 })
	for _, to := range []time.Duration{time.Hour, -time.Hour, 10000 * time.Hour, math.MaxInt64 / 4, math.MinInt64 / 4, 0} {
		jump.Store(int64(to))
		time.Sleep(600 * ms) // a ping is due every 500 ms
		n, _, _ := run.count()
		within(t, 3*time.Second, "samples after a jump", func() bool { m, _, _ := run.count(); return m >= n+40 })
		run.mu.Lock()
		for i, lag := range run.lags[n:] {
			if lag < 0 || lag > 500*ms {
				t.Errorf("jump to %v: sample %d is %v old", to, i, lag)
			}
		}
		for _, lag := range run.lags {
			if lag < 0 || lag > 30*time.Second {
				t.Errorf("jump to %v: a sample is %v old", to, lag)
			}
		}
		run.mu.Unlock()
	}
	if st := run.Status(); st.Connects != 1 {
		t.Errorf("status %+v", st)
	}
}

// Whatever else answers at the port: the client goes on trying, and comes
// through when the agent is back.
func TestNoAgentAtThePort(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	feed(t, s)
	answers := []func(c net.Conn){
		func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") },
		func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("\x16\x03\x03\x40\x00", 20_000)) },
		func(c net.Conn) { _, _ = io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x28") }, // a TLS alert
		func(net.Conn) {},
		func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, // listens and never speaks
	}
	var n atomic.Int32
	run := start(t, s.URL, modemlink.ClientConfig{
		MinBackoff: 10 * ms, MaxBackoff: 50 * ms,
		Dialer: func(ctx context.Context, addr string) (net.Conn, error) {
			i := int(n.Add(1)) - 1
			if i >= len(answers) {
				return s.Dial(ctx, addr)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			go func() {
				defer ln.Close() //nolint:errcheck // no more to do
				c, err := ln.Accept()
				if err != nil {
					return
				}
				answers[i](c)
				_ = c.Close()
			}()

			return (&net.Dialer{}).DialContext(ctx, "tcp", ln.Addr().String())
		},
	})
	took := within(t, 30*time.Second, "connected", run.connected)
	if took > 20*time.Second || int(n.Load()) <= len(answers) {
		t.Errorf("connected after %v and %d attempts", took, n.Load())
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	s := modemtest.NewServer(t)
	p, err := modemlink.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	feed(t, s)
	run := start(t, s.URL, modemlink.ClientConfig{})
	within(t, 5*time.Second, "connected", run.connected)
	if v := run.Status().Version; v != "1.1" {
		t.Errorf("version %q, want 1.1", v)
	}

	// What the agent says to clients.
	link := rawClient(t, s, insecureTLS())
	ctx := withToken(t.Context(), p.Token)
	for _, tc := range []struct {
		client *pb.Version
		want   codes.Code
	}{
		{nil, codes.OK},
		{&pb.Version{}, codes.OK},
		{&pb.Version{Major: 1}, codes.OK},
		{&pb.Version{Major: 1, Minor: 77}, codes.OK},
		{&pb.Version{Major: 2}, codes.FailedPrecondition},
		{&pb.Version{Major: math.MaxUint32, Minor: math.MaxUint32}, codes.FailedPrecondition},
	} {
		pong, err := link.Ping(ctx, &pb.PingRequest{Version: tc.client})
		if status.Code(err) != tc.want {
			t.Errorf("%v: %v", tc.client, err)
		}
		if err == nil && (pong.GetVersion().GetMajor() != 1 || pong.GetVersion().GetMinor() != 1) {
			t.Errorf("%v: the agent speaks %v", tc.client, pong.GetVersion())
		}
		if err != nil && !strings.Contains(status.Convert(err).Message(), "version 1.1") {
			t.Errorf("%v: the agent does not say what it speaks: %v", tc.client, err)
		}
		in, err := link.Stream(ctx, &pb.StreamRequest{Version: tc.client})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Recv(); status.Code(err) != tc.want {
			t.Errorf("%v: Stream: %v", tc.client, err)
		}
	}

	// What a client makes of agents.
	for _, tc := range []struct {
		name  string
		agent *pb.Version
		err   error
		want  string // version, or "" for ErrVersion
		says  string
	}{
		{name: "old", want: "1.0"},
		{name: "newer minor", agent: &pb.Version{Major: 1, Minor: 9}, want: "1.1"},
		{name: "newer major", agent: &pb.Version{Major: 2, Minor: 3}, says: "speaks 2.3, this client 1.1"},
		{name: "refuses", err: status.Error(codes.FailedPrecondition, "this agent speaks 3.0"), says: "this agent speaks 3.0"},
		{name: "does not serve it", err: status.Error(codes.Unimplemented, "unknown service"), says: "does not serve version 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := &rogue{
				ping: func() (*pb.PingResponse, error) { return &pb.PingResponse{Version: tc.agent}, tc.err },
				say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
					err := out.Send(&pb.Batch{})
					<-out.Context().Done()

					return err
				},
			}
			r.start(t)
			run := start(t, r.url, modemlink.ClientConfig{})
			if tc.want != "" {
				within(t, 5*time.Second, "connected", run.connected)
				if v := run.Status().Version; v != tc.want {
					t.Errorf("version %q, want %q", v, tc.want)
				}

				return
			}
			select {
			case err := <-run.err:
				if !errors.Is(err, modemlink.ErrVersion) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("Run returned %v", err)
				}
				run.err <- err
			case <-time.After(5 * time.Second):
				t.Fatal("Run goes on")
			}
		})
	}
}
