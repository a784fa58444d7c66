// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// sayAgain is how long a notice is not repeated.
const sayAgain = time.Minute

// notices print warnings as a person reads them, for who has not asked for the log: a
// line each, and what is said over and over only now and then.
type notices struct {
	w    io.Writer
	mu   sync.Mutex
	said map[string]time.Time
}

func newNotices(w io.Writer) *notices { return &notices{w: w, said: map[string]time.Time{}} }

// Enabled implements [slog.Handler].
func (*notices) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements [slog.Handler].
func (n *notices) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("browser-sfu: " + r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, ": %v", a.Value)

		return true
	})
	text := strings.ReplaceAll(b.String(), "\n", " ")
	n.mu.Lock()
	defer n.mu.Unlock()
	for t, at := range n.said {
		if r.Time.Sub(at) >= sayAgain {
			delete(n.said, t)
		}
	}
	if _, ok := n.said[text]; ok {
		return nil
	}
	n.said[text] = r.Time
	_, err := fmt.Fprintln(n.w, text)

	return err
}

// WithAttrs implements [slog.Handler]; nobody here has any.
func (n *notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements [slog.Handler].
func (n *notices) WithGroup(string) slog.Handler { return n }
