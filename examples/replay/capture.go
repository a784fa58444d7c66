// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"io"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/diag/rrc"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// readBytes is how much of a file is decoded at a time.
const readBytes = 64 << 10

// rrcFound is what became of a packet's RRC message.
type rrcFound struct {
	configs []rrc.Config
	err     error
}

// capture runs a modem's bytes through the decoder and the assembler, as an agent
// does, on the clock of the log.
type capture struct {
	f     *facts
	sink  *sink
	clock timeline

	dec diag.Decoder
	// tail cuts the same bytes: what it has left at the end of the file is
	// an unfinished packet.
	tail diag.Splitter
	rrc  diag.RRCConfigs
	asm  *ratio.Assembler

	config gbr.RadioConfig
	batch  batch
	recs   []diag.Record // of RRC messages
	err    error         // of the sink
}

func newCapture(f *facts, s *sink) *capture {
	// The zero configuration is a valid one.
	asm, _ := ratio.New(ratio.Config{})
	c := &capture{f: f, sink: s, asm: asm, config: gbr.RadioConfig{PCI: -1}}
	c.dec = diag.Decoder{Format: f.in.format, Buffers: true, OnLog: c.packet}
	c.tail = diag.Splitter{Format: f.in.format}

	return c
}

func (c *capture) read(in *input) error {
	buf := make([]byte, readBytes)
	var recs []diag.Record
	for {
		n, err := in.r.Read(buf)
		c.f.bytes += int64(n)
		c.dec.Write(buf[:n])
		c.skipTail(buf[:n])
		for {
			var more error
			recs, more = c.dec.Next(recs[:0])
			if len(recs) > 0 {
				c.records(recs)
			}
			if c.err != nil {
				return c.err
			}
			if more != nil {
				break // it needs more bytes
			}
		}
		if errors.Is(err, io.EOF) {
			return c.finish(in)
		}
		if err != nil {
			return in.readError(err)
		}
	}
}

func (c *capture) skipTail(b []byte) {
	c.tail.Write(b)
	for {
		if _, err := c.tail.Next(); errors.Is(err, diag.ErrMore) {
			return
		}
	}
}

func (c *capture) finish(in *input) error {
	c.f.diag, c.f.tail, c.f.ratio, c.f.clock = c.dec.Stats(), c.tail.Pending(), c.asm.Stats(), c.clock
	if c.f.diag.Logs+c.f.diag.Encrypted == 0 {
		return in.errorf("no log packet in %d frames of a %s", c.f.diag.Frames, in.what())
	}

	return nil
}

// packet is called with every log packet, before its records.
func (c *capture) packet(p diag.Packet) {
	c.clock.at(p.Logged.Time())
	var found rrcFound
	c.recs, found.configs, found.err = c.rrc.OnPacket(p, c.recs[:0])
	if p.Code == diag.LogB0C0 || p.Code == diag.LogB821 {
		c.f.walked(p.Radio, found)
	}
	if c.sink.packet != nil && c.err == nil {
		c.err = c.sink.packet(p, found)
	}
	if len(c.recs) > 0 {
		c.records(c.recs)
	}
}

// records takes in the records of one log packet.
func (c *capture) records(recs []diag.Record) {
	at := c.clock.at(recs[0].Logged.Time())
	c.silence(at)
	c.f.records(at, recs)
	c.give(at, c.asm.OnRecords(at, recs))
}

// silence tells the assembler of the time until now.
func (c *capture) silence(now time.Time) {
	var last time.Time
	for {
		next := c.asm.NextTimeout()
		if next.IsZero() || next.After(now) || !last.IsZero() && !next.After(last) {
			return
		}
		last = next
		c.give(next, c.asm.OnTimeout(next))
	}
}

func (c *capture) give(now time.Time, t gbr.Telemetry) {
	if c.err != nil {
		return
	}
	c.batch.take(now, t, c.clock.start, &c.config)
	c.err = c.sink.give(&c.batch)
}
