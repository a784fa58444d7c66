// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/examples/command"
)

// site is a server of pages and endpoints, with its media on the UDP port of the
// same number.
type site struct {
	base    string // ends in a slash
	server  *sfu.Server
	media   net.PacketConn
	web     *http.Server
	serving chan error
}

// newSite listens and serves. wrap may put something around the media's socket.
func newSite(ctx context.Context, addr string, cfg sfu.Config, wrap func(net.PacketConn) net.PacketConn, show content) (*site, error) {
	ln, media, err := listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	cfg.Media = wrap(media)
	server, err := sfu.New(cfg)
	if err != nil {
		return nil, errors.Join(err, ln.Close(), media.Close())
	}
	s := &site{base: command.URL(ln.Addr()), server: server, media: media, serving: make(chan error, 1)}
	s.web = &http.Server{
		Handler:           handler(server.Handler(), show),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: time.Minute,
		// What clients do wrong is told to them.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() { s.serving <- s.web.Serve(ln) }()

	return s, nil
}

func (s *site) close() error {
	return errors.Join(s.web.Close(), s.server.Close(), closed(s.media.Close()))
}

// listen opens a TCP port and the UDP port of the same number.
func listen(ctx context.Context, addr string) (net.Listener, net.PacketConn, error) {
	var lc net.ListenConfig
	for try := 1; ; try++ {
		web, err := lc.Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, nil, fmt.Errorf("-listen: %w", err)
		}
		media, err := lc.ListenPacket(ctx, "udp", web.Addr().String())
		if err == nil {
			return web, media, nil
		}
		_ = web.Close()
		// A port that was free for TCP may be taken for UDP.
		if _, port, _ := net.SplitHostPort(addr); port != "0" || try == 10 {
			return nil, nil, fmt.Errorf("-listen: media: %w", err)
		}
	}
}
