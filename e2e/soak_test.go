// SPDX-License-Identifier: MIT

//go:build !race

package e2e

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/interceptor"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// endurance is an Estimator, as an application has it, over the simulated cell
// for a long time: what it sends goes through the radio, what arrives is
// reported by Pion's recorder, and the modem's records are assembled as the
// agent does. One goroutine moves it all in steps of soakStep; nothing is kept
// that grows.
type endurance struct {
	t         testing.TB
	est       *interceptor.Estimator
	w         pion.RTPWriter
	start     time.Time
	cell      *cell.Cell
	assembler *ratio.Assembler
	receiver  *twcc.Recorder
	seq       uint16
	id        int64
	numbers   [1 << 12]uint16    // transport-wide number by cell.Packet.ID
	written   [1 << 12]time.Time // when its frame was made
	timestamp uint32

	bytes       int64
	delays      []float64 // ms, of the hour
	dropped     int64
	silentUntil time.Time // feedback is lost
	agentUntil  time.Time // the agent is dead
}

const (
	soakStep = 5 * time.Millisecond
	soakBps  = 1_000_000
	soakExt  = 5
)

func newEndurance(t testing.TB, hours int) *endurance {
	t.Helper()
	s := &endurance{t: t, start: time.Now(), receiver: twcc.NewRecorder(1)}
	var handovers []cell.Handover
	var outages []cell.Outage
	for h := range hours {
		at := time.Duration(h) * time.Hour
		handovers = append(handovers, cell.Handover{At: at + 10*time.Minute, Interruption: 60 * time.Millisecond, KeepQueue: h%2 == 0})
		outages = append(outages, cell.Outage{At: at + 40*time.Minute, For: 3 * time.Second})
	}
	var err error
	s.cell, err = cell.New(cell.Config{
		Start: s.start, Seed: 1, Capacity: cell.Constant(soakBps), Handovers: handovers, Outages: outages,
		Path: cell.PathConfig{Loss: 0.001},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.restartAgent()
	if s.est, err = interceptor.NewEstimator(interceptor.WithBitrateBounds(100_000, 300_000, 5_000_000),
		interceptor.WithLoggerFactory(&warnings{})); err != nil {
		t.Fatal(err)
	}
	s.w = s.est.AddStream(&pion.StreamInfo{
		SSRC: 1, SSRCRetransmission: 2, MimeType: "video/VP8",
		RTPHeaderExtensions: []pion.RTPHeaderExtension{{URI: "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01", ID: soakExt}},
		RTCPFeedback:        []pion.RTCPFeedback{{Type: "transport-cc"}},
	}, pion.RTPWriterFunc(s.send))

	return s
}

func (s *endurance) restartAgent() {
	a, err := ratio.New(ratio.Config{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.assembler = a
}

// send is the network: the phone takes the packet at once. It is called from the
// Estimator's goroutine or from frame, while the loop sleeps or writes.
func (s *endurance) send(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
	n := h.MarshalSize() + len(payload)
	x := h.GetExtension(soakExt)
	slot := s.id % int64(len(s.numbers))
	s.numbers[slot] = uint16(x[0])<<8 | uint16(x[1])
	var at int64
	for _, b := range payload[:8] {
		at = at<<8 | int64(b)
	}
	s.written[slot] = s.start.Add(time.Duration(at))
	s.cell.Enqueue(time.Now(), cell.Packet{ID: s.id, Size: n + 38})
	s.id++

	return n, nil
}

func (s *endurance) frame() {
	if s.est.PacerDelay() > 250*time.Millisecond {
		return
	}
	s.timestamp += 3000
	since := time.Since(s.start)
	for left := s.est.GetTargetBitrate() / 8 / 30; left > 0; left -= 1200 {
		payload := make([]byte, max(60, min(1200, left)-60))
		for i := range 8 {
			payload[i] = byte(since >> (56 - 8*i))
		}
		s.seq++
		h := &rtp.Header{Version: 2, SSRC: 1, SequenceNumber: s.seq, Timestamp: s.timestamp}
		if _, err := s.w.Write(h, payload, nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run lets time pass.
func (s *endurance) run(d time.Duration) {
	end := time.Now().Add(d)
	frame, report, beat := time.Now(), time.Now(), time.Now()
	var records []diag.Record
	for time.Now().Before(end) {
		time.Sleep(soakStep)
		synctest.Wait()
		now := time.Now()
		out := s.cell.Advance(now)
		s.dropped += int64(len(out.Dropped))
		for _, d := range out.Delivered {
			slot := d.ID % int64(len(s.numbers))
			s.receiver.Record(1, s.numbers[slot], d.At.Sub(s.start).Microseconds())
			s.bytes += int64(d.Size)
			s.delays = append(s.delays, float64(d.At.Sub(s.written[slot]))/1e6)
		}
		records = records[:0]
		for _, r := range out.Records {
			records = append(records, r.Record)
		}
		if alive := now.After(s.agentUntil); alive && len(records) > 0 {
			s.est.PushTelemetry(s.assembler.OnRecords(now, records))
			beat = now
		} else if alive && now.Sub(beat) >= 100*time.Millisecond {
			s.est.PushTelemetry(s.assembler.OnTimeout(now))
			beat = now
		}
		if !now.Before(report) {
			report = report.Add(50 * time.Millisecond)
			pkts := s.receiver.BuildFeedbackPacket()
			if now.After(s.silentUntil) && len(pkts) > 0 {
				raw, err := rtcp.Marshal(pkts)
				if err != nil {
					s.t.Fatal(err)
				}
				if pkts, err = rtcp.Unmarshal(raw); err != nil {
					s.t.Fatal(err)
				}
				if err := s.est.WriteRTCP(pkts, nil); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		if !now.Before(frame) {
			frame = frame.Add(time.Second / 30)
			s.frame()
		}
	}
}

// hour is what an hour came to.
type hour struct {
	goodput, p50, p95 float64 // Mbit/s, ms, of ten undisturbed minutes
	whole             float64 // Mbit/s of the hour
	heap              float64 // MB
	goroutines        int
	modes             []string
}

// oneHour runs through everything that happens in an hour.
func (s *endurance) oneHour() hour {
	var h hour
	from := s.bytes
	mode := func() { h.modes = append(h.modes, s.est.Target().Mode.String()) }
	s.run(20 * time.Minute) // a handover in the middle
	mode()
	s.agentUntil = time.Now().Add(30 * time.Second)
	s.restartAgent()
	s.run(15 * time.Second)
	mode()
	s.run(10*time.Minute - 15*time.Second)
	mode()
	s.silentUntil = time.Now().Add(5 * time.Second)
	s.run(15 * time.Minute) // an outage in the middle
	mode()
	s.delays = s.delays[:0]
	calm := s.bytes
	s.run(10 * time.Minute)
	h.goodput = float64(s.bytes-calm) * 8 / 600 / 1e6
	slices.Sort(s.delays)
	h.p50, h.p95 = s.delays[len(s.delays)/2], s.delays[len(s.delays)*95/100]
	s.run(5 * time.Minute)
	s.delays = s.delays[:0]
	h.whole = float64(s.bytes-from) * 8 / 3600 / 1e6
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap, h.goroutines = float64(m.HeapAlloc)/1e6, runtime.NumGoroutine()

	return h
}

func mean(vs []float64) float64 {
	sum := 0.0
	for _, v := range vs {
		sum += v
	}

	return sum / float64(len(vs))
}

// TestSoak is an hour on a radio of 1 Mbit/s, or as many as GBRCC_SOAK_HOURS
// says (make soak: 24): every hour a handover, an agent that restarts, 5 s
// without feedback and 3 s without radio. Every hour must be as the one before,
// in rate, delay, memory and goroutines.
func TestSoak(t *testing.T) {
	hours := 1
	if v := os.Getenv("GBRCC_SOAK_HOURS"); v != "" {
		var err error
		if hours, err = strconv.Atoi(v); err != nil || hours < 1 {
			t.Fatalf("GBRCC_SOAK_HOURS is %q", v)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := newEndurance(t, hours)
		defer func() {
			if err := s.est.Close(); err != nil {
				t.Error(err)
			}
		}()
		var first hour
		var p50s []float64
		for i := range hours {
			h := s.oneHour()
			p50s = append(p50s, h.p50)
			t.Logf("hour %2d: calm %.3f Mbit/s, delay p50 %.0f p95 %.0f ms, all %.3f Mbit/s, heap %.2f MB, %d goroutines, %v",
				i+1, h.goodput, h.p50, h.p95, h.whole, h.heap, h.goroutines, h.modes)
			where := fmt.Sprintf("hour %d: ", i+1)
			within(t, where+"goodput", h.goodput, 0.88, 0.1, "Mbit/s")
			within(t, where+"delay p95", h.p95, 90, 50, "ms")
			within(t, where+"goodput of the hour", h.whole, 0.87, 0.1, "Mbit/s")
			if got := strings.Join(h.modes, " "); got != "dual outer-only dual dual" {
				t.Errorf("%smodes were %s", where, got)
			}
			if i == 0 {
				first = h

				continue
			}
			within(t, where+"goodput against the first", h.goodput/first.goodput, 1, 0.03, "")
			// Each hour's frames are at another phase of the phone's reports.
			within(t, where+"delay p50 against the first", h.p50-first.p50, 0, 10, "ms")
			within(t, where+"heap against the first", h.heap-first.heap, 0, 0.5, "MB")
			within(t, where+"goroutines against the first", float64(h.goroutines-first.goroutines), 0, 0, "")
		}
		if n := len(p50s) / 2; n >= 3 {
			within(t, "delay p50, drift from the first half to the second", mean(p50s[n:])-mean(p50s[:n]), 0, 3, "ms")
		}
		stats := s.est.GetStats()
		for _, key := range []string{
			interceptor.StatFeedbackMalformed, interceptor.StatPacketsUntracked, interceptor.StatPacketsUnsent, interceptor.StatFeedbackUntimed,
		} {
			if stats[key] != int64(0) {
				t.Errorf("%s is %v", key, stats[key])
			}
		}
		if r, ok := stats[interceptor.StatRTT].(float64); !ok || math.IsNaN(r) || r <= 0 || r > 500 {
			t.Errorf("round-trip time is %v ms", stats[interceptor.StatRTT])
		}
	})
}
