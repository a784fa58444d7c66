// SPDX-License-Identifier: MIT

package qoe

import (
	"slices"
	"time"
)

// bufferMax is how many frames wait at most. libwebrtc:
// video_stream_buffer_controller.
const bufferMax = 800

// bufferedFrame is a complete frame on the time scale of the receiver.
type bufferedFrame struct {
	FrameInfo
	first, last time.Duration // packets
}

// independent frames need no other one.
func (f *bufferedFrame) independent() bool { return f.KeyFrame || f.DecodableWithoutPrevious }

// frameBuffer holds frames until they are decoded or dropped, in order of their
// ID. libwebrtc: frame_buffer, with one reference per frame.
type frameBuffer struct {
	frames  []bufferedFrame
	decoded bool // lastID and lastRTP are set
	lastID  int64
	lastRTP uint32
	dropped int // all that were taken in and never come out
}

// insert is not ok for a frame that is known, too old or too much.
func (b *frameBuffer) insert(f bufferedFrame) bool {
	if b.decoded && f.ID <= b.lastID {
		// An old number with a new timestamp: the sender has started again.
		if !f.KeyFrame || int32(f.RTPTimestamp-b.lastRTP) <= 0 { // wraps
			return false
		}
		b.clear()
	}
	i, known := b.find(f.ID)
	if known {
		return false
	}
	if len(b.frames) >= bufferMax {
		if !f.KeyFrame {
			return false
		}
		b.clear()
		i = 0
	}
	b.frames = slices.Insert(b.frames, i, f)

	return true
}

func (b *frameBuffer) clear() {
	b.dropped += len(b.frames)
	b.frames, b.decoded = b.frames[:0], false
}

func (b *frameBuffer) find(id int64) (i int, ok bool) {
	return slices.BinarySearchFunc(b.frames, id, func(f bufferedFrame, id int64) int {
		switch {
		case f.ID < id:
			return -1
		case f.ID > id:
			return 1
		default:
			return 0
		}
	})
}

// decodable is the position of the oldest and of the newest frame that can be
// decoded now, that is, without another one in the buffer.
func (b *frameBuffer) decodable() (next, newest int, ok bool) {
	for i := range b.frames {
		f := &b.frames[i]
		if f.independent() || b.decoded && f.ID-1 == b.lastID {
			if !ok {
				next, ok = i, true
			}
			newest = i
		}
	}

	return next, newest, ok
}

// drop removes the frame at i, never decoded, and all before it.
func (b *frameBuffer) drop(i int) {
	b.dropped += i + 1
	b.frames = b.frames[:copy(b.frames, b.frames[i+1:])]
}

// take removes the frame at i for the decoder. Those before it are dropped.
func (b *frameBuffer) take(i int) bufferedFrame {
	f := b.frames[i]
	b.drop(i)
	b.dropped--
	b.decoded, b.lastID, b.lastRTP = true, f.ID, f.RTPTimestamp

	return f
}
