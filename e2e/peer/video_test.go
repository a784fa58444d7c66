// SPDX-License-Identifier: MIT

package peer

import (
	"testing"
	"time"

	"github.com/pion/rtp"
)

// Packets are found again by their numbers, also past the end of the numbers.
func TestVideoPieces(t *testing.T) {
	var sent []*rtp.Packet
	v := &Video{call: &Call{}, seq: 65_500, write: func(p *rtp.Packet) error { sent = append(sent, p); return nil }}
	for n := range 100 {
		sent = sent[:0]
		at := time.Duration(n) * time.Second / 30
		if err := v.Write(make([]byte, 10+500*n), at, n%10 == 0); err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for i, p := range sent {
			got, err := v.piece(p)
			want := piece{frame: uint32(n), index: uint16(i), count: uint16(len(sent)), key: n%10 == 0, capture: at}
			if err != nil || got != want {
				t.Fatalf("packet %d: %+v, %v, want %+v", p.SequenceNumber, got, err, want)
			}
			if p.Marker != (i == len(sent)-1) || p.Timestamp != uint32(at.Seconds()*videoClock) || len(p.Payload) > maxPayload {
				t.Fatalf("packet %d of %d: %v", i, len(sent), p)
			}
			bytes += len(p.Payload)
		}
		// VP8's descriptor with a picture ID is 3 or 4 bytes a packet. RFC 7741 4.2.
		if more := bytes - (10 + 500*n); more < 3*len(sent) || more > 5*len(sent) {
			t.Fatalf("%d bytes beyond a frame of %d in %d packets", more, 10+500*n, len(sent))
		}
	}
	if _, err := v.piece(&rtp.Packet{Header: rtp.Header{SequenceNumber: 40_000}}); err == nil {
		t.Error("a packet that was never sent is known")
	}
}
