// SPDX-License-Identifier: MIT

package modemlink_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"math"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// rogue is an agent that was paired with and then says what it likes.
type rogue struct {
	pb.UnimplementedModemLinkServer
	url     string
	ping    func() (*pb.PingResponse, error)
	streams atomic.Int32
	say     func(out grpc.ServerStreamingServer[pb.Batch]) error
}

func (r *rogue) Ping(context.Context, *pb.PingRequest) (*pb.PingResponse, error) {
	if r.ping == nil {
		return &pb.PingResponse{}, nil
	}

	return r.ping()
}

func (r *rogue) Stream(_ *pb.StreamRequest, out grpc.ServerStreamingServer[pb.Batch]) error {
	r.streams.Add(1)

	return r.say(out)
}

func (r *rogue) start(t testing.TB) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.WaitForHandlers(true), grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13,
	})))
	pb.RegisterModemLinkServer(s, r)
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(s.Stop)
	r.url = modemlink.PairingURL{
		Host: "127.0.0.1", Port: uint16(ln.Addr().(*net.TCPAddr).Port), Fingerprint: sha256.Sum256(der),
		Token: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMyLWI",
	}.String()
}

// grantBatch has one grant of the given size.
func grantBatch(seq uint64, size uint32) *pb.Batch {
	return &pb.Batch{Seq: seq, Session: 1, Grants: []*pb.Grant{{Bytes: size}}}
}

func TestHostileServer(t *testing.T) {
	t.Parallel()
	high := uint32(math.MaxUint32)
	odd := []*pb.Batch{
		{SentAtNs: math.MinInt64},
		{Seq: math.MaxUint64, SentAtNs: math.MaxInt64, Session: 2, Grants: []*pb.Grant{{AtNs: math.MinInt64}}},
		{Seq: math.MaxUint64, Session: 2, Grants: []*pb.Grant{{AtNs: math.MaxInt64}}},
		{Session: 3, Samples: []*pb.Sample{{AtNs: math.MaxInt64, WindowUs: high, GrantedBytes: high, ReportedBytes: high, ReportedLowBytes: high}}},
		{Session: 3, SentAtNs: math.MaxInt64, Reports: []*pb.Report{{AtNs: math.MaxInt64, LowBytes: high, HighBytes: &high}, {AtNs: math.MaxInt64, LowBytes: high}}},
		{Session: 3, Config: &pb.RadioConfig{Rat: -5, PeriodUs: high, LagUs: high, Pci: &high}},
		{Session: 3, Seq: 1, SourceStalled: true, Samples: []*pb.Sample{{GrantedBytes: 77, ReportedBytes: 77}}},
		{Session: 3, Seq: 1 << 63, Samples: make([]*pb.Sample, 0), Grants: []*pb.Grant{{}, {}, {}}},
	}
	for _, b := range odd {
		for i := range b.GetSamples() {
			if b.GetSamples()[i] == nil {
				b.Samples[i] = &pb.Sample{}
			}
		}
	}
	pings := []*pb.PingResponse{
		{ReceivedAtNs: math.MaxInt64, SentAtNs: math.MinInt64},
		{ReceivedAtNs: math.MinInt64, SentAtNs: math.MaxInt64, Session: 3},
		{ReceivedAtNs: math.MinInt64, SentAtNs: math.MinInt64, Session: 3},
		{ReceivedAtNs: math.MaxInt64, SentAtNs: math.MaxInt64, Session: 3},
	}
	var n atomic.Int32
	r := &rogue{
		ping: func() (*pb.PingResponse, error) { return pings[int(n.Add(1))%len(pings)], nil },
		say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
			for range 20 {
				for _, b := range odd {
					if err := out.Send(b); err != nil {
						return err
					}
				}
				time.Sleep(5 * ms)
			}

			return nil
		},
	}
	r.start(t)
	var batches atomic.Int32
	c, err := modemlink.NewClient(r.url, modemlink.ClientConfig{MinBackoff: 10 * ms})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 700*ms, errDone)
	defer cancel()
	_ = c.Run(ctx, func(tel gbr.Telemetry) {
		batches.Add(1)
		now := time.Now()
		for _, s := range tel.Samples {
			if s.Granted < 0 || s.Granted > 1<<30 || s.Reported < 0 || s.Reported > 1<<30 || s.At.After(now) || s.Granted == 77 {
				t.Errorf("sample %+v", s)
			}
		}
		for _, g := range tel.Grants {
			if g.Bytes < 0 || g.Bytes > 1<<30 || g.At.After(now) || now.Sub(g.At) > time.Hour {
				t.Errorf("grant %+v, %v old", g, now.Sub(g.At))
			}
		}
		if c := tel.Config; c != nil && (c.PCI != -1 || c.RAT != gbr.RATUnknown) {
			t.Errorf("config %+v", *c)
		}
	})
	if batches.Load() == 0 || r.streams.Load() < 2 || c.Status().Ignored == 0 {
		t.Errorf("%d batches in %d connections, %d ignored: the test saw nothing", batches.Load(), r.streams.Load(), c.Status().Ignored)
	}
}

