// SPDX-License-Identifier: MIT

package ns3

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

const (
	payload   = 1200 // bytes of a packet
	ipUDP     = 28   // headers of it
	burst     = 5    // packets
	trafficAt = 500  // ms, start of all sources
	warmupMs  = 1500
)

// setup is one run of the reference.
type setup struct {
	name, base string  // base is of its files
	mbps       float64 // of the observed flow
	others     float64 // Mbit/s in all, of flows 1 to 8
	lengthMs   float64
	packet     int // bytes in the phone's buffer
	cell       cell.SharedConfig
	phone      cell.Config // what is not the same for all set-ups
	// mcs are of the flows, order is that in which the scheduler knows them.
	mcs   []int
	order []int
	// each sets what is a flow's own.
	each func(flow int, p *cell.PhoneConfig)
	// first is when the observed flow sends, path what lies behind the radio.
	first float64
	path  time.Duration
	// early is by how many ms packets are given to our cell before they are
	// sent, see fillAt.
	early float64
	// rbsAMs are in the cell; thin is the least distance of reports that count
	// for the ratio, ms.
	rbsAMs, thin float64
	// capacity is of the cell, Mbit/s, where the reference does not tell the
	// load.
	capacity float64
	// openReport is as what the reference reads a report off the end of the
	// table, if that is not its lower edge.
	openReport float64
}

// start is any time.
func start() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func at(ms float64) time.Time { return start().Add(time.Duration(ms * float64(time.Millisecond))) }

func msSince(t time.Time) float64 { return float64(t.Sub(start())) / float64(time.Millisecond) }

// sending is a packet, or a burst of some.
type sending struct {
	ms    float64
	flow  int
	count int
}

// sendings are all packets of a set-up in order.
func (s setup) sendings(flows map[int]arrivals) []sending {
	var list []sending
	for i := 0; ; i++ {
		ms := s.first + float64(i)*payload*8/1000/s.mbps
		if ms >= s.lengthMs {
			break
		}
		list = append(list, sending{ms, 0, 1})
	}
	if s.others > 0 {
		for flow := 1; flow < len(s.mcs); flow++ {
			a := flows[flow]
			// Mean gap at 1 Mbit/s of all together.
			mean := float64((len(s.mcs)-1)*burst*payload*8) / 1000
			rng := rand.New(rand.NewPCG(uint64(flow), 1))
			for i, ms := 0, a.first; ms < s.lengthMs; i++ {
				list = append(list, sending{ms, flow, burst})
				if i < len(a.gaps) {
					ms += a.gaps[i] / s.others
				} else {
					ms += rng.ExpFloat64() * mean / s.others
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b sending) int { return cmp(a.ms, b.ms) })
	return list
}

// replay runs a set-up through our cell.
func (s setup) replay(flows map[int]arrivals) (*run, error) {
	cfg := s.cfg()
	r := &run{}
	number := make([]int, len(s.mcs)) // of the flows' phones in the cell
	for i, flow := range s.order {
		number[flow] = i
	}
	cfg.Observe = func(d cell.Decision) {
		ms := msSince(d.At)
		if d.Bytes > 0 && ms >= warmupMs && ms < s.lengthMs {
			r.rbs += float64(d.RBs)
		}
		switch {
		case d.User != number[0]:
		case d.Report >= 0:
			bytes := float64(d.Report)
			if d.Open && s.openReport > 0 {
				bytes = s.openReport
			}
			r.reports = append(r.reports, event{ms: ms, bytes: bytes})
		default:
			r.grants = append(r.grants, event{ms: ms, bytes: float64(d.Bytes)})
		}
	}
	c, err := cell.NewShared(cfg)
	if err != nil {
		return nil, err
	}
	collect := func(now time.Time) {
		for flow, i := range number {
			for _, d := range c.Phone(i).Advance(now).Delivered {
				ms := msSince(d.At)
				if ms >= warmupMs {
					r.all += payload
				}
				if flow == 0 {
					r.deliveries = append(r.deliveries, event{ms: ms, bytes: payload, delay: ms - msSince(d.Queued) - s.early})
				}
			}
		}
	}
	for _, send := range s.sendings(flows) {
		now := at(send.ms - s.early)
		collect(now)
		for range send.count {
			c.Phone(number[send.flow]).Enqueue(now, cell.Packet{Size: s.packet})
		}
	}
	collect(at(s.lengthMs))
	return r, nil
}

// cfg is the cell of a set-up.
func (s setup) cfg() cell.SharedConfig {
	cfg := s.cell
	cfg.Start = start()
	for _, flow := range s.order {
		p := cell.PhoneConfig{Link: cell.Link{MCS: s.mcs[flow]}, Config: s.phone}
		if s.each != nil {
			s.each(flow, &p)
		}
		p.BufferBytes, p.Telemetry.Off, p.Path.Delay = 1_000_000, true, s.path
		cfg.Phones = append(cfg.Phones, p)
	}
	return cfg
}
