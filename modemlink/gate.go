// SPDX-License-Identifier: MIT

package modemlink

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of the gate. With them an address that fails gets 20 tries a second, and
// a paired client behind it waits for 1.6 s at most, unless more than 32 wait
// already: then it is refused, and comes again.
const (
	// An address has failuresFree failures without consequence, and is forgiven
	// one failure per forgiveEvery.
	failuresFree = 10
	forgiveEvery = time.Second
	// The same for all addresses together: then every address that failed
	// lately waits, and no other.
	failuresFreeAll = 100
	forgiveEveryAll = 100 * time.Millisecond
	// What has failed too often takes turns.
	turnEvery    = 50 * time.Millisecond
	turnEveryAll = 10 * time.Millisecond
	maxWait      = 1600 * time.Millisecond
	// Connections that have not shown a token yet.
	pendingPerAddr = 48
	pendingAll     = 192
	// evictAfter is more than a handshake takes: what is pending for longer
	// makes room.
	evictAfter = time.Second
	// maxRemotes bounds how many addresses are remembered.
	maxRemotes = 1024
)

// gate keeps strangers from using up the agent. A connection is pending until
// it has shown the token, then trusted; one that ends pending is a failure:
//
//	accept -> enter -> (turn) -> TLS handshake -> token right -> trusted
//	             \         \           \              \ wrong
//	              refused   +-----------+--------------+-> failure of the address
//
// After too many failures an address is not shut out, it takes turns: someone
// paired may be behind the same address (all on one phone are). An address
// without failures never waits, and its connection always finds room: the oldest
// one of the address with the most makes room.
//
// It is safe for concurrent use.
type gate struct {
	maxTrusted int
	// slow is told, under the lock, of an address that has to take turns now.
	slow func(addr string)

	mu       sync.Mutex
	remotes  map[string]*remote
	pending  []*visitor // oldest first
	failures bucket
	next     time.Time // turn
	trusted  int
	shut     bool
}

// remote is one address.
type remote struct {
	failures bucket
	next     time.Time // turn
	pending  int
}

// bucket counts failures, less what was forgiven since.
type bucket struct {
	level float64
	at    time.Time
}

func (b *bucket) now(now time.Time, every time.Duration) float64 {
	if dt := now.Sub(b.at); dt > 0 {
		b.level = max(0, b.level-float64(dt)/float64(every))
		b.at = now
	}

	return b.level
}

// add books a failure. A storm is forgiven in twice the time of what is free.
func (b *bucket) add(now time.Time, every time.Duration, free float64) {
	b.level = min(b.now(now, every)+1, 2*free)
}

func newGate(maxTrusted int, slow func(addr string)) *gate {
	return &gate{maxTrusted: maxTrusted, slow: slow, remotes: make(map[string]*remote)}
}

// enter takes in a new connection, or tells that there is no room. victim, if
// not nil, is to be closed for it.
func (g *gate) enter(now time.Time, v *visitor) (victim *visitor, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return nil, false
	}
	r := g.remotes[v.addr]
	switch {
	case r != nil && r.pending >= pendingPerAddr:
		if victim = g.oldest(v.addr); now.Sub(victim.since) < evictAfter {
			return nil, false
		}
	case len(g.pending) >= pendingAll:
		most := v.addr
		for _, p := range g.pending {
			if m := g.remotes[most]; m == nil || g.remotes[p.addr].pending > m.pending {
				most = p.addr
			}
		}
		if victim = g.oldest(most); victim.addr == v.addr && now.Sub(victim.since) < evictAfter {
			return nil, false
		}
	}
	if victim != nil {
		g.end(now, victim)
	}
	if r == nil {
		g.makeRoom(now)
		r = &remote{}
		g.remotes[v.addr] = r
	}
	r.pending++
	g.pending = append(g.pending, v)
	v.state, v.since = statePending, now
	v.late = time.AfterFunc(pendingTimeout, func() { _ = v.Close() })

	return victim, true
}

// oldest returns the oldest pending connection of an address that has one.
func (g *gate) oldest(addr string) *visitor {
	for _, p := range g.pending {
		if p.addr == addr {
			return p
		}
	}

	return g.pending[0]
}

