// SPDX-License-Identifier: MIT

package interceptor

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pion/rtp"
)

// randomHeader is any that Pion may hand over, with the transport-wide extension
// or without.
func randomHeader(t *testing.T, rng *rand.Rand) *rtp.Header {
	t.Helper()
	h := header(mediaSSRC, uint16(rng.Uint32()))
	h.Marker, h.Timestamp = rng.IntN(2) == 0, rng.Uint32()
	if rng.IntN(4) == 0 {
		h.Padding, h.PaddingSize = true, 4
	}
	for range rng.IntN(3) * rng.IntN(2) {
		h.CSRC = append(h.CSRC, rng.Uint32())
	}
	for _, id := range [][]uint8{{}, {extID}, {1, extID}, {extID, 2, 3, 4}, {7}}[rng.IntN(5)] {
		if err := h.SetExtension(id, []byte{id, byte(rng.Uint32())}); err != nil {
			t.Fatal(err)
		}
	}
	if rng.IntN(8) == 0 {
		h.Extension, h.ExtensionProfile, h.Extensions = true, rtp.ExtensionProfileTwoByte, nil
		if err := h.SetExtension(extID, []byte{1, 2}); err != nil {
			t.Fatal(err)
		}
	}

	return h
}

// A packet that is used again and again is each time what the caller gave, with
// another transport-wide number, and shares nothing with it.
func TestCopiesOfAnyHeader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := newPacket()
	p.stream, p.tracking = &stream{extension: extID, tracking: byTransport}, byTransport
	for range 2000 {
		h := randomHeader(t, rng)
		payload := make([]byte, rng.IntN(2000))
		for i := range payload {
			payload[i] = byte(rng.Uint32())
		}
		want, wantPayload := h.Clone(), slices.Clone(payload)
		if err := want.SetExtension(extID, []byte{0xAA, 0xBB}); err != nil {
			t.Fatal(err)
		}
		p.copyOf(h, payload)
		p.number = [2]byte{0xAA, 0xBB}
		if err := p.header.SetExtension(extID, p.number[:]); err != nil {
			t.Fatal(err)
		}
		for _, x := range []uint8{1, 2, 3, 4, extID, 7} {
			if v := h.GetExtension(x); len(v) > 0 {
				v[0] = 0xEE
			}
		}
		for i := range h.CSRC {
			h.CSRC[i] = 9
		}
		clear(payload)
		a, errA := p.header.Marshal()
		b, errB := want.Marshal()
		if errA != nil || errB != nil || !bytes.Equal(a, b) || p.header.PaddingSize != want.PaddingSize || !bytes.Equal(p.payload, wantPayload) {
			t.Fatalf("copy %+v\nof   %+v", p.header, want)
		}
	}
}

// Streams whose headers differ from packet to packet do not make garbage.
func TestCopiesDoNotAllocate(t *testing.T) {
	p := newPacket()
	p.stream, p.tracking = &stream{extension: extID, tracking: byTransport}, byTransport
	bare, full := header(mediaSSRC, 1), header(mediaSSRC, 2)
	for _, h := range []*rtp.Header{bare, full} {
		if err := h.SetExtension(extID, []byte{0, 0}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []uint8{1, 2, 3} {
		if err := full.SetExtension(id, []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	full.CSRC = []uint32{1, 2}
	payload := make([]byte, 1200)
	within(t, "allocations", testing.AllocsPerRun(100, func() {
		for _, h := range []*rtp.Header{bare, full} {
			p.copyOf(h, payload)
			if err := p.header.SetExtension(extID, p.number[:]); err != nil {
				t.Fatal(err)
			}
		}
	}), 0, 0, "")
}
