// SPDX-License-Identifier: MIT

package qoe

import (
	"slices"
	"time"
)

const (
	packetsMax = 1 << 13 // per frame
	partsMax   = bufferMax
)

// PacketInfo is a packet of a frame, for [Receiver.OnPacket].
type PacketInfo struct {
	// Frame is the ID of the frame, see [FrameInfo].
	Frame int64
	// Index, 0..Count-1, is the packet's place among the Count packets of the
	// frame. Count is at most 8192.
	Index, Count int
	// RTPTimestamp is of the 90 kHz clock.
	RTPTimestamp uint32
	// KeyFrame and DecodableWithoutPrevious are of the frame.
	KeyFrame, DecodableWithoutPrevious bool
	// Size is the payload in bytes.
	Size int
	// Retransmitted packets were asked for at least once.
	Retransmitted bool
}

// assembler makes frames of packets.
type assembler struct {
	parts []part // by ID
	spare [][]uint64
}

// part is a frame some of whose packets are here.
type part struct {
	info        FrameInfo
	first, last time.Duration
	count, have int
	seen        []uint64 // bits
}

// add takes a packet and returns the frame if that is complete.
func (a *assembler) add(now time.Duration, p PacketInfo) (f bufferedFrame, complete bool) {
	if p.Count < 1 || p.Count > packetsMax || p.Index < 0 || p.Index >= p.Count {
		return bufferedFrame{}, false
	}
	i, ok := slices.BinarySearchFunc(a.parts, p.Frame, func(f part, id int64) int {
		switch {
		case f.info.ID < id:
			return -1
		case f.info.ID > id:
			return 1
		default:
			return 0
		}
	})
	if !ok {
		if len(a.parts) >= partsMax {
			if i == 0 { // older than all
				return bufferedFrame{}, false
			}
			a.remove(0)
			i--
		}
		a.parts = slices.Insert(a.parts, i, a.begin(now, p))
	}
	f0 := &a.parts[i]
	if p.Count != f0.count || f0.seen[p.Index/64]&(1<<(p.Index%64)) != 0 {
		return bufferedFrame{}, false
	}
	f0.seen[p.Index/64] |= 1 << (p.Index % 64)
	f0.have++
	f0.last = now
	f0.info.Size += min(max(p.Size, 0), sizeMax)
	f0.info.KeyFrame = f0.info.KeyFrame || p.KeyFrame
	f0.info.DecodableWithoutPrevious = f0.info.DecodableWithoutPrevious || p.DecodableWithoutPrevious
	f0.info.Retransmitted = f0.info.Retransmitted || p.Retransmitted
	if f0.have < f0.count {
		return bufferedFrame{}, false
	}
	f = bufferedFrame{FrameInfo: f0.info, first: f0.first, last: f0.last}
	f.Size = min(f.Size, sizeMax)
	a.remove(i)

	return f, true
}

func (a *assembler) begin(now time.Duration, p PacketInfo) part {
	f := part{info: FrameInfo{ID: p.Frame, RTPTimestamp: p.RTPTimestamp, Complete: true}, first: now, count: p.Count}
	if n := len(a.spare); n > 0 {
		f.seen = a.spare[n-1][:0]
		a.spare = a.spare[:n-1]
	}
	for range (p.Count + 63) / 64 {
		f.seen = append(f.seen, 0)
	}

	return f
}

func (a *assembler) remove(i int) {
	a.spare = append(a.spare, a.parts[i].seen)
	a.parts = slices.Delete(a.parts, i, i+1)
}

// forget removes frames up to an ID: they are too late.
func (a *assembler) forget(id int64) {
	for len(a.parts) > 0 && a.parts[0].info.ID <= id {
		a.remove(0)
	}
}