// turn tells how long a connection must wait before it may try, or that too
// many wait already.
func (g *gate) turn(now time.Time, v *visitor) (wait time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.remotes[v.addr]
	if v.state != statePending || r == nil {
		return 0, false
	}
	if !g.tooMany(now, r) {
		return 0, true
	}
	all := later(now, g.next)
	at := later(all, r.next)
	if at.Sub(now) > maxWait {
		return 0, false
	}
	r.next, g.next = at.Add(turnEvery), all.Add(turnEveryAll)
	v.since = at

	return at.Sub(now), true
}

func (g *gate) tooMany(now time.Time, r *remote) bool {
	level := r.failures.now(now, forgiveEvery)

	return level > failuresFree || level > 0 && g.failures.now(now, forgiveEveryAll) > failuresFreeAll
}

// verdict says what a connection is after it has shown a token, right or not.
type verdict uint8

const (
	verdictRight verdict = iota + 1
	verdictWrong
	// verdictNotLookedAt: the connection failed before. One try a connection,
	// however many calls it makes at once.
	verdictNotLookedAt
	verdictFull
)

// show books a token.
func (g *gate) show(now time.Time, v *visitor, right func() bool) verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case v.state == stateFailed || v.state == stateEnded:
		return verdictNotLookedAt
	case !right():
		if v.state == stateTrusted {
			g.trusted--
			g.fail(now, v.addr)
		} else {
			g.end(now, v)
		}
		v.state = stateFailed
		v.late.Reset(answerTime)

		return verdictWrong
	case v.state == stateTrusted:
		return verdictRight
	case g.trusted >= g.maxTrusted:
		return verdictFull
	}
	g.remove(v)
	g.forget(now, v.addr)
	v.state = stateTrusted
	v.late.Stop()
	g.trusted++

	return verdictRight
}

// leave is the end of a connection.
func (g *gate) leave(now time.Time, v *visitor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch v.state {
	case statePending:
		g.end(now, v)
	case stateTrusted:
		g.trusted--
	case stateFailed, stateEnded:
	}
	v.state = stateEnded
	v.late.Stop()
}

// end takes a pending connection out as a failure.
func (g *gate) end(now time.Time, v *visitor) {
	g.remove(v)
	v.state = stateEnded
	g.fail(now, v.addr)
}

func (g *gate) remove(v *visitor) {
	g.remotes[v.addr].pending--
	for i, p := range g.pending {
		if p == v {
			copy(g.pending[i:], g.pending[i+1:])
			g.pending[len(g.pending)-1] = nil
			g.pending = g.pending[:len(g.pending)-1]

			return
		}
	}
}

func (g *gate) fail(now time.Time, addr string) {
	if g.shut {
		return
	}
	g.failures.add(now, forgiveEveryAll, failuresFreeAll)
	r := g.remotes[addr]
	if r == nil {
		g.makeRoom(now)
		r = &remote{}
		g.remotes[addr] = r
	}
	before := g.tooMany(now, r)
	r.failures.add(now, forgiveEvery, failuresFree)
	if !before && g.tooMany(now, r) {
		g.slow(addr)
	}
}

// forget drops an address about which there is nothing to remember.
func (g *gate) forget(now time.Time, addr string) {
	if r := g.remotes[addr]; r.pending == 0 && r.failures.now(now, forgiveEvery) == 0 {
		delete(g.remotes, addr)
	}
}

// makeRoom keeps remotes bounded: those forgiven go, and if there are none,
// the one with the least on it.
func (g *gate) makeRoom(now time.Time) {
	if len(g.remotes) < maxRemotes {
		return
	}
	least, level := "", 0.0
	for addr, r := range g.remotes {
		if r.pending > 0 {
			continue
		}
		l := r.failures.now(now, forgiveEvery)
		if l == 0 {
			delete(g.remotes, addr)
		} else if least == "" || l < level {
			least, level = addr, l
		}
	}
	if len(g.remotes) >= maxRemotes {
		delete(g.remotes, least)
	}
}

// close refuses all from now on and returns those that wait or shake hands.
func (g *gate) close() []*visitor {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true

	return append([]*visitor(nil), g.pending...)
}

// addrKey is the address of a peer as far as it is its own to choose: without
// the port, and without the host part of a routed IPv6 address.
func addrKey(a net.Addr) string {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return a.String()
	}
	ip, ok := netip.AddrFromSlice(t.IP)
	if !ok {
		return a.String()
	}
	ip = ip.Unmap()
	if ip.Is4() || ip.IsLinkLocalUnicast() || ip.IsLoopback() {
		return ip.String()
	}
	p, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}

	return p.String()
}
