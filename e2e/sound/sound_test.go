// SPDX-License-Identifier: MIT

package sound

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func within(t *testing.T, what string, got, low, high float64, unit string) {
	t.Helper()
	if !(low <= got && got <= high) {
		t.Errorf("%s: %.4g %s, want %.4g to %.4g", what, got, unit, low, high)
	}
}

// level is the rms of a frequency in samples.
func level(samples []float32, hz float64) float64 {
	var re, im float64
	for i, v := range samples {
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / Rate)
		re += c * float64(v)
		im += s * float64(v)
	}

	return math.Hypot(re, im) * math.Sqrt2 / float64(len(samples))
}

// A second of the tone: a block each 20 ms, when its last sample is there, a beep at
// its beginning and a hum all along.
func TestTone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		tone := NewTone(start)
		var all []float32
		block := make([]float32, BlockSamples)
		for n := range 75 {
			captured, err := tone.Read(t.Context(), block)
			if want := start.Add(time.Duration(n) * BlockTime); err != nil || captured != want || time.Since(want) != BlockTime {
				t.Fatalf("block %d at %v captured %v, %v", n, time.Since(start), captured.Sub(start), err)
			}
			all = append(all, block...)
		}
		beep := int(Rate * beepTime / time.Second)
		within(t, "beep", level(all[:beep], beepHz), 0.15, 0.18, "")
		within(t, "beep of the next second", level(all[Rate:Rate+beep], beepHz), 0.15, 0.18, "")
		within(t, "beep after it is over", level(all[beep:Rate], beepHz), 0, 0.001, "")
		within(t, "hum", level(all[beep:Rate], humHz), 0.02, 0.022, "")
		largest := 0.0
		for i := range all[1:] {
			largest = max(largest, math.Abs(float64(all[i+1]-all[i])))
		}
		within(t, "steepest step", largest, 0.01, beepLevel*2*math.Pi*beepHz/Rate*1.2, "")
	})
}

// A machine that stood still goes on with the present, in whole blocks, and not with
// all that it has missed.
func TestToneLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		tone := NewTone(start)
		time.Sleep(3*time.Second + 7*time.Millisecond)
		block := make([]float32, BlockSamples)
		captured, err := tone.Read(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "age of the first sample", time.Since(captured).Seconds()*1000, 20, 40, "ms")
		if captured.Sub(start)%BlockTime != 0 {
			t.Errorf("block at %v", captured.Sub(start))
		}
		time.Sleep(maxLate / 2) // this is made up for
		next, err := tone.Read(t.Context(), block)
		if err != nil || next.Sub(captured) != BlockTime {
			t.Errorf("next block %v later, %v", next.Sub(captured), err)
		}
	})
}

// coder counts, and fails when it is told to.
type coder struct {
	blocks int
	err    error
}

func (c *coder) Encode(block []float32) ([]byte, error) {
	c.blocks++

	return make([]byte, len(block)), c.err
}

func (c *coder) Close() error { return nil }

func TestRun(t *testing.T) {
	errEncoder, errWrite, errDevice := errors.New("encoder"), errors.New("write"), errors.New("device")
	tests := []struct {
		name            string
		encoder, write  error
		device, cancels bool
		want            error
	}{
		{name: "end", cancels: true},
		{name: "encoder", encoder: errEncoder, want: errEncoder},
		{name: "write", write: errWrite, want: errWrite},
		{name: "device", device: true, want: errDevice},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var source Source = NewTone(time.Now())
				if tt.device {
					s := NewSplitter()
					source = s.Listen()
					s.End(errDevice)
				}
				enc, written := &coder{err: tt.encoder}, 0
				err := Run(ctx, source, enc, func(p Packet) error {
					if len(p.Data) != BlockSamples {
						t.Errorf("wrote %v", p.Data)
					}
					if written++; tt.cancels && written == 10 {
						cancel()
					}

					return tt.write
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				if tt.cancels && (written != 10 || enc.blocks != 10) {
					t.Errorf("%d packets of %d blocks", written, enc.blocks)
				}
			})
		})
	}
}

