// SPDX-License-Identifier: MIT

package interceptor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
)

// A queue that grows asks for fewer frames; a frame that does not fit is dropped
// whole; and when there is room again a key frame is asked for, once.
func TestAdvice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000, WithMaxQueue(500*time.Millisecond), WithSkipDelay(200*time.Millisecond))
		var got []Advice
		r.OnAdvice(func(a Advice) { got = append(got, a) })
		w := r.video()
		seq := uint16(0)
		frame := func(timestamp uint32, packets int) {
			for range packets {
				h := header(mediaSSRC, seq)
				h.Timestamp = timestamp
				mustWrite(t, w, h, payloadFor(1250)) // 10 ms each
				seq++
			}
		}
		frame(1, 10) // 100 ms
		synctest.Wait()
		if len(got) > 0 {
			t.Errorf("asked for %+v with a short queue", got)
		}
		frame(2, 30) // 400 ms
		synctest.Wait()
		if len(got) != 1 || !got[0].SkipFrames || got[0].KeyFrame {
			t.Fatalf("asked for %+v with a long queue", got)
		}
		frame(3, 30)
		before := r.stat(StatPacketsRefused)
		if before < 10 || r.stat(StatFramesRefused) != 1 {
			t.Errorf("%d packets of %d frames refused", before, r.stat(StatFramesRefused))
		}
		// There would be room again, but not for the rest of that frame.
		time.Sleep(100 * time.Millisecond)
		frame(3, 5)
		within(t, "more of the frame refused", float64(r.stat(StatPacketsRefused)-before), 5, 0, "packets")
		// A resend has an SSRC of its own and is no part of it.
		h := header(rtxSSRC, 1)
		h.Timestamp = 3
		mustWrite(t, w, h, payloadFor(500))
		frame(4, 1)
		within(t, "refused of others", float64(r.stat(StatPacketsRefused)-before), 5, 0, "packets")
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 2 || got[1].SkipFrames || !got[1].KeyFrame {
			t.Fatalf("asked for %+v in the end", got)
		}
		if r.stat(StatSkipAdvice) != 1 || r.stat(StatKeyFrameAdvice) != 1 {
			t.Errorf("stats: %v", r.GetStats())
		}
		within(t, "queue at the end", got[1].PacerDelay.Seconds()*1000, 100, 15, "ms")
		frame(5, 5)
		time.Sleep(time.Second)
		if len(got) != 2 {
			t.Errorf("asked again: %+v", got[2:])
		}
	})
}

// The encoder's share is the target less what FEC and retransmissions take.
func TestRepairIsTakenFromTheEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100_000_000)
		w := r.video()
		send := func(fec, rtx int) {
			for i := range 400 {
				mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1000))
				if fec > 0 && i%fec == 0 {
					mustWrite(t, w, header(fecSSRC, uint16(i)), payloadFor(1000))
				}
				if rtx > 0 && i%rtx == 0 {
					mustWrite(t, w, header(rtxSSRC, uint16(i)), payloadFor(1000))
				}
				time.Sleep(20 * time.Millisecond)
			}
			synctest.Wait()
		}
		r.set(1_000_000, 100_000_000)
		send(0, 0)
		within(t, "without repair", float64(r.GetTargetBitrate()), 1_000_000, 0, "bit/s")
		var told int
		r.OnTargetBitrateChange(func(bps int) { told = bps })
		send(4, 0)
		r.set(1_000_001, 100_000_000)
		synctest.Wait()
		within(t, "with FEC 1 of 4", float64(r.GetTargetBitrate()), 800_000, 20_000, "bit/s")
		if told != r.GetTargetBitrate() {
			t.Errorf("the encoder was told %d, want %d", told, r.GetTargetBitrate())
		}
		within(t, "the whole", float64(r.Target().BitrateBps), 1_000_001, 0, "bit/s")
		within(t, "FEC packets", float64(r.stat(StatFECPacketsSent)), 100, 0, "packets")
		within(t, "FEC bytes", float64(r.stat(StatFECBytesSent)), 100_000, 0, "bytes")
		send(1, 1)
		r.set(1_000_000, 100_000_000)
		within(t, "with more repair than media", float64(r.GetTargetBitrate()), 500_000, 10_000, "bit/s")
		within(t, "RTX bytes", float64(r.stat(StatRetransmittedBytesSent)), 400_000, 0, "bytes")
		send(0, 0)
		r.set(1_000_001, 100_000_000)
		within(t, "8 s after the last repair", float64(r.GetTargetBitrate()), 960_000, 15_000, "bit/s")
	})
}

// FEC that was registered on the wrong side of the TWCC extension corrupts what
// it recovers; the log says so, once, with the fix.
func TestWrongOrderOfFECIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		media, fec bool // come with the extension
		want       string
	}{
		"right":           {media: true, want: ""},
		"FEC outside":     {media: true, fec: true, want: "before webrtc.ConfigureTWCCHeaderExtensionSender"},
		"nobody adds one": {want: "call webrtc.ConfigureTWCCHeaderExtensionSender after"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 10_000_000)
				w := r.video()
				write := func(ssrc uint32, n uint16, extension bool) {
					h := header(ssrc, n)
					if extension {
						if err := h.SetExtension(extID, []byte{0, 0}); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := w.Write(h, payloadFor(500), pion.Attributes{}); err != nil {
						t.Fatal(err)
					}
				}
				for i := range uint16(5) {
					write(mediaSSRC, i, c.media)
				}
				write(fecSSRC, 0, c.fec)
				write(fecSSRC, 1, c.fec)
				got := r.log.warnings()
				if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
					t.Errorf("log says %q, want one line with %q", got, c.want)
				}
			})
		})
	}
}
