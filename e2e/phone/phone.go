// SPDX-License-Identifier: MIT

package phone

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

// Agent is the agent of one emulated phone: it decodes what the modem's
// diagnostic port says and serves it on a loopback address. It can be killed and
// started again, as a process on a phone can. Not safe for concurrent use.
type Agent struct {
	port     func() io.ReadCloser
	identity *modemlink.Identity
	addr     string // the same after a restart: the pairing holds
	url      string

	cancel context.CancelFunc // nil while dead
	wg     sync.WaitGroup
}

// New starts an agent. port opens the modem's diagnostic port, anew at each
// start; the agent closes it.
func New(port func() io.ReadCloser) (*Agent, error) {
	id, err := modemlink.NewIdentity()
	if err != nil {
		return nil, err
	}
	a := &Agent{port: port, identity: id, addr: "127.0.0.1:0"}
	if err := a.Start(); err != nil {
		return nil, err
	}

	return a, nil
}

// URL is the pairing URL, the same for as long as the Agent is used.
func (a *Agent) URL() string { return a.url }

// Start starts the agent again after Kill; it does nothing when the agent lives.
func (a *Agent) Start() error {
	if a.cancel != nil {
		return nil
	}
	server, err := modemlink.NewServer(modemlink.ServerConfig{Identity: a.identity})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", a.addr)
	if err != nil {
		return fmt.Errorf("phone's agent: %w", err)
	}
	port := a.port()
	src, err := source.NewDiag(port, source.DiagConfig{AliveWhileOpen: true})
	if err != nil {
		return errors.Join(err, port.Close(), ln.Close())
	}
	a.addr = ln.Addr().String()
	a.url = server.URL(ln.Addr()).String()
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	// Both end with ctx, and then close what they were given; that is all that
	// their errors say.
	a.wg.Go(func() { _ = server.Serve(ctx, ln) })
	a.wg.Go(func() { _ = src.Run(ctx, server.Publish) })

	return nil
}

// Kill ends the agent; nothing answers at its address afterwards.
func (a *Agent) Kill() {
	if a.cancel != nil {
		a.cancel()
		a.wg.Wait()
		a.cancel = nil
	}
}
