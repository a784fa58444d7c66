// SPDX-License-Identifier: MIT

package browser

import (
	"bytes"
	"fmt"
	"image"
	"testing"

	"golang.org/x/image/vp8"
)

// The picture in macroblocks of 16 x 16 pixels, each of one level of grey.
const (
	mbWide = 20
	mbHigh = 12
)

type picture [mbHigh][mbWide]uint8

// digits are rows of 3 bits.
var digits = [10][5]uint8{
	{7, 5, 5, 5, 7},
	{2, 6, 2, 2, 7},
	{7, 1, 7, 4, 7},
	{7, 1, 7, 1, 7},
	{5, 5, 7, 1, 1},
	{7, 4, 7, 1, 7},
	{7, 4, 7, 5, 7},
	{7, 1, 1, 2, 2},
	{7, 5, 7, 5, 7},
	{7, 5, 7, 1, 7},
}

// draw shows the number of the frame, and a bar that moves, on a background
// that differs from that of the frame before.
func draw(n int) picture {
	var p picture
	back, ink := uint8(48+n*13%32), uint8(224)
	for y := range p {
		for x := range p[y] {
			p[y][x] = back
		}
	}
	for i, d := range fmt.Sprintf("%04d", n%10000) {
		for y, row := range digits[d-'0'] {
			for x := range 3 {
				if row&(4>>x) != 0 {
					p[2+y][2+4*i+x] = ink
				}
			}
		}
	}
	for x := range 3 {
		p[9][(n+x)%mbWide] = 160
	}

	return p
}

// boolCoder is VP8's arithmetic coder. RFC 6386 7.
type boolCoder struct {
	out   []byte
	low   uint64 // not yet written, below bits
	span  uint32
	count int // shifts until a byte is full
}

func newBoolCoder() *boolCoder { return &boolCoder{span: 255, count: 24} }

// put codes a bit that is 0 with probability prob/256.
func (c *boolCoder) put(bit bool, prob uint8) {
	split := 1 + (c.span-1)*uint32(prob)>>8
	if bit {
		c.low += uint64(split)
		c.span -= split
	} else {
		c.span = split
	}
	for c.span < 128 {
		c.span <<= 1
		c.low <<= 1
		if c.low>>32 != 0 { // carry into what is written
			c.carry()
		}
		c.count--
		if c.count == 0 {
			c.emit()
		}
	}
}

func (c *boolCoder) carry() {
	for i := len(c.out) - 1; i >= 0; i-- {
		c.out[i]++
		if c.out[i] != 0 {
			break
		}
	}
	c.low &= 1<<32 - 1
}

func (c *boolCoder) emit() {
	c.out = append(c.out, byte(c.low>>24))
	c.low &= 1<<24 - 1
	c.count = 8
}

func (c *boolCoder) literal(v uint32, bits int) {
	for i := bits - 1; i >= 0; i-- {
		c.put(v>>i&1 != 0, 128)
	}
}

func (c *boolCoder) finish() []byte {
	for range 32 {
		c.put(false, 128)
	}

	return c.out
}

// coefUpdateProbs are the probabilities of the flags that say whether a token
// probability is sent, by (plane*8 + band)*3 + context; those left out are 255.
// RFC 6386 13.4.
var coefUpdateProbs = [4 * 8 * 3][]uint8{
	3:  {176, 246},
	4:  {223, 241, 252},
	5:  {249, 253, 253},
	6:  {255, 244, 252},
	7:  {234, 254, 254},
	8:  {253},
	9:  {255, 246, 254},
	10: {239, 253, 254},
	11: {254, 255, 254},
	12: {255, 248, 254},
	13: {251, 255, 254},
	15: {255, 253, 254},
	16: {251, 254, 254},
	17: {254, 255, 254},
	18: {255, 254, 253, 255, 254},
	19: {250, 255, 254, 255, 254},
	20: {254},
	24: {217},
	25: {225, 252, 241, 253, 255, 255, 254},
	26: {234, 250, 241, 250, 253, 255, 253, 254},
	27: {255, 254},
	28: {223, 254, 254},
	29: {238, 253, 254, 254},
	30: {255, 248, 254},
	31: {249, 254},
	33: {255, 253},
	34: {247, 254},
	36: {255, 253, 254},
	37: {252},
	39: {255, 254, 254},
	40: {253},
	42: {255, 254, 253},
	43: {250},
	44: {254},
	48: {186, 251, 250},
	49: {234, 251, 244, 254},
	50: {251, 251, 243, 253, 254, 255, 254},
	51: {255, 253, 254},
	52: {236, 253, 254},
	53: {251, 253, 253, 254, 254},
	54: {255, 254, 254},
	55: {254, 254, 254},
	57: {255, 254},
	58: {254, 254},
	59: {254},
	61: {254},
	72: {248},
	73: {250, 254, 252, 254},
	74: {248, 254, 249, 253},
	75: {255, 253, 253},
	76: {246, 253, 253},
	77: {252, 254, 251, 254, 254},
	78: {255, 254, 252},
	79: {248, 254, 253},
	80: {253, 255, 254, 254},
	81: {255, 251, 254},
	82: {245, 251, 254},
	83: {253, 253, 254},
	84: {255, 251, 253},
	85: {252, 253, 254},
	86: {255, 254},
	87: {255, 252},
	88: {249, 255, 254},
	89: {255, 255, 254},
	90: {255, 255, 253},
	91: {250},
	94: {254},
}

