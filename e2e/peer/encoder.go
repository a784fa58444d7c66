// SPDX-License-Identifier: MIT

package peer

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

const (
	// maxPayload keeps a packet within any path's MTU.
	maxPayload = 1200
	// linkOverhead is what a packet adds on the link: IPv4 20, UDP 8, RTP 12
	// with an extension of 8 less padding, SRTP 10, as in e2e/sim.
	linkOverhead = 50
	// sizeNoise is the standard deviation of the logarithm of frame sizes.
	sizeNoise = 0.15
	// skipAbove is the pacer queue above which a frame is left out.
	skipAbove = 250 * time.Millisecond
	// videoClock is RTP's for video, RFC 3551 5.
	videoClock = 90000
)

// encoder makes frames at a steady rate, each as large as the target allows.
type encoder struct {
	fps        int
	start      time.Time
	rng        *rand.Rand
	target     func() int           // bit/s on the link
	pacerDelay func() time.Duration // nil: no pacer
	keyWanted  func() bool          // a key frame was asked for; asking takes it back
	write      func(*rtp.Packet) error

	frame    uint32
	seq      uint16
	captured int
	leftOut  int
	payload  [maxPayload]byte
}

// run captures until ctx ends. Frames are due at absolute times, so that a late
// wake-up does not lower the frame rate.
func (e *encoder) run(ctx context.Context, count func(captured, leftOut int)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := 0; ; i++ {
		due := e.start.Add(time.Duration(i) * time.Second / time.Duration(e.fps))
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		e.capture(time.Since(e.start))
		count(e.captured, e.leftOut)
	}
}

func (e *encoder) capture(at time.Duration) {
	e.captured++
	// Drawn for every frame, so that a leftOut one does not shift the rest.
	noise := math.Exp(sizeNoise*e.rng.NormFloat64() - sizeNoise*sizeNoise/2)
	if e.pacerDelay != nil && e.pacerDelay() > skipAbove {
		e.leftOut++

		return
	}
	link := float64(e.target()) / 8 / float64(e.fps) * noise
	packets := max(1, min(maxPackets, int(math.Ceil(link/(maxPayload+linkOverhead)))))
	media := max(packets*minPayload, int(link)-packets*linkOverhead)
	key := e.keyWanted() || e.frame == 0
	for i := range packets {
		size := media*(i+1)/packets - media*i/packets
		size = min(size, maxPayload)
		piece{e.frame, uint16(i), uint16(packets), key, at}.put(e.payload[:])
		// An error is the connection going down; the context tells when to
		// stop.
		_ = e.write(&rtp.Packet{
			Header: rtp.Header{
				Version: 2, Marker: i == packets-1, SequenceNumber: e.seq,
				Timestamp: uint32(at.Seconds() * videoClock),
			},
			Payload: e.payload[:size],
		})
		e.seq++
	}
	e.frame++
}

// trackWriter adapts a local track.
func trackWriter(t *webrtc.TrackLocalStaticRTP) func(*rtp.Packet) error {
	return func(p *rtp.Packet) error { return t.WriteRTP(p) }
}
