// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/source"
)

// phone is the agent of one emulated phone: it decodes what the modem's
// diagnostic port says and serves it on a loopback address. It can be killed and
// started again, as a process on a phone can. Not safe for concurrent use.
type phone struct {
	port     func() io.ReadCloser // opens the diagnostic port
	identity *modemlink.Identity
	addr     string // the same after a restart: the pairing holds
	url      string

	cancel context.CancelFunc // nil while dead
	wg     sync.WaitGroup
}

// newPhone starts the agent.
func newPhone(port func() io.ReadCloser) (*phone, error) {
	id, err := modemlink.NewIdentity()
	if err != nil {
		return nil, err
	}
	p := &phone{port: port, identity: id, addr: "127.0.0.1:0"}
	if err := p.start(); err != nil {
		return nil, err
	}

	return p, nil
}

// start does nothing when the agent lives.
func (p *phone) start() error {
	if p.cancel != nil {
		return nil
	}
	server, err := modemlink.NewServer(modemlink.ServerConfig{Identity: p.identity})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("phone's agent: %w", err)
	}
	port := p.port()
	src, err := source.NewDiag(port, source.DiagConfig{AliveWhileOpen: true})
	if err != nil {
		return errors.Join(err, port.Close(), ln.Close())
	}
	p.addr = ln.Addr().String()
	p.url = server.URL(ln.Addr()).String()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	// Both end with ctx, and then close what they were given; that is all that
	// their errors say.
	p.wg.Go(func() { _ = server.Serve(ctx, ln) })
	p.wg.Go(func() { _ = src.Run(ctx, server.Publish) })

	return nil
}

// kill ends the agent; nothing answers at its address afterwards.
func (p *phone) kill() {
	if p.cancel != nil {
		p.cancel()
		p.wg.Wait()
		p.cancel = nil
	}
}
