// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/modemlink/diag/rrc"
)

// rrcBody is a B0C0 body of version 9, or with nr a B821 body of version 8.
func rrcBody(nr bool, pdu byte, payload []byte) []byte {
	if nr {
		b := append([]byte{8, 0, 0, 0, 15, 0x60, 1, 1, 0}, make([]byte, 8)...) // ARFCN, SFN
		b = append(b, pdu, 0, 0, 0, 0, byte(len(payload)), byte(len(payload)>>8))

		return append(b, payload...)
	}
	b := append([]byte{9, 13, 0, 1, 1, 0}, make([]byte, 6)...) // EARFCN, SFN
	b = append(b, pdu, 0, 0, 0, 0, byte(len(payload)), byte(len(payload)>>8))

	return append(b, payload...)
}

// setupSF5 is an RRCConnectionSetup by hand: mac-MainConfig with
// periodicBSR-Timer sf5 and retxBSR-Timer sf320, nothing else.
//
//	DL-CCCH: c1, rrcConnectionSetup; transaction 0; c1, r8
//	no extension | RadioResourceConfigDedicated: no extension, 000100
//	mac: explicit | no extension, 100 | ul-SCH 010, sf5 0000, sf320 000, TTI bundling 0 | alignment 000
func setupSF5(tb testing.TB) []byte {
	tb.Helper()

	return setup(tb, "0100"+"01"+"0000"+"000"+"0"+"000")
}

// setupExtended is the same with extendedBSR-Sizes, or without in an extension
// that has room for it: two extension additions of which the second is there, an
// octet long: mac-MainConfig-v1020 with sCellDeactivationTimer,
// extendedBSR-Sizes and extendedPHR optional.
func setupExtended(tb testing.TB, on bool) []byte {
	tb.Helper()
	bit := map[bool]string{true: "1", false: "0"}[on]

	return setup(tb, "1100"+"01"+"0000"+"000"+"0"+"000"+"0"+"000001"+"01"+"00000001"+"1"+"0"+bit+"0"+"0000")
}

// setup is an RRCConnectionSetup with a mac-MainConfig of these bits.
func setup(tb testing.TB, mac string) []byte {
	tb.Helper()
	var out []byte
	n := 0
	for _, c := range "0" + "11" + "00" + "0" + "000" + "0" + "0" + "000100" + "0" + mac {
		if n%8 == 0 {
			out = append(out, 0)
		}
		if c == '1' {
			out[n/8] |= 0x80 >> (n % 8)
		}
		n++
	}
	if cfg, err := rrc.Walk(rrc.LTECCCH, out); err != nil || cfg.Periodic != 5*time.Millisecond {
		tb.Fatalf("walk: %+v, %v", cfg, err)
	}

	return out
}

func TestRRCConfigs(t *testing.T) {
	const dlCCCH, ulDCCH = 12, 15 // of version 9
	msg := setupSF5(t)
	packet := Packet{Code: LogB0C0, Logged: 7, Radio: 2, Body: rrcBody(false, dlCCCH, msg)}
	var c RRCConfigs
	recs, configs, err := c.OnPacket(packet, nil)
	want := Record{
		Code: LogB0C0, Kind: KindConfig, RAT: LTE, Radio: 2, Logged: 7,
		PeriodicBSR: 5 * time.Millisecond, RetxBSR: 320 * time.Millisecond, HasExtendedBSR: true,
	}
	if err != nil || len(configs) != 1 || !slices.Equal(recs, []Record{want}) {
		t.Fatalf("%+v, %+v, %v; want %+v", recs, configs, err, want)
	}
	// From B060 on, that is believed, on its radio.
	if _, _, err := c.OnPacket(Packet{Code: LogB060, Radio: 2}, nil); err != nil {
		t.Fatal(err)
	}
	want.PeriodicBSR, want.RetxBSR = 0, 0
	if recs, configs, err := c.OnPacket(packet, nil); err != nil || len(configs) != 1 || !slices.Equal(recs, []Record{want}) {
		t.Errorf("after B060: %+v, %+v, %v; want %+v", recs, configs, err, want)
	}
	packet.Radio = 1
	if recs, _, _ := c.OnPacket(packet, nil); len(recs) != 1 {
		t.Errorf("other radio: %+v", recs)
	}
	for name, tc := range map[string]struct {
		p    Packet
		want error
	}{
		"uplink":    {Packet{Code: LogB0C0, Body: rrcBody(false, ulDCCH, msg)}, ErrRRCChannel},
		"no header": {Packet{Code: LogB0C0, Body: []byte{9}}, ErrTruncated},
		"cut off":   {Packet{Code: LogB0C0, Body: rrcBody(false, dlCCCH, msg[:3])}, rrc.ErrTruncated},
		"other":     {Packet{Code: LogB139, Body: []byte{9}}, nil},
	} {
		recs, configs, err := c.OnPacket(tc.p, nil)
		if !errors.Is(err, tc.want) || len(recs)+len(configs) != 0 {
			t.Errorf("%s: %+v, %+v, %v; want %v", name, recs, configs, err, tc.want)
		}
	}
	// Many radios cost no more memory, and whole messages are still read.
	for id := range uint32(100) {
		packet.Radio = id
		if recs, _, err := c.OnPacket(packet, nil); err != nil || len(recs) != 1 {
			t.Fatalf("radio %d: %+v, %v", id, recs, err)
		}
	}
	if len(c.radios) > maxRRCRadios {
		t.Errorf("%d radios are kept", len(c.radios))
	}
}

