// SPDX-License-Identifier: MIT

package interceptor

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// radio is a phone of a constant capacity whose queue is what its senders wrote
// and what it has not sent: enough to see how they share.
type radio struct {
	bps     int
	queue   float64
	senders []*sender
}

type sender struct {
	e    *Estimator
	wire *wire
	cap  int // the application's own rate, 0 for the target
	sent float64
}

const radioStep = 5 * time.Millisecond

// step is one window: what was sent since the last one is queued, what fits is
// granted, and told.
func (r *radio) step() gbr.Telemetry {
	for _, s := range r.senders {
		for _, p := range s.wire.take() {
			size := float64(p.header.MarshalSize() + len(p.payload) + linkOverhead)
			r.queue += size
			s.sent += size
		}
	}
	reported := r.queue
	granted := math.Min(r.queue, float64(r.bps)/8*radioStep.Seconds())
	r.queue -= granted

	return gbr.Telemetry{Samples: []gbr.Sample{{
		At: time.Now(), Window: radioStep, Granted: int(granted), Reported: int(reported),
	}}}
}

// run moves media and telemetry for a while.
func (r *radio) run(t *testing.T, u *Uplink, d time.Duration) {
	t.Helper()
	seq := uint16(0)
	for i := range int(d / radioStep) {
		for _, s := range r.senders {
			if i%4 != 0 { // 50 frames a second
				continue
			}
			bps := s.e.GetTargetBitrate()
			if s.cap > 0 {
				bps = min(bps, s.cap)
			}
			w := s.e.AddStream(videoInfo(), s.wire)
			for left := bps / 8 / 50; left > 0; left -= 1250 {
				seq++
				h := header(mediaSSRC, seq)
				h.Timestamp = uint32(i)
				mustWrite(t, w, h, payloadFor(max(100, min(1250, left))))
			}
		}
		time.Sleep(radioStep)
		u.PushTelemetry(r.step())
	}
}

func (r *radio) rates(t *testing.T, u *Uplink, d time.Duration) []float64 {
	t.Helper()
	for _, s := range r.senders {
		s.sent = 0
	}
	r.run(t, u, d)
	var rates []float64
	for _, s := range r.senders {
		rates = append(rates, s.sent*8/d.Seconds()/1e6)
	}

	return rates
}

func (r *radio) add(t *testing.T, u *Uplink, weight float64, limit int) *sender {
	t.Helper()
	// An outer loop without feedback would cut for want of it.
	outer := &movableOuter{bps: 300_000}
	e, err := NewEstimator(WithUplink(u, weight), WithLoggerFactory(&logBook{}), WithAlgorithm(gbr.Seed),
		WithOuter(func() (gbr.Outer, error) { return outer, nil }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s := &sender{e: e, wire: &wire{}, cap: limit}
	r.senders = append(r.senders, s)

	return s
}

// Two PeerConnections of one phone share its uplink by weight, whoever came
// first; one that needs little leaves the rest to the other; and who is left
// alone has it all.
func TestUplinkIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUplink(nil)
		r := &radio{bps: 6_000_000}
		r.add(t, u, 2, 0)
		r.run(t, u, 5*time.Second)
		alone := r.rates(t, u, 10*time.Second)
		within(t, "alone", alone[0], 5.8, 0.4, "Mbit/s")
		second := r.add(t, u, 1, 0)
		r.run(t, u, 20*time.Second)
		got := r.rates(t, u, 10*time.Second)
		within(t, "weight 2", got[0], 4, 0.5, "Mbit/s")
		within(t, "weight 1", got[1], 2, 0.5, "Mbit/s")
		within(t, "both", got[0]+got[1], 5.9, 0.3, "Mbit/s")
		if !u.SetWeight(second.e, 2) || u.SetWeight(second.e, 0) || u.SetWeight(nil, 1) {
			t.Error("weights are not set or not refused")
		}
		r.run(t, u, 20*time.Second)
		got = r.rates(t, u, 10*time.Second)
		within(t, "equal weights", got[0]/got[1], 1, 0.2, "")
		second.cap = 800_000
		r.run(t, u, 10*time.Second)
		got = r.rates(t, u, 10*time.Second)
		within(t, "beside one that needs 0.8 Mbit/s", got[0], 5.0, 0.5, "Mbit/s")
		if err := second.e.Close(); err != nil {
			t.Error(err)
		}
		r.senders = r.senders[:1]
		r.run(t, u, 5*time.Second)
		got = r.rates(t, u, 5*time.Second)
		within(t, "alone again", got[0], 5.8, 0.4, "Mbit/s")
	})
}

// The source runs while somebody is there, and its end is in the log.
func TestUplinkRunsItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, starts := 0, 0
		fail := make(chan error)
		source := WithTelemetrySource(func(ctx context.Context, sink func(gbr.Telemetry)) error {
			running++
			starts++
			defer func() { running-- }()
			sink(gbr.Telemetry{})
			select {
			case <-ctx.Done():
				return ctx.Err()
			case err := <-fail:
				return err
			}
		})
		book := &logBook{}
		open := func() *Estimator {
			e, err := NewEstimator(source, WithLoggerFactory(book))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()

			return e
		}
		first, second := open(), open()
		if running != 1 || first.Target().Mode != gbr.Dual {
			t.Errorf("%d sources, first is %v", running, first.Target().Mode)
		}
		_ = first.Close()
		synctest.Wait()
		if running != 1 {
			t.Error("stopped too early")
		}
		_ = second.Close()
		if running != 0 || starts != 1 || book.warnings() != "" {
			t.Errorf("%d sources run after Close, %d were started, log: %q", running, starts, book.warnings())
		}
		third := open()
		if starts != 2 {
			t.Error("not started again")
		}
		fail <- errors.New("the phone burns")
		synctest.Wait()
		if !strings.Contains(book.warnings(), "the phone burns") {
			t.Errorf("log: %q", book.warnings())
		}
		_ = third.Close()
	})
	for name, opt := range map[string]Option{
		"nil": WithUplink(nil, 1), "weight 0": WithUplink(NewUplink(nil), 0), "no source": WithTelemetrySource(nil),
	} {
		if e, err := NewEstimator(opt); !errors.Is(err, ErrOption) || e != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// movableOuter is an end-to-end loop that sees no limit.
type movableOuter struct {
	fakeOuter
	bps int
}

func (o *movableOuter) SetEstimate(_ time.Time, bps int) { o.bps = bps }

func (o *movableOuter) Estimate() gcc.Estimate {
	return gcc.Estimate{BitrateBps: o.bps, PacingBps: o.bps * 5 / 2}
}

// take empties the wire.
func (w *wire) take() []sentRTP {
	w.mu.Lock()
	defer w.mu.Unlock()
	packets := w.packets
	w.packets = nil

	return packets
}
