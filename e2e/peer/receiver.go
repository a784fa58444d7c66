// SPDX-License-Identifier: MIT

package peer

import (
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/qoe"
)

// Stats is what a viewer got so far.
type Stats struct {
	// Summary is of the frames shown. Its FramesSkipped were lost.
	qoe.Summary
	// Bytes is media payload received, first copies only.
	Bytes int64
	// FramesCaptured counts the encoder's frames, FramesLeftOut those it was
	// told to leave out because the pacer was full.
	FramesCaptured, FramesLeftOut int
	// PlayoutLast is the newest frame's time from capture to screen.
	PlayoutLast time.Duration
}

// receiver measures frames.
type receiver struct {
	mu     sync.Mutex
	start  time.Time
	frames frames
	buffer *qoe.JitterBuffer
	ready  []wholeFrame
	report qoe.Report
	last   time.Duration
	bytes  int64
}

func newReceiver(start time.Time) *receiver {
	return &receiver{start: start, buffer: qoe.NewJitterBuffer(qoe.JitterBufferConfig{Epoch: start})}
}

func (r *receiver) onPacket(now time.Time, payload []byte) {
	p, err := parsePiece(payload)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh bool
	if r.ready, fresh = r.frames.add(now, p, r.ready[:0]); !fresh {
		return
	}
	r.bytes += int64(len(payload))
	for _, f := range r.ready {
		render, ok := r.buffer.OnFrame(f.arrival, f.capture, f.complete)
		if !ok {
			r.report.OnSkipped()

			continue
		}
		r.last = render.Sub(r.start.Add(f.capture))
		r.report.OnFrame(render, r.last)
	}
}

func (r *receiver) stats(now time.Time) Stats {
	r.mu.Lock()
	defer r.mu.Unlock()

	return Stats{Bytes: r.bytes, PlayoutLast: r.last, Summary: r.report.SummaryAt(now)}
}
