// SPDX-License-Identifier: MIT

package interceptor

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

const (
	// eventLogLimit bounds what waits for a slow writer, in bytes.
	eventLogLimit = 4 << 20
	// eventFlushInterval is how often an Estimator writes its log.
	eventFlushInterval = 200 * time.Millisecond
)

// EventLog is a [gcc.Recorder] that writes events as JSON lines:
//
//	{"time":1234.567891,"name":"gbr:mode_changed","data":{"from":"dual",...}}
//
// Time is milliseconds since the first event. The first line is a
// "log:started" whose data holds that instant as "wall". Events are kept in
// memory until Flush, so that Record never waits for the writer; beyond 4 MiB
// they are dropped, and a "log:dropped" line tells how many. It is safe for
// concurrent use.
type EventLog struct {
	mu      sync.Mutex // of the fields up to the next one
	buf     []byte
	start   time.Time
	dropped int64

	writing sync.Mutex // of the writer; taken before mu
	w       io.Writer
	spare   []byte
	err     error
}

// NewEventLog returns a log that Flush writes to w.
func NewEventLog(w io.Writer) *EventLog { return &EventLog{w: w} }

// Record implements gcc.Recorder.
func (l *EventLog) Record(now time.Time, ev gcc.Event) {
	// Outside the lock: the slow part, and the event may lock something itself.
	data, err := json.Marshal(ev)
	if err != nil { // NaN, for one
		data, _ = json.Marshal(map[string]string{"error": err.Error()}) //nolint:errchkjson // strings always marshal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start.IsZero() {
		l.start = now
		l.line(now, "log:started", fmt.Appendf(nil, `{"wall":%q}`, now.Format(time.RFC3339Nano)))
	}
	if len(l.buf)+len(data) > eventLogLimit {
		l.dropped++

		return
	}
	if l.dropped > 0 {
		l.line(now, "log:dropped", fmt.Appendf(nil, `{"events":%d}`, l.dropped))
		l.dropped = 0
	}
	l.line(now, ev.EventName(), data)
}

func (l *EventLog) line(now time.Time, name string, data []byte) {
	b := append(l.buf, `{"time":`...)
	// Nanoseconds, so that a replay sees the times that the run saw.
	b = strconv.AppendFloat(b, float64(now.Sub(l.start))/float64(time.Millisecond), 'f', 6, 64)
	b = append(b, `,"name":`...)
	b = strconv.AppendQuote(b, name)
	b = append(b, `,"data":`...)
	b = append(b, data...)
	l.buf = append(b, "}\n"...)
}

// Flush writes what has been recorded. After a failed write it returns the same
// error for ever and throws the events away.
func (l *EventLog) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	out := l.buf
	l.buf = l.spare[:0]
	l.mu.Unlock()
	if len(out) > 0 && l.err == nil {
		if _, err := l.w.Write(out); err != nil {
			l.err = fmt.Errorf("interceptor: writing events: %w", err)
		}
	}
	l.spare = out

	return l.err
}

// The events of this package; those of packages gbr and gcc come in between.

// ConfiguredEvent is what steers from then on: the first event of an Estimator,
// and one for each Switch. A replay starts from it.
type ConfiguredEvent struct {
	Algorithm string `json:"algorithm"`
	Preset    string `json:"preset,omitempty"`
	MinBps    int    `json:"min_bps"`
	StartBps  int    `json:"start_bps"`
	MaxBps    int    `json:"max_bps"`
	// OtherOuter tells that the outer loop is the application's own.
	OtherOuter bool `json:"other_outer,omitempty"`
}

// EventName implements gcc.Event.
func (ConfiguredEvent) EventName() string { return "interceptor:configured" }

// StreamEvent is a stream that was added.
type StreamEvent struct {
	SSRC uint32 `json:"ssrc"`
	RTX  uint32 `json:"rtx,omitempty"`
	FEC  uint32 `json:"fec,omitempty"`
	MIME string `json:"mime"`
	// Feedback is "transport-cc", "ccfb" or "none".
	Feedback string `json:"feedback"`
}

// EventName implements gcc.Event.
func (StreamEvent) EventName() string { return "interceptor:stream_added" }

// RefusedEvent is a packet that the full pacer dropped.
type RefusedEvent struct {
	SSRC    uint32  `json:"ssrc"`
	Number  uint16  `json:"number"`
	Size    int     `json:"size"`
	DelayMs float64 `json:"delay_ms"`
}

// EventName implements gcc.Event.
func (RefusedEvent) EventName() string { return "interceptor:packet_refused" }

// MalformedEvent is a feedback packet that could not be read.
type MalformedEvent struct {
	Error string `json:"error"`
}

// EventName implements gcc.Event.
func (MalformedEvent) EventName() string { return "interceptor:feedback_malformed" }

// SilenceEvent is the lack of feedback for a second while packets are sent.
type SilenceEvent struct{}

// EventName implements gcc.Event.
func (SilenceEvent) EventName() string { return "interceptor:feedback_silent" }

// FeedbackBackEvent is the first report after a SilenceEvent.
type FeedbackBackEvent struct {
	// SilentMs is since the first packet that was not reported.
	SilentMs float64 `json:"silent_ms"`
}

// EventName implements gcc.Event.
func (FeedbackBackEvent) EventName() string { return "interceptor:feedback_back" }

// AdviceEvent is an [Advice] that was given.
type AdviceEvent struct {
	SkipFrames bool    `json:"skip_frames"`
	KeyFrame   bool    `json:"key_frame"`
	DelayMs    float64 `json:"delay_ms"`
}

// EventName implements gcc.Event.
func (AdviceEvent) EventName() string { return "interceptor:advice" }
