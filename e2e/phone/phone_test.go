// SPDX-License-Identifier: MIT

package phone

import (
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
)

func TestAgentKeepsItsAddress(t *testing.T) {
	defer goleak.VerifyNone(t)
	link, err := live.New(live.Config{Cell: cell.Config{Capacity: cell.Constant(5_000_000)}})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close() //nolint:errcheck // always nil
	if err := link.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := New(link.Diag)
	if err != nil {
		t.Fatal(err)
	}
	answers := func() bool {
		c, err := net.DialTimeout("tcp", p.addr, time.Second)
		if err == nil {
			err = c.Close()
		}

		return err == nil
	}
	addr, url := p.addr, p.url
	for range 2 {
		if err := p.Start(); err != nil || !answers() { // it lives already
			t.Fatalf("the agent does not answer: %v", err)
		}
		p.Kill()
		p.Kill()
		if answers() {
			t.Error("the agent answers after its death")
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if p.addr != addr || p.url != url {
		t.Errorf("the agent came back at %s, was at %s", p.addr, addr)
	}
	p.Kill()
	squatter, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer squatter.Close() //nolint:errcheck // nothing to do about it
	if err := p.Start(); err == nil {
		t.Error("the agent started on an address that is taken")
		p.Kill()
	}
}
