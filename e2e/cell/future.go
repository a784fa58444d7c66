// SPDX-License-Identifier: MIT

package cell

// BytesAt is the capacity of a millisecond since the start, in bytes, handovers
// and outages included; 0 before the start. It may lie in the future: for
// references that know more than a sender can. To look does not change what
// comes, except that the cell then knows its random handovers.
func (c *Cell) BytesAt(ms int64) int { return c.air.bytes(ms) }
