// SPDX-License-Identifier: MIT

package interceptor

// FrameBudget returns how many bytes the frame that is captured now may have, on
// the link: with the headers of its packets, about 50 bytes each, as in all rates.
// It is what the phone's radio will take until the next frame, less what still
// waits in front of it and the share of FEC and retransmissions; with several
// streams it is for all their frames of this moment together.
//
// An encoder that can hit a size obeys it instead of the target bitrate, and the
// picture comes a frame's time earlier: the rate is what the radio carried, the
// budget is what fits now. Call it once for each frame, when its size is chosen;
// what was offered counts as under way. A budget of 0 asks to leave the frame out.
//
// It is not ok without fresh telemetry of grants and with algorithms other than
// [gbr.Default]; then GetTargetBitrate is all there is, so ask for both:
//
//	size, ok := est.FrameBudget()
//	if !ok {
//		size = est.GetTargetBitrate() / 8 / framesPerSecond
//	}
func (e *Estimator) FrameBudget() (bytes int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, false
	}
	now := e.now()
	e.hearOthers(now)
	bytes, ok = e.core.FrameBudget(now)

	return int(float64(bytes) * (1 - e.repair.share())), ok
}

// SkipFrame tells whether the frame that is about to be captured is better left
// out, before it is encoded: the radio has become so slow that a frame sized by the
// rate of a moment ago would stand in the way of those that fit. Ask before each
// frame, with and without budgets; never two in a row are left out. Without fresh
// telemetry it is false. [Estimator.OnAdvice] is about the pacer's queue, this about
// the phone's.
func (e *Estimator) SkipFrame() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	now := e.now()
	e.hearOthers(now)

	return e.core.SkipFrame(now)
}
