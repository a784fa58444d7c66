// SPDX-License-Identifier: MIT

package sound

import (
	"context"
	"time"
)

// The format of all sound: one channel of float samples at 48 kHz, the clock of
// Opus in RTP (RFC 7587 section 4.1), in blocks of 20 ms, a packet each.
const (
	Rate         = 48_000
	BlockTime    = 20 * time.Millisecond
	BlockSamples = int(Rate * BlockTime / time.Second)
)

// Rates in bit/s: of Opus, and with all headers on the link, where a packet of
// whatever kind has 50 bytes of them, as in package video.
const (
	Bps     = 32_000
	LinkBps = Bps + overhead*8*int(time.Second/BlockTime)

	overhead = 50
)

// Source is sound, in real time.
type Source interface {
	// Read fills a block of BlockSamples and tells when its first sample was
	// captured. It waits for them, until ctx ends.
	Read(ctx context.Context, block []float32) (captured time.Time, err error)
}

// Encoder is a codec at work. The bytes of a block are valid until the next call.
type Encoder interface {
	Encode(block []float32) ([]byte, error)
	Close() error
}

// Packet is an encoded block. Data is the encoder's, and valid until the next one.
type Packet struct {
	Captured time.Time
	Data     []byte
}

// Run encodes what a source has until ctx ends, which is no error. An error of write
// ends it too.
func Run(ctx context.Context, s Source, e Encoder, write func(Packet) error) error {
	block := make([]float32, BlockSamples)
	for ctx.Err() == nil {
		captured, err := s.Read(ctx, block)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err != nil:
			continue
		}
		data, err := e.Encode(block)
		if err != nil {
			return err
		}
		if err := write(Packet{captured, data}); err != nil {
			return err
		}
	}

	return nil
}
