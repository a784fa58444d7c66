// SPDX-License-Identifier: MIT

package main

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
	uplink    *gateway.Uplink
}

func newWay(ctx context.Context, o options, log *slog.Logger) (w *way, err error) {
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
		if w.far, err = newSite(ctx, o.listen, cfg, same, ""); err != nil {
			return w, err
		}
		w.near, w.view = w.far, w.far.base+"view"

		return w, nil
	}
	if w.cellular, err = newCellular(ctx, o, log); err != nil {
		return w, err
	}
	endpoint, token, alsoConnect, nearAddr := o.sfu, o.sfuToken, "", o.listen
	if o.sfu == embedded {
		cfg.Token = rand.Text() // the gateway's alone
		if w.far, err = newSite(ctx, o.listen, cfg, w.cellular.back, ""); err != nil {
			return w, err
		}
		endpoint, token, nearAddr = w.far.base+"whip", cfg.Token, "127.0.0.1:0"
		w.view = w.far.base + "view"
	} else if u, perr := url.Parse(o.sfu); perr == nil {
		alsoConnect = u.Scheme + "://" + u.Host
	}
	if w.uplink, err = w.cellular.uplink(endpoint, token, log); err != nil {
		return w, err
	}
	near := sfu.Config{
		Token: w.token, Origins: o.origins, Logger: log, StartKbps: gateway.StartBps / 1000, OnPublish: w.uplink.Forward,
	}
	if w.near, err = newSite(ctx, nearAddr, near, same, alsoConnect); err != nil {
		return w, err
	}
	if w.far == nil {
		w.far = w.near
		whep := strings.TrimSuffix(o.sfu, "/whip") + "/whep"
		w.view = w.near.base + "view?whep=" + url.QueryEscape(whep)
	}

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
