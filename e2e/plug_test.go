// SPDX-License-Identifier: MIT

package e2e

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/interceptor"
)

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Streams come and go and the call is renegotiated: one estimator carries on for
// all of them, an Allocator divides its target, and audio is not disturbed.
func TestPlugStreamsComeAndGo(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(4_000_000), seed: 1})
		rates := map[string]int{}
		bounds := map[string]interceptor.StreamBounds{
			"audio":  {ID: "audio", Priority: 9, MinBps: 60_000, MaxBps: 60_000, Always: true},
			"camera": {ID: "camera", Priority: 1, MinBps: 100_000},
			"screen": {ID: "screen", Priority: 1, MinBps: 100_000, Weight: 3},
		}
		apply := func(a []interceptor.Allocation) {
			c.mu.Lock()
			defer c.mu.Unlock()
			clear(rates)
			for _, x := range a {
				rates[x.ID] = x.BitrateBps
			}
		}
		allocator, err := interceptor.NewAllocator(nil, apply)
		if err != nil {
			t.Fatal(err)
		}
		streams := func(names ...string) {
			var b []interceptor.StreamBounds
			for _, n := range names {
				b = append(b, bounds[n])
			}
			if err := allocator.SetStreams(b); err != nil {
				t.Fatal(err)
			}
		}
		allocator.Serve(c.estimator)
		bps := func(name string) func() int {
			return func() int {
				c.mu.Lock()
				defer c.mu.Unlock()

				return rates[name]
			}
		}
		streams("audio", "camera")
		audio := c.add("audio", streamConfig{mime: webrtc.MimeTypeOpus, bps: bps("audio"), fps: 50})
		camera := c.add("camera", streamConfig{bps: bps("camera")})
		c.negotiate(nil)
		time.Sleep(12 * time.Second)
		one := c.rate(5 * time.Second)

		screen := c.add("screen", streamConfig{bps: bps("screen")})
		streams("audio", "camera", "screen")
		c.negotiate(nil)
		time.Sleep(5 * time.Second)
		before, at := c.got("screen"), c.got("camera")
		two := c.rate(5 * time.Second)
		screenRate := float64(c.got("screen").bytes-before.bytes) * 8 / 5e6
		cameraRate := float64(c.got("camera").bytes-at.bytes) * 8 / 5e6

		c.remove(camera)
		streams("audio", "screen")
		c.negotiate(nil)
		gone := c.got("camera").packets
		time.Sleep(3 * time.Second)
		three := c.rate(5 * time.Second)
		gone = c.got("camera").packets - gone
		sent, _, failed := audio.counts()
		audioGot, audioDelay := c.got("audio").packets, c.delay("audio", 0, 0.95)
		_, _, screenFailed := screen.counts()
		said := c.warnings.all()
		c.close()

		within(t, "one video", one, 3.7, 0.5, "Mbit/s")
		within(t, "two videos", two, 3.7, 0.5, "Mbit/s")
		within(t, "weights", screenRate/cameraRate, 3, 0.6, "")
		within(t, "after one is gone", three, 3.7, 0.5, "Mbit/s")
		within(t, "packets of what is gone", float64(gone), 0, 0, "packets")
		within(t, "audio that arrived", float64(audioGot)/float64(sent), 1, 0.02, "")
		within(t, "delay of audio p95", audioDelay, 65, 35, "ms")
		if failed > 0 || screenFailed > 0 || len(said) > 0 {
			t.Errorf("%d and %d writes failed, log: %q", failed, screenFailed, said)
		}
	})
}

// ICE is restarted in mid call: media and telemetry go on.
func TestPlugICERestart(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(4_000_000), seed: 2})
		video := c.add("video", streamConfig{})
		c.negotiate(nil)
		time.Sleep(15 * time.Second)
		before := c.rate(5 * time.Second)
		c.negotiate(&webrtc.OfferOptions{ICERestart: true})
		restarted := time.Since(c.start)
		after := c.rate(5 * time.Second)
		last, now := c.got("video").last, time.Since(c.start)
		_, _, failed := video.counts()
		mode := c.estimator.Target().Mode
		c.close()
		within(t, "before", before, 3.6, 0.5, "Mbit/s")
		within(t, "after", after, 3.5, 0.6, "Mbit/s")
		if now-last > 200*time.Millisecond || failed > 0 || mode != gbr.Dual {
			t.Errorf("restarted at %v, last packet %v before the end, %d writes failed, %v", restarted, now-last, failed, mode)
		}
	})
}

// FlexFEC on the wrong side of the TWCC extension is said in the log.
func TestPlugWrongFEC(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(3_000_000), seed: 8, fec: true, wrongFEC: true})
		c.add("video", streamConfig{})
		c.negotiate(nil)
		time.Sleep(3 * time.Second)
		said := c.warnings.all()
		c.close()
		// That nobody reports on FEC may be said, too.
		wrong := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return strings.Contains(s, "does not report on FEC") })
		if len(wrong) != 1 || !strings.Contains(wrong[0], "ConfigureFlexFEC03 before") {
			t.Errorf("log: %q", said)
		}
	})
}

// Requests for a key frame pass.
func TestPlugPLI(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Constant(3_000_000), seed: 9})
		video := c.add("video", streamConfig{})
		c.negotiate(nil)
		time.Sleep(2 * time.Second)
		for range 3 {
			if err := c.far.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(c.got("video").ssrc)}}); err != nil {
				t.Error(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		_, plis, _ := video.counts()
		c.close()
		if plis != 3 {
			t.Errorf("%d of 3 requests for a key frame arrived", plis)
		}
	})
}

