// SPDX-License-Identifier: MIT

package pacing

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// epoch is an arbitrary instant.
func epoch() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func newPacer(t testing.TB, cfg Config) *Pacer[int] {
	t.Helper()
	p, err := New[int](cfg)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func within(t *testing.T, what string, got, want, tolerance float64, unit string) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.6g %s, want %.6g +- %.3g", what, got, unit, want, tolerance)
	}
}

func TestNewRefusesNegativeConfig(t *testing.T) {
	for _, cfg := range []Config{{Burst: -1}, {MaxQueue: -1}, {MinRateBps: -1}} {
		if _, err := New[int](cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("New(%+v): %v, want ErrConfig", cfg, err)
		}
	}
}

func TestPacketsLeaveAtTheRate(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 1_000_000)
	now = now.Add(time.Second) // the budget is full: 5 ms, 5000 bit
	for i := range 3 {
		if !p.Push(now, i, 1250) { // 10 ms each
			t.Fatal("refused")
		}
	}
	want := []time.Duration{0, 5*time.Millisecond + 1, 15*time.Millisecond + 1}
	for i, w := range want {
		at := p.NextSend(now)
		if got := at.Sub(epoch()) - time.Second; got != w {
			t.Errorf("packet %d leaves at %v, want %v", i, got, w)
		}
		if at.After(now) {
			if _, ok := p.Pop(at.Add(-1)); ok {
				t.Errorf("packet %d left before NextSend", i)
			}
		}
		if item, ok := p.Pop(at); !ok || item != i {
			t.Fatalf("Pop at NextSend = %d, %v", item, ok)
		}
		now = at
	}
	if !p.NextSend(now).IsZero() {
		t.Error("NextSend of an empty pacer is not zero")
	}
	if _, ok := p.Pop(now.Add(time.Hour)); ok {
		t.Error("Pop of an empty pacer is ok")
	}
}

// The rate holds within 1 % whatever the packet size and however late and
// irregular the polls are.
func TestLongRunRate(t *testing.T) {
	const rate = 3_000_000
	for _, size := range []int{1, 40, 1200, 65_000, 300_000} {
		for _, spacing := range []time.Duration{0, 100 * time.Microsecond, 5 * time.Millisecond, 33 * time.Millisecond, 250 * time.Millisecond} {
			rng := rand.New(rand.NewPCG(1, uint64(size)))
			p := newPacer(t, Config{})
			start := epoch()
			now := start
			p.SetRate(now, rate)
			const duration = 40 * time.Second
			span := duration
			if size == 1 {
				span = 500 * time.Millisecond // millions of packets otherwise
			}
			sent := 0
			for end := now.Add(span); now.Before(end); {
				for p.Push(now, 0, size) {
				}
				if spacing == 0 {
					now = p.NextSend(now)
				} else {
					now = now.Add(time.Duration(rng.Int64N(2 * int64(spacing))))
				}
				for {
					if _, ok := p.Pop(now); !ok {
						break
					}
					sent += size
				}
			}
			// One packet more or less is no drift.
			took := now.Sub(start).Seconds()
			slack := 0.01*rate + float64(8*size)/took
			within(t, "rate", float64(sent*8)/took, rate, slack, "bit/s")
			if t.Failed() {
				t.Fatalf("size %d, spacing %v", size, spacing)
			}
		}
	}
}

func TestNoDriftOver100000RandomDurations(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 0))
	p := newPacer(t, Config{MaxQueue: 24 * time.Hour})
	start := epoch()
	now := start
	const rate = 1_234_567
	full := p.budget
	p.SetRate(now, rate)
	sent := int64(0)
	for range 100_000 {
		for p.queued() < 40_000*unitsPerByte {
			p.Push(now, 0, 1+rng.IntN(1500))
		}
		now = now.Add(time.Duration(rng.Int64N(int64(10 * time.Millisecond))))
		for {
			before := p.Bytes()
			if _, ok := p.Pop(now); !ok {
				break
			}
			sent += int64(before - p.Bytes())
		}
	}
	// Exact, to the unit: all that was ever granted is either spent or left.
	granted := rate*int64(now.Sub(start)) + full
	if got := sent*unitsPerByte + p.budget; got != granted {
		t.Errorf("spent + left = %d units, granted %d", got, granted)
	}
}

func TestBurstAfterRestIsBounded(t *testing.T) {
	for _, rest := range []time.Duration{6 * time.Millisecond, time.Hour, 24 * 365 * time.Hour, math.MaxInt64} {
		p := newPacer(t, Config{Burst: 20 * time.Millisecond})
		now := epoch()
		p.SetRate(now, 10_000_000)
		now = now.Add(rest).Add(20 * time.Millisecond)
		bytes := 0
		for p.Push(now, 0, 100) {
		}
		for {
			if _, ok := p.Pop(now); !ok {
				break
			}
			bytes += 100
		}
		within(t, "burst", float64(bytes), 25_000, 100, "B")
	}
}

