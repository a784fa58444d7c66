// SPDX-License-Identifier: MIT

package gcc

// The events of this package. Rates are rounded to kbit/s and ratios to
// permille, so that logs compare across machines.

// UsageChanged tells that the overuse detector changed its mind.
type UsageChanged struct {
	From Usage `json:"from"`
	To   Usage `json:"to"`
	// TrendCentis is the modified trend and ThresholdCentis what it is compared
	// with, after adaptation, both in hundredths of the detector's unit.
	TrendCentis     int64 `json:"trend_centis"`
	ThresholdCentis int64 `json:"threshold_centis"`
}

// EventName implements [Event].
func (UsageChanged) EventName() string { return "gcc:usage_changed" }

// StateChanged tells that the AIMD control did something else than last time.
type StateChanged struct {
	From State `json:"from"`
	To   State `json:"to"`
}

// EventName implements [Event].
func (StateChanged) EventName() string { return "gcc:state_changed" }

// EstimateChanged is the estimate after it moved by a kbit/s or more.
type EstimateChanged struct {
	BitrateKbps int   `json:"bitrate_kbps"`
	DelayKbps   int   `json:"delay_kbps"`
	LossKbps    int   `json:"loss_kbps"`
	AckedKbps   int   `json:"acked_kbps"`
	RTTMs       int64 `json:"rtt_ms"`
}

// EventName implements [Event].
func (EstimateChanged) EventName() string { return "gcc:estimate" }

// ProbeRequested asks for a cluster.
type ProbeRequested struct {
	ID       int `json:"id"`
	RateKbps int `json:"rate_kbps"`
	Bytes    int `json:"bytes"`
}

// EventName implements [Event].
func (ProbeRequested) EventName() string { return "gcc:probe_requested" }

// ProbeResult is what a cluster measured: what the path carries when Saturated,
// at least that otherwise. Used is false when it had nothing to say, or when the
// path was overused at that moment.
type ProbeResult struct {
	ID        int  `json:"id"`
	RateKbps  int  `json:"rate_kbps"`
	Saturated bool `json:"saturated"`
	Used      bool `json:"used"`
}

// EventName implements [Event].
func (ProbeResult) EventName() string { return "gcc:probe_result" }

// AppLimitedChanged tells that the application began or ceased to send less than
// it may.
type AppLimitedChanged struct {
	AppLimited bool `json:"app_limited"`
}

// EventName implements [Event].
func (AppLimitedChanged) EventName() string { return "gcc:app_limited" }

// LossStateChanged tells that the loss model did something else than before.
type LossStateChanged struct {
	From         LossState `json:"from"`
	To           LossState `json:"to"`
	LossPermille int       `json:"loss_permille"`
	LimitKbps    int       `json:"limit_kbps"`
}

// EventName implements [Event].
func (LossStateChanged) EventName() string { return "gcc:loss_state_changed" }

// LossLimited tells that the limit of the loss thresholds came down, or that it
// was removed.
type LossLimited struct {
	LossPermille int  `json:"loss_permille"`
	LimitKbps    int  `json:"limit_kbps"`
	Removed      bool `json:"removed,omitempty"`
}

// EventName implements [Event].
func (LossLimited) EventName() string { return "gcc:loss_limited" }

// Timeout tells that the estimate was cut because nothing answers.
type Timeout struct {
	SilentMs    int64 `json:"silent_ms"`
	BitrateKbps int   `json:"bitrate_kbps"`
}

// EventName implements [Event].
func (Timeout) EventName() string { return "gcc:timeout" }

// MarshalText writes the name, so that JSON shows it.
func (u Usage) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalText writes the name, so that JSON shows it.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
