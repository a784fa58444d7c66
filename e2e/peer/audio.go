// SPDX-License-Identifier: MIT

package peer

import (
	"context"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/qoe"
)

// audioClock is RTP's for Opus, RFC 7587 4.1.
const audioClock = 48000

// Audio is the way of sound into a call, for Config.Audio. It is not safe for
// concurrent use.
type Audio struct {
	call  *Call
	write func(*rtp.Packet) error
	seq   uint16
}

// Start is the zero of the times of capture.
func (a *Audio) Start() time.Time { return a.call.start }

// Write sends a packet of Opus. captured is the time of its first sample; what was
// heard before the start is left out. An error is the connection going down.
func (a *Audio) Write(data []byte, captured time.Duration) error {
	if captured < 0 {
		return nil
	}
	err := a.write(&rtp.Packet{
		Header:  rtp.Header{Version: 2, SequenceNumber: a.seq, Timestamp: uint32(captured * audioClock / time.Second)},
		Payload: data,
	})
	a.seq++

	return err
}

// AudioStats is what was heard so far. Delays are from the capture of a packet's
// first sample to its arrival, its own length included.
type AudioStats struct {
	// Packets arrived; Lost are those before the newest that did not, or not yet.
	Packets, Lost          int
	DelayMsP50, DelayMsP95 float64
	DelayMsMax             float64
}

// ear takes the sound that arrives. A call's times are those of its packets for the
// first 24 hours.
type ear struct {
	mu      sync.Mutex
	start   time.Time
	delay   qoe.Series
	max     float64
	packets int
	first   uint16
	newest  int // since the first
}

// listen reads the sound.
func (c *Call) listen(ctx context.Context, tracks <-chan *webrtc.TrackRemote, received func(*rtp.Packet)) {
	var t *webrtc.TrackRemote
	select {
	case t = <-tracks:
	case <-ctx.Done():
		return
	}
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		if received != nil {
			received(p)
		}
		c.ear.onPacket(time.Now(), p)
	}
}

func (e *ear) onPacket(now time.Time, p *rtp.Packet) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.packets++; e.packets == 1 {
		e.first = p.SequenceNumber
	}
	// The nearest number to the newest one.
	e.newest = max(e.newest, e.newest+int(int16(p.SequenceNumber-e.first-uint16(e.newest))))
	d := (now.Sub(e.start).Seconds() - float64(p.Timestamp)/audioClock) * 1000
	e.delay.Add(d)
	e.max = max(e.max, d)
}

func (e *ear) stats() AudioStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := AudioStats{Packets: e.packets}
	if e.packets > 0 {
		s.Lost = max(e.newest+1-e.packets, 0)
		s.DelayMsP50, s.DelayMsP95, s.DelayMsMax = e.delay.Quantile(0.50), e.delay.Quantile(0.95), e.max
	}

	return s
}
