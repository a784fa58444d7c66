// SPDX-License-Identifier: MIT

package sfu

import (
	"strconv"
	"strings"
	"sync"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// rateChannel is the data channel on which a page hears its highest bit rate:
// each message is a number, in bit/s.
const rateChannel = "rate"

// Publication is a publisher as the program beside the server sees it.
type Publication struct{ p *publication }

// Medium is one of its tracks.
type Medium struct {
	Kind  string // audio or video
	Codec webrtc.RTPCodecCapability
}

// Media are what it sends.
func (p *Publication) Media() []Medium {
	p.p.mu.Lock()
	defer p.p.mu.Unlock()
	var all []Medium
	for _, src := range p.p.sources {
		all = append(all, Medium{src.kind, src.codec})
	}

	return all
}

// Done is closed when the publisher is gone.
func (p *Publication) Done() <-chan struct{} { return p.p.x.done }

// RequestKeyFrame asks the publisher for one, not more often than it can bear.
func (p *Publication) RequestKeyFrame() { p.p.wantKeyFrame() }

// Attach forwards each kind of medium to an outlet as it would to a viewer:
// through a bounded queue, beginning with a key frame, without header extensions,
// and with numbers that go on over what was dropped. It returns what ends that and
// waits for its end.
func (p *Publication) Attach(to map[string]Outlet) (detach func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	feeds := map[*source]*feed{}
	p.p.mu.Lock()
	for _, src := range p.p.sources {
		if o := to[src.kind]; o.Write != nil {
			f := newFeed(o.Write, src.key, done)
			if o.Rate != nil {
				f.pace, f.keyFrame = &pace{rate: o.Rate}, p.p.wantKeyFrame
			}
			feeds[src] = f
			wg.Go(f.run)
		}
	}
	p.p.mu.Unlock()
	for src, f := range feeds {
		src.mu.Lock()
		src.feeds[f] = struct{}{}
		src.mu.Unlock()
	}
	p.p.wantKeyFrame()

	return sync.OnceFunc(func() {
		for src, f := range feeds {
			src.mu.Lock()
			delete(src.feeds, f)
			src.mu.Unlock()
		}
		close(done)
		wg.Wait()
	})
}

// SetMaxBitrate tells the publisher what the video may take, in bit/s: by the
// data channel that our page opens, else by REMB, which browsers obey as a cap,
// if more slowly.
func (p *Publication) SetMaxBitrate(bps int) {
	p.p.mu.Lock()
	dc := p.p.rate
	var ssrcs []uint32
	for _, src := range p.p.sources {
		if src.kind == "video" {
			ssrcs = append(ssrcs, src.ssrc)
		}
	}
	p.p.mu.Unlock()
	if dc != nil && dc.ReadyState() == webrtc.DataChannelStateOpen {
		_ = dc.SendText(strconv.Itoa(bps)) // a publisher that goes is noticed elsewhere

		return
	}
	_ = p.p.x.pc.WriteRTCP([]rtcp.Packet{&rtcp.ReceiverEstimatedMaximumBitrate{Bitrate: float32(bps), SSRCs: ssrcs}})
}

// startBitrate has Chromium begin at a rate instead of at 300 kbit/s.
// libwebrtc: media/base/media_constants.
func startBitrate(sdp string, kbps int) string {
	if kbps <= 0 {
		return sdp
	}
	video := map[string]bool{}
	seen := map[string]bool{}
	lines := strings.SplitAfter(sdp, "\r\n")
	pt := func(line, prefix string) string {
		rest, ok := strings.CutPrefix(line, prefix)
		if !ok {
			return ""
		}
		id, _, _ := strings.Cut(rest, " ")

		return id
	}
	for i, l := range lines {
		if id := pt(l, "a=rtpmap:"); id != "" && strings.Contains(l, "/90000") {
			video[id] = true
		} else if id := pt(l, "a=fmtp:"); video[id] {
			seen[id] = true
			lines[i] = strings.TrimRight(l, "\r\n") + ";x-google-start-bitrate=" + strconv.Itoa(kbps) + "\r\n"
		}
	}
	for i, l := range lines {
		if id := pt(l, "a=rtpmap:"); video[id] && !seen[id] {
			lines[i] = l + "a=fmtp:" + id + " x-google-start-bitrate=" + strconv.Itoa(kbps) + "\r\n"
		}
	}

	return strings.Join(lines, "")
}
