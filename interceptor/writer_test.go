// SPDX-License-Identifier: MIT

package interceptor

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
)

func TestPacingRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000)
		w, start := r.video(), time.Now()
		for i := range 100 { // 10 ms each at 1 Mbit/s
			mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1250))
		}
		time.Sleep(2 * time.Second)
		sent := r.wire.sent()
		if len(sent) != 100 {
			t.Fatalf("%d packets sent, want 100", len(sent))
		}
		within(t, "the last packet's time", sent[99].at.Sub(start).Seconds()*1000, 985, 10, "ms")
		for i := 2; i < 100; i++ {
			within(t, "spacing", sent[i].at.Sub(sent[i-1].at).Seconds()*1000, 10, 0.01, "ms")
		}
		for i, p := range sent {
			if p.header.SequenceNumber != uint16(i) || int(p.transportNumber(t)) != i {
				t.Fatalf("packet %d is %d with number %d", i, p.header.SequenceNumber, p.transportNumber(t))
			}
		}
		within(t, "size", float64(r.tracked()[0].Size), 1250, 0, "bytes")
	})
}

func TestPacingRateIsFollowedAtOnce(t *testing.T) {
	for name, input := range map[string]func(*rig) error{
		"telemetry": func(r *rig) error {
			r.PushTelemetry(gbr.Telemetry{})

			return nil
		},
		"feedback": func(r *rig) error {
			return r.WriteRTCP([]rtcp.Packet{&rtcp.TransportLayerCC{
				PacketStatusCount: 1, RecvDeltas: []*rtcp.RecvDelta{{}},
				PacketChunks: []rtcp.PacketStatusChunk{&rtcp.RunLengthChunk{PacketStatusSymbol: 1, RunLength: 1}},
			}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100_000)
				w := r.video()
				for i := range 10 { // 100 ms each
					mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1250))
				}
				time.Sleep(150 * time.Millisecond)
				before := len(r.wire.sent())
				r.mu.Lock()
				r.outer.pacing = 10_000_000 // 1 ms each
				r.mu.Unlock()
				if err := input(r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
				within(t, "packets at 100 kbit/s", float64(before), 2, 0, "packets")
				within(t, "packets at 10 Mbit/s", float64(len(r.wire.sent())), 10, 0, "packets")
			})
		})
	}
}

func TestAudioIsNotDelayedByVideo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100_000)
		video := r.video()
		audio := r.AddStream(&pion.StreamInfo{
			SSRC: 7, MimeType: "audio/opus", RTPHeaderExtensions: videoInfo().RTPHeaderExtensions,
		}, r.wire)
		for i := range 9 {
			mustWrite(t, video, header(mediaSSRC, uint16(i)), payloadFor(1250))
		}
		time.Sleep(time.Millisecond)
		mustWrite(t, audio, header(7, 1000), make([]byte, 80))
		synctest.Wait()
		sent := r.wire.sent()
		if len(sent) != 2 || sent[1].header.SSRC != 7 {
			t.Fatalf("audio has to wait: %d packets sent", len(sent))
		}
		if sent[1].transportNumber(t) != 1 {
			t.Errorf("audio has number %d, want 1: one counter, in the order of sending", sent[1].transportNumber(t))
		}
	})
}

func TestTransportNumberIsReplacedOrAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10_000_000)
		w := r.video()
		with := header(mediaSSRC, 1)
		for _, x := range []struct {
			id uint8
			v  []byte
		}{{3, []byte("mid")}, {extID, []byte{0xAB, 0xCD}}} {
			if err := with.SetExtension(x.id, x.v); err != nil {
				t.Fatal(err)
			}
		}
		kept := with.Clone()
		mustWrite(t, w, with, []byte("payload"))
		mustWrite(t, w, header(mediaSSRC, 2), []byte("payload"))
		// A profile without room for it passes untouched, and untracked.
		odd := header(mediaSSRC, 3)
		odd.Extension, odd.ExtensionProfile = true, 0x4321
		if err := odd.SetExtension(0, []byte{1, 2, 3, 4}); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, w, odd, []byte("payload"))
		time.Sleep(10 * time.Millisecond)
		sent := r.wire.sent()
		if len(sent) != 3 {
			t.Fatalf("%d packets sent", len(sent))
		}
		for i := range 2 {
			if got := sent[i].transportNumber(t); int(got) != i {
				t.Errorf("packet %d has number %d", i, got)
			}
		}
		if !bytes.Equal(sent[0].header.GetExtension(3), []byte("mid")) {
			t.Errorf("other extension is %q", sent[0].header.GetExtension(3))
		}
		if !bytes.Equal(with.GetExtension(extID), kept.GetExtension(extID)) {
			t.Error("the caller's header was changed")
		}
		if sent[2].header.ExtensionProfile != 0x4321 || !bytes.Equal(sent[2].header.GetExtension(0), []byte{1, 2, 3, 4}) {
			t.Errorf("foreign profile was changed: %+v", sent[2].header)
		}
		if r.stat(StatPacketsUntracked) != 1 || len(r.tracked()) != 2 {
			t.Errorf("%d untracked, %d tracked, want 1, 2", r.stat(StatPacketsUntracked), len(r.tracked()))
		}
	})
}

// Pion passes parts of a buffer that it uses again at once.
func TestPacketsShareNothingWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100_000)
		w := r.video()
		mustWrite(t, w, header(mediaSSRC, 0), payloadFor(1250)) // the next one waits
		h := header(mediaSSRC, 1)
		h.CSRC = []uint32{1, 2}
		mid := []byte("mid")
		if err := h.SetExtension(3, mid); err != nil {
			t.Fatal(err)
		}
		h.Padding, h.PaddingSize = true, 4
		payload := []byte("payload")
		want, attrs := h.Clone(), pion.Attributes{"k": 1}
		n, err := w.Write(h, payload, attrs)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "returned size", float64(n), 12+8+4+4+4+7+4, 0, "bytes")
		copy(mid, "xxx")
		copy(payload, "xxxxxxx")
		h.CSRC[0], h.SequenceNumber, h.PaddingSize, attrs["k"] = 9, 9, 9, 2
		time.Sleep(time.Second)
		synctest.Wait()
		got := r.wire.sent()[1]
		if got.attrs["k"] != 1 {
			t.Errorf("attributes are %v", got.attrs)
		}
		if err := got.header.DelExtension(extID); err != nil {
			t.Fatal(err)
		}
		a, errA := got.header.Marshal()
		b, errB := want.Marshal()
		if errA != nil || errB != nil || !bytes.Equal(a, b) || got.header.PaddingSize != 4 || string(got.payload) != "payload" {
			t.Errorf("sent %+v %q\nwant %+v", got.header, got.payload, want)
		}
	})
}

func TestRefusedPacketIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000, WithMaxQueue(100*time.Millisecond))
		w := r.video()
		for i := range 40 { // 10 ms each
			mustWrite(t, w, header(mediaSSRC, uint16(i)), payloadFor(1250))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		next := header(mediaSSRC, 40)
		next.Timestamp = 3000 // another frame
		mustWrite(t, w, next, payloadFor(1250))
		time.Sleep(time.Second)
		synctest.Wait()
		sent := r.wire.sent()
		refused := int(r.stat(StatPacketsRefused))
		within(t, "refused", float64(refused), 28, 2, "packets")
		if len(sent)+refused != 41 {
			t.Errorf("%d sent and %d refused, want 41 together", len(sent), refused)
		}
		rec := twcc.NewRecorder(1)
		for i, p := range sent {
			rec.Record(mediaSSRC, p.transportNumber(t), int64(i)*1000)
		}
		if err := r.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
			t.Fatal(err)
		}
		results := r.results()
		if len(results) != len(sent) {
			t.Fatalf("%d results for %d packets", len(results), len(sent))
		}
		for _, p := range results {
			if !p.Received {
				t.Errorf("packet %d reads as lost", p.Seq)
			}
		}
		if last := sent[len(sent)-1].header.SequenceNumber; last != 40 {
			t.Errorf("last is %d: media numbers must keep the gap", last)
		}
	})
}

func TestUnsentPacketTakesNoNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10_000_000)
		errWrite := errors.New("write fails")
		i := 0
		r.wire.result = func(h *rtp.Header) (int, error) {
			i++
			switch i % 3 {
			case 0:
				return 0, nil // DTLS is not up
			case 1:
				return 0, errWrite
			default:
				return h.MarshalSize(), nil
			}
		}
		w := r.video()
		for i := range 30 {
			ssrc := uint32(mediaSSRC)
			if i%2 == 1 {
				ssrc = rtxSSRC
			}
			mustWrite(t, w, header(ssrc, uint16(100*i)), payloadFor(100))
			time.Sleep(time.Millisecond)
		}
		sent := r.wire.sent()
		if len(sent) != 10 || r.stat(StatPacketsUnsent) != 20 || r.stat(StatPacketsSent) != 10 {
			t.Fatalf("%d sent, counted %d and %d unsent", len(sent), r.stat(StatPacketsSent), r.stat(StatPacketsUnsent))
		}
		tracked := r.tracked()
		rtx := map[bool]uint16{}
		for i, p := range sent {
			if int(p.transportNumber(t)) != i || tracked[i].Seq != int64(i) {
				t.Errorf("packet %d has number %d and Seq %d", i, p.transportNumber(t), tracked[i].Seq)
			}
			if p.header.SSRC == rtxSSRC {
				if n, ok := rtx[true]; ok && p.header.SequenceNumber != n+1 {
					t.Errorf("RTX %d after %d", p.header.SequenceNumber, n)
				}
				rtx[true] = p.header.SequenceNumber
			}
		}
	})
}

// resend is what Pion's NACK responder hands down.
type resend struct {
	mu sync.Mutex
	n  resendCount
}

type resendCount struct{ retained, released, sent int }

func (r *resend) count() resendCount {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.n
}

func (r *resend) Retain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.retained++
}

func (r *resend) Release(sent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n.released++
	if sent {
		r.n.sent++
	}
}

