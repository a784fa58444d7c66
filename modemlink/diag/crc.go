// SPDX-License-Identifier: MIT

package diag

// crc16 is CRC-16/X-25: reflected polynomial 0x8408, initial value and final
// XOR 0xFFFF. The step per byte is the polynomial x^16+x^12+x^5+1 written out,
// which needs no table.
func crc16(p []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, b := range p {
		x := b ^ byte(crc)
		x ^= x << 4
		crc = crc>>8 ^ uint16(x)<<8 ^ uint16(x)<<3 ^ uint16(x)>>4
	}

	return ^crc
}
