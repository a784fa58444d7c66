// SPDX-License-Identifier: MIT

package gcc

import (
	"testing"
	"time"
)

// feeder hands packets to a grouping with the local clock equal to the
// remote one, unless told otherwise.
type feeder struct {
	g      grouping
	deltas []groupDelta
	resets int
}

func (f *feeder) ms(sent, arrival float64) { f.at(arrival, sent, arrival) }

func (f *feeder) at(localMs, sent, arrival float64) {
	now := time.Unix(0, 0).Add(time.Duration(localMs * float64(time.Millisecond)))
	d, r := f.g.add(now, sample{sentUs: int64(sent * 1000), arrivalUs: int64(arrival * 1000), size: 1200})
	switch r {
	case groupDone:
		f.deltas = append(f.deltas, d)
	case groupReset:
		f.resets++
	case groupOpen:
	}
}

func (f *feeder) want(t *testing.T, deltas ...groupDelta) {
	t.Helper()
	if len(f.deltas) != len(deltas) {
		t.Fatalf("deltas %v, want %v", f.deltas, deltas)
	}
	for i := range deltas {
		if f.deltas[i] != deltas[i] {
			t.Errorf("delta %d = %v, want %v", i, f.deltas[i], deltas[i])
		}
	}
}

func TestGroupLengthIsStrict(t *testing.T) {
	var f feeder
	f.ms(0, 50)
	f.ms(20, 70) // exactly 20 ms after the first, in sending and arriving: same group
	f.ms(20.001, 80)
	f.ms(50, 106)
	f.ms(80, 131)
	// Groups {0, 20}, {20.001}, {50}, {80 still open}.
	f.want(t, groupDelta{1, 10_000}, groupDelta{29_999, 26_000})
}

// What was sent close together arrives late behind a queue that grows: 20 ms of
// arriving are a group too, but not less than 5 ms of sending.
func TestGroupOfALongArrival(t *testing.T) {
	var f feeder
	for i := range 40 {
		f.ms(float64(i), 50+8*float64(i)) // eight times as fast as it arrives
	}
	for _, d := range f.deltas {
		if d.sendUs != 6_000 || d.arrivalUs != 48_000 {
			t.Errorf("a group of %d us of sending, %d us of arriving, want 6 and 48 ms", d.sendUs, d.arrivalUs)
		}
	}
	if n := len(f.deltas); n != 5 {
		t.Errorf("%d deltas, want 5", n)
	}
}

func TestGroupDeltaUsesLastPackets(t *testing.T) {
	var f feeder
	f.ms(0, 50)
	f.ms(3, 58)
	f.ms(30, 90)
	f.ms(33, 97)
	f.ms(60, 120)
	f.want(t, groupDelta{30_000, 39_000})
}

func TestGroupSkipsStragglers(t *testing.T) {
	var f feeder
	f.ms(0, 50)
	f.ms(30, 80)
	f.ms(10, 82) // belongs to a group long closed
	f.ms(60, 110)
	f.want(t, groupDelta{30_000, 30_000})
}

func TestGroupEqualSendTimesJoin(t *testing.T) {
	var f feeder
	f.ms(0, 50)
	f.ms(30, 80)
	f.ms(30, 180) // far behind, and yet sent at once with its neighbour
	f.ms(60, 210)
	f.want(t, groupDelta{30_000, 130_000})
}

func TestGroupBurst(t *testing.T) {
	for _, tt := range []struct {
		name    string
		gap     float64 // ms between arrivals; sent 22 ms apart
		grouped bool
	}{
		{"queue drains", 2, true},
		{"gap of 5 ms", 5, true},
		{"gap above 5 ms", 5.001, false},
	} {
		var f feeder
		f.ms(0, 50)
		f.ms(100, 200)
		f.ms(122, 200+tt.gap)
		f.ms(144, 200+2*tt.gap)
		f.ms(300, 400)
		if got := len(f.deltas) == 1; got != tt.grouped {
			t.Errorf("%s: deltas %v, one group %v", tt.name, f.deltas, tt.grouped)
		}
	}

	// Slower than sent is no burst even with small gaps.
	var f feeder
	for i := range 10 {
		f.ms(float64(i)*4.2, 50+float64(i)*4.5) // 5 of them are 21 ms
	}
	f.ms(100, 150)
	if len(f.deltas) != 1 {
		t.Errorf("%d deltas, want 1 of two groups of five", len(f.deltas))
	}
}

// A saturated bottleneck hands packets over closer than they were sent for as
// long as its queue lasts. Without the cap the group never closes and the
// detector freezes.
func TestGroupBurstIsCapped(t *testing.T) {
	var f feeder
	for i := range 500 {
		f.ms(float64(i)*4.5, 50+float64(i)*4)
	}
	// 2 s of arrivals in groups of 100 ms and a packet or two.
	if n := len(f.deltas); n < 16 || n > 19 {
		t.Fatalf("%d deltas in 2 s of one burst, want 16..19", n)
	}
	for _, d := range f.deltas {
		if d.arrivalUs < 100_000 || d.arrivalUs > 112_000 {
			t.Errorf("a group of %d us, want 100..112 ms", d.arrivalUs)
		}
	}
}

func TestGroupResets(t *testing.T) {
	t.Run("remote clock jumps ahead", func(t *testing.T) {
		for _, tt := range []struct {
			jumpMs float64
			resets int
		}{{2_999, 0}, {3_000, 1}} {
			var f feeder
			f.at(50, 0, 50)
			f.at(80, 30, 80+tt.jumpMs)
			f.at(110, 60, 110+tt.jumpMs)
			if f.resets != tt.resets {
				t.Errorf("jump of %v ms: %d resets, want %d", tt.jumpMs, f.resets, tt.resets)
			}
		}
	})
	t.Run("a local pause is no jump", func(t *testing.T) {
		var f feeder
		f.at(50, 0, 50)
		f.at(9_050, 9_000, 9_050)
		f.at(9_080, 9_030, 9_080)
		if f.resets != 0 || len(f.deltas) != 1 {
			t.Errorf("%d resets, deltas %v", f.resets, f.deltas)
		}
	})
	t.Run("third reordered group", func(t *testing.T) {
		var f feeder
		f.at(30, 0, 1_030)
		f.at(60, 30, 1_060)
		f.at(90, 60, 90) // the remote clock stepped back by a second
		for i := range 3 {
			if f.resets != 0 {
				t.Fatalf("reset at packet %d", i)
			}
			f.at(120+float64(i)*30, 90+float64(i)*30, 120+float64(i)*30)
		}
		if f.resets != 1 || len(f.deltas) != 0 {
			t.Fatalf("%d resets, deltas %v, want 1 and none", f.resets, f.deltas)
		}
		f.at(210, 180, 210)
		f.at(240, 210, 240)
		f.want(t, groupDelta{30_000, 30_000})
	})
}
