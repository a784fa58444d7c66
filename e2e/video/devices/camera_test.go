// SPDX-License-Identifier: MIT

//go:build codec

package devices

import (
	"bytes"
	"errors"
	"testing"
	"time"

	_ "github.com/pion/mediadevices/pkg/driver/videotest"
)

// mediadevices' test picture in place of a camera, of which there is none where
// tests run.
func TestCamera(t *testing.T) {
	c, err := NewCamera(640, 480, 30)
	if err != nil {
		t.Fatal(err)
	}
	w, h := c.Size()
	if w < 160 || h < 90 || w%2+h%2 != 0 {
		t.Errorf("pictures of %d x %d", w, h)
	}
	first, err := c.Picture(0)
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		p, err := c.Picture(1)
		if err != nil || p.Rect.Dx() != w || p.Rect.Dy() != h {
			t.Fatalf("%v, %v", p.Rect, err)
		}
		if !bytes.Equal(p.Y, first.Y) {
			break
		}
		if time.Since(begin) > 5*time.Second {
			t.Fatal("the picture does not change")
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Picture(2); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
