// SPDX-License-Identifier: MIT

package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestRound(t *testing.T) {
	tests := []struct {
		v      float64
		digits int
		want   float64
	}{
		{math.NaN(), 1, 0},
		{math.Inf(1), 1, 0},
		{math.Inf(-1), 3, 0},
		{12.345, 1, 12.3},
		{0.99996, 4, 1},
		{-2.5, 0, -3},
		{7, 3, 7},
	}
	for _, tt := range tests {
		if got := round(tt.v, tt.digits); got != tt.want {
			t.Errorf("round(%v, %d) = %v, want %v", tt.v, tt.digits, got, tt.want)
		}
	}
}

// What is not known is not shown as a figure.
func TestRow(t *testing.T) {
	tests := []struct {
		r    result
		want string
	}{
		{
			result{
				CC: "gbrcc", CapacityMbps: 8, GoodputMbps: 6, PlayoutP50: 99.6, PlayoutP95: 151, FreezeCount: 2,
				FreezeRatio: 0.0123, FramesRendered: 299, Samples: 1000, TelemetryAge: 5.4,
			},
			"gbrcc|6.00|75 %|100 ms|151 ms|2|1.2 %|299|1000|5 ms",
		},
		{result{CC: "seed", FreezeRatio: 1}, "seed|0.00|-|-|-|0|100.0 %|0|0|-"},
		{result{CC: "pion", FramesRendered: 1}, "pion (NoOp pacer)|0.00|-|0 ms|0 ms|0|0.0 %|1|-|-"},
		{
			result{CC: "gcc", FramesRendered: 1, Sound: &soundResult{72.4, 90.5, 0.0123}},
			"gcc|0.00|-|0 ms|0 ms|0|0.0 %|1|-|-|72 ms|90 ms|1.2 %",
		},
	}
	for _, tt := range tests {
		if got := strings.Join(tt.r.row(), "|"); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if len(tt.r.row()) != len(columns([]result{tt.r})) {
			t.Errorf("%d cells in %d columns", len(tt.r.row()), len(columns([]result{tt.r})))
		}
	}
}

func TestBusyNote(t *testing.T) {
	if note := busyNote([]result{{lag: 6 * time.Millisecond}, {lag: 50 * time.Millisecond}}); note != "" {
		t.Errorf("note %q of a machine in time", note)
	}
	note := busyNote([]result{{lag: time.Millisecond}, {lag: 212 * time.Millisecond}, {}})
	if !strings.Contains(note, "ran up to 212 ms late") || strings.Count(note, "\n") != 2 {
		t.Errorf("note %q", note)
	}
}
