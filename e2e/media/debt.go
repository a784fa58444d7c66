// SPDX-License-Identifier: MIT

package media

const (
	// transientScale is the first frame of a transient, in ordinary ones. RFC
	// 8593 table 1: 13.5 kB where B0 is 4.17 kB.
	transientScale = 13.5 / 4.17
	// transientFrames is how many frames together have the target's rate. RFC
	// 8593 table 1: K_d.
	transientFrames = 8
	// leastShare is what a frame keeps of its size however much there is to
	// pay back.
	leastShare = 0.25
)

// debt is what a large frame took in advance: the rate control of an encoder
// takes it from the following ones.
type debt struct {
	bytes float64
	left  int // frames
}

// owe adds what a frame takes in excess. A second's worth is the bound: nothing
// remembers longer.
func (d *debt) owe(bytes, second float64) {
	if bytes > 0 {
		d.bytes, d.left = min(d.bytes+bytes, second), transientFrames-1
	}
}

// pay returns what a frame of that size has to leave out.
func (d *debt) pay(size float64) float64 {
	if d.bytes <= 0 {
		return 0
	}
	// Evenly over the transient, RFC 8593 5.2; what is left over then, as fast
	// as it goes.
	share := min(d.bytes/float64(max(d.left, 1)), (1-leastShare)*size)
	d.bytes -= share
	d.left--

	return share
}