// A call with everything in it may be closed at any point of its life.
func TestPlugClosesAtAnyPoint(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 3 * time.Millisecond, 90 * time.Millisecond, time.Second, 5 * time.Second} {
		bubble(t, func(t *testing.T) {
			c := newPlugCall(t, plugConfig{capacity: cell.Constant(2_000_000), seed: 13, fec: true, path: cell.PathConfig{Loss: 0.05}})
			c.estimator.OnTargetBitrateChange(func(int) { time.Sleep(20 * time.Millisecond) })
			c.estimator.OnAdvice(func(interceptor.Advice) {})
			c.add("audio", streamConfig{mime: webrtc.MimeTypeOpus, fps: 50, bps: func() int { return 60_000 }})
			c.add("video", streamConfig{})
			if after > 0 {
				c.negotiate(nil)
				time.Sleep(after)
			}
			c.close()
			if err := c.estimator.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Three simulcast layers are three streams of one sender: one estimator serves
// them all, and an Allocator turns layers off that do not fit.
func TestPlugSimulcast(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		c := newPlugCall(t, plugConfig{capacity: cell.Steps(
			cell.Step{Bps: 5_000_000, For: 25 * time.Second}, cell.Step{Bps: 1_300_000, For: time.Hour},
		), seed: 14})
		layers := []interceptor.StreamBounds{
			{ID: "q", Priority: 3, MinBps: 100_000, MaxBps: 400_000},
			{ID: "h", Priority: 2, MinBps: 300_000, MaxBps: 900_000},
			{ID: "f", Priority: 1, MinBps: 1_000_000, MaxBps: 2_500_000},
		}
		rates := map[string]int{}
		allocator, err := interceptor.NewAllocator(layers, func(a []interceptor.Allocation) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, x := range a {
				rates[x.ID] = x.BitrateBps
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		allocator.Serve(c.estimator)
		var tracks []*webrtc.TrackLocalStaticRTP
		var sender *webrtc.RTPSender
		for _, l := range layers {
			track, err := webrtc.NewTrackLocalStaticRTP(
				webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "video", webrtc.WithRTPStreamID(l.ID))
			if err != nil {
				t.Fatal(err)
			}
			tracks = append(tracks, track)
			if sender == nil {
				if sender, err = c.near.AddTrack(track); err != nil {
					t.Fatal(err)
				}

				continue
			}
			if err := sender.AddEncoding(track); err != nil {
				t.Fatal(err)
			}
		}
		// The RTCP of every layer has a reader of its own.
		for _, l := range layers {
			c.wg.Go(func() {
				for {
					if _, _, err := sender.ReadSimulcastRTCP(l.ID); err != nil {
						return
					}
				}
			})
		}
		c.negotiate(nil)
		ids := extensionIDs(t, sender)
		for i, l := range layers {
			c.wg.Go(func() {
				seq := uint16(0)
				for timestamp := uint32(0); c.ctx.Err() == nil; timestamp += 3000 {
					time.Sleep(time.Second / 30)
					c.mu.Lock()
					left := rates[l.ID] / 8 / 30
					c.mu.Unlock()
					for ; left > 0; left -= 1150 {
						p := &rtp.Packet{
							Header:  rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: timestamp},
							Payload: make([]byte, max(20, min(1100, left-50))),
						}
						binary.BigEndian.PutUint64(p.Payload[8:], uint64(time.Since(c.start)))
						_ = p.SetExtension(ids["urn:ietf:params:rtp-hdrext:sdes:mid"], []byte("0"))
						_ = p.SetExtension(ids["urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"], []byte(l.ID))
						_ = tracks[i].WriteRTP(p)
						seq++
					}
				}
			})
		}
		time.Sleep(20*time.Second - time.Since(c.start))
		c.mu.Lock()
		wide := maps.Clone(rates)
		c.mu.Unlock()
		wideRate := c.rate(4 * time.Second)
		time.Sleep(35*time.Second - time.Since(c.start))
		c.mu.Lock()
		narrow := maps.Clone(rates)
		c.mu.Unlock()
		narrowRate := c.rate(5 * time.Second)
		untracked := c.stat(interceptor.StatPacketsUntracked)
		c.close()
		within(t, "rate of all layers", wideRate, 3.75, 0.5, "Mbit/s")
		within(t, "rate of those that fit", narrowRate, 1.2, 0.25, "Mbit/s")
		if wide["q"] != 400_000 || wide["h"] != 900_000 || wide["f"] < 1_000_000 {
			t.Errorf("layers at 5 Mbit/s: %v", wide)
		}
		if narrow["q"] == 0 || narrow["h"] == 0 || narrow["f"] != 0 {
			t.Errorf("layers at 1.3 Mbit/s: %v", narrow)
		}
		within(t, "untracked", untracked, 0, 0, "packets")
	})
}

// extensionIDs are the header extensions that were negotiated, by URI.
func extensionIDs(t *testing.T, sender *webrtc.RTPSender) map[string]uint8 {
	t.Helper()
	ids := map[string]uint8{}
	for _, x := range sender.GetParameters().HeaderExtensions {
		ids[x.URI] = uint8(x.ID)
	}
	if len(ids) < 3 {
		t.Fatalf("extensions: %v", ids)
	}

	return ids
}
