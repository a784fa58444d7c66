// SPDX-License-Identifier: MIT

package gcc

import "time"

// Event is something a controller did or was told. Events marshal to JSON.
type Event interface {
	// EventName is package:what_happened, such as "gcc:usage_changed".
	EventName() string
}

// Recorder receives events in order. A nil Recorder is off. It is called
// synchronously from the controller, so it must be quick and must not call back.
type Recorder interface {
	Record(now time.Time, ev Event)
}
