// SPDX-License-Identifier: MIT

package qoe

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// viewer drives a Receiver with frames of a 30 fps source whose first frame is
// a key frame.
type viewer struct {
	t      testing.TB
	r      *Receiver
	start  time.Time
	rtp    uint32
	frames []ReleasedFrame
}

func newViewer(t testing.TB, cfg ReceiverConfig) *viewer {
	return &viewer{t: t, r: NewReceiver(cfg), start: epoch(), rtp: 1000}
}

func (v *viewer) keep(out []ReleasedFrame) { v.frames = append(v.frames, out...) }

// frame n, which took network on its way.
func (v *viewer) frame(n int, network time.Duration) FrameInfo {
	return FrameInfo{
		ID:           int64(n),
		LastPacket:   v.start.Add(captured(n) + network),
		RTPTimestamp: v.rtp + uint32(n)*3000,
		Size:         4000,
		KeyFrame:     n == 0,
		Complete:     true,
	}
}

func (v *viewer) add(f FrameInfo) { v.keep(v.r.OnFrame(f.LastPacket, f)) }

// send is a frame after 50 ms on the network.
func (v *viewer) send(n int) { v.add(v.frame(n, 50*ms)) }

func (v *viewer) until(d time.Duration) { v.keep(v.r.OnTimeout(v.start.Add(d))) }

func (v *viewer) latency(i int) float64 {
	f := v.frames[i]

	return f.Render.Sub(v.start.Add(captured(int(f.ID)))).Seconds() * 1000
}

func TestSteadyStream(t *testing.T) {
	v := newViewer(t, ReceiverConfig{DecodeTime: 5 * ms})
	for n := range 900 {
		v.send(n)
	}
	v.until(31 * time.Second)
	if len(v.frames) != 900 {
		t.Fatalf("%d frames, want 900", len(v.frames))
	}
	s, d := v.r.Stats(), v.r.Delays()
	// 1 ms threshold + 10 ms system, 5 ms decode, 10 ms render.
	within(t, "jitter", d.Jitter.Seconds()*1000, 11, 0.2, "ms")
	within(t, "target", d.Target.Seconds()*1000, 26, 0.2, "ms")
	if d.Decode != 5*ms || d.Render != 10*ms {
		t.Errorf("%+v", d)
	}
	// A steady frame is due at arrival + current and released 15 ms before.
	last := v.latency(899)
	within(t, "latency", last, 50+d.Current.Seconds()*1000, 1, "ms")
	within(t, "time in the buffer", s.JitterBufferDelay.Seconds()*1000/900, d.Current.Seconds()*1000-15, 1.5, "ms")
	if s.FramesReceived != 900 || s.FramesDecoded != 900 || s.FramesRendered != 900 || s.JitterBufferEmittedCount != 900 ||
		s.KeyFramesDecoded != 1 || s.FramesDropped != 0 || s.FreezeCount != 0 || s.PauseCount != 0 || s.TimingResets != 0 {
		t.Errorf("%+v", s)
	}
	within(t, "target delay", s.JitterBufferTargetDelay.Seconds()*1000/900, 11, 0.5, "ms")
	if s.JitterBufferTargetDelay != s.JitterBufferMinimumDelay {
		t.Errorf("target %v and minimum %v differ", s.JitterBufferTargetDelay, s.JitterBufferMinimumDelay)
	}
	within(t, "between frames", s.TotalInterFrameDelay.Seconds(), captured(899).Seconds(), 0.02, "s")
	within(t, "squared", s.TotalSquaredInterFrameDelay, 899/900.0, 0.02, "s^2")
	within(t, "decoding", s.TotalDecodeTime.Seconds()*1000/900, 5, 1e-9, "ms")
}

// The time in the buffer and the processing count from the first packet on,
// jitter and render times from the last one.
func TestAssemblyTime(t *testing.T) {
	whole, slow := newViewer(t, ReceiverConfig{}), newViewer(t, ReceiverConfig{})
	for n := range 300 {
		whole.send(n)
		f := slow.frame(n, 50*ms)
		f.FirstPacket = f.LastPacket.Add(-20 * ms)
		slow.add(f)
	}
	whole.until(11 * time.Second)
	slow.until(11 * time.Second)
	a, b := whole.r.Stats(), slow.r.Stats()
	within(t, "buffer", (b.JitterBufferDelay-a.JitterBufferDelay).Seconds()*1000/300, 20, 0.001, "ms")
	within(t, "processing", (b.TotalProcessingDelay-a.TotalProcessingDelay).Seconds()*1000/300, 20, 0.001, "ms")
	if whole.frames[299].Render != slow.frames[299].Render || a.JitterBufferTargetDelay != b.JitterBufferTargetDelay {
		t.Error("the first packet moves the render time")
	}
}

