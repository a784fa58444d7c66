// SPDX-License-Identifier: MIT

package gbr

import "testing"

// Frames are no whole number of milliseconds apart, and leave in bursts: whatever
// the phases of frames, reports and clock, none of them makes a shift by a frame
// fit better than the true one. (Reports in step with the frames cannot tell more than
// within their distance.)
func TestOffsetBetweenMilliseconds(t *testing.T) {
	t.Parallel()
	for _, interval := range []int64{10_000, 33_333, 33_667, 16_667, 40_000} {
		for _, group := range []int64{1, 6, 30} { // packets that leave at once
			for phase := int64(0); phase < 5000; phase += 700 { // of frames against reports
				for ahead := int64(-500); ahead < 500; ahead += 200 {
					o, worst, lost := &offset{}, 0.0, 0
					paced(o, interval, group, phase, ahead, func(now int64) {
						if off := o.best - float64(ahead); now > 2_000_000 && (off > 6000+worst || off < -6000-worst) {
							worst = max(off, -off) - 6000
						}
						if now > 2_000_000 && !o.known() {
							lost++
						}
					})
					if worst > 0 || lost > 0 {
						t.Errorf("frames each %d µs, %d packets at once, from %d µs on, clock ahead by %d µs: off by up to %.1f ms, not known at %d reports",
							interval, group, phase, ahead, 6+worst/1000, lost)
					}
				}
			}
		}
	}
}

// paced runs 8 s of equal frames through a phone that gets rid of 400 bytes a ms and
// reports, by bins of 17 %, each 5 ms in which it has something.
func paced(o *offset, interval, group, phase, ahead int64, look func(now int64)) {
	const packet, share, pace, latency = 1158, 95, 900, 4000 // a frame has 95 % of what the radio takes
	var queue, granted, told int64
	packets := interval * 400 * share / 100 / 1000 / packet
	next, left := int64(1_000_000)+phase, packets
	type report struct {
		due int64
		r   twinReport
		in  int64
	}
	var late []report
	for now := int64(1_000_000); now < 9_000_000; now += 100 {
		for next <= now {
			n := min(group, left)
			for range n {
				o.onSent(next, packet)
				queue += packet
			}
			if next, left = next+n*pace, left-n; left == 0 {
				next, left = next-packets*pace+interval, packets
			}
		}
		if now%1000 == 0 {
			g := min(queue, 400)
			queue -= g
			granted += g
		}
		if now%5000 == 0 && queue > 0 {
			low := int64(10)
			for low*117/100 < queue {
				low = low*117/100 + 1
			}
			late = append(late, report{now + latency, twinReport{at: now + ahead, low: low, high: low * 117 / 100}, granted})
		}
		for len(late) > 0 && late[0].due <= now {
			o.heard(now, late[0].r.at)
			o.onReport(&late[0].r, late[0].in-told)
			told, late = late[0].in, late[1:]
			look(now)
		}
	}
}