// The buffer sizes are told, and a new connection has the usual ones.
func TestRRCConfigsExtendedBSR(t *testing.T) {
	var c RRCConfigs
	for i, tc := range []struct {
		msg  []byte
		want bool
	}{{setupSF5(t), false}, {setupExtended(t, true), true}, {setupSF5(t), false}, {setupExtended(t, true), true}, {setupExtended(t, false), false}} {
		recs, _, err := c.OnPacket(Packet{Code: LogB0C0, Body: rrcBody(false, 12, tc.msg)}, nil)
		if err != nil || len(recs) != 1 || !recs[0].HasExtendedBSR || recs[0].ExtendedBSR != tc.want || recs[0].PeriodicBSR != 5*time.Millisecond {
			t.Errorf("%d: %+v, %v; want %t", i, recs, err, tc.want)
		}
	}
}

func TestRRCOutcome(t *testing.T) {
	one := []rrc.Config{{}}
	for want, tc := range map[string]struct {
		found []rrc.Config
		err   error
	}{
		"walked: MAC configuration found":                                          {one, nil},
		"walked: MAC configuration found, then stopped at what is not modelled: x": {one, fmt.Errorf("y: %w", &rrc.SkippedError{Field: "x"})},
		"stopped at what is not modelled: x":                                       {nil, &rrc.SkippedError{Field: "x"}},
		"walked: no MAC configuration in it":                                       {nil, rrc.ErrNoMAC},
		"stopped: the message ends early":                                          {nil, rrc.ErrTruncated},
		"stopped: a value is out of range":                                         {nil, rrc.ErrMalformed},
		"part of a message: looked at when whole":                                  {nil, ErrRRCPart},
		"not looked at: the channel brings no MAC configuration":                   {nil, ErrRRCChannel},
		"not looked at: the log packet was not decoded":                            {nil, &UnsupportedVersionError{Code: LogB0C0, Version: 250}},
	} {
		if got := RRCOutcome(tc.found, tc.err); got != want {
			t.Errorf("%v: %q, want %q", tc.err, got, want)
		}
	}
}

// Parts of a message make the same records as the whole.
func TestRRCConfigsParts(t *testing.T) {
	msg := setupSF5(t)
	part := func(segment byte, payload []byte) Packet {
		b := append([]byte{30, 16, 0, 16, 0, 1, 1, 0}, make([]byte, 6)...)
		b = append(b, 8, 0, 0, 0, 0, byte(len(payload)), 0, 0, 0, segment) // DL-CCCH of version 30

		return Packet{Code: LogB0C0, Body: append(b, payload...)}
	}
	var c RRCConfigs
	if recs, _, err := c.OnPacket(part(1, msg[:2]), nil); !errors.Is(err, ErrRRCPart) || len(recs) != 0 {
		t.Fatalf("%+v, %v", recs, err)
	}
	recs, _, err := c.OnPacket(part(LastSegment, msg[2:]), nil)
	if err != nil || len(recs) != 1 || recs[0].PeriodicBSR != 5*time.Millisecond {
		t.Errorf("%+v, %v", recs, err)
	}
	if _, _, err := c.OnPacket(part(LastSegment, msg), nil); !errors.Is(err, ErrRRCPart) {
		t.Errorf("a last part alone: %v", err)
	}
}

// Messages of real networks give records with the timers that another decoder
// found in them.
func TestRRCConfigsVectors(t *testing.T) {
	f, err := os.Open(dataset.File(t, "rrc_vectors.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	r := csv.NewReader(f)
	r.Comma = ';'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	pdus := map[string]byte{"lte-rrc.dl.ccch": 12, "lte-rrc.dl.dcch": 13, "nr-rrc.rrc_reconf": 9}
	for i, row := range rows[1:] {
		payload, err := hex.DecodeString(row[8])
		if err != nil {
			t.Fatal(err)
		}
		nr := strings.HasPrefix(row[1], "nr")
		p := Packet{Code: LogB0C0, Logged: 1, Body: rrcBody(nr, pdus[row[1]], payload)}
		if nr {
			p.Code = LogB821
		}
		var c RRCConfigs
		recs, _, err := c.OnPacket(p, nil)
		if want := len(strings.Split(row[4], "|")); err != nil || len(recs) != want {
			t.Errorf("row %d: %+v, %v; want %d records", i+1, recs, err, want)

			continue
		}
		want, err := time.ParseDuration(strings.TrimPrefix(strings.Split(row[4], "|")[0], "sf") + "ms")
		if row[4] == "infinity" {
			want, err = Infinite, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		rat := strings.ToLower(row[3])
		if len(recs) == 2 {
			rat = "lte" // and NR beside it
		}
		if recs[0].PeriodicBSR != want || recs[0].RAT.String() != rat {
			t.Errorf("row %d: %+v, want %v", i+1, recs[0], want)
		}
	}
	if len(rows) < 10 {
		t.Errorf("%d rows", len(rows))
	}
}
