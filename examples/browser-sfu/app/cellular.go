// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/cell/live"
	"github.com/gbrcc/gbrcc/e2e/phone"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/gateway"
	"github.com/gbrcc/gbrcc/modemlink"
)

// cellular is the way from the gateway to the SFU: an emulated phone's, or that
// of a real one, whose network the system routes to.
type cellular struct {
	conn   net.PacketConn // the gateway's socket, wrapped
	link   *live.Link     // nil: a real phone
	start  time.Time      // of the emulated cell
	phone  *phone.Agent   // nil: a real one
	client *modemlink.Client
}

// newCellular prepares the way; nothing flows yet.
func newCellular(ctx context.Context, o options, log *slog.Logger) (c *cellular, err error) {
	c = &cellular{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	addr := "127.0.0.1:0"
	if o.sfu != embedded && !loopback(o.sfu) {
		addr = ":0"
	}
	var lc net.ListenConfig
	if c.conn, err = lc.ListenPacket(ctx, "udp4", addr); err != nil {
		return c, err
	}
	agent := o.modem
	if agent == "sim" {
		c.start = time.Now()
		c.link, err = live.New(live.Config{Cell: cell.Config{Start: c.start, Seed: 1, Capacity: o.trace}})
		if err == nil {
			err = c.link.Start()
		}
		if err == nil {
			c.phone, err = phone.New(c.link.Diag)
		}
		if err != nil {
			return c, err
		}
		agent = c.phone.URL()
	}
	c.client, err = modemlink.NewClient(agent, modemlink.ClientConfig{MaxBackoff: time.Second, OnEvent: func(e modemlink.Event) {
		switch e.Kind {
		case modemlink.Connected:
			log.Info("agent connected")
		case modemlink.Disconnected:
			log.Info("agent lost")
		default:
		}
	}})

	return c, err
}

// uplink makes the gateway's sending side.
func (c *cellular) uplink(endpoint, token string, log *slog.Logger) (*gateway.Uplink, error) {
	conn := c.conn
	if c.link != nil {
		conn = c.link.Uplink(conn)
	}

	return gateway.New(gateway.Config{
		Endpoint: endpoint, Token: token, Conn: conn, Logger: log,
		Telemetry: c.client.Run,
	})
}

// way is the same for another SFU's client.
func (c *cellular) way(o options, log *slog.Logger) Way {
	w := Way{Room: o.room, Logger: log, Telemetry: c.client.Run}
	if c.link != nil {
		w.Up, w.Down = c.link.Uplink, c.link.Downlink
	}

	return w
}

// back wraps the SFU's socket: what it sends to the phone takes as long as it
// does in a network, what it sends to viewers does not.
func (c *cellular) back(media net.PacketConn) net.PacketConn {
	if c.link == nil {
		return media
	}

	return &toPhone{media, c.link.Downlink(media), c.conn.LocalAddr().String()}
}

type toPhone struct {
	net.PacketConn
	down  net.PacketConn
	phone string
}

func (c *toPhone) WriteTo(p []byte, addr net.Addr) (int, error) {
	if addr.String() == c.phone {
		return c.down.WriteTo(p, addr)
	}

	return c.PacketConn.WriteTo(p, addr)
}

func (c *cellular) close() error {
	var errs []error
	if c.phone != nil {
		c.phone.Kill()
	}
	if c.link != nil {
		errs = append(errs, c.link.Close())
	}
	if c.conn != nil {
		errs = append(errs, closed(c.conn.Close()))
	}

	return errors.Join(errs...)
}

// loopback tells whether an address is of this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())

	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
