// SPDX-License-Identifier: MIT

//go:build browser

package headless

import (
	"bytes"
	"context"
	"image"
	"image/color/palette"
	"image/gif"
	"image/png"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/image/draw"
)

// Record takes pictures of a page until stop, and leaves them as an animated GIF
// of half the size, at the pace at which they were taken.
func Record(t testing.TB, page context.Context, name string, every time.Duration) (stop func()) {
	t.Helper()
	var shots [][]byte
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if b, err := chromedp.Run(page, chromedp.CaptureScreenshot()); err == nil {
				shots = append(shots, b)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})

	return sync.OnceFunc(func() {
		t.Helper()
		close(done)
		wg.Wait()
		b, err := animate(shots, every)
		if err != nil {
			t.Fatal(err)
		}
		Artifact(t, name, b)
	})
}

// animate makes a GIF of PNG pictures.
func animate(shots [][]byte, every time.Duration) ([]byte, error) {
	var g gif.GIF
	// The nearest colour, by five bits of each channel.
	var index [1 << 15]uint8
	var known [1 << 15]bool
	for _, shot := range shots {
		full, err := png.Decode(bytes.NewReader(shot))
		if err != nil {
			return nil, err
		}
		half := image.NewRGBA(image.Rect(0, 0, full.Bounds().Dx()/2, full.Bounds().Dy()/2))
		draw.BiLinear.Scale(half, half.Bounds(), full, full.Bounds(), draw.Src, nil)
		frame := image.NewPaletted(half.Bounds(), palette.Plan9)
		for i := range frame.Pix {
			p := half.Pix[4*i : 4*i+3]
			key := int(p[0]>>3)<<10 | int(p[1]>>3)<<5 | int(p[2]>>3)
			if !known[key] {
				c := half.RGBAAt(i%half.Rect.Dx(), i/half.Rect.Dx())
				index[key], known[key] = uint8(frame.Palette.Index(c)), true
			}
			frame.Pix[i] = index[key]
		}
		g.Image = append(g.Image, frame)
		g.Delay = append(g.Delay, int(every/(10*time.Millisecond)))
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		return nil, err
	}

	return b.Bytes(), nil
}