// The target with a minimum from outside; the other stays what it was.
func TestMinimumPlayoutDelay(t *testing.T) {
	v := newViewer(t, ReceiverConfig{MinPlayout: 200 * ms})
	for n := range 600 {
		v.send(n)
	}
	v.until(21 * time.Second)
	s := v.r.Stats()
	within(t, "target delay", s.JitterBufferTargetDelay.Seconds()*1000/600, 190, 1, "ms")
	within(t, "minimum delay", s.JitterBufferMinimumDelay.Seconds()*1000/600, 11, 1, "ms")
	within(t, "latency", v.latency(500), 250, 1.5, "ms")
}

// The first frame must be a key frame, and is released at once.
func TestWaitsForKeyFrame(t *testing.T) {
	v := newViewer(t, ReceiverConfig{Start: epoch()})
	for n := 1; n < 30; n++ {
		v.send(n)
	}
	v.until(captured(30) + 50*ms)
	if len(v.frames) != 0 {
		t.Fatalf("frame %d is shown without a key frame", v.frames[0].ID)
	}
	// Every 200 ms from the start on: 0.2, 0.4, 0.6, 0.8, 1.0 s.
	if got := v.r.Stats().KeyFrameRequests; got != 5 {
		t.Errorf("%d requests for a key frame in 1.05 s, want 5", got)
	}
	key := v.frame(31, 50*ms)
	key.KeyFrame = true
	v.add(key)
	if len(v.frames) != 1 || v.frames[0].Released.Sub(key.LastPacket).Abs() > time.Microsecond {
		t.Fatalf("%+v: want the key frame at its arrival", v.frames)
	}
	// All before it are gone.
	if s := v.r.Stats(); s.FramesDropped != 29 || s.FramesReceived != 30 {
		t.Errorf("%d of %d frames dropped, want 29 of 30", s.FramesDropped, s.FramesReceived)
	}
	v.send(32)
	v.until(3 * time.Second)
	if len(v.frames) != 2 {
		t.Errorf("%d frames, want the next one too", len(v.frames))
	}
}

// While a key frame is arriving none is asked for.
func TestNoRequestWhileKeyFrameArrives(t *testing.T) {
	r := NewReceiver(ReceiverConfig{Start: epoch()})
	for k := range 50 {
		r.OnPacket(epoch().Add(time.Duration(k)*20*ms), PacketInfo{Frame: 0, Index: k, Count: 60, KeyFrame: true, Size: 1000})
	}
	if got := r.Stats().KeyFrameRequests; got != 0 {
		t.Errorf("%d requests during the key frame", got)
	}
	r.OnTimeout(epoch().Add(1500 * ms))
	if got := r.Stats().KeyFrameRequests; got < 1 {
		t.Errorf("%d requests after its packets stopped", got)
	}
}

func TestRequireKeyFrame(t *testing.T) {
	v := newViewer(t, ReceiverConfig{})
	for n := range 60 {
		v.send(n)
	}
	v.until(2200 * ms)
	n := len(v.frames)
	v.keep(v.r.RequireKeyFrame(v.start.Add(2200 * ms)))
	for k := 60; k < 90; k++ {
		f := v.frame(k, 250*ms)
		f.KeyFrame = k == 80
		v.add(f)
	}
	v.until(4 * time.Second)
	if v.frames[n].ID != 80 {
		t.Errorf("frame %d after the decoder failed, want the key frame 80", v.frames[n].ID)
	}
	if got := v.r.Stats().KeyFrameRequests; got < 1 {
		t.Errorf("%d requests", got)
	}
}

// A frame that is lost stops the picture until the next key frame.
func TestLostFrame(t *testing.T) {
	v := newViewer(t, ReceiverConfig{})
	for n := range 120 {
		f := v.frame(n, 50*ms)
		f.Complete = n != 60
		f.KeyFrame = n == 0 || n == 90
		v.add(f)
	}
	v.until(10 * time.Second)
	var ids []string
	for i, f := range v.frames {
		if i > 0 && v.frames[i-1].ID+1 != f.ID {
			ids = append(ids, fmt.Sprintf("%d-%d", v.frames[i-1].ID, f.ID))
		}
	}
	if got := strings.Join(ids, " "); got != "59-90" {
		t.Errorf("gaps %q, want 59-90", got)
	}
	s := v.r.Stats()
	if s.FramesDropped != 29 || s.FreezeCount != 1 {
		t.Errorf("%d dropped, %d freezes, want 29 and 1", s.FramesDropped, s.FreezeCount)
	}
	within(t, "freeze", s.TotalFreezesDuration.Seconds()*1000, 31*33.3, 20, "ms")
}

