// SPDX-License-Identifier: MIT

package diag

import "encoding/hex"

// Every log code has a value type with all that its layout tells (B139, B064,
// ...; JSON names are lower case, "k" names the type) and a function that walks
// through a packet's samples:
//
//	func WalkB139(p Packet, fn func(B139)) error
//
// ParseLog makes its records in such a callback and Details collects the values
// themselves: one decoder, two uses. A walk does not allocate; byte slices in
// the values belong to the packet's body. On error fn may have been called for
// samples before the bad one; callers drop them, as ParseLog and Details do.

// collector appends the samples of a packet to dst.
type collector func(p Packet, dst []any) ([]any, error)

// collect makes a collector of a walk.
func collect[T any](walk func(Packet, func(T)) error) collector {
	return func(p Packet, dst []any) ([]any, error) {
		err := walk(p, func(v T) { dst = append(dst, v) })

		return dst, err
	}
}

// collectorOf is the registry of walks, beside parserOf.
func collectorOf(code LogCode) collector {
	switch code {
	case LogB060:
		return collect(WalkB060)
	case LogB064:
		return collect(WalkB064)
	case LogB066:
		return collect(WalkB066)
	case LogB067:
		return collect(WalkB067)
	case LogB0C0:
		return collect(WalkB0C0)
	case LogB139:
		return collect(WalkB139)
	case LogB16C:
		return collect(WalkB16C)
	case LogB821:
		return collect(WalkB821)
	case LogB872:
		return collect(WalkB872)
	case LogB873:
		return collect(WalkB873)
	case LogB881:
		return collect(WalkB881)
	case LogB883:
		return collect(WalkB883)
	case LogB885:
		return collect(WalkB885)
	default:
		return nil
	}
}

// Details returns every sample of a packet with all its fields: values of the
// type that the log code has, such as B139. They hold parts of p.Body. The
// errors are those of ParseLog. It allocates: it is for tools.
func Details(p Packet) ([]any, error) {
	walk := collectorOf(p.Code)
	if walk == nil {
		return nil, &UnsupportedCodeError{Code: p.Code}
	}
	out, err := walk(p, nil)
	if err != nil {
		return nil, err
	}

	return out, nil
}

// Hex is bytes of a packet; JSON shows them in hexadecimal.
type Hex []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode([]byte{}, h), nil }

// bits returns width bits of word from shift on.
func bits[T uint8 | uint16 | uint32 | uint64](word T, shift, width uint) T {
	return word >> shift & (1<<width - 1)
}
