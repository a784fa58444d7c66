// SPDX-License-Identifier: MIT

//go:build codec

package vp8

// #cgo pkg-config: vpx
// #include <stdlib.h>
// #include <string.h>
// #include <vpx/vpx_encoder.h>
// #include <vpx/vp8cx.h>
//
// typedef struct {
//   vpx_codec_ctx_t ctx;
//   vpx_codec_enc_cfg_t cfg;
//   vpx_image_t img;
//   int ready;
// } vp8enc;
//
// // Controls are a macro with a variable argument list.
// static vpx_codec_err_t vp8_control(vp8enc *e, int id, int v) {
//   return vpx_codec_control_(&e->ctx, id, v);
// }
//
// static vpx_codec_err_t vp8_defaults(vp8enc *e) {
//   return vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &e->cfg, 0);
// }
//
// static vpx_codec_err_t vp8_open(vp8enc *e) {
//   vpx_codec_err_t err = vpx_codec_enc_init(&e->ctx, vpx_codec_vp8_cx(), &e->cfg, 0);
//   e->ready = err == VPX_CODEC_OK;
//   return err;
// }
//
// // The planes are Go's, and C keeps no pointer to them after the call.
// static vpx_codec_err_t vp8_encode(vp8enc *e, unsigned char *y, unsigned char *u, unsigned char *v,
//     int ystride, int cstride, vpx_codec_pts_t pts, unsigned long duration, int key) {
//   // For the picture's measures; any address but NULL will do.
//   if (!vpx_img_wrap(&e->img, VPX_IMG_FMT_I420, e->cfg.g_w, e->cfg.g_h, 1, y)) return VPX_CODEC_MEM_ERROR;
//   e->img.planes[0] = y; e->img.planes[1] = u; e->img.planes[2] = v;
//   e->img.stride[0] = ystride; e->img.stride[1] = e->img.stride[2] = cstride;
//   vpx_codec_err_t err = vpx_codec_encode(&e->ctx, &e->img, pts, duration,
//     key ? VPX_EFLAG_FORCE_KF : 0, VPX_DL_REALTIME);
//   memset(e->img.planes, 0, sizeof e->img.planes);
//   return err;
// }
//
// // The next packet of a frame; NULL when there is none.
// static const void *vp8_packet(vp8enc *e, vpx_codec_iter_t *iter, size_t *size) {
//   const vpx_codec_cx_pkt_t *p;
//   while ((p = vpx_codec_get_cx_data(&e->ctx, iter))) {
//     if (p->kind == VPX_CODEC_CX_FRAME_PKT) {
//       *size = p->data.frame.sz;
//       return p->data.frame.buf;
//     }
//   }
//   return NULL;
// }
//
// static void vp8_close(vp8enc *e) {
//   if (e->ready) vpx_codec_destroy(&e->ctx);
//   free(e);
// }
import "C"

import (
	"errors"
	"fmt"
	"image"
	"io"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/pion/mediadevices/pkg/codec"
	"github.com/pion/mediadevices/pkg/io/video"
	"github.com/pion/mediadevices/pkg/prop"
)

// clock is the encoder's time base, RTP's.
const clock = 90000

// Builder makes encoders. The zero value is ready, with the defaults below.
type Builder struct {
	// BitRate is the rate at first, in bit/s; 300 kbit/s.
	BitRate int
	// Speed is libvpx's cpu-used, 1 (best) to 16 (fastest); 8.
	Speed int
	// MinQuantizer and MaxQuantizer bound the quantizer, 0..63; 2 and 56, as in
	// libwebrtc: vp8 SetDefaultSettings.
	MinQuantizer, MaxQuantizer int
	// IntraPercent is the size of a key frame in percent of the others; 150.
	IntraPercent int
}

func or(v, standard int) int {
	if v > 0 {
		return v
	}

	return standard
}

// RTPCodec implements codec.VideoEncoderBuilder.
func (b *Builder) RTPCodec() *codec.RTPCodec { return codec.NewRTPVP8Codec(clock) }

