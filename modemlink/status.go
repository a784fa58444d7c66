// SPDX-License-Identifier: MIT

package modemlink

import (
	"slices"
	"strconv"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// EventKind says what an [Event] is about.
type EventKind uint8

// Kinds of events.
const (
	// Connected: the first batch of a connection came.
	Connected EventKind = iota + 1
	// Disconnected: the connection ended; Err is why, nil when the application
	// ended it.
	Disconnected
	// Gap: Lost batches were lost on the way.
	Gap
	// SourceStalled: the agent is there, its modem is silent.
	SourceStalled
	// SourceResumed: the modem is back.
	SourceResumed
)

func (k EventKind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected"
	case Gap:
		return "gap"
	case SourceStalled:
		return "source_stalled"
	case SourceResumed:
		return "source_resumed"
	default:
		return "event(" + strconv.Itoa(int(k)) + ")"
	}
}

// Event is something that happened to the link.
type Event struct {
	Kind EventKind
	At   time.Time
	Lost uint64
	Err  error
}

// String is for logs: "gap, 3 batches lost".
func (e Event) String() string {
	s := e.Kind.String()
	if e.Kind == Gap {
		s += ", " + strconv.FormatUint(e.Lost, 10) + " batches lost"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}

	return s
}

// Status is a snapshot of a client.
type Status struct {
	// Connected is whether batches come.
	Connected bool
	// Connects counts the connections that came about, Batches the batches
	// handed on, empty ones included.
	Connects, Batches uint64
	// Gaps counts the holes in the sequence and LostBatches what was in them.
	Gaps, LostBatches uint64
	// Ignored counts batches out of order and entries that cannot be true.
	Ignored uint64
	// Flooded counts batches that were dropped unread because the agent sends
	// more than any modem says: over 65536 entries or 4096 batches a second, with
	// bursts up to twice that. They are in LostBatches too.
	Flooded uint64
	// Offset is local clock - agent clock, with both epochs arbitrary, and
	// OffsetError by how much it may be wrong; -1 while unknown.
	Offset, OffsetError time.Duration
	// RTT is the latest round trip.
	RTT time.Duration
	// AgeP50 and AgeP95 are percentiles, over the last 256 batches that had
	// any, of how old the newest entry of a batch was when it came. 0 when
	// there was none.
	AgeP50, AgeP95 time.Duration
	// Version of the interface that the agent and this client speak, as in
	// "1.1"; empty before the first connection.
	Version string
	// Err is why the last connection ended or did not come about.
	Err error

	session uint64
}

// Status returns a snapshot.
func (c *Client) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Offset, s.OffsetError, _ = c.dec.clock.offset()
	if !c.dec.clock.ok {
		s.OffsetError = -1
	}
	s.AgeP50, s.AgeP95 = c.ages.percentiles()

	return s
}

// ages is a ring of the latest ages. It is not safe for concurrent use.
type ages struct {
	ring [256]time.Duration
	n    int
}

// add books the age of t's newest entry.
func (a *ages) add(now time.Duration, base time.Time, t gbr.Telemetry) {
	var newest time.Time
	if n := len(t.Samples); n > 0 {
		newest = t.Samples[n-1].At
	}
	if n := len(t.Grants); n > 0 {
		newest = later(newest, t.Grants[n-1].At)
	}
	if n := len(t.Reports); n > 0 {
		newest = later(newest, t.Reports[n-1].At)
	}
	if newest.IsZero() {
		return
	}
	a.ring[a.n%len(a.ring)] = now - newest.Sub(base)
	a.n++
}

func (a *ages) percentiles() (p50, p95 time.Duration) {
	n := min(a.n, len(a.ring))
	if n == 0 {
		return 0, 0
	}
	sorted := a.ring
	slices.Sort(sorted[:n])

	return sorted[n/2], sorted[n*95/100]
}
