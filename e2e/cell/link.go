// SPDX-License-Identifier: MIT

package cell

import (
	"math"
	"math/rand/v2"
	"time"
)

// Link is how well a phone of a Shared cell is received: by its MCS, its SNR or
// its distance, the first of them that is not zero. All zero is a phone at 150 m.
type Link struct {
	// MCS fixes the modulation and coding scheme, 1..28; with fading it is that
	// of the mean.
	MCS int
	// SNR is the mean in dB when the phone is given the whole band, -20..60. At
	// the edge of the cell, below 5 dB, the phone puts its power into as few
	// RBs as it takes to be received with 5 dB, and gets no more than those.
	SNR float64
	// Distance is metres from the base station, up to 100 km; the path loss is
	// 38 + 30 log10(d) dB, the phone sends 23 dBm.
	Distance float64
	// FadeSigma is the standard deviation in dB of the fading about the mean,
	// up to 20; none. FadeTau is how long it lasts; 200 ms.
	FadeSigma float64
	FadeTau   time.Duration
	// WideBLER is, when not 0, the block error rate of first transmissions over
	// more than 7/8 of the RBs, up to 1, in the place of Config.BLER: the phone's
	// power is spread thinner there.
	WideBLER float64
}

// Numbers of the SNR of a phone at a distance: TS 36.101 6.2.2 (power class 3),
// a free space loss of the first metre at 1.9 GHz, a noise figure of 5 dB.
const (
	phonePower   = 23.0   // dBm over the band
	firstMetre   = 38.0   // dB: 32.4 + 20 log10(1.9)
	lossExponent = 30.0   // dB a decade
	noiseDensity = -174.0 // dBm/Hz
	noiseFigure  = 5.0    // dB
	rbHz         = 180_000
	nearest      = 1.0 // metre
	usualMetres  = 150.0
)

// snr is the mean SNR of a link on a band of rbs, each as wide as several of
// LTE: 1 or 2.
func (l Link) snr(rbs, width int) float64 {
	if l.SNR != 0 {
		return l.SNR
	}
	d := l.Distance
	if d == 0 {
		d = usualMetres
	}
	noise := noiseDensity + noiseFigure + 10*math.Log10(float64(rbs*width*rbHz))
	return phonePower - firstMetre - lossExponent*math.Log10(max(d, nearest)) - noise
}

func (l *Link) setDefaults() {
	if l.FadeSigma != 0 {
		setDuration(&l.FadeTau, 200*time.Millisecond)
	}
}

func (l Link) validate() error {
	switch {
	case l.MCS < 0 || l.MCS > topMCS:
		return bad("MCS %d is not within 0..%d", l.MCS, topMCS)
	case !(l.SNR >= -20 && l.SNR <= 60): // also catches NaN
		return bad("SNR of %v dB is not within -20..60", l.SNR)
	case !(l.Distance >= 0 && l.Distance <= 100_000):
		return bad("distance of %v m", l.Distance)
	case !(l.FadeSigma >= 0 && l.FadeSigma <= 20):
		return bad("fading of %v dB is not within 0..20", l.FadeSigma)
	case !(l.WideBLER >= 0 && l.WideBLER <= 1):
		return bad("BLER %v of wide blocks", l.WideBLER)
	case l.FadeTau < 0 || l.FadeSigma > 0 && l.FadeTau < tti || l.FadeTau > time.Hour:
		return bad("fading over %v", l.FadeTau)
	}
	return nil
}

// topMCS is the highest MCS with 64QAM, TS 36.213 8.6.1 and TS 38.214 table
// 5.1.3.1-1.
const topMCS = 28

// cqiEfficiency is bits a symbol by CQI - 1, TS 36.213 table 7.2.3-1; NR's
// first table is the same (TS 38.214 5.2.2.1-2).
//
//nolint:gochecknoglobals // constant table
var cqiEfficiency = [15]float64{
	0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547,
}

// edgeSNR is where power becomes what limits a phone, dB: the slope of capacity
// over SNR is so steep below that fewer RBs with more power carry as much.
const edgeSNR = 5.0

// snrGap is how far a real code is from capacity: -ln(5 p)/1.5 for QAM with a
// bit error rate p of 5e-5 (Chung and Goldsmith 2001).
const snrGap = 5.53

// cqi is the channel quality of an SNR in dB: 1..15, 0 is out of range.
func cqi(snr float64) int {
	efficiency := math.Log2(1 + math.Pow(10, snr/10)/snrGap)
	n := 0
	for n < len(cqiEfficiency) && cqiEfficiency[n] <= efficiency {
		n++
	}
	return n
}

// radioLink follows the channel of one phone. The fading is a function of the
// time alone, whatever is sent: a base station learns it from sounding every
// few milliseconds.
type radioLink struct {
	bits   *bitTable
	mean   float64
	sigma  float64
	rho    float64 // of the fading, from one sounding to the next
	every  int64   // slots between soundings
	next   int64   // slot of the next one
	shadow float64 // in units of sigma
	rng    *rand.Rand
	mcs    int // -1 is out of range
	most   int // RBs that it has the power for
	least  int // RBs of the smallest allocation
	fixed  int // MCS of the mean, or -1
}

// soundings is how often a fading channel is measured within its time constant,
// at most; the period is 5 ms at least. TS 36.213 8.2 (SRS of 2 to 320 ms).
const soundings = 40

func newRadioLink(l Link, b *bitTable, f *frame, rng *rand.Rand) radioLink {
	r := radioLink{bits: b, most: b.rbs, least: f.leastRBs, mean: l.snr(b.rbs, 1<<f.mu), sigma: l.FadeSigma, fixed: -1, rng: rng, next: math.MaxInt64}
	if l.MCS > 0 {
		r.fixed = l.MCS
		r.mean = b.snrFor(l.MCS)
	}
	if r.sigma > 0 {
		every := max(l.FadeTau/soundings, 5*time.Millisecond)
		r.every, r.next = f.slots(every), 0
		r.rho = math.Exp(-every.Seconds() / l.FadeTau.Seconds())
		r.shadow = rng.NormFloat64()
	}
	r.measure()
	return r
}

// at brings the channel to slot k.
func (r *radioLink) at(k int64) {
	for k >= r.next {
		r.next += r.every
		r.shadow = r.rho*r.shadow + math.Sqrt(1-r.rho*r.rho)*r.rng.NormFloat64()
		r.measure()
	}
}

func (r *radioLink) measure() {
	if r.sigma == 0 && r.fixed >= 0 {
		r.mcs = r.fixed
		return
	}
	snr := r.mean + r.sigma*r.shadow
	if r.most = r.bits.rbs; snr < edgeSNR {
		all := float64(r.bits.rbs)
		r.most = max(int(all*math.Pow(10, (snr-edgeSNR)/10)), r.least)
		snr = min(snr+10*math.Log10(all/float64(r.most)), edgeSNR)
	}
	r.mcs = r.bits.mcs(cqi(snr))
}

// bytes is the transport block in so many RBs, 0 for none.
func (r *radioLink) bytes(rbs int) int {
	if r.mcs < 0 || rbs <= 0 {
		return 0
	}
	return int(r.bits.tb[r.mcs][min(rbs, r.most)])
}

// fit is the fewest RBs, of from..to, whose transport block holds need bytes;
// to when none does.
func (r *radioLink) fit(need, from, to int) int {
	to = min(to, r.most)
	lo, hi := min(from, to), to
	for lo < hi {
		if mid := (lo + hi) / 2; r.bytes(mid) >= need {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
