// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// A capture plays in the rhythm of its time stamps, whatever the container.
func TestCapturePlays(t *testing.T) {
	packets := busy(t, 3000*ms)
	dlf := []byte(nil)
	for _, p := range packets {
		dlf = diag.AppendDLF(dlf, p.Code, p.Logged, p.Body)
	}
	hdlc := fakemodem.Stream(packets)
	for name, data := range map[string][]byte{
		"hdlc":           hdlc,
		"hdlc cut":       hdlc[37:], // from the middle of a frame
		"dlf":            dlf,
		"qmdl2":          append(diag.AppendQMDL2Header(nil, diag.FormatHDLC), hdlc...),
		"hdlc with text": append(diag.AppendHDLC(nil, []byte{0x79, 'h', 'i'}), hdlc...),
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "capture", data)
			synctest.Test(t, func(t *testing.T) {
				src, err := Open("file:"+path, Config{})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				var got telemetry
				if err := src.Run(t.Context(), got.emit); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took < 2900*ms || took > 3100*ms {
					t.Errorf("3 s took %v", took)
				}
				if n := len(got.samples); n < 530 || n > 570 {
					t.Errorf("%d samples, want 530 to 570 (3 s of 5 ms but 0.2 s to settle)", n)
				}
				if p90 := got.quantile(.9); p90 < 0 || p90 > 40*ms {
					t.Errorf("age p90 %v", p90)
				}
			})
		})
	}
}

func TestCaptureLoopsAndStops(t *testing.T) {
	path := writeFile(t, "capture", fakemodem.Stream(busy(t, 1000*ms)))
	synctest.Test(t, func(t *testing.T) {
		src, err := Open("file:"+path, Config{File: FileConfig{Loop: true}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5500*ms, errDone)
		defer cancel()
		var got telemetry
		if err := src.Run(ctx, got.emit); !errors.Is(err, errDone) {
			t.Errorf("got %v, want the cause", err)
		}
		if n := len(got.samples); n < 700 || n > 880 {
			t.Errorf("%d samples in 5.5 rounds, want 700 to 880", n)
		}
	})
}

// Pauses are played with signs of life; when the modem's clock is set, playing
// goes on at once.
func TestCapturePauses(t *testing.T) {
	packets := busy(t, 1000*ms)
	shift := func(by time.Duration) (out []fakemodem.LogPacket) {
		for _, p := range packets {
			p.Logged = diag.TimestampOf(p.Logged.Time().Add(by))
			out = append(out, p)
		}

		return out
	}
	for name, tc := range map[string]struct {
		second []fakemodem.LogPacket
		want   time.Duration
	}{
		"pause":      {shift(4 * time.Second), 5 * time.Second},
		"clock set":  {shift(40 * 365 * 24 * time.Hour), 2 * time.Second},
		"clock back": {shift(-time.Hour), 2 * time.Second},
		"same again": {shift(0), 1 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "capture", append(fakemodem.Stream(packets), fakemodem.Stream(tc.second)...))
			synctest.Test(t, func(t *testing.T) {
				src, err := Open("file:"+path, Config{})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				var got telemetry
				if err := src.Run(t.Context(), got.emit); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); (took - tc.want).Abs() > 50*ms {
					t.Errorf("took %v, want %v", took, tc.want)
				}
				if got.longest > 250*ms {
					t.Errorf("%v without a sign of life", got.longest)
				}
			})
		})
	}
}

