// SPDX-License-Identifier: MIT

package browser

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// sent is a packet that left the socket, and so arrived.
type sent struct {
	at           time.Time
	frame        int
	index, count int
	size         int // of the frame's data
	rtp          uint32
	key          bool
	asked        bool // for it, before it left
}

// feedback is what the browser asked for.
type feedback struct {
	nacks int // packets named in them, again and again included
	plis  int
}

// roundTrip is what the browser could measure at a time.
type roundTrip struct {
	at  time.Time
	rtt time.Duration
}

// sender plays a script to one browser connection.
type sender struct {
	script script
	pc     *webrtc.PeerConnection
	rtp    *webrtc.RTPSender
	track  *webrtc.TrackLocalStaticRTP
	mux    io.Closer
	wg     sync.WaitGroup

	mu      sync.Mutex
	log     []sent
	packets []kept // by sequence number
	asked   feedback
	rtts    []roundTrip
	keyAt   time.Time // when a key frame is due, zero if none was asked for
	resends chan resend
	leaving *time.Time // where the socket notes a time
}

// kept is a packet for repairs.
type kept struct {
	packet *rtp.Packet
	sent   sent
	asked  bool
}

type resend struct {
	at  time.Time
	seq uint16
}

// newSender makes the connection; offer and answer are exchanged by the caller.
func newSender(s script) (*sender, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	x := &sender{script: s, resends: make(chan resend, 1<<12)}
	logs := logging.NewDefaultLoggerFactory()
	logs.DefaultLogLevel = logging.LogLevelDisabled
	mux := webrtc.NewICEUDPMux(logs.NewLogger("mux"), &stamping{UDPConn: conn, sender: x})
	x.mux = mux

	m := &webrtc.MediaEngine{}
	// No retransmission stream: a repair is the same packet again. No transport
	// feedback: nothing here adapts.
	err = m.RegisterCodec(webrtc.RTPCodecParameters{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeVP8, ClockRate: clockRate,
			RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}, {Type: "nack", Parameter: "pli"}},
		},
		PayloadType: 96,
	}, webrtc.RTPCodecTypeVideo)
	if err != nil {
		return nil, errors.Join(err, mux.Close())
	}
	se := webrtc.SettingEngine{LoggerFactory: logs}
	se.SetICEUDPMux(mux)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	se.SetIncludeLoopbackCandidate(true)
	x.pc, err = webrtc.NewAPI(
		webrtc.WithMediaEngine(m), webrtc.WithInterceptorRegistry(&pion.Registry{}), webrtc.WithSettingEngine(se),
	).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, errors.Join(err, mux.Close())
	}
	x.track, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8}, "video", "script")
	if err == nil {
		x.rtp, err = x.pc.AddTrack(x.track)
	}
	if err != nil {
		return nil, errors.Join(err, x.close())
	}

	return x, nil
}

// offer is the description for the browser, with all candidates.
func (x *sender) offer(ctx context.Context) (string, error) {
	d, err := x.pc.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(x.pc)
	if err := x.pc.SetLocalDescription(d); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}

	return x.pc.LocalDescription().SDP, nil
}

// connect takes the browser's answer and waits for the connection.
func (x *sender) connect(ctx context.Context, answer string) error {
	connected, failed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	x.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateConnected:
			once.Do(func() { close(connected) })
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			once.Do(func() { close(failed) })
		default:
		}
	})
	err := x.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: onLoopback(answer)})
	if err != nil {
		return err
	}
	select {
	case <-connected:
	case <-failed:
		return errors.New("browser: the connection failed")
	case <-ctx.Done():
		return fmt.Errorf("browser: not connected: %w", context.Cause(ctx))
	}
	x.wg.Go(x.readFeedback)
	if x.script.rtt > 0 {
		x.wg.Go(func() { x.readReports(x.pc.GetTransceivers()[0].Receiver()) })
	}

	return nil
}

// onLoopback leaves out the candidates of other interfaces.
func onLoopback(sdp string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(sdp, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "a=candidate:") && (!strings.Contains(line, " 127.0.0.1 ") || !strings.Contains(strings.ToLower(line), " udp "))
	}), "")
}

func (x *sender) readFeedback() {
	for {
		packets, _, err := x.rtp.ReadRTCP()
		if err != nil {
			return
		}
		now := time.Now()
		for _, p := range packets {
			switch p := p.(type) {
			case *rtcp.TransportLayerNack:
				for _, n := range p.Nacks {
					for _, seq := range n.PacketList() {
						x.onNACK(now, seq)
					}
				}
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				x.onPLI(now)
			}
		}
	}
}

func (x *sender) onNACK(now time.Time, seq uint16) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked.nacks++
	if int(seq) >= len(x.packets) {
		return
	}
	x.packets[seq].asked = true
	// A packet that is not lost but late comes by itself.
	if x.script.rtt > 0 && x.packets[seq].packet != nil {
		select {
		case x.resends <- resend{now.Add(x.script.rtt), seq}:
		default:
		}
	}
}

func (x *sender) onPLI(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked.plis++
	if x.keyAt.IsZero() {
		x.keyAt = now.Add(x.script.keyRTT)
	}
}

