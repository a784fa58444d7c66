// SPDX-License-Identifier: MIT

//go:build codec

package sound

import (
	"errors"
	"fmt"

	"github.com/pion/mediadevices/pkg/codec"
	"github.com/pion/mediadevices/pkg/codec/opus"
	"github.com/pion/mediadevices/pkg/prop"
	"github.com/pion/mediadevices/pkg/wave"
)

// Opus is libopus. It is also the reader that libopus takes its block from.
type Opus struct {
	r     codec.ReadCloser
	chunk *wave.Float32Interleaved // nil: taken
}

// NewOpus makes an encoder of Bps, a packet for each block.
func NewOpus() (*Opus, error) {
	params, err := opus.NewParams()
	if err != nil {
		return nil, fmt.Errorf("sound: opus: %w", err)
	}
	params.BitRate, params.Latency = Bps, opus.Latency(BlockTime)
	o := &Opus{}
	o.r, err = params.BuildAudioEncoder(o, prop.Media{Audio: prop.Audio{ChannelCount: 1, SampleRate: Rate, Latency: BlockTime}})
	if err != nil {
		return nil, fmt.Errorf("sound: opus: %w", err)
	}

	return o, nil
}

var errRead = errors.New("sound: the encoder reads ahead")

// Read implements mediadevices' audio.Reader.
func (o *Opus) Read() (wave.Audio, func(), error) {
	c := o.chunk
	if o.chunk = nil; c == nil {
		return nil, func() {}, errRead
	}

	return c, func() {}, nil
}

// Encode implements Encoder.
func (o *Opus) Encode(block []float32) ([]byte, error) {
	o.chunk = &wave.Float32Interleaved{Data: block, Size: wave.ChunkInfo{Len: len(block), Channels: 1, SamplingRate: Rate}}
	data, _, err := o.r.Read()
	if err != nil {
		return nil, fmt.Errorf("sound: opus: %w", err)
	}

	return data, nil
}

// Close implements Encoder.
func (o *Opus) Close() error { return o.r.Close() }
