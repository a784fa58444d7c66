// SPDX-License-Identifier: MIT

package cell

import (
	"strings"
	"testing"
	"time"
)

func TestParseTrace(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		len        time.Duration
		at         map[int64]int
	}{
		{"mahimahi", "0\n2\n2\r\n\n5", 6 * time.Millisecond, map[int64]int{0: 1504, 1: 0, 2: 3008, 5: 1504, 6: 1504, 8: 3008, -1: 0}},
		{"csv bytes", "ms,bytes\n0,100\n3,7\n3,5\n", 4 * time.Millisecond, map[int64]int{0: 100, 1: 0, 3: 12, 4: 100}},
		{"csv kbps", "\xef\xbb\xbft_ms,ul_kbps\n0,80\n2,8\n4,800\n", 6 * time.Millisecond, map[int64]int{0: 10, 1: 10, 2: 1, 3: 1, 4: 100, 5: 100}},
		{"csv keeps fractions", "t_ms,ul_kbps\n0,4\n", time.Second, map[int64]int{0: 0, 1: 1, 2: 0, 3: 1}},
		{"csv mbps, extra column", "t_s, rsrp, ul_mbps\n0,-80,1\n1,-81,0\n2,x,8\n", 3 * time.Second, map[int64]int{0: 125, 999: 125, 1000: 0, 2999: 1000, 3000: 125}},
		{"csv starts late", "t_ms,ul_kbps\n2,8\n3,8\n", 4 * time.Millisecond, map[int64]int{0: 0, 1: 0, 2: 1, 3: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr, err := ParseTrace("x", []byte(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if tr.Len() != tc.len {
				t.Errorf("length %v, want %v", tr.Len(), tc.len)
			}
			for ms, want := range tc.at {
				if got := tr.At(ms); got != want {
					t.Errorf("At(%d) = %d, want %d", ms, got, want)
				}
			}
		})
	}
}

func TestParseTraceErrors(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"empty", "", "cell: trace x: no data"},
		{"blank", "\n \n", "cell: trace x: no data"},
		{"junk", "1\n2\nhello\n", `line 3: time "hello" is not a number`},
		{"binary", "\x00\x01\x02", `line 1: time "\x00\x01\x02" is not a number`},
		{"negative", "1\n-2\n", `line 2: time "-2" is negative`},
		{"descending", "5\n\n4\n", "line 3: time 4 ms comes after 5 ms"},
		{"too late", "5\n3600000\n", `line 2: time "3600000" is an hour or more`},
		{"not a number", "NaN\n", `line 1: time "NaN" is not a number`},
		{"too dense", strings.Repeat("7\n", 100), "line 84: more than 125000 bytes (1 Gbit/s) in ms 7"},
		{"two columns without a header", "1,2\n", `line 1: header "1,2" names no time`},
		{"no value", "t_ms,foo\n1,2\n", `names no time`},
		{"two values", "t_ms,bytes,ul_mbps\n", `column "ul_mbps" is one too many`},
		{"header only", "t_ms,ul_kbps\n", "a header but no data"},
		{"too few columns", "t_ms,ul_kbps\n5\n", "line 2: 1 columns are too few"},
		{"csv negative", "t_ms,ul_kbps\n0,-5\n", `line 2: ul_kbps "-5" is negative`},
		{"csv junk", "t_ms,ul_kbps\n0,5\n1,\n", `line 3: ul_kbps "" is not a number`},
		{"csv descending", "t_ms,ul_kbps\n5,5\n4,5\n", "line 3: time 4 ms comes after 5 ms"},
		{"csv twice the same time", "t_ms,ul_kbps\n5,5\n5,5\n", "line 3: time 5 ms comes after 5 ms"},
		{"csv absurd", "t_s,ul_mbps\n0,1001\n", `line 2: ul_mbps "1001" is more than 1 Gbit/s`},
		{"csv absurd bytes", "ms,bytes\n0,125001\n", `is more than 1 Gbit/s`},
		{"csv infinite", "ms,bytes\n0,1e999\n", `line 2: bytes "1e999" is not a number`},
		{"csv nothing", "ms,bytes\n0,0\n", "no capacity anywhere"},
		{"long token", strings.Repeat("z", 99), `time "zzzzzzzzzzzzzzzzzzzzzzzz..." is not`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseTrace("x", []byte(tc.data))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "cell: trace x: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q in one line", err, tc.want)
			}
		})
	}
	if _, err := ParseTrace("x", make([]byte, maxTraceFile+1)); err == nil || !strings.Contains(err.Error(), "is larger than") {
		t.Errorf("huge file: %v", err)
	}
}

