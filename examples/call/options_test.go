// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQ"

// pairing is a well-formed pairing URL of an agent at addr.
func pairing(addr string) string {
	return "gbr://" + addr + "?fp=" + strings.Repeat("0a", 32) + "&token=" + secret
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// Whatever is wrong is said in one line that names the flag, before anything is
// printed, and no file is left.
func TestBadInput(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close() //nolint:errcheck // nothing to do about it
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	malformed := write(t, "malformed.csv", "ms,bytes\n0,100\n5,many\n")
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"unknown flag", []string{"-colour"}, []string{"-colour"}},
		{"stray argument", []string{"uplink.csv"}, []string{`"uplink.csv"`, "-h"}},
		{"unknown estimator", []string{"-cc", "gbrcc,bbr"}, []string{"-cc", `"bbr"`, "gbrcc, seed, gcc, pion"}},
		{"estimator twice", []string{"-cc", "pion,gbrcc,pion"}, []string{"-cc", `"pion"`, "twice"}},
		{"no estimator", []string{"-cc", ""}, []string{"-cc", "gbrcc, seed, gcc, pion"}},
		{"estimator missing", []string{"-cc", "gbrcc,"}, []string{"-cc", "gbrcc, seed, gcc, pion"}},
		{"no such trace", []string{"-trace", filepath.Join(dir, "none.csv")}, []string{"-trace", "none.csv", "no such file"}},
		{"malformed trace", []string{"-trace", malformed}, []string{"-trace", malformed, "line 3", `"many"`}},
		{"empty trace", []string{"-trace", write(t, "empty.csv", "")}, []string{"-trace", "empty.csv", "no data"}},
		{"trace without capacity", []string{"-trace", write(t, "zero.csv", "ms,bytes\n0,0\n9,0\n")}, []string{"-trace", "no capacity"}},
		{"trace too fast", []string{"-trace", write(t, "fast.csv", "t_ms,ul_kbps\n0,900000\n1000,900000\n")}, []string{"-trace", "fast.csv", "65535"}},
		{"trace is a folder", []string{"-trace", dir}, []string{"-trace", dir, "is a directory"}},
		{"busy port", []string{"-http", busy.Addr().String()}, []string{"-http", busy.Addr().String(), "in use"}},
		{"no port", []string{"-http", "localhost"}, []string{"-http", "localhost", "port"}},
		{"empty address", []string{"-http", ""}, []string{"-http", "HOST:PORT"}},
		{"port out of range", []string{"-http", "127.0.0.1:70000"}, []string{"-http", "70000"}},
		{"no pairing URL", []string{"-modem", "phone"}, []string{"-modem", "gbr://"}},
		{"pairing URL without a fingerprint", []string{"-modem", "gbr://10.0.0.2:5000?token=" + secret}, []string{"-modem", "fp="}},
		{"pairing URL that is no URL", []string{"-modem", "gbr://%zz:1?token=" + secret}, []string{"-modem", "gbr://"}},
		{"pairing URL with a short fingerprint", []string{"-modem", "gbr://10.0.0.2:5000?fp=0a&token=" + secret}, []string{"-modem", "fp="}},
		{"pairing URL for nobody", []string{"-cc", "gcc,pion", "-modem", pairing("10.0.0.2:5000")}, []string{"-modem", "-cc", "gcc,pion"}},
		{"no time", []string{"-duration", "0s"}, []string{"-duration", "1s to 24h"}},
		{"zero", []string{"-duration", "0"}, []string{"-duration", "1s to 24h"}},
		{"negative time", []string{"-duration", "-5s"}, []string{"-duration", "-5s"}},
		{"too much time", []string{"-duration", "25h"}, []string{"-duration", "25h"}},
		{"no unit", []string{"-duration", "30"}, []string{"-duration", `"30"`}},
		{"outage without a length", []string{"-agent-outage", "10s"}, []string{"-agent-outage", "10s,5s"}},
		{"outage of nothing", []string{"-agent-outage", "10s,0s"}, []string{"-agent-outage", "10s,5s"}},
		{"outage before the call", []string{"-agent-outage", "-1s,5s"}, []string{"-agent-outage", "10s,5s"}},
		{"outage with words", []string{"-agent-outage", "soon,long"}, []string{"-agent-outage", "10s,5s"}},
		{"outage with three", []string{"-agent-outage", "1s,2s,3s"}, []string{"-agent-outage", "10s,5s"}},
		{"outage after the call", []string{"-agent-outage", "30s,1s", "-duration", "30s"}, []string{"-agent-outage", "-duration"}},
		{"outage of another agent", []string{"-agent-outage", "1s,1s", "-modem", pairing("10.0.0.2:5000")}, []string{"-agent-outage", "-modem"}},
		{"outage of no agent", []string{"-agent-outage", "1s,1s", "-cc", "pion"}, []string{"-agent-outage", "-cc", "pion"}},
		{"picture without video", []string{"-picture", "pattern:320x180"}, []string{"-picture", "-video"}},
		{"sound without video", []string{"-sound", "tone"}, []string{"-sound", "-video"}},
		{"negative seed", []string{"-seed", "-1"}, []string{"-seed"}},
		{"result in a missing folder", []string{"-json", filepath.Join(dir, "none", "r.json")}, []string{"-json", filepath.Join(dir, "none"), "no such file"}},
		{"result below a file", []string{"-json", filepath.Join(malformed, "r.json")}, []string{"-json", "not a directory"}},
		{"result is a folder", []string{"-json", dir}, []string{"-json", dir, "plain file"}},
		{"result is a device", []string{"-json", link}, []string{"-json", link, "plain file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			args := append([]string{"-json", filepath.Join(dir, "result.json")}, tt.args...)
			err := run(t.Context(), args, &stdout, &stderr)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %s", err, w)
				}
			}
			if strings.ContainsAny(err.Error(), "\r\n") || stdout.Len()+stderr.Len() > 0 {
				t.Errorf("more than one line: %q, stdout %q, stderr %q", err, &stdout, &stderr)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the token is printed: %q", err)
			}
			empty(t, dir)
		})
	}
}

