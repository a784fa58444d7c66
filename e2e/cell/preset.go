// SPDX-License-Identifier: MIT

package cell

import "time"

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