func TestResend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000, WithMaxQueue(20*time.Millisecond))
		w := r.video()
		mustWrite(t, w, header(mediaSSRC, 1), payloadFor(1250))
		synctest.Wait()
		first, second, third := &resend{}, &resend{}, &resend{}
		// Pion numbers a resend when it first stores the packet: gaps, and the
		// same number for a second resend.
		for _, x := range []struct {
			n uint16
			r *resend
		}{{500, first}, {777, second}, {500, third}} {
			type key struct{}
			if _, err := w.Write(header(rtxSSRC, x.n), payloadFor(1250), pion.Attributes{key{}: x.r}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := first.count(); n != (resendCount{1, 0, 0}) {
			t.Errorf("queued resend is %+v", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := first.count(); n != (resendCount{1, 1, 1}) {
			t.Errorf("sent resend is %+v", n)
		}
		if n := third.count(); n != (resendCount{1, 1, 0}) {
			t.Errorf("refused resend is %+v", n)
		}
		mustWrite(t, w, header(rtxSSRC, 500), payloadFor(1250))
		// The stream is bound again: its numbers go on.
		mustWrite(t, r.video(), header(rtxSSRC, 9), payloadFor(1250))
		time.Sleep(time.Second)
		synctest.Wait()
		var numbers []uint16
		for _, p := range r.wire.sent() {
			if p.header.SSRC == rtxSSRC {
				numbers = append(numbers, p.header.SequenceNumber)
			}
		}
		if len(numbers) != 4 || numbers[0] != 500 || numbers[1] != 501 || numbers[2] != 502 || numbers[3] != 503 {
			t.Errorf("RTX numbers %v, want 500 to 503", numbers)
		}
		if r.stat(StatRetransmissionsSent) != 4 {
			t.Errorf("%d resends counted", r.stat(StatRetransmissionsSent))
		}
	})
}

// The whole chain of Pion: a NACK makes the responder resend as RTX, which
// passes the pacer, and repeated NACKs do not queue it twice.
func TestNACKResponderChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var est *Estimator
		factory, err := cc.NewInterceptor(Factory(WithBitrateBounds(100_000, 300_000, 1_000_000)))
		if err != nil {
			t.Fatal(err)
		}
		factory.OnNewPeerConnection(func(_ string, bwe cc.BandwidthEstimator) { est, _ = bwe.(*Estimator) })
		ext, err := twcc.NewHeaderExtensionInterceptor()
		if err != nil {
			t.Fatal(err)
		}
		responder, err := nack.NewResponderInterceptor()
		if err != nil {
			t.Fatal(err)
		}
		registry := &pion.Registry{}
		for _, f := range []pion.Factory{factory, ext, responder} {
			registry.Add(f)
		}
		chain, err := registry.Build("pc")
		if err != nil {
			t.Fatal(err)
		}
		wire := &wire{}
		w := chain.BindLocalStream(videoInfo(), wire)
		packets := make(chan []rtcp.Packet, 8)
		reader := chain.BindRTCPReader(pion.RTCPReaderFunc(
			func(b []byte, a pion.Attributes) (int, pion.Attributes, error) {
				raw, err := rtcp.Marshal(<-packets)

				return copy(b, raw), a, err
			}))
		read := func(pkts ...rtcp.Packet) {
			packets <- pkts
			if _, _, err := reader.Read(make([]byte, 1500), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the responder answers in a goroutine
		}
		for i := range 10 {
			mustWrite(t, w, header(mediaSSRC, uint16(i)), make([]byte, 1000))
			time.Sleep(50 * time.Millisecond)
		}
		ask := func() {
			read(&rtcp.TransportLayerNack{MediaSSRC: mediaSSRC, Nacks: rtcp.NackPairsFromSequenceNumbers([]uint16{3, 5})})
		}
		// Fill the queue, so that the resends wait: the second NACK finds them
		// there.
		for i := 10; i < 14; i++ {
			mustWrite(t, w, header(mediaSSRC, uint16(i)), make([]byte, 1000))
		}
		ask()
		ask()
		time.Sleep(time.Second)
		synctest.Wait()
		var rtx, numbers []uint16
		for i, p := range wire.sent() {
			if int(p.transportNumber(t)) != i {
				t.Fatalf("packet %d has number %d", i, p.transportNumber(t))
			}
			if p.header.SSRC == rtxSSRC {
				if n := len(numbers); n > 0 && p.header.SequenceNumber != numbers[n-1]+1 {
					t.Errorf("RTX number %d after %d", p.header.SequenceNumber, numbers[n-1])
				}
				numbers = append(numbers, p.header.SequenceNumber)
			}
			if p.header.SSRC == rtxSSRC && len(p.payload) > 0 { // the rest is padding
				rtx = append(rtx, uint16(p.payload[0])<<8|uint16(p.payload[1]))
			}
		}
		if len(rtx) != 2 || rtx[0] != 3 || rtx[1] != 5 {
			t.Errorf("resent %v, want 3 and 5 once each", rtx)
		}
		ask() // long after: they may be lost again
		time.Sleep(time.Second)
		synctest.Wait()
		if got := est.GetStats()[StatRetransmissionsSent]; got != int64(4) {
			t.Errorf("%v resends after a later NACK, want 4", got)
		}
		if err := chain.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(header(mediaSSRC, 99), nil, nil); !errors.Is(err, ErrClosed) || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write after close: %v", err)
		}
	})
}

func TestTransportNumberWraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1_000_000_000)
		w := r.video()
		const total = 66_000 // beyond 2^16
		rec := twcc.NewRecorder(1)
		next := 0
		for i := range total {
			h := header(mediaSSRC, uint16(i))
			h.Timestamp = uint32(i)
			mustWrite(t, w, h, payloadFor(100))
			if i%100 == 99 {
				time.Sleep(10 * time.Millisecond)
				sent := r.wire.sent()
				for ; next < len(sent); next++ {
					if sent[next].header.Timestamp%7 != 3 { // the rest is lost
						rec.Record(mediaSSRC, sent[next].transportNumber(t), sent[next].at.UnixMicro()%1e9)
					}
				}
				if err := r.WriteRTCP(viaBytes(t, rec.BuildFeedbackPacket()...), nil); err != nil {
					t.Fatal(err)
				}
				r.wire.mu.Lock()
				r.wire.packets, next = r.wire.packets[:0], 0
				r.wire.mu.Unlock()
			}
		}
		// Every packet is settled once: lost ones as missing.
		seen := map[int64]bool{}
		lost := 0
		for _, p := range r.results() {
			if seen[p.Seq] {
				t.Fatalf("packet %d settled twice", p.Seq)
			}
			seen[p.Seq] = true
			if !p.Received {
				lost++
			}
		}
		within(t, "settled", float64(len(seen)), total, 5, "packets")
		within(t, "lost", float64(lost), float64(total)/7, 10, "packets")
		if last := r.tracked()[total-1].Seq; last != total-1 {
			t.Errorf("last Seq is %d", last)
		}
	})
}

// Streams that have only RFC 8888 are tracked by RTP number, unless another
// stream of the connection has the transport-wide extension.
func TestTracking(t *testing.T) {
	both := videoInfo()
	both.RTCPFeedback = append(both.RTCPFeedback, ccfbInfo(1).RTCPFeedback...)
	onlyCCFB := videoInfo()
	onlyCCFB.RTCPFeedback = ccfbInfo(1).RTCPFeedback
	onlyExtension := videoInfo()
	onlyExtension.RTCPFeedback = nil
	for name, c := range map[string]struct {
		info *pion.StreamInfo
		want tracking
	}{
		"transport-cc":     {videoInfo(), byTransport},
		"extension":        {onlyExtension, byTransport},
		"both":             {both, byTransport},
		"ccfb":             {ccfbInfo(1), byRTP},
		"extension + ccfb": {onlyCCFB, byRTP},
		"none":             {&pion.StreamInfo{RTCPFeedback: []pion.RTCPFeedback{{Type: "ack"}}}, untracked},
	} {
		if got, _ := trackingOf(c.info); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10_000_000)
		a := r.AddStream(ccfbInfo(1), r.wire)
		mustWrite(t, a, header(1, 10), payloadFor(100))
		synctest.Wait()
		b := r.video()
		mustWrite(t, a, header(1, 11), payloadFor(100))
		mustWrite(t, b, header(mediaSSRC, 1), payloadFor(100))
		time.Sleep(10 * time.Millisecond)
		if len(r.tracked()) != 2 || r.stat(StatPacketsUntracked) != 1 {
			t.Errorf("%d tracked, %d untracked, want 2, 1", len(r.tracked()), r.stat(StatPacketsUntracked))
		}
		if n := r.wire.sent()[2].transportNumber(t); n != 0 {
			t.Errorf("first transport-wide number is %d", n)
		}
	})
}

func TestNilHeader(t *testing.T) {
	r := newRig(t, 1_000_000)
	if _, err := r.video().Write(nil, nil, nil); !errors.Is(err, errNilHeader) {
		t.Errorf("nil header: %v", err)
	}
}
