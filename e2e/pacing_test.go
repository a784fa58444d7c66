// SPDX-License-Identifier: MIT

package e2e

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	piongcc "github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/interceptor"
)

// BenchmarkPacing is 50 PeerConnections of 300 kbit/s on one machine, each to a
// peer of its own over loopback, in real time: how far from its time each packet
// leaves, before or after. Its time is when a pacer without timers and bursts
// would let it go at 2.5 times the rate, the factor that both use.
func BenchmarkPacing(b *testing.B) {
	for _, c := range []struct {
		name string
		make func() (cc.BandwidthEstimator, error)
	}{
		{"gbrcc", interceptor.Factory(interceptor.WithBitrateBounds(pacingBps, pacingBps, pacingBps))},
		{"pion", func() (cc.BandwidthEstimator, error) {
			const pace = pacingBps * 5 / 2
			return piongcc.NewSendSideBWE(
				piongcc.SendSideBWEInitialBitrate(pace), piongcc.SendSideBWEMinBitrate(pace), piongcc.SendSideBWEMaxBitrate(pace))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				e, _ := pacingErrors(b, 50, 5*time.Second, c.make)
				b.ReportMetric(e[len(e)/2], "ms-p50")
				b.ReportMetric(e[len(e)*99/100], "ms-p99")
				b.ReportMetric(e[len(e)-1], "ms-max")
				b.ReportMetric(float64(len(e)), "packets")
			}
		})
	}
}

// A few of them, as a test: a busy machine must not break it, a pacer that
// forgets packets or makes all of them wait does.
func TestPacingOfRealPeerConnections(t *testing.T) {
	e, written := pacingErrors(t, 5, 2*time.Second, interceptor.Factory(interceptor.WithBitrateBounds(pacingBps, pacingBps, pacingBps)))
	if written < 20*pacingPackets {
		t.Errorf("only %d packets written: nothing is tested", written)
	}
	within(t, "packets that left", float64(len(e)), float64(written), 0, "")
	// The quarter that the machine disturbed least.
	within(t, "pacing error p25", e[len(e)/4], 7.5, 7.5, "ms")
}

const (
	pacingBps     = 300_000
	pacingPackets = 2 // a frame
)

// departures notes when packets leave: it is added before the estimator, next to
// the network.
type departures struct {
	pion.NoOp
	mu     sync.Mutex
	errors []float64 // ms
}

func (d *departures) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return len(d.errors)
}

func (d *departures) NewInterceptor(string) (pion.Interceptor, error) { return d, nil }

func (d *departures) BindLocalStream(_ *pion.StreamInfo, w pion.RTPWriter) pion.RTPWriter {
	return pion.RTPWriterFunc(func(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
		due := time.Unix(0, int64(binary.BigEndian.Uint64(payload)))
		d.mu.Lock()
		d.errors = append(d.errors, math.Abs(float64(time.Since(due))/1e6))
		d.mu.Unlock()

		return w.Write(h, payload, a)
	})
}

// pacingErrors returns the errors in order, and how many packets were written.
func pacingErrors(t testing.TB, n int, d time.Duration, estimator cc.BandwidthEstimatorFactory) (errors []float64, written int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := &departures{}
	var sent atomic.Int64
	var wg, writers sync.WaitGroup
	var peers []*webrtc.PeerConnection
	var tracks []*webrtc.TrackLocalStaticRTP
	for range n {
		peer := func(register func(m *webrtc.MediaEngine, r *pion.Registry)) *webrtc.PeerConnection {
			m, r := &webrtc.MediaEngine{}, &pion.Registry{}
			must(m.RegisterDefaultCodecs())
			register(m, r)
			se := webrtc.SettingEngine{}
			se.SetIncludeLoopbackCandidate(true)
			se.SetInterfaceFilter(func(name string) bool { return name == "lo" || name == "lo0" })
			pc, err := webrtc.NewAPI(webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(r), webrtc.WithSettingEngine(se)).
				NewPeerConnection(webrtc.Configuration{})
			must(err)
			peers = append(peers, pc)

			return pc
		}
		near := peer(func(m *webrtc.MediaEngine, r *pion.Registry) {
			f, err := cc.NewInterceptor(estimator)
			must(err)
			r.Add(seen)
			r.Add(f)
			must(webrtc.ConfigureTWCCHeaderExtensionSender(m, r))
		})
		far := peer(func(m *webrtc.MediaEngine, r *pion.Registry) { must(webrtc.ConfigureTWCCSender(m, r)) })
		track, err := webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "v", "v")
		must(err)
		tracks = append(tracks, track)
		sender, err := near.AddTrack(track)
		must(err)
		wg.Go(func() {
			for buf := make([]byte, 1500); ; {
				if _, _, err := sender.Read(buf); err != nil {
					return
				}
			}
		})
		connected := make(chan struct{})
		var once sync.Once
		near.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
			if s == webrtc.PeerConnectionStateConnected {
				once.Do(func() { close(connected) })
			}
		})
		far.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
			for buf := make([]byte, 1500); ; {
				if _, _, err := track.Read(buf); err != nil {
					return
				}
			}
		})
		offer, err := near.CreateOffer(nil)
		must(err)
		gathered := webrtc.GatheringCompletePromise(near)
		must(near.SetLocalDescription(offer))
		<-gathered
		must(far.SetRemoteDescription(*near.LocalDescription()))
		answer, err := far.CreateAnswer(nil)
		must(err)
		gathered = webrtc.GatheringCompletePromise(far)
		must(far.SetLocalDescription(answer))
		<-gathered
		must(near.SetRemoteDescription(*far.LocalDescription()))
		select {
		case <-connected:
		case <-time.After(20 * time.Second):
			t.Fatal("not connected")
		}
	}
	for i, track := range tracks {
		writers.Go(func() {
			time.Sleep(time.Duration(i) * time.Second / 30 / time.Duration(n))
			tick := time.NewTicker(time.Second / 30)
			defer tick.Stop()
			const size = pacingBps / 8 / 30 / pacingPackets
			seq, free := uint16(0), time.Now()
			for end := time.Now().Add(d); time.Now().Before(end); {
				<-tick.C
				if now := time.Now(); free.Before(now) {
					free = now
				}
				for range pacingPackets {
					payload := make([]byte, size-60)
					binary.BigEndian.PutUint64(payload, uint64(free.UnixNano()))
					free = free.Add(size * 8 * time.Second / (pacingBps * 5 / 2))
					if err := track.WriteRTP(&rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: seq, Timestamp: uint32(seq) * 1500}, Payload: payload}); err == nil {
						sent.Add(1)
					}
					seq++
				}
			}
		})
	}
	writers.Wait()
	for end := time.Now().Add(10 * time.Second); seen.count() < int(sent.Load()) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	for _, pc := range peers {
		if err := pc.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	slices.Sort(seen.errors)
	if len(seen.errors) == 0 {
		t.Fatal("nothing was sent")
	}

	return seen.errors, int(sent.Load())
}
