// SPDX-License-Identifier: MIT

package gbr

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// What is under way for long arrives at the rate of then: that the sender has
// given way meanwhile is no contradiction. A modem that tells of half, or a tenth,
// is caught whatever the way.
func TestCheckKnowsWhatIsUnderWay(t *testing.T) {
	const every, packets = 50 * time.Millisecond, 10
	for _, tc := range []struct {
		way, share float64 // s, of the grants that is told
		bad        bool
	}{
		{0.05, 1, false},
		{0.4, 1, false},
		{1.2, 1, false},
		{0.05, 0.5, true},
		{0.4, 0.5, true},
		{1.2, 0.1, true},
	} {
		var c check
		now, bad := time.Unix(1000, 0), false
		way := time.Duration(tc.way * float64(time.Second))
		packets := func(at time.Duration) int {
			if at > 0 && at%(4*time.Second) > 2*time.Second { // it gives way for two seconds
				return packets / 5
			}

			return packets
		}
		for at := time.Duration(0); at < 20*time.Second; at += every {
			now = now.Add(every)
			c.granted += tc.share * float64(packets(at)*1200)
			var results []gcc.PacketResult
			if at >= way {
				for range packets(at - way) {
					results = append(results, gcc.PacketResult{SentPacket: gcc.SentPacket{At: now.Add(-way), Size: 1200}, Received: true})
				}
			}
			c.onFeedback(now, results, 10e6)
			bad = bad || c.bad
		}
		if bad != tc.bad {
			t.Errorf("%.2f s under way, %.1f of the grants told: caught %t", tc.way, tc.share, bad)
		}
	}
}