// motionUpdateProbs are the same of motion vectors. RFC 6386 17.2.
var motionUpdateProbs = [2 * 19]uint8{
	237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254,
	231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254,
}

// Planes of coefficients. RFC 6386 13.3.
const (
	planeLuma = iota // without the mean of each block
	planeMeans
	planeChroma
	planes
)

// Token probabilities: a block without coefficients is likely, the rest even.
const (
	evenProb  = 128
	emptyProb = 250
)

// tokenProb is what the stream sets for those contexts that it uses: i counts
// the 11 decisions of a token.
func tokenProb(plane, band, context, i int) (p uint8, used bool) {
	switch {
	case plane == planeLuma && band == 1 && context == 0 && i == 0:
		return emptyProb, true // from the second coefficient on
	case plane == planeChroma && band == 0 && context == 0 && i == 0:
		return emptyProb, true
	case plane == planeMeans && band == 0:
		return evenProb, true
	case plane == planeMeans && band == 1 && context > 0 && i == 0:
		return emptyProb, true // after the mean of all
	default:
		return 0, false
	}
}

// tokenClass is a range of values. RFC 6386 13.2.
type tokenClass struct {
	from  int
	extra []uint8 // probabilities of the bits that say where in the range
	path  []step  // decisions from "not zero" on
}

type step struct {
	prob int
	bit  bool
}

var tokenClasses = []tokenClass{
	{1, nil, []step{{2, false}}},
	{2, nil, []step{{2, true}, {3, false}, {4, false}}},
	{3, nil, []step{{2, true}, {3, false}, {4, true}, {5, false}}},
	{4, nil, []step{{2, true}, {3, false}, {4, true}, {5, true}}},
	{5, []uint8{159}, []step{{2, true}, {3, true}, {6, false}, {7, false}}},
	{7, []uint8{165, 145}, []step{{2, true}, {3, true}, {6, false}, {7, true}}},
	{11, []uint8{173, 148, 140}, []step{{2, true}, {3, true}, {6, true}, {8, false}, {9, false}}},
	{19, []uint8{176, 155, 140, 135}, []step{{2, true}, {3, true}, {6, true}, {8, false}, {9, true}}},
	{35, []uint8{180, 157, 141, 134, 130}, []step{{2, true}, {3, true}, {6, true}, {8, true}, {10, false}}},
	{67, []uint8{254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}, []step{{2, true}, {3, true}, {6, true}, {8, true}, {10, true}}},
}

// putMean codes a block of means whose first coefficient alone is not zero.
func (c *boolCoder) putMean(v int) {
	c.put(true, evenProb) // not the end
	c.put(true, evenProb) // not zero
	abs := max(v, -v)
	t := tokenClasses[0]
	for _, next := range tokenClasses {
		if abs >= next.from {
			t = next
		}
	}
	for _, s := range t.path {
		c.put(s.bit, evenProb)
	}
	for i, p := range t.extra {
		c.put((abs-t.from)>>(len(t.extra)-1-i)&1 != 0, p)
	}
	c.put(v < 0, 128)
	c.put(false, emptyProb) // the end
}

