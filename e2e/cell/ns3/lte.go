// SPDX-License-Identifier: MIT

package ns3

import (
	"strconv"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// ltePath is from the end of the TTI on air to the receiver: 10 ms of wire and
// what base station and core take.
const ltePath = 11_932 * time.Microsecond

// fillAt is how far into its slot the reference fills a block, ms: when the
// phone has read the grant, after three symbols of 14. Packets that came by then
// are in it.
const fillAt = 3.0 / 14

// lteSetup is the set-up that a name like b4_dcfair_8 stands for; it has no name
// where it is none that is compared.
func lteSetup(name string) setup {
	parts := strings.Split(name, "_")
	if len(parts) != 3 {
		return setup{}
	}
	flow, length := map[string]float64{"b4": 4, "bg": 2}, map[string]float64{"b4": 6500, "bg": 8500}
	schedulers := map[string]cell.Scheduler{"dcfair": cell.CappedFair, "dcpf": cell.CappedPF, "pf": cell.EqualSplit}
	scheduler, known := schedulers[parts[1]]
	others, err := strconv.ParseFloat(parts[2], 64)
	if !known || err != nil || flow[parts[0]] == 0 {
		return setup{}
	}
	return setup{
		name: name, base: "lte/" + name, mbps: flow[parts[0]], others: others, lengthMs: length[parts[0]], packet: payload + ipUDP,
		cell: cell.SharedConfig{Scheduler: scheduler, ReportTTIs: 5, GrantTTIs: 4, FillTTIs: 2, IdealBSR: true},
		// As the reference's grants tell, in all runs without fading.
		mcs:    []int{22, 14, 18, 14, 12, 12, 14, 14, 18},
		order:  []int{1, 0, 4, 8, 5, 7, 2, 6, 3},
		first:  510.219,
		path:   ltePath,
		early:  fillAt,
		rbsAMs: 50,
	}
}

// lteColumns are the columns of the LTE summary.
func lteColumns() map[string]func(*Stats) *float64 {
	return map[string]func(*Stats) *float64{
		"eta_mean": func(s *Stats) *float64 { return &s.Eta },
		"eta_p10":  func(s *Stats) *float64 { return &s.EtaP10 },
		"eta_p50":  func(s *Stats) *float64 { return &s.EtaP50 },
		"eta_p90":  func(s *Stats) *float64 { return &s.EtaP90 },
		"ratio":    func(s *Stats) *float64 { return &s.Ratio },
		"prb":      func(s *Stats) *float64 { return &s.Load },
		"bsr_iv50": func(s *Stats) *float64 { return &s.SpacingP50 },
		"bsr_iv95": func(s *Stats) *float64 { return &s.SpacingP95 },
		"bsr_mean": func(s *Stats) *float64 { return &s.Report },
		"rate0":    func(s *Stats) *float64 { return &s.Rate },
		"rate_all": func(s *Stats) *float64 { return &s.RateAll },
		"d50":      func(s *Stats) *float64 { return &s.DelayP50 },
		"d95":      func(s *Stats) *float64 { return &s.DelayP95 },
	}
}