// A poller that comes late sends what is due, and is then where a punctual one
// would be.
func TestLatePollSendsWhatIsDue(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 8_000_000) // 1000 B a ms
	for range 100 {
		p.Push(now, 0, 1000)
	}
	now = now.Add(50 * time.Millisecond)
	n := 0
	for {
		if _, ok := p.Pop(now); !ok {
			break
		}
		n++
	}
	within(t, "packets after 50 ms", float64(n), 51, 1, "")

	now = now.Add(time.Hour)
	for n = 0; ; n++ {
		if _, ok := p.Pop(now); !ok {
			break
		}
	}
	within(t, "the rest", float64(n), 49, 1, "")
	for range 100 {
		p.Push(now, 0, 1000)
	}
	for n = 0; ; n++ {
		if _, ok := p.Pop(now); !ok {
			break
		}
	}
	within(t, "burst after the hour", float64(n), 5, 1, "")
}

func TestPushRefusesWhatWouldWaitTooLong(t *testing.T) {
	p := newPacer(t, Config{MaxQueue: 100 * time.Millisecond})
	now := epoch()
	p.SetRate(now, 800_000) // 100 B a ms
	n := 0
	for p.Push(now, n, 100) {
		n++
	}
	within(t, "queue length", float64(n), 100, 5, "packets of 1 ms")
	within(t, "delay", float64(p.Delay().Milliseconds()), 100, 5, "ms")
	if p.Len() != n || p.Bytes() != 100*n {
		t.Errorf("Len %d, Bytes %d, want %d, %d", p.Len(), p.Bytes(), n, 100*n)
	}
	// The lower the rate, the longer the same bytes wait.
	p.SetRate(now, 400_000)
	within(t, "delay at half the rate", float64(p.Delay().Milliseconds()), 200, 10, "ms")
	if p.Push(now, 0, 1) {
		t.Error("accepted above the limit")
	}
	p.SetRate(now, 8_000_000)
	if !p.Push(now, 0, 1) {
		t.Error("refused below the limit")
	}
	// A debt is waited for as well.
	p = newPacer(t, Config{MaxQueue: 100 * time.Millisecond})
	p.SetRate(now, 800_000)
	if !p.Push(now, 0, 100_000) {
		t.Fatal("an empty pacer without debt refused")
	}
	if _, ok := p.Pop(now); !ok {
		t.Fatal("a packet larger than the budget does not leave")
	}
	if p.Push(now.Add(890*time.Millisecond), 0, 1) {
		t.Error("accepted with 110 ms of debt")
	}
	if !p.Push(now.Add(910*time.Millisecond), 0, 1) {
		t.Error("refused with 90 ms of debt")
	}
}

func TestRateFloor(t *testing.T) {
	p := newPacer(t, Config{})
	for _, bps := range []int{0, -5, math.MinInt, 49_999} {
		p.SetRate(epoch(), bps)
		if p.Rate() != DefaultMinRateBps {
			t.Errorf("SetRate(%d) gives %d", bps, p.Rate())
		}
	}
}

func TestUrgentLeavesFirstAndIsCharged(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 1_000_000)
	p.Push(now, 1, 1250)
	p.Push(now, 2, 1250)
	if item, ok := p.Pop(now); !ok || item != 1 {
		t.Fatalf("Pop = %d, %v", item, ok)
	}
	wait := p.NextSend(now).Sub(now)
	p.PushUrgent(now, 3, 125) // 1 ms
	if !p.NextSend(now).Equal(now) {
		t.Error("urgent packet has to wait")
	}
	if item, ok := p.Pop(now); !ok || item != 3 {
		t.Fatalf("Pop = %d, %v; want the urgent one", item, ok)
	}
	if got := p.NextSend(now).Sub(now) - wait; got != time.Millisecond {
		t.Errorf("1 ms of urgent data moves the queue by %v", got)
	}
}

// Retransmissions leave before what waits already, audio before both, and all but
// audio at the rate.
func TestAheadLeavesFirst(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 1_000_000)
	for i := range 3 {
		p.Push(now, i, 1250)
	}
	p.PushAhead(now, 10, 1250)
	p.PushUrgent(now, 20, 100)
	p.PushAhead(now, 11, 1250)
	if p.Len() != 6 || p.Bytes() != 5*1250+100 {
		t.Errorf("%d packets, %d bytes wait", p.Len(), p.Bytes())
	}
	var got []int
	for p.Len() > 0 {
		now = p.NextSend(now)
		item, ok := p.Pop(now)
		if !ok {
			t.Fatal("nothing leaves when it should")
		}
		got = append(got, item)
	}
	if want := []int{20, 10, 11, 0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	// Four times 10 ms, and what audio took.
	within(t, "time for all", now.Sub(epoch()).Seconds()*1000, 40.5, 0.1, "ms")
}

