// SPDX-License-Identifier: MIT

package tcp

import (
	"errors"
	"fmt"
	"time"
)

// Defaults of [Config].
const (
	// DefaultMSS and DefaultHeaders fill an Ethernet frame: IPv4 20 + TCP 20.
	DefaultMSS     = 1460
	DefaultHeaders = 40
	// DefaultInitialWindow is in segments. RFC 6928.
	DefaultInitialWindow = 10
	// DefaultMaxWindow stands for the receiver's buffer; Linux: tcp_rmem.
	DefaultMaxWindow = 6 << 20
)

const (
	// maxSegments bounds a window, and with it the memory.
	maxSegments = 1 << 20
	maxBytes    = 1 << 50
)

// ErrConfig is wrapped by the errors of [NewCubic] and [NewShort].
var ErrConfig = errors.New("invalid config")

// Config of a [Sender]. The zero value sends without end; a zero field stands
// for its default.
type Config struct {
	// Start is when the first segment leaves.
	Start time.Time
	// Bytes is how much there is to send; 0 for no end.
	Bytes int64
	// MSS is the data in a full segment, Headers what every segment adds on the
	// link, bytes. Defaults 1460 and 40.
	MSS, Headers int
	// InitialWindow is in segments. Default 10.
	InitialWindow int
	// MaxWindow is the most that is out at a time, bytes. Default 6 MiB.
	MaxWindow int
	// HyStart leaves slow start when the round trip rises, not at the first
	// loss. RFC 9406.
	HyStart bool
}

func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		v   *int
		def int
	}{
		{&c.MSS, DefaultMSS},
		{&c.Headers, DefaultHeaders},
		{&c.InitialWindow, DefaultInitialWindow},
		{&c.MaxWindow, DefaultMaxWindow},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
	}
	switch {
	case c.Bytes < 0 || c.Bytes > maxBytes:
		return c, fmt.Errorf("tcp: %w: %d bytes to send", ErrConfig, c.Bytes)
	case c.MSS < 1 || c.MSS > 1<<16 || c.Headers < 0 || c.Headers > 1<<16:
		return c, fmt.Errorf("tcp: %w: segments of %d + %d bytes", ErrConfig, c.MSS, c.Headers)
	case c.InitialWindow < 1 || c.InitialWindow > maxSegments:
		return c, fmt.Errorf("tcp: %w: an initial window of %d segments", ErrConfig, c.InitialWindow)
	case c.MaxWindow < 2*c.MSS || c.MaxWindow/c.MSS > maxSegments:
		return c, fmt.Errorf("tcp: %w: a window of %d bytes in segments of %d, want 2 to %d", ErrConfig, c.MaxWindow, c.MSS, maxSegments)
	}

	return c, nil
}
