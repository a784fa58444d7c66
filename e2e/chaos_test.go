// SPDX-License-Identifier: MIT

//go:build !race

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/peer"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/modemtest"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// pausable is a socket whose reader can be made to sleep: a suspended receiver.
type pausable struct {
	net.PacketConn
	mu   sync.Mutex
	wait chan struct{} // closed when it may read; nil: it may
}

func (p *pausable) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = make(chan struct{})
}

func (p *pausable) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wait != nil {
		close(p.wait)
		p.wait = nil
	}
}

func (p *pausable) gate() {
	p.mu.Lock()
	wait := p.wait
	p.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

func (p *pausable) ReadFrom(b []byte) (int, net.Addr, error) {
	p.gate()
	n, addr, err := p.PacketConn.ReadFrom(b)
	p.gate()

	return n, addr, err
}

// WriteTo drops what a suspended receiver would not have sent. It does not wait: the
// link writes for others, too.
func (p *pausable) WriteTo(b []byte, addr net.Addr) (int, error) {
	p.mu.Lock()
	paused := p.wait != nil
	p.mu.Unlock()
	if paused {
		return len(b), nil
	}

	return p.PacketConn.WriteTo(b, addr)
}

// eventBook is the event log of a call, read while it grows.
type eventBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *eventBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.Write(p)
}

// modes returns the names of the events since a moment of the log that are
// transitions: modes by their new mode, others by their name.
func (b *eventBook) transitions(t *testing.T, since time.Time) map[string]int {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := map[string]int{}
	var start time.Time
	d := json.NewDecoder(bytes.NewReader(b.buf.Bytes()))
	for d.More() {
		var ev struct {
			Time float64
			Name string
			Data struct {
				Wall time.Time
				To   string
			}
		}
		if err := d.Decode(&ev); err != nil {
			t.Fatal(err)
		}
		if ev.Name == "log:started" {
			start = ev.Data.Wall
		}
		if start.Add(time.Duration(ev.Time * float64(time.Millisecond))).Before(since) {
			continue
		}
		if ev.Name == "gbr:mode_changed" {
			ev.Name = ev.Data.To
		}
		got[ev.Name]++
	}

	return got
}

// TestChaos is a call in real time over loopback and a real modemlink in which
// things break: the agent is killed and started again, its link flaps, the cell
// is gone for two seconds, the receiver is suspended. The call survives each,
// and each is in the event log. One round takes 40 s; GBRCC_CHAOS says for how
// long to go on (make soak: 5m).
func TestChaos(t *testing.T) {
	defer goleak.VerifyNone(t)
	length := 40 * time.Second
	if v := os.Getenv("GBRCC_CHAOS"); v != "" {
		var err error
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	const round = 40 * time.Second
	const outageAt, outageFor = 25 * time.Second, 2 * time.Second
	start := time.Now()
	var outages []cell.Outage
	for at := time.Duration(0); at < length; at += round {
		outages = append(outages, cell.Outage{At: at + outageAt, For: outageFor})
	}
	link, err := live.New(live.Config{Cell: cell.Config{Start: start, Seed: 1, Capacity: cell.Constant(3_000_000), Outages: outages}})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	modem := modemtest.NewServer(t)
	defer modem.Close()
	port := link.Diag()
	src, err := source.NewDiag(port, source.DiagConfig{AliveWhileOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { _ = src.Run(ctx, modem.Publish) })
	defer func() { _ = port.Close() }()
	client, err := modemlink.NewClient(modem.URL, modemlink.ClientConfig{MinBackoff: 20 * time.Millisecond, MaxBackoff: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	book := &eventBook{}
	sender, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	far, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	receiver := &pausable{PacketConn: far}
	defer receiver.resume()
	var estimator *interceptor.Estimator
	call, err := peer.Dial(ctx, peer.Config{
		Sender: link.Uplink(sender), Receiver: link.Downlink(receiver), Seed: 1,
		Estimator: func() (cc.BandwidthEstimator, error) {
			e, err := interceptor.NewEstimator(interceptor.WithBitrateBounds(100_000, 300_000, 10_000_000),
				interceptor.WithTelemetrySource(client.Run), interceptor.WithEventWriter(book))
			estimator = e

			return e, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	until := func(d time.Duration) { time.Sleep(time.Until(start.Add(d))) }
	seen := func(what string, since time.Time, names ...string) {
		t.Helper()
		time.Sleep(300 * time.Millisecond) // the log is written every 200 ms
		got := book.transitions(t, since)
		for _, n := range names {
			if got[n] == 0 {
				t.Errorf("%s: no %s in the log, only %v", what, n, got)
			}
		}
	}
	// alive fails unless media arrives for the next 2 s. How soon pictures are
	// shown again is up to the receiver.
	alive := func(what string) {
		t.Helper()
		began, before := time.Now(), call.Stats()
		time.Sleep(2 * time.Second)
		after, took := call.Stats(), time.Since(began)
		t.Logf("%5.1f s  %s: %d frames, %.2f Mbit/s in %v, %v", time.Since(start).Seconds(), what,
			after.FramesRendered-before.FramesRendered, goodput(before, after, took), took, estimator.Target().Mode)
		within(t, what+": goodput", goodput(before, after, took), 1.6, 1.55, "Mbit/s")
	}
	for at := time.Duration(0); at < length; at += round {
		until(at + 5*time.Second)
		alive("calm")

		now := time.Now()
		modem.Kill()
		eventually(t, "agent killed", func() bool { return estimator.Target().Mode == gbr.OuterOnly })
		time.Sleep(time.Second)
		modem.Restart()
		eventually(t, "agent back", func() bool { return estimator.Target().Mode == gbr.Dual })
		alive("agent was killed")
		seen("agent killed", now, "outer-only", "dual")

		now = time.Now()
		for range 3 {
			modem.Pause()
			time.Sleep(600 * time.Millisecond)
			modem.Resume()
			time.Sleep(400 * time.Millisecond)
		}
		eventually(t, "link back", func() bool { return estimator.Target().Mode == gbr.Dual })
		alive("modem link has flapped")
		seen("link flapped", now, "outer-only", "dual")

		now = start.Add(at + outageAt)
		until(at + outageAt + outageFor + 2*time.Second)
		alive("cell was gone")
		seen("cell gone", now, "gcc:estimate")

		now = time.Now()
		receiver.pause()
		time.Sleep(2 * time.Second)
		receiver.resume()
		time.Sleep(2 * time.Second)
		alive("receiver was suspended")
		seen("receiver suspended", now, "interceptor:feedback_silent", "interceptor:feedback_back")
	}
	until(length - time.Second)
	alive("in the end")
	if err := call.Close(); err != nil {
		t.Error(err)
	}
	if err := link.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
