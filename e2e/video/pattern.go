// SPDX-License-Identifier: MIT

package video

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
)

// patternFrames is the pattern's period, two seconds: longer than any encoder
// looks back.
const patternFrames = 60

// Pattern is a moving picture that comes round every two seconds: a textured
// background that sways, discs with a texture of their own on orbits, and the
// noise of a camera, so that there is no rate up to some 10 Mbit/s at 720p that
// an encoder cannot make use of. It is the same for the same size and seed.
type Pattern struct {
	frames [patternFrames]*image.YCbCr
}

// NewPattern draws all frames of a pattern, which takes memory and a moment.
// Width and height are even, 160 x 90 at least.
func NewPattern(width, height int, seed uint64) (*Pattern, error) {
	if width < 160 || height < 90 || width > 4096 || height > 4096 || width%2+height%2 != 0 {
		return nil, fmt.Errorf("video: a pattern of %d x %d: want even numbers, 160 x 90 to 4096 x 4096", width, height)
	}
	rng := rand.New(rand.NewPCG(seed, 0x5ca1e))
	back, front := texture(rng, width, height), texture(rng, width, height)
	grain := make([]int8, width*height)
	for i := range grain {
		grain[i] = int8(math.Round(rng.NormFloat64() * patternNoise))
	}
	p := &Pattern{}
	for n := range p.frames {
		at := 2 * math.Pi * float64(n) / patternFrames
		img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
		scale := float64(height) / 720
		// Up to 6 pixels a frame at 720p, twice round while it nods four times.
		pan(img, back, int(60*scale*math.Sin(at)), int(20*scale*math.Sin(2*at)))
		for k := range 4 {
			a := at + float64(k)*math.Pi/2
			r := float64(height) * (0.08 + 0.02*float64(k))
			x, y := float64(width)*(0.5+0.33*math.Cos(a)), float64(height)*(0.55+0.28*math.Sin(a))
			disc(img, front, x, y, r, int(x)+97*k, int(y), uint8(70+40*k), uint8(200-35*k))
		}
		noise(img, grain, rng.IntN(width*height))
		p.frames[n] = img
	}

	return p, nil
}

// patternNoise is the standard deviation of the noise, in levels.
const patternNoise = 2.5

// texture is fractal noise around 128 that can be repeated in both directions.
func texture(rng *rand.Rand, width, height int) []uint8 {
	sum := make([]float64, width*height)
	for _, octave := range []struct{ cells, amplitude float64 }{{5, 34}, {11, 22}, {29, 15}, {67, 10}, {151, 7}} {
		nx, ny := int(octave.cells*float64(width)/float64(height)), int(octave.cells)
		grid := make([]float64, nx*ny)
		for i := range grid {
			grid[i] = octave.amplitude * rng.NormFloat64()
		}
		for y := range height {
			fy := float64(y) * float64(ny) / float64(height)
			y0, ty := int(fy), fy-math.Floor(fy)
			y1 := (y0 + 1) % ny
			for x := range width {
				fx := float64(x) * float64(nx) / float64(width)
				x0, tx := int(fx), fx-math.Floor(fx)
				x1 := (x0 + 1) % nx
				top := grid[y0*nx+x0]*(1-tx) + grid[y0*nx+x1]*tx
				bottom := grid[y1*nx+x0]*(1-tx) + grid[y1*nx+x1]*tx
				sum[y*width+x] += top*(1-ty) + bottom*ty
			}
		}
	}
	out := make([]uint8, len(sum))
	for i, v := range sum {
		out[i] = uint8(min(max(128+v, 20), 230))
	}

	return out
}

// pan fills a picture from a texture at an offset; its colours are soft.
func pan(img *image.YCbCr, tex []uint8, dx, dy int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		row := tex[((y+dy)%h+h)%h*w:][:w]
		n := (dx%w + w) % w
		copy(img.Y[y*img.YStride:][:w], row[n:])
		copy(img.Y[y*img.YStride+w-n:][:n], row[:n])
	}
	for y := range h / 2 {
		for x := range w / 2 {
			i := y*img.CStride + x
			img.Cb[i] = uint8(118 + (x+dx/2+w)%w*20/w)
			img.Cr[i] = uint8(138 - (y+dy/2+h)%h*20/h)
		}
	}
}

// disc draws a disc with a texture that moves along with it.
func disc(img *image.YCbCr, tex []uint8, cx, cy, r float64, tx, ty int, cb, cr uint8) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := max(int(cy-r), 0); y < min(int(cy+r), h); y++ {
		half := math.Sqrt(max(r*r-(float64(y)-cy)*(float64(y)-cy), 0))
		for x := max(int(cx-half), 0); x < min(int(cx+half), w); x++ {
			img.Y[y*img.YStride+x] = tex[((y-ty)%h+h)%h*w+((x-tx)%w+w)%w]
			img.Cb[y/2*img.CStride+x/2], img.Cr[y/2*img.CStride+x/2] = cb, cr
		}
	}
}

// noise adds grain, from a place in it on.
func noise(img *image.YCbCr, grain []int8, from int) {
	for i := range img.Y {
		img.Y[i] = uint8(min(max(int(img.Y[i])+int(grain[from]), 0), 255))
		if from++; from == len(grain) {
			from = 0
		}
	}
}

// Size implements Source.
func (p *Pattern) Size() (width, height int) { return p.frames[0].Rect.Dx(), p.frames[0].Rect.Dy() }

// Picture implements Source: the frame of that number, without a stamp.
func (p *Pattern) Picture(number int) (*image.YCbCr, error) {
	return p.frames[number%patternFrames], nil
}

// Frames is how many frames there are until the pattern repeats.
func (p *Pattern) Frames() int { return patternFrames }
