// SPDX-License-Identifier: MIT

package cell

import (
	"testing"
	"time"
)

// eagerCell is a cell as the reference for NR has it.
func eagerCell(phones ...PhoneConfig) SharedConfig {
	for i := range phones {
		phones[i].BSRPeriod, phones[i].SRPeriod = time.Millisecond, time.Millisecond
		phones[i].Link.MCS = 28
	}
	return SharedConfig{
		Radio: NRTDD, Scheduler: WaterPF, RBs: 52, ReportTTIs: 6, GrantTTIs: 4, RequestTTIs: 1, FillTTIs: 2, Phones: phones,
	}
}

// constant sends a packet of 1232 bytes to each phone, so many ms apart.
func constant(s *Shared, phones int, apart float64, to int) {
	for i := 0; float64(i)*apart < float64(to); i++ {
		now := t0().Add(time.Duration(float64(i) * apart * float64(time.Millisecond)))
		for n := range phones {
			s.Phone(n).Enqueue(now, Packet{Size: 1232})
		}
	}
}

// A request is taken for a report of 12 bytes, even where more is known; by the
// standard it adds nothing then.
func TestEagerRequestTakesTheReportsPlace(t *testing.T) {
	for _, eager := range []bool{false, true} {
		cfg := eagerCell(PhoneConfig{})
		cfg.EagerRequests = eager
		b := &mustShared(t, cfg).Phone(0).station
		known := ce{trigger: 1, index: b.sizes.index(5000)}
		b.on(report{at: 10, air: 4, ce: known, waiting: -1}, 10)
		before := b.pending
		b.on(report{at: 10, air: 9, sr: true, waiting: -1}, 10)
		want := before
		if eager {
			want = 12
		}
		if b.pending != want || before < 5000 {
			t.Errorf("eager %v: %d bytes known, %d after a request, want %d", eager, before, b.pending, want)
		}
	}
}

// Every block has a report, of nothing, too, and a phone that often has nothing
// left asks often: by the standard it does not while a grant is under way.
func TestEagerPhonesReportAlways(t *testing.T) {
	for _, apart := range []float64{0.7, 0.96, 3, 12} {
		sent := func(eager bool) Stats {
			cfg := eagerCell(PhoneConfig{})
			cfg.EagerRequests = eager
			s := mustShared(t, cfg)
			constant(s, 1, apart, 5000)
			s.Phone(0).Advance(at(5100))
			return s.Phone(0).Stats()
		}
		eager, standard := sent(true), sent(false)
		if eager.BSRs != eager.Grants || eager.BytesQueued > 0 {
			t.Errorf("a packet every %v ms: %d reports in %d blocks, %d bytes left", apart, eager.BSRs, eager.Grants, eager.BytesQueued)
		}
		if apart == 0.96 { // 60 % of the capacity
			within(t, "requests in 5 s", float64(eager.SRs), 72, 30, "")
			within(t, "requests in 5 s by the standard", float64(standard.SRs), 2, 2, "")
		}
	}
}

// One SR is enough, however long the grant takes.
func TestEagerRequestGoesOutOnce(t *testing.T) {
	cfg := eagerCell(PhoneConfig{})
	cfg.EagerRequests, cfg.ReportTTIs, cfg.RequestTTIs = true, 20, 20
	s := mustShared(t, cfg)
	s.Phone(0).Enqueue(at(0), Packet{Size: 200})
	s.Phone(0).Advance(at(11))
	if st := s.Phone(0).Stats(); st.SRs != 1 || st.Grants != 0 {
		t.Errorf("%d requests and %d grants before the base station knows, want 1 and 0", st.SRs, st.Grants)
	}
}

// In the slot of a retransmission there is nobody else.
func TestLoneRepeats(t *testing.T) {
	grants := func(lone bool) (others int) {
		cfg := eagerCell(PhoneConfig{}, PhoneConfig{})
		cfg.LoneRepeats = lone
		cfg.Phones[0].BLER = 0.5
		cfg.Observe = func(d Decision) {
			if d.User == 1 && d.Bytes > 0 {
				others++
			}
		}
		s := mustShared(t, cfg)
		constant(s, 2, 0.5, 4000)
		return others
	}
	// 1600 slots; half of the first transmissions fail, so a third are repeats.
	within(t, "slots of the other phone", float64(grants(false)), 1590, 15, "")
	within(t, "slots of the other phone beside lone repeats", float64(grants(true)), 1050, 80, "")
}

// Only blocks over nearly all RBs fail.
func TestWideBLER(t *testing.T) {
	for _, phones := range []int{1, 2} {
		var list []PhoneConfig
		for range phones {
			list = append(list, PhoneConfig{Link: Link{WideBLER: 1}})
		}
		s := mustShared(t, eagerCell(list...))
		constant(s, phones, 0.4, 2000)
		st := s.Phone(0).Stats()
		got := float64(st.Retransmissions) / float64(st.Grants)
		if phones == 1 {
			within(t, "retransmissions of wide blocks", got, 1.1, 0.05, "a block")
		} else {
			within(t, "retransmissions of narrow blocks", got, 0, 0.02, "a block")
		}
	}
}
