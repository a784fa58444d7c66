// SPDX-License-Identifier: MIT

package sim_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/e2e/sim"
	"github.com/gbrcc/gbrcc/gbr"
)

// outsider sends what the source has, at once, at a fixed target.
type outsider struct {
	far, near, bad, samples int
	points                  []sim.Point
}

func (x *outsider) run(t *testing.T, sc sim.Scenario, bps int) sim.Result {
	t.Helper()
	text := []byte("a datagram")
	count := func(n *int) func([]byte) {
		return func(b []byte) {
			*n++
			if !bytes.Equal(b, text) {
				x.bad++
			}
		}
	}
	// A clock of its own.
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	o, err := sim.NewOutside(sc, "outsider", 1, now, sim.Hooks{
		Far: count(&x.far), Near: count(&x.near), Telemetry: func(t gbr.Telemetry) { x.samples += len(t.Samples) },
	}, sim.Options{ObserveEvery: time.Second, Observe: func(p sim.Point) { x.points = append(x.points, p) }})
	if err != nil {
		t.Fatal(err)
	}
	report := now
	for !now.After(o.End()) {
		o.OnRates(now, sim.Rates{TargetBps: bps, PacingBps: 2 * bps}, 100)
		for _, m := range o.Capture(now, 0) {
			o.SendMedia(now, text, m.Piece, now)
		}
		if !report.After(now) {
			o.Send(now, text)
			o.SendBack(now, text)
			report = report.Add(sc.FeedbackEvery)
		}
		next, err := o.Run(now)
		if err != nil {
			t.Fatal(err)
		}
		if !next.After(now) {
			t.Fatalf("at %v the next is %v", now, next)
		}
		for _, at := range []time.Time{o.NextCapture(), report} {
			if at.Before(next) {
				next = at
			}
		}
		now = next
	}

	return o.Finish()
}

// A sender outside is measured as one inside: the same frames over the same
// radio give the same figures.
func TestOutsideIsTheSame(t *testing.T) {
	for _, name := range []string{"const-8", "backhaul-3"} {
		sc := scenario(t, name, 40*time.Second)
		var x outsider
		got, want := x.run(t, sc, 2_000_000), run(t, sc, "fixed", 1, sim.Options{})
		within(t, name+" goodput", got.GoodputMbps, want.GoodputMbps, 0.01*want.GoodputMbps, "Mbit/s")
		within(t, name+" playout p50", got.PlayoutP50, want.PlayoutP50, 8, "ms")
		within(t, name+" phone queue p50", got.UEQueueP50, want.UEQueueP50, 15, "ms") // it does not pace
		within(t, name+" target", got.TargetMean, 2, 0, "Mbit/s")
		if got.FramesSent != want.FramesSent || got.CapacityMbps != want.CapacityMbps || got.CC != "outsider" || got.LossRatio != 0 || got.Flows != 1 {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
		if x.samples != got.Samples || x.samples < 1000 || x.bad > 0 || x.near < 790 || x.far < 5000 {
			t.Errorf("%s: heard of %d samples, %d counted; %d datagrams ahead, %d back, %d of them not as sent", name, x.samples, got.Samples, x.far, x.near, x.bad)
		}
		if p := x.points; len(p) != 40 || p[20].TargetBps != 2_000_000 || p[20].PacingBps != 4_000_000 || p[20].PacerBacklog != 100 || p[20].GoodputBps < 1_500_000 || p[20].Playout <= 0 {
			t.Errorf("%s: %d points, one of them %+v", name, len(p), p[20])
		}
	}
}

// Whoever does not send again what is lost is asked for key frames, and goes on.
func TestOutsideLoss(t *testing.T) {
	sc := scenario(t, "const-8", 40*time.Second)
	sc.Cell.Path.Loss = 0.01
	var x outsider
	r := x.run(t, sc, 2_000_000)
	within(t, "loss", r.LossRatio, 0.01, 0.003, "")
	if r.KeyFrameRequests < 5 || r.FramesRendered < 100 || r.FramesRendered > 890 {
		t.Errorf("%d key frames asked for, %d of %d frames shown", r.KeyFrameRequests, r.FramesRendered, r.FramesSent)
	}
}

func TestCheckOutside(t *testing.T) {
	for want, change := range map[string]func(*sim.Scenario){
		"warm-up":            func(s *sim.Scenario) { s.Duration = time.Second },
		"audio":              func(s *sim.Scenario) { s.Audio = &media.AudioConfig{} },
		"measured algorithm": func(s *sim.Scenario) { s.Flows = []sim.Flow{{CC: "gcc"}, {}} },
	} {
		sc := scenario(t, "const-3", 40*time.Second)
		change(&sc)
		if err := sim.CheckOutside(sc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := sim.NewOutside(sc, "", 1, time.Now(), sim.Hooks{}, sim.Options{}); err == nil {
			t.Errorf("%s: begun", want)
		}
	}
}
