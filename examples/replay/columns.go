// SPDX-License-Identifier: MIT

package main

import "time"

// maxColumns is as many points as a picture can show; memory is bounded by it.
const maxColumns = 2048

// column is what fell into one span of time.
type column struct {
	bytes     int
	low, high int // of the largest report, in bytes
	reported  bool
	// least and most are of the ratios.
	least, most float64
	rated       bool
}

// columns divides time since the first event into columns, which are merged in
// pairs when there would be too many.
type columns struct {
	width time.Duration
	start time.Duration
	cols  []column
}

// at returns the column of a moment. Earlier than the first event counts as
// then: events are nearly in order.
func (c *columns) at(t time.Duration) *column {
	if len(c.cols) == 0 {
		c.start = t
	}
	d := max(0, t-c.start)
	for d/c.width >= maxColumns {
		c.double()
	}
	for int(d/c.width) >= len(c.cols) {
		c.cols = append(c.cols, column{})
	}

	return &c.cols[d/c.width]
}

func (c *columns) double() {
	n := (len(c.cols) + 1) / 2
	for i := range n {
		c.cols[i] = c.cols[2*i]
		if 2*i+1 < len(c.cols) {
			c.cols[i].merge(c.cols[2*i+1])
		}
	}
	c.cols = c.cols[:n]
	c.width *= 2
}

func (c *column) merge(o column) {
	c.bytes += o.bytes
	if o.reported {
		c.report(o.low, o.high)
	}
	if o.rated {
		c.rate(o.least)
		c.rate(o.most)
	}
}

func (c *column) report(low, high int) {
	if !c.reported || high > c.high {
		c.low, c.high, c.reported = low, high, true
	}
}

func (c *column) rate(v float64) {
	if !c.rated {
		c.least, c.most, c.rated = v, v, true
	}
	c.least, c.most = min(c.least, v), max(c.most, v)
}

// mid is the middle of column i, in seconds of the file's time.
func (c *columns) mid(i int) float64 {
	return (c.start + time.Duration(i)*c.width + c.width/2).Seconds()
}

// edge is the beginning of column i.
func (c *columns) edge(i int) float64 { return (c.start + time.Duration(i)*c.width).Seconds() }
