// SPDX-License-Identifier: MIT

package media

// hysteresis is how much more than its minimum a layer needs to be added.
// libwebrtc: StableTargetRateExperiment, video.
const hysteresis = 1.2

// layers shares a target among encodings.
type layers struct {
	cfg []Layer
	top int // the highest that is sent
}

// allocate gives the target to the layers from the lowest: each gets what it
// aims at before the next gets its minimum, and the highest what is left.
// libwebrtc: SimulcastRateAllocator. It returns the sum of all and the share of
// the highest, and whether that is another than before.
func (l *layers) allocate(bps int) (total int, share float64, switched bool) {
	top, below, left := 0, 0, bps
	for k := 1; k < len(l.cfg); k++ {
		left -= l.cfg[k-1].TargetBps
		need := float64(l.cfg[k].MinBps)
		if k > l.top {
			need *= hysteresis
		}
		if float64(left) < need || left <= 0 {
			break
		}
		top, below = k, below+l.cfg[k-1].TargetBps
	}
	own := min(bps-below, l.cfg[top].MaxBps)
	total = below + own
	if total > 0 {
		share = float64(own) / float64(total)
	}
	switched, l.top = top != l.top, top

	return total, share, switched
}

// maxBps is what all layers together can use.
func (l *layers) maxBps() int {
	n := len(l.cfg)
	sum := l.cfg[n-1].MaxBps
	for _, c := range l.cfg[:n-1] {
		sum += c.TargetBps
	}

	return min(sum, maxRateBps)
}