// A frame 5 ms or more too late is dropped if a newer one can be decoded
// without it.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name        string
		late        time.Duration
		independent bool
		maxWait     time.Duration
		id          int64
		wait        time.Duration
		dropped     int
	}{
		{"in time", -20 * ms, true, time.Second, 10, 20 * ms, 0},
		{"in time, before the timeout", -20 * ms, true, 7 * ms, 10, 7 * ms, 0},
		{"4.999 ms late", 4999 * time.Microsecond, true, time.Second, 10, 0, 0},
		{"5 ms late", 5 * ms, true, time.Second, 11, 35 * ms, 1},
		{"5 ms late, the newer one needs it", 5 * ms, false, time.Second, 10, 0, 0},
		{"a second late, so is the newer one", time.Second, true, time.Second, 11, 0, 1},
		{"a second late, the newer one needs it", time.Second, false, time.Second, 10, 0, 0},
	} {
		p := newTiming()
		p.clock.update(0, 0)
		p.clock.update(40*ms, 3600)
		b := frameBuffer{decoded: true, lastID: 9}
		b.insert(bufferedFrame{FrameInfo: FrameInfo{ID: 10, RTPTimestamp: 7200}})
		b.insert(bufferedFrame{FrameInfo: FrameInfo{ID: 11, RTPTimestamp: 10800, DecodableWithoutPrevious: c.independent}})
		now := 80*ms - 10*ms + c.late // due at 80 ms, 10 ms to render
		s, ok := plan(now, c.maxWait, &b, p)
		if !ok || s.id != c.id || s.at-now != c.wait || b.dropped != c.dropped {
			t.Errorf("%s: frame %d in %v (%v), %d dropped; want %d in %v, %d", c.name, s.id, s.at-now, ok, b.dropped, c.id, c.wait, c.dropped)
		}
	}
	if _, ok := plan(0, 0, &frameBuffer{}, newTiming()); ok {
		t.Error("a plan without a frame")
	}
}

// The decoder hangs for half a second: what came meanwhile is skipped up to the
// key frame.
func TestFastForwardToKeyFrame(t *testing.T) {
	v := newViewer(t, ReceiverConfig{Decode: func(f FrameInfo) time.Duration {
		if f.ID == 100 {
			return 500 * ms
		}

		return 0
	}})
	for n := range 200 {
		f := v.frame(n, 50*ms)
		f.KeyFrame = n == 0 || n == 110
		v.add(f)
	}
	v.until(10 * time.Second)
	if v.frames[100].ID != 100 || v.frames[101].ID != 110 || len(v.frames) != 191 {
		t.Errorf("%d frames, %d after %d; want 191, 110 after 100", len(v.frames), v.frames[101].ID, v.frames[100].ID)
	}
	if got := v.r.Stats().FramesDropped; got != 9 {
		t.Errorf("%d dropped, want 9", got)
	}
}

func TestTimeouts(t *testing.T) {
	for _, c := range []struct {
		name             string
		gap              time.Duration
		packets          bool // of a frame that is never complete
		freezes, pauses  int
		requests, atMost int
	}{
		{"2.9 s", 2900 * ms, false, 1, 0, 0, 0},
		// The first timeout finds packets within the last 5 s.
		{"3.1 s", 3100 * ms, false, 1, 0, 1, 1},
		{"5.9 s", 5900 * ms, false, 1, 0, 1, 1},
		// The second one does not: the stream is inactive.
		{"6.1 s", 6100 * ms, false, 0, 1, 1, 1},
		{"1 h", time.Hour, false, 0, 1, 1, 1},
		{"30 s with packets", 30 * time.Second, true, 1, 0, 9, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newViewer(t, ReceiverConfig{})
			for n := range 60 {
				v.send(n)
			}
			at := captured(59) + 50*ms
			if c.packets {
				for d := time.Second; d < c.gap; d += time.Second {
					v.keep(v.r.OnPacket(v.start.Add(at+d), PacketInfo{Frame: 1000, Index: int(d / time.Second), Count: 5000}))
				}
			}
			f := v.frame(60, 50*ms+c.gap)
			f.KeyFrame = true
			v.add(f)
			v.until(at + c.gap + time.Second)
			s := v.r.Stats()
			if s.FreezeCount != c.freezes || s.PauseCount != c.pauses {
				t.Errorf("%d freezes, %d pauses; want %d, %d", s.FreezeCount, s.PauseCount, c.freezes, c.pauses)
			}
			if s.KeyFrameRequests < c.requests || s.KeyFrameRequests > c.atMost {
				t.Errorf("%d requests for a key frame, want %d..%d", s.KeyFrameRequests, c.requests, c.atMost)
			}
			within(t, "gap", (s.TotalFreezesDuration + s.TotalPausesDuration).Seconds(), c.gap.Seconds(), 0.06, "s")
			within(t, "between frames", s.TotalInterFrameDelay.Seconds(), captured(59).Seconds()+c.gap.Seconds(), 0.06, "s")
			if len(v.frames) != 61 {
				t.Errorf("%d frames, want 61", len(v.frames))
			}
		})
	}
}

