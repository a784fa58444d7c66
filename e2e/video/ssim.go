// SPDX-License-Identifier: MIT

package video

import (
	"errors"
	"image"
)

// Stabilisers of SSIM at 8 bits. Wang et al. 2004: (0.01 * 255)^2, (0.03 * 255)^2.
const (
	ssimC1 = 6.5025
	ssimC2 = 58.5225
	// ssimWindow is the side of a window, ssimStep the distance to the next. The
	// paper's windows are Gaussian and at every pixel; libvpx's and x264's are
	// these.
	ssimWindow = 8
	ssimStep   = 4
)

var errSizes = errors.New("video: pictures of different sizes")

// SSIM is the mean structural similarity of two pictures' luma, 1 for equal ones.
func SSIM(a, b *image.Gray) (float64, error) {
	if a.Rect.Size() != b.Rect.Size() || a.Rect.Dx() < ssimWindow || a.Rect.Dy() < ssimWindow {
		return 0, errSizes
	}
	sum, n := 0.0, 0
	for y := 0; y+ssimWindow <= a.Rect.Dy(); y += ssimStep {
		for x := 0; x+ssimWindow <= a.Rect.Dx(); x += ssimStep {
			sum += window(a.Pix[y*a.Stride+x:], b.Pix[y*b.Stride+x:], a.Stride, b.Stride)
			n++
		}
	}

	return sum / float64(n), nil
}

func window(a, b []uint8, strideA, strideB int) float64 {
	var sa, sb, saa, sbb, sab int
	for y := range ssimWindow {
		ra, rb := a[y*strideA:][:ssimWindow], b[y*strideB:][:ssimWindow]
		for x, va := range ra {
			p, q := int(va), int(rb[x])
			sa += p
			sb += q
			saa += p * p
			sbb += q * q
			sab += p * q
		}
	}
	const n = ssimWindow * ssimWindow
	ma, mb := float64(sa)/n, float64(sb)/n
	va, vb, cov := float64(saa)/n-ma*ma, float64(sbb)/n-mb*mb, float64(sab)/n-ma*mb

	return (2*ma*mb + ssimC1) * (2*cov + ssimC2) / ((ma*ma + mb*mb + ssimC1) * (va + vb + ssimC2))
}

// Luma is a picture's brightness, sharing its memory.
func Luma(img *image.YCbCr) *image.Gray {
	return &image.Gray{Pix: img.Y, Stride: img.YStride, Rect: img.Rect.Sub(img.Rect.Min)}
}
