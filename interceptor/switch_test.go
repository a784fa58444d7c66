// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

// Switching keeps the rate, the queue and the numbers, and the old loops hear
// nothing any more.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		w := r.video()
		r.set(2_000_000, 1_000_000)
		for i := range uint16(20) { // 200 ms
			h := header(mediaSSRC, i)
			h.Timestamp = uint32(i)
			mustWrite(t, w, h, payloadFor(1250))
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		before, rate := len(r.tracked()), r.Target().RateBps
		next := &movableOuter{bps: rate}
		err := r.Switch(WithAlgorithm(gbr.Default), WithBitrateBounds(100_000, 200_000, 3_000_000),
			WithOuter(func() (gbr.Outer, error) { return next, nil }))
		if err != nil {
			t.Fatal(err)
		}
		within(t, "rate after", float64(r.Target().RateBps), float64(rate), 0, "bit/s")
		time.Sleep(time.Second)
		synctest.Wait()
		r.mu.Lock()
		after, sent := len(r.outer.sent), append([]gcc.SentPacket(nil), next.sent...)
		r.mu.Unlock()
		if after != before || before+len(sent) != 20 {
			t.Errorf("the old loop saw %d, then %d packets, the new one %d, want 20 in all", before, after, len(sent))
		}
		for i, p := range sent {
			within(t, "number", float64(p.Seq), float64(before+i), 0, "")
		}
		// A bad option changes nothing.
		if err := r.Switch(WithPreset("nonsense")); err == nil {
			t.Error("no error")
		}
		if err := r.Switch(WithBitrateBounds(3, 2, 1)); !errors.Is(err, ErrOption) {
			t.Errorf("%v", err)
		}
		within(t, "rate after bad options", float64(r.Target().RateBps), float64(rate), 0, "bit/s")
		// Package gcc takes over, and stays below a new maximum.
		if err := r.Switch(WithBitrateBounds(100_000, 200_000, 1_500_000), WithOuter(func() (gbr.Outer, error) {
			return gcc.New(gcc.Config{MinBps: 100_000, StartBps: 1_500_000, MaxBps: 1_500_000})
		})); err != nil {
			t.Fatal(err)
		}
		within(t, "target below the new maximum", float64(r.GetTargetBitrate()), 1_500_000, 0, "bit/s")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Switch(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
