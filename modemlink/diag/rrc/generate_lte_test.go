// SPDX-License-Identifier: MIT

package rrc

import "time"

const ms = time.Millisecond

func (g *generator) lteSetup() {
	g.bit(false)
	g.index(3, 4)
	g.random(2)
	g.bit(false)
	g.index(0, 8)
	g.bit(false) // nonCriticalExtension
	g.dedicated()
}

func (g *generator) lteReestablishment() {
	g.bit(false)
	g.index(0, 4)
	g.random(2)
	g.bit(false)
	g.index(0, 8)
	g.bit(false) // nonCriticalExtension
	g.dedicated()
	g.random(3)
}

func (g *generator) lteResume() {
	g.bit(false)
	g.index(12, 16)
	g.random(2)
	g.bit(false)
	g.index(0, 4)
	here := g.flip()
	g.uint(0, 5)
	if here {
		g.dedicated()
	}
	g.random(3)
}

func (g *generator) lteReconfiguration() {
	g.bit(false)
	g.index(4, 16)
	g.random(2)
	g.bit(false)
	g.index(0, 8)
	has := g.flags(6)
	if has[0] {
		g.measConfig()
	}
	if has[1] {
		g.mobility()
	}
	if has[2] {
		for range g.list(11) {
			g.octets(g.noise(300))
		}
	}
	if has[3] {
		g.dedicated()
	}
	if has[4] {
		g.securityHO()
	}
	if has[5] {
		g.chain()
	}
}

func (g *generator) chain() {
	v := g.flags(2) // v890
	if v[0] {
		g.octets(g.noise(30))
	}
	if !v[1] {
		return
	}
	v = g.flags(3) // v920
	if v[0] {
		ext, o := g.header(1)
		if o[0] {
			g.flags(2)
		}
		g.additions(ext)
	}
	if !v[2] {
		return
	}
	release := g.flip() // v1020
	g.bit(false)        // sCellToAddModList-r10
	next := g.flip()
	if release {
		for range g.list(4) {
			g.between(1, 7)
		}
	}
	if !next {
		return
	}
	v = g.flags(2) // v1130
	if v[0] {
		g.octets(g.noise(30))
	}
	if !v[1] {
		return
	}
	g.uint(1, 6) // v1250
	g.uint(1, 6) // v1310
	g.uint(0, 2) // v1430
	v = g.flags(3)
	if v[1] {
		g.octets(g.noise(30))
	}
	if !v[2] {
		return
	}
	nr := g.flip() // v1510
	g.uint(0, 5)
	if nr && g.flip() {
		o := g.flags(2)
		g.random(1)
		if o[0] {
			g.inside(g.nrReconfiguration)
		}
	}
}

func (g *generator) dedicated() {
	ext, o := g.header(6)
	if o[0] {
		for range g.list(2) {
			g.srb()
		}
	}
	if o[1] {
		for range g.list(11) {
			g.drb()
		}
	}
	if o[2] {
		for range g.list(11) {
			g.random(5)
		}
	}
	if o[3] {
		g.mac()
	}
	if o[4] {
		g.sps()
	}
	if o[5] {
		g.physical()
	}
	g.additions(ext)
}

func (g *generator) srb() {
	ext, o := g.header(2)
	g.between(1, 2)
	if o[0] && !g.flip() {
		g.rlc()
	}
	if o[1] && !g.flip() {
		g.logicalChannel()
	}
	g.additions(ext)
}

func (g *generator) drb() {
	ext, o := g.header(5)
	if o[0] {
		g.random(4)
	}
	g.random(5)
	if o[1] {
		g.pdcp()
	}
	if o[2] {
		g.rlc()
	}
	if o[3] {
		g.between(3, 10)
	}
	if o[4] {
		g.logicalChannel()
	}
	g.additions(ext)
}

func (g *generator) pdcp() {
	ext, o := g.header(3)
	if o[0] {
		g.any(8)
	}
	if o[1] {
		g.random(1)
	}
	if o[2] {
		g.any(2)
	}
	if g.flip() {
		inner, p := g.header(1)
		if p[0] {
			g.between(1, 16383)
		}
		g.random(9)
		g.additions(inner)
	}
	g.additions(ext)
}

