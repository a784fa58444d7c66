// SPDX-License-Identifier: MIT

package pionbwe_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	piongcc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/interceptor/pionbwe"
)

// book is an estimator that writes down what it is told.
type book struct {
	sizes   map[uint16]int
	arrived map[uint16]int64 // us, by number
	lost    map[uint16]int
	reports int
	empty   int // reports of losses alone
	target  int
	closed  int
}

func newBook() *book {
	return &book{sizes: map[uint16]int{}, arrived: map[uint16]int64{}, lost: map[uint16]int{}, target: 1_000_000}
}

func (b *book) AddStream(info *pion.StreamInfo, next pion.RTPWriter) pion.RTPWriter {
	return pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
		var ext rtp.TransportCCExtension
		if err := ext.Unmarshal(h.GetExtension(uint8(info.RTPHeaderExtensions[0].ID))); err != nil {
			return 0, err
		}
		b.sizes[ext.TransportSequence] = h.MarshalSize() + len(payload)

		return next.Write(h, payload, a)
	})
}

func (b *book) WriteRTCP(pkts []rtcp.Packet, _ pion.Attributes) error {
	for _, p := range pkts {
		fb, ok := p.(*rtcp.TransportLayerCC)
		if !ok {
			continue
		}
		b.reports++
		seq, at, some, deltas := fb.BaseSequenceNumber, int64(fb.ReferenceTime)*64_000, false, fb.RecvDeltas
		for _, c := range fb.PacketChunks {
			run := c.(*rtcp.RunLengthChunk)
			for range run.RunLength {
				if run.PacketStatusSymbol == rtcp.TypeTCCPacketNotReceived {
					b.lost[seq]++
				} else {
					at += deltas[0].Delta
					deltas = deltas[1:]
					b.arrived[seq] = at
					some = true
				}
				seq++
			}
		}
		if !some {
			b.empty++
		}
		if seq-fb.BaseSequenceNumber != fb.PacketStatusCount || len(deltas) > 0 {
			return errors.New("a report that does not add up")
		}
	}

	return nil
}

func (b *book) GetTargetBitrate() int           { return b.target }
func (b *book) OnTargetBitrateChange(func(int)) {}
func (b *book) GetStats() map[string]any        { return nil }
func (b *book) Close() error                    { b.closed++; return nil }

// Whatever comes in whichever pieces: each arrival is told once with its own
// time, each loss once, and nothing that is not known yet looks lost. Numbers
// wrap, and times begin below zero.
func TestFeedback(t *testing.T) {
	b := newBook()
	o, err := pionbwe.New(b)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	start := time.Unix(1000, 0)
	const first, n = 1<<16 - 300, 2000
	var held []gcc.PacketResult
	lost, dropped := 0, 0
	for from := first; from < first+n; from += 20 {
		now := start.Add(time.Duration(from-first) * time.Millisecond)
		var results []gcc.PacketResult
		for seq := from; seq < from+20; seq++ {
			p := gcc.SentPacket{Seq: int64(seq), Size: 200 + seq%1000, At: now}
			o.OnPacketSent(now, p)
			r := gcc.PacketResult{SentPacket: p, Received: rng.IntN(10) > 0, Arrival: gcc.RemoteTime((seq-first)*1000 - 50_000)}
			if !r.Received {
				lost++
			}
			results = append(results, r)
		}
		o.OnAcked(now, results)
		for _, r := range results {
			switch {
			case !r.Received:
			case rng.IntN(50) == 0: // nobody knows its time in the phone
				dropped++
			default:
				held = append(held, r)
			}
		}
		ready := rng.IntN(len(held) + 1)
		o.OnDelay(now, held[:ready])
		held = held[ready:]
	}
	o.OnDelay(start.Add(time.Minute), held)
	if b.empty > 0 {
		t.Errorf("%d reports of losses alone", b.empty)
	}
	told := 0
	for _, times := range b.lost {
		told += times
	}
	// Those beside what was dropped cannot be told.
	if told > lost || told < lost-dropped || len(b.lost) != told {
		t.Errorf("%d losses of %d packets told, want %d less up to %d, once each", told, len(b.lost), lost, dropped)
	}
	if want := n - lost - dropped; len(b.arrived) != want {
		t.Errorf("%d arrivals, want %d", len(b.arrived), want)
	}
	// One base for all.
	base := b.arrived[65535] - int64(65535-first)*1000
	for seq := first; seq < first+n; seq++ {
		if at, ok := b.arrived[uint16(seq)]; ok && at-base != int64(seq-first)*1000 {
			t.Fatalf("packet %d: arrived %d us after the first, want %d", seq, at-base, (seq-first)*1000)
		}
		if got, want := b.sizes[uint16(seq)], 200+seq%1000; got != want {
			t.Fatalf("packet %d: %d bytes, want %d", seq, got, want)
		}
	}
	if e := o.Estimate(); e.BitrateBps != 1_000_000 || e.LossBps != 1_000_000 || e.PacingBps != 2_500_000 {
		t.Errorf("%+v", e)
	}
	if err := o.Close(); err != nil || b.closed != 1 {
		t.Errorf("closed %d times, %v", b.closed, err)
	}
	if _, err := pionbwe.New(nil); !errors.Is(err, pionbwe.ErrNoEstimator) {
		t.Errorf("without an estimator: %v", err)
	}
}

