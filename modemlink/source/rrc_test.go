// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// rrcPacket is a B0C0 of version 9 in an HDLC frame. pdu 12 is DL-CCCH, 13 DL-DCCH,
// 15 UL-DCCH.
func rrcPacket(tb testing.TB, at time.Time, pdu byte, payload []byte) []byte {
	tb.Helper()
	body := append([]byte{9, 13, 0, 1, 1, 0}, make([]byte, 6)...) // EARFCN, SFN
	body = append(body, pdu, 0, 0, 0, 0, byte(len(payload)), byte(len(payload)>>8))

	return diag.AppendHDLC(nil, diag.AppendLog(nil, diag.LogB0C0, diag.TimestampOf(at), append(body, payload...)))
}

// setupSF10 is an RRCConnectionSetup by hand with periodicBSR-Timer sf10 and
// retxBSR-Timer sf320, and nothing else.
//
//	0110 0000  DL-CCCH: c1, rrcConnectionSetup; transaction 0; c1, r8
//	0000 0010  no extension; RadioResourceConfigDedicated: no extension, 000100 ..
//	0001 0001  .. mac: explicit; no extension, 100; ul-SCH: 01
//	0001 0000  sf10, sf320, no TTI bundling
//	000        alignment
func setupSF10() []byte { return []byte{0x60, 0x02, 0x11, 0x10, 0x00} }

// Without B060, T is known from the RRC message at once, and not after it was
// observed, in a live stream and in a capture.
func TestPeriodFromRRC(t *testing.T) {
	logged := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []string{"live", "capture"} {
		t.Run(at, func(t *testing.T) {
			stream := rrcPacket(t, logged, 15, []byte{1, 2, 3}) // uplink
			stream = append(stream, rrcPacket(t, logged, 12, setupSF10())...)
			for _, p := range ttiStream(t, 0)[:40] {
				stream = append(stream, p...)
			}
			path := writeFile(t, "a.hdlc", stream)
			synctest.Test(t, func(t *testing.T) {
				var src Source = newDiag(t, bytes.NewReader(stream), DiagConfig{})
				if at == "capture" {
					var err error
					if src, err = Open("file:"+path, Config{}); err != nil {
						t.Fatal(err)
					}
				}
				var first *gbr.RadioConfig
				grants := 0
				if err := src.Run(t.Context(), func(tel gbr.Telemetry) {
					if first == nil && tel.Config != nil {
						c := *tel.Config
						first = &c
						// The reader may give the whole stream at once.
						if at == "capture" && grants > 0 {
							t.Error("there were grants before")
						}
					}
					grants += len(tel.Grants)
				}); err != nil {
					t.Fatal(err)
				}
				if first == nil || first.RAT != gbr.RATLTE || first.Period != 10*ms {
					t.Errorf("first configuration %+v, want LTE with 10 ms", first)
				}
			})
		})
	}
}

// What became of RRC messages is counted and logged; of the messages themselves
// nothing is, and nothing is kept.
func TestRRCIsCountedAndNotTold(t *testing.T) {
	const secret = "IMSI of somebody"
	logged := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var stream []byte
	for range 3 {
		stream = append(stream, rrcPacket(t, logged, 15, []byte(secret))...) // uplink
	}
	stream = append(stream, rrcPacket(t, logged, 12, setupSF10())...)
	stream = append(stream, rrcPacket(t, logged, 12, setupSF10()[:3])...)
	stream = append(stream, rrcPacket(t, logged, 13, []byte(secret))...)
	whole := rrcPacket(t, logged, 13, []byte(secret))
	future := diag.AppendLog(nil, diag.LogB0C0, diag.TimestampOf(logged), append([]byte{250}, secret...))
	stream = append(append(stream, diag.AppendHDLC(nil, future)...), whole...)
	dir := filepath.Join(t.TempDir(), "unknown")
	var log, rec bytes.Buffer
	w := NewWriter(&rec)
	d := newDiag(t, bytes.NewReader(stream), DiagConfig{
		Unknown: dir, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err := d.Run(t.Context(), func(tel gbr.Telemetry) {
		if err := w.Write(time.Now(), tel); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	d.logStats()
	for _, want := range []string{
		"3 not looked at: the channel brings no MAC configuration", "1 walked: MAC configuration found;",
		"1 stopped: the message ends early", "1 not looked at: the log packet was not decoded",
	} {
		if n := strings.Count(log.String(), want); n != 2 { // while it runs and at the end
			t.Errorf("%q is %d times in the log, want twice:\n%s", want, n, &log)
		}
	}
	if n := strings.Count(rec.String(), "\n"); n != 1 || !strings.Contains(rec.String(), `"kind":"config"`) {
		t.Errorf("recorded\n%s\nwant the configuration alone", &rec)
	}
	for name, text := range map[string]string{"log": log.String(), "recording": rec.String()} {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), hex.EncodeToString(setupSF10())} {
			if strings.Contains(text, form) {
				t.Errorf("%q is in the %s", form, name)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("kept %v, %v", entries, err)
	}
}

// Messages of real networks set T.
func TestPeriodFromRealRRC(t *testing.T) {
	f, err := os.Open(dataset.File(t, "rrc_vectors.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	r := csv.NewReader(f)
	r.Comma = ';'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pdus := map[string]byte{"lte-rrc.dl.ccch": 12, "lte-rrc.dl.dcch": 13}
	n := 0
	for i, row := range rows[1:] {
		pdu := pdus[row[1]]
		if pdu == 0 || strings.Contains(row[4], "|") || row[4] == "infinity" {
			continue
		}
		n++
		payload, err := hex.DecodeString(row[8])
		if err != nil {
			t.Fatal(err)
		}
		want, err := time.ParseDuration(strings.TrimPrefix(row[4], "sf") + "ms")
		if err != nil {
			t.Fatal(err)
		}
		var periods []time.Duration
		d := newDiag(t, bytes.NewReader(rrcPacket(t, time.Now(), pdu, payload)), DiagConfig{})
		if err := d.Run(t.Context(), func(tel gbr.Telemetry) {
			if tel.Config != nil {
				periods = append(periods, tel.Config.Period)
			}
		}); err != nil || !slices.Equal(periods, []time.Duration{want}) {
			t.Errorf("row %d: %v, %v; want %v", i+1, periods, err, want)
		}
	}
	if n < 3 {
		t.Errorf("%d messages", n)
	}
}