// BuildVideoEncoder implements codec.VideoEncoderBuilder. The encoder's Read returns an
// empty frame where libvpx left one out.
func (b *Builder) BuildVideoEncoder(r video.Reader, p prop.Media) (codec.ReadCloser, error) {
	if p.Width <= 0 || p.Height <= 0 || p.Width%2+p.Height%2 != 0 {
		return nil, fmt.Errorf("vp8: pictures of %d x %d: both must be even", p.Width, p.Height)
	}
	e := &Encoder{b: *b, r: video.ToI420(r), fps: 30, bps: or(b.BitRate, 300_000), budget: -1}
	if p.FrameRate > 0 {
		e.fps = float64(p.FrameRate)
	}

	return e, e.open(p.Width, p.Height)
}

// Encoder is libvpx's. It is also its own controller: codec.KeyFrameController,
// codec.BitRateController and SetFrame.
type Encoder struct {
	b Builder
	r video.Reader

	mu     sync.Mutex
	c      *C.vp8enc // nil after Close
	fps    float64
	bps    int
	rc     rateControl
	q      int
	maxW   int // as opened
	maxH   int
	key    bool
	at     time.Duration // of the next frame
	timed  bool
	budget int // of the next frame in bytes; negative: none
	last   C.vpx_codec_pts_t
	buf    []byte
}

func result(what string, err C.vpx_codec_err_t) error {
	if err == C.VPX_CODEC_OK {
		return nil
	}

	return fmt.Errorf("vp8: %s: %s", what, C.GoString(C.vpx_codec_err_to_string(err)))
}

func (e *Encoder) open(width, height int) error {
	c := (*C.vp8enc)(C.calloc(1, C.sizeof_vp8enc))
	if err := result("defaults", C.vp8_defaults(c)); err != nil {
		C.vp8_close(c)

		return err
	}
	g := &c.cfg
	g.g_w, g.g_h = C.uint(width), C.uint(height)
	g.g_timebase.num, g.g_timebase.den = 1, clock
	g.g_threads = 1
	g.g_lag_in_frames = 0
	g.g_pass = C.VPX_RC_ONE_PASS
	g.rc_end_usage = C.VPX_CBR
	g.rc_target_bitrate = C.uint(max(e.bps/1000, 1))
	g.rc_min_quantizer = C.uint(or(e.b.MinQuantizer, 2))
	g.rc_max_quantizer = C.uint(or(e.b.MaxQuantizer, 56))
	// Whatever libvpx thinks of rates, the quantizer is set for each frame.
	g.rc_dropframe_thresh = 0
	g.rc_resize_allowed = 0
	// Key frames are asked for.
	g.kf_mode = C.VPX_KF_DISABLED
	e.rc = rateControl{minQ: int(g.rc_min_quantizer), maxQ: int(g.rc_max_quantizer), keyPercent: or(e.b.IntraPercent, 150)}
	if err := result("open", C.vp8_open(c)); err != nil {
		C.vp8_close(c)

		return err
	}
	for _, o := range []struct {
		id C.int
		v  int
	}{
		{C.VP8E_SET_CPUUSED, -or(e.b.Speed, 8)},
		{C.VP8E_SET_STATIC_THRESHOLD, 1},
		{C.VP8E_SET_NOISE_SENSITIVITY, 0},
		{C.VP8E_SET_TOKEN_PARTITIONS, C.VP8_ONE_TOKENPARTITION},
	} {
		if err := result("control", C.vp8_control(c, o.id, C.int(o.v))); err != nil {
			C.vp8_close(c)

			return err
		}
	}
	if e.c != nil {
		C.vp8_close(e.c)
	}
	e.c, e.maxW, e.maxH = c, width, height

	return nil
}

// Read implements codec.ReadCloser: it encodes one picture of the reader.
func (e *Encoder) Read() ([]byte, func(), error) {
	img, release, err := e.r.Read()
	if err != nil {
		return nil, func() {}, err
	}
	defer release()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.c == nil {
		return nil, func() {}, io.EOF
	}
	p, ok := img.(*image.YCbCr)
	if !ok || p.SubsampleRatio != image.YCbCrSubsampleRatio420 {
		return nil, func() {}, errors.New("vp8: no 4:2:0 picture")
	}
	if err := e.resize(p.Rect.Dx(), p.Rect.Dy()); err != nil {
		return nil, func() {}, err
	}
	if ok, err := e.encode(p); err != nil || !ok {
		return nil, func() {}, err
	}

	return e.buf, func() {}, nil
}

