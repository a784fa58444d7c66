// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
)

// result is the JSON file.
type result struct {
	DurationS float64 `json:"duration_s"`
	sfu.Stats
}

// run is the program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	web, media, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed(media.Close())) }()
	cfg := sfu.Config{Media: media, Token: o.token, Origins: o.origins, MaxViewers: o.viewers}
	if cfg.Token == "" {
		cfg.Token = rand.Text()
	}
	if o.verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	forwarder, err := sfu.New(cfg)
	if err != nil {
		return errors.Join(err, web.Close())
	}
	server := &http.Server{
		Handler:           handler(forwarder.Handler()),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: time.Minute,
		// What clients do wrong is told to them.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(web) }()
	base := baseURL(web.Addr())
	fmt.Fprintf(stdout, "publish %spublish#%s\nview %sview\n", base, url.PathEscape(cfg.Token), base)

	start := time.Now()
	var end <-chan time.Time
	if o.duration > 0 {
		timer := time.NewTimer(o.duration)
		defer timer.Stop()
		end = timer.C
	}
	select {
	case <-ctx.Done(): // without a -duration it is how it ends
		if o.duration > 0 {
			err = fmt.Errorf("stopped: %w", context.Cause(ctx))
		}
	case <-end:
	case err = <-serving:
		err = fmt.Errorf("no longer served: %w", err)
	}
	res := result{time.Since(start).Round(time.Millisecond).Seconds(), forwarder.Stats()}
	err = errors.Join(err, server.Close(), forwarder.Close())
	if err == nil && o.json != "" {
		err = writeJSON(o.json, res)
	}

	return err
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

// closed leaves out that something was closed before.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}

	return err
}

// baseURL is where a browser on this machine finds the server.
func baseURL(addr net.Addr) string {
	host := addr.String()
	if a, ok := addr.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		host = net.JoinHostPort("localhost", strconv.Itoa(a.Port))
	}

	return "http://" + host + "/"
}

// writeJSON leaves no partial file behind.
func writeJSON(path string, r result) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	tmp, err := tempBeside(path)
	if err != nil {
		return fmt.Errorf("-json: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())

		return fmt.Errorf("-json: %w", err)
	}

	return nil
}
