// SPDX-License-Identifier: MIT

package interceptor

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tick is the shortest time from one round of a shard to the next: with many
	// Estimators somebody is due all the time, and waking for each costs more than
	// what it then does.
	tick = time.Millisecond
	// stalled is how long one Estimator may hold up the others of its shard, in a
	// writer that blocks or with a Recorder that is slow, before somebody else goes
	// on with them. It is the watch's period, so it takes up to twice that.
	stalled = 5 * time.Millisecond
	// seats is how many Estimators a block has.
	seats = 64
)

const (
	never = math.MaxInt64 // a deadline that does not come
	awake = math.MinInt64 // shard.until while a round runs
)

// Scheduler runs the timers and the sending of many Estimators with few goroutines,
// one for each processor at the most, which wake once for all that is due in a
// millisecond. The Estimators of a factory share one; [WithScheduler] puts others
// on it. An Estimator with none has one of its own.
//
// A writer that blocks holds up its own Estimator only: the others go on in another
// goroutine after some milliseconds.
//
// Its goroutines run while there is an Estimator on it; there is nothing to close.
// A Scheduler is safe for concurrent use.
type Scheduler struct{ shards []*shard }

// NewScheduler returns a Scheduler for as many processors as there are.
func NewScheduler() *Scheduler { return newScheduler(runtime.GOMAXPROCS(0)) }

func newScheduler(shards int) *Scheduler {
	s := &Scheduler{}
	for range shards {
		s.shards = append(s.shards, &shard{})
	}

	return s
}

// join puts e where there are the fewest others.
func (s *Scheduler) join(e *Estimator) *seat {
	to := s.shards[0]
	for _, h := range s.shards[1:] {
		if h.members.Load() < to.members.Load() {
			to = h
		}
	}

	return to.join(e)
}

// shard is the Estimators of one goroutine, the leader. Others take over from it
// when it is stuck, and then it ends as soon as it is not.
//
// Deadlines are ns after epoch.
type shard struct {
	members atomic.Int32 // written with mu held

	// until is when the leader wakes by itself: awake while it is at work, since it
	// looks at all deadlines then before it sleeps.
	until atomic.Int64
	// leader counts the leaders so far: another number than its own tells one that
	// it is none any more. progress counts what they have run.
	leader, progress atomic.Int64

	mu       sync.Mutex
	epoch    time.Time
	blocks   []*block
	timer    *time.Timer   // the leader's
	watch    *time.Timer   // calls takeOver while the leader is at work
	watched  int64         // progress at the last look
	finished chan struct{} // closed by the last leader
}

// block is a part of a shard's Estimators. The deadlines are side by side: each
// round looks at all of them, and at nothing else of those that are not due.
type block struct {
	deadlines [seats]atomic.Int64
	members   [seats]atomic.Pointer[Estimator] // written with the shard's mu held
}

// seat is an Estimator's place on a shard.
type seat struct {
	shard    *shard
	deadline *atomic.Int64
	member   *atomic.Pointer[Estimator]
}

func (h *shard) join(e *Estimator) *seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.members.Add(1) == 1 {
		h.start()
	}
	for _, b := range h.blocks {
		for i := range b.members {
			if b.members[i].Load() == nil {
				return h.sit(b, i, e)
			}
		}
	}
	b := &block{}
	for i := range b.deadlines {
		b.deadlines[i].Store(never)
	}
	h.blocks = append(h.blocks, b)

	return h.sit(b, 0, e)
}

func (h *shard) sit(b *block, i int, e *Estimator) *seat {
	b.deadlines[i].Store(never)
	b.members[i].Store(e)

	return &seat{h, &b.deadlines[i], &b.members[i]}
}

// start begins with the first member. Called with mu held.
func (h *shard) start() {
	if h.finished != nil {
		close(h.finished) // the leader before is about to see that it is none
	}
	h.epoch, h.blocks = time.Now(), nil
	h.timer = time.NewTimer(time.Hour)
	h.watch = time.AfterFunc(time.Hour, h.takeOver)
	h.finished = make(chan struct{})
	go h.lead(h.leader.Add(1))
}

// leave gives up a place. The last one to leave waits for the leader.
func (p *seat) leave() {
	h := p.shard
	h.mu.Lock()
	p.member.Store(nil)
	p.deadline.Store(never)
	var finished chan struct{}
	if h.members.Add(-1) == 0 {
		finished = h.finished
		h.timer.Reset(0)
	}
	h.mu.Unlock()
	if finished != nil {
		<-finished
	}
}

// wake lets the Estimator be run at a time, and not before. Called with the
// Estimator's mu held.
func (p *seat) wake(at, now time.Time) {
	h := p.shard
	d := int64(at.Sub(h.epoch))
	p.deadline.Store(d)
	if d >= h.until.Load() {
		return
	}
	h.mu.Lock()
	if d < h.until.Load() {
		h.until.Store(d)
		h.timer.Reset(at.Sub(now))
	}
	h.mu.Unlock()
}

// lead runs what is due, until it is not the leader any more.
func (h *shard) lead(number int64) {
	for {
		h.mu.Lock()
		leads := h.begin(number)
		now, blocks := int64(time.Since(h.epoch)), h.blocks // which grows only
		h.mu.Unlock()
		if !leads || !h.round(number, now, blocks) {
			return
		}
		h.mu.Lock()
		timer := h.timer
		leads = h.end(number)
		h.mu.Unlock()
		if !leads {
			return
		}
		<-timer.C
	}
}

// begin begins a round. Called with mu held.
func (h *shard) begin(number int64) (leads bool) {
	if h.leader.Load() != number {
		return false
	}
	h.until.Store(awake)
	h.watched = h.progress.Load()
	h.watch.Reset(stalled)

	return true
}

// round runs all that is due.
func (h *shard) round(number, now int64, blocks []*block) (leads bool) {
	for _, b := range blocks {
		for i := range b.deadlines {
			if b.deadlines[i].Load() > now {
				continue
			}
			b.deadlines[i].Store(never) // run sets another one
			if e := b.members[i].Load(); e != nil {
				e.run()
			}
			h.progress.Add(1)
			if h.leader.Load() != number {
				return false
			}
		}
	}

	return true
}

// end ends a round and sets the timer for the next one. Called with mu held.
func (h *shard) end(number int64) (leads bool) {
	if h.leader.Load() != number {
		return false
	}
	h.watch.Stop()
	if h.members.Load() == 0 {
		h.timer.Stop()
		close(h.finished)
		h.finished = nil

		return false
	}
	// From here on whoever sets a deadline waits for mu and then looks again.
	h.until.Store(never)
	next := int64(never)
	for _, b := range h.blocks {
		for i := range b.deadlines {
			next = min(next, b.deadlines[i].Load())
		}
	}
	now := int64(time.Since(h.epoch))
	next = max(next, now+int64(tick))
	h.until.Store(next)
	h.timer.Reset(time.Duration(next - now))

	return true
}

// takeOver becomes the leader when the present one is stuck.
func (h *shard) takeOver() {
	h.mu.Lock()
	if h.members.Load() == 0 || h.until.Load() != awake {
		h.mu.Unlock()

		return // it is not at work
	}
	if p := h.progress.Load(); p != h.watched {
		h.watched = p
		h.watch.Reset(stalled)
		h.mu.Unlock()

		return
	}
	number := h.leader.Add(1)
	h.mu.Unlock()
	h.lead(number)
}
