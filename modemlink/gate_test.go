// SPDX-License-Identifier: MIT

package modemlink

import (
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// gateTest has a gate in fake time.
type gateTest struct {
	*testing.T
	gate *gate
	slow []string
}

func atGate(t *testing.T, f func(g *gateTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &gateTest{T: t}
		g.gate = newGate(3, func(addr string) { g.slow = append(g.slow, addr) })
		f(g)
		for _, v := range g.gate.close() {
			_ = v.Close()
		}
		if g.gate.enterOne("late") != nil {
			t.Error("a gate that is closed let one in")
		}
	})
}

// enterOne is nil when there is no room.
func (g *gate) enterOne(addr string) *visitor {
	c, _ := net.Pipe()
	v := &visitor{Conn: c, gate: g, addr: addr, done: make(chan struct{})}
	victim, ok := g.enter(time.Now(), v)
	if victim != nil {
		_ = victim.Close()
	}
	if !ok {
		return nil
	}

	return v
}

func (g *gateTest) enter(addr string) *visitor {
	g.Helper()
	v := g.gate.enterOne(addr)
	if v == nil {
		g.Fatalf("no room for %s", addr)
	}

	return v
}

// fail is a connection that ends without a token.
func (g *gateTest) fail(addr string, n int) {
	g.Helper()
	for range n {
		_ = g.enter(addr).Close()
	}
}

// waits is how long a new connection must wait before it may try; -1 if it is
// refused.
func (g *gateTest) waits(addr string) time.Duration {
	g.Helper()
	v := g.enter(addr)
	wait, ok := g.gate.turn(time.Now(), v)
	g.gate.show(time.Now(), v, func() bool { return true })
	_ = v.Close()
	if !ok {
		return -1
	}

	return wait
}

func TestGateTurns(t *testing.T) {
	atGate(t, func(g *gateTest) {
		g.fail("a", failuresFree)
		if w := g.waits("a"); w != 0 {
			g.Errorf("after %d failures it waits %v, want none", failuresFree, w)
		}
		g.fail("a", 1)
		// Turns of 50 ms, until the last would have to wait for too long.
		for i := range 33 {
			if w := g.waits("a"); w != time.Duration(i)*turnEvery {
				g.Fatalf("number %d waits %v, want %v", i, w, time.Duration(i)*turnEvery)
			}
		}
		if w := g.waits("a"); w != -1 {
			g.Errorf("one too many waits %v, want a refusal", w)
		}
		if w := g.waits("b"); w != 0 {
			g.Errorf("another address waits %v", w)
		}
		if len(g.slow) != 1 || g.slow[0] != "a" {
			g.Errorf("told of %v, want a once", g.slow)
		}
		time.Sleep(maxWait)
		if w := g.waits("a"); w > turnEvery {
			g.Errorf("when the others have had their turn it waits %v, want %v at most", w, turnEvery)
		}
	})
}

// However long a storm was, it is forgiven in 10 s.
func TestGateForgives(t *testing.T) {
	atGate(t, func(g *gateTest) {
		g.fail("a", 5000)
		time.Sleep(9 * time.Second)
		g.waits("a")
		if w := g.waits("a"); w != turnEvery {
			g.Errorf("after 9 s it waits %v, want a turn, %v", w, turnEvery)
		}
		time.Sleep(2 * time.Second)
		g.waits("a")
		if w := g.waits("a"); w != 0 {
			g.Errorf("after 11 s it waits %v, want none", w)
		}
	})
}

// Many addresses that fail a little: they wait, others do not.
func TestGateAllTogether(t *testing.T) {
	atGate(t, func(g *gateTest) {
		for i := range 60 {
			g.fail(fmt.Sprint("bad", i), 2)
		}
		first, second := g.waits("bad7"), g.waits("bad8")
		if first != 0 || second != turnEveryAll {
			g.Errorf("they wait %v and %v, want 0 and %v", first, second, turnEveryAll)
		}
		for range 3 {
			if w := g.waits("good"); w != 0 {
				g.Errorf("an address without failures waits %v", w)
			}
		}
	})
}

