// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/binary"
	"encoding/json"
)

// B066 is one sample of log code 0xB066, the LTE uplink buffer status inside
// the phone: what waits on each logical channel, not quantised, 40 samples a
// packet, one a millisecond. The newest is at most 1 ms old when the packet is
// written. It is what the phone has, not what it told the base station.
type B066 struct {
	K          string `json:"k"`
	SubVersion uint8  `json:"subver"`
	// Index is the sub id, of sub-version 24 alone.
	Index uint8 `json:"sub_id"`
	// SFN 1023 with SF 15 marks a millisecond without a transmission.
	SFN uint16 `json:"sfn"`
	SF  uint8  `json:"sf"`
	// TTI is SFN*10+subframe: of the sample itself, else counted from the last
	// sample of the packet that has a time, or the first one after; -1 when
	// none has.
	TTI int `json:"tti"`
	// AgeMs is milliseconds before the packet's last sample.
	AgeMs int `json:"age_ms"`
	// Channels are the logical channels, in the packet's order.
	Channels B066Channels `json:"lc"`
}

// B066Channels is the channels of a sample; they belong to the packet's body.
type B066Channels struct {
	b   []byte
	sub uint8
}

// B066Channel is the queue of one logical channel, bytes.
type B066Channel struct {
	// LCID 0 to 2 is signalling.
	LCID, Priority uint8
	// New is data never sent; NewRaw the same before header compression (of
	// sub-version 3 the only one there is). Retx is data to send again.
	NewRaw, New, Retx uint32
	// Control is RLC status PDUs.
	Control uint16
}

// Total is what the channel has to send.
func (c B066Channel) Total() int {
	fresh := c.New
	if fresh == 0 {
		fresh = c.NewRaw
	}

	return int(fresh) + int(c.Retx) + int(c.Control)
}

// Len is the number of channels.
func (c B066Channels) Len() int { return len(c.b) / b066Row(c.sub) }

// At returns channel i.
func (c B066Channels) At(i int) B066Channel {
	b := c.b[i*b066Row(c.sub):]
	ch := B066Channel{LCID: b[0], Priority: b[1], NewRaw: binary.LittleEndian.Uint32(b[2:])}
	if c.sub == b066Short {
		ch.New = ch.NewRaw
		ch.Retx, ch.Control = binary.LittleEndian.Uint32(b[6:]), binary.LittleEndian.Uint16(b[10:])

		return ch
	}
	ch.New = binary.LittleEndian.Uint32(b[6:])
	ch.Retx, ch.Control = binary.LittleEndian.Uint32(b[10:]), binary.LittleEndian.Uint16(b[14:])

	return ch
}

// MarshalJSON gives rows of LCID, priority, new before and after compression
// (once in sub-version 3), retransmissions, control.
func (c B066Channels) MarshalJSON() ([]byte, error) {
	rows := make([][]uint32, c.Len())
	for i := range rows {
		ch := c.At(i)
		rows[i] = []uint32{uint32(ch.LCID), uint32(ch.Priority), ch.NewRaw, ch.New, ch.Retx, uint32(ch.Control)}
		if c.sub == b066Short {
			rows[i] = append(rows[i][:2], rows[i][3:]...)
		}
	}

	return json.Marshal(rows)
}

const (
	b066ID = 10
	// Bytes of a channel.
	b066ShortRow, b066LongRow = 12, 16
	// b066Short is the sub-version with one figure for new data.
	b066Short = 3
	// b066Indexed is the sub-version whose samples begin with a sub id.
	b066Indexed = 24
	// b066Idle is SFN 1023 and subframe 15.
	b066Idle = 1023<<4 | 15
	// srbMax is the last LCID of signalling, TS 36.321 6.2.1.
	srbMax = 2
)

// b066Row is the bytes of a channel.
func b066Row(sub uint8) int {
	if sub == b066Short {
		return b066ShortRow
	}

	return b066LongRow
}

