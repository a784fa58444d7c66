// SPDX-License-Identifier: MIT

package video

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"strconv"
	"strings"
)

// ErrY4M is wrapped by what is wrong with a file.
var ErrY4M = errors.New("video: not a YUV4MPEG2 file in 4:2:0 with 8 bits")

const (
	maxSide   = 4096
	maxHeader = 1024
)

// Y4M is a raw video file, as ffmpeg writes it (-pix_fmt yuv420p x.y4m), played
// again and again. Only the picture at hand is in memory.
type Y4M struct {
	r      io.ReadSeeker
	buf    *bufio.Reader
	first  int64 // offset of the first frame
	next   int   // number of the frame at the reader, since the file began
	played int   // frames in the file, once known
	fps    int
	img    *image.YCbCr
	number int // that img is of; -1: none
}

// NewY4M reads the header and the first picture. Width and height must be even.
func NewY4M(r io.ReadSeeker) (*Y4M, error) {
	y := &Y4M{r: r, buf: bufio.NewReaderSize(r, 1<<16), fps: 30, number: -1}
	line, err := y.line()
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0] != "YUV4MPEG2" {
		return nil, ErrY4M
	}
	y.first = int64(len(line)) + 1
	w, h := 0, 0
	for _, f := range fields[1:] {
		v := f[1:]
		switch f[0] {
		case 'W':
			w, err = strconv.Atoi(v)
		case 'H':
			h, err = strconv.Atoi(v)
		case 'F':
			var num, den int
			if n, _ := fmt.Sscanf(v, "%d:%d", &num, &den); n == 2 && den > 0 && num > 0 {
				y.fps = min(max((num+den/2)/den, 1), 120)
			}
		case 'C':
			if v != "420" && v != "420jpeg" && v != "420mpeg2" && v != "420paldv" {
				return nil, fmt.Errorf("%w: colours %s", ErrY4M, v)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q", ErrY4M, f)
		}
	}
	if w < 2 || h < 2 || w > maxSide || h > maxSide || w%2+h%2 != 0 {
		return nil, fmt.Errorf("%w: pictures of %d x %d", ErrY4M, w, h)
	}
	y.img = image.NewYCbCr(image.Rect(0, 0, w, h), image.YCbCrSubsampleRatio420)
	if _, err := y.Picture(0); err != nil {
		return nil, err
	}

	return y, nil
}

// line reads a header up to its end.
func (y *Y4M) line() (string, error) {
	var line []byte
	for len(line) <= maxHeader {
		b, err := y.buf.ReadByte()
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return string(line), nil
		}
		line = append(line, b)
	}

	return "", fmt.Errorf("%w: a header longer than %d bytes", ErrY4M, maxHeader)
}

// Size implements Source.
func (y *Y4M) Size() (width, height int) { return y.img.Rect.Dx(), y.img.Rect.Dy() }

// FPS is the file's frame rate, rounded.
func (y *Y4M) FPS() int { return y.fps }

// Picture implements Source. Numbers should rise; frames between are skipped.
func (y *Y4M) Picture(number int) (*image.YCbCr, error) {
	if y.played > 0 {
		number %= y.played
	}
	if number == y.number {
		return y.img, nil
	}
	if number < y.next {
		if err := y.rewind(); err != nil {
			return nil, err
		}
	}
	for y.next <= number {
		err := y.read()
		if errors.Is(err, io.EOF) && y.next > 0 {
			y.played = y.next
			number %= y.played
			err = y.rewind()
		}
		if err != nil {
			return nil, fmt.Errorf("%w: frame %d: %w", ErrY4M, y.next, err)
		}
	}
	y.number = number

	return y.img, nil
}

func (y *Y4M) rewind() error {
	_, err := y.r.Seek(y.first, io.SeekStart)
	y.buf.Reset(y.r)
	y.next, y.number = 0, -1

	return err
}

// read takes the next frame into img.
func (y *Y4M) read() error {
	line, err := y.line()
	if err != nil {
		return err
	}
	if !bytes.HasPrefix([]byte(line), []byte("FRAME")) {
		return errors.New("no FRAME where one should begin")
	}
	for _, plane := range [][]byte{y.img.Y, y.img.Cb, y.img.Cr} {
		if _, err := io.ReadFull(y.buf, plane); err != nil {
			return io.ErrUnexpectedEOF // the last one may be cut off: not a frame
		}
	}
	y.next++

	return nil
}
