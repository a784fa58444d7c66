// SPDX-License-Identifier: MIT

package qoe

import "time"

// Constants of the freeze rule. libwebrtc: video_quality_observer2.
const (
	freezeWindow      = 30  // gaps in the average
	freezeMinSamples  = 5   // gaps before the first verdict
	freezeMinIncrease = 150 // ms above the average
	freezeFactor      = 3   // times the average
)

// FreezeStats is what a [FreezeDetector] has counted.
type FreezeStats struct {
	// Frames is the number of rendered frames.
	Frames int
	// Count is the number of freezes, Frozen the sum of their gaps, each from
	// the last frame before to the first one after.
	Count  int
	Frozen time.Duration
	// Pauses and Paused are the same for gaps in which the sender paused.
	Pauses int
	Paused time.Duration
	// Playback is the time from the first to the last frame without Paused.
	Playback time.Duration
}

// Ratio is frozen time / playback time, 0..1, and 0 without playback.
func (s FreezeStats) Ratio() float64 {
	if s.Playback <= 0 {
		return 0
	}

	return s.Frozen.Seconds() / s.Playback.Seconds()
}

func (s FreezeStats) add(o FreezeStats) FreezeStats {
	s.Frames += o.Frames
	s.Count += o.Count
	s.Frozen += o.Frozen
	s.Pauses += o.Pauses
	s.Paused += o.Paused
	s.Playback += o.Playback

	return s
}

func (s FreezeStats) sub(o FreezeStats) FreezeStats {
	s.Frames -= o.Frames
	s.Count -= o.Count
	s.Frozen -= o.Frozen
	s.Pauses -= o.Pauses
	s.Paused -= o.Paused
	s.Playback -= o.Playback

	return s
}

// FreezeDetector counts freezes as libwebrtc does (video_quality_observer2),
// which is what a browser's freezeCount and totalFreezesDuration show:
//
//	-- 33 --|-- 33 --|------- gap -------|    in whole milliseconds
//
//	the gap enters the average of the last 30 gaps first,
//	avg = that average, rounded down, of at least 5 gaps,
//	freeze if gap >= max(3 avg, avg + 150 ms); all of the gap counts.
//
// At a steady 30 fps the shortest freeze is therefore 188 ms.
//
// W3C webrtc-stats defines freezeCount by the same formula over "the last 30
// rendered frames" without saying that the gap in question is one of them, that
// five are needed, or that times are whole milliseconds. Read without the gap,
// the shortest freeze at 30 fps would be 183 ms. The browsers' reading is the
// one here.
//
// The zero value is ready to use. Not safe for concurrent use.
type FreezeDetector struct {
	window [freezeWindow]int64 // ms
	next   int
	filled int
	sum    int64

	first  time.Time
	lastMs int64 // of the last frame, since first
	paused bool

	frames, count, pauses int
	frozenMs, pausedMs    int64
}

// OnFrameRendered tells of a frame on the screen, in order.
func (f *FreezeDetector) OnFrameRendered(at time.Time) {
	if f.frames == 0 {
		f.first = at
	}
	f.frames++
	ms := max(at.Sub(f.first).Milliseconds(), f.lastMs)
	gap := ms - f.lastMs
	f.lastMs = ms
	paused := f.paused
	f.paused = false
	switch {
	case f.frames == 1: // no gap before it
	case paused:
		f.pauses++
		f.pausedMs += gap
	case f.frozen(gap):
		f.count++
		f.frozenMs += gap
	}
}

// OnPause tells that the sender has paused: the gap up to the next frame is
// neither a freeze nor a part of the average.
func (f *FreezeDetector) OnPause() { f.paused = true }

// Stats is what was counted up to the last frame. A gap that is still open
// does not count, as in a browser.
func (f *FreezeDetector) Stats() FreezeStats {
	return FreezeStats{
		Frames:   f.frames,
		Count:    f.count,
		Frozen:   time.Duration(f.frozenMs) * time.Millisecond,
		Pauses:   f.pauses,
		Paused:   time.Duration(f.pausedMs) * time.Millisecond,
		Playback: time.Duration(f.lastMs-f.pausedMs) * time.Millisecond,
	}
}

// StatsAt is Stats as if a frame came at end, which is not counted itself.
// Deviation: a browser never sees the freeze in which a stream ends.
func (f *FreezeDetector) StatsAt(end time.Time) FreezeStats {
	if f.frames == 0 {
		return f.Stats()
	}
	c := *f
	c.OnFrameRendered(end)
	c.frames--

	return c.Stats()
}

// frozen adds a gap to the average and judges it.
func (f *FreezeDetector) frozen(gap int64) bool {
	f.sum += gap - f.window[f.next] // 0 while the window fills
	f.window[f.next] = gap
	f.next = (f.next + 1) % freezeWindow
	f.filled = min(f.filled+1, freezeWindow)
	if f.filled < freezeMinSamples {
		return false
	}
	avg := f.sum / int64(f.filled)

	return gap >= max(freezeFactor*avg, avg+freezeMinIncrease)
}