// A short NACK history shortens the timeouts.
func TestNACKHistoryShortensTimeouts(t *testing.T) {
	for _, c := range []struct{ history, forKey, forFrame time.Duration }{
		{0, 200 * ms, 3 * time.Second},
		{time.Second, 200 * ms, 3 * time.Second},
		{999 * ms, 999 * ms, 2997 * ms},
		{100 * ms, 100 * ms, 300 * ms},
	} {
		got := newTimeouts(0, 0, c.history)
		if got.forKey != c.forKey || got.forFrame != c.forFrame {
			t.Errorf("history %v: %v, %v; want %v, %v", c.history, got.forKey, got.forFrame, c.forKey, c.forFrame)
		}
	}
}

// Delay above 10 s starts the timing anew instead of playing from the past.
func TestBadTimingResets(t *testing.T) {
	v := newViewer(t, ReceiverConfig{})
	for n := range 60 {
		v.send(n)
	}
	f := v.frame(60, 50*ms)
	f.RTPTimestamp += 14 * 90_000 // due in 14 s, released after 3 s
	f.Retransmitted = true        // so that the extrapolator does not see it
	v.add(f)
	for n := 61; n < 90; n++ {
		v.send(n)
	}
	v.until(20 * time.Second)
	s := v.r.Stats()
	if s.TimingResets != 1 || s.FramesDecoded != 90 {
		t.Errorf("%d resets, %d frames; want 1, 90", s.TimingResets, s.FramesDecoded)
	}
}

// The low latency mode shows a burst with 8 ms between the frames, and faster
// when more than 8 wait.
func TestLowLatencyPacing(t *testing.T) {
	v := newViewer(t, ReceiverConfig{MaxPlayout: 100 * ms})
	v.send(0)
	at := v.start.Add(captured(20) + 50*ms)
	for n := 1; n <= 20; n++ {
		f := v.frame(n, 0)
		f.LastPacket = at
		v.add(f)
	}
	v.until(2 * time.Second)
	if len(v.frames) != 21 {
		t.Fatalf("%d frames", len(v.frames))
	}
	paced, total := 0, v.frames[20].Released.Sub(v.frames[1].Released)
	for i := 2; i <= 20; i++ {
		if v.frames[i].Released.Sub(v.frames[i-1].Released) == 8*ms {
			paced++
		}
	}
	if paced < 7 || paced > 9 || total != time.Duration(paced)*8*ms {
		t.Errorf("%d of 19 gaps of 8 ms in %v, want about 8 and the others 0", paced, total)
	}
	v.r.SetPlayoutDelay(v.start.Add(2*time.Second), 0, 0)
	for n := 60; n < 70; n++ { // independent ones: only the newest is of use
		f := v.frame(n, 50*ms)
		f.KeyFrame = true
		v.add(f)
	}
	if got := v.frames[len(v.frames)-1]; got.ID != 69 || !got.Render.Equal(got.Released) {
		t.Errorf("%+v: want the newest one at once", got)
	}
}

func TestFrameBuffer(t *testing.T) {
	frame := func(id int64, rtp uint32, key bool) bufferedFrame {
		return bufferedFrame{FrameInfo: FrameInfo{ID: id, RTPTimestamp: rtp, KeyFrame: key}}
	}
	var b frameBuffer
	for n := range int64(bufferMax) {
		if !b.insert(frame(n+1, uint32(n), false)) {
			t.Fatalf("frame %d refused", n+1)
		}
	}
	if b.insert(frame(bufferMax+1, 0, false)) {
		t.Error("a frame above the limit is taken")
	}
	if _, _, ok := b.decodable(); ok {
		t.Error("decodable without a key frame")
	}
	if !b.insert(frame(bufferMax+2, 5000, true)) || len(b.frames) != 1 || b.dropped != bufferMax {
		t.Errorf("a key frame leaves %d frames, %d dropped", len(b.frames), b.dropped)
	}
	b.take(0)
	for _, c := range []struct {
		name string
		f    bufferedFrame
		want bool
	}{
		{"an old frame", frame(1, 9000, false), false},
		{"an old key frame", frame(1, 4000, true), false},
		{"the same again", frame(bufferMax+2, 5000, true), false},
		{"the next one", frame(bufferMax+3, 8000, false), true},
		{"the next one twice", frame(bufferMax+3, 8000, false), false},
		{"a key frame with an old ID and a new timestamp", frame(1, 9000, true), true},
	} {
		if got := b.insert(c.f); got != c.want {
			t.Errorf("%s: taken %v, want %v", c.name, got, c.want)
		}
	}
	if len(b.frames) != 1 || b.frames[0].ID != 1 {
		t.Errorf("after the restart %+v", b.frames)
	}
}

