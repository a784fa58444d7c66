// SPDX-License-Identifier: MIT

package metrics

import (
	"maps"
	"slices"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, f *interceptor.PeerFactory, id string) pion.Interceptor {
	t.Helper()
	i, err := f.NewInterceptor(id)
	if err != nil {
		t.Fatal(err)
	}

	return i
}

// Two PeerConnections are two of each series; what is closed is gone; names are
// as promlint wants them.
func TestCollector(t *testing.T) {
	f, err := interceptor.NewInterceptor(interceptor.WithBitrateBounds(100_000, 300_000, 5_000_000))
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(f.Estimators))
	first, second := open(t, f, "one"), open(t, f, "two")
	w := first.BindLocalStream(&pion.StreamInfo{SSRC: 1, MimeType: "video/VP8"}, pion.RTPWriterFunc(
		func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
			return h.MarshalSize() + len(payload), nil
		}))
	if _, err := w.Write(&rtp.Header{Version: 2, SSRC: 1}, make([]byte, 100), nil); err != nil {
		t.Fatal(err)
	}
	f.Estimators()["one"].PushSample(gbr.Sample{At: time.Now(), Window: 5 * time.Millisecond, Granted: 500, Reported: 1000})
	time.Sleep(20 * time.Millisecond)                // the packet leaves
	gather := func() map[string]map[string]float64 { // series -> peer and text -> value
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		problems, err := promlint.NewWithMetricFamilies(families).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		got := map[string]map[string]float64{}
		for _, fam := range families {
			got[fam.GetName()] = map[string]float64{}
			for _, m := range fam.GetMetric() {
				key := ""
				for _, l := range m.GetLabel() {
					key = l.GetValue() + " " + key
				}
				got[fam.GetName()][key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}

		return got
	}
	got := gather()
	for name, want := range map[string]map[string]float64{
		"gbrcc_target_bitrate_bps":  {"one ": 300_000, "two ": 300_000},
		"gbrcc_sent_packets_total":  {"one ": 1, "two ": 0},
		"gbrcc_sent_bytes_total":    {"one ": 150, "two ": 0},
		"gbrcc_mode":                {"one dual ": 1, "two outer-only ": 1},
		"gbrcc_samples_used_total":  {"one ": 1, "two ": 0},
		"gbrcc_grant_ratio":         {"one ": 0.5},   // unknown is not shown
		"gbrcc_radio_queue_seconds": {"one ": 0.010}, // 5 ms / 0.5
	} {
		have := got[name]
		if name == "gbrcc_target_bitrate_bps" {
			delete(have, "one ") // a sample has moved it
			delete(want, "one ")
		}
		if len(have) != len(want) {
			t.Errorf("%s: %v, want %v", name, have, want)
		}
		for k, v := range want {
			if d := have[k] - v; d < -1e-9 || d > 1e-9 {
				t.Errorf("%s of %q is %g, want %g", name, k, have[k], v)
			}
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for name, have := range gather() {
		if len(have) > 1 {
			t.Errorf("%s after one is closed: %v", name, have)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// No stat is forgotten, none is invented.
func TestEveryStatIsASeries(t *testing.T) {
	e, err := interceptor.NewEstimator()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	keys := slices.Sorted(maps.Keys(e.GetStats()))
	var have []string
	for _, s := range all() {
		have = append(have, s.stat)
	}
	slices.Sort(have)
	if !slices.Equal(keys, have) {
		t.Errorf("stats  %v\nseries %v", keys, have)
	}
}
