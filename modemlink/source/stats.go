// SPDX-License-Identifier: MIT

package source

import (
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// counts is what went through since the last log line.
type counts struct {
	bytes                    uint64
	samples, grants, reports int
	// age is how old the samples were when they were emitted.
	ageSum, ageMax time.Duration
}

func (c *counts) add(now time.Time, t *gbr.Telemetry) {
	c.grants += len(t.Grants)
	c.reports += len(t.Reports)
	for i := range t.Samples {
		if t.Samples[i].Flags&gbr.FlagCorrected != 0 {
			continue // told before
		}
		c.samples++
		age := now.Sub(t.Samples[i].At)
		c.ageSum += age
		c.ageMax = max(c.ageMax, age)
	}
}

// logStats logs what happened since it was called last, and the totals of what
// went wrong.
func (d *Diag) logStats() {
	c, s := d.counts, d.dec.Stats()
	d.counts = counts{}
	var unknown, bad uint64
	for i := range s.Codes {
		unknown += s.Codes[i].Unsupported
		bad += s.Codes[i].Bad
	}
	var age time.Duration
	if c.samples > 0 {
		age = c.ageSum / time.Duration(c.samples)
	}
	d.cfg.Logger.Info("source: running", "bytes", c.bytes, "samples", c.samples, "grants", c.grants, "reports", c.reports,
		"age_ms", age.Milliseconds(), "age_max_ms", c.ageMax.Milliseconds(),
		"total_logs", s.Logs, "total_unknown", unknown, "total_bad", bad, "total_bad_crc", s.BadCRC, "total_encrypted", s.Encrypted,
		"total_rrc", d.rrc.String())
}