// However many retransmissions there are, others get half of the rate, after 40 ms
// at the most.
func TestAheadDoesNotStarve(t *testing.T) {
	p := newPacer(t, Config{MaxQueue: 10 * time.Second})
	now := epoch()
	p.SetRate(now, 1_000_000)
	for i := range 200 {
		p.Push(now, i, 1250) // 10 ms
		p.PushAhead(now, -1, 500)
		p.PushAhead(now, -1, 750)
	}
	var ahead, others, run, longest int
	for others < 100 {
		now = p.NextSend(now)
		s, ok := p.Next(now)
		switch {
		case !ok:
			t.Fatal("nothing leaves when it should")
		case s.Item < 0:
			ahead++
			run++
			longest = max(longest, run)
		default:
			if s.Item != others {
				t.Fatalf("packet %d, want %d", s.Item, others)
			}
			others++
			run = 0
		}
	}
	within(t, "bytes ahead to others", float64(ahead)*625/(float64(others)*1250), 1, 0.1, "")
	within(t, "longest run", float64(longest), 8, 2, "packets") // 40 ms
	if !p.PushAhead(now, 0, 100) {
		t.Error("refused with room")
	}
	p.SetRate(now, 50_000)
	if p.PushAhead(now, 0, 100) {
		t.Error("taken although it would wait for too long")
	}
}

func TestUrgentFloodIsBounded(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 100_000)
	n := 0
	for p.PushUrgent(now, n, 125) { // 10 ms each
		n++
	}
	within(t, "urgent queue", float64(n), 101, 1, "packets of 10 ms")

	for range 10_000 { // 100 s worth in no time
		p.PushUrgent(now, 0, 125)
		if _, ok := p.Pop(now); !ok {
			t.Fatal("an urgent packet waits")
		}
	}
	p.Drain(nil)
	p.SetRate(now.Add(time.Millisecond), 100_000)
	if !p.Push(now.Add(time.Millisecond), 0, 100) {
		t.Fatal("refused")
	}
	at := p.NextSend(now)
	within(t, "wait after the flood", at.Sub(now).Seconds(), 1, 0.01, "s")
}

func TestTimeGoingBackwards(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 1_000_000)
	p.Push(now, 0, 1250)
	p.Push(now, 1, 1250)
	p.Pop(now)
	want := p.NextSend(now)
	for _, back := range []time.Duration{time.Nanosecond, time.Second, 24 * 365 * time.Hour} {
		early := now.Add(-back)
		if _, ok := p.Pop(early); ok {
			t.Error("an earlier time releases a packet")
		}
		if got := p.NextSend(early); !got.Equal(want) {
			t.Errorf("NextSend(%v earlier) = %v, want %v", back, got, want)
		}
	}
	if got := p.NextSend(now); !got.Equal(want) {
		t.Errorf("jumping back moved NextSend from %v to %v", want, got)
	}
}

func TestDrain(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	for i := range 20 {
		p.Push(now, i, 100)
	}
	p.PushUrgent(now, 100, 100)
	var got []int
	p.Drain(func(i int) { got = append(got, i) })
	if len(got) != 21 || got[0] != 100 || got[1] != 0 || got[20] != 19 {
		t.Errorf("drained %v", got)
	}
	if p.Len() != 0 || p.Bytes() != 0 || p.Delay() != 0 {
		t.Errorf("after Drain: %d packets, %d B, %v", p.Len(), p.Bytes(), p.Delay())
	}
}

// Popped slots hold no reference to what was sent.
func TestPoppedSlotsAreZero(t *testing.T) {
	p, err := New[*int](Config{})
	if err != nil {
		t.Fatal(err)
	}
	now := epoch()
	p.SetRate(now, 1_000_000_000)
	for range 40 {
		p.Push(now, new(int), 1000)
		p.PushUrgent(now, new(int), 10)
	}
	for range 60 {
		p.Pop(now.Add(time.Second))
	}
	p.Drain(nil)
	for _, r := range []ring[*int]{p.paced, p.urgent} {
		for i, e := range r.buf {
			if e.item != nil || e.size != 0 {
				t.Errorf("slot %d still holds an item", i)
			}
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	p := newPacer(t, Config{})
	now := epoch()
	p.SetRate(now, 10_000_000)
	step := func() {
		for i := range 10 {
			p.Push(now, i, 1200)
		}
		p.PushUrgent(now, 0, 100)
		for p.Len() > 0 {
			now = p.NextSend(now)
			p.Pop(now)
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func BenchmarkPushPop(b *testing.B) {
	p := newPacer(b, Config{})
	now := epoch()
	p.SetRate(now, 10_000_000)
	b.ReportAllocs()
	for b.Loop() {
		p.Push(now, 0, 1200)
		now = p.NextSend(now)
		p.Pop(now)
	}
}