// resize makes the encoder one for another size, which begins with a key frame.
// Up to the size that it was opened with libvpx keeps what it knows of the video
// and follows the rate from the first frame on.
func (e *Encoder) resize(w, h int) error {
	g := &e.c.cfg
	if w == int(g.g_w) && h == int(g.g_h) {
		return nil
	}
	if w > e.maxW || h > e.maxH {
		return e.open(w, h)
	}
	g.g_w, g.g_h = C.uint(w), C.uint(h)
	e.key = true

	return result("size", C.vpx_codec_enc_config_set(&e.c.ctx, g))
}

// encode hands one picture to libvpx. It tells when the picture is to be left
// out.
func (e *Encoder) encode(p *image.YCbCr) (ok bool, err error) {
	mean := float64(e.bps) / 8 / e.fps
	e.rc.resized(p.Rect.Dx() * p.Rect.Dy())
	want, ok := e.rc.want(mean, e.key)
	if !ok {
		return false, nil
	}
	if e.budget >= 0 && !e.key {
		want, mean = float64(e.budget), float64(e.budget)
	}
	e.q = e.rc.quantizer(want, e.key)
	g := &e.c.cfg
	if int(g.rc_min_quantizer) != e.q {
		g.rc_min_quantizer, g.rc_max_quantizer = C.uint(e.q), C.uint(e.q)
		if err := result("quantizer", C.vpx_codec_enc_config_set(&e.c.ctx, g)); err != nil {
			return false, err
		}
	}
	duration := C.vpx_codec_pts_t(clock / e.fps)
	pts := e.last + duration
	if e.timed {
		// Strictly rising, whatever the caller's clock does.
		pts = max(C.vpx_codec_pts_t(e.at.Seconds()*clock), e.last+1)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	y, u, v := &p.Y[0], &p.Cb[0], &p.Cr[0]
	pin.Pin(y)
	pin.Pin(u)
	pin.Pin(v)
	err = result("encode", C.vp8_encode(e.c, (*C.uchar)(y), (*C.uchar)(u), (*C.uchar)(v),
		C.int(p.YStride), C.int(p.CStride), pts, C.ulong(duration), C.int(kind(e.key))))
	if err != nil {
		return false, err
	}
	e.buf = e.buf[:0]
	var iter C.vpx_codec_iter_t
	var size C.size_t
	for b := C.vp8_packet(e.c, &iter, &size); b != nil; b = C.vp8_packet(e.c, &iter, &size) {
		e.buf = append(e.buf, unsafe.Slice((*byte)(b), int(size))...)
	}
	e.rc.encoded(len(e.buf), e.q, e.key, mean)
	e.last, e.key, e.budget = pts, false, -1

	return true, nil
}

// Controller implements codec.Controllable.
func (e *Encoder) Controller() codec.EncoderController { return e }

// SetBitRate sets the rate in bit/s, from the next frame on.
func (e *Encoder) SetBitRate(bps int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bps = bps

	return nil
}

// ForceKeyFrame makes the next frame a key frame.
func (e *Encoder) ForceKeyFrame() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.key = true

	return nil
}

// SetFrame tells of the next frame: when it was captured, on any clock, when the
// one after it will be, which is what its share of the rate goes by, and how many
// bytes it should have; negative: its share.
func (e *Encoder) SetFrame(at, interval time.Duration, budget int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at, e.timed, e.budget = at, true, budget
	if interval > 0 {
		e.fps = 1 / interval.Seconds()
	}

	return nil
}

// Quantizer is the last frame's, 0..63.
func (e *Encoder) Quantizer() int {
	e.mu.Lock()
	defer e.mu.Unlock()

	return e.q
}

// Close implements codec.ReadCloser. Closing twice is fine.
func (e *Encoder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.c != nil {
		C.vp8_close(e.c)
		e.c = nil
	}

	return nil
}