func TestRealTraces(t *testing.T) {
	for _, tc := range []struct {
		file string
		mbps float64
		secs float64
	}{
		{"ATT-LTE-driving-2016.up", 1.91, 120},
		{"TMobile-LTE-short.up", 13.27, 140},
		{"Verizon-LTE-short.up", 5.96, 140},
		{"umn_tmobile_SA_n71_walk_ul_1.csv", 26.5, 936},
		{"umn_tmobile_NSA_walk_ul_1.csv", 83.4, 224},
	} {
		t.Run(tc.file, func(t *testing.T) {
			tr, err := ParseTrace(tc.file, readTrace(t, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			within(t, "mean", float64(tr.MeanBps(0, tr.Len()))/1e6, tc.mbps, 0.05*tc.mbps, "Mbit/s")
			within(t, "length", tr.Len().Seconds(), tc.secs, 0.02*tc.secs, "s")
			if _, err := New(Config{Start: t0(), Capacity: tr}); err != nil {
				t.Error(err)
			}
		})
	}
	const file = "alphartc_5G_12mbps_ul.csv"
	tr, err := ParseTrace(file, readTrace(t, file))
	if err != nil {
		t.Fatal(err)
	}
	within(t, file+" length", tr.Len().Seconds(), 61, 0.3, "s")
	// This one has a slip of 8 Gbit/s in it.
	const slip = "alphartc_4G_3mbps_ul.csv"
	if _, err := ParseTrace(slip, readTrace(t, slip)); err == nil || !strings.Contains(err.Error(), "line 23: ") {
		t.Errorf("%s: %v, want an error that names line 23", slip, err)
	}
}

func TestTraceRepeats(t *testing.T) {
	tr := Steps(Step{2 * time.Second, 8e6}, Step{time.Second, 2e6}, Step{-time.Second, 1e6})
	if tr.Len() != 3*time.Second {
		t.Fatalf("length %v", tr.Len())
	}
	for _, tc := range []struct{ from, to, mbps float64 }{
		{0, 2, 8}, {2, 3, 2}, {1, 3, 5}, {3, 5, 8}, {5, 6, 2}, {0, 6, 6}, {-1, 1, 8}, {4, 4, 0}, {5, 4, 0},
	} {
		got := tr.MeanBps(time.Duration(tc.from*1e9), time.Duration(tc.to*1e9))
		within(t, "mean", float64(got)/1e6, tc.mbps, 1e-6, "Mbit/s")
	}
	if c := Constant(1_234_568); c.MeanBps(0, time.Second) != 1_234_568 || c.MeanBps(0, time.Hour) != 1_234_568 {
		t.Errorf("constant: %d", c.MeanBps(0, time.Hour))
	}
	var zero Trace
	if zero.At(5) != 0 || zero.MeanBps(0, time.Second) != 0 || zero.Len() != 0 {
		t.Error("the zero trace carries something")
	}
}

func TestNewTrace(t *testing.T) {
	tr, err := NewTrace("x", []int{1, 2, 3})
	if err != nil || tr.At(4) != 2 {
		t.Errorf("got %d, %v", tr.At(4), err)
	}
	for _, bad := range [][]int{{1, -1}, {maxBytesPerMs + 1}, make([]int, maxTraceMs+1)} {
		if _, err := NewTrace("x", bad); err == nil {
			t.Error("no error")
		}
	}
}

func TestSynthLTE(t *testing.T) {
	for seed := range uint64(10) {
		tr := SynthLTE(seed, time.Minute)
		within(t, "mean", float64(tr.MeanBps(0, tr.Len()))/1e6, 7, 1, "Mbit/s")
		low, high := 1e9, 0.0
		gap, gaps, longest := 0, 0, 0
		for i := range int64(60000) {
			if tr.At(i) == 0 {
				gap++
				continue
			}
			if gap >= 90 {
				gaps++
			}
			longest, gap = max(longest, gap), 0
		}
		for i := range 120 {
			from := time.Duration(i) * 500 * time.Millisecond
			m := float64(tr.MeanBps(from, from+500*time.Millisecond)) / 1e6
			low, high = min(low, m), max(high, m)
		}
		if low > 2 || high < 11 || high > 16.01 {
			t.Errorf("seed %d: half seconds from %.1f to %.1f Mbit/s, want a swing from below 2 to above 11, at most 16", seed, low, high)
		}
		if gaps > 12 || longest > 320 {
			t.Errorf("seed %d: %d outages, longest %d ms", seed, gaps, longest)
		}
	}
	a, b := SynthLTE(1, time.Second), SynthLTE(1, time.Second)
	for i := range int64(1000) {
		if a.At(i) != b.At(i) {
			t.Fatal("the same seed gives two traces")
		}
	}
	if SynthLTE(1, -time.Second).Len() != 0 {
		t.Error("a trace of negative length")
	}
}

func FuzzParseTrace(f *testing.F) {
	for _, s := range []string{
		"", "0\n2\n2\n5\n", "7\n7\n10\n", "ms,bytes\n0,1504\n3,7\n", "t_ms,ul_kbps\n0,0\n200,1720\n",
		"t_s,ul_mbps,nr_ssrsrp\n0,110.00,-70.0\n1,69.20,-70.0\n", "-1\n", "ms,bytes\n1,-1\n", "\xff\xfe", "ms,ul_mbps\r\n0,1e3\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := ParseTrace("fuzz", data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		n := tr.Len().Milliseconds()
		if n <= 0 || n > maxTraceMs {
			t.Fatalf("length %d ms", n)
		}
		sum := 0
		for i := range n {
			v := tr.At(i)
			if v < 0 || v > maxBytesPerMs {
				t.Fatalf("%d bytes in ms %d", v, i)
			}
			sum += v
		}
		if sum <= 0 {
			t.Fatal("a trace without capacity")
		}
	})
}

// Steps that mean no limit are left out, and nothing else is touched.
func TestDropNoLimit(t *testing.T) {
	for text, want := range map[string]struct {
		rest    string
		dropped int
	}{
		"t_ms,ul_kbps\n0,0\n1000,8000\n2000,8039999\n3000,4000\n": {"t_ms,ul_kbps\n0,0\n1000,8000\n2000,8000\n3000,4000\n", 1},
		"t_s,ul_mbps\n0,1001\n1,8\n2,1001":                        {"t_s,ul_mbps\n\n1,8\n", 2},
		"t_s,ul_mbps\n0,8\n1,1000\n2,NaN\n3,+Inf\n":               {"t_s,ul_mbps\n0,8\n1,1000\n2,NaN\n3,+Inf\n", 0},
		"ms,bytes\n0,9999999\n":                                   {"ms,bytes\n0,9999999\n", 0},
		"1\n2000000000\n":                                         {"1\n2000000000\n", 0},
		"":                                                        {"", 0},
	} {
		rest, dropped := DropNoLimit([]byte(text))
		if string(rest) != want.rest || dropped != want.dropped {
			t.Errorf("%q: %q, %d; want %q, %d", text, rest, dropped, want.rest, want.dropped)
		}
	}
}
