// SPDX-License-Identifier: MIT

//go:build codec

package sound

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gen2brain/malgo"
	"go.uber.org/goleak"
)

// A tone as Opus: 32 kbit/s, each packet one mono frame of 20 ms.
func TestOpus(t *testing.T) {
	o, err := NewOpus()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]float32, BlockSamples)
	bytes := 0
	const blocks = 500
	for n := range blocks {
		for i := range block {
			block[i] = sample(n*BlockSamples + i)
		}
		data, err := o.Encode(block)
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(data)
		// The number of frames, and stereo: RFC 6716 section 3.1. A quiet tone is
		// not too short to be one.
		if toc := data[0]; toc&3 != 0 || toc&4 != 0 || len(data) < 3 || len(data) > 400 {
			t.Errorf("packet %d: %d bytes, %#x first", n, len(data), toc)
		}
	}
	within(t, "rate", float64(bytes)*8/(blocks*BlockTime.Seconds())/1000, 24, 40, "kbit/s")
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if _, err := o.Encode(block); err == nil {
		t.Error("no error after the end")
	}
}

// silence is miniaudio's silent sound system, which malgo v0.11.24 misses by one.
const silence = malgo.BackendNull + 1

// miniaudio's silent device, in place of a microphone, of which there is none where
// tests run: as real time as one, and let go as one.
func TestMicrophone(t *testing.T) {
	defer goleak.VerifyNone(t)
	m, err := openMicrophone([]malgo.Backend{silence})
	if err != nil {
		t.Fatal(err)
	}
	l := m.Listen()
	block := make([]float32, BlockSamples)
	var first, last time.Time
	for n := range 50 {
		captured, err := l.Read(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "age", time.Since(captured).Seconds()*1000, 15, 500, "ms")
		if last = captured; n == 0 {
			first = captured
		}
	}
	within(t, "49 blocks", last.Sub(first).Seconds(), 0.8, 1.5, "s")
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for range backlog + 1 { // what was heard before may be read
		_, err = l.Read(t.Context(), block)
	}
	if !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// Without a sound system there is an error and not, as miniaudio would have it, a
// microphone that hears nothing.
func TestNoMicrophone(t *testing.T) {
	for range 2 {
		m, err := openMicrophone([]malgo.Backend{malgo.BackendWebaudio})
		if err == nil || !strings.Contains(err.Error(), "no sound system") {
			t.Errorf("%v, %v", m, err)
		}
	}
	for _, b := range systems() {
		if b >= malgo.BackendNull {
			t.Error("silence counts as a microphone")
		}
	}
}
