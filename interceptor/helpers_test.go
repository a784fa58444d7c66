// SPDX-License-Identifier: MIT

package interceptor

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	mediaSSRC = 0x1111
	rtxSSRC   = 0x2222
	fecSSRC   = 0x3333
	extID     = 5
)

// fakeOuter is an outer loop that does what the test says. Guarded by the
// Estimator's mutex.
type fakeOuter struct {
	bitrate, pacing int
	sent            []gcc.SentPacket
	results         []gcc.PacketResult
	timeouts        int
	next            time.Time
}

func (o *fakeOuter) OnPacketSent(_ time.Time, p gcc.SentPacket) { o.sent = append(o.sent, p) }

func (o *fakeOuter) OnAcked(_ time.Time, r []gcc.PacketResult) { o.results = append(o.results, r...) }
func (o *fakeOuter) OnDelay(time.Time, []gcc.PacketResult)     {}
func (o *fakeOuter) OnTimeout(time.Time)                       { o.timeouts++ }
func (o *fakeOuter) NextTimeout() time.Time                    { return o.next }
func (o *fakeOuter) SetEstimate(time.Time, int)                {}

func (o *fakeOuter) Estimate() gcc.Estimate {
	return gcc.Estimate{BitrateBps: o.bitrate, PacingBps: o.pacing}
}

// rig is an Estimator over a fakeOuter and a wire that keeps what was sent.
type rig struct {
	*Estimator
	t     testing.TB
	outer *fakeOuter
	wire  *wire
	log   *logBook
}

func newRig(t testing.TB, pacingBps int, opts ...Option) *rig {
	t.Helper()
	r := &rig{t: t, outer: &fakeOuter{bitrate: 1_000_000, pacing: pacingBps}, wire: &wire{}, log: &logBook{}}
	e, err := NewEstimator(append([]Option{
		WithOuter(func() (gbr.Outer, error) { return r.outer, nil }),
		WithAlgorithm(gbr.Seed), WithLoggerFactory(r.log),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	r.Estimator = e
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})

	return r
}

// set changes what the outer loop says, as if it had decided so itself.
func (r *rig) set(bitrate, pacing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outer.bitrate, r.outer.pacing = bitrate, pacing
	now := r.now()
	r.core.OnTimeout(now)
	r.follow(now)
	r.arm(now)
}

func (r *rig) results() []gcc.PacketResult {
	r.mu.Lock()
	defer r.mu.Unlock()

	return append([]gcc.PacketResult(nil), r.outer.results...)
}

// tracked returns what the core was told.
func (r *rig) tracked() []gcc.SentPacket {
	r.mu.Lock()
	defer r.mu.Unlock()

	return append([]gcc.SentPacket(nil), r.outer.sent...)
}

func (r *rig) stat(key string) int64 {
	r.t.Helper()
	switch v := r.GetStats()[key].(type) {
	case int64:
		return v
	case int:
		return int64(v)
	default:
		r.t.Fatalf("%s is %T", key, v)

		return 0
	}
}

func (r *rig) video() pion.RTPWriter { return r.AddStream(videoInfo(), r.wire) }

func videoInfo() *pion.StreamInfo {
	return &pion.StreamInfo{
		SSRC: mediaSSRC, SSRCRetransmission: rtxSSRC, SSRCForwardErrorCorrection: fecSSRC,
		PayloadType: 96, PayloadTypeRetransmission: 97, PayloadTypeForwardErrorCorrection: 98,
		MimeType: "video/VP8", ClockRate: 90000,
		RTPHeaderExtensions: []pion.RTPHeaderExtension{{URI: "urn:other", ID: 3}, {URI: transportCCURI, ID: extID}},
		RTCPFeedback:        []pion.RTCPFeedback{{Type: "nack"}, {Type: "transport-cc"}},
	}
}

func ccfbInfo(ssrc uint32) *pion.StreamInfo {
	return &pion.StreamInfo{
		SSRC: ssrc, MimeType: "video/VP8", RTCPFeedback: []pion.RTCPFeedback{{Type: "ack", Parameter: "ccfb"}},
	}
}

func header(ssrc uint32, number uint16) *rtp.Header {
	return &rtp.Header{Version: 2, PayloadType: 96, SequenceNumber: number, SSRC: ssrc}
}

// payloadFor makes a packet with the extension exactly size bytes on the link.
func payloadFor(size int) []byte { return make([]byte, size-12-8-linkOverhead) }

func mustWrite(t testing.TB, w pion.RTPWriter, h *rtp.Header, payload []byte) {
	t.Helper()
	if _, err := w.Write(h, payload, nil); err != nil {
		t.Fatal(err)
	}
}

type sentRTP struct {
	at      time.Time
	header  rtp.Header
	payload []byte
	attrs   pion.Attributes
}

// transportNumber returns the packet's transport-wide number.
func (p sentRTP) transportNumber(t testing.TB) uint16 {
	t.Helper()
	x := p.header.GetExtension(extID)
	if len(x) != 2 {
		t.Fatalf("packet %d has no transport-wide number: %v", p.header.SequenceNumber, x)
	}

	return binary.BigEndian.Uint16(x)
}

// wire is the writer behind the Estimator.
type wire struct {
	mu      sync.Mutex
	packets []sentRTP
	// result, when set, says what Write returns; 0 bytes or an error are not
	// kept.
	result func(h *rtp.Header) (int, error)
}

func (w *wire) Write(h *rtp.Header, payload []byte, a pion.Attributes) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := h.MarshalSize()+len(payload), error(nil)
	if w.result != nil {
		n, err = w.result(h)
	}
	if n > 0 && err == nil {
		w.packets = append(w.packets, sentRTP{time.Now(), h.Clone(), append([]byte(nil), payload...), maps.Clone(a)})
	}

	return n, err
}

func (w *wire) sent() []sentRTP {
	w.mu.Lock()
	defer w.mu.Unlock()

	return append([]sentRTP(nil), w.packets...)
}

// viaBytes marshals and parses, as a report comes from the network.
func viaBytes(t testing.TB, pkts ...rtcp.Packet) []rtcp.Packet {
	t.Helper()
	if len(pkts) == 0 {
		return nil
	}
	raw, err := rtcp.Marshal(pkts)
	if err != nil {
		t.Fatal(err)
	}
	out, err := rtcp.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}

	return out
}

// within fails unless got is want give or take tol.
func within(t testing.TB, what string, got, want, tol float64, unit string) {
	t.Helper()
	if !(got >= want-tol && got <= want+tol) {
		t.Errorf("%s is %.3f %s, want %.3f +- %.3f", what, got, unit, want, tol)
	}
}

// logBook keeps warnings.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logBook) NewLogger(string) logging.LeveledLogger { return l }

func (l *logBook) warnings() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return strings.Join(l.lines, "\n")
}

func (l *logBook) Warn(msg string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, msg)
}

func (l *logBook) Warnf(format string, a ...any)  { l.Warn(fmt.Sprintf(format, a...)) }
func (l *logBook) Trace(string)                   {}
func (l *logBook) Tracef(string, ...any)          {}
func (l *logBook) Debug(string)                   {}
func (l *logBook) Debugf(string, ...any)          {}
func (l *logBook) Info(string)                    {}
func (l *logBook) Infof(string, ...any)           {}
func (l *logBook) Error(msg string)               { l.Warn(msg) }
func (l *logBook) Errorf(format string, a ...any) { l.Warnf(format, a...) }
