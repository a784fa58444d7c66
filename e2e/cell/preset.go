// SPDX-License-Identifier: MIT

package cell

import "time"

// DrainedTelemetry is a modem log that a reader drains all the time: data comes
// within 1 to 2 ms of its commit, with a rare spike of up to 20 ms. BSRs are up
// to 102 ms old as the modem commits no sooner.
func DrainedTelemetry() TelemetryConfig {
	return TelemetryConfig{
		B064Span: 102 * time.Millisecond, Delay: time.Millisecond, JitterMax: time.Millisecond,
		Faults: TelemetryFaults{Late: 0.01, LateMax: 20 * time.Millisecond},
	}
}

// BatchedTelemetry is a phone whose modem log is read promptly but committed
// as the modem likes: BSRs up to 102 ms old, grants up to 10 ms.
func BatchedTelemetry() TelemetryConfig {
	return TelemetryConfig{B064Span: 102 * time.Millisecond}
}

// UndrainedTelemetry is a phone whose diagnostic port is not drained, so that
// data comes out in bursts: everything a few hundred milliseconds late.
func UndrainedTelemetry() TelemetryConfig {
	return TelemetryConfig{B064Span: 102 * time.Millisecond, Delay: 100 * time.Millisecond, JitterMax: 280 * time.Millisecond}
}

// BurstTelemetry is the same port, given out when its buffer is full: all at
// once every 380 ms, hence anything from fresh to 380 ms late.
func BurstTelemetry() TelemetryConfig {
	return TelemetryConfig{B064Span: 102 * time.Millisecond, BurstEvery: 380 * time.Millisecond}
}

// SawtoothTelemetry is the same port under the load of a 5G call, which fills
// the buffer sooner: every 140 ms.
func SawtoothTelemetry() TelemetryConfig {
	return TelemetryConfig{B064Span: 102 * time.Millisecond, BurstEvery: 140 * time.Millisecond}
}