// encode makes a frame of a picture, at least of a size. Without key it is one
// that refers to the last frame, though it takes nothing from it.
func encode(p picture, key bool, size int) []byte {
	first := newBoolCoder()
	header(first, key)
	second := newBoolCoder()
	for y := range p {
		for x := range p[y] {
			// Prediction from the row above and the column to the left, which
			// have one level each. The finest quantizer has 8 steps to a level.
			step := 8 * (int(p[y][x]) - predict(&p, x, y))
			first.put(step == 0, 128) // nothing but prediction
			if key {
				first.put(true, 145)
				first.put(false, 156)
				first.put(false, 163)
				first.put(false, 142)
			} else {
				first.put(false, evenProb) // not from another frame
				first.put(false, 112)
				first.put(false, 162)
			}
			if step == 0 {
				continue
			}
			second.putMean(step)
			for range 16 + 8 { // luma, chroma
				second.put(false, emptyProb)
			}
		}
	}
	a, b := first.finish(), second.finish()
	const show = 1 << 4
	tag := uint32(len(a))<<5 | show
	if !key {
		tag |= 1
	}
	out := []byte{byte(tag), byte(tag >> 8), byte(tag >> 16)}
	if key {
		out = append(out, 0x9d, 0x01, 0x2a, 16*mbWide%256, 16*mbWide/256, 16*mbHigh%256, 16*mbHigh/256)
	}
	out = append(append(out, a...), b...)
	if n := size - len(out); n > 0 {
		out = append(out, make([]byte, n)...)
	}

	return out
}

func predict(p *picture, x, y int) int {
	switch {
	case x == 0 && y == 0:
		return 128
	case y == 0:
		return int(p[y][x-1])
	case x == 0:
		return int(p[y-1][x])
	default:
		return (int(p[y-1][x]) + int(p[y][x-1]) + 1) / 2
	}
}

// header is the frame header: one segment, no loop filter, one partition of
// tokens, quantizer 0. RFC 6386 9 and 19.2.
func header(c *boolCoder, key bool) {
	if key {
		c.literal(0, 2) // colour space, clamping
	}
	c.literal(0, 1)     // segments
	c.literal(0, 1+6+3) // filter
	c.literal(0, 1)     // filter deltas
	c.literal(0, 2)     // partitions
	c.literal(0, 7+5)   // quantizers
	if key {
		c.literal(1, 1) // keep the probabilities
	} else {
		c.literal(0, 2)   // golden, altref: keep them
		c.literal(0, 2+2) // and copy nothing there
		c.literal(0, 2)   // sign bias
		c.literal(1, 1)
		c.literal(1, 1) // this is the next frame's last
	}
	for row, probs := range coefUpdateProbs {
		for i := range 11 {
			flag := uint8(255)
			if i < len(probs) {
				flag = probs[i]
			}
			p, used := tokenProb(row/24, row/3%8, row%3, i)
			c.put(used, flag)
			if used {
				c.literal(uint32(p), 8)
			}
		}
	}
	c.literal(1, 1) // macroblocks may skip their coefficients
	c.literal(128, 8)
	if key {
		return
	}
	c.literal(evenProb, 8) // other frames
	c.literal(128, 8)      // last
	c.literal(128, 8)      // golden
	c.literal(0, 2)        // probabilities of modes
	for _, p := range motionUpdateProbs {
		c.put(false, p)
	}
}

func decode(t *testing.T, b []byte) *image.YCbCr {
	t.Helper()
	d := vp8.NewDecoder()
	d.Init(bytes.NewReader(b), len(b))
	h, err := d.DecodeFrameHeader()
	if err != nil {
		t.Fatal(err)
	}
	if !h.KeyFrame || h.Width != 16*mbWide || h.Height != 16*mbHigh {
		t.Fatalf("header %+v", h)
	}
	m, err := d.DecodeFrame()
	if err != nil {
		t.Fatal(err)
	}

	return m
}

// Another decoder sees the very levels, padded or not.
func TestKeyFramesDecode(t *testing.T) {
	extreme := draw(0)
	for y := range extreme {
		for x := range extreme[y] {
			extreme[y][x] = uint8((x*y*37 + x*11 + y) % 256)
		}
	}
	for name, p := range map[string]picture{"0": draw(0), "1": draw(1), "8765": draw(8765), "all levels": extreme} {
		for _, size := range []int{0, 5000} {
			b := encode(p, true, size)
			if size > 0 && len(b) != size {
				t.Errorf("%s: %d bytes, want %d", name, len(b), size)
			}
			m := decode(t, b)
			for y := range 16 * mbHigh {
				for x := range 16 * mbWide {
					if got, want := m.Y[m.YOffset(x, y)], p[y/16][x/16]; got != want {
						t.Fatalf("%s: level %d at %d,%d, want %d", name, got, x, y, want)
					}
				}
			}
		}
	}
}

// Scripts may ask for frames of this size and above.
func TestFramesAreSmall(t *testing.T) {
	for n := range 200 {
		for _, key := range []bool{true, false} {
			if got := len(encode(draw(n), key, 0)); got > minFrame {
				t.Fatalf("frame %d (key: %v) takes %d bytes, want at most %d", n, key, got, minFrame)
			}
		}
	}
	if draw(3) == draw(4) {
		t.Error("two frames with one picture")
	}
}

// minFrame is the smallest size that every frame can have.
const minFrame = 600