// path is a link of a rate, with what the radio adds to the delay of each packet
// swinging by far more than any detector takes for noise.
func drive(t *testing.T, o gbr.Outer, correct bool) {
	t.Helper()
	var results []gcc.PacketResult
	for i := range 4000 {
		time.Sleep(7 * time.Millisecond)
		now := time.Now()
		p := gcc.SentPacket{Seq: int64(i), Size: 1200, At: now}
		o.OnPacketSent(now, p)
		// Over a second and a half the radio's queue grows to 75 ms, and is gone.
		radio := time.Duration(i%300) * 250 * time.Microsecond
		at := gcc.RemoteTime(i*7000 + 30_000)
		if !correct {
			at = at.Add(radio)
		}
		results = append(results, gcc.PacketResult{SentPacket: p, Received: true, Arrival: at})
		if len(results) == 10 {
			o.OnAcked(now, results)
			o.OnDelay(now, results)
			results = results[:0]
		}
	}
	synctest.Wait()
}

// Pion's estimator grows on what the radio does not explain, and falls on what
// looks like a queue: the adapter tells it of both as the wire would.
func TestPionHearsTheCorrection(t *testing.T) {
	rates := map[bool]int{}
	for _, correct := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			bwe, err := piongcc.NewSendSideBWE(piongcc.SendSideBWEInitialBitrate(1_000_000),
				piongcc.SendSideBWEMaxBitrate(4_000_000), piongcc.SendSideBWEPacer(piongcc.NewNoOpPacer()))
			if err != nil {
				t.Fatal(err)
			}
			o, err := pionbwe.New(bwe)
			if err != nil {
				t.Fatal(err)
			}
			drive(t, o, correct)
			e := o.Estimate()
			rates[correct] = e.BitrateBps
			if e.AckedBps < 1_290_000 || e.AckedBps > 1_420_000 {
				t.Errorf("%d bit/s arrive, want 1.37 Mbit/s (-6, +4 %%)", e.AckedBps)
			}
			for range 2 {
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if r := rates[true]; r < 3_900_000 || r > 4_000_000 {
		t.Errorf("corrected: %d bit/s, want the 4 Mbit/s that it may have (-0.1)", r)
	}
	if r := rates[false]; r < 500_000 || r > 3_000_000 {
		t.Errorf("uncorrected: %d bit/s, want 0.5 to 3 Mbit/s", r)
	}
}

// An estimator closes its outer loop, and the old one when it gets another.
func TestOuterIsClosed(t *testing.T) {
	var books []*book
	outer := interceptor.WithOuter(func() (gbr.Outer, error) {
		b := newBook()
		books = append(books, b)

		return pionbwe.New(b)
	})
	est, err := interceptor.NewEstimator(outer)
	if err != nil {
		t.Fatal(err)
	}
	if err := est.Switch(outer, interceptor.WithPreset("no such preset")); err == nil {
		t.Error("a preset that there is not")
	}
	if err := est.Switch(outer); err != nil {
		t.Fatal(err)
	}
	want := func(when string, closed ...int) {
		t.Helper()
		for i, n := range closed {
			if books[i].closed != n {
				t.Errorf("%s: loop %d closed %d times, want %d", when, i, books[i].closed, n)
			}
		}
	}
	want("after two switches, one in vain", 1, 1, 0)
	if err := est.Close(); err != nil {
		t.Fatal(err)
	}
	if err := est.Close(); err != nil {
		t.Fatal(err)
	}
	if err := est.Switch(outer); !errors.Is(err, interceptor.ErrClosed) {
		t.Error(err)
	}
	want("after Close", 1, 1, 1, 1)
	if n := len(books); n != 4 {
		t.Errorf("%d loops made, want 4", n)
	}
}