func TestAssembler(t *testing.T) {
	var a assembler
	add := func(at time.Duration, p PacketInfo) (bufferedFrame, bool) { return a.add(at, p) }
	p := PacketInfo{Frame: 7, Count: 130, RTPTimestamp: 90, Size: 1000}
	for k := range 130 {
		p.Index = k * 7 % 130
		p.Retransmitted = p.Index == 99
		f, complete := add(time.Duration(k)*ms, p)
		if complete != (k == 129) {
			t.Fatalf("packet %d: complete %v", k, complete)
		}
		if _, again := add(time.Duration(k)*ms, p); again {
			t.Fatal("complete by a duplicate")
		}
		if complete && (f.ID != 7 || f.Size != 130_000 || !f.Retransmitted || f.first != 0 || f.last != 129*ms || f.RTPTimestamp != 90) {
			t.Errorf("%+v", f)
		}
	}
	// The duplicate of the last packet has begun a frame of its own.
	a.forget(7)
	for _, bad := range []PacketInfo{{Count: 0}, {Count: -1}, {Count: 2, Index: 2}, {Count: 2, Index: -1}, {Count: packetsMax + 1}} {
		if add(0, bad); len(a.parts) != 0 {
			t.Errorf("%+v is taken", bad)
		}
	}
	for n := range int64(2 * partsMax) {
		add(0, PacketInfo{Frame: n, Count: 2})
	}
	if len(a.parts) != partsMax || a.parts[0].info.ID != partsMax {
		t.Errorf("%d parts from frame %d on, want the newest %d", len(a.parts), a.parts[0].info.ID, partsMax)
	}
	if _, ok := add(0, PacketInfo{Frame: 2*partsMax - 1, Index: 1, Count: 3}); ok {
		t.Error("complete with a packet of another count")
	}
}

// link is a scenario: the network's part for each frame in order of capture.
type link struct {
	name    string
	seconds int
	rtt     time.Duration
	frame   func(rng *rand.Rand, n int) (f FrameInfo, network time.Duration)
}

func links() []link {
	plain := func(rng *rand.Rand) time.Duration { return 40*ms + time.Duration(rng.IntN(2000))*time.Microsecond }
	stall := func(name string, d time.Duration) link {
		return link{name: name, seconds: 20, frame: func(rng *rand.Rand, n int) (FrameInfo, time.Duration) {
			network := plain(rng)
			for _, at := range []int{6, 16} { // before and after 300 frames
				begin := time.Duration(at) * time.Second
				if sent := captured(n) + network; sent > begin && sent < begin+d {
					network = begin + d - captured(n) + time.Duration(n%30)*ms // a burst
				}
			}

			return FrameInfo{Size: 4000}, network
		}}
	}

	return []link{
		{name: "steady", seconds: 12, frame: func(*rand.Rand, int) (FrameInfo, time.Duration) {
			return FrameInfo{Size: 4000}, 40 * ms
		}},
		{name: "jittery", seconds: 20, frame: func(rng *rand.Rand, _ int) (FrameInfo, time.Duration) {
			return FrameInfo{Size: 3000 + rng.IntN(2000)}, 30*ms + time.Duration(rng.ExpFloat64()*float64(20*ms))
		}},
		stall("stall of 220 ms", 220*ms),
		stall("stall of 400 ms", 400*ms),
		{name: "rate steps", seconds: 20, frame: func(rng *rand.Rand, n int) (FrameInfo, time.Duration) {
			size := []int{2000, 12000, 4000, 24000}[n/150%4] * (80 + rng.IntN(40)) / 100
			// 8 Mbit/s.
			return FrameInfo{Size: size}, plain(rng) + time.Duration(size)*time.Microsecond
		}},
		{name: "loss with NACK", seconds: 20, rtt: 100 * ms, frame: func(rng *rand.Rand, _ int) (FrameInfo, time.Duration) {
			f, network := FrameInfo{Size: 4000}, plain(rng)
			if rng.IntN(25) == 0 {
				f.Retransmitted, network = true, network+110*ms
			}

			return f, network
		}},
	}
}

// playOptions are what must not matter.
type playOptions struct {
	shift  time.Duration
	rtp    uint32
	ticks  time.Duration // OnTimeout that often too
	packet bool          // as packets
}

type arrival struct {
	f  FrameInfo
	at time.Duration
}

