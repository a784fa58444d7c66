// SPDX-License-Identifier: MIT

package main

import (
	"strings"
	"testing"
	"time"
)

// A log gets a line every five seconds, a terminal one line that is rewritten.
func TestProgress(t *testing.T) {
	legs := []*leg{{cc: "gbrcc"}, {cc: "pion"}}
	states := []state{{targetBps: 1_234_000, mode: "dual"}, {targetBps: 567_000, mode: "end to end"}}
	states[0].link.CapacityBps = 8_000_000
	states[0].stats.PlayoutLast = 89 * time.Millisecond
	show := func(terminal bool) string {
		var out strings.Builder
		p := newProgress(&out)
		p.terminal = terminal
		for at := 100 * time.Millisecond; at < 11*time.Second; at += 100 * time.Millisecond {
			p.update(at, 11*time.Second, legs, states)
		}
		p.line("news")
		p.done()

		return out.String()
	}
	const text = " 10.0 s of 11: capacity 8.00 Mbit/s | gbrcc 1.23, 89 ms, dual | pion 0.57, 0 ms"
	log := show(false)
	if lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n"); len(lines) != 4 || lines[2] != text || lines[3] != "news" {
		t.Errorf("log:\n%s", log)
	}
	const clear, noWrap, wrap = "\r\033[K", "\033[?7l", "\033[?7h"
	terminal := show(true)
	if n := strings.Count(terminal, clear+noWrap); n < 30 || n > 44 {
		t.Errorf("rewritten %d times in 11 s, want about 4 a second", n)
	}
	if strings.Count(terminal, wrap) != strings.Count(terminal, noWrap) {
		t.Error("the terminal is left without wrapping")
	}
	if strings.Count(terminal, "\n") != 1 || !strings.HasSuffix(terminal, clear+"news\n"+clear) {
		t.Errorf("terminal: %q", terminal)
	}
}
