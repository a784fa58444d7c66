// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"time"
)

// Traffic is what a background user sends.
type Traffic uint8

// Kinds of traffic.
const (
	// PoissonBursts are bursts of Burst packets that come independently (Poisson).
	PoissonBursts Traffic = iota
	// OnOff is packets at Bps for a while, then none for a while.
	OnOff
	// Upload is one file after the other, each as fast as the cell takes it.
	Upload
	// Video is a frame at a time, FPS of them a second, of varying size.
	Video
)

// UserConfig is a background user of a Shared cell. A zero in a field that its
// Traffic needs means the default given with it.
type UserConfig struct {
	Link    Link
	Traffic Traffic
	// Bps is the mean rate of Bursts and Video, and that of OnOff while it is
	// on; 1 Mbit/s. Upload has none.
	Bps int
	// PacketBytes is the size of packets; 1200. Burst is packets in a burst; 5.
	PacketBytes, Burst int
	// On and Off are the mean lengths, exponential; 2 s each.
	On, Off time.Duration
	// FileBytes is the mean size of a file, exponential; 1 MB. Think is the
	// mean time between files, exponential; 3 s.
	FileBytes int
	Think     time.Duration
	// FPS is frames a second; 30.
	FPS int
	// From and To bound the time in which it sends, after Start; a To of 0 is
	// no end.
	From, To time.Duration
	// BufferBytes is its buffer, drop-tail; 1 MB.
	BufferBytes int
}

func (u *UserConfig) setDefaults() {
	u.Link.setDefaults()
	setInt(&u.Bps, 1_000_000)
	setInt(&u.PacketBytes, 1200)
	setInt(&u.Burst, 5)
	setDuration(&u.On, 2*time.Second)
	setDuration(&u.Off, 2*time.Second)
	setInt(&u.FileBytes, 1_000_000)
	setDuration(&u.Think, 3*time.Second)
	setInt(&u.FPS, 30)
	setInt(&u.BufferBytes, 1_000_000)
}

func (u UserConfig) validate() error {
	switch {
	case u.Traffic > Video:
		return bad("traffic %d", u.Traffic)
	case u.Bps < 1 || u.Bps > 1e9:
		return bad("traffic of %d bit/s", u.Bps)
	case u.PacketBytes < 40 || u.PacketBytes > 9000 || u.Burst < 1 || u.Burst > 1000:
		return bad("traffic of %d packets of %d bytes", u.Burst, u.PacketBytes)
	case u.On < tti || u.On > time.Hour || u.Off < tti || u.Off > time.Hour:
		return bad("traffic on for %v and off for %v", u.On, u.Off)
	case u.FileBytes < 1 || u.FileBytes > 1<<30 || u.Think < tti || u.Think > time.Hour:
		return bad("files of %d bytes every %v", u.FileBytes, u.Think)
	case u.FPS < 1 || u.FPS > 240:
		return bad("%d frames a second", u.FPS)
	case u.From < 0 || u.From > maxAt || u.To < 0 || u.To > maxAt:
		return bad("traffic from %v to %v", u.From, u.To)
	case u.BufferBytes < u.PacketBytes || u.BufferBytes > 1<<30:
		return bad("buffer of %d bytes", u.BufferBytes)
	}
	return u.Link.validate()
}

// traffic is the source of one background user. But for uploads, what it sends
// depends on nothing but the time.
type traffic struct {
	cfg   UserConfig
	rng   *rand.Rand
	next  time.Duration // since the start, of the next event
	until time.Duration // OnOff: end of the time on
	left  int           // Upload: bytes of the file
	// window is what an upload keeps in the phone's buffer, as the window of a
	// transport protocol does.
	window int
}

