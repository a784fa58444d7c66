// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

func fakeModem(t *testing.T, cfg fakemodem.Config) (m *fakemodem.Modem, tty string) {
	t.Helper()
	var err error
	if cfg.Play, err = fakemodem.Busy(10_240*time.Millisecond, 1000, 10_000); err != nil {
		t.Fatal(err)
	}
	m = fakemodem.New(cfg)
	t.Cleanup(func() { _ = m.Close() })
	if tty, err = m.OpenPTY(); err != nil {
		t.Fatal(err)
	}

	return m, tty
}

// allOff waits for the modem to read what was written before the agent ended: the
// terminal between them keeps it.
func allOff(t *testing.T, m *fakemodem.Modem) {
	t.Helper()
	for end := time.Now().Add(3 * time.Second); len(m.Masked()) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("left on: %v", m.Masked())

			return
		}
	}
}

// From a modem on a serial port to a paired client, and a modem that logs
// nothing afterwards.
func TestModemProcess(t *testing.T) {
	m, tty := fakeModem(t, fakemodem.Config{})
	record, unknown := filepath.Join(t.TempDir(), "out.jsonl"), filepath.Join(t.TempDir(), "unknown")
	a := startAgent(t, "-source", "serial:"+tty, "-listen", "127.0.0.1:0", "-pair", "-v", "-record", record, "-unknown", unknown)
	for _, s := range receive(t, a.url, 50) {
		if s.Reported < 10_000 || s.Reported > 12_000 {
			t.Errorf("sample %+v, want 10 to 12 kB reported", s)
		}
	}
	if len(m.Masked()) == 0 {
		t.Error("nothing is on while it runs")
	}
	// Another agent is told what is wrong.
	code, out, errs := runWith(t, "-source", "serial:"+tty, "-listen", "127.0.0.1:0", "-pair")
	if code != 1 || out != "" || !strings.Contains(errs, "another program owns the modem") {
		t.Errorf("second agent: status %d, stdout %q, stderr %q", code, out, errs)
	}
	if code := a.stop(t); code != 0 {
		t.Errorf("exit status %d after a signal; %s", code, a.stderr.String())
	}
	allOff(t, m)
	if log := a.stderr.String(); !strings.Contains(log, "the modem logs") || !strings.Contains(log, "stream ended") {
		t.Errorf("-v says %s", log)
	}
	if info, err := os.Stat(record); err != nil || info.Size() == 0 {
		t.Errorf("record: %v", err)
	}
}

// What is wrong with a modem is one line, before anything is promised.
func TestModemErrors(t *testing.T) {
	record := filepath.Join(t.TempDir(), "out.jsonl")
	for want, cfg := range map[string]fakemodem.Config{
		"the modem refuses the log mask": {Refuse: true},
		"the modem does not answer":      {Silent: true},
	} {
		m, tty := fakeModem(t, cfg)
		code, out, errs := runWith(t, "-source", "serial:"+tty, "-listen", "127.0.0.1:0", "-pair", "-record", record)
		if code != 1 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("status %d, stdout %q, stderr %q; want 1 and one line with %q", code, out, errs, want)
		}
		allOff(t, m)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("a record was left behind")
	}
}
