// SPDX-License-Identifier: MIT

package fakemodem

import (
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Rhythm of the modem's buffer.
const (
	flushEvery = time.Millisecond
	// drainHolds is how long one drain command works.
	drainHolds = 20 * time.Millisecond
)

// play logs to one client, as long as a mask is set, until stop is called.
func (m *Modem) play(write func([]byte) error) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		p := player{m: m, lastFlush: time.Now()}
		t := time.NewTicker(flushEvery)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-m.done:
				return
			case <-t.C:
			}
			if out := p.step(time.Now()); len(out) > 0 && write(out) != nil {
				return
			}
		}
	}()

	return func() {
		close(done)
		wg.Wait()
	}
}

// player is the buffer.
type player struct {
	m         *Modem
	epoch     int
	start     time.Time
	next      int
	buf, out  []byte
	lastFlush time.Time
}

// step buffers what was logged until now, and returns what leaves the buffer.
func (p *player) step(now time.Time) []byte {
	m := p.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.epoch != p.epoch || len(m.cfg.Play) == 0 {
		p.epoch, p.start, p.next, p.buf = m.epoch, now, 0, p.buf[:0]
	}
	for m.bits > 0 && p.next < len(m.cfg.Play) && now.Sub(p.start) >= m.cfg.Play[p.next].At {
		lp := &m.cfg.Play[p.next]
		if p.next++; m.on(lp.Code) {
			p.buf = m.frame(p.buf, diag.AppendLog(nil, lp.Code, lp.Logged, lp.Body))
		}
	}
	if n := len(m.cfg.Play); n > 0 && p.next == n {
		p.start, p.next = p.start.Add(m.cfg.Play[n-1].At), 0
	}
	if now.Sub(m.drained) > drainHolds && now.Sub(p.lastFlush) < m.cfg.Burst {
		return nil
	}
	p.lastFlush = now
	p.out, p.buf = append(p.out[:0], p.buf...), p.buf[:0]

	return p.out
}
