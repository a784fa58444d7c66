// SPDX-License-Identifier: MIT

package diag

import (
	"cmp"
	"errors"
	"slices"
)

// maxCodeStats bounds the counters against a stream of nonsense.
const maxCodeStats = 256

// Stats counts what a Decoder saw.
type Stats struct {
	FrameStats
	// Logs are log packets, Other frames with another command, Encrypted log
	// packets that the modem encrypts, Malformed frames whose log header is
	// not one.
	Logs, Other, Encrypted, Malformed uint64
	// Codes is by log code and version, ascending.
	Codes []CodeStats
}

// CodeStats counts the log packets of one code and version.
type CodeStats struct {
	Code LogCode
	// Version is the first byte of the body, -1 for encrypted packets and
	// empty bodies. For LTE MAC codes it is the container's.
	Version int
	// Packets is all, Records what was decoded from them.
	Packets, Records uint64
	// Unsupported packets have a code or version without a parser, Bad ones
	// contradict their format. Err is the last error of either.
	Unsupported, Bad uint64
	Err              error
}

// Decoder turns a diagnostic byte stream into records. What it cannot decode
// it skips and counts. The zero value is ready. Not safe for concurrent use.
type Decoder struct {
	deframer Deframer
	stats    Stats
	codes    map[codeVersion]*CodeStats
}

type codeVersion struct {
	code    LogCode
	version int
}

// Write adds bytes from the port; see [Deframer.Write].
func (d *Decoder) Write(p []byte) { d.deframer.Write(p) }

// Next appends the records of the next packet that has any to dst, or returns
// ErrMore. All records that it appends were logged at the same time.
func (d *Decoder) Next(dst []Record) ([]Record, error) {
	for {
		frame, err := d.deframer.Next()
		if err != nil {
			return dst, err
		}
		n := len(dst)
		if dst = d.frame(frame, dst); len(dst) > n {
			return dst, nil
		}
	}
}

func (d *Decoder) frame(frame []byte, dst []Record) []Record {
	p, err := ParseFrame(frame)
	switch {
	case errors.Is(err, ErrNotLog):
		d.stats.Other++

		return dst
	case errors.Is(err, ErrEncrypted):
		d.stats.Encrypted++
		if c := d.code(p); c != nil {
			c.Packets, c.Unsupported, c.Err = c.Packets+1, c.Unsupported+1, err
		}

		return dst
	case err != nil:
		d.stats.Malformed++

		return dst
	}
	d.stats.Logs++
	c := d.code(p)
	if c == nil {
		c = &CodeStats{} // one too many to count
	}
	c.Packets++
	if parserOf(p.Code) == nil {
		// Common with another tool's log mask: no new error for each.
		if c.Unsupported++; c.Err == nil {
			c.Err = &UnsupportedCodeError{Code: p.Code}
		}

		return dst
	}
	n := len(dst)
	dst, err = ParseLog(p, dst)
	c.Records += uint64(len(dst) - n)
	switch {
	case err == nil:
	case errors.Is(err, ErrTruncated), errors.Is(err, ErrMalformed):
		c.Bad, c.Err = c.Bad+1, err
	default:
		c.Unsupported, c.Err = c.Unsupported+1, err
	}

	return dst
}

// code returns the counter of a packet, nil when there are too many.
func (d *Decoder) code(p Packet) *CodeStats {
	key := codeVersion{p.Code, -1}
	if len(p.Body) > 0 {
		key.version = int(p.Body[0])
	}
	if c := d.codes[key]; c != nil {
		return c
	}
	if len(d.codes) >= maxCodeStats {
		return nil
	}
	if d.codes == nil {
		d.codes = make(map[codeVersion]*CodeStats)
	}
	c := &CodeStats{Code: key.code, Version: key.version}
	d.codes[key] = c

	return c
}

// Stats returns the counters.
func (d *Decoder) Stats() Stats {
	s := d.stats
	s.FrameStats = d.deframer.Stats()
	for _, c := range d.codes {
		s.Codes = append(s.Codes, *c)
	}
	slices.SortFunc(s.Codes, func(a, b CodeStats) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Version, b.Version))
	})

	return s
}
