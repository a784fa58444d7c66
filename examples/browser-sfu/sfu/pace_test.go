// SPDX-License-Identifier: MIT

package sfu

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// through is how many bytes, on the link, a pace lets through in a time when there
// is always more.
func through(p *pace, now *time.Time, d time.Duration) int {
	const size = 1000
	n := 0
	for end := now.Add(d); now.Before(end); {
		if w := p.wait(*now, size); w > 0 {
			*now = now.Add(w)
		} else {
			n += size + paceOverhead
		}
	}

	return n
}

func TestPace(t *testing.T) {
	now := time.Unix(0, 0)
	bps := 2_000_000
	p := &pace{rate: func() int { return bps }}
	through(p, &now, time.Second)
	kbps := func(n int, d time.Duration) int { return int(float64(n) * 8 / d.Seconds() / 1000) }
	if got := kbps(through(p, &now, time.Second), time.Second); got < 2150 || got > 2250 {
		t.Errorf("at 2 Mbit/s %d kbit/s leave, want 2200", got)
	}
	// A frame of its size leaves at once, after a rest.
	now = now.Add(time.Second)
	begin := now
	for range 8 {
		if w := p.wait(now, 1000); w > 0 {
			now = now.Add(w)
		}
	}
	if d := now.Sub(begin); d > 0 {
		t.Errorf("a frame of 8 kB waits %v at 2 Mbit/s", d)
	}
	// A lower rate counts from the next packet on.
	bps = 200_000
	if n := through(p, &now, 50*time.Millisecond); n > 4*1046 {
		t.Errorf("%d bytes in the 50 ms after the rate fell to 200 kbit/s, want at most what may leave at once", n)
	}
	if got := kbps(through(p, &now, 2*time.Second), 2*time.Second); got < 200 || got > 240 {
		t.Errorf("at 200 kbit/s %d kbit/s leave, want 220", got)
	}
	bps = 0
	if w := p.wait(now.Add(time.Hour), 1000); w < 0 || w > paceLook {
		t.Errorf("at no rate the next look is in %v", w)
	}
}

// frame makes the packets of one; the first byte of each tells a key frame's begin.
func frame(seq *uint16, timestamp uint32, packets int, key bool) (all []*rtp.Packet) {
	for i := range packets {
		b := make([]byte, 1000)
		b[1] = 1
		if i == 0 {
			b[0] = 0x10
			if key {
				b[1] = 0
			}
		}
		all = append(all, &rtp.Packet{
			Header:  rtp.Header{Version: 2, SequenceNumber: *seq, Timestamp: timestamp, Marker: i == packets-1},
			Payload: b,
		})
		*seq++
	}

	return all
}

// The rate falls to a quarter while the publisher goes on for a while: what leaves
// stays within the rate, no frame is cut, none is late, the numbers have no hole,
// and it goes on with a key frame that is asked for when the publisher has obeyed.
func TestPacedFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const fps = 30
		begin := time.Now()
		var mu sync.Mutex
		bps := 2_400_000
		rate := func() int { mu.Lock(); defer mu.Unlock(); return bps }
		var asked []time.Duration
		type left struct {
			rtp.Packet
			at time.Duration
		}
		var got []left
		done := make(chan struct{})
		f := newFeed(func(p *rtp.Packet) error {
			got = append(got, left{*p, time.Since(begin)})

			return nil
		}, keyFrameStart(webrtc.MimeTypeVP8), done)
		f.pace = &pace{rate: rate}
		f.keyFrame = func() { mu.Lock(); defer mu.Unlock(); asked = append(asked, time.Since(begin)) }
		var wg sync.WaitGroup
		wg.Go(f.run)
		const (
			drop  = 2 * time.Second
			obeys = drop + 400*time.Millisecond
			end   = 6 * time.Second
		)
		var seq uint16
		sentAt := map[uint32]time.Duration{}
		answered := 0
		for n := uint32(0); time.Since(begin) < end; n++ {
			at := time.Since(begin)
			mu.Lock()
			if at >= drop {
				bps = 600_000
			}
			key := n == 0 || len(asked) > answered && at >= obeys
			if key {
				answered = len(asked)
			}
			mu.Unlock()
			packets := 9 // 2.2 Mbit/s
			if at >= obeys {
				packets = 2 // 0.5
				if key {
					packets = 14
				}
			}
			sentAt[n] = at
			for _, p := range frame(&seq, n, packets, key) {
				f.push(p)
			}
			time.Sleep(time.Second / fps)
		}
		time.Sleep(time.Second)
		close(done)
		wg.Wait()

		bytes, after := 0, map[uint32]int{}
		for i, p := range got {
			if p.SequenceNumber != uint16(i) {
				t.Fatalf("packet %d has number %d", i, p.SequenceNumber)
			}
			after[p.Timestamp]++
			if d := p.at - sentAt[p.Timestamp]; d > lateFrame+400*time.Millisecond {
				t.Errorf("a packet of frame %d left after %v", p.Timestamp, d)
			}
			if p.at > drop+50*time.Millisecond && p.at <= drop+550*time.Millisecond {
				bytes += len(p.Payload) + 12 + paceOverhead
			}
			if i == 0 || got[i-1].Timestamp == p.Timestamp {
				continue
			}
			if !got[i-1].Marker {
				t.Errorf("frame %d was cut", got[i-1].Timestamp)
			}
			if gap := p.Timestamp - got[i-1].Timestamp; gap > 1 && !vp8Key(p.Payload) {
				t.Errorf("after %d frames that were dropped comes one that is no key frame", gap-1)
			}
		}
		if kbps := bytes * 8 / 500; kbps < 400 || kbps > 700 {
			t.Errorf("%d kbit/s left in the half second after the drop to 600, want 400 to 700", kbps)
		}
		if f.gaps.Load() != 1 || f.dropped.Load() < 50 {
			t.Errorf("%d gaps with %d packets, want 1 with 50 or more", f.gaps.Load(), f.dropped.Load())
		}
		if len(asked) == 0 || asked[0] < drop+lateFrame/2 || asked[0] > drop+1500*time.Millisecond {
			t.Errorf("key frames were asked for at %v", asked)
		}
		last := got[len(got)-1]
		if d := last.at - sentAt[last.Timestamp]; d > 100*time.Millisecond {
			t.Errorf("in the end a frame waits %v", d)
		}
	})
}
