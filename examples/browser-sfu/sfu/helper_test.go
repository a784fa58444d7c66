// SPDX-License-Identifier: MIT

package sfu

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
)

const token = "let-me-in"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a server and its URL; both end with the test.
func start(t *testing.T, change ...func(*Config)) (*Server, string) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Media: conn, Token: token}
	for _, f := range change {
		f(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		http.DefaultClient.CloseIdleConnections()
	})

	return s, web.URL
}

// cable is what a viewer hangs on, as long as it is not cut.
type cable struct {
	net.PacketConn
	cut atomic.Bool
}

func (c *cable) WriteTo(b []byte, a net.Addr) (int, error) {
	if c.cut.Load() {
		return len(b), nil
	}

	return c.PacketConn.WriteTo(b, a)
}

func (c *cable) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, a, err := c.PacketConn.ReadFrom(b)
		if err != nil || !c.cut.Load() {
			return n, a, err
		}
	}
}

// peer is a connection of the other side, on a cable or not.
func peer(t *testing.T, on ...*cable) *webrtc.PeerConnection {
	t.Helper()

	return sfutest.Peer(t, func(e *webrtc.SettingEngine) {
		for _, c := range on {
			var err error
			if c.PacketConn, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
			mux := webrtc.NewICEUDPMux(nil, c)
			e.SetICEUDPMux(mux)
			t.Cleanup(func() { _ = mux.Close(); _ = c.Close() })
		}
	})
}

// answer is what came back from a request.
type answer struct {
	status int
	header http.Header
	body   string
}

func ask(ctx context.Context, method, url, contentType, body string, header ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewBufferString(body))
	if err != nil {
		return answer{}, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(resp.Body)

	return answer{resp.StatusCode, resp.Header, string(b)}, err
}

// join negotiates a peer with an endpoint and returns its session's URL, and the
// header of the answer.
func join(t *testing.T, pc *webrtc.PeerConnection, url, endpoint string) (string, http.Header) {
	t.Helper()
	h := sfutest.Join(t, pc, url+endpoint, token)

	return url + h.Get("Location"), h
}

// camera publishes VP8 frames, of one packet if not said otherwise: a key frame
// first and when asked.
type camera struct {
	pc      *webrtc.PeerConnection
	track   *webrtc.TrackLocalStaticRTP
	session string
	packets int // of a frame
	plis    atomic.Int64
	twcc    atomic.Int64
}

const frameEvery = 20 * time.Millisecond

func newCamera(t *testing.T, url string, packets ...int) *camera {
	t.Helper()
	c := &camera{pc: peer(t), packets: 1}
	if len(packets) > 0 {
		c.packets = packets[0]
	}
	c.track = sfutest.Camera(t, c.pc, func(p rtcp.Packet) {
		switch p.(type) {
		case *rtcp.PictureLossIndication:
			c.plis.Add(1)
		case *rtcp.TransportLayerCC:
			c.twcc.Add(1)
		}
	})
	c.session, _ = join(t, c.pc, url, "/whip")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		c.film(ctx)
	}()

	return c
}

// payload of a frame; the bytes at the end are its number.
func payload(n int, key bool) []byte {
	b := make([]byte, 300)
	b[0], b[1] = 0x10, 1
	if key {
		b[1] = 0
	}
	b[2], b[3] = byte(n>>8), byte(n)

	return b
}

func (c *camera) film(ctx context.Context) {
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	answered := int64(-1)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := c.plis.Load()
		for i := range c.packets {
			b := payload(n, asked != answered)
			if c.packets > 1 {
				b = append(b, make([]byte, 800)...)
			}
			if i > 0 {
				b[0] = 0
			}
			_ = c.track.WriteRTP(&rtp.Packet{ // nobody may be there
				Header:  rtp.Header{Version: 2, Marker: i == c.packets-1, SequenceNumber: uint16(65500 + n*c.packets + i), Timestamp: uint32(n * 1800)},
				Payload: b,
			})
		}
		answered = asked
	}
}

// screen is a viewer.
type screen struct {
	pc      *webrtc.PeerConnection
	session string
	etag    string
	frames  atomic.Int64
	holes   atomic.Int64 // in the sequence numbers
	first   atomic.Int64 // 1: key frame, 2: another
	ended   chan struct{}
}

func newScreen(t *testing.T, url string, on ...*cable) *screen {
	t.Helper()
	v := &screen{pc: peer(t, on...), ended: make(chan struct{})}
	if _, err := v.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}
	v.pc.OnTrack(func(tr *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		defer close(v.ended)
		last := -1
		for {
			p, _, err := tr.ReadRTP()
			if err != nil {
				return
			}
			if last >= 0 && p.SequenceNumber != uint16(last)+1 {
				v.holes.Add(1)
			}
			last = int(p.SequenceNumber)
			if v.first.Load() == 0 {
				v.first.Store(2)
				if vp8Key(p.Payload) {
					v.first.Store(1)
				}
			}
			v.frames.Add(1)
		}
	})
	var h http.Header
	v.session, h = join(t, v.pc, url, "/whep")
	v.etag = h.Get("ETag")

	return v
}

// eventually waits for what a busy machine may do late.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("not in 15 s: %s", what)
}
