// SPDX-License-Identifier: MIT

//go:build codec

package vp8

// #include <stdlib.h>
// #include <vpx/vpx_decoder.h>
// #include <vpx/vp8dx.h>
//
// static vpx_codec_err_t vp8_dec_open(vpx_codec_ctx_t *c) {
//   return vpx_codec_dec_init(c, vpx_codec_vp8_dx(), NULL, 0);
// }
import "C"

import (
	"image"
	"unsafe"
)

// Decoder is libvpx's.
type Decoder struct{ ctx *C.vpx_codec_ctx_t }

// NewDecoder returns a decoder; close it.
func NewDecoder() (*Decoder, error) {
	d := &Decoder{(*C.vpx_codec_ctx_t)(C.calloc(1, C.sizeof_vpx_codec_ctx_t))}
	if err := result("open decoder", C.vp8_dec_open(d.ctx)); err != nil {
		C.free(unsafe.Pointer(d.ctx))

		return nil, err
	}

	return d, nil
}

// Decode returns the picture of a frame, or nil when the frame shows none.
func (d *Decoder) Decode(frame []byte) (*image.YCbCr, error) {
	if len(frame) == 0 {
		return nil, nil //nolint:nilnil // a frame that was left out
	}
	err := result("decode", C.vpx_codec_decode(d.ctx, (*C.uchar)(&frame[0]), C.uint(len(frame)), nil, 0))
	if err != nil {
		return nil, err
	}
	var iter C.vpx_codec_iter_t
	img := C.vpx_codec_get_frame(d.ctx, &iter)
	if img == nil {
		return nil, nil //nolint:nilnil // documented
	}
	w, h := int(img.d_w), int(img.d_h)
	out := image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)
	for i, plane := range []struct {
		to           []byte
		stride, w, h int
	}{{out.Y, out.YStride, w, h}, {out.Cb, out.CStride, (w + 1) / 2, (h + 1) / 2}, {out.Cr, out.CStride, (w + 1) / 2, (h + 1) / 2}} {
		stride := int(img.stride[i])
		from := unsafe.Slice((*byte)(img.planes[i]), stride*(plane.h-1)+plane.w)
		for y := range plane.h {
			copy(plane.to[y*plane.stride:][:plane.w], from[y*stride:])
		}
	}

	return out, nil
}

// Close frees what the decoder holds; it is of no use afterwards.
func (d *Decoder) Close() error {
	C.vpx_codec_destroy(d.ctx)
	C.free(unsafe.Pointer(d.ctx))
	d.ctx = nil

	return nil
}
