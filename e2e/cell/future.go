// SPDX-License-Identifier: MIT

package cell

import "time"

// BytesAt is the capacity of a millisecond since the start, in bytes, handovers
// and outages included; 0 before the start. It may lie in the future: for
// references that know more than a sender can. To look does not change what
// comes, except that the cell then knows its random handovers.
func (c *Cell) BytesAt(ms int64) int {
	at := time.Duration(ms) * time.Millisecond
	return c.air.meanBps(at, at+time.Millisecond) / 8000
}

// PathBacklog is the bytes in the queue of the bottleneck behind the radio.
func (c *Phone) PathBacklog() int { return c.path.backlog(c.now) }
