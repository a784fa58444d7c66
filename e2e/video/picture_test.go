// SPDX-License-Identifier: MIT

package video

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

func within(t *testing.T, what string, got, low, high float64, unit string) {
	t.Helper()
	if !(got >= low && got <= high) {
		t.Errorf("%s %.4g %s, want %.4g to %.4g", what, got, unit, low, high)
	}
}

func clone(p *image.YCbCr) *image.YCbCr {
	c := image.NewYCbCr(p.Rect, p.SubsampleRatio)
	copy(c.Y, p.Y)
	copy(c.Cb, p.Cb)
	copy(c.Cr, p.Cr)

	return c
}

func TestPatternMovesAndRepeats(t *testing.T) {
	p, err := NewPattern(320, 180, 3)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewPattern(320, 180, 3)
	if err != nil {
		t.Fatal(err)
	}
	for n := range p.Frames() {
		a, _ := p.Picture(n)
		b, _ := again.Picture(n + 7*p.Frames())
		next, _ := p.Picture(n + 1)
		if !bytes.Equal(a.Y, b.Y) || !bytes.Equal(a.Cb, b.Cb) {
			t.Fatalf("frame %d is not the same again", n)
		}
		v, err := SSIM(Luma(a), Luma(next))
		if err != nil {
			t.Fatal(err)
		}
		// Noise alone makes frames differ, motion does it most of the time.
		within(t, fmt.Sprintf("SSIM of frames %d and %d", n, n+1), v, 0.05, 0.97, "")
	}
	for _, size := range [][2]int{{0, 0}, {321, 180}, {320, 181}, {100, 90}, {5000, 1000}} {
		if _, err := NewPattern(size[0], size[1], 1); err == nil {
			t.Errorf("a pattern of %v", size)
		}
	}
}

// A number survives every size of the ladder, and noise.
func TestStamp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	from := image.NewYCbCr(image.Rect(0, 0, 1280, 720), image.YCbCrSubsampleRatio420)
	for i := range from.Y {
		from.Y[i] = uint8(rng.IntN(256))
	}
	if _, ok := ReadStamp(from); ok {
		t.Error("a number where there is none")
	}
	for _, r := range rungs() {
		w, h := r.size(1280, 720)
		for _, n := range []int{0, 1, 12345, 1<<24 - 1, rng.IntN(1 << 24)} {
			img := clone(from)
			Stamp(img, n, "12.34 s")
			var s Scaler
			small, err := s.Scale(img, w, h)
			if err != nil {
				t.Fatal(err)
			}
			for i := range small.Y {
				small.Y[i] = uint8(min(max(float64(small.Y[i])+25*rng.NormFloat64(), 0), 255))
			}
			if got, ok := ReadStamp(small); !ok || got != n {
				t.Errorf("%d x %d: read %d, %v, want %d", w, h, got, ok, n)
			}
		}
	}
	// Of random pictures one in 256 passes.
	wrong := 0
	for range 2000 {
		img := image.NewYCbCr(image.Rect(0, 0, 160, 90), image.YCbCrSubsampleRatio420)
		for k := range stampBits {
			if rng.IntN(2) == 1 {
				fill(img, (stampLeft+k)*4, 4, (stampLeft+k+1)*4, 8, 235)
			}
		}
		if _, ok := ReadStamp(img); ok {
			wrong++
		}
	}
	within(t, "random bits taken for a number", float64(wrong)/2000, 0, 0.01, "")
}

func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	from := image.NewYCbCr(image.Rect(0, 0, 128, 96), image.YCbCrSubsampleRatio420)
	mean := func(p []uint8) float64 {
		sum := 0.0
		for _, v := range p {
			sum += float64(v)
		}

		return sum / float64(len(p))
	}
	for i := range from.Y {
		from.Y[i] = uint8(rng.IntN(256))
	}
	for i := range from.Cb {
		from.Cb[i], from.Cr[i] = 77, uint8(rng.IntN(256))
	}
	var s Scaler
	for _, size := range [][2]int{{96, 72}, {64, 48}, {48, 36}, {32, 24}, {2, 2}} {
		to, err := s.Scale(from, size[0], size[1])
		if err != nil {
			t.Fatal(err)
		}
		within(t, "mean of the luma", mean(to.Y)-mean(from.Y), -1.5, 1.5, "levels")
		within(t, "mean of Cr", mean(to.Cr)-mean(from.Cr), -3, 3, "levels")
		for _, v := range to.Cb {
			if v != 77 {
				t.Fatalf("%v: %d where all was 77", size, v)
			}
		}
	}
	// By 2 it is the mean of 2 x 2.
	to, err := s.Scale(from, 64, 48)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 48 {
		for x := range 64 {
			sum := 0
			for k := range 4 {
				sum += int(from.Y[(2*y+k/2)*from.YStride+2*x+k%2])
			}
			if got, want := int(to.Y[y*to.YStride+x]), (sum+2)/4; got != want {
				t.Fatalf("at %d, %d: %d, want %d", x, y, got, want)
			}
		}
	}
	if same, err := s.Scale(from, 128, 96); err != nil || same != from {
		t.Errorf("the same size: %v", err)
	}
	if _, err := s.Scale(from, 256, 96); err == nil {
		t.Error("enlarged")
	}
}