// play runs a link. each is called at the end of every second.
func play(t testing.TB, l link, o playOptions, each func(second int, v *viewer)) *viewer {
	rng := rand.New(rand.NewPCG(7, 0))
	v := newViewer(t, ReceiverConfig{Start: epoch().Add(o.shift), DecodeTime: 4 * ms})
	v.start, v.rtp = epoch().Add(o.shift), 1000+o.rtp
	var arrivals []arrival
	for n := range l.seconds * 30 {
		part, network := l.frame(rng, n)
		f := v.frame(n, network)
		f.Size, f.Retransmitted = part.Size, part.Retransmitted
		arrivals = append(arrivals, arrival{f, captured(n) + network})
	}
	slices.SortStableFunc(arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	if l.rtt > 0 {
		v.keep(v.r.OnRTT(v.start, l.rtt))
	}
	second, tick := 1, o.ticks
	for _, a := range arrivals {
		for ; o.ticks > 0 && tick < a.at; tick += o.ticks {
			v.until(tick)
		}
		for ; a.at >= time.Duration(second)*time.Second; second++ {
			v.until(time.Duration(second) * time.Second)
			if each != nil {
				each(second, v)
			}
		}
		if !o.packet {
			v.add(a.f)

			continue
		}
		for k := range 4 {
			v.keep(v.r.OnPacket(a.f.LastPacket, PacketInfo{
				Frame: a.f.ID, Index: k, Count: 4, RTPTimestamp: a.f.RTPTimestamp, KeyFrame: a.f.KeyFrame,
				Size: a.f.Size/4 + max(a.f.Size%4-k, 0)/max(a.f.Size%4-k, 1), Retransmitted: a.f.Retransmitted && k == 2,
			}))
		}
	}
	v.until(time.Duration(l.seconds+1) * time.Second)

	return v
}

func TestReceiverGolden(t *testing.T) {
	for _, l := range links() {
		t.Run(l.name, func(t *testing.T) {
			var out strings.Builder
			fmt.Fprintf(&out, "# %s: 30 fps, 4 ms to decode\n", l.name)
			fmt.Fprintln(&out, " s frames  jitter target current  shown after capture: min mean max  in buffer  frozen  (ms)")
			frames, last := 0, ReceiverStats{}
			v := play(t, l, playOptions{}, func(second int, v *viewer) {
				low, sum, high := 1e9, 0.0, 0.0
				for i := frames; i < len(v.frames); i++ {
					low, sum, high = min(low, v.latency(i)), sum+v.latency(i), max(high, v.latency(i))
				}
				n := max(len(v.frames)-frames, 1)
				s, d := v.r.Stats(), v.r.Delays()
				fmt.Fprintf(&out, "%2d %6d %7d %6d %7d %26.0f %4.0f %3.0f %10.0f %7d\n", second, len(v.frames)-frames,
					d.Jitter.Milliseconds(), d.Target.Milliseconds(), d.Current.Milliseconds(), low, sum/float64(n), high,
					(s.JitterBufferDelay-last.JitterBufferDelay).Seconds()*1000/float64(n),
					(s.TotalFreezesDuration - last.TotalFreezesDuration).Milliseconds())
				frames, last = len(v.frames), s
			})
			s := v.r.Stats()
			fmt.Fprintf(&out, "received %d dropped %d decoded %d, freezes %d, pauses %d, key frame requests %d, resets %d\n",
				s.FramesReceived, s.FramesDropped, s.FramesDecoded, s.FreezeCount, s.PauseCount, s.KeyFrameRequests, s.TimingResets)
			golden.Assert(t, out.String(), "receiver_"+strings.ReplaceAll(l.name, " ", "_")+".golden")
		})
	}
}

// What must not matter does not: the epoch, the start of the RTP clock, the
// spacing of timers, packets or frames.
func TestReceiverInvariance(t *testing.T) {
	for _, l := range links() {
		want := play(t, l, playOptions{}, nil)
		for _, c := range []struct {
			name string
			o    playOptions
		}{
			{"another epoch", playOptions{shift: 1234567891 * time.Nanosecond}},
			{"an epoch long ago", playOptions{shift: -50 * 365 * 24 * time.Hour}},
			{"RTP wraps in the first second", playOptions{rtp: ^uint32(0) - 20_000}},
			{"RTP wraps later", playOptions{rtp: ^uint32(0) - 900_001}},
			{"RTP from the middle", playOptions{rtp: 1 << 31}},
			{"timers every 0.7 ms", playOptions{ticks: 700 * time.Microsecond}},
			{"packets", playOptions{packet: true}},
		} {
			got := play(t, l, c.o, nil)
			if len(got.frames) != len(want.frames) {
				t.Errorf("%s, %s: %d frames, want %d", l.name, c.name, len(got.frames), len(want.frames))

				continue
			}
			for i, w := range want.frames {
				g := got.frames[i]
				if g.ID != w.ID || g.Size != w.Size || g.RTPTimestamp != w.RTPTimestamp+c.o.rtp ||
					g.Released.Sub(got.start) != w.Released.Sub(want.start) || g.Render.Sub(got.start) != w.Render.Sub(want.start) {
					t.Errorf("%s, %s: frame %d\n%+v, want\n%+v", l.name, c.name, i, g, w)

					break
				}
			}
			if g, w := got.r.Stats(), want.r.Stats(); g != w {
				t.Errorf("%s, %s:\n%+v, want\n%+v", l.name, c.name, g, w)
			}
		}
	}
}

// The freezes are those of a detector fed with the ends of decoding.
func TestReceiverFreezes(t *testing.T) {
	for _, l := range links() {
		v := play(t, l, playOptions{}, nil)
		var f FreezeDetector
		for _, x := range v.frames {
			at := x.Decoded.Sub(v.start)
			f.OnFrameRendered(v.start.Add(time.Duration(roundMs(at)) * ms))
		}
		if got, want := v.r.Freezes(time.Time{}), f.Stats(); got != want {
			t.Errorf("%s: %+v, want %+v", l.name, got, want)
		}
	}
	v := newViewer(t, ReceiverConfig{})
	for n := range 60 {
		v.send(n)
	}
	v.until(4 * time.Second)
	if open, closed := v.r.Freezes(v.start.Add(4*time.Second)), v.r.Freezes(time.Time{}); open.Count != 1 || closed.Count != 0 {
		t.Errorf("%d freezes with the open gap, %d without; want 1, 0", open.Count, closed.Count)
	}
}

// FuzzReceiverOps drives a Receiver with arbitrary calls.
func FuzzReceiverOps(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 30, 1, 1, 0, 30, 1, 1, 7, 30, 0, 0, 3, 90, 3, 3, 4, 120, 1, 1})
	f.Add([]byte{0, 1, 255, 5, 10, 4, 4, 5, 10, 4, 4, 6, 200, 0, 3, 2, 220, 128, 250, 7, 7, 7, 7})
	f.Fuzz(func(t *testing.T, ops []byte) {
		// A signed exponential argument: up to half a year.
		arg := func(b byte) time.Duration {
			v := time.Duration(1<<(b&0x7f/3)) * (5 + time.Duration(b%3)) * 100
			if b >= 0x80 {
				return -v
			}

			return v
		}
		var cfg ReceiverConfig
		if len(ops) > 3 {
			cfg.DecodeTime = arg(ops[0]) % time.Second
			cfg.MaxPlayout = arg(ops[1]) % (20 * time.Second)
			cfg.NACKHistory = arg(ops[2]) % (2 * time.Second)
			if ops[3]%2 == 0 {
				cfg.Start = epoch()
			}
		}
		r := NewReceiver(cfg)
		now := epoch()
		latest := cfg.Start // or the first call
		var last time.Time
		var before ReceiverStats
		id, rtp := int64(0), uint32(0)
		for len(ops) >= 4 {
			op, a, b, c := ops[0], ops[1], ops[2], ops[3]
			ops = ops[4:]
			if d := arg(a); d > 0 || op&0x80 != 0 {
				now = now.Add(d)
			}
			if now.After(latest) {
				latest = now
			}
			id += int64(int8(b)) / 32
			rtp += uint32(int32(int8(c)) * 1000)
			var out []ReleasedFrame
			switch op & 7 {
			case 0, 1, 2:
				out = r.OnFrame(now, FrameInfo{
					ID: id, FirstPacket: now.Add(arg(c)), LastPacket: now.Add(-arg(b)), RTPTimestamp: rtp, Size: int(arg(c)),
					KeyFrame: op&8 != 0, Retransmitted: op&16 != 0, Complete: op&32 == 0, DecodableWithoutPrevious: op&64 != 0,
				})
				id++
			case 3, 4:
				out = r.OnPacket(now, PacketInfo{
					Frame: id, Index: int(int8(c)), Count: int(int8(b)) % 4, RTPTimestamp: rtp, KeyFrame: op&8 != 0, Size: int(arg(b)), Retransmitted: op&16 != 0,
				})
			case 5:
				out = r.OnRTT(now, arg(b))
			case 6:
				if op&8 != 0 {
					out = r.RequireKeyFrame(now)
				} else {
					out = r.SetPlayoutDelay(now, arg(b), arg(c))
				}
			default:
				out = r.OnTimeout(now)
			}
			for _, f := range out {
				if f.Render.Before(last) || f.Render.Before(f.Decoded) || f.Decoded.Before(f.Released) || f.Released.After(latest) {
					t.Fatalf("%+v after a frame at %v, now %v", f, last, latest)
				}
				last = f.Render
			}
			if next := r.NextTimeout(); !next.IsZero() && !next.After(latest) {
				t.Fatalf("the next timeout is %v before now", latest.Sub(next))
			}
			s := r.Stats()
			for i, v := range []float64{
				float64(s.FramesReceived - before.FramesReceived), float64(s.FramesDropped - before.FramesDropped),
				float64(s.FramesDecoded - before.FramesDecoded), float64(s.KeyFramesDecoded - before.KeyFramesDecoded),
				float64(s.JitterBufferDelay - before.JitterBufferDelay), float64(s.JitterBufferEmittedCount - before.JitterBufferEmittedCount),
				float64(s.JitterBufferTargetDelay - before.JitterBufferTargetDelay), float64(s.JitterBufferMinimumDelay - before.JitterBufferMinimumDelay),
				float64(s.TotalInterFrameDelay - before.TotalInterFrameDelay), s.TotalSquaredInterFrameDelay - before.TotalSquaredInterFrameDelay,
				float64(s.TotalFreezesDuration - before.TotalFreezesDuration), float64(s.FreezeCount - before.FreezeCount),
				float64(s.TotalPausesDuration - before.TotalPausesDuration), float64(s.PauseCount - before.PauseCount),
				float64(s.TotalProcessingDelay - before.TotalProcessingDelay), float64(s.KeyFrameRequests - before.KeyFrameRequests),
			} {
				if !(v >= 0) {
					t.Fatalf("figure %d decreases: %+v, before %+v", i, s, before)
				}
			}
			if s.FramesDecoded+s.FramesDropped > s.FramesReceived {
				t.Fatalf("more frames than came in: %+v", s)
			}
			if d := r.Delays(); d.Jitter < 0 || d.Current < 0 || d.Target < d.MinPlayout || d.Decode < 0 {
				t.Fatalf("%+v", d)
			}
			before = s
		}
	})
}

