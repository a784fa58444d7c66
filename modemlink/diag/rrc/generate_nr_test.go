// SPDX-License-Identifier: MIT

package rrc

import "time"

func (g *generator) nrSetup() {
	g.bit(false)
	g.index(1, 4)
	g.random(2)
	g.bit(false)
	g.uint(0, 2)
	g.bearers()
	g.inside(func() { g.cellGroup(0) })
}

func (g *generator) nrResume() {
	g.bit(false)
	g.index(1, 16)
	g.random(2)
	g.bit(false)
	o := g.flags(2)
	g.uint(0, 4)
	if o[0] {
		g.bearers()
	}
	if o[1] {
		g.inside(func() { g.cellGroup(0) })
	}
}

func (g *generator) nrDCCHReconfiguration() {
	g.bit(false)
	g.index(0, 16)
	g.nrReconfiguration()
}

func (g *generator) nrReconfiguration() {
	g.random(2)
	g.bit(false)
	o := g.flags(2)
	g.bit(false) // measConfig
	late, more := g.flip(), g.flip()
	if o[0] {
		g.bearers()
	}
	if o[1] {
		g.inside(func() { g.cellGroup(1 + g.rng.IntN(3)) })
	}
	if late {
		g.octets(g.noise(20))
	}
	if !more {
		return
	}
	master := g.flip()
	g.flip() // fullConfig: a single value, no bits
	g.uint(0, 6)
	if master {
		g.inside(func() { g.cellGroup(0) })
	}
}

func (g *generator) cellGroup(id int) {
	ext, o := g.header(4)
	g.uint(0, 3)
	g.index(id, 4)
	if o[0] {
		for range g.list(32) {
			g.rlcBearer()
		}
	}
	if o[1] {
		for range g.list(32) {
			g.between(1, 32)
		}
	}
	if o[2] {
		g.macCellGroup(id != 0)
	}
	if o[3] {
		g.physicalCellGroup()
	}
	g.additions(ext)
}

// physicalCellGroup is behind what the walk looks at.
func (g *generator) physicalCellGroup() {
	g.uint(0, 1+8) // no extension, no optional field
	g.any(2)       // pdsch-HARQ-ACK-Codebook
}

func (g *generator) macCellGroup(secondary bool) {
	ext, o := g.header(5)
	if o[0] && g.flip() {
		g.nrDRX()
	}
	if o[1] {
		g.scheduling()
	}
	if o[2] {
		c := Config{RAT: NR, Secondary: secondary, HasPeriodic: true, HasRetx: true}
		inner, p := g.header(1)
		periodic := []time.Duration{
			1 * ms, 5 * ms, 10 * ms, 16 * ms, 20 * ms, 32 * ms, 40 * ms, 64 * ms, 80 * ms, 128 * ms,
			160 * ms, 320 * ms, 640 * ms, 1280 * ms, 2560 * ms, Infinite,
		}
		i := g.rng.IntN(16)
		g.index(i, 16)
		c.Periodic = periodic[i]
		i = g.rng.IntN(11)
		g.index(i, 16)
		c.Retx = 10 * ms << i
		if p[0] {
			i = g.rng.IntN(7)
			g.index(i, 8)
			c.SRDelay = srDelays()[i]
		}
		g.additions(inner)
		g.want = append(g.want, c)
	}
	if o[3] { // tag-Config
		g.uint(0, 2)
	}
	if o[4] && g.flip() { // phr-Config
		g.bit(false)
		g.any(8)
		g.any(8)
		g.any(4)
		g.random(3)
		g.any(2)
	}
	g.random(1)
	g.additions(ext)
}

func (g *generator) nrDRX() {
	short := g.flip()
	if g.flip() {
		g.any(24)
	} else {
		g.between(1, 31)
	}
	g.any(23)
	g.between(0, 56)
	g.between(0, 56)
	g.any(17 + 15)
	g.any(17 + 15)
	cycles := []int{
		10, 20, 32, 40, 60, 64, 70, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560, 5120, 10240,
	}
	i := g.rng.IntN(20)
	g.index(i, 20)
	g.any(cycles[i])
	if short {
		g.any(32)
		g.between(1, 16)
	}
	g.between(0, 31)
}

