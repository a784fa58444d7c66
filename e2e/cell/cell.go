// SPDX-License-Identifier: MIT

package cell

import "time"

// Cell is one phone in a cell of its own, whose capacity is a trace. It is not
// safe for concurrent use.
type Cell struct {
	Phone
}

// New makes a cell. Every error wraps ErrConfig.
func New(cfg Config) (*Cell, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := cfg.checkCapacity(); err != nil {
		return nil, err
	}
	c := &Cell{}
	c.Phone = *newPhone(cfg, c)
	return c, nil
}

// Capacity is the trace the cell runs on, without handovers and outages.
func (c *Cell) Capacity() Trace { return c.cfg.Capacity }

// runTo steps through the slots that began by now.
func (c *Cell) runTo(now time.Time) time.Time {
	last := c.frame.slots(now.Sub(c.cfg.Start))
	for ; c.next <= last; c.next++ {
		if c.idle() {
			c.skip(last)
			break
		}
		c.open(c.next)
		for _, ahead := range c.frame.targets[c.next%c.frame.n] {
			air := c.next + ahead
			for carrier := range c.carriers {
				c.station.schedule(c.next, carrier, air, c.harq.busy(carrier, air))
			}
		}
		c.send(c.next)
	}
	return now
}
