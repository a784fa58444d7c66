// SPDX-License-Identifier: MIT

//go:build browser && codec

package browser

import (
	"context"
	"errors"
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
}

func newCellPath(trace cell.Trace, seed uint64) (*cellPath, error) {
	p := &cellPath{}
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
	p.wg.Go(func() { pass(p.front, p.link.Uplink(p.back), &p.sender, &p.receiver) })
	p.wg.Go(func() { pass(p.back, p.link.Downlink(p.front), &p.receiver, &p.sender) })

	return p, nil
}

// pass reads from a socket and sends on, to whoever is known at the other side:
// both ends send first. It ends with the socket.
func pass(from *net.UDPConn, to net.PacketConn, learn, dest *atomic.Pointer[net.UDPAddr]) {
	b := make([]byte, 2048)
	for {
		n, addr, err := from.ReadFromUDP(b)
		if err != nil {
			return
		}
		learn.Store(addr)
		if d := dest.Load(); d != nil {
			_, _ = to.WriteTo(b[:n], d) // as on a network
		}
	}
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
