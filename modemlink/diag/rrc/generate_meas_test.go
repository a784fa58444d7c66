// SPDX-License-Identifier: MIT

package rrc

func (g *generator) measConfig() {
	ext, o := g.header(11)
	if o[0] {
		g.ids()
	}
	if o[1] {
		for range g.list(32) {
			g.between(1, 32)
			g.measObject()
		}
	}
	if o[2] {
		g.ids()
	}
	if o[3] {
		for range g.list(32) {
			g.between(1, 32)
			if g.flip() {
				g.reportInterRAT()
			} else {
				g.reportEUTRA()
			}
		}
	}
	if o[4] {
		g.ids()
	}
	if o[5] {
		for range g.list(32) {
			g.random(15)
		}
	}
	if o[6] {
		g.quantity()
	}
	if o[7] && g.flip() {
		switch g.choice(2) {
		case 0:
			g.between(0, 39)
		case 1:
			g.between(0, 79)
		}
	}
	if o[8] {
		g.between(0, 97)
	}
	if o[9] {
		p := g.flags(2)
		g.random(1)
		if p[0] {
			g.any(256)
		}
		if p[1] {
			for range g.list(2) {
				g.any(256)
			}
		}
	}
	if o[10] && g.flip() {
		g.any(8)
		g.any(8)
		g.between(1, 16)
		g.between(1, 16)
		g.any(4)
		g.any(4)
	}
	g.additions(ext)
}

func (g *generator) ids() {
	for range g.list(32) {
		g.between(1, 32)
	}
}

func (g *generator) measObject() {
	if g.unknown && g.rng.IntN(4) == 0 {
		g.bit(true)
		g.bit(false)
		g.uint(g.rng.IntN(64), 6)
		g.octets(g.noise(40))

		return
	}
	g.bit(false)
	g.index(0, 4)
	ext, o := g.header(6)
	g.random(16)
	g.any(6)
	g.random(3)
	if o[0] {
		g.any(31)
	}
	if o[1] {
		g.ids()
	}
	if o[2] {
		for range g.list(32) {
			g.between(1, 32)
			g.any(504)
			g.any(31)
		}
	}
	if o[3] {
		g.ids()
	}
	if o[4] {
		for range g.list(32) {
			g.between(1, 32)
			more := g.flip()
			g.any(504)
			if more {
				g.any(16)
			}
		}
	}
	if o[5] {
		g.any(504)
	}
	g.additions(ext)
}

func (g *generator) reportEUTRA() {
	ext, _ := g.header(0)
	if g.flip() {
		g.any(2)
	} else {
		switch g.choice(5) {
		case 0, 1, 3:
			g.threshold()
		case 2:
			g.between(-30, 30)
			g.random(1)
		case 4:
			g.threshold()
			g.threshold()
		}
		g.between(0, 30)
		g.any(16)
	}
	g.any(2)
	g.any(2)
	g.between(1, 8)
	g.any(16)
	g.any(8)
	g.additions(ext)
}

func (g *generator) reportInterRAT() {
	ext, _ := g.header(0)
	if g.flip() {
		g.any(3)
	} else {
		switch g.choice(2) {
		case 0:
			g.thresholdOther()
		case 1:
			g.threshold()
			g.thresholdOther()
		}
		g.between(0, 30)
		g.any(16)
	}
	g.between(1, 8)
	g.any(16)
	g.any(8)
	g.additions(ext)
}

func (g *generator) threshold() {
	if g.flip() {
		g.between(0, 34)
	} else {
		g.between(0, 97)
	}
}

func (g *generator) thresholdOther() {
	i := g.rng.IntN(3)
	g.index(i, 3)
	switch {
	case i > 0:
		g.any(64)
	case g.flip():
		g.between(0, 49)
	default:
		g.between(-5, 91)
	}
}

func (g *generator) quantity() {
	ext, o := g.header(4)
	if o[0] {
		p := g.flags(2)
		for _, on := range p {
			if on {
				g.enum(16)
			}
		}
	}
	if o[1] {
		filter := g.flip()
		g.any(2)
		if filter {
			g.enum(16)
		}
	}
	if o[2] && g.flip() {
		g.enum(16)
	}
	if o[3] {
		g.any(2)
	}
	g.additions(ext)
}
