// SPDX-License-Identifier: MIT

package diag

import (
	"cmp"
	"errors"
	"slices"
)

const (
	// maxCodeStats bounds the counters against a stream of nonsense.
	maxCodeStats = 256
	// maxUnknown bounds the calls of OnUnknown for one code and version.
	maxUnknown = 4
)

// Stats counts what a Decoder saw. Every frame is in one of Logs, Other,
// Encrypted and Malformed, and every packet of Logs and Encrypted in Codes or,
// when there were too many codes, in Uncounted.
type Stats struct {
	FrameStats
	// Logs are log packets, Other frames with another command, Encrypted log
	// packets that the modem encrypts, Malformed frames whose log header is
	// not one.
	Logs, Other, Encrypted, Malformed uint64
	Uncounted                         uint64
	// Codes is by log code and version, ascending.
	Codes []CodeStats
}

// CodeStats counts the log packets of one code and version.
type CodeStats struct {
	Code LogCode
	// Version and Sub are those of Packet.Version; -1 is not there, as in
	// encrypted packets and empty bodies.
	Version, Sub int
	// Verified tells that the layout was checked against real captures; see
	// the function Verified.
	Verified bool
	// Packets is all, Records what was decoded from them.
	Packets, Records uint64
	// Unsupported packets have a code or version without a parser, Bad ones
	// contradict their format. Err is the last error of either. All other
	// packets were decoded.
	Unsupported, Bad uint64
	Err              error
}

// Decoder turns a diagnostic byte stream into records. What it cannot decode
// it skips and counts. The zero value is ready and reads FormatHDLC. Not safe
// for concurrent use.
type Decoder struct {
	// Format is set before the first Write.
	Format Format
	// Buffers asks for the KindBuffer records of B066 too, 1000 a second; by
	// default its packets are checked and counted alone.
	Buffers bool
	// OnLog, unless nil, is called with every log packet before it is decoded:
	// for what is no record, such as RRC messages. p.Body is valid until it
	// returns.
	OnLog func(p Packet)
	// OnUnknown, unless nil, is called with packets that were not decoded and
	// why, the first few of each code and version: what a bug report needs.
	// p.Body is valid until it returns and at most 64 KiB.
	OnUnknown func(p Packet, err error)
	// Neither is called for codes that Forbidden names.

	split   Splitter
	started bool
	stats   Stats
	codes   map[codeVersion]*CodeStats
}

type codeVersion struct {
	code         LogCode
	version, sub int
}

// Write adds bytes from the port or file; see [Splitter.Write].
func (d *Decoder) Write(p []byte) {
	if !d.started { // later the splitter's own may differ: QMDL2 becomes what is inside
		d.started, d.split.Format = true, d.Format
	}
	d.split.Write(p)
}

// Next appends the records of the next packet that has any to dst, or returns
// ErrMore. All records that it appends were logged at the same time.
func (d *Decoder) Next(dst []Record) ([]Record, error) {
	for {
		p, err := d.split.Next()
		if err != nil && errors.Is(err, ErrMore) {
			return dst, err
		}
		n := len(dst)
		if dst = d.decode(p, err, dst); len(dst) > n {
			return dst, nil
		}
	}
}

// Frame appends the records of one frame that came without the framing that
// Write expects, and counts it.
func (d *Decoder) Frame(frame []byte, dst []Record) []Record {
	d.split.stats.Frames++
	p, err := ParseFrame(frame)

	return d.decode(p, err, dst)
}

// decode counts a frame and appends what the packet has; err is ParseFrame's.
func (d *Decoder) decode(p Packet, err error, dst []Record) []Record {
	switch {
	case err == nil:
		d.stats.Logs++
	case errors.Is(err, ErrNotLog):
		d.stats.Other++

		return dst
	case errors.Is(err, ErrEncrypted):
		d.stats.Encrypted++
		d.skip(p, d.code(p), err)

		return dst
	default:
		d.stats.Malformed++

		return dst
	}
	c := d.code(p)
	if d.OnLog != nil && !Forbidden(p.Code) {
		d.OnLog(p)
	}
	if parserOf(p.Code) == nil {
		// Common with another tool's log mask: no new error for each.
		if err = c.Err; err == nil {
			err = &UnsupportedCodeError{Code: p.Code}
		}
		d.skip(p, c, err)

		return dst
	}
	n := len(dst)
	if p.Code == LogB066 && !d.Buffers {
		err = WalkB066(p, func(B066) {})
	} else {
		dst, err = ParseLog(p, dst)
	}
	c.Records += uint64(len(dst) - n)
	if err != nil {
		d.skip(p, c, err)
	}

	return dst
}

// skip counts a packet that was not decoded.
func (d *Decoder) skip(p Packet, c *CodeStats, err error) {
	c.Err = err
	if errors.Is(err, ErrTruncated) || errors.Is(err, ErrMalformed) {
		c.Bad++
	} else {
		c.Unsupported++
	}
	if d.OnUnknown != nil && c.Unsupported+c.Bad <= maxUnknown && !Forbidden(p.Code) {
		d.OnUnknown(p, err)
	}
}

// code returns the counter of a packet and counts it there. There is one for
// all that are too many, whose content is of no use.
func (d *Decoder) code(p Packet) *CodeStats {
	key := codeVersion{code: p.Code}
	key.version, key.sub = p.Version()
	c := d.codes[key]
	switch {
	case c != nil:
	case len(d.codes) >= maxCodeStats:
		d.stats.Uncounted++

		return &CodeStats{Unsupported: maxUnknown} // and no calls of OnUnknown
	default:
		version := key.version
		if key.sub >= 0 {
			version = key.sub
		}
		c = &CodeStats{
			Code: key.code, Version: key.version, Sub: key.sub,
			Verified: version >= 0 && Verified(key.code, uint32(version)),
		}
		if d.codes == nil {
			d.codes = make(map[codeVersion]*CodeStats)
		}
		d.codes[key] = c
	}
	c.Packets++

	return c
}

// Stats returns the counters.
func (d *Decoder) Stats() Stats {
	s := d.stats
	s.FrameStats = d.split.Stats()
	for _, c := range d.codes {
		s.Codes = append(s.Codes, *c)
	}
	slices.SortFunc(s.Codes, func(a, b CodeStats) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Sub, b.Sub))
	})

	return s
}
