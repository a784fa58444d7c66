// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/gateway"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfutest"
	"github.com/gbrcc/gbrcc/gbr"
)

// lens is a publisher without a browser: VP8 frames of one packet.
type lens struct{ keys, remb atomic.Int64 }

func film(t *testing.T, endpoint, token string) *lens {
	t.Helper()
	l := &lens{}
	camera := sfutest.Peer(t, nil)
	track := sfutest.Camera(t, camera, func(p rtcp.Packet) {
		switch p := p.(type) {
		case *rtcp.PictureLossIndication:
			l.keys.Add(1)
		case *rtcp.ReceiverEstimatedMaximumBitrate:
			l.remb.Store(int64(p.Bitrate))
		}
	})
	sfutest.Join(t, camera, endpoint, token)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			payload := make([]byte, 800)
			payload[0], payload[1] = 0x10, 1 // VP8, not a key frame
			if n%10 == 0 {
				payload[1] = 0
			}
			_ = track.WriteRTP(&rtp.Packet{
				Header: rtp.Header{Version: 2, Marker: true, SequenceNumber: uint16(n), Timestamp: uint32(n * 3000)}, Payload: payload,
			})
			time.Sleep(33 * time.Millisecond)
		}
	}()

	return l
}

// watchAt counts the packets that a viewer gets.
func watchAt(t *testing.T, endpoint string) *atomic.Int64 {
	t.Helper()
	got := &atomic.Int64{}
	screen := sfutest.Peer(t, nil)
	if _, err := screen.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}
	screen.OnTrack(func(tr *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			if _, _, err := tr.ReadRTP(); err != nil {
				return
			}
			got.Add(1)
		}
	})
	sfutest.Join(t, screen, endpoint, "")

	return got
}

func eventually(t *testing.T, what func() string, f func() bool) {
	t.Helper()
	const limit = 20 * time.Second
	for begin := time.Now(); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > limit {
			t.Fatalf("not in %v: %s", limit, what())
		}
	}
}

func so(text string) func() string { return func() string { return text } }

// A publisher without a browser, over the emulated uplink to a viewer: pictures
// arrive, key frames are asked for, and the publisher hears what it may send.
func TestGateway(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		t.Run(listen, func(t *testing.T) { testGateway(t, listen) })
	}
}

func testGateway(t *testing.T, listen string) {
	t.Helper()
	r := start(t, "-listen", listen)
	defer http.DefaultClient.CloseIdleConnections()
	at, token, _ := strings.Cut(r.publish, "publish#")
	token, err := url.PathUnescape(token)
	if err != nil {
		t.Fatal(err)
	}
	l := film(t, at+"whip", token)
	got := watchAt(t, strings.TrimSuffix(r.view, "view")+"whep")
	eventually(t, func() string {
		return fmt.Sprintf("%d packets arrived, %d key frames were asked for, REMB %d", got.Load(), l.keys.Load(), l.remb.Load())
	}, func() bool { return got.Load() >= 30 && l.keys.Load() >= 1 && l.remb.Load() > 0 })
	if bps := l.remb.Load(); bps < 100_000 || bps > 6_000_000 {
		t.Errorf("REMB %d bit/s", bps)
	}
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}

// The agent on the phone is killed and comes back: the picture goes on by the
// end-to-end loop, and then by the modem again.
func TestAgentDies(t *testing.T) {
	o, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWay(t.Context(), o, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer w.close() //nolint:errcheck // tested elsewhere
	film(t, w.near.base+"whip", w.token)
	got := watchAt(t, w.far.base+"whep")
	up, ok := w.uplink.(*gateway.Uplink)
	if !ok {
		t.Fatalf("the uplink is %T", w.uplink)
	}
	mode := func() gbr.Mode {
		if est := up.Estimator(); est != nil {
			return est.Target().Mode
		}

		return gbr.Mode(255)
	}
	now := func() string { return fmt.Sprintf("mode %v, %d packets", mode(), got.Load()) }
	eventually(t, now, func() bool { return mode() == gbr.Dual && got.Load() > 30 })
	w.cellular.phone.Kill()
	eventually(t, now, func() bool { return mode() != gbr.Dual })
	n := got.Load()
	eventually(t, now, func() bool { return got.Load() > n+60 })
	if err := w.cellular.phone.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, now, func() bool { return mode() == gbr.Dual })
	n = got.Load()
	eventually(t, now, func() bool { return got.Load() > n+30 })
}

