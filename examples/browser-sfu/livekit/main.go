// SPDX-License-Identifier: MIT

// Command livekit is browser-sfu with the client of LiveKit, which
//
//	go run ./examples/browser-sfu -sfu livekit
//
// builds and runs: what a browser publishes goes through the LiveKit Go SDK, with
// GBR-CC as an interceptor, to a LiveKit server or to a cluster of them that share
// a Redis, and from there to as many viewers as those carry. It is a module of its
// own: the SDK brings a hundred others that users of the estimator do not need.
//
// The server is found by LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET, as
// by LiveKit's own tools; without them by what livekit-server --dev listens to. A
// cluster is servers with the same keys and the same redis.address in their
// configuration; any of them takes publishers and viewers of any room:
//
//	livekit-server --config node.yaml     # port, keys, redis.address, rtc.*
//
// The SDK opens its sockets itself and leaves out loopback: a server on the same
// machine must be reachable by the address of some other interface.
//
//	main.go    finds the server      publish.go  the uplink to it
//	cell.go    the emulated uplink   viewer.go   what the viewers' page needs
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/app"
)

func main() { app.Main(&app.Module{Join: join}) }

// server is a LiveKit server, and who we are to it.
type server struct {
	url         string // ws or wss
	key, secret string
	room        string
}

// Those of livekit-server --dev.
const (
	devURL    = "ws://127.0.0.1:7880"
	devKey    = "devkey"
	devSecret = "secret"
)

// fromEnvironment reads what LiveKit's tools read.
func fromEnvironment(room string) (server, error) {
	s := server{os.Getenv("LIVEKIT_URL"), os.Getenv("LIVEKIT_API_KEY"), os.Getenv("LIVEKIT_API_SECRET"), room}
	if s.url == "" {
		s.url = devURL
	}
	if s.key == "" && s.secret == "" && s.url == devURL {
		s.key, s.secret = devKey, devSecret
	}
	if s.key == "" || s.secret == "" {
		return s, errors.New("LIVEKIT_API_KEY and LIVEKIT_API_SECRET are not both set; they are the server's `keys`")
	}
	u, err := url.Parse(s.url)
	if err != nil || u.Host == "" {
		return s, fmt.Errorf("LIVEKIT_URL %q: want ws://HOST:PORT or wss://HOST", s.url)
	}
	switch u.Scheme {
	case "ws", "wss":
	case "http", "https": // as some tools write it
		u.Scheme = "ws" + strings.TrimPrefix(u.Scheme, "http")
	default:
		return s, fmt.Errorf("LIVEKIT_URL %q: want ws://HOST:PORT or wss://HOST", s.url)
	}
	s.url = strings.TrimSuffix(u.String(), "/")

	return s, nil
}

// origins are those that a page speaks to: the socket, and what the client asks
// over HTTP when that fails.
func (s server) origins() []string {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil // it was looked at before
	}

	return []string{u.Scheme + "://" + u.Host, "http" + strings.TrimPrefix(u.Scheme, "ws") + "://" + u.Host}
}

func (s server) http() string { return "http" + strings.TrimPrefix(s.url, "ws") }

// check asks the server something that needs the key.
func (s server) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := lksdk.NewRoomServiceClient(s.http(), s.key, s.secret).ListRooms(ctx, &livekit.ListRoomsRequest{Names: []string{s.room}})
	if err == nil {
		return nil
	}
	hint := ""
	if s.url == devURL {
		hint = "; start livekit-server --dev, or set LIVEKIT_URL"
	}

	return fmt.Errorf("LiveKit at %s: %s%s", s.url, strings.ReplaceAll(err.Error(), "\n", " "), hint)
}

func join(w app.Way) (*app.There, error) {
	lksdk.SetLogger(logger.GetDiscardLogger()) // what matters is logged here
	s, err := fromEnvironment(w.Room)
	if err != nil {
		return nil, err
	}
	if err := s.check(context.Background()); err != nil {
		return nil, err
	}
	u, err := newUplink(s, w)
	if err != nil {
		return nil, err
	}

	return &app.There{Uplink: u, Files: viewerFiles(s), Scripts: []string{"livekit-client.umd.js", "livekit.js"}, Connect: s.origins()}, nil
}