func (g *generator) scheduling() {
	o := g.flags(2)
	if o[0] {
		for range g.list(8) {
			prohibit := g.flip()
			g.any(8)
			if prohibit {
				g.any(8)
			}
			g.any(8)
		}
	}
	if o[1] {
		for range g.list(8) {
			g.any(8)
		}
	}
}

func (g *generator) rlcBearer() {
	ext, o := g.header(4)
	g.between(1, 32)
	if o[0] {
		if g.flip() {
			g.between(1, 32)
		} else {
			g.between(1, 3)
		}
	}
	if o[2] {
		g.nrRLC()
	}
	if o[3] {
		g.nrChannel()
	}
	g.additions(ext)
}

func (g *generator) nrRLC() {
	field := func(rest ...int) {
		if g.flip() {
			g.any(2)
		}
		for _, n := range rest {
			g.any(n)
		}
	}
	switch g.choice(4) {
	case 0:
		field(64, 32, 64, 8)
		field(32, 64)
	case 1:
		field()
		field(32)
	case 2:
		field()
	case 3:
		field(32)
	}
}

func (g *generator) nrChannel() {
	ext, o := g.header(1)
	if o[0] {
		inner, p := g.header(6)
		g.between(1, 16)
		g.any(16)
		g.any(16)
		if p[0] {
			for range g.list(31) {
				g.any(32)
			}
		}
		if p[1] {
			for range g.list(5) {
				g.any(8)
			}
		}
		if p[2] {
			g.any(8)
		}
		if p[4] {
			g.any(8)
		}
		if p[5] {
			g.any(8)
		}
		g.random(2)
		g.additions(inner)
	}
	g.additions(ext)
}

func (g *generator) bearers() {
	ext, o := g.header(5)
	if o[0] {
		for range g.list(2) {
			inner, p := g.header(3)
			g.between(1, 3)
			if p[2] {
				g.nrPDCP()
			}
			g.additions(inner)
		}
	}
	if o[2] {
		for range g.list(29) {
			g.nrDRB()
		}
	}
	if o[3] {
		for range g.list(29) {
			g.between(1, 32)
		}
	}
	if o[4] {
		inner, p := g.header(2)
		if p[0] {
			e, q := g.header(1)
			g.enum(8)
			if q[0] {
				g.enum(8)
			}
			g.additions(e)
		}
		if p[1] {
			g.any(2)
		}
		g.additions(inner)
	}
	g.additions(ext)
}

func (g *generator) nrDRB() {
	ext, o := g.header(4)
	if o[0] {
		if g.flip() {
			inner, p := g.header(2)
			g.any(256)
			g.random(3)
			for _, on := range p {
				if on {
					for range g.list(64) {
						g.any(64)
					}
				}
			}
			g.additions(inner)
		} else {
			g.any(16)
		}
	}
	g.between(1, 32)
	if o[3] {
		g.nrPDCP()
	}
	g.additions(ext)
}

func (g *generator) nrPDCP() {
	ext, o := g.header(3)
	if o[0] {
		p := g.flags(6)
		if p[0] {
			g.any(16)
		}
		for _, on := range p[1:3] {
			if on {
				g.any(2)
			}
		}
		profiles := [...]int{0, 9, 1}
		if i := g.choice(3); i > 0 {
			q := g.flags(2)
			if q[0] {
				g.between(1, 16383)
			}
			g.random(profiles[i])
		}
	}
	if o[1] {
		p, q := g.flags(2), g.flags(2)
		if q[0] {
			g.between(0, 3)
		}
		if q[1] {
			g.between(1, 32)
		}
		if p[0] {
			g.any(32)
		}
		if p[1] {
			g.random(1)
		}
	}
	if o[2] {
		g.any(64)
	}
	g.additions(ext)
}
