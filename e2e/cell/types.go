// SPDX-License-Identifier: MIT

package cell

import (
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Packet is one IP packet. The cell looks at Size alone.
type Packet struct {
	// ID is the caller's own mark.
	ID int64
	// Size is the bytes on the link, IP header included.
	Size int
	// Payload is carried along untouched.
	Payload []byte
}

// Delivery is a packet that reached the far end of the path.
type Delivery struct {
	Packet
	// Queued is when it entered the phone, LeftPhone when its last byte was
	// sent on the radio, At when it arrived.
	Queued, LeftPhone, At time.Time
}

// TimedRecord is a modem record at the moment a reader of the modem's
// diagnostic port has it.
type TimedRecord struct {
	At time.Time
	diag.Record
}

// Output is what happened during one Advance. Its slices are valid until the
// next call.
type Output struct {
	// Delivered is in the order of arrival.
	Delivered []Delivery
	// Dropped lost packets: a full phone buffer or backhaul, or random loss.
	Dropped []Packet
	// Records is the telemetry as decoded records (Config.Telemetry.Encoded
	// false), Diag the same as the HDLC byte stream of a diagnostic port
	// (true); each chunk with the moment a reader has it.
	Records []TimedRecord
	Diag    []Chunk
}

// Chunk is a piece of the diagnostic byte stream.
type Chunk struct {
	At    time.Time
	Bytes []byte
}