// readReports answers the browser's sender reports after a round trip of the
// script's: that is how it measures one. RFC 3550 6.4.1.
func (x *sender) readReports(r *webrtc.RTPReceiver) {
	for {
		packets, _, err := r.ReadRTCP()
		if err != nil {
			return
		}
		now := time.Now()
		for _, p := range packets {
			report, ok := p.(*rtcp.SenderReport)
			if !ok {
				continue
			}
			x.wg.Go(func() {
				time.Sleep(time.Until(now.Add(x.script.rtt)))
				_ = x.pc.WriteRTCP([]rtcp.Packet{&rtcp.ReceiverReport{
					SSRC: uint32(x.rtp.GetParameters().Encodings[0].SSRC),
					Reports: []rtcp.ReceptionReport{{
						SSRC: report.SSRC, LastSenderReport: uint32(report.NTPTime >> 16),
					}},
				}})
				x.mu.Lock()
				defer x.mu.Unlock()
				at := time.Now()
				x.rtts = append(x.rtts, roundTrip{at, at.Sub(now)})
			})
		}
	}
}

// play sends the whole script, from start on.
func (x *sender) play(ctx context.Context, start time.Time) error {
	first := uint16(1000)
	seq := first
	made := map[int]madeFrame{}
	var waiting []resend
	events := x.script.events
	for len(events) > 0 {
		// What is due next: an event or a repair.
		at := start.Add(events[0].at)
		repair := -1
		for i, r := range waiting {
			if r.at.Before(at) {
				at, repair = r.at, i
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-x.resends:
			waiting = append(waiting, r)

			continue
		case <-time.After(time.Until(at)):
		}
		if repair >= 0 {
			x.again(waiting[repair].seq)
			waiting = slices.Delete(waiting, repair, repair+1)

			continue
		}
		e := events[0]
		events = events[1:]
		f, ok := made[e.frame]
		if !ok {
			f = x.make(e.frame, seq, e.count)
			made[e.frame] = f
			seq += uint16(e.count)
		}
		x.first(f, e)
	}

	return nil
}

// madeFrame is a frame as it is sent.
type madeFrame struct {
	data []byte
	key  bool
	seq  uint16 // of its first packet
	rtp  uint32
}

// make encodes a frame. Frames are made in the order in which their first packet
// is due, which is that of the script but for packets overtaken: those must not
// change the order of sequence numbers, so their frames come first.
func (x *sender) make(n int, seq uint16, count int) madeFrame {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := n == 0 || !x.keyAt.IsZero() && !time.Now().Before(x.keyAt)
	if key {
		x.keyAt = time.Time{}
	}
	for len(x.packets) < int(seq)+count {
		x.packets = append(x.packets, kept{})
	}
	f := x.script.frames[n]

	return madeFrame{encode(draw(n), key, f.size), key, seq, f.rtp}
}

// first sends a packet for the first time, or keeps it if it gets lost.
func (x *sender) first(f madeFrame, e event) {
	from, to := len(f.data)*e.index/e.count, len(f.data)*(e.index+1)/e.count
	// VP8 payload descriptor with a picture ID of 15 bits. RFC 7741 4.2.
	payload := append(make([]byte, 0, 4+to-from), 0x80, 0x80, 0x80|byte(e.frame>>8), byte(e.frame))
	if e.index == 0 {
		payload[0] |= 0x10
	}
	k := kept{
		packet: &rtp.Packet{
			Header: rtp.Header{
				Version: 2, Marker: e.index == e.count-1, SequenceNumber: f.seq + uint16(e.index), Timestamp: f.rtp,
			},
			Payload: append(payload, f.data[from:to]...),
		},
		sent: sent{frame: e.frame, index: e.index, count: e.count, size: to - from, rtp: f.rtp, key: f.key},
	}
	x.mu.Lock()
	k.asked = x.packets[k.packet.SequenceNumber].asked
	x.packets[k.packet.SequenceNumber] = k
	x.mu.Unlock()
	if !e.lost {
		x.write(k)
	}
}

func (x *sender) again(seq uint16) {
	x.mu.Lock()
	k := x.packets[seq]
	x.mu.Unlock()
	x.write(k)
}

// write sends a packet and notes when it left the socket.
func (x *sender) write(k kept) {
	var left time.Time
	x.mu.Lock()
	x.leaving = &left
	x.mu.Unlock()
	// An error is the connection going down; the log tells what is missing.
	_ = x.track.WriteRTP(k.packet)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.leaving = nil
	if left.IsZero() {
		return
	}
	k.sent.at = left
	k.sent.asked = x.packets[k.packet.SequenceNumber].asked
	x.log = append(x.log, k.sent)
}

// result is what was sent and asked for so far.
func (x *sender) result() ([]sent, []roundTrip, feedback) {
	x.mu.Lock()
	defer x.mu.Unlock()

	return slices.Clone(x.log), slices.Clone(x.rtts), x.asked
}

func (x *sender) close() error {
	err := errors.Join(x.pc.Close(), x.mux.Close())
	x.wg.Wait()

	return err
}

// stamping is a socket that notes when media leaves it.
type stamping struct {
	*net.UDPConn
	sender *sender
}

func (c *stamping) WriteTo(b []byte, addr net.Addr) (int, error) {
	n, err := c.UDPConn.WriteTo(b, addr)
	if err == nil && len(b) > 12 && binary.BigEndian.Uint16(b)>>8&0xc0 == 0x80 && b[1]&0x7f == 96 { // RTP, RFC 7983 7
		now := time.Now()
		c.sender.mu.Lock()
		if c.sender.leaving != nil {
			*c.sender.leaving = now
		}
		c.sender.mu.Unlock()
	}

	return n, err
}
