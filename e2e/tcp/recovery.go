// SPDX-License-Identifier: MIT

package tcp

// reduction spreads a smaller window over a recovery: proportional rate
// reduction, RFC 6937 3, in segments. Which of its two bounds is right below
// the new window: slow start while what was sent since gets through, else
// packet conservation; draft-ietf-tcpm-prr-rfc6937bis 6.
type reduction struct {
	flight    float64 // when the loss was found: RecoverFS
	delivered float64 // since
	out       float64 // since
}

// window is what may be on the way after delivered segments have arrived. first
// is at the loss, safe when the acknowledgement brought only good news.
func (r *reduction) window(pipe, ssthresh, delivered float64, first, safe bool) float64 {
	r.delivered += delivered
	var more float64
	if pipe > ssthresh {
		more = r.delivered*ssthresh/r.flight - r.out
	} else {
		more = max(r.delivered-r.out, delivered)
		if safe {
			more++
		}
		more = min(more, ssthresh-pipe)
	}
	if first {
		more = max(more, 1) // the fast retransmission
	}

	// Never so little that nothing may leave.
	return max(pipe+max(more, 0), 1)
}