// The SFU is killed and comes back, with the publisher still there: the gateway
// publishes again.
func TestSFUDies(t *testing.T) {
	same := func(c net.PacketConn) net.PacketConn { return c }
	far, err := newSite(t.Context(), "127.0.0.1:0", sfu.Config{Token: "secret"}, same, content{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-sfu", far.base + "whip", "-sfu-token-file", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWay(t.Context(), o, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer w.close() //nolint:errcheck // tested elsewhere
	film(t, w.near.base+"whip", w.token)
	got := watchAt(t, far.base+"whep")
	eventually(t, so("pictures"), func() bool { return got.Load() > 30 })
	at := strings.TrimSuffix(strings.TrimPrefix(far.base, "http://"), "/")
	if err := far.close(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if far, err = newSite(t.Context(), at, sfu.Config{Token: "secret"}, same, content{}); err != nil {
		t.Fatal(err)
	}
	defer far.close() //nolint:errcheck // tested elsewhere
	began := time.Now()
	got = watchAt(t, far.base+"whep")
	eventually(t, so("pictures again"), func() bool { return got.Load() > 30 })
	if d := time.Since(began); d > 20*time.Second { // some 5 s, on a busy machine more
		t.Errorf("pictures again after %v, want less than 20 s", d)
	}
}

// Who publishes over a phone whose agent does not answer, or to an SFU that is not
// there, is told so, once, and without -v.
func TestNobodyThere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{
			[]string{"-modem", "gbr://" + nobody + "?fp=" + strings.Repeat("0a", 32) + "&token=c2VjcmV0LXNlY3JldC1zZWNyZXQ"},
			"browser-sfu: no answer from the phone's agent, going on end to end: ",
		},
		{[]string{"-sfu", "http://" + nobody + "/whip"}, "browser-sfu: uplink: http://" + nobody + "/whip: "},
	} {
		var told sfutest.Terminal
		o, err := parse(tt.args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWay(t.Context(), o, nil, slog.New(newNotices(&told)))
		if err != nil {
			t.Fatal(err)
		}
		film(t, w.near.base+"whip", w.token)
		eventually(t, func() string { return fmt.Sprintf("%s: told %q", tt.args[0], &told) }, func() bool {
			return strings.Contains(told.String(), "connection refused")
		})
		time.Sleep(2500 * time.Millisecond) // two more attempts
		if got := told.String(); !strings.HasPrefix(got, tt.want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "c2Vj") {
			t.Errorf("%s: told %q, want one line with %s", tt.args[0], got, tt.want)
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// The view of another WHIP server is beside its WHIP, however that is written.
func TestNeighbour(t *testing.T) {
	for whip, want := range map[string]string{
		"http://h:9/whip": "http://h:9/whep", "http://h:9/whip/": "http://h:9/whep", "http://h:9/": "http://h:9/whep",
		"http://h:9": "http://h:9/whep", "https://h/a/whip": "https://h/a/whep", "https://h/a": "https://h/a/whep",
	} {
		if got := neighbour(whip); got != want {
			t.Errorf("%s: %s, want %s", whip, got, want)
		}
	}
}

func TestNotices(t *testing.T) {
	var told strings.Builder
	n := newNotices(&told)
	log := slog.New(n)
	log.Info("not this")
	for range 3 {
		log.Warn("uplink", "err", "gone\nfor good")
	}
	log.Error("other")
	r := slog.NewRecord(time.Now().Add(sayAgain+time.Second), slog.LevelWarn, "other", 0)
	if err := n.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	const want = "browser-sfu: uplink: gone for good\nbrowser-sfu: other\nbrowser-sfu: other\n"
	if told.String() != want {
		t.Errorf("told %q, want %q", told.String(), want)
	}
	if len(n.said) != 1 {
		t.Errorf("%d texts are remembered", len(n.said))
	}
}