func (g *generator) rlc() {
	switch g.choice(4) {
	case 0:
		for _, n := range []int{64, 8, 16, 8, 32, 64} {
			g.any(n)
		}
	case 1:
		for _, n := range []int{2, 2, 32} {
			g.any(n)
		}
	case 2:
		g.any(2)
	case 3:
		g.any(2)
		g.any(32)
	}
}

func (g *generator) logicalChannel() {
	ext, o := g.header(1)
	if o[0] {
		group := g.flip()
		g.between(1, 16)
		g.any(16)
		g.any(8)
		if group {
			g.any(4)
		}
	}
	g.additions(ext)
}

func (g *generator) mac() {
	if g.flip() { // default
		g.want = append(g.want, Config{
			RAT: LTE, Default: true, Periodic: Infinite, HasPeriodic: true,
			Retx: 2560 * ms, HasRetx: true, HasExtendedBSR: true,
		})

		return
	}
	c := Config{RAT: LTE}
	ext := g.flip()
	o := g.flags(3)
	if o[0] {
		p := g.flags(2)
		if p[0] {
			g.any(16)
		}
		if p[1] {
			table := []time.Duration{
				5 * ms, 10 * ms, 16 * ms, 20 * ms, 32 * ms, 40 * ms, 64 * ms, 80 * ms, 128 * ms, 160 * ms,
				320 * ms, 640 * ms, 1280 * ms, 2560 * ms, Infinite,
			}
			i := g.rng.IntN(len(table))
			g.index(i, 16)
			c.Periodic, c.HasPeriodic = table[i], true
		}
		i := g.rng.IntN(6)
		g.index(i, 8)
		c.Retx, c.HasRetx = 320*ms<<i, true
		g.random(1)
	}
	if o[1] && g.flip() {
		g.drx()
	}
	g.any(8)
	if o[2] && g.flip() {
		g.any(8)
		g.any(8)
		g.any(4)
	}
	if ext {
		g.macAdditions(&c)
	}
	if c != (Config{RAT: LTE}) {
		g.want = append(g.want, c)
	}
}

// macAdditions writes the groups [[ ]] of MAC-MainConfig that exist up to
// release 12.
func (g *generator) macAdditions(c *Config) {
	n := 4
	if g.unknown {
		n += g.rng.IntN(5)
	}
	g.bit(false)
	g.uint(n-1, 6)
	here := g.flags(n)
	for i, on := range here {
		if !on {
			continue
		}
		g.inside(func() {
			switch i {
			case 0: // sr-ProhibitTimer-r9
				g.bit(true)
				g.random(3)
			case 1: // mac-MainConfig-v1020
				if !g.flip() {
					return
				}
				o := g.flags(3)
				if o[0] {
					g.any(8)
				}
				c.ExtendedBSR, c.HasExtendedBSR = o[1], true
			case 2: // stag-ToReleaseList-r11
				g.uint(4, 3)
				g.uint(0, 2)
				g.between(1, 3)
			case 3:
				o := g.flags(3)
				if o[0] {
					g.random(1)
				}
				if o[1] && g.flip() {
					g.any(2)
				}
				if o[2] && g.flip() {
					i := g.rng.IntN(7)
					g.index(i, 8)
					c.SRDelay = srDelays()[i]
				}
			default:
				g.random(8 * (1 + g.rng.IntN(150)))
			}
		})
	}
}

func srDelays() []time.Duration {
	return []time.Duration{20 * ms, 40 * ms, 64 * ms, 128 * ms, 512 * ms, 1024 * ms, 2560 * ms}
}

func (g *generator) drx() {
	short := g.flip()
	g.any(16)
	g.any(32)
	g.any(8)
	cycles := []int{10, 20, 32, 40, 64, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560}
	i := g.rng.IntN(16)
	g.index(i, 16)
	g.any(cycles[i])
	if short {
		g.any(16)
		g.between(1, 16)
	}
}

func (g *generator) sps() {
	o := g.flags(3)
	if o[0] {
		g.random(16)
	}
	if o[1] && g.flip() {
		ext, _ := g.header(0)
		g.any(16)
		g.between(1, 8)
		for range g.list(4) {
			g.any(2048)
		}
		g.additions(ext)
	}
	if o[2] && g.flip() {
		ext, p := g.header(2)
		g.any(16)
		g.any(4)
		if p[0] {
			g.between(-126, 24)
			g.between(-8, 7)
		}
		g.additions(ext)
	}
}

