// SPDX-License-Identifier: MIT

package cell

import (
	"strings"
	"testing"
	"time"
)

func TestSplitLeg(t *testing.T) {
	for _, tc := range []struct{ file, path, leg string }{
		{"a.csv", "a.csv", ""},
		{"dir/a.csv#nr", "dir/a.csv", "nr"},
		{"a.csv#lte", "a.csv", "lte"},
		{"a#b.csv#both", "a#b.csv", "both"},
		{"a#b.csv", "a#b.csv", ""},
		{"a.csv#NR", "a.csv#NR", ""},
		{"a.csv#", "a.csv#", ""},
		{"#nr", "#nr", ""},
		{"", "", ""},
	} {
		if path, leg := SplitLeg(tc.file); path != tc.path || leg != tc.leg {
			t.Errorf("SplitLeg(%q) = %q, %q, want %q, %q", tc.file, path, leg, tc.path, tc.leg)
		}
	}
}

func TestParseTraceLeg(t *testing.T) {
	// 1000 bytes in each of 20 TTIs are 1000 bytes/ms, in each of 8 slots 400.
	const both = "t_ms,nr_tbs,nr_rb,lte_tbs\n0,1000,7,2000\n20,0,7,10\n"
	for _, tc := range []struct {
		leg    string
		at, on int // in the first row, in the second
	}{
		{"nr", 400, 0}, {"lte", 2000, 10}, {"both", 2400, 10}, {"", 2400, 10},
	} {
		tr, err := ParseTraceLeg("x", []byte(both), tc.leg)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Len() != 40*time.Millisecond || tr.At(0) != tc.at || tr.At(19) != tc.at || tr.At(20) != tc.on {
			t.Errorf("leg %q: %v long, %d, %d and %d bytes/ms, want 40ms, %d and %d",
				tc.leg, tr.Len(), tr.At(0), tr.At(19), tr.At(20), tc.at, tc.on)
		}
	}
	only, err := ParseTraceLeg("x", []byte("lte_tbs,t_s\n50,0\n60,1\n"), "")
	if err != nil || only.At(0) != 50 || only.At(1000) != 60 {
		t.Errorf("one leg: %d, %d, %v", only.At(0), only.At(1000), err)
	}
	for _, tc := range []struct{ name, data, leg, want string }{
		{"unknown leg", both, "wifi", `unknown leg "wifi", choose from nr, lte and both`},
		{"no such leg", "t_ms,lte_tbs\n0,5\n", "nr", "names no time"},
		{"no legs", "t_ms,ul_kbps\n0,5\n", "lte", `no leg "lte" in it`},
		{"no legs for both", "t_ms,ul_kbps\n0,5\n", "both", `no leg "both" in it`},
		{"mahimahi", "1\n2\n", "nr", `no leg "nr" in it`},
		{"rate and leg", "t_ms,ul_kbps,nr_tbs\n0,5,5\n", "", `column "nr_tbs" is one too many`},
		{"leg and rate", "t_ms,nr_tbs,ul_kbps\n0,5,5\n", "", `column "ul_kbps" is one too many`},
		{"leg twice", "t_ms,nr_tbs,nr_tbs\n0,5,5\n", "", `column "nr_tbs" is one too many`},
		{"legs and a third", "t_ms,nr_tbs,lte_tbs,nr_tbs\n0,5,5,5\n", "", `column "nr_tbs" is one too many`},
		{"too few columns", "t_ms,nr_tbs,lte_tbs\n0,5\n", "", "line 2: 2 columns are too few"},
		{"absurd", "t_ms,nr_tbs,lte_tbs\n0,0,125001\n", "", `line 2: lte_tbs "125001" is more than 1 Gbit/s`},
		{"absurd together", "t_ms,nr_tbs,lte_tbs\n0,200000,100000\n", "", `line 2: the legs together are more than 1 Gbit/s`},
		{"junk", "t_ms,nr_tbs,lte_tbs\n0,0,5\n20,,5\n", "", `line 3: nr_tbs "" is not a number`},
		{"nothing", "t_ms,nr_tbs,lte_tbs\n0,0,5\n", "nr", "no capacity anywhere"},
	} {
		_, err := ParseTraceLeg("x", []byte(tc.data), tc.leg)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "cell: trace x: ") {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}

// The one row that is absurd spoils the trace, however sane the rows around it.
func TestSlipBetweenSaneRows(t *testing.T) {
	data := "t_ms,ul_kbps\n" + "0,3000\n200,3100\n400,8039999\n600,2900\n"
	if _, err := ParseTrace("x", []byte(data)); err == nil || !strings.Contains(err.Error(), "line 4: ul_kbps") {
		t.Errorf("got %v, want an error that names line 4", err)
	}
}

func TestRealLegs(t *testing.T) {
	for _, tc := range []struct {
		file          string
		nr, lte, secs float64 // means in Mbit/s
	}{
		{"korea_nsa_static_LGU_20220330_1354.csv", 3.5, 41.4, 265},
		{"korea_nsa_static_LGU_20220330_1334.csv", 33.9, 0.337, 321},
	} {
		data := readTrace(t, tc.file)
		for leg, mbps := range map[string]float64{"nr": tc.nr, "lte": tc.lte, "both": tc.nr + tc.lte, "": tc.nr + tc.lte} {
			tr, err := ParseTraceLeg(tc.file, data, leg)
			if err != nil {
				t.Fatal(err)
			}
			within(t, tc.file+" "+leg+": mean", float64(tr.MeanBps(0, tr.Len()))/1e6, mbps, 0.05*mbps, "Mbit/s")
			within(t, tc.file+" "+leg+": length", tr.Len().Seconds(), tc.secs, 0.02*tc.secs, "s")
			if _, err := New(Config{Start: t0(), Capacity: tr}); err != nil {
				t.Error(err)
			}
		}
	}
}

func FuzzParseTraceLeg(f *testing.F) {
	for _, leg := range []string{"", "nr", "lte", "both", "x"} {
		f.Add([]byte("t_ms,nr_tbs,nr_rb,lte_tbs\n0,1000,7,2000\n20,0,7,10\n"), leg)
		f.Add([]byte("t_s,lte_tbs\n0,1e5\n1,3\n"), leg)
		f.Add([]byte("0\n2\n"), leg)
	}
	f.Fuzz(func(t *testing.T, data []byte, leg string) {
		tr, err := ParseTraceLeg("fuzz", data, leg)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		for i := range min(tr.Len().Milliseconds(), 1000) {
			if v := tr.At(i); v < 0 || v > maxBytesPerMs {
				t.Fatalf("%d bytes in ms %d", v, i)
			}
		}
	})
}
