// SPDX-License-Identifier: MIT

package live

import (
	"fmt"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// LoadConfig describes traffic without an application.
type LoadConfig struct {
	Config
	// RateBps is the offered rate while on, in bit/s. 0 saturates: there are
	// always about BacklogBytes in the phone, 40,000 by default.
	RateBps      int
	BacklogBytes int
	// On and Off alternate, beginning with On at the start of the cell.
	// With On or Off 0 the load never pauses.
	On, Off time.Duration
	// PacketBytes is the size of each packet; 1200.
	PacketBytes int
}

// load puts packets into a cell, one millisecond after the other.
type load struct {
	cfg   LoadConfig
	start time.Time
	next  time.Time
	due   float64 // bytes
}

// maxCatchUp is how far a load goes back after a sleep of the machine.
const maxCatchUp = 10 * time.Second

// NewLoad makes a link that loads its cell by itself: a modem to look at
// through Diag, without sockets.
func NewLoad(cfg LoadConfig) (*Link, error) {
	if cfg.PacketBytes == 0 {
		cfg.PacketBytes = 1200
	}
	if cfg.BacklogBytes == 0 {
		cfg.BacklogBytes = 40_000
	}
	if cfg.RateBps < 0 || cfg.RateBps > 1e9 || cfg.BacklogBytes < 0 || cfg.On < 0 || cfg.Off < 0 || cfg.PacketBytes < 1 || cfg.PacketBytes > 65535 {
		return nil, fmt.Errorf("live: bad load: %d bit/s or %d bytes in packets of %d, on %v off %v",
			cfg.RateBps, cfg.BacklogBytes, cfg.PacketBytes, cfg.On, cfg.Off)
	}
	l, err := New(cfg.Config)
	if err != nil {
		return nil, err
	}
	l.load = &load{cfg: cfg, start: l.cfg.Cell.Start, next: l.cfg.Cell.Start}
	return l, nil
}

// run puts in what came up by now.
func (l *load) run(now time.Time, c *cell.Cell) {
	if now.Sub(l.next) > maxCatchUp {
		l.next = now
	}
	for ; !l.next.After(now); l.next = l.next.Add(time.Millisecond) {
		if l.pausing(l.next) {
			l.due = 0
			continue
		}
		p := cell.Packet{ID: noSlot, Size: l.cfg.PacketBytes}
		if l.cfg.RateBps == 0 {
			c.RunTo(l.next)
			for c.Backlog() < l.cfg.BacklogBytes && c.Enqueue(l.next, p) {
			}
			continue
		}
		for l.due += float64(l.cfg.RateBps) / 8000; l.due >= float64(p.Size); l.due -= float64(p.Size) {
			c.Enqueue(l.next, p)
		}
	}
}

func (l *load) pausing(t time.Time) bool {
	period := l.cfg.On + l.cfg.Off
	return l.cfg.On > 0 && l.cfg.Off > 0 && t.Sub(l.start)%period >= l.cfg.On
}
