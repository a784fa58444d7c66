// SPDX-License-Identifier: MIT

package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/examples/browser-sfu/sfu"
	"github.com/gbrcc/gbrcc/interceptor"
)

// livekit is the SFU whose client is a module of its own.
const livekit = "livekit"

// Module is a program's way to an SFU that is not spoken to by WHIP.
type Module struct {
	// Join finds the SFU; what it returns sends to it.
	Join func(Way) (*There, error)
}

// Way is what lies between this program and the SFU.
type Way struct {
	// Room is the one to publish in.
	Room string
	// Telemetry is what the modem says.
	Telemetry interceptor.TelemetrySource
	// Up wraps a socket whose datagrams are to take the emulated uplink, Down one whose
	// datagrams come back to the phone; nil: the network is a real one.
	Up, Down func(net.PacketConn) net.PacketConn
	// Logger gets what happens.
	Logger *slog.Logger
}

// There is an SFU that was found.
type There struct {
	Uplink Uplink
	// Files are what the viewers' page loads and asks, as served below /far/, Scripts
	// those that it runs after pages/common.js and pages/playback.js.
	Files   http.Handler
	Scripts []string
	// Connect are the other origins that the page speaks to.
	Connect []string
}

// Uplink sends publications to an SFU.
type Uplink interface {
	// Forward sends a publication until it ends.
	Forward(*sfu.Publication)
	// Close is for after the last Forward.
	Close() error
}

func (t *There) content() content {
	return content{connect: strings.Join(t.Connect, " "), far: t.Files, scripts: t.Scripts}
}

// errShown ends the program without another word.
var errShown = errors.New("the other program has said why")

const modulePath = "github.com/gbrcc/gbrcc"

// runModule builds the program of a module beside this one and has it take over.
// What it needs is thereby no requirement of those who do not use it.
func runModule(ctx context.Context, name string, args []string, stdout, stderr io.Writer) error {
	dir, err := moduleDir(ctx, name)
	if err != nil {
		return fmt.Errorf("-sfu %s: %w", name, err)
	}
	tmp, err := os.MkdirTemp("", "browser-sfu-*")
	if err != nil {
		return fmt.Errorf("-sfu %s: %w", name, err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // nothing to do about it
	program := filepath.Join(tmp, "browser-sfu.exe")
	fmt.Fprintf(stderr, "browser-sfu: building the program for %s, which takes a minute or two the first time\n", name)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir, build.Stderr = dir, stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("-sfu %s: go build: %w", name, err)
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Stdout, c.Stderr = stdout, stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 15 * time.Second
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return errShown
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("-sfu %s: %w", name, err)
	}

	return nil
}

// moduleDir finds the source beside that of this program.
func moduleDir(ctx context.Context, name string) (string, error) {
	const hint = "its client is a module of its own: clone the project and run this there"
	var said bytes.Buffer
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	list.Stderr = &said
	out, err := list.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("no go command in the PATH to build it with")
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "examples", "browser-sfu", name)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
	}
	if err != nil {
		return "", errors.New(hint)
	}

	return dir, nil
}
