// SPDX-License-Identifier: MIT

package source

import (
	"iter"
	"strconv"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
)

// AppendLine appends it as a line of a recording with its newline, the inverse
// of [ParseLine]: samples as one object with the keys
//
//	t_ms age_ms sfn bsr_bytes bsr_bytes_low grant_bytes ratio period_ms rat flags
//	window_ms, and sum_grant_bytes sum_bsr_bytes where they are known
//
// and other kinds with a "kind". What the format has no room for is brought to
// its nearest limit. It does not allocate when dst has room.
func AppendLine(dst []byte, it *Item) []byte {
	e := encoder{dst}
	e.b = append(e.b, `{"t_ms":`...)
	e.b = appendMillis(e.b, it.At)
	if it.Kind != KindSample {
		e.b = append(e.b, `,"kind":"`...)
		e.b = append(append(e.b, it.Kind...), '"')
	}
	e.millis("age_ms", min(it.Out-it.At, maxAgeMs*time.Millisecond))
	switch it.Kind {
	case KindSample:
		e.sample(it)
	case KindGrant:
		e.int("grant_bytes", it.Grant.Bytes)
		e.int("cell", it.Grant.Cell)
	case KindReport:
		if it.Report.High >= 0 {
			e.int("bsr_bytes", it.Report.High)
		}
		e.int("bsr_bytes_low", it.Report.Low)
		e.key("padding")
		e.b = strconv.AppendBool(e.b, it.Report.Padding)
	case KindConfig:
		e.radio(it.Config.Period, it.Config.RAT)
		e.millis("lag_ms", it.Config.Lag)
		if it.Config.PCI >= 0 {
			e.int("pci", it.Config.PCI)
		}
	}

	return append(e.b, '}', '\n')
}

// FlagWords returns the flags of a sample as a line has them: "idle" (nothing
// was reported) and "starved" (and nothing granted), which follow from the bytes,
// and those of [gbr.SampleFlags].
func FlagWords(s gbr.Sample) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch _, ok := s.Ratio(); {
		case !ok:
			if !yield("idle") {
				return
			}
		case s.Granted == 0:
			if !yield("starved") {
				return
			}
		}
		for bit := gbr.SampleFlags(1); bit != 0; bit <<= 1 {
			if word := flagWord(bit); word != "" && s.Flags&bit != 0 && !yield(word) {
				return
			}
		}
	}
}

// flagWord returns the word of one flag, empty for none.
func flagWord(f gbr.SampleFlags) string {
	switch f {
	case gbr.FlagFirstGrant:
		return "first_grant"
	case gbr.FlagCorrected:
		return "corrected"
	case gbr.FlagInferred:
		return "inferred"
	case gbr.FlagSummed:
		return "summed"
	default:
		return ""
	}
}

// encoder appends the parts of an object.
type encoder struct{ b []byte }

func (e *encoder) sample(it *Item) {
	s := &it.Sample
	sfn, rat := s.SFN, s.RAT
	if rat == gbr.RATUnknown {
		sfn = -1
		if s.Flags&gbr.FlagSummed == 0 {
			rat = it.Config.RAT
		}
	}
	e.int("sfn", min(max(sfn, -1), MaxSFN))
	e.int("bsr_bytes", s.Reported)
	e.int("bsr_bytes_low", s.ReportedLow)
	e.int("grant_bytes", s.Granted)
	e.key("ratio")
	if ratio, ok := s.Ratio(); ok {
		e.b = strconv.AppendFloat(e.b, ratio, 'f', 4, 64)
	} else {
		e.b = append(e.b, "null"...)
	}
	e.radio(it.Config.Period, rat)
	e.flags(*s)
	e.millis("window_ms", s.Window)
	if s.SumGranted > 0 || s.SumReported > 0 {
		e.int("sum_grant_bytes", min(s.SumGranted, maxSum))
		e.int("sum_bsr_bytes", min(s.SumReported, maxSum))
	}
}

func (e *encoder) flags(s gbr.Sample) {
	e.key("flags")
	e.b = append(e.b, '[')
	n := len(e.b)
	for word := range FlagWords(s) {
		if len(e.b) > n {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, '"')
		e.b = append(append(e.b, word...), '"')
	}
	e.b = append(e.b, ']')
}

func (e *encoder) radio(period time.Duration, rat gbr.RAT) {
	e.millis("period_ms", period)
	e.key("rat")
	switch rat {
	case gbr.RATLTE:
		e.b = append(e.b, `"lte"`...)
	case gbr.RATNR:
		e.b = append(e.b, `"nr"`...)
	case gbr.RATUnknown:
		fallthrough
	default:
		e.b = append(e.b, `"unknown"`...)
	}
}

func (e *encoder) int(key string, v int) {
	e.key(key)
	e.b = strconv.AppendInt(e.b, int64(v), 10)
}

// millis appends what is never negative.
func (e *encoder) millis(key string, d time.Duration) {
	e.key(key)
	e.b = appendMillis(e.b, min(max(d, 0), MaxSpanMs*time.Millisecond))
}

func (e *encoder) key(key string) {
	e.b = append(e.b, ',', '"')
	e.b = append(append(e.b, key...), '"', ':')
}

func appendMillis(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d.Microseconds())/1e3, 'f', -1, 64)
}
