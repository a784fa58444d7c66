// SPDX-License-Identifier: MIT

//go:build browser && codec

package browser

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
)

// cellPath is the emulated cell between a sender and a receiver that know nothing
// of it: each sends to a socket of ours, which leads to the other one.
//
//	sender ─► front ─► cell, uplink ─► back ─► receiver
//	sender ◄─ front ◄─ 25 ms        ◄─ back ◄─ receiver
type cellPath struct {
	link        *live.Link
	front, back *net.UDPConn
	sender      atomic.Pointer[net.UDPAddr]
	receiver    atomic.Pointer[net.UDPAddr]
	wg          sync.WaitGroup

	mu   sync.Mutex
	left map[uint32]time.Time // last packets of frames, by RTP time: onto the uplink
}

func newCellPath(trace cell.Trace, seed uint64) (*cellPath, error) {
	p := &cellPath{left: map[uint32]time.Time{}}
	var err error
	if p.front, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, err
	}
	if p.back, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, errors.Join(err, p.front.Close())
	}
	p.link, err = live.New(live.Config{Cell: cell.Config{Start: time.Now(), Seed: seed, Capacity: trace}})
	if err == nil {
		err = p.link.Start()
	}
	if err != nil {
		return nil, errors.Join(err, p.front.Close(), p.back.Close())
	}
	p.wg.Go(func() { pass(p.front, p.link.Uplink(p.back), &p.sender, &p.receiver, p.leaves) })
	p.wg.Go(func() { pass(p.back, p.link.Downlink(p.front), &p.receiver, &p.sender, func([]byte) {}) })

	return p, nil
}

// pass reads from a socket and sends on, to whoever is known at the other side:
// both ends send first, and show sees all of it. It ends with the socket.
func pass(from *net.UDPConn, to net.PacketConn, learn, dest *atomic.Pointer[net.UDPAddr], show func([]byte)) {
	b := make([]byte, 2048)
	for {
		n, addr, err := from.ReadFromUDP(b)
		if err != nil {
			return
		}
		learn.Store(addr)
		show(b[:n])
		if d := dest.Load(); d != nil {
			_, _ = to.WriteTo(b[:n], d) // as on a network
		}
	}
}

// leaves notes when a frame's last packet comes by: RTP's header is not encrypted.
func (p *cellPath) leaves(b []byte) {
	const marker, fixed = 0x80, 12
	// RFC 5761 4: RTCP beside RTP has payload types from 192 on, less the marker 64
	// to 95. Other first bits are STUN's and DTLS's.
	if len(b) < fixed || b[0]>>6 != 2 || b[1]&marker == 0 || b[1]&^marker >= 64 && b[1]&^marker < 96 {
		return
	}
	ts := binary.BigEndian.Uint32(b[4:])
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.left[ts]; !again {
		p.left[ts] = time.Now()
	}
}

// departures is when the last packets of frames left the sender, by RTP time.
func (p *cellPath) departures() map[uint32]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()

	return maps.Clone(p.left)
}

var firstICE = regexp.MustCompile(`(?m)^a=ice-ufrag:`)

// lead leaves out the candidates of a description, and puts a socket of ours in
// their place.
func lead(sdp string, to *net.UDPConn) (string, error) {
	sdp = anyCandidate.ReplaceAllString(sdp, "")
	at := firstICE.FindStringIndex(sdp)
	medium := strings.Index(sdp, "m=video")
	if at == nil || medium < 0 {
		return "", errors.New("browser: neither ICE nor video in a description")
	}
	if at[0] < medium { // of the session: candidates are a medium's all the same
		end := strings.Index(sdp[medium:], "\n")
		at[0] = medium + end + 1
	}
	port := strconv.Itoa(to.LocalAddr().(*net.UDPAddr).Port)

	return sdp[:at[0]] + "a=candidate:1 1 udp 2130706431 127.0.0.1 " + port + " typ host\r\n" + sdp[at[0]:], nil
}

func (p *cellPath) close() error {
	err := errors.Join(p.front.Close(), p.back.Close())
	p.wg.Wait()

	return errors.Join(err, p.link.Close())
}

// sleep waits until a time, or for the context.
func sleep(ctx context.Context, until time.Time) error {
	select {
	case <-time.After(time.Until(until)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
