// SPDX-License-Identifier: MIT

package sfu

import (
	"net/http"
	"testing"
	"time"

	"github.com/pion/rtcp"
)

func publishing(s *Server) func() bool { return func() bool { return s.Stats().Publishing } }

// A publisher and two viewers, who come and go.
func TestForward(t *testing.T) {
	s, url := start(t)
	c := newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	a, b := newScreen(t, url), newScreen(t, url)
	eventually(t, "pictures for both", func() bool { return a.frames.Load() > 20 && b.frames.Load() > 20 })
	for _, v := range []*screen{a, b} {
		if v.first.Load() != 1 {
			t.Error("a viewer began with a frame that it cannot decode")
		}
	}
	if c.plis.Load() < 1 || c.twcc.Load() < 1 {
		t.Errorf("the publisher got %d PLI and %d TWCC, want both", c.plis.Load(), c.twcc.Load())
	}
	if st := s.Stats(); st.Viewers != 2 || st.PacketsIn < 20 || st.PacketsOut < 40 || st.BytesOut != 300*st.PacketsOut {
		t.Errorf("%+v", st)
	}

	// A viewer's PLI goes on to the publisher.
	before := c.plis.Load()
	ssrc := uint32(a.pc.GetReceivers()[0].Track().SSRC())
	if err := a.pc.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: ssrc}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the PLI", func() bool { return c.plis.Load() > before })

	// One leaves, the other stays.
	if r, err := ask(t.Context(), http.MethodDelete, a.session, "", ""); err != nil || r.status != http.StatusOK {
		t.Fatalf("%v %v", r, err)
	}
	if st := s.Stats(); st.Viewers != 1 {
		t.Errorf("%d viewers after one has left", st.Viewers)
	}
	if r, err := ask(t.Context(), http.MethodDelete, a.session, "", ""); err != nil || r.status != http.StatusNotFound {
		t.Errorf("a second DELETE: %v %v", r, err)
	}
	n := b.frames.Load()
	eventually(t, "more for the other", func() bool { return b.frames.Load() > n+20 })
	if b.holes.Load() != 0 {
		t.Errorf("%d holes in a stream without loss", b.holes.Load())
	}

	// The publisher leaves, and the viewer with it.
	if r, err := ask(t.Context(), http.MethodDelete, c.session, "", "", "Authorization", "Bearer "+token); err != nil || r.status != http.StatusOK {
		t.Fatalf("%v %v", r, err)
	}
	eventually(t, "nobody left", func() bool { st := s.Stats(); return !st.Publishing && st.Viewers == 0 })
	<-b.ended
	if st := s.Stats(); st.PacketsIn < 40 || st.PacketsOut < 60 || st.PublishersTotal != 1 || st.ViewersTotal != 2 {
		t.Errorf("in the end: %+v", st)
	}
}

// A page that is reloaded publishes again without waiting for the old session.
func TestReplace(t *testing.T) {
	s, url := start(t)
	newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	a := newScreen(t, url)
	eventually(t, "pictures", func() bool { return a.frames.Load() > 5 })
	newCamera(t, url)
	<-a.ended
	eventually(t, "one publisher", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()

		return len(s.sessions) == 1 && s.current != nil
	})
	b := newScreen(t, url)
	eventually(t, "pictures of the second", func() bool { return b.frames.Load() > 5 })
}

// A viewer that asks for everything again and again costs the publisher two key
// frames a second, as all viewers together do, and the others nothing.
func TestGreedyViewer(t *testing.T) {
	s, url := start(t)
	c := newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	a, greedy := newScreen(t, url), newScreen(t, url)
	eventually(t, "pictures for both", func() bool { return a.frames.Load() > 5 && greedy.frames.Load() > 5 })
	ssrc := uint32(greedy.pc.GetReceivers()[0].Track().SSRC())
	before, frames, begin := c.plis.Load(), a.frames.Load(), time.Now()
	for n := uint16(0); time.Since(begin) < 2*time.Second; n++ {
		err := greedy.pc.WriteRTCP([]rtcp.Packet{
			&rtcp.PictureLossIndication{MediaSSRC: ssrc},
			&rtcp.TransportLayerNack{MediaSSRC: ssrc, Nacks: []rtcp.NackPair{{PacketID: n, LostPackets: 0xffff}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(begin).Seconds()
	if rate := float64(c.plis.Load()-before) / took; rate < 0.5 || rate > 2.6 {
		t.Errorf("the publisher is asked %.1f times a second, want about 2", rate)
	}
	if rate := float64(a.frames.Load()-frames) / took; rate < 25 || a.holes.Load() != 0 {
		t.Errorf("the other gets %.0f of 50 frames a second, with %d holes", rate, a.holes.Load())
	}
}

// A viewer whose machine has gone silently is given up when it has not been heard of
// for 15 s; nobody else notices.
func TestVanishedViewer(t *testing.T) {
	t.Parallel()
	s, url := start(t)
	newCamera(t, url)
	eventually(t, "a publisher", publishing(s))
	a := newScreen(t, url)
	cable := &cable{}
	gone := newScreen(t, url, cable)
	eventually(t, "pictures for both", func() bool { return a.frames.Load() > 5 && gone.frames.Load() > 5 })
	cable.cut.Store(true)
	begin := time.Now()
	for end := begin.Add(40 * time.Second); s.Stats().Viewers != 1 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if d := time.Since(begin); d < 5*time.Second || d > 25*time.Second {
		t.Errorf("given up after %v, want about 15 s", d)
	}
	n := a.frames.Load()
	eventually(t, "more for the other", func() bool { return a.frames.Load() > n+20 })
	if a.holes.Load() != 0 {
		t.Errorf("%d holes", a.holes.Load())
	}
}

// Ten viewers get all of it, at 3 Mbit/s: the server drops nothing, and what the
// sockets of a busy machine lose is sent again.
func TestTenViewers(t *testing.T) {
	s, url := start(t)
	newCamera(t, url, manyPackets)
	eventually(t, "a publisher", publishing(s))
	var all []*screen
	for range 10 {
		all = append(all, newScreen(t, url))
	}
	before := make([]int64, len(all))
	for i, v := range all {
		eventually(t, "pictures", func() bool { return v.frames.Load() > 20 })
		before[i] = v.frames.Load()
	}
	in := s.Stats().PacketsIn
	time.Sleep(2 * time.Second)
	sent := s.Stats().PacketsIn - in
	if sent < 50*manyPackets {
		t.Fatalf("%d packets in 2 s, want about %d", sent, 100*manyPackets)
	}
	for i, v := range all {
		eventually(t, "all packets", func() bool { return v.frames.Load()-before[i] >= sent })
	}
	if st := s.Stats(); st.Viewers != 10 || st.Overflows != 0 {
		t.Errorf("%+v", st)
	}
}
