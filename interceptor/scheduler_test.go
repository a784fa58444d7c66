// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
)

// backlog writes n packets of 1250 bytes, 10 ms each at 1 Mbit/s.
func backlog(t *testing.T, w pion.RTPWriter, n int) {
	t.Helper()
	for i := range n {
		mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1250))
	}
}

// Estimators that share a Scheduler leave the pacer as those that do not.
func TestSharedScheduler(t *testing.T) {
	for name, opts := range map[string][]Option{
		"own": nil, "one shard": {WithScheduler(newScheduler(1))}, "two shards": {WithScheduler(newScheduler(2))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 3*seats/2 + 1
				var rigs []*rig
				for range n {
					r := newRig(t, 1_000_000, opts...)
					rigs = append(rigs, r)
					backlog(t, r.video(), 11)
				}
				start := time.Now()
				time.Sleep(time.Second)
				synctest.Wait()
				for _, r := range rigs {
					sent := r.wire.sent()
					within(t, "packets", float64(len(sent)), 11, 0, "")
					within(t, "sent over", float64(sent[len(sent)-1].at.Sub(start))/1e6, 97, 5, "ms")
				}
			})
		})
	}
}

// A writer that blocks holds up its own packets, and nobody else's for long; also
// when there are several of them, and when it is over.
func TestSlowWriterHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := WithScheduler(newScheduler(1))
		var slow, quick []*rig
		release := make(chan struct{})
		for range 3 {
			r := newRig(t, 1_000_000, opt)
			slow = append(slow, r)
			blocked := pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
				if h.SequenceNumber == 3 {
					<-release
				}

				return r.wire.Write(h, payload, a)
			})
			backlog(t, r.AddStream(videoInfo(), blocked), 11)
			q := newRig(t, 1_000_000, opt)
			quick = append(quick, q)
			backlog(t, q.video(), 11)
		}
		start := time.Now()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		for _, r := range quick {
			sent := r.wire.sent()
			within(t, "packets of one beside", float64(len(sent)), 11, 0, "")
			within(t, "sent over", float64(sent[len(sent)-1].at.Sub(start))/1e6, 100, 3*3*stalled.Seconds()*1000, "ms")
		}
		for _, r := range slow {
			within(t, "packets before the blocked one", float64(len(r.wire.sent())), 3, 0, "")
		}
		close(release)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		for _, r := range slow {
			within(t, "packets after all", float64(len(r.wire.sent())), 11, 0, "")
		}
	})
}

// Close returns when the writer does, not before: the application may free what
// that uses. The others' does not wait for it.
func TestCloseWaitsForItsOwnWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := WithScheduler(newScheduler(1))
		slow, quick := newRig(t, 1_000_000, opt), newRig(t, 1_000_000, opt)
		backlog(t, slow.AddStream(videoInfo(), pion.RTPWriterFunc(func(h *rtp.Header, p []byte, a pion.Attributes) (int, error) {
			if h.SequenceNumber == 3 {
				time.Sleep(time.Second)
			}

			return slow.wire.Write(h, p, a)
		})), 11)
		time.Sleep(100 * time.Millisecond)
		start := time.Now()
		if err := quick.Close(); err != nil {
			t.Error(err)
		}
		within(t, "Close of another one", time.Since(start).Seconds(), 0, 0.01, "s")
		if err := slow.Close(); err != nil {
			t.Error(err)
		}
		within(t, "Close", time.Since(start).Seconds(), 0.93, 0.02, "s")
	})
}

// Members come and go, and nothing is left when there are none; the goroutines are
// those of the bubble, which must end with it.
func TestSchedulerBeginsAgain(t *testing.T) {
	s := newScheduler(2)
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			for range 3 {
				a, b, c := newRig(t, 1_000_000, WithScheduler(s)), newRig(t, 1_000_000, WithScheduler(s)), newRig(t, 1_000_000, WithScheduler(s))
				backlog(t, a.video(), 5)
				backlog(t, c.video(), 5)
				time.Sleep(5 * time.Millisecond)
				for _, r := range []*rig{b, a} {
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(100 * time.Millisecond)
				within(t, "packets of the one that stayed", float64(len(c.wire.sent())), 5, 0, "")
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, h := range s.shards {
		within(t, "members", float64(h.members.Load()), 0, 0, "")
	}
}

// In real time, for the race detector: many, with writers that stop now and then.
func TestSchedulerUnderChurn(t *testing.T) {
	s := NewScheduler()
	var wg sync.WaitGroup
	end := time.Now().Add(300 * time.Millisecond)
	for k := range 20 {
		wg.Go(func() {
			for time.Now().Before(end) {
				r := &wire{}
				e, err := NewEstimator(WithScheduler(s), WithLoggerFactory(&logBook{}))
				if err != nil {
					t.Error(err)

					return
				}
				w := e.AddStream(videoInfo(), pion.RTPWriterFunc(func(h *rtp.Header, p []byte, a pion.Attributes) (int, error) {
					if k%7 == 0 && h.SequenceNumber == 2 {
						time.Sleep(3 * stalled)
					}

					return r.Write(h, p, a)
				}))
				for i := range 5 {
					if _, err := w.Write(header(mediaSSRC, uint16(i)), payloadFor(300), nil); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(30 * time.Millisecond)
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if len(r.sent()) == 0 {
					t.Error("nothing was sent")
				}
			}
		})
	}
	wg.Wait()
}

func TestNoScheduler(t *testing.T) {
	if _, err := NewEstimator(WithScheduler(nil)); !errors.Is(err, ErrOption) {
		t.Errorf("error %v", err)
	}
}
