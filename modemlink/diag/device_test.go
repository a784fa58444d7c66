// SPDX-License-Identifier: MIT

package diag

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// The layouts of a read, by hand. A piece is "token:bytes".
func TestDeviceReadLayouts(t *testing.T) {
	le := func(words ...uint32) (b []byte) {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}

		return b
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	a, b := []byte("abc"), []byte("defgh")
	const minus, minus2 = 0xFFFFFFFF, 0xFFFFFFFE
	for _, tc := range []struct {
		name string
		in   []byte
		want string
		err  error
	}{
		{"one", join(le(0x20, 1, 3), a), "0:abc ", nil},
		{"two", join(le(0x20, 2, 3), a, le(5), b), "0:abc 0:defgh ", nil},
		{"none", le(0x20, 0), "", nil},
		{"empty piece", join(le(0x20, 2, 0, 3), a), "0: 0:abc ", nil},
		{"token before all", join(le(0x20, minus, 2, 3), a, le(5), b), "-1:abc -1:defgh ", nil},
		{"token before each", join(le(0x20, 2, minus, 3), a, le(minus, 5), b), "-1:abc -1:defgh ", nil},
		{"two modems", join(le(0x20, 2, 3), a, le(minus, 5), b), "0:abc -1:defgh ", nil},
		{"both places", join(le(0x20, minus, 2, minus2, 3), a, le(5), b), "-2:abc -1:defgh ", nil},
		{"bytes behind", join(le(0x20, 1, 3), a, b), "0:abc ", nil},
		{"masks", join(le(0x02, 1, 3), a), "", ErrNotData},
		{"end", le(0x10, 0), "", ErrDeviceEnd},
		{"end alone", le(0x10), "", ErrDeviceEnd},
		{"short", []byte{0x20, 0}, "", ErrTruncated},
		{"nothing", nil, "", ErrTruncated},
		{"no number", le(0x20), "", ErrTruncated},
		{"token alone", le(0x20, minus), "", ErrTruncated},
		{"no length", le(0x20, 1), "", ErrTruncated},
		{"token without length", le(0x20, 1, minus), "", ErrTruncated},
		{"cut off", join(le(0x20, 1, 30), a), "0:abc ", ErrTruncated},
		{"cut off before its bytes", join(le(0x20, 2, 3), a, le(5)), "0:abc ", ErrTruncated},
		{"huge number", join(le(0x20, 0x7FFFFFFF, 3), a), "0:abc ", ErrTruncated},
		{"huge length", join(le(0x20, 1, minus, minus), a), "-1:abc ", ErrTruncated},
	} {
		var got strings.Builder
		err := ParseDeviceRead(tc.in, func(token int32, data []byte) { fmt.Fprintf(&got, "%d:%s ", token, data) })
		if got.String() != tc.want || !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
			t.Errorf("%s: %q, %v; want %q, %v", tc.name, &got, err, tc.want, tc.err)
		}
	}
	whole := AppendDeviceRead(nil, -1, []byte{1, 2, 3}, []byte{4})
	for n := range whole {
		if err := ParseDeviceRead(whole[:n], func(int32, []byte) {}); !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes: %v, want ErrTruncated", n, len(whole), err)
		}
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
	f.Add([]byte{0x20, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255, 1, 0, 0, 0, 'a', 255, 255, 255, 255, 255, 255, 255, 127, 'b'})
	f.Add([]byte{0x10, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var (
			pieces [][]byte
			tokens []int32
			n      int
		)
		in := bytes.Clone(b)
		err := ParseDeviceRead(b, func(token int32, data []byte) {
			pieces, tokens = append(pieces, bytes.Clone(data)), append(tokens, token)
			n += len(data)
		})
		if n > len(b) || slices.ContainsFunc(tokens, func(v int32) bool { return v > 0 }) {
			t.Fatalf("%d bytes out of %d, tokens %v", n, len(b), tokens)
		}
		if err != nil && !errors.Is(err, ErrNotData) && !errors.Is(err, ErrDeviceEnd) && !errors.Is(err, ErrTruncated) {
			t.Fatal(err)
		}
		// Overwriting up to a piece changes none of the later ones.
		joined := in[:0]
		again := ParseDeviceRead(in, func(_ int32, data []byte) { joined = append(joined, data...) })
		if !bytes.Equal(joined, bytes.Join(pieces, nil)) || (again == nil) != (err == nil) {
			t.Fatalf("moved together: %x, %v; want %x, %v", joined, again, pieces, err)
		}
		// With the tokens before each piece it is the same.
		if err == nil && len(pieces) > 0 {
			each := binary.LittleEndian.AppendUint32(nil, deviceUserData)
			each = binary.LittleEndian.AppendUint32(each, uint32(len(pieces)))
			for i, p := range pieces {
				if tokens[i] < 0 {
					each = binary.LittleEndian.AppendUint32(each, uint32(tokens[i]))
				}
				each = append(binary.LittleEndian.AppendUint32(each, uint32(len(p))), p...)
			}
			i := 0
			if err := ParseDeviceRead(each, func(token int32, data []byte) {
				if token != tokens[i] || !bytes.Equal(data, pieces[i]) {
					t.Fatalf("piece %d: %d %x, want %d %x", i, token, data, tokens[i], pieces[i])
				}
				i++
			}); err != nil || i != len(pieces) {
				t.Fatalf("%d pieces of %d, %v", i, len(pieces), err)
			}
		}
	})
}
