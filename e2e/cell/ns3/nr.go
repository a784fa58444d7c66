// SPDX-License-Identifier: MIT

package ns3

import (
	"strconv"
	"strings"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// nrPath is from the end of the slot on air to the receiver: 10 ms of wire and
// what base station and core take.
const nrPath = 10_067 * time.Microsecond

// nrCapacity is what all phones together get at most, Mbit/s.
const nrCapacity = 15.8

// nrErrors sets the shares of blocks that two of the reference's phones send
// again, as its raw files tell. Beyond 8 Mbit/s of others narrow blocks are all
// much alike, and its summary has hardly an error, or none.
func nrErrors(flow int, others float64, p *cell.PhoneConfig) {
	wide := map[int]float64{2: 0.19, 7: 0.97}[flow]
	p.Link.WideBLER = wide
	if wide > 0 && others <= 8 {
		p.BLER = 0.023
	}
}

// nrFillAt is how far into its slot the reference fills a block, ms: after a
// symbol of 14. Packets that came by then are in it.
const nrFillAt = 0.5 / 14

// nrHeaders are of PDCP, and of RLC as the reference reports them.
const nrHeaders = 4

// nrRBs is the width: the reference's blocks are those of 53, of 13 symbols, or
// 12 in slots with scheduling requests.
const nrRBs = 52

// nrOpenReport is as what the reference reads index 31 (above 150,000 bytes).
const nrOpenReport = 1_200_000

// nrSetup is the set-up that a name like self_5 or bg_L5_8 stands for; it has no
// name where it is none that is compared.
func nrSetup(name string) setup {
	s := setup{
		name: "nr_" + name, base: "nr/" + name, lengthMs: 6500, packet: payload + ipUDP + nrHeaders,
		cell: cell.SharedConfig{
			Radio: cell.NRTDD, Scheduler: cell.WaterPF, RBs: nrRBs, UsersPerTTI: 9, ReportTTIs: 6, GrantTTIs: 4, RequestTTIs: 1, FillTTIs: 2, EagerRequests: true, LoneRepeats: true,
		},
		phone: cell.Config{BSRPeriod: time.Millisecond, SRPeriod: time.Millisecond},
		first: 500, early: nrFillAt, path: nrPath, capacity: nrCapacity, rbsAMs: nrRBs / 2.5, thin: 5, openReport: nrOpenReport,
	}
	s.each = func(flow int, p *cell.PhoneConfig) {
		// Sounding takes one uplink slot of a phone in 80.
		first := 589500*time.Microsecond + time.Duration(flow)*17500*time.Microsecond
		for at := first; at < 6500*time.Millisecond; at += 200 * time.Millisecond {
			p.Outages = append(p.Outages, cell.Outage{At: at, For: time.Millisecond})
		}
		nrErrors(flow, s.others, p)
	}
	parts := strings.Split(name, "_")
	var err, other error
	switch {
	case len(parts) == 2 && parts[0] == "self":
		s.mbps, err = strconv.ParseFloat(parts[1], 64)
		s.mcs, s.order = []int{28}, []int{0}
	case len(parts) == 3 && parts[0] == "bg":
		s.mbps, err = strconv.ParseFloat(strings.TrimPrefix(parts[1], "L"), 64)
		s.others, other = strconv.ParseFloat(parts[2], 64)
		s.mcs = []int{28, 28, 28, 28, 28, 28, 28, 28, 28}
		s.order = []int{8, 7, 6, 5, 4, 3, 2, 1, 0}
	default:
		return setup{}
	}
	if err != nil || other != nil {
		return setup{}
	}
	return s
}

// nrColumns are the columns of the NR summary.
func nrColumns() map[string]func(*Stats) *float64 {
	return map[string]func(*Stats) *float64{
		"eta_mean": func(s *Stats) *float64 { return &s.Eta },
		"p10":      func(s *Stats) *float64 { return &s.EtaP10 },
		"p50":      func(s *Stats) *float64 { return &s.EtaP50 },
		"p90":      func(s *Stats) *float64 { return &s.EtaP90 },
		"agg":      func(s *Stats) *float64 { return &s.Ratio },
		"bsr":      func(s *Stats) *float64 { return &s.Report },
		"iv50":     func(s *Stats) *float64 { return &s.SpacingP50 },
		"iv95":     func(s *Stats) *float64 { return &s.SpacingP95 },
		"rate0":    func(s *Stats) *float64 { return &s.Rate },
		"all":      func(s *Stats) *float64 { return &s.RateAll },
		"d50":      func(s *Stats) *float64 { return &s.DelayP50 },
		"d95":      func(s *Stats) *float64 { return &s.DelayP95 },
	}
}