func newTraffic(cfg UserConfig, rng *rand.Rand) *traffic {
	t := &traffic{cfg: cfg, rng: rng, next: cfg.From, window: min(uploadWindow, cfg.BufferBytes-cfg.PacketBytes)}
	switch cfg.Traffic {
	case PoissonBursts:
		t.next += t.exp(t.burstEvery())
	case OnOff:
		// In the middle of either, in proportion to their lengths.
		if rng.Float64()*float64(cfg.On+cfg.Off) < float64(cfg.Off) {
			t.next += t.exp(cfg.Off)
		}
		t.until = t.next + t.exp(cfg.On)
	case Upload:
		t.next += t.exp(cfg.Think)
	case Video:
		t.next += time.Duration(rng.Int64N(int64(time.Second) / int64(cfg.FPS)))
	}
	return t
}

// endless is an upload that never ends.
func endless() *traffic {
	return &traffic{cfg: UserConfig{Traffic: Upload, PacketBytes: 1500}, window: endlessWindow, left: math.MaxInt}
}

func (t *traffic) exp(mean time.Duration) time.Duration {
	return time.Duration(min(t.rng.ExpFloat64(), 50) * float64(mean))
}

// each is the time that packets take at the rate.
func (t *traffic) each(packets int) time.Duration {
	return time.Duration(float64(packets*t.cfg.PacketBytes) * 8 / float64(t.cfg.Bps) * float64(time.Second))
}

func (t *traffic) burstEvery() time.Duration { return t.each(t.cfg.Burst) }

const (
	uploadWindow = 128_000
	// endlessWindow is several blocks of any radio.
	endlessWindow = 1_000_000
)

// run gives the phone what came up by a time since the start.
func (t *traffic) run(c *Phone, now time.Duration) {
	if t.cfg.Traffic == Upload {
		t.upload(c, now)
		return
	}
	for t.next <= now && (t.cfg.To == 0 || t.next < t.cfg.To) {
		at := c.cfg.Start.Add(t.next)
		switch t.cfg.Traffic {
		case PoissonBursts:
			t.packets(c, at, t.cfg.Burst*t.cfg.PacketBytes)
			t.next += t.exp(t.burstEvery())
		case OnOff:
			t.packets(c, at, t.cfg.PacketBytes)
			if t.next += t.each(1); t.next >= t.until {
				t.next = t.until + t.exp(t.cfg.Off)
				t.until = t.next + t.exp(t.cfg.On)
			}
		case Video:
			// Frame sizes as of RFC 8593 6.1: a Laplacian about the mean.
			mean := float64(t.cfg.Bps) / 8 / float64(t.cfg.FPS)
			size := mean * (1 + 0.15*t.laplace())
			t.packets(c, at, max(int(size), 1))
			t.next += time.Second / time.Duration(t.cfg.FPS)
		case Upload:
		}
	}
}

// laplace draws from a Laplacian of unit scale, cut where a frame would be
// nothing.
func (t *traffic) laplace() float64 {
	v := t.rng.ExpFloat64()
	if t.rng.IntN(2) == 0 {
		v = -v
	}
	return math.Max(math.Min(v, 6), -6)
}

// packets puts bytes into the phone.
func (t *traffic) packets(c *Phone, at time.Time, bytes int) {
	for ; bytes > 0; bytes -= t.cfg.PacketBytes {
		c.accept(Packet{Size: max(min(bytes, t.cfg.PacketBytes), leastPacket)}, at)
	}
}

// leastPacket is headers alone.
const leastPacket = 40

func (t *traffic) upload(c *Phone, now time.Duration) {
	switch {
	case t.cfg.To > 0 && now >= t.cfg.To:
		return
	case t.left > 0:
	case now < t.next || c.phone.bytes > 0:
		return
	default:
		t.left = 1 + int(float64(t.cfg.FileBytes)*min(t.rng.ExpFloat64(), 50))
	}
	for t.left > 0 && c.phone.bytes <= t.window {
		c.accept(Packet{Size: max(min(t.left, t.cfg.PacketBytes), leastPacket)}, c.cfg.Start.Add(now))
		t.left -= t.cfg.PacketBytes
	}
	if t.left <= 0 {
		t.left, t.next = 0, now+t.exp(t.cfg.Think)
	}
}