func BenchmarkReceiverFrame(b *testing.B) {
	r := NewReceiver(ReceiverConfig{DecodeTime: 4 * ms})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		at := epoch().Add(captured(n) + time.Duration(n*7919%40)*ms)
		r.OnFrame(at, FrameInfo{ID: int64(n), LastPacket: at, RTPTimestamp: uint32(n) * 3000, Size: 3000 + n*31%2000, KeyFrame: n == 0, Complete: true})
		n++
	}
	if s := r.Stats(); s.FramesDecoded < n*9/10-10 {
		b.Fatalf("%d of %d frames decoded", s.FramesDecoded, n)
	}
}

func BenchmarkReceiverPacket(b *testing.B) {
	r := NewReceiver(ReceiverConfig{DecodeTime: 4 * ms})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		frame := n / 10
		at := epoch().Add(captured(frame) + time.Duration(n%10)*ms)
		r.OnPacket(at, PacketInfo{Frame: int64(frame), Index: n % 10, Count: 10, RTPTimestamp: uint32(frame) * 3000, Size: 1000, KeyFrame: frame == 0})
		n++
	}
}

// A delay that is taken back in the middle does not turn the picture back.
func TestRenderTimesKeepOrder(t *testing.T) {
	v := newViewer(t, ReceiverConfig{MinPlayout: 400 * ms})
	for n := range 60 {
		v.send(n)
	}
	v.keep(v.r.SetPlayoutDelay(v.start.Add(captured(59)+60*ms), 0, 10*time.Second))
	for n := 60; n < 90; n++ {
		v.send(n)
	}
	v.until(4 * time.Second)
	equal := 0
	for i := 1; i < len(v.frames); i++ {
		switch d := v.frames[i].Render.Sub(v.frames[i-1].Render); {
		case d < 0:
			t.Fatalf("frame %d is shown %v before the one before", v.frames[i].ID, -d)
		case d == 0:
			equal++
		}
	}
	if equal == 0 || len(v.frames) != 90 {
		t.Errorf("%d of %d frames at the time of the one before, want some of 90", equal, len(v.frames))
	}
}