func (g *generator) physical() {
	ext, o := g.header(10)
	if o[0] {
		g.any(8)
	}
	if o[1] {
		tdd := g.flip()
		if g.flip() {
			g.any(4)
			g.any(2048)
		}
		if tdd {
			g.any(2)
		}
	}
	if o[2] {
		g.random(12)
	}
	if o[3] {
		filter := g.flip()
		g.between(-8, 7)
		g.any(2)
		g.random(1)
		g.between(-8, 7)
		g.any(16)
		if filter {
			g.enum(16)
		}
	}
	for _, on := range o[4:6] {
		if on && g.flip() {
			g.random(16)
			if g.flip() {
				g.between(1, 31)
			} else {
				g.between(1, 15)
			}
		}
	}
	if o[6] {
		g.cqi()
	}
	if o[7] && g.flip() {
		g.any(4)
		g.any(4)
		g.any(24)
		g.random(1)
		g.any(1024)
		g.any(2)
		g.any(8)
	}
	if o[8] && !g.flip() {
		restricted := g.flip()
		g.any(8)
		if restricted {
			i := g.rng.IntN(8)
			g.index(i, 8)
			g.random([]int{2, 4, 6, 64, 4, 16, 4, 16}[i])
		}
		if g.flip() {
			g.any(2)
		}
	}
	if o[9] && g.flip() {
		g.any(2048)
		g.any(158)
		g.any(8)
	}
	g.additions(ext)
}

func (g *generator) cqi() {
	o := g.flags(2)
	if o[0] {
		g.any(8)
	}
	g.between(-1, 6)
	if !o[1] || !g.flip() {
		return
	}
	ri := g.flip()
	g.any(1186)
	g.any(1024)
	if g.flip() {
		g.between(1, 4)
	}
	if ri {
		g.any(1024)
	}
	g.random(1)
}

func (g *generator) mobility() {
	ext, o := g.header(4)
	g.any(504)
	if o[0] {
		ul := g.flip()
		g.random(16)
		if ul {
			g.random(16)
		}
	}
	if o[1] {
		ul := g.flip()
		g.any(16)
		if ul {
			g.any(16)
		}
	}
	if o[2] {
		g.between(1, 32)
	}
	g.any(8)
	g.random(16)
	g.common()
	if o[3] {
		g.any(64)
		g.any(16)
	}
	g.additions(ext)
}

func (g *generator) common() {
	ext, o := g.header(9)
	if o[0] {
		g.rach()
	}
	prach := g.flip()
	g.any(838)
	if prach {
		g.any(64)
		g.random(1)
		g.any(16)
		g.between(0, 94)
	}
	if o[1] {
		g.between(-60, 50)
		g.any(4)
	}
	g.between(1, 4)
	g.any(2)
	g.between(0, 98)
	g.random(2)
	g.between(0, 29)
	g.random(1)
	g.any(8)
	if o[2] {
		g.any(2)
		g.any(4)
	}
	if o[3] {
		g.any(3)
		g.between(0, 98)
		g.any(8)
		g.any(2048)
	}
	if o[4] && g.flip() {
		g.random(1)
		g.any(8)
		g.any(16)
		g.random(1)
	}
	if o[5] {
		g.between(-126, 24)
		g.any(8)
		g.between(-127, -96)
		for _, n := range []int{3, 3, 4, 3, 3} {
			g.any(n)
		}
		g.between(-1, 6)
	}
	if o[6] {
		g.any(4)
	}
	if o[7] {
		g.between(-30, 33)
	}
	if o[8] {
		g.any(7)
		g.any(9)
	}
	g.any(2)
	g.additions(ext)
}

func (g *generator) rach() {
	ext, _ := g.header(0)
	group := g.flip()
	g.any(16)
	if group {
		inner, _ := g.header(0)
		g.any(15)
		g.any(4)
		g.any(8)
		g.additions(inner)
	}
	g.any(4)
	g.any(16)
	g.any(11)
	g.any(8)
	g.any(8)
	g.between(1, 8)
	g.additions(ext)
}

func (g *generator) securityHO() {
	ext, _ := g.header(0)
	if g.flip() { // interRAT
		g.enum(8)
		g.enum(8)
		g.random(48)
	} else {
		if g.flip() {
			g.enum(8)
			g.enum(8)
		}
		g.random(1)
		g.any(8)
	}
	g.additions(ext)
}
