// SPDX-License-Identifier: MIT

package video

import (
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// A stamp is a frame's number in the picture, that survives encoding at any size:
// a row of stampBits cells, black for 0 and white for 1, most significant first,
// in a frame of grey. The last 8 bits check the others.
//
//	cell (k): x = (stampLeft + k) u .. + u, y = u .. 2 u, with u = width / 40
const (
	stampUnits = 40
	stampLeft  = 4
	numberBits = 24
	stampBits  = numberBits + 8
)

// check is what follows a number, so that a picture without a stamp, or with one
// that cannot be read, does not pass for one.
func check(number uint32) uint32 {
	sum := uint32(0xA5)
	for k := range numberBits / 8 {
		sum = (sum*31 + number>>(8*k)&0xFF) & 0xFF
	}

	return sum
}

// Stamp draws a number, modulo 2^24, into a picture, and a text for people
// beside it.
func Stamp(img *image.YCbCr, number int, text string) {
	u := img.Rect.Dx() / stampUnits
	fill(img, (stampLeft-1)*u, u/2, (stampLeft+stampBits+1)*u, u*5/2, 110)
	n := uint32(number) & (1<<numberBits - 1)
	bits := n<<8 | check(n)
	for k := range stampBits {
		level := uint8(16)
		if bits>>(stampBits-1-k)&1 != 0 {
			level = 235
		}
		fill(img, (stampLeft+k)*u, u, (stampLeft+k+1)*u, 2*u, level)
	}
	write(img, (stampLeft-1)*u, u*3, max(u/8, 1), text)
}

// fill makes a rectangle of one level of grey.
func fill(img *image.YCbCr, x0, y0, x1, y1 int, level uint8) {
	for y := y0; y < y1; y++ {
		row := img.Y[y*img.YStride+x0 : y*img.YStride+x1]
		for i := range row {
			row[i] = level
		}
		if y%2 == 0 {
			for x := x0 / 2; x < x1/2; x++ {
				img.Cb[y/2*img.CStride+x], img.Cr[y/2*img.CStride+x] = 128, 128
			}
		}
	}
}

// write draws text with a fixed font, each of its pixels scale x scale.
func write(img *image.YCbCr, left, top, scale int, text string) {
	face := basicfont.Face7x13
	small := image.NewAlpha(image.Rect(0, 0, face.Advance*len(text), face.Height))
	d := font.Drawer{Dst: small, Src: image.Opaque, Face: face, Dot: fixed.P(0, face.Ascent)}
	d.DrawString(text)
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			level := uint8(16)
			if small.AlphaAt(x, y).A > 127 {
				level = 235
			}
			x0, y0 := left+x*scale, top+y*scale
			if x0+scale <= img.Rect.Dx() && y0+scale <= img.Rect.Dy() {
				fill(img, x0, y0, x0+scale, y0+scale, level)
			}
		}
	}
}

// ReadStamp returns the number in a picture; it is not ok when there is none.
func ReadStamp(img *image.YCbCr) (number int, ok bool) {
	u := float64(img.Rect.Dx()) / stampUnits
	bits := uint32(0)
	for k := range stampBits {
		bits <<= 1
		// The middle half of the cell, where encoding has blurred little.
		sum, n := 0, 0
		for y := int(u * 1.25); y < int(u*1.75)+1; y++ {
			for x := int(u * (float64(stampLeft+k) + 0.25)); x < int(u*(float64(stampLeft+k)+0.75))+1; x++ {
				sum += int(img.Y[y*img.YStride+x])
				n++
			}
		}
		if sum > 128*n {
			bits |= 1
		}
	}
	v := bits >> 8

	return int(v), bits&0xFF == check(v)
}
