// SPDX-License-Identifier: MIT

package gbr

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gcc"
)

// plainOuter does not know RadioDelay; knowingOuter does.
type plainOuter struct {
	Outer
	acked, delay []gcc.PacketResult
}

func (o *plainOuter) OnAcked(_ time.Time, r []gcc.PacketResult) { o.acked = append(o.acked, r...) }
func (o *plainOuter) OnDelay(_ time.Time, r []gcc.PacketResult) { o.delay = append(o.delay, r...) }

type knowingOuter struct{ plainOuter }

func (o *knowingOuter) OnFeedback(now time.Time, fb gcc.Feedback) {
	o.OnAcked(now, fb.Packets)
	if !fb.DelayHeld {
		o.OnDelay(now, fb.Packets)
	}
}

func TestFeed(t *testing.T) {
	fb := func() gcc.Feedback {
		return gcc.Feedback{Packets: []gcc.PacketResult{{Received: true, Arrival: 1_000_000, RadioDelay: 30 * time.Millisecond}}}
	}
	now := time.Unix(1000, 0)

	plain := &plainOuter{}
	feed(plain, now, fb())
	if got := plain.acked[0].Arrival; got != 1_000_000 {
		t.Errorf("acked: arrival %d us, want the true one", got)
	}
	if got := plain.delay[0]; got.Arrival != 970_000 || got.RadioDelay != 0 {
		t.Errorf("delay: %+v, want an arrival of 970000 us", got)
	}

	knowing := &knowingOuter{}
	feed(knowing, now, fb())
	if got := knowing.delay[0]; got.Arrival != 1_000_000 || got.RadioDelay != 30*time.Millisecond {
		t.Errorf("delay: %+v, want it untouched", got)
	}

	for _, o := range []interface {
		Outer
		seen() int
	}{&plainOuter{}, &knowingOuter{}} {
		held := fb()
		held.DelayHeld = true
		feed(o, now, held)
		if o.seen() != 0 {
			t.Errorf("%T: a held report reached the delay detector", o)
		}
		feedDelay(o, now, held.Packets)
		if o.seen() != 1 {
			t.Errorf("%T: %d results after the hold, want 1", o, o.seen())
		}
	}
}

func (o *plainOuter) seen() int { return len(o.delay) }