func TestSSIM(t *testing.T) {
	p, err := NewPattern(320, 180, 1)
	if err != nil {
		t.Fatal(err)
	}
	img, _ := p.Picture(0)
	last := 1.0
	rng := rand.New(rand.NewPCG(3, 3))
	for _, sigma := range []float64{0, 2, 5, 12, 30} {
		noisy := clone(img)
		for i := range noisy.Y {
			noisy.Y[i] = uint8(min(max(float64(noisy.Y[i])+sigma*rng.NormFloat64(), 0), 255))
		}
		v, err := SSIM(Luma(img), Luma(noisy))
		if err != nil {
			t.Fatal(err)
		}
		if sigma == 0 && math.Abs(v-1) > 1e-9 || sigma > 0 && v >= last-0.005 {
			t.Errorf("SSIM %.3f with noise of %v, %.3f with less", v, sigma, last)
		}
		last = v
	}
	// Flat pictures: (2ab + C1) / (a^2 + b^2 + C1).
	flat := func(v uint8) *image.Gray {
		g := image.NewGray(image.Rect(0, 0, 16, 16))
		for i := range g.Pix {
			g.Pix[i] = v
		}

		return g
	}
	v, err := SSIM(flat(100), flat(120))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "SSIM of flat pictures", v, 0.9835, 0.9837, "")
	if _, err := SSIM(flat(1), image.NewGray(image.Rect(0, 0, 16, 18))); !errors.Is(err, errSizes) {
		t.Errorf("different sizes: %v", err)
	}
}

// file is a Y4M of so many flat frames.
func file(header string, w, h, frames int) []byte {
	var b bytes.Buffer
	b.WriteString(header + "\n")
	for n := range frames {
		b.WriteString("FRAME\n")
		b.Write(bytes.Repeat([]byte{byte(10 * n)}, w*h))
		b.Write(bytes.Repeat([]byte{128}, w*h/2))
	}

	return b.Bytes()
}

func TestY4M(t *testing.T) {
	data := file("YUV4MPEG2 W32 H18 F25:1 Ip A1:1 C420jpeg", 32, 18, 4)
	// With the beginning of a fifth one, as a recording that was stopped.
	y, err := NewY4M(bytes.NewReader(append(data, "FRAME\nabc"...)))
	if err == nil {
		_, err = y.Picture(4)
	}
	if err == nil {
		t.Error("a frame that is cut off was taken")
	}
	y, err = NewY4M(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if w, h := y.Size(); w != 32 || h != 18 || y.FPS() != 25 {
		t.Errorf("%d x %d at %d", w, h, y.FPS())
	}
	for _, n := range []int{0, 0, 1, 3, 4, 5, 9, 2, 403} {
		p, err := y.Picture(n)
		if err != nil {
			t.Fatal(err)
		}
		if want := byte(n % 4 * 10); p.Y[0] != want || p.Y[len(p.Y)-1] != want || p.Cb[0] != 128 {
			t.Errorf("picture %d is %d, want %d", n, p.Y[0], want)
		}
	}
	for name, header := range map[string]string{
		"something else": "RIFF", "empty": "", "no size": "YUV4MPEG2 F30:1", "odd": "YUV4MPEG2 W31 H18",
		"huge": "YUV4MPEG2 W99999 H18", "no number": "YUV4MPEG2 Wx H18", "4:4:4": "YUV4MPEG2 W32 H18 C444",
		"10 bits": "YUV4MPEG2 W32 H18 C420p10",
	} {
		if _, err := NewY4M(bytes.NewReader(file(header, 32, 18, 1))); !errors.Is(err, ErrY4M) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzY4M(f *testing.F) {
	f.Add(file("YUV4MPEG2 W4 H2 F30:1 C420", 4, 2, 2))
	f.Add(file("YUV4MPEG2 W4 H2", 4, 2, 1)[:20])
	f.Add([]byte("YUV4MPEG2 W2 H2 F0:0 C\nFRAME\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		y, err := NewY4M(bytes.NewReader(data))
		if err != nil {
			return
		}
		w, h := y.Size()
		for _, n := range []int{0, 1, 5, 2} {
			p, err := y.Picture(n)
			if err != nil {
				return
			}
			if p.Rect.Dx() != w || p.Rect.Dy() != h {
				t.Fatalf("a picture of %v, want %d x %d", p.Rect, w, h)
			}
		}
	})
}
