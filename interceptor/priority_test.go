// SPDX-License-Identifier: MIT

package interceptor

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
)

// Audio leaves at once, then retransmissions, with an RTX stream or without one,
// then video and FEC in the order in which they came.
func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		w := r.video()
		audio := r.AddStream(&pion.StreamInfo{SSRC: 0x4444, MimeType: "audio/opus"}, r.wire)
		for i := range uint16(10) {
			mustWrite(t, w, header(mediaSSRC, i), payloadFor(1250)) // 10 ms each
			mustWrite(t, w, header(fecSSRC, i), payloadFor(1250))
		}
		first := len(r.wire.sent())
		mustWrite(t, w, header(rtxSSRC, 7), payloadFor(1250))
		if _, err := w.Write(header(mediaSSRC, 3), payloadFor(1250), pion.Attributes{1: &resend{}}); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, audio, header(0x4444, 1), payloadFor(100))
		time.Sleep(time.Second)
		synctest.Wait()
		var got, rest []uint32
		for i, p := range r.wire.sent()[first:] {
			if i < 3 {
				got = append(got, p.header.SSRC)
			} else {
				rest = append(rest, p.header.SSRC)
			}
		}
		if want := []uint32{0x4444, rtxSSRC, mediaSSRC}; !slices.Equal(got, want) {
			t.Errorf("%#x left first, want %#x", got, want)
		}
		for i, ssrc := range rest {
			if want := []uint32{mediaSSRC, fecSSRC}[(i+first)%2]; ssrc != want {
				t.Errorf("then %#x", rest)

				break
			}
		}
		if first+len(got)+len(rest) != 23 {
			t.Errorf("%d packets left, want 23", first+len(got)+len(rest))
		}
	})
}
