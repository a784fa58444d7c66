// SPDX-License-Identifier: MIT

//go:build codec

package vp8

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/draw"

	"github.com/gbrcc/gbrcc/e2e/video"
)

// reduced is a source in another size.
type reduced struct {
	video.Source
	s    video.Scaler
	w, h int
}

func (s *reduced) Size() (int, int) { return s.w, s.h }

func (s *reduced) Picture(n int) (*image.YCbCr, error) {
	p, err := s.Source.Picture(n)
	if err != nil {
		return nil, err
	}

	return s.s.Scale(p, s.w, s.h)
}

// below is where pictures are compared: not at the stamp.
func below(g *image.Gray) *image.Gray {
	part, _ := g.SubImage(image.Rect(0, g.Rect.Dy()*2/7, g.Rect.Dx(), g.Rect.Dy())).(*image.Gray)

	return part
}

// similarity is the mean SSIM, at 640 x 360, of what a viewer of src would see,
// and the share of frames left out.
func similarity(t *testing.T, src, full video.Source, bps int, fixed bool) (ssim, leftOut float64) {
	t.Helper()
	dec, err := NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0
	shown := image.NewGray(image.Rect(0, 0, 640, 360))
	p, err := video.New(video.Config{
		Builder: ours(), Source: src, FPS: fps, FixedSize: fixed, Target: func() int { return bps },
		Write: func(f video.Frame) error {
			out, err := dec.Decode(f.Data)
			if err != nil || out == nil || f.Number < second || f.Number%5 > 0 {
				return err
			}
			draw.ApproxBiLinear.Scale(shown, shown.Rect, video.Luma(out), out.Rect, draw.Src, nil)
			original, err := full.Picture(f.Number)
			if err != nil {
				return err
			}
			want, err := video.Shrink(video.Luma(original), 640, 360)
			if err != nil {
				return err
			}
			v, err := video.SSIM(below(shown), below(want))
			sum += v
			n++

			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 * second {
		if err := p.Step(n, time.Duration(n)*time.Second/fps); err != nil {
			t.Fatal(err)
		}
	}
	st := p.Stats()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := dec.Close(); err != nil {
		t.Error(err)
	}

	return sum / float64(max(n, 1)), float64(st.Captured-st.Encoded) / float64(st.Captured)
}

// The ladder takes a size that is about the best one for the rate. The table is
// left behind as sizes.md.
func TestSizes(t *testing.T) {
	full := pattern(t, 1280, 720)
	var table strings.Builder
	table.WriteString("| Mbit/s | 720p | 540p | 360p | 270p | 180p | ladder |\n|---|---|---|---|---|---|---|\n")
	for _, bps := range []int{150_000, 300_000, 700_000, 2_000_000} {
		fmt.Fprintf(&table, "| %.2f |", float64(bps)/1e6)
		best := 0.0
		for _, height := range []int{720, 540, 360, 270, 180} {
			v, out := similarity(t, &reduced{Source: full, w: height * 16 / 9, h: height}, full, bps, true)
			fmt.Fprintf(&table, " %.3f, %.0f %% left out |", v, 100*out)
			// Half of the frames, and sharp ones, are no picture that moves.
			if out < 0.3 {
				best = max(best, v)
			}
		}
		v, out := similarity(t, full, full, bps, false)
		fmt.Fprintf(&table, " %.3f, %.0f %% |\n", v, 100*out)
		within(t, fmt.Sprintf("SSIM at %d kbit/s", bps/1000), v, best-0.03, 1, "")
		within(t, fmt.Sprintf("left out at %d kbit/s", bps/1000), out, 0, 0.2, "")
	}
	t.Log("\n" + table.String())
	leave(t, "sizes.md", table.String())
}