// empty checks that a folder has nothing in it, hidden files included.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("%s was left behind", f.Name())
	}
}

func TestHelpTeaches(t *testing.T) {
	var stdout, stderr strings.Builder
	if err := run(t.Context(), []string{"-h"}, &stdout, &stderr); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v, want flag.ErrHelp", err)
	}
	for _, w := range []string{
		"Usage: call", "Examples:", "  gbrcc ", "  seed ", "  gcc ", "  pion ", "outer-only",
		"-agent-outage AT,FOR", "-cc ", "-duration ", "-http ADDR", "-json FILE", "-modem URL", "-seed ", "-trace FILE", "-sound HEARD", "52 kbit/s",
	} {
		if !strings.Contains(stderr.String(), w) {
			t.Errorf("no %q in the help:\n%s", w, &stderr)
		}
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout: %q", &stdout)
	}
}

func TestParse(t *testing.T) {
	got, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got.duration != 30*time.Second || !reflect.DeepEqual(got.cc, []string{"gbrcc", "pion"}) || got.modem != "sim" ||
		got.http != "127.0.0.1:0" || got.json != "" || got.seed != 1 || got.outageAt != 0 {
		t.Errorf("defaults: %+v", got)
	}
	if bps := got.trace.MeanBps(0, got.duration); bps < 6_000_000 || bps > 8_000_000 {
		t.Errorf("capacity of the built-in cell: %v bit/s, want 6 to 8 Mbit/s", bps)
	}

	trace := write(t, "two.csv", "t_ms,ul_kbps\n0,2000\n1000,2000\n2000,2000\n")
	got, err = parse([]string{
		"-cc", "gcc, seed", "-agent-outage", "1.5s,500ms", "-http", "off", "-seed", "7", "-duration", "2s", "-trace", trace,
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.cc, []string{"gcc", "seed"}) || got.outageAt != 1500*time.Millisecond ||
		got.outageFor != 500*time.Millisecond || got.seed != 7 || got.traceName != trace {
		t.Errorf("got %+v", got)
	}
	within(t, "capacity of the trace", float64(got.trace.MeanBps(0, got.duration))/1e6, 1.99, 2.01, "Mbit/s")
}

// A step that says "no limit" is left out, and the user is told.
func TestTraceWithoutLimit(t *testing.T) {
	trace := write(t, "open.csv", "t_ms,ul_kbps\n0,2000\n1000,8000000\n2000,1000\n3000,1000\n")
	var told strings.Builder
	got, err := parse([]string{"-trace", trace}, &told)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "capacity of the trace", float64(got.trace.MeanBps(0, 4*time.Second))/1e6, 1.49, 1.51, "Mbit/s")
	if want := trace + ": 1 steps above 1 Gbit/s"; !strings.Contains(told.String(), want) || strings.Count(told.String(), "\n") != 1 {
		t.Errorf("told %q, want one line with %q", told.String(), want)
	}
}

func TestTraceLeg(t *testing.T) {
	// 800 bytes in 20 TTIs of 20 ms are 6.4 Mbit/s, 1000 bytes in 8 slots 3.2.
	trace := write(t, "two.csv", "t_ms,nr_tbs,lte_tbs\n0,1000,800\n20,1000,800\n")
	for suffix, mbps := range map[string]float64{"": 9.6, "#nr": 3.2, "#lte": 6.4, "#both": 9.6} {
		got, err := parse([]string{"-trace", trace + suffix}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got.traceName != trace+suffix {
			t.Errorf("%s: name %q", suffix, got.traceName)
		}
		within(t, suffix+": capacity", float64(got.trace.MeanBps(0, time.Second))/1e6, mbps-0.01, mbps+0.01, "Mbit/s")
	}
	if _, err := parse([]string{"-trace", trace + "#wifi"}, io.Discard); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("unknown leg: error %v, want no such file", err)
	}
}
