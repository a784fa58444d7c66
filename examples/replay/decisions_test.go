// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
	"github.com/gbrcc/gbrcc/interceptor"
)

// recordRun is the event log of eight seconds: packets at the target rate,
// feedback every 50 ms, a sample every 5 ms that asks for growth for 4 s and
// for less then, with a pause of the telemetry at 6 s. Timers fire late by up to
// lateness.
func recordRun(tb testing.TB, lateness time.Duration) []byte {
	tb.Helper()
	var out bytes.Buffer
	log := interceptor.NewEventLog(&out)
	bounds := [...]int{interceptor.DefaultMinBps, interceptor.DefaultStartBps, interceptor.DefaultMaxBps}
	outer, err := gcc.New(gcc.Config{MinBps: bounds[0], StartBps: bounds[1], MaxBps: bounds[2], Recorder: log})
	if err != nil {
		tb.Fatal(err)
	}
	est, err := gbr.NewEstimator(outer, gbr.Config{MinBps: bounds[0], StartBps: bounds[1], MaxBps: bounds[2], Recorder: log})
	if err != nil {
		tb.Fatal(err)
	}
	start := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	const size = 1200
	var (
		seq  int64
		sent []gcc.PacketResult
		owed float64
	)
	for ms := range 8000 {
		now := start.Add(time.Duration(ms) * time.Millisecond)
		if next := est.NextTimeout(); !next.IsZero() && !next.Add(lateness).After(now) {
			est.OnTimeout(now)
		}
		for owed += float64(est.Target().BitrateBps) / 8000; owed >= size; owed -= size {
			p := gcc.SentPacket{Seq: seq, Size: size, At: now}
			seq++
			est.OnPacketSent(now, p)
			arrival := gcc.RemoteTime(now.Add(30 * time.Millisecond).Sub(start).Microseconds())
			sent = append(sent, gcc.PacketResult{SentPacket: p, Received: true, Arrival: arrival})
		}
		if ms%50 == 49 && len(sent) > 0 {
			est.OnFeedback(now, gcc.Feedback{Packets: sent})
			sent = nil
		}
		if ms%5 == 0 && ms > 1000 && (ms < 6000 || ms > 6500) {
			granted := 2000
			if ms > 4000 {
				granted = 100
			}
			est.OnTelemetry(now, gbr.Telemetry{Samples: []gbr.Sample{{
				At: now.Add(-10 * time.Millisecond), Window: 5 * time.Millisecond, Granted: granted, Reported: 1000, ReportedLow: 900,
			}}})
		}
		if ms%1000 == 0 {
			if err := log.Flush(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := log.Flush(); err != nil {
		tb.Fatal(err)
	}

	return out.Bytes()
}

// The same code decides the same on a recorded run, also when the run's timers
// were late; another one does not.
func TestDecisions(t *testing.T) {
	path := write(t, "run.jsonl", recordRun(t, 0))
	same := execute(t, "-decisions", path)
	if same.status != 0 || !strings.Contains(same.out, "the same decisions") || same.errors != "" {
		t.Errorf("%+v", same)
	}
	if !strings.Contains(same.out, " batches of telemetry in 8.0 s") {
		t.Error(same.out)
	}
	late := execute(t, "-decisions", write(t, "late.jsonl", recordRun(t, 8*time.Millisecond)))
	if late.status != 0 || !strings.Contains(late.out, "the same decisions") {
		t.Errorf("late timers: %+v", late)
	}
	r := execute(t, "-decisions", "-bounds", "100000,300000,600000", path)
	if r.status != 0 || !strings.Contains(r.out, "1 times different") || !strings.Contains(r.out, "recorded dual 1.") {
		t.Errorf("other bounds: %+v", r)
	}
	r = execute(t, "-decisions", "-cc", "seed", path)
	if r.status != 0 || !strings.Contains(r.out, "again    seed, 100 to 30000 kbit/s from 300;") {
		t.Errorf("other algorithm: %+v", r)
	}
	// A decision that the log tells otherwise is found where it is.
	log := string(recordRun(t, 0))
	i := strings.LastIndex(log, `"to":"dual"`)
	r = execute(t, "-decisions", write(t, "changed.jsonl", []byte(log[:i]+`"to":"hold"`+log[i+len(`"to":"dual"`):])))
	if !regexp.MustCompile(`(?m)6\.\d+ s to +7\.\d+ s  recorded hold .* now dual `).MatchString(r.out) {
		t.Errorf("changed log: %+v", r)
	}
}

// A log of one of several on a phone has the others' packets and its share: they
// are part of what it decided by.
func TestDecisionsOnASharedPhone(t *testing.T) {
	var out bytes.Buffer
	log := interceptor.NewEventLog(&out)
	const most = interceptor.DefaultMaxBps
	outer, err := gcc.New(gcc.Config{MinBps: 100_000, StartBps: 6_000_000, MaxBps: most, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	est, err := gbr.NewEstimator(outer, gbr.Config{MinBps: 100_000, StartBps: 6_000_000, MaxBps: most, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	log.Record(start, interceptor.ConfiguredEvent{Algorithm: "gbrcc", MinBps: 100_000, StartBps: 6_000_000, MaxBps: most})
	est.SetShare(start, 0.25)
	var told gbr.Telemetry
	var sent []gcc.PacketResult
	queue, seq := 0, int64(0)
	for ms := range 4000 {
		now := start.Add(time.Duration(ms) * time.Millisecond)
		if next := est.NextTimeout(); !next.IsZero() && !next.After(now) {
			est.OnTimeout(now)
		}
		if ms%33 == 0 {
			for i := range 24 { // 28.8 kB in 33 ms of 1000 bytes each
				p := gcc.SentPacket{Seq: seq, Size: 1200, At: now}
				queue += p.Size
				if i%4 > 0 {
					est.OnOthersSent(now, p)

					continue
				}
				seq++
				est.OnPacketSent(now, p)
				arrival := gcc.RemoteTime(now.Sub(start).Microseconds() + int64(queue) + 20_000)
				sent = append(sent, gcc.PacketResult{SentPacket: p, Received: true, Arrival: arrival})
			}
		}
		if queue > 0 {
			told.Grants = append(told.Grants, gbr.Grant{At: now, Bytes: 1005})
			queue = max(0, queue-1000)
		}
		if ms%5 == 4 {
			told.Reports = append(told.Reports, gbr.Report{At: now, Low: queue, High: queue})
			est.OnTelemetry(now, told)
			told = gbr.Telemetry{}
		}
		if ms%50 == 49 {
			est.OnFeedback(now, gcc.Feedback{Packets: sent})
			sent = nil
		}
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, "-decisions", write(t, "shared.jsonl", out.Bytes())); r.status != 0 || !strings.Contains(r.out, "the same decisions") {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"gbr:others_sent", "gbr:share"} {
		without := regexp.MustCompile(`(?m)^.*"name":"`+name+`".*\n`).ReplaceAll(out.Bytes(), nil)
		if r := execute(t, "-decisions", write(t, "without.jsonl", without)); r.status != 0 || strings.Contains(r.out, "the same decisions") {
			t.Errorf("without %s: %+v", name, r)
		}
	}
}

// Telemetry in an event log gives samples.
func TestEventLogSamples(t *testing.T) {
	path := write(t, "run.jsonl", recordRun(t, 0))
	r := execute(t, "-json", path)
	if r.status != 0 || strings.Count(r.out, "\n") != 1298 {
		t.Errorf("status %d, %s, %d samples", r.status, r.errors, strings.Count(r.out, "\n"))
	}
	first, _, _ := strings.Cut(r.out, "\n")
	if want := `{"t_ms":964,"age_ms":10,"sfn":-1,"bsr_bytes":1000,"bsr_bytes_low":900,"grant_bytes":2000,"ratio":2.0000,`; !strings.HasPrefix(first, want) {
		t.Errorf("the first is %s, want %s", first, want)
	}
	if r := execute(t, path); r.status != 0 || !strings.Contains(r.out, "gbr:telemetry 1298") || !strings.Contains(r.out, "gbr:packet_sent") {
		t.Errorf("%+v", r)
	}
}

func TestDecisionsNeedsAnEventLog(t *testing.T) {
	event := `{"time":0,"name":"log:started","data":{"wall":"2024-05-06T07:08:09Z"}}` + "\n"
	for want, path := range map[string]string{
		"needs an event log":       write(t, "hand.hdlc", hdlc(byHand(t))),
		"no packets and feedback":  write(t, "empty.jsonl", []byte(event)),
		"line 2: gbr:packet_sent:": write(t, "bad.jsonl", []byte(event+`{"time":1,"name":"gbr:packet_sent","data":3}`)),
	} {
		r := execute(t, "-decisions", path)
		if r.status != 1 || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// The log of an application's Estimator tells how it was configured, also when
// that changed in mid call: it is run again to the same decisions without being
// told.
func TestDecisionsOfAnEstimator(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		e, err := interceptor.NewEstimator(interceptor.WithBitrateBounds(200_000, 500_000, 3_000_000),
			interceptor.WithPreset("broadcast"), interceptor.WithEventWriter(&out))
		if err != nil {
			t.Fatal(err)
		}
		rec := twcc.NewRecorder(1)
		start := time.Now()
		w := e.AddStream(&pion.StreamInfo{
			SSRC: 1, MimeType: "video/VP8", RTPHeaderExtensions: []pion.RTPHeaderExtension{
				{URI: "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01", ID: 5},
			},
		}, pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, _ pion.Attributes) (int, error) {
			rec.Record(1, binary.BigEndian.Uint16(h.GetExtension(5)), 1e9+time.Since(start).Microseconds()+25_000)

			return h.MarshalSize() + len(payload), nil
		}))
		seq := uint16(0)
		for i := range 1600 { // 8 s
			if i == 800 {
				if err := e.Switch(interceptor.WithAlgorithm(gbr.Seed), interceptor.WithBitrateBounds(100_000, 300_000, 2_000_000)); err != nil {
					t.Fatal(err)
				}
			}
			if i%7 == 0 {
				for left := e.GetTargetBitrate() / 8 / 29; left > 0; left -= 1200 {
					h := &rtp.Header{Version: 2, SSRC: 1, SequenceNumber: seq, Timestamp: uint32(i)}
					seq++
					if _, err := w.Write(h, make([]byte, min(1200, left)), nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(5 * time.Millisecond)
			if i < 1000 || i > 1200 {
				granted := 2000
				if i%400 > 300 {
					granted = 200
				}
				e.PushSample(gbr.Sample{At: time.Now().Add(-3 * time.Millisecond), Window: 5 * time.Millisecond, Granted: granted, Reported: 3000})
			}
			if i%10 == 9 {
				synctest.Wait()
				if err := e.WriteRTCP(rec.BuildFeedbackPacket(), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
	path := write(t, "estimator.jsonl", out.Bytes())
	if n := strings.Count(out.String(), `"interceptor:configured"`); n != 2 {
		t.Errorf("%d configurations in the log, want 2", n)
	}
	r := execute(t, "-decisions", path)
	if r.status != 0 || !strings.Contains(r.out, "the same decisions") || !strings.Contains(r.out, "seed, 100 to 2000 kbit/s") {
		t.Errorf("status %d\n%s\n%s", r.status, r.out, r.errors)
	}
	// Asked for something else, it does something else.
	r = execute(t, "-decisions", "-cc", "seed", path)
	if r.status != 0 || strings.Contains(r.out, "the same decisions") {
		t.Errorf("status %d\n%s\n%s", r.status, r.out, r.errors)
	}
}
