// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// pipe is a diagnostic port.
func pipe(t *testing.T) (r io.Reader, w *io.PipeWriter) {
	t.Helper()
	pr, pw := io.Pipe()
	t.Cleanup(func() { _ = pw.Close() })

	return pr, pw
}

func newDiag(t *testing.T, r io.Reader, cfg DiagConfig) *Diag {
	t.Helper()
	d, err := NewDiag(r, cfg)
	if err != nil {
		t.Fatal(err)
	}

	return d
}

// ttiStream is a second of a busy modem: in each TTI a block of 1000 bytes, a
// BSR in every fifth, a log packet every 10 ms.
func ttiStream(t *testing.T, first int) [][]byte {
	t.Helper()
	var packets [][]byte
	logged := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for tti := first; tti < first+1000; tti += 10 {
		var recs, grants []diag.Record
		for i := range 10 {
			r := diag.Record{Code: diag.LogB064, Kind: diag.KindGrant, RAT: diag.LTE, TTI: (tti + i) % 10240, Bytes: 1000}
			recs = append(recs, r)
			g := r
			g.Code = diag.LogB139
			grants = append(grants, g)
			if i%5 == 0 {
				b := r
				b.Kind, b.Bytes, b.Form, b.Trigger, b.LCGs = diag.KindBSR, 0, diag.FormShort, diag.TriggerPeriodic, 1<<2
				b.Index[2] = diag.LTEIndex(10_000, false)
				recs = append(recs, b)
			}
		}
		logged = logged.Add(10 * ms)
		for _, p := range []struct {
			code   diag.LogCode
			recs   []diag.Record
			append func([]byte, ...diag.Record) ([]byte, error)
		}{{diag.LogB139, grants, diag.AppendB139}, {diag.LogB064, recs, diag.AppendB064}} {
			body, err := p.append(nil, p.recs...)
			if err != nil {
				t.Fatal(err)
			}
			packets = append(packets, diag.AppendHDLC(nil, diag.AppendLog(nil, p.code, diag.TimestampOf(logged), body)))
		}
	}

	return packets
}

// In virtual time, so that the modem is never late.
func TestDiagToTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := pipe(t)
		packets := ttiStream(t, 10_000) // over the wrap of the SFN
		go func() {
			for i := 0; i < len(packets); i += 2 {
				_, _ = w.Write(packets[i])
				_, _ = w.Write(packets[i+1])
				time.Sleep(10 * ms)
			}
			time.Sleep(250 * ms) // for what the assembler holds back
			_ = w.Close()
		}()
		busy, starved, grants, reports := 0, 0, 0, 0
		var config gbr.RadioConfig
		if err := newDiag(t, r, DiagConfig{}).Run(t.Context(), func(tel gbr.Telemetry) {
			now := time.Now()
			if !slices.IsSortedFunc(tel.Samples, func(a, b gbr.Sample) int { return a.At.Compare(b.At) }) ||
				!slices.IsSortedFunc(tel.Grants, func(a, b gbr.Grant) int { return a.At.Compare(b.At) }) ||
				!slices.IsSortedFunc(tel.Reports, func(a, b gbr.Report) int { return a.At.Compare(b.At) }) {
				t.Errorf("a batch does not ascend: %+v", tel)
			}
			for _, s := range tel.Samples {
				if age := now.Sub(s.At); age < 0 || age > 200*ms {
					t.Errorf("a sample is %v old, want 0 to 200 ms", age)
				}
				switch {
				case s.Granted == int(s.Window/ms)*1000 && s.Window >= 5*ms && s.Reported >= 10_000 && s.Reported < 12_000:
					busy++
				case s.Granted == 0: // the time after the last packet
					starved++
				}
			}
			for _, g := range tel.Grants {
				grants += g.Bytes
			}
			reports += len(tel.Reports)
			if tel.Config != nil {
				config = *tel.Config
			}
		}); err != nil {
			t.Fatal(err)
		}
		// 1 s, of which the assembler settles for 0.2 s.
		if busy < 150 || busy > 165 || starved > 60 {
			t.Errorf("%d windows with 1000 bytes a TTI for 10000, %d without grant; want 150 to 165, at most 60", busy, starved)
		}
		if grants < 780_000 || grants > 850_000 || reports < 155 || reports > 170 {
			t.Errorf("%d bytes granted, %d reports; want 780 to 850 kB and 155 to 170", grants, reports)
		}
		if config.RAT != gbr.RATLTE || config.Period != 5*ms {
			t.Errorf("configuration %+v, want LTE with 5 ms", config)
		}
	})
}

func TestDiagSignsOfLife(t *testing.T) {
	for _, tc := range []struct {
		open bool
		want int
	}{{false, 2}, {true, 4}} {
		synctest.Test(t, func(t *testing.T) {
			r, w := pipe(t)
			d := newDiag(t, r, DiagConfig{AliveWhileOpen: tc.open})
			ctx, cancel := context.WithTimeoutCause(t.Context(), 950*ms, errDone)
			defer cancel()
			go func() { // text, which is no log packet, but shows a live modem
				for range 2 {
					time.Sleep(250 * ms)
					_, _ = w.Write(diag.AppendHDLC(nil, []byte{0x79, 1, 2, 3}))
				}
			}()
			n := 0
			if err := d.Run(ctx, func(gbr.Telemetry) { n++ }); !errors.Is(err, errDone) {
				t.Errorf("Run returned %v, want the cause", err)
			}
			if n != tc.want {
				t.Errorf("alive while open %t: %d signs of life in 0.95 s with bytes at 0.25 and 0.5 s, want %d", tc.open, n, tc.want)
			}
			if _, err := w.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the port was not closed: %v", err)
			}
		})
	}
}

func TestDiagEndsAndFails(t *testing.T) {
	if err := newDiag(t, bytes.NewReader(nil), DiagConfig{}).Run(t.Context(), func(gbr.Telemetry) {}); err != nil {
		t.Errorf("end of the stream: %v", err)
	}
	broken := errors.New("unplugged")
	r, w := pipe(t)
	_ = w.CloseWithError(broken)
	if err := newDiag(t, r, DiagConfig{}).Run(t.Context(), func(gbr.Telemetry) {}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := NewDiag(r, DiagConfig{Ratio: ratio.Config{Period: -1}}); !errors.Is(err, ratio.ErrConfig) {
		t.Errorf("bad ratio configuration: %v", err)
	}
}

func TestDiagGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	garbage := make([]byte, 1<<20)
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	d := newDiag(t, bytes.NewReader(garbage), DiagConfig{})
	n := 0
	if err := d.Run(t.Context(), func(tel gbr.Telemetry) { n += len(tel.Samples) }); err != nil || n != 0 {
		t.Errorf("%d samples out of noise, %v", n, err)
	}
	if s := d.Stats(); s.BadCRC == 0 {
		t.Errorf("nothing was looked at: %+v", s)
	}
}
