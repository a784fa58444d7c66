// SPDX-License-Identifier: MIT

package interceptor

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// heard keeps what an Estimator was told of others.
type heard struct {
	mu     sync.Mutex
	sizes  []int
	shares []float64
}

func (h *heard) Record(_ time.Time, ev gcc.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch ev := ev.(type) {
	case gbr.OthersSentEvent:
		h.sizes = append(h.sizes, ev.Packet.Size)
	case gbr.ShareEvent:
		h.shares = append(h.shares, ev.Share)
	default:
	}
}

func (h *heard) take() (sizes []int, shares []float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sizes, shares = h.sizes, h.shares
	h.sizes, h.shares = nil, nil

	return sizes, shares
}

// Each member of an Uplink is told of every packet of the others, once and of none
// of its own, from the moment at which it joins until the other one leaves.
func TestMembersKnowOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := NewUplink(nil)
		open := func() (*Estimator, *heard, func(n, payload int)) {
			h := &heard{}
			e, err := NewEstimator(WithUplink(u, 1), WithLoggerFactory(&logBook{}), WithRecorder(h), WithoutProbing())
			if err != nil {
				t.Fatal(err)
			}
			w := e.AddStream(videoInfo(), &wire{})
			seq := uint16(0)

			return e, h, func(n, payload int) {
				for range n {
					seq++
					mustWrite(t, w, header(mediaSSRC, seq), payloadFor(payload))
					time.Sleep(40 * time.Millisecond) // paced
				}
			}
		}
		tell := func() { u.PushTelemetry(gbr.Telemetry{}); synctest.Wait() }
		check := func(who string, h *heard, n, payload int) []float64 {
			t.Helper()
			sizes, shares := h.take()
			ok := len(sizes) == n
			for _, s := range sizes {
				ok = ok && s >= payload && s < payload+100
			}
			if !ok {
				t.Errorf("%s heard of packets of %v bytes, want %d of %d and headers", who, sizes, n, payload)
			}

			return shares
		}
		a, ah, sendA := open()
		sendA(5, 500)
		b, bh, sendB := open()
		tell()
		check("the first one", ah, 0, 0)
		check("the second one", bh, 0, 0)
		sendA(3, 300)
		sendB(4, 700)
		tell()
		if shares := check("the first one", ah, 4, 700); len(shares) == 0 {
			t.Error("the first one has no share")
		}
		check("the second one", bh, 3, 300)
		sendA(2*othersRing/30, 100)
		tell()
		check("the second one", bh, 2*othersRing/30, 100)
		sendA(1, 100) // it will be in the phone's queue still
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		tell()
		if shares := check("the second one", bh, 1, 100); len(shares) != 1 || shares[0] != 1 {
			t.Errorf("alone it has the shares %v, want 1", shares)
		}
		sendB(1, 500)
		tell()
		if sizes, _ := bh.take(); len(sizes) > 0 {
			t.Errorf("alone it hears of %v", sizes)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A member that does not ask misses the oldest ones, and nothing else.
func TestSentLogIsBounded(t *testing.T) {
	var l sentLog
	a, b := &Estimator{}, &Estimator{}
	for i := range 3 * othersRing {
		l.add(a, time.Time{}, i)
	}
	var buf [7]gcc.SentPacket
	at, want := int64(0), 2*othersRing
	for {
		n := l.read(b, &at, buf[:])
		for _, p := range buf[:n] {
			if p.Size != want {
				t.Fatalf("packet %d, want %d", p.Size, want)
			}
			want++
		}
		if n < len(buf) {
			break
		}
	}
	if want != 3*othersRing || l.read(b, &at, buf[:]) != 0 {
		t.Errorf("read up to %d, want %d", want, 3*othersRing)
	}
	at = 0
	if n := l.read(a, &at, buf[:]); n != 0 || at != 3*othersRing {
		t.Errorf("%d of its own, up to %d", n, at)
	}
}

// Members send, come and go while telemetry comes in, for the race detector.
func TestUplinkEverythingAtOnce(t *testing.T) {
	u := NewUplink(nil)
	var wg sync.WaitGroup
	end := time.Now().Add(300 * time.Millisecond)
	for i := range 4 {
		wg.Go(func() {
			for time.Now().Before(end) {
				e, err := NewEstimator(WithUplink(u, float64(i+1)), WithLoggerFactory(&logBook{}))
				if err != nil {
					t.Error(err)

					return
				}
				w := e.AddStream(videoInfo(), &wire{})
				for n := range uint16(30 * (i + 1)) {
					if _, err := w.Write(header(mediaSSRC, n), payloadFor(200), nil); err != nil {
						t.Error(err)
					}
					u.SetWeight(e, float64(n+1))
					time.Sleep(100 * time.Microsecond)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for time.Now().Before(end) {
		now := time.Now()
		u.PushTelemetry(gbr.Telemetry{
			Grants:  []gbr.Grant{{At: now, Bytes: 500}},
			Reports: []gbr.Report{{At: now, Low: 500, High: 700}},
			Samples: []gbr.Sample{{At: now, Window: 5 * time.Millisecond, Granted: 500, Reported: 700}},
		})
		time.Sleep(200 * time.Microsecond)
	}
	wg.Wait()
}
