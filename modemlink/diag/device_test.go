// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func TestDeviceReadRoundTrip(t *testing.T) {
	for _, token := range []int32{0, -1, -2} {
		for _, pieces := range [][][]byte{{}, {{}}, {{1, 2, 3}}, {{1}, {}, {2, 3}}} {
			var got [][]byte
			err := ParseDeviceRead(AppendDeviceRead(nil, token, pieces...), func(tok int32, data []byte) {
				if tok != token {
					t.Errorf("token %d, want %d", tok, token)
				}
				got = append(got, data)
			})
			if err != nil || len(got) != len(pieces) || !bytes.Equal(bytes.Join(got, []byte{9}), bytes.Join(pieces, []byte{9})) {
				t.Errorf("token %d: %v, %v, want %v", token, got, err, pieces)
			}
		}
	}
}

func TestDeviceReadErrors(t *testing.T) {
	whole := AppendDeviceRead(nil, -1, []byte{1, 2, 3}, []byte{4})
	for n := range whole {
		if err := ParseDeviceRead(whole[:n], func(int32, []byte) {}); !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes: %v, want ErrTruncated", n, len(whole), err)
		}
	}
	if err := ParseDeviceRead([]byte{0x40, 0, 0, 0, 0, 0, 0, 0}, nil); !errors.Is(err, ErrNotData) {
		t.Errorf("%v, want ErrNotData", err)
	}
}

// The bytes of the write and of ioctl arguments, from the layouts.
func TestDeviceBytes(t *testing.T) {
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"write", "20000000" + "1d1c3b" + "7e", AppendDeviceWrite(nil, 0, []byte{0x1D})},
		{"write to an external modem", "20000000" + "ffffffff" + "1d1c3b" + "7e", AppendDeviceWrite(nil, -1, []byte{0x1D})},
		{
			"switch 24", "02000000" + "02000000" + "00000000" + "01000000" + "eaffffff" + "01000000",
			AppendSwitchLogging(nil, 24, 2, 2),
		},
		{"switch 20", "02000000" + "02000000" + "00000000" + "01000000" + "eaffffff", AppendSwitchLogging(nil, 20, 2, 2)},
		{"switch 16", "01000000" + "7f000000" + "00000000" + "01000000", AppendSwitchLogging(nil, 16, 1, 0x7F)},
		{"switch 12", "02000000" + "02000000" + "00000000", AppendSwitchLogging(nil, 12, 2, 2)},
		{"switch 4", "02000000", AppendSwitchLogging(nil, 4, 2, 2)},
		{"buffering", "01025a0f", AppendBuffering(nil, 1, BufferingCircular, 90, 15)},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for _, n := range SwitchLoggingSizes() {
		if got := len(AppendSwitchLogging([]byte{1}, n, 2, 2)); got != 1+n {
			t.Errorf("argument of %d bytes, want %d", got-1, n)
		}
	}
}

func FuzzDeviceRead(f *testing.F) {
	f.Add(AppendDeviceRead(nil, -1, []byte{1, 2}, []byte{3}))
	f.Add(AppendDeviceRead(nil, 0, []byte{1, 2}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var (
			pieces [][]byte
			token  int32
			n      int
		)
		err := ParseDeviceRead(b, func(tok int32, data []byte) {
			token, n = tok, n+len(data)
			pieces = append(pieces, data)
		})
		if n > len(b) {
			t.Fatalf("%d bytes out of %d", n, len(b))
		}
		if err == nil && len(pieces) > 0 && !bytes.HasPrefix(b, AppendDeviceRead(nil, token, pieces...)) {
			t.Fatal("does not come back")
		}
	})
}