// b066Head is the bytes in front of a sample's channels: [sub id], time, number.
func b066Head(sub uint8) int {
	if sub == b066Indexed {
		return 4
	}

	return 3
}

// WalkB066 calls fn for each sample of a B066 packet.
func WalkB066(p Packet, fn func(B066)) error {
	return macSubs(p, b066ID, func(s macSub) error { return walkB066Sub(p, s, fn) })
}

func walkB066Sub(p Packet, s macSub, fn func(B066)) error {
	switch s.version {
	case b066Short, 5, b066Indexed:
	default:
		return unsupportedSub(p, s)
	}
	if len(s.body) < 1 {
		return truncated(p.Code, "number of samples")
	}
	n, b := int(s.body[0]), s.body[1:]
	tti, err := b066Start(p, b, s.version, n)
	if err != nil {
		return err
	}
	head, row := b066Head(s.version), b066Row(s.version)
	for i := range n {
		end := head + int(b[head-1])*row // b066Start has seen that it is there
		v := B066{
			K: "b066", SubVersion: s.version, AgeMs: n - 1 - i, Channels: B066Channels{b[head:end:end], s.version},
		}
		if s.version == b066Indexed {
			v.Index = b[0]
		}
		w := binary.LittleEndian.Uint16(b[head-3:])
		v.SFN, v.SF = sfnSubframe(w)
		if w&b066Idle != b066Idle {
			tti = int(v.SFN)*10 + int(v.SF)
		}
		v.TTI = tti
		fn(v)
		if tti >= 0 {
			if tti++; tti == ttiWrap {
				tti = 0
			}
		}
		b = b[end:]
	}

	return nil
}

// b066Start checks the samples and counts back from the first that has a time
// to the TTI of sample 0; -1 if none has.
func b066Start(p Packet, b []byte, sub uint8, n int) (int, error) {
	tti, head, row := -1, b066Head(sub), b066Row(sub)
	for i := range n {
		if len(b) < head {
			return 0, truncated(p.Code, "sample")
		}
		end := head + int(b[head-1])*row
		if len(b) < end {
			return 0, truncated(p.Code, "channels")
		}
		if w := binary.LittleEndian.Uint16(b[head-3:]); w&b066Idle != b066Idle {
			sfn, sf := sfnSubframe(w)
			if sf > maxSubframe {
				return 0, malformed(p.Code, "subframe", int(sf))
			}
			if tti < 0 {
				tti = (int(sfn)*10 + int(sf) - i + ttiWrap) % ttiWrap
			}
		}
		b = b[end:]
	}
	if len(b) > macPad {
		return 0, malformed(p.Code, "bytes after the samples", len(b))
	}

	return tti, nil
}

func parseB066(p Packet, dst []Record) ([]Record, error) {
	err := WalkB066(p, func(v B066) {
		dst = append(dst, Record{})
		r := &dst[len(dst)-1]
		r.Code, r.Kind, r.RAT, r.Radio, r.Logged = p.Code, KindBuffer, LTE, p.Radio, p.Logged
		r.TTI, r.AgeMs = v.TTI, v.AgeMs
		r.Queued, r.Signalling = v.Channels.total()
	})

	return dst, err
}

// total sums Total over the channels, and over those of signalling.
func (c B066Channels) total() (all, signalling int) {
	row := b066Row(c.sub)
	for b := c.b; len(b) >= row; b = b[row:] {
		n := int(binary.LittleEndian.Uint32(b[2:])) // before compression
		rest := b[6:row:row]
		if row != b066ShortRow {
			if compressed := int(binary.LittleEndian.Uint32(rest)); compressed != 0 {
				n = compressed
			}
			rest = rest[4:]
		}
		n += int(binary.LittleEndian.Uint32(rest)) + int(binary.LittleEndian.Uint16(rest[4:]))
		all += n
		if b[0] <= srbMax {
			signalling += n
		}
	}

	return all, signalling
}
