// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	"os"
	"testing"
)

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}

	return b
}

// captures are the files of real data.
func captures() []string {
	return []string{"mi_att", "mi_att_iphone", "mi_latency_sample", "mi_pixel5", "mi_tmobile"}
}

// packets cuts a capture into log packets that own their bodies.
func packets(tb testing.TB, stream []byte) []Packet {
	tb.Helper()
	var (
		d   Deframer
		out []Packet
	)
	d.Write(stream)
	for {
		frame, err := d.Next()
		if errors.Is(err, ErrMore) {
			break
		}
		p, err := ParseFrame(frame)
		if err != nil {
			tb.Fatal(err)
		}
		p.Body = append([]byte(nil), p.Body...)
		out = append(out, p)
	}
	if s := d.Stats(); s.BadCRC+s.Oversized+s.Short+s.Lost != 0 {
		tb.Fatalf("frames lost: %+v", s)
	}

	return out
}
