// SPDX-License-Identifier: MIT

package interceptor

import "github.com/pion/interceptor/pkg/cc"

// Factory returns what [cc.NewInterceptor] wants: a maker of one Estimator for
// each PeerConnection, all with the same options. A wrong option shows when a
// PeerConnection is made; call [NewEstimator] once to see it earlier.
func Factory(opts ...Option) cc.BandwidthEstimatorFactory {
	opts = shared(opts)

	return func() (cc.BandwidthEstimator, error) {
		// Not "return NewEstimator": a nil *Estimator in an interface is not nil.
		e, err := NewEstimator(opts...)
		if err != nil {
			return nil, err
		}

		return e, nil
	}
}

// shared are the options of a factory: one Scheduler for all, unless opts say which.
func shared(opts []Option) []Option {
	return append([]Option{WithScheduler(NewScheduler())}, opts...)
}