func TestCaptureOrNot(t *testing.T) {
	good := fakemodem.Stream(busy(t, 100*ms))
	for _, tc := range []struct {
		name string
		data []byte
		cfg  FileConfig
		want string
	}{
		{"samples", []byte(three), FileConfig{}, ""},
		{"samples behind a blank line", []byte("\n  " + three), FileConfig{}, ""},
		{"text", []byte("hello\n"), FileConfig{}, ":1: not JSON"},
		{"empty", nil, FileConfig{}, "no sample"},
		{"zeros", make([]byte, 1000), FileConfig{}, "not JSON"},
		{"capture", good, FileConfig{}, ""},
		{"capture, faster", good, FileConfig{Speed: 2}, "speed 1 only"},
	} {
		_, err := Open("file:"+writeFile(t, "file", tc.data), Config{File: tc.cfg})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

// Real captures play, for a second of them.
func TestCaptureOfRealPhones(t *testing.T) {
	for _, name := range []string{"mi_att", "mi_tmobile", "mi_latency_sample", "mi_pixel5", "mi_att_iphone"} {
		path := dataset.File(t, "diag", name+".hdlc")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, err := Open("file:"+path, Config{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errDone)
				defer cancel()
				var got telemetry
				if err := src.Run(ctx, got.emit); err != nil && !errors.Is(err, errDone) {
					t.Error(err)
				}
				t.Logf("%d samples, ages p50 %v p99 %v", len(got.samples), got.quantile(.5), got.quantile(.99))
				if got.longest > 250*ms {
					t.Errorf("%v without a sign of life", got.longest)
				}
			})
		})
	}
}

func TestUnknownAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "unknown")
	logged := diag.TimestampOf(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	packet := func(code diag.LogCode, body ...byte) []byte {
		return diag.AppendHDLC(nil, diag.AppendLog(nil, code, logged, append(body, make([]byte, 40)...)))
	}
	var stream []byte
	for range 10 {
		stream = append(stream, packet(0xB139, 200)...)                      // unknown version
		stream = append(stream, packet(0xB064, 1, 1, 0, 0, 8, 99, 44, 0)...) // unknown sub-version
		stream = append(stream, packet(0xB0C0, 250)...)                      // RRC: never
		stream = append(stream, packet(0xB0A5, 250)...)                      // keys: never
		stream = append(stream, packet(0x1234, 250)...)                      // not ours
		stream = append(stream, diag.AppendHDLC(nil, append([]byte{0x9E}, make([]byte, 30)...))...)
	}
	stream = append(stream, fakemodem.Stream(busy(t, 100*ms))...)
	run := func() []string {
		d := newDiag(t, bytes.NewReader(stream), DiagConfig{Unknown: dir})
		if err := d.Run(t.Context(), func(gbr.Telemetry) {}); err != nil {
			t.Fatal(err)
		}
		var names []string
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}

		return names
	}
	for range 2 { // a second run adds nothing
		names := run()
		if len(names) != 2*keepEach {
			t.Errorf("kept %v, want %d of each of two", names, keepEach)
		}
		for _, n := range names {
			if !strings.HasPrefix(n, "B139-v200-") && !strings.HasPrefix(n, "B064-v1-sub99-") || !strings.HasSuffix(n, ".hdlc") {
				t.Errorf("file name %s", n)
			}
		}
	}
	// What is kept is the packet.
	data, err := os.ReadFile(filepath.Join(dir, "B139-v200-1.hdlc"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, packet(0xB139, 200)) {
		t.Error("the file is not the packet")
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the folder is open to others: %v, %v", info.Mode(), err)
	}
	if _, err := Open("diag:", Config{Unknown: filepath.Join(dir, "B139-v200-1.hdlc")}); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestUnknownIsBounded(t *testing.T) {
	dir := t.TempDir()
	k, err := newKeeper(dir, silentLog())
	if err != nil {
		t.Fatal(err)
	}
	for v := range 200 {
		k.packet(diag.Packet{Code: diag.LogB139, Body: []byte{byte(v), 1, 2, 3}}, errors.New("x"))
	}
	if entries, _ := os.ReadDir(dir); len(entries) != keepFiles {
		t.Errorf("%d files, want %d", len(entries), keepFiles)
	}
	dir = t.TempDir()
	if k, err = newKeeper(dir, silentLog()); err != nil {
		t.Fatal(err)
	}
	for v := range 60 {
		k.packet(diag.Packet{Code: diag.LogB139, Body: append([]byte{byte(v)}, make([]byte, 60_000)...)}, errors.New("x"))
	}
	total := 0
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			total += int(info.Size())
		}
	}
	if total > keepBytes || total < keepBytes/2 {
		t.Errorf("%d bytes in %d files, want at most %d", total, len(entries), keepBytes)
	}
}
