// SPDX-License-Identifier: MIT

package qoe_test

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/qoe"
)

// Ten seconds of 30 fps, with an outage of 400 ms.
func ExampleReceiver() {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := qoe.NewReceiver(qoe.ReceiverConfig{DecodeTime: 5 * time.Millisecond})
	var worst time.Duration
	show := func(frames []qoe.ReleasedFrame) {
		for _, f := range frames {
			captured := start.Add(time.Duration(f.ID) * time.Second / 30)
			worst = max(worst, f.Render.Sub(captured))
		}
	}
	for n := range 300 {
		captured := start.Add(time.Duration(n) * time.Second / 30)
		arrival := captured.Add(50 * time.Millisecond)
		if n >= 150 && n < 162 { // all at once at the end
			arrival = start.Add(162*time.Second/30 + 50*time.Millisecond)
		}
		show(r.OnFrame(arrival, qoe.FrameInfo{
			ID: int64(n), LastPacket: arrival, RTPTimestamp: uint32(n * 3000), Size: 4000, KeyFrame: n == 0, Complete: true,
		}))
	}
	show(r.OnTimeout(start.Add(11 * time.Second)))
	s := r.Stats()
	fmt.Printf("%d frames, %d freeze of %v, at worst %v after capture\n",
		s.FramesRendered, s.FreezeCount, s.TotalFreezesDuration, worst.Round(time.Millisecond))
	// Output: 300 frames, 1 freeze of 427ms, at worst 455ms after capture
}
