// SPDX-License-Identifier: MIT

package tcp

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Defaults of [ShortConfig]. RFC 8867 5.7.
const (
	DefaultMinBytes = 30_000
	DefaultMaxBytes = 50_000
	DefaultMeanOff  = 10 * time.Second
)

// maxOff keeps the longest pause a duration.
const maxOff = 24 * time.Hour

// seedShort is the stream of sizes and pauses.
const seedShort = 0x7c9

// ShortConfig of a [Short]; a zero field stands for its default.
type ShortConfig struct {
	// Start is when the first pause begins: flows do not start together.
	Start time.Time
	// Seed picks sizes and pauses.
	Seed uint64
	// MinBytes to MaxBytes is what a transfer has, uniformly. Default 30 to 50
	// kB.
	MinBytes, MaxBytes int64
	// MeanOff is the mean of the pauses, exponential. Default 10 s.
	MeanOff time.Duration
	// Flow is what each transfer is like; its Start and Bytes are not used.
	Flow Config
}

// Short makes transfers with pauses between. Each is a connection of its own,
// with a new window and no memory of the one before; but all number their bytes
// on, so that one [Receiver] takes all of them.
type Short struct {
	cfg  ShortConfig
	rng  *rand.Rand
	flow Sender
	base int64 // the first byte of this transfer
	done int
}

// NewShort makes a generator.
func NewShort(cfg ShortConfig) (*Short, error) {
	if cfg.MinBytes == 0 && cfg.MaxBytes == 0 {
		cfg.MinBytes, cfg.MaxBytes = DefaultMinBytes, DefaultMaxBytes
	}
	if cfg.MeanOff == 0 {
		cfg.MeanOff = DefaultMeanOff
	}
	if cfg.MinBytes < 1 || cfg.MaxBytes < cfg.MinBytes || cfg.MaxBytes > maxBytes || cfg.MeanOff < 0 || cfg.MeanOff > maxOff {
		return nil, fmt.Errorf("tcp: %w: transfers of %d to %d bytes every %v", ErrConfig, cfg.MinBytes, cfg.MaxBytes, cfg.MeanOff)
	}
	var err error
	if cfg.Flow, err = cfg.Flow.withDefaults(); err != nil {
		return nil, err
	}
	s := &Short{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, seedShort))}
	s.plan(cfg.Start)

	return s, nil
}

// plan prepares the transfer after a pause.
func (s *Short) plan(now time.Time) {
	c := s.cfg.Flow
	c.Start = now.Add(time.Duration(s.rng.ExpFloat64() * float64(s.cfg.MeanOff)))
	c.Bytes = s.cfg.MinBytes + s.rng.Int64N(s.cfg.MaxBytes-s.cfg.MinBytes+1)
	s.flow.restart(c)
}

// Transfers is how many have been acknowledged to the end.
func (s *Short) Transfers() int { return s.done }

// Done is false: there is always another transfer.
func (s *Short) Done() bool { return false }

// Acknowledged is how many bytes of all transfers have been.
func (s *Short) Acknowledged() int64 { return s.base + s.flow.Acknowledged() }

// Window is the congestion window of the latest transfer in bytes.
func (s *Short) Window() int { return s.flow.Window() }

// RTT is the smoothed round trip of the latest transfer.
func (s *Short) RTT() time.Duration { return s.flow.RTT() }

// Stats returns the counts of all transfers.
func (s *Short) Stats() Stats { return s.flow.Stats() }

// Send returns the next segment, if one may leave now.
func (s *Short) Send(now time.Time) (Segment, bool) {
	seg, ok := s.flow.Send(now)
	if ok {
		seg.Seq += s.base
	}

	return seg, ok
}

// NextTimeout is when OnTimeout is due: the start of the next transfer, or a
// retransmission timeout.
func (s *Short) NextTimeout() time.Time { return s.flow.NextTimeout() }

// OnTimeout is for what NextTimeout announced.
func (s *Short) OnTimeout(now time.Time) { s.flow.OnTimeout(now) }

// OnAck takes an acknowledgement; what is of earlier transfers is ignored.
func (s *Short) OnAck(now time.Time, a Ack) {
	a.Cum -= s.base
	for i := range a.SACK {
		a.SACK[i].From -= s.base
		a.SACK[i].To -= s.base
	}
	s.flow.OnAck(now, a)
	if s.flow.Done() {
		s.base += s.flow.cfg.Bytes
		s.done++
		s.plan(now)
	}
}