func TestDuplicatesAndGaps(t *testing.T) {
	t.Parallel()
	r := &rogue{say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
		for _, seq := range []uint64{10, 11, 11, 10, 14, 13, 15} {
			if err := out.Send(grantBatch(seq, uint32(seq))); err != nil {
				return err
			}
		}
		// Empty: the number of the last one, an old one, and one after a loss.
		for _, seq := range []uint64{15, 12, 17} {
			if err := out.Send(&pb.Batch{Seq: seq, Session: 1}); err != nil {
				return err
			}
		}
		<-out.Context().Done()

		return out.Context().Err()
	}}
	r.start(t)
	var got []int
	empty := 0
	c, err := modemlink.NewClient(r.url, modemlink.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errDone)
	defer cancel()
	_ = c.Run(ctx, func(tel gbr.Telemetry) {
		for _, g := range tel.Grants {
			got = append(got, g.Bytes)
		}
		if len(tel.Grants) == 0 {
			empty++
		}
	})
	want := []int{10, 11, 14, 15}
	if len(got) != len(want) || got[0] != 10 || got[1] != 11 || got[2] != 14 || got[3] != 15 || empty != 2 {
		t.Errorf("got %v and %d empty, want %v and 2", got, empty, want)
	}
	if st := c.Status(); st.Gaps != 2 || st.LostBatches != 4 || st.Ignored != 4 {
		t.Errorf("%d gaps, %d lost, %d ignored; want 2, 4, 4", st.Gaps, st.LostBatches, st.Ignored)
	}
}

func TestOversizedMessage(t *testing.T) {
	t.Parallel()
	r := &rogue{say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
		big := &pb.Batch{Grants: make([]*pb.Grant, 100_000)}
		for i := range big.GetGrants() {
			big.Grants[i] = &pb.Grant{AtNs: 1 << 60, Bytes: 1 << 20, Cell: 1}
		}

		return out.Send(big)
	}}
	r.start(t)
	run := start(t, r.url, modemlink.ClientConfig{MinBackoff: 10 * ms})
	within(t, 5*time.Second, "refusal", func() bool { return status.Code(run.Status().Err) == codes.ResourceExhausted })
	within(t, 5*time.Second, "another attempt", func() bool { return r.streams.Load() >= 2 })
}

// An agent that forgets the token while a stream is on.
func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	r := &rogue{
		ping: func() (*pb.PingResponse, error) {
			if revoked.Load() {
				return nil, status.Error(codes.Unauthenticated, "no")
			}

			return &pb.PingResponse{}, nil
		},
		say: func(out grpc.ServerStreamingServer[pb.Batch]) error {
			for out.Context().Err() == nil {
				if err := out.Send(&pb.Batch{}); err != nil {
					return err
				}
				revoked.Store(true)
				time.Sleep(50 * ms)
			}

			return nil
		},
	}
	r.start(t)
	run := start(t, r.url, modemlink.ClientConfig{})
	select {
	case err := <-run.err:
		if err != modemlink.ErrUnauthorized { //nolint:errorlint // the very error, without more
			t.Errorf("Run returned %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("Run goes on")
	}
}

func TestEventKinds(t *testing.T) {
	for k, want := range map[modemlink.EventKind]string{
		modemlink.Connected: "connected", modemlink.Disconnected: "disconnected", modemlink.Gap: "gap",
		modemlink.SourceStalled: "source_stalled", modemlink.SourceResumed: "source_resumed", 0: "event(0)",
	} {
		if k.String() != want {
			t.Errorf("%d is %q, want %q", k, k, want)
		}
	}
}
