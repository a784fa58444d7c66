// SPDX-License-Identifier: MIT

package source

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// Writer records telemetry as JSON lines that [File] replays: every sample as
// one object with the nine keys
//
//	t_ms sfn bsr_bytes bsr_bytes_low grant_bytes ratio period_ms rat flags
//
// and, with lines that have a "kind", the grants, reports and configurations
// behind them; jq 'select(.kind == null)' leaves the samples. A sample that does
// not tell its radio gets the configuration's. t_ms counts from the first batch.
// Not safe for concurrent use.
type Writer struct {
	w      io.Writer
	buf    []byte
	epoch  time.Time
	config gbr.RadioConfig
	err    error
}

// NewWriter writes to w, one call a batch.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, config: gbr.RadioConfig{PCI: -1}} }

// Write records a batch that came out of the modem at now. An empty one leaves
// no trace. After an error every further call returns it.
func (w *Writer) Write(now time.Time, t gbr.Telemetry) error {
	if w.err != nil {
		return w.err
	}
	if w.epoch.IsZero() {
		w.epoch = now
	}
	w.buf = w.buf[:0]
	if t.Config != nil {
		w.config = *t.Config
		w.open(now, now, kindConfig)
		w.radio(w.config.RAT)
		w.millis("lag_ms", w.config.Lag)
		if w.config.PCI >= 0 {
			w.int("pci", w.config.PCI)
		}
		w.close()
	}
	for _, r := range t.Reports {
		w.open(now, r.At, kindReport)
		if r.High >= 0 {
			w.int("bsr_bytes", r.High)
		}
		w.int("bsr_bytes_low", r.Low)
		w.buf = append(w.buf, `,"padding":`...)
		w.buf = strconv.AppendBool(w.buf, r.Padding)
		w.close()
	}
	for _, g := range t.Grants {
		w.open(now, g.At, kindGrant)
		w.int("grant_bytes", g.Bytes)
		w.int("cell", g.Cell)
		w.close()
	}
	for _, s := range t.Samples {
		w.sample(now, s)
	}
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.w.Write(w.buf); err != nil {
		w.err = fmt.Errorf("source: record: %w", err)
	}

	return w.err
}

func (w *Writer) sample(now time.Time, s gbr.Sample) {
	w.open(now, s.At, kindSample)
	sfn, rat := s.SFN, s.RAT
	if rat == gbr.RATUnknown {
		sfn = -1
		if s.Flags&gbr.FlagSummed == 0 {
			rat = w.config.RAT
		}
	}
	w.int("sfn", min(max(sfn, -1), maxSFN))
	w.int("bsr_bytes", s.Reported)
	w.int("bsr_bytes_low", s.ReportedLow)
	w.int("grant_bytes", s.Granted)
	ratio, ok := s.Ratio()
	w.buf = append(w.buf, `,"ratio":`...)
	if ok {
		w.buf = strconv.AppendFloat(w.buf, ratio, 'f', 4, 64)
	} else {
		w.buf = append(w.buf, "null"...)
	}
	w.radio(rat)
	w.flags(s)
	w.millis("window_ms", s.Window)
	if s.SumGranted > 0 || s.SumReported > 0 {
		w.int("sum_grant_bytes", min(s.SumGranted, maxSum))
		w.int("sum_bsr_bytes", min(s.SumReported, maxSum))
	}
	w.close()
}

func (w *Writer) flags(s gbr.Sample) {
	w.buf = append(w.buf, `,"flags":[`...)
	n := len(w.buf)
	word := func(word string) {
		if len(w.buf) > n {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, '"')
		w.buf = append(append(w.buf, word...), '"')
	}
	switch _, ok := s.Ratio(); {
	case !ok:
		word("idle")
	case s.Granted == 0:
		word("starved")
	}
	for bit := gbr.SampleFlags(1); bit != 0; bit <<= 1 {
		if known := flagWord(bit); known != "" && s.Flags&bit != 0 {
			word(known)
		}
	}
	w.buf = append(w.buf, ']')
}

// open starts an object; now is when its content came out of the modem.
func (w *Writer) open(now, at time.Time, kind string) {
	w.buf = append(w.buf, `{"t_ms":`...)
	w.buf = appendMillis(w.buf, at.Sub(w.epoch))
	if kind != kindSample {
		w.buf = append(w.buf, `,"kind":"`...)
		w.buf = append(append(w.buf, kind...), '"')
	}
	w.millis("age_ms", min(now.Sub(at), maxAgeMs*time.Millisecond))
}

func (w *Writer) close() { w.buf = append(w.buf, '}', '\n') }

func (w *Writer) radio(rat gbr.RAT) {
	w.millis("period_ms", w.config.Period)
	w.buf = append(w.buf, `,"rat":"`...)
	switch rat {
	case gbr.RATLTE:
		w.buf = append(w.buf, "lte"...)
	case gbr.RATNR:
		w.buf = append(w.buf, "nr"...)
	case gbr.RATUnknown:
		fallthrough
	default:
		w.buf = append(w.buf, "unknown"...)
	}
	w.buf = append(w.buf, '"')
}

func (w *Writer) int(key string, v int) {
	w.key(key)
	w.buf = strconv.AppendInt(w.buf, int64(v), 10)
}

// millis writes what is never negative.
func (w *Writer) millis(key string, d time.Duration) {
	w.key(key)
	w.buf = appendMillis(w.buf, min(max(d, 0), maxSpanMs*time.Millisecond))
}

func (w *Writer) key(key string) {
	w.buf = append(w.buf, ',', '"')
	w.buf = append(append(w.buf, key...), '"', ':')
}

func appendMillis(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d.Microseconds())/1e3, 'f', -1, 64)
}
