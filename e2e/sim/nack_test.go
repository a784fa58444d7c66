// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is missing is asked for at once, again after every round trip, and not
// for ever.
func TestNacker(t *testing.T) {
	type in struct {
		ms  int
		seq int64 // -1: the timer
	}
	for _, c := range []struct {
		name string
		in   []in
		want string // ms:numbers
	}{
		{"in order", []in{{0, 0}, {1, 1}, {2, 2}, {400, -1}}, ""},
		{"a gap", []in{{0, 0}, {1, 3}}, "1:1,2"},
		{"again after a round trip", []in{{0, 0}, {1, 2}, {20, -1}, {100, -1}, {120, -1}, {220, -1}}, "1:1 120:1 220:1"},
		{"filled", []in{{0, 0}, {1, 2}, {50, 1}, {120, -1}}, "1:1"},
		{"before the first", []in{{0, 5}, {1, 3}, {120, -1}}, ""},
		{"twice", []in{{0, 0}, {1, 0}, {2, 1}, {3, 1}, {120, -1}}, ""},
		{"a second gap", []in{{0, 0}, {1, 2}, {5, 4}, {120, -1}}, "1:1 5:3 120:1,3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNacker()
			var got []string
			for _, i := range c.in {
				now := instant(i.ms) * instant(time.Millisecond)
				var ask []int64
				if i.seq < 0 {
					ask = n.onTimer(now)
				} else {
					_, ask, _ = n.onPacket(now, i.seq, false)
				}
				if len(ask) > 0 {
					got = append(got, fmt.Sprintf("%d:%s", i.ms, strings.Trim(strings.ReplaceAll(fmt.Sprint(ask), " ", ","), "[]")))
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("asked for %q, want %q", s, c.want)
			}
		})
	}
}

func TestNackerGivesUp(t *testing.T) {
	n := newNacker()
	n.onPacket(0, 0, true)
	asked := 0
	_, ask, _ := n.onPacket(0, 2, false)
	asked += len(ask)
	for now := instant(0); now < instant(time.Minute); now += instant(10 * time.Millisecond) {
		asked += len(n.onTimer(now))
	}
	if asked != nackMax || n.next != never {
		t.Errorf("asked %d times, want %d; the timer is at %d", asked, nackMax, n.next)
	}

	// More than it remembers: what came before the key frame is given up, then
	// all is.
	n = newNacker()
	n.onPacket(0, 0, true)
	if _, ask, need := n.onPacket(0, 900, true); len(ask) != 899 || need {
		t.Errorf("asks for %d, needs a key frame: %v", len(ask), need)
	}
	if _, ask, need := n.onPacket(0, 1400, false); len(ask) != 499 || need || n.missing[0].seq != 901 {
		t.Errorf("asks for %d from %d on, needs a key frame: %v", len(ask), n.missing[0].seq, need)
	}
	if _, ask, need := n.onPacket(0, 3000, false); len(ask) != 0 || !need {
		t.Errorf("asks for %d, needs a key frame: %v", len(ask), need)
	}

	// A decoded frame's packets are not worth asking for.
	n = newNacker()
	n.onPacket(0, 0, true)
	n.onPacket(0, 10, false)
	n.forget(8)
	if !slices.EqualFunc(n.missing, []int64{8, 9}, func(m missing, s int64) bool { return m.seq == s }) {
		t.Errorf("after the frame up to 7: %+v", n.missing)
	}
}