func TestGateRoom(t *testing.T) {
	atGate(t, func(g *gateTest) {
		first := g.enter("hog")
		for range pendingPerAddr - 1 {
			g.enter("hog")
		}
		if g.gate.enterOne("hog") != nil {
			g.Error("room for more than is allowed")
		}
		time.Sleep(evictAfter)
		if g.gate.enterOne("hog") == nil {
			g.Error("an old connection makes no room")
		}
		select {
		case <-first.done:
		default:
			g.Error("the oldest is still there")
		}
		if w := len(g.gate.pending); w != pendingPerAddr {
			g.Errorf("%d pending, want %d", w, pendingPerAddr)
		}
	})
	atGate(t, func(g *gateTest) {
		for i := range pendingAll {
			g.enter(fmt.Sprint("hog", i/30))
		}
		// Full, and all are young: still there is room for someone else.
		v := g.enter("good")
		if len(g.gate.pending) != pendingAll || g.gate.remotes["hog0"].pending != 29 {
			g.Errorf("%d pending, %d of the first hog; want %d and 29", len(g.gate.pending), g.gate.remotes["hog0"].pending, pendingAll)
		}
		if got := g.gate.show(time.Now(), v, func() bool { return true }); got != verdictRight {
			g.Errorf("verdict %d, want right", got)
		}
	})
}

// A connection that never shows a token ends by itself.
func TestGateLate(t *testing.T) {
	atGate(t, func(g *gateTest) {
		late, good := g.enter("a"), g.enter("a")
		g.gate.show(time.Now(), good, func() bool { return true })
		time.Sleep(pendingTimeout)
		synctest.Wait()
		select {
		case <-late.done:
		default:
			g.Error("the silent one is still there")
		}
		select {
		case <-good.done:
			g.Error("the trusted one was ended")
		default:
		}
		_ = good.Close()
		if g.gate.trusted != 0 || len(g.gate.pending) != 0 {
			g.Errorf("%d trusted, %d pending at the end", g.gate.trusted, len(g.gate.pending))
		}
	})
}

// One try a connection, and a place for so many.
func TestGateTokens(t *testing.T) {
	right, wrong := func() bool { return true }, func() bool { return false }
	atGate(t, func(g *gateTest) {
		v := g.enter("a")
		for i, want := range []verdict{verdictWrong, verdictNotLookedAt} {
			looked := false
			got := g.gate.show(time.Now(), v, func() bool { looked = true; return wrong() })
			if got != want || looked != (i == 0) {
				g.Errorf("try %d: verdict %d, looked at %t", i, got, looked)
			}
		}
		if got := g.gate.show(time.Now(), v, right); got != verdictNotLookedAt {
			g.Errorf("then the right one: verdict %d", got)
		}
		time.Sleep(answerTime)
		synctest.Wait()
		select {
		case <-v.done:
		default:
			g.Error("the connection goes on")
		}
		if l := g.gate.failures.now(time.Now(), forgiveEveryAll); l > 1 {
			g.Errorf("%v failures, want one", l)
		}
		var in []*visitor
		for i := range 4 {
			in = append(in, g.enter("b"))
			want := verdictRight
			if i == 3 {
				want = verdictFull
			}
			if got := g.gate.show(time.Now(), in[i], right); got != want {
				g.Errorf("number %d: verdict %d, want %d", i, got, want)
			}
		}
		if got := g.gate.show(time.Now(), in[0], wrong); got != verdictWrong {
			g.Errorf("a wrong token on a trusted connection: verdict %d", got)
		}
		if got := g.gate.show(time.Now(), in[3], right); got != verdictRight {
			g.Errorf("with a free place: verdict %d", got)
		}
		for _, v := range in {
			_ = v.Close()
		}
		if g.gate.trusted != 0 {
			g.Errorf("%d trusted at the end", g.gate.trusted)
		}
	})
}

// What is remembered is bounded.
func TestGateMemory(t *testing.T) {
	atGate(t, func(g *gateTest) {
		g.fail("worst", 30)
		for i := range 5000 {
			g.fail(fmt.Sprint(i), 1)
		}
		if n := len(g.gate.remotes); n > maxRemotes {
			g.Errorf("%d addresses are remembered, want %d at most", n, maxRemotes)
		}
		if g.gate.remotes["worst"] == nil {
			g.Error("the worst was forgotten first")
		}
		time.Sleep(time.Minute)
		for i := range 2000 {
			v := g.enter(fmt.Sprint("good", i))
			g.gate.show(time.Now(), v, func() bool { return true })
			_ = v.Close()
		}
		if n := len(g.gate.remotes); n > maxRemotes {
			g.Errorf("%d addresses are remembered, want %d at most", n, maxRemotes)
		}
	})
}

func TestAddrKey(t *testing.T) {
	for in, want := range map[string]string{
		"192.168.1.7":          "192.168.1.7",
		"::ffff:192.168.1.7":   "192.168.1.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1":              "fe80::1",
		"::1":                  "::1",
	} {
		if got := addrKey(&net.TCPAddr{IP: net.ParseIP(in), Port: 7}); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	if got := addrKey(&net.UnixAddr{Name: "x"}); got != "x" {
		t.Errorf("got %s", got)
	}
	if got := addrKey(&net.TCPAddr{Port: 7}); got != ":7" {
		t.Errorf("got %s", got)
	}
}
