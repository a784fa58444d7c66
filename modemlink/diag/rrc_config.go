// SPDX-License-Identifier: MIT

package diag

import (
	"errors"

	"github.com/gbrcc/gbrcc/modemlink/diag/rrc"
)

// Errors of RRCConfigs.OnPacket that are not those of a walk.
var (
	// ErrRRCChannel is a message of a channel that brings no MAC configuration:
	// everything but the downlink's dedicated and common control channels.
	ErrRRCChannel = errors.New("diag: RRC channel without MAC configuration")
	// ErrRRCPart is a part of a message: a later packet makes it whole, or
	// never.
	ErrRRCPart = errors.New("diag: part of an RRC message")
)

// RRCConfigs finds the BSR timers in RRC messages, for captures without B060
// or that begin after it. Give it every log packet, as [Decoder].OnLog does; its
// memory grows with the number of radios, at most maxRRCRadios. The zero value
// is ready. Not safe for concurrent use.
type RRCConfigs struct {
	radios map[uint32]*rrcRadio
	found  []rrc.Config
	// channel is that of the packet.
	channel rrc.Channel
}

// maxRRCRadios bounds the state against a stream of nonsense; a phone has two.
const maxRRCRadios = 16

// rrcRadio is one radio of the phone.
type rrcRadio struct {
	lte, nr RRCJoiner
	// b060 tells that the modem tells of LTE's configuration itself.
	b060 bool
}

// OnPacket appends the KindConfig records of an RRC message to dst, and returns
// what the message configures, valid until the next call. The timers of LTE are
// not in the record once B060 has told of the radio: that is what is in force, a
// message only what was asked for. What a message does not tell stays as it is,
// but for extendedBSR-Sizes in the first message of a connection, which begins
// with the default configuration. Without anything told there is no record.
//
// Packets of other log codes give nothing and no error. Else the error is
// ErrRRCChannel, ErrRRCPart, that of the code's walk (WalkB0C0, WalkB821), or
// that of [rrc.WalkAll], in which case there may be configurations all the same.
func (c *RRCConfigs) OnPacket(p Packet, dst []Record) ([]Record, []rrc.Config, error) {
	var err error
	c.found = c.found[:0]
	switch p.Code {
	case LogB060:
		if r := c.radio(p.Radio); r != nil {
			r.b060 = true
		}

		return dst, nil, nil
	case LogB0C0:
		if e := WalkB0C0(p, func(v B0C0) { err = c.walk(p, lteChannel(v.Channel), v.Segment, v.Payload) }); e != nil {
			err = e
		}
	case LogB821:
		if e := WalkB821(p, func(v B821) { err = c.walk(p, nrChannel(v.Type), v.Segment, v.Payload) }); e != nil {
			err = e
		}
	default:
		return dst, nil, nil
	}
	radio := c.radio(p.Radio)
	for _, cfg := range c.found {
		r := Record{Code: p.Code, Kind: KindConfig, RAT: LTE, Radio: p.Radio, Logged: p.Logged}
		if cfg.RAT == rrc.NR {
			r.RAT = NR
		}
		if cfg.HasPeriodic && (r.RAT == NR || radio == nil || !radio.b060) {
			r.PeriodicBSR, r.RetxBSR = cfg.Periodic, cfg.Retx
		}
		r.ExtendedBSR, r.HasExtendedBSR = cfg.ExtendedBSR, cfg.HasExtendedBSR
		if r.RAT == LTE && c.channel == rrc.LTECCCH {
			r.HasExtendedBSR = true // TS 36.331 5.3.3.2, 5.3.7.2 and 9.2.2
		}
		if r.PeriodicBSR != 0 || r.HasExtendedBSR {
			dst = append(dst, r)
		}
	}

	return dst, c.found, err
}

// walk joins the parts of a message and looks into the whole.
func (c *RRCConfigs) walk(p Packet, channel rrc.Channel, segment uint8, payload []byte) (err error) {
	if c.channel = channel; channel == 0 {
		return ErrRRCChannel
	}
	msg, ok := payload, segment == 0
	if r := c.radio(p.Radio); r != nil {
		j := &r.lte
		if p.Code == LogB821 {
			j = &r.nr
		}
		msg, ok = j.Add(segment, payload)
	}
	if !ok {
		return ErrRRCPart
	}
	c.found, err = rrc.WalkAll(channel, msg, c.found)

	return err
}

func (c *RRCConfigs) radio(id uint32) *rrcRadio {
	r := c.radios[id]
	if r == nil && len(c.radios) < maxRRCRadios {
		if c.radios == nil {
			c.radios = make(map[uint32]*rrcRadio)
		}
		r = &rrcRadio{}
		c.radios[id] = r
	}

	return r
}

// RRCOutcome says in a few words what became of an RRC message, by what OnPacket
// returned for it. There are few different ones and they quote nothing, so they
// are fit to count by.
func RRCOutcome(found []rrc.Config, err error) string {
	var skipped *rrc.SkippedError
	what := ""
	switch {
	case err == nil:
	case errors.Is(err, ErrRRCChannel):
		return "not looked at: the channel brings no MAC configuration"
	case errors.Is(err, ErrRRCPart):
		return "part of a message: looked at when whole"
	case errors.Is(err, rrc.ErrNoMAC):
		return "walked: no MAC configuration in it"
	case errors.As(err, &skipped):
		what = "stopped at what is not modelled: " + skipped.Field
	case errors.Is(err, rrc.ErrTruncated):
		what = "stopped: the message ends early"
	case errors.Is(err, rrc.ErrMalformed):
		what = "stopped: a value is out of range"
	default:
		return "not looked at: the log packet was not decoded"
	}
	switch {
	case len(found) == 0:
		return what
	case what != "":
		return "walked: MAC configuration found, then " + what
	default:
		return "walked: MAC configuration found"
	}
}

// lteChannel is how the walk is to read a B0C0 message; 0 for not at all.
func lteChannel(c RRCChannel) rrc.Channel {
	switch c {
	case RRCDLCCCH:
		return rrc.LTECCCH
	case RRCDLDCCH:
		return rrc.LTEDCCH
	default:
		return 0
	}
}

// nrChannel is the same for B821.
func nrChannel(t NRRRCType) rrc.Channel {
	switch t {
	case NRRRCDLCCCH:
		return rrc.NRCCCH
	case NRRRCDLDCCH:
		return rrc.NRDCCH
	case NRRRCReconfiguration:
		return rrc.NRReconfiguration
	default:
		return 0
	}
}
