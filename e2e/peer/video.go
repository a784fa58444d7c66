// SPDX-License-Identifier: MIT

package peer

import (
	"sync"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

// Video is the way of a real encoder's frames into a call, for Config.Video. Write
// is not safe for concurrent use, all else is.
//
// Both peers are in one process: what a packet is a part of the receiver looks up
// by its number, as a decoder would find it in the payload.
type Video struct {
	call  *Call
	write func(*rtp.Packet) error
	vp8   codecs.VP8Payloader
	frame uint32
	seq   uint16

	mu     sync.Mutex
	pieces [1 << 16]piece // by sequence number; a count of 0: none
}

// Estimator is the sender's.
func (v *Video) Estimator() cc.BandwidthEstimator { return v.call.estimator }

// Start is the zero of the times of capture.
func (v *Video) Start() time.Time { return v.call.start }

// KeyWanted tells whether the viewer cannot go on without a key frame; asking
// takes it back.
func (v *Video) KeyWanted() bool { return v.call.keyWanted.Swap(false) }

// Write sends a VP8 frame. An error is the connection going down.
func (v *Video) Write(data []byte, captured time.Duration, key bool) error {
	v.vp8.EnablePictureID = true
	payloads := v.vp8.Payload(maxPayload, data)
	if len(payloads) > maxPackets {
		payloads = payloads[:maxPackets] // 4.9 MB: nobody could send it
	}
	v.mu.Lock()
	for i := range payloads {
		v.pieces[v.seq+uint16(i)] = piece{v.frame, uint16(i), uint16(len(payloads)), key, captured}
	}
	v.mu.Unlock()
	v.frame++
	for i, p := range payloads {
		err := v.write(&rtp.Packet{
			Header: rtp.Header{
				Version: 2, Marker: i == len(payloads)-1, SequenceNumber: v.seq, Timestamp: uint32(captured.Seconds() * videoClock),
			},
			Payload: p,
		})
		v.seq++
		if err != nil {
			return err
		}
	}

	return nil
}

// piece finds a packet.
func (v *Video) piece(p *rtp.Packet) (piece, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if got := v.pieces[p.SequenceNumber]; got.count > 0 {
		return got, nil
	}

	return piece{}, errPayload
}
