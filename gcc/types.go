// SPDX-License-Identifier: MIT

package gcc

import (
	"strconv"
	"time"
)

// RemoteTime is an instant on the receiver's clock in microseconds. Its epoch
// is arbitrary and the clock is not synchronised with ours, so it has a type of
// its own: only differences mean anything, and a comparison with a local
// [time.Time] does not compile.
type RemoteTime int64

// Sub returns t-u.
func (t RemoteTime) Sub(u RemoteTime) time.Duration {
	return time.Duration(t-u) * time.Microsecond
}

// Add returns t+d, rounded towards zero to a microsecond.
func (t RemoteTime) Add(d time.Duration) RemoteTime {
	return t + RemoteTime(d/time.Microsecond)
}

// SentPacket is a packet at the moment it left the sender.
type SentPacket struct {
	// Seq is the unwrapped transport-wide number: one counter over all
	// streams, counting only what was really sent.
	Seq int64
	// Size is the bytes the packet takes on the link, all headers included.
	Size int
	// At is the local time of sending.
	At time.Time
	// Probe is the ID of the [ProbeCluster] that the packet was sent for; 0 for
	// none.
	Probe int `json:",omitempty"`
}

// ProbeCluster is a short burst that the controller wants sent at a rate of its
// own, to measure whether the path carries it: at least MinBytes in at least
// MinPackets, with padding where media is short. Its packets carry the ID in
// SentPacket.Probe.
type ProbeCluster struct {
	ID      int
	RateBps int
	// MinBytes counts all headers.
	MinBytes   int
	MinPackets int
}

// PacketResult is what the receiver said about a sent packet.
type PacketResult struct {
	SentPacket
	// Received is false for a packet the receiver reports as not arrived yet.
	Received bool
	// Arrival is meaningful only when Received.
	Arrival RemoteTime
	// RadioDelay is how long the packet waited in the phone and on the radio,
	// by a model of that queue. The delay detector sees the packet that much
	// earlier and so reacts to the rest of the path only; everything else uses
	// Arrival. 0, the neutral value, is no correction; values outside 0..1 min
	// count as the nearer end.
	RadioDelay time.Duration `json:",omitempty"`
}

// Feedback is one receiver report, already matched with what was sent.
type Feedback struct {
	// Packets has ascending Seq, each at most once over the lifetime of a
	// connection as received; a packet first reported as missing may be
	// reported again as received.
	Packets []PacketResult
	// DelayHeld keeps the report from the delay detector: the caller hands the
	// same packets to [Controller.OnDelay] later, when it knows their
	// RadioDelay.
	DelayHeld bool
}

// Usage is the overuse detector's view of the bottleneck.
type Usage uint8

// The three hypotheses of draft-ietf-rmcat-gcc-02 section 5.4.
const (
	UsageNormal Usage = iota
	UsageOver
	UsageUnder
)

func (u Usage) String() string {
	switch u {
	case UsageNormal:
		return "normal"
	case UsageOver:
		return "over"
	case UsageUnder:
		return "under"
	default:
		return "usage(" + strconv.Itoa(int(u)) + ")"
	}
}

// State is the state of the AIMD rate control.
type State uint8

// The three states of draft-ietf-rmcat-gcc-02 section 5.5.
const (
	StateHold State = iota
	StateIncrease
	StateDecrease
)

func (s State) String() string {
	switch s {
	case StateHold:
		return "hold"
	case StateIncrease:
		return "increase"
	case StateDecrease:
		return "decrease"
	default:
		return "state(" + strconv.Itoa(int(s)) + ")"
	}
}

// Estimate is everything the controller says at one instant.
type Estimate struct {
	// BitrateBps is the rate to use: the lower of the delay and loss limits less
	// Pushback, within the configured bounds, in bit/s.
	BitrateBps int
	// PacingBps is the rate at which packets may leave, in bit/s.
	PacingBps int
	// DelayBps and LossBps are the two limits on their own, in bit/s.
	DelayBps, LossBps int
	// AckedBps is the rate at which bytes arrived lately, in bit/s; 0 while
	// it is not known yet.
	AckedBps int
	// RTT is the latest round-trip time without the receiver's waiting time;
	// 0 while it is not known yet.
	RTT time.Duration
	// LossRatio is the share of packets lost in the last loss interval, 0..1.
	LossRatio float64
	Usage     Usage
	State     State
	// AppLimited tells that the application sends less than it may.
	AppLimited bool
	// WindowBytes is how much may be under way before queues grow for sure; 0
	// while it is not known yet.
	WindowBytes int
	// Pushback is the share of the limits, 0..1, that is held back because more
	// than WindowBytes is under way. BitrateBps is without it unless
	// Config.NoPushback leaves it to an encoder that can skip frames.
	Pushback float64
}