// Chunks of whatever size become blocks whose times go on by 20 ms, for each
// listener all of them, though the chunks come unevenly and the device's clock is a
// little wrong.
func TestSplitter(t *testing.T) {
	s := NewSplitter()
	a, b := s.Listen(), s.Listen()
	begin := time.Unix(1000, 0)
	block := make([]float32, BlockSamples)
	var last time.Time
	value := 0
	for n := range 600 { // 6 s of chunks of 10 ms, 0.01 % slow, up to 8 ms late
		chunk := make([]float32, 480)
		for i := range chunk {
			chunk[i] = float32(value % 1000)
			value++
		}
		s.Push(chunk, begin.Add(time.Duration(n+1)*10001*time.Microsecond).Add(time.Duration(n%5*2)*time.Millisecond))
		if n%2 == 0 {
			continue
		}
		for _, l := range []*Listener{a, b} {
			captured, err := l.Read(t.Context(), block)
			if err != nil {
				t.Fatal(err)
			}
			if block[0] != float32((n-1)*480%1000) || block[BlockSamples-1] != float32(((n+1)*480-1)%1000) {
				t.Fatalf("block %d: %v to %v", n/2, block[0], block[BlockSamples-1])
			}
			if l == a {
				if !last.IsZero() && captured.Sub(last) != BlockTime {
					t.Errorf("block %d comes %v after the one before", n/2, captured.Sub(last))
				}
				last = captured
			}
		}
	}
	if _, err := a.Read(canceled(t), block); !errors.Is(err, context.Canceled) {
		t.Errorf("more blocks than were heard: %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	return ctx
}

// After the device has stood still times are of the clock again.
func TestSplitterFollowsTheClock(t *testing.T) {
	for _, still := range []time.Duration{0, maxDrift - time.Millisecond, maxDrift + time.Millisecond, time.Hour, -time.Minute} {
		s := NewSplitter()
		l := s.Listen()
		at := time.Unix(1000, 0)
		block := make([]float32, BlockSamples)
		s.Push(block, at)
		first, err := l.Read(t.Context(), block)
		if err != nil || first != at.Add(-BlockTime) {
			t.Fatalf("%v, %v", first, err)
		}
		at = at.Add(BlockTime + still)
		s.Push(block, at)
		second, err := l.Read(t.Context(), block)
		want := at.Add(-BlockTime)
		if still.Abs() < maxDrift {
			want = first.Add(BlockTime)
		}
		if err != nil || second != want {
			t.Errorf("still for %v: %v later, want %v; %v", still, second.Sub(first), want.Sub(first), err)
		}
	}
}

// The first chunks of a device come late, and do not make all that follows young.
func TestSplitterWarmsUp(t *testing.T) {
	s := NewSplitter()
	l := s.Listen()
	begin := time.Unix(1000, 0)
	block := make([]float32, BlockSamples)
	for n := range 100 {
		late := max(0, 40-4*n)
		if n == 70 {
			late = -1 // a clock that was set
		}
		s.Push(block, begin.Add(time.Duration(n+1)*BlockTime+time.Duration(late)*time.Millisecond))
		captured, err := l.Read(t.Context(), block)
		want := begin.Add(time.Duration(n)*BlockTime + time.Duration(max(late, 0))*time.Millisecond)
		if err != nil || captured != want {
			t.Fatalf("block %d: %v, want %v, %v", n, captured.Sub(begin), want.Sub(begin), err)
		}
	}
}

// Who does not listen loses something, and nobody else does.
func TestSplitterDoesNotWait(t *testing.T) {
	s := NewSplitter()
	idle, gone, busy := s.Listen(), s.Listen(), s.Listen()
	gone.Close()
	block := make([]float32, BlockSamples)
	at := time.Unix(1000, 0)
	for n := range 3 * backlog {
		s.Push(block, at.Add(time.Duration(n)*BlockTime))
		if _, err := busy.Read(t.Context(), block); err != nil {
			t.Fatal(err)
		}
	}
	if len(idle.blocks) != backlog || len(gone.blocks) != 0 {
		t.Errorf("%d blocks wait, %d for who has gone", len(idle.blocks), len(gone.blocks))
	}
	end := errors.New("pulled out")
	s.End(end)
	s.End(errors.New("again"))
	if _, err := busy.Read(t.Context(), block); !errors.Is(err, end) {
		t.Errorf("%v, want %v", err, end)
	}
}
