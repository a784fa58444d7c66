// SPDX-License-Identifier: MIT

package gcc

// goog_cc: probe_bitrate_estimator.
const (
	probeMinShare      = 0.8 // of packets and of bytes
	probeMinCluster    = 4   // packets
	probeMaxIntervalUs = 1_000_000
	probeMaxRatio      = 2.0
	// Below this ratio of sending and arrival time the probe has found the path's
	// capacity; a little less than that is safe.
	probeUnsaturated = 0.9
	probeUtilisation = 0.95

	probeClusters = 8 // remembered at the same time
)

// probeRate turns the arrivals of probe clusters into rates.
type probeRate struct {
	any      bool                         // a cluster was expected
	clusters [probeClusters]probeArrivals // by id
}

// probeArrivals is what is known of one cluster.
type probeArrivals struct {
	cluster                      ProbeCluster
	packets                      int
	bytes                        int64
	firstSent, lastSent          int64
	firstArrival, lastArrival    int64
	sizeLastSent, sizeFirstArrvd int
	said                         float64 // the highest result yet
}

// expect takes a cluster that is going to be sent.
func (p *probeRate) expect(c ProbeCluster) {
	p.any = true
	p.clusters[c.ID%probeClusters] = probeArrivals{cluster: c}
}

// forget makes everything that is under way void.
func (p *probeRate) forget() {
	if p.any { // it is called with every sample, and there seldom is something
		*p = probeRate{}
	}
}

// probeResult is what a cluster measured.
type probeResult struct {
	id  int
	bps float64 // 0 is no result
	// saturated: this is what the path carries. Otherwise it carries at least
	// that.
	saturated bool
}

// add takes a packet that arrived, once each. It is ok when the packet's cluster
// says a rate by now.
func (p *probeRate) add(s sample) (r probeResult, ok bool) {
	if s.probe <= 0 {
		return r, false
	}
	c := &p.clusters[s.probe%probeClusters]
	if c.cluster.ID != s.probe {
		return r, false
	}
	if c.packets == 0 || s.sentUs < c.firstSent {
		c.firstSent = s.sentUs
	}
	if c.packets == 0 || s.sentUs >= c.lastSent {
		c.lastSent, c.sizeLastSent = s.sentUs, s.size
	}
	if c.packets == 0 || s.arrivalUs < c.firstArrival {
		c.firstArrival, c.sizeFirstArrvd = s.arrivalUs, s.size
	}
	if c.packets == 0 || s.arrivalUs > c.lastArrival {
		c.lastArrival = s.arrivalUs
	}
	c.packets++
	c.bytes += int64(s.size)

	// Deviation: goog_cc takes each result of a cluster whose packets come in
	// several reports. One of its last packets that is late lowers what the others
	// have shown.
	if r, ok = c.rate(); !ok || r.bps <= c.said {
		return probeResult{}, false
	}
	c.said = r.bps

	return r, true
}

func (c *probeArrivals) rate() (r probeResult, ok bool) {
	if c.packets < probeMinCluster || float64(c.packets) < probeMinShare*float64(c.cluster.MinPackets) ||
		float64(c.bytes) < probeMinShare*float64(c.cluster.MinBytes) {
		return r, false
	}
	sendUs, recvUs := c.lastSent-c.firstSent, c.lastArrival-c.firstArrival
	if sendUs <= 0 || sendUs > probeMaxIntervalUs || recvUs <= 0 || recvUs > probeMaxIntervalUs {
		return r, false
	}
	// The last packet's sending and the first one's arrival lie outside of the
	// two intervals.
	send := float64(c.bytes-int64(c.sizeLastSent)) * 8e6 / float64(sendUs)
	recv := float64(c.bytes-int64(c.sizeFirstArrvd)) * 8e6 / float64(recvUs)
	// Deviation: goog_cc compares the two rates. They leave out different
	// packets, so a burst that begins with a large one and ends with a small one
	// always looks slowed down. The intervals are of the same packets.
	ratio := float64(sendUs) / float64(recvUs)
	switch {
	case ratio > probeMaxRatio:
		return r, false
	case ratio < probeUnsaturated:
		return probeResult{c.cluster.ID, probeUtilisation * recv, true}, true
	default:
		return probeResult{c.cluster.ID, send * min(ratio, 1), false}, true
	}
}