// What is left of frames that are too late is not kept.
func TestPartsAreForgotten(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	r.OnPacket(epoch(), PacketInfo{Frame: 1, Count: 2, Size: 1000})
	r.OnPacket(epoch(), PacketInfo{Frame: 3, Count: 2, Size: 1000})
	r.OnPacket(epoch(), PacketInfo{Frame: 2, Count: 1, Size: 1000, KeyFrame: true})
	r.OnPacket(epoch().Add(ms), PacketInfo{Frame: 1, Index: 1, Count: 2, Size: 1000})
	if n := len(r.assembler.parts); n != 1 || r.assembler.parts[0].info.ID != 3 {
		t.Errorf("%d frames in parts, want frame 3 alone", n)
	}
}

// Timeouts of years without a packet are not gone through one by one.
func TestTimeoutsSkip(t *testing.T) {
	w := newTimeouts(0, 0, 0)
	w.onReady(0, false)
	w.skip(10 * time.Second)
	if w.at != 9*time.Second {
		t.Errorf("next timeout at %v, want 9 s", w.at)
	}
	w.skip(5 * time.Second)
	if w.at != 9*time.Second {
		t.Errorf("moved back to %v", w.at)
	}
	r := NewReceiver(ReceiverConfig{Start: epoch()})
	r.OnTimeout(epoch().Add(70 * 365 * 24 * time.Hour))
	if late := epoch().Add(70 * 365 * 24 * time.Hour).Sub(r.NextTimeout()); late >= 0 || late < -200*ms {
		t.Errorf("next timeout %v ago after 70 years", late)
	}
}
