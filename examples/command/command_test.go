// SPDX-License-Identifier: MIT

package command

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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

func TestURL(t *testing.T) {
	tests := []struct{ addr, want string }{
		{"127.0.0.1:8080", "http://127.0.0.1:8080/"},
		{"[::1]:8080", "http://[::1]:8080/"},
		{"0.0.0.0:8080", "http://localhost:8080/"}, // no address to go to
		{"[::]:8080", "http://localhost:8080/"},
	}
	for _, tt := range tests {
		addr, err := net.ResolveTCPAddr("tcp", tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := URL(addr); got != tt.want {
			t.Errorf("URL(%s) = %s, want %s", tt.addr, got, tt.want)
		}
	}
}

func TestReadTrace(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		text, suffix, note, err string
		mbps                    float64
	}{
		{text: "t_ms,ul_kbps\n0,2000\n1000,2000\n", mbps: 2},
		{text: "t_ms,ul_kbps\n0,2000\n1000,8000000\n2000,2000\n3000,2000\n", mbps: 2, note: "1 steps above 1 Gbit/s"},
		{text: "t_ms,nr_tbs,lte_tbs\n0,1000,800\n20,1000,800\n", suffix: "#nr", mbps: 3.2},
		{text: "ms,bytes\n0,100\n5,many\n", err: "line 3"},
		{text: "t_ms,ul_kbps\n0,900000\n1000,900000\n", err: "65535"},
	} {
		file := filepath.Join(dir, "x.csv")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		trace, note, err := ReadTrace(file + tt.suffix)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %s", tt.text, err, tt.err)
			}

			continue
		}
		if got := float64(trace.MeanBps(0, time.Second)) / 1e6; err != nil || math.Abs(got-tt.mbps) > 0.01 || !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%q: %.2f Mbit/s, %q, %v", tt.text, got, note, err)
		}
	}
	if _, _, err := ReadTrace(filepath.Join(dir, "none")); err == nil || strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}

func TestWriteJSON(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	for _, cc := range []string{"gcc", "pion"} { // the second one replaces the first
		if err := WriteJSON(path, map[string]string{"cc": cc}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "{\n  \"cc\": \"pion\"\n}\n" {
		t.Errorf("%s", data)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, error %v", st.Mode(), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	empty(t, dir)
}

func TestWriteJSONLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(inTheWay, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		v          any
	}{
		{"a folder in the way", inTheWay, nil},
		{"no folder", filepath.Join(dir, "none", "r.json"), nil},
		{"what JSON has no word for", filepath.Join(dir, "r.json"), math.NaN()},
	}
	for _, tt := range tests {
		if err := WriteJSON(tt.path, tt.v); err == nil {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	empty(t, dir)
}
