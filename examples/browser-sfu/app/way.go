// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/gateway"
	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
)

// way is all between the publisher and the viewers.
//
//	publish page ─▶ near ─▶ uplink ─▶ cellular ─▶ far, or another SFU ─▶ view page
//
// Without a gateway near is far.
type way struct {
	near, far *site
	token     string // of publishers
	view      string
	cellular  *cellular
	uplink    Uplink
}

func newWay(ctx context.Context, o options, module *Module, log *slog.Logger) (w *way, err error) {
	w = &way{token: o.token}
	if w.token == "" {
		w.token = rand.Text()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	same := func(c net.PacketConn) net.PacketConn { return c }
	cfg := sfu.Config{Token: w.token, Origins: o.origins, MaxViewers: o.viewers, Logger: log}
	if o.modem == "off" {
		if w.far, err = newSite(ctx, o.listen, cfg, same, content{}); err != nil {
			return w, err
		}
		w.near, w.view = w.far, w.far.base+"view"

		return w, nil
	}
	if w.cellular, err = newCellular(ctx, o, log); err != nil {
		return w, err
	}
	listen, show, page := o.listen, content{}, "view"
	switch {
	case o.sfu == embedded:
		cfg.Token = rand.Text() // the gateway's alone
		if w.far, err = newSite(ctx, o.listen, cfg, w.cellular.back, show); err != nil {
			return w, err
		}
		listen = "127.0.0.1:0"
		w.uplink, err = w.cellular.uplink(w.far.base+"whip", cfg.Token, log)
	case module != nil:
		var there *There
		if there, err = module.Join(w.cellular.way(o, log)); err == nil {
			w.uplink, show, page = there.Uplink, there.content(), "far/"
		}
	default:
		if u, perr := url.Parse(o.sfu); perr == nil {
			show.connect = u.Scheme + "://" + u.Host
		}
		page += "?whep=" + url.QueryEscape(neighbour(o.sfu))
		w.uplink, err = w.cellular.uplink(o.sfu, o.sfuToken, log)
	}
	if err != nil {
		return w, err
	}
	near := sfu.Config{
		Token: w.token, Origins: o.origins, Logger: log, OnPublish: w.uplink.Forward,
		StartKbps: gateway.StartBps / 1000, StartToldKbps: gateway.MaxBps / 1000,
	}
	if w.near, err = newSite(ctx, listen, near, same, show); err != nil {
		return w, err
	}
	if w.far == nil {
		w.far = w.near
	}
	w.view = w.far.base + page

	return w, nil
}

// close ends it all, the publisher's side first.
func (w *way) close() error {
	var errs []error
	if w.near != nil && w.near != w.far {
		errs = append(errs, w.near.close())
	}
	if w.far != nil {
		errs = append(errs, w.far.close())
	}
	if w.uplink != nil {
		errs = append(errs, w.uplink.Close())
	}
	if w.cellular != nil {
		errs = append(errs, w.cellular.close())
	}

	return errors.Join(errs...)
}

// neighbour is WHEP's address beside one of WHIP.
func neighbour(whip string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(whip, "/"), "whip"), "/") + "/whep"
}
