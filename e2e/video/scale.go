// SPDX-License-Identifier: MIT

package video

import (
	"errors"
	"image"
)

var errEnlarge = errors.New("video: a picture can only be made smaller")

// Scaler makes pictures smaller by the mean over the area of each new pixel,
// which neither blurs nor flickers. x/image/draw takes 15 times as long for 4:2:0
// pictures, and mediadevices' fast scalers need cgo and are half a pixel off.
type Scaler struct {
	out *image.YCbCr
	acc []uint32
}

// Scale returns a picture in another size. It is overwritten by the next call,
// or is from itself when that has the size.
func (s *Scaler) Scale(from *image.YCbCr, width, height int) (*image.YCbCr, error) {
	w, h := from.Rect.Dx(), from.Rect.Dy()
	if w == width && h == height {
		return from, nil
	}
	if width > w || height > h || width < 2 || height < 2 {
		return nil, errEnlarge
	}
	if s.out == nil || s.out.Rect.Dx() != width || s.out.Rect.Dy() != height {
		s.out = image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	}
	if len(s.acc) < w {
		s.acc = make([]uint32, w)
	}
	s.plane(s.out.Y, s.out.YStride, width, height, from.Y, from.YStride, w, h)
	s.plane(s.out.Cb, s.out.CStride, width/2, height/2, from.Cb, from.CStride, w/2, h/2)
	s.plane(s.out.Cr, s.out.CStride, width/2, height/2, from.Cr, from.CStride, w/2, h/2)

	return s.out, nil
}

// one is a whole pixel in fixed point: 256 levels of 16 x 16 pixels at that
// weight still fit in 32 bits.
const one = 1 << 6

// plane scales one plane. Positions are in units of 1/one source pixel.
func (s *Scaler) plane(to []uint8, toStride, dw, dh int, from []uint8, stride, w, h int) {
	acc := s.acc[:w]
	for y := range dh {
		clear(acc)
		top, bottom := y*h*one/dh, (y+1)*h*one/dh
		for sy := top / one; sy*one < bottom; sy++ {
			weight := uint32(min((sy+1)*one, bottom) - max(sy*one, top))
			for x, v := range from[sy*stride:][:w] {
				acc[x] += uint32(v) * weight
			}
		}
		row := to[y*toStride:][:dw]
		for x := range row {
			left, right := x*w*one/dw, (x+1)*w*one/dw
			sum := uint64(0)
			for sx := left / one; sx*one < right; sx++ {
				sum += uint64(acc[sx]) * uint64(min((sx+1)*one, right)-max(sx*one, left))
			}
			area := uint64(right-left) * uint64(bottom-top)
			row[x] = uint8((sum + area/2) / area)
		}
	}
}

// Shrink returns the luma of a picture in a smaller size.
func Shrink(from *image.Gray, width, height int) (*image.Gray, error) {
	w, h := from.Rect.Dx(), from.Rect.Dy()
	if width > w || height > h || width < 1 || height < 1 {
		return nil, errEnlarge
	}
	out := image.NewGray(image.Rect(0, 0, width, height))
	s := Scaler{acc: make([]uint32, w)}
	s.plane(out.Pix, out.Stride, width, height, from.Pix, from.Stride, w, h)

	return out, nil
}
