// SPDX-License-Identifier: MIT

//go:build browser

package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/gateway"
)

// moment is what is known at one time.
type moment struct {
	at      time.Duration // since the cell's start
	pacing  float64       // what the pacer may send, Mbit/s
	target  float64       // what the browser is told, Mbit/s
	browser float64       // what it sends, Mbit/s over the last half second
	sent    int64         // bytes into the phone, from the beginning
	queue   time.Duration // in the phone
	wait    time.Duration // in the pacer
	rate    float64       // before smoothing, Mbit/s
	outer   float64       // the end-to-end loop's
	mode    string
}

// watch looks at a gateway every two milliseconds until stop.
func watch(w *way) (stop func() []moment) {
	var all []moment
	done := make(chan struct{})
	var wg sync.WaitGroup
	up, _ := w.uplink.(*gateway.Uplink)
	wg.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		var got []int64
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			s := w.cellular.link.Snapshot()
			got = append(got, w.near.server.Stats().BytesIn)
			m := moment{at: s.At.Sub(w.cellular.start), queue: s.QueueDelay, sent: w.cellular.link.Stats().BytesIn}
			for i := len(all) - 1; i >= 0; i-- {
				if d := m.at - all[i].at; d >= 500*time.Millisecond || i == 0 {
					m.browser = float64(got[len(got)-1]-got[i]) * 8 / 1e6 / d.Seconds()

					break
				}
			}
			if est := up.Estimator(); est != nil {
				t := est.Target()
				m.pacing, m.target = float64(t.PacingBps)/1e6, float64(est.GetTargetBitrate())/1e6
				m.rate, m.outer = float64(t.RateBps)/1e6, float64(t.Outer.BitrateBps)/1e6
				m.wait, m.mode = est.PacerDelay(), t.Mode.String()
			}
			all = append(all, m)
		}
	})

	return func() []moment {
		close(done)
		wg.Wait()

		return all
	}
}

// first is how long after a time something was so; -1: never in the time given.
func first(all []moment, after, within time.Duration, so func(moment) bool) time.Duration {
	for _, m := range all {
		if m.at >= after && m.at < after+within && so(m) {
			return m.at - after
		}
	}

	return -1
}

// median takes -1, never, for the longest.
func median[T time.Duration | float64](d []T) T {
	d = slices.Clone(d)
	for i := range d {
		if d[i] < 0 {
			d[i] = 1 << 60
		}
	}
	slices.Sort(d)

	return d[len(d)/2]
}

// The radio goes from 0.6 to 3 Mbit/s and back, three times: the browser follows
// upwards, and downwards the uplink does not wait for it.
func TestChromiumRates(t *testing.T) {
	const period = 9 * time.Second
	var csv strings.Builder
	csv.WriteString("t_ms,ul_kbps\n")
	line := func(from, to time.Duration, kbps string) {
		for at := from; at < to; at += 100 * time.Millisecond {
			fmt.Fprintf(&csv, "%d,%s\n", at.Milliseconds(), kbps)
		}
	}
	const settle = 8 * time.Second
	line(0, settle, "600")
	for i := range 3 {
		at := settle + time.Duration(i)*2*period
		line(at, at+period, "3000")
		line(at+period, at+2*period, "600")
	}
	file := filepath.Join(t.TempDir(), "steps.csv")
	if err := os.WriteFile(file, []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	browser := headless.Start(t, map[string]any{"window-size": "1400,800"})
	o, err := parse([]string{"-trace", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWay(t.Context(), o, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer w.close() //nolint:errcheck // tested elsewhere
	stop := watch(w)
	from := headless.Tab(t, browser, w.near.base+"publish?source=pattern#"+w.token)
	headless.Wait(t, from, isLive)
	time.Sleep(time.Until(w.cellular.start.Add(settle + 6*period)))
	all := stop()

	var ups, cuts, obeyed, phone []time.Duration
	var rates, told []float64
	for i := range 3 {
		up := settle + time.Duration(i)*2*period
		down := up + period
		ups = append(ups, first(all, up, period, func(m moment) bool { return m.browser >= 1.7 }))
		cuts = append(cuts, first(all, down, period, func(m moment) bool { return m.rate <= 0.72 }))
		obeyed = append(obeyed, first(all, down, period, func(m moment) bool { return m.browser <= 0.72 }))
		rates = append(rates, sent(all, down+50*time.Millisecond, down+300*time.Millisecond))
		told = append(told, mean(all, down+time.Second, down+period, func(m moment) float64 { return m.target }))
		var most time.Duration
		for _, m := range all {
			if m.at >= down && m.at < down+period {
				most = max(most, m.queue)
			}
		}
		phone = append(phone, most)
		t.Logf("up: the browser at 1.7 Mbit/s after %v; down: the uplink after %v, %.2f Mbit/s from 50 to 300 ms, the browser after %v; "+
			"at most %v in the phone; target %.2f Mbit/s, the browser %.2f from 1 s on",
			ups[i], cuts[i], rates[i], obeyed[i], most, told[i],
			mean(all, down+time.Second, down+period, func(m moment) float64 { return m.browser }))
	}
	headless.Artifact(t, "gateway-rates.csv", table(all))
	// Medians of three, of a machine that may have other things to do.
	within := func(what string, got, least, most time.Duration) {
		if got < least || got > most {
			t.Errorf("%s: %v, want %v to %v", what, got, least, most)
		}
	}
	within("from 0.6 to 2 Mbit/s, less 15 %", median(ups), 300*time.Millisecond, 3*time.Second)
	within("the uplink is cut after", median(cuts), 0, 50*time.Millisecond)
	within("the browser has obeyed after", median(obeyed), 100*time.Millisecond, 1500*time.Millisecond)
	within("in the phone", median(phone), 30*time.Millisecond, 350*time.Millisecond)
	if r := median(rates); r < 0.02 || r > 0.72 {
		t.Errorf("50 ms after the drop to 0.6 Mbit/s the uplink sends %.2f, want 0.02 to 0.72", r)
	}
	if r := median(told); r < 0.4 || r > 0.6 {
		t.Errorf("on 0.6 Mbit/s the target is %.2f, want 0.4 to 0.6", r)
	}
}

// sent is the rate into the phone, in Mbit/s.
func sent(all []moment, from, to time.Duration) float64 {
	var a, b *moment
	for i := range all {
		if m := &all[i]; m.at <= from {
			a = m
		} else if m.at <= to {
			b = m
		}
	}

	return float64(b.sent-a.sent) * 8 / 1e6 / (b.at - a.at).Seconds()
}

func mean(all []moment, from, to time.Duration, of func(moment) float64) float64 {
	sum, n := 0.0, 0
	for _, m := range all {
		if m.at >= from && m.at < to {
			sum += of(m)
			n++
		}
	}

	return sum / float64(max(n, 1))
}

// table is all of it, every 20 ms, to be looked at.
func table(all []moment) []byte {
	var b bytes.Buffer
	b.WriteString("t_s,pacing_mbps,target_mbps,browser_mbps,phone_queue_ms,pacer_ms,rate_mbps,outer_mbps,mode\n")
	for i := 0; i < len(all); i += 10 {
		m := all[i]
		fmt.Fprintf(&b, "%.3f,%.3f,%.3f,%.3f,%.1f,%.1f,%.3f,%.3f,%s\n", m.at.Seconds(), m.pacing, m.target, m.browser,
			m.queue.Seconds()*1000, m.wait.Seconds()*1000, m.rate, m.outer, m.mode)
	}

	return b.Bytes()
}
