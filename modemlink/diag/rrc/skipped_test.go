// SPDX-License-Identifier: MIT

package rrc

import (
	"errors"
	"strings"
	"testing"
)

// bitString packs "0101 01", in which blanks do not count.
func bitString(s string) []byte {
	var w writer
	for _, c := range strings.ReplaceAll(s, " ", "") {
		w.bit(c == '1')
	}
	w.uint(0, 800) // so that nothing ends early

	return w.buf
}

// What is not modelled is named, and messages that have no radio configuration
// are told from it.
func TestBranches(t *testing.T) {
	const (
		reconf   = "0 0100 01 0 000 "            // RRCConnectionReconfiguration-r8
		chain    = reconf + "000001 01 001 001 " // to v1020
		nrReconf = "01 0 "
		v1250    = reconf + "000001 01 001 001 01 "
		v1310    = v1250 + "000001 "
		v1430    = v1310 + "000001 "
	)
	for _, tt := range []struct {
		channel Channel
		bits    string
		field   string // empty for ErrNoMAC
	}{
		{0, "", "channel"},
		{NRReconfiguration + 1, "", "channel"},
		{LTECCCH, "1", "messageClassExtension"},
		{LTECCCH, "0 01", ""},
		{LTECCCH, "0 10", ""},
		{LTECCCH, "0 11 00 1", "criticalExtensionsFuture"},
		{LTECCCH, "0 11 00 0 001", "spare critical extension"},
		{LTECCCH, "0 11 00 0 000 0  0 000000", ""},
		{LTEDCCH, "1", "messageClassExtension"},
		{LTEDCCH, "0 0001", ""},
		{LTEDCCH, "0 0011", "mobilityFromEUTRACommand"},
		{LTEDCCH, "0 0101", ""},
		{LTEDCCH, "0 1011", "rnReconfiguration-r10"},
		{LTEDCCH, "0 1101", "dlDedicatedMessageSegment-r16"},
		{LTEDCCH, "0 1110", "spare message"},
		{LTEDCCH, reconf + "000000", ""},
		{LTEDCCH, reconf + "110000", ""},
		{LTEDCCH, reconf + "100001  0 01000000000 00000 00000 0 01", "measObjectUTRA"},
		{LTEDCCH, reconf + "100001  0 01000000000 00000 00000 0 10", "measObjectGERAN"},
		{LTEDCCH, reconf + "100001  0 01000000000 00000 00000 0 11", "measObjectCDMA2000"},
		{LTEDCCH, reconf + "000001 01 001 010", "sCellToAddModList-r10"},
		{LTEDCCH, reconf + "000001 00", ""},
		{LTEDCCH, chain + "00", ""},
		{LTEDCCH, v1250 + "010000", "scg-Configuration-r12"},
		{LTEDCCH, v1310 + "001000", "lwa-Configuration-r13"},
		{LTEDCCH, v1430 + "10000", "sl-V2X-ConfigDedicated-r14"},
		{LTEDCCH, v1430 + "01000", "sCellToAddModListExt-v1430"},
		{LTEDCCH, v1430 + "00001 100000 0", ""}, // nr-Config-r15: release
		{NRCCCH, "1", "messageClassExtension"},
		{NRCCCH, "0 00", ""},
		{NRCCCH, "0 10", "spare message"},
		{NRDCCH, "1", "messageClassExtension"},
		{NRDCCH, "0 0010", ""},
		{NRDCCH, "0 1000", "mobilityFromNRCommand"},
		{NRDCCH, "0 1001", "dlDedicatedMessageSegment-r16"},
		{NRDCCH, "0 1011", "dlInformationTransferMRDC-r16"},
		{NRDCCH, "0 1111", "spare message"},
		{NRReconfiguration, "01 1", "criticalExtensionsFuture"},
		{NRReconfiguration, nrReconf + "00000", ""},
		{NRReconfiguration, nrReconf + "00100", ""},
		{NRReconfiguration, nrReconf + "00101", "measConfig"},
		{NRReconfiguration, nrReconf + "00001 00000001", "RRCReconfiguration-v1540-IEs"},
	} {
		t.Run(tt.field, func(t *testing.T) {
			got, err := WalkAll(tt.channel, bitString(tt.bits), nil)
			if len(got) != 0 {
				t.Fatalf("%v %q: %+v", tt.channel, tt.bits, got)
			}
			var skipped *SkippedError
			switch {
			case tt.field == "":
				if !errors.Is(err, ErrNoMAC) {
					t.Errorf("%v %q: %v, ErrNoMAC expected", tt.channel, tt.bits, err)
				}
			case !errors.As(err, &skipped) || skipped.Field != tt.field || !errors.Is(err, ErrSkipped):
				t.Errorf("%v %q: %v, %q expected", tt.channel, tt.bits, err, tt.field)
			}
		})
	}
}

// A timer that has no meaning is an error, not a number.
func TestSpareTimers(t *testing.T) {
	const (
		lte = "0 11 00 0 000 0  0 000100  0 0 100  " // RRCConnectionSetup to ul-SCH-Config
		nr  = "01 0 01000  "                         // RRCReconfiguration to secondaryCellGroup
		mac = "00000100  0 0010000 01  0 00100  0 "  // its length, CellGroupConfig to bsr-Config
	)
	for _, tt := range []struct {
		channel Channel
		bits    string
		ok      bool
	}{
		{LTECCCH, lte + "01 1110 101", true}, // infinity, 10240
		{LTECCCH, lte + "01 1111 000", false},
		{LTECCCH, lte + "01 0000 110", false},
		{NRReconfiguration, nr + mac + "1 1111 1010 110", true}, // infinity, 10240, 2560
		{NRReconfiguration, nr + mac + "0 1111 1011", false},
		{NRReconfiguration, nr + mac + "1 1111 1010 111", false},
	} {
		got, err := WalkAll(tt.channel, bitString(tt.bits), nil)
		if tt.ok {
			if err != nil || len(got) != 1 || got[0].Periodic != Infinite || got[0].Retx != 10240*ms {
				t.Errorf("%q: %+v, %v", tt.bits, got, err)
			}
		} else if !errors.Is(err, ErrMalformed) || len(got) != 0 {
			t.Errorf("%q: %+v, %v", tt.bits, got, err)
		}
	}
}

func TestStrings(t *testing.T) {
	for want, s := range map[string]interface{ String() string }{
		"LTE": LTE, "NR": NR, "RAT(?)": RAT(9), "Channel(?)": Channel(99),
		"LTE DL-CCCH": LTECCCH, "LTE DL-DCCH": LTEDCCH, "NR DL-CCCH": NRCCCH, "NR DL-DCCH": NRDCCH,
		"NR RRCReconfiguration": NRReconfiguration,
	} {
		if s.String() != want {
			t.Errorf("%q, %q expected", s, want)
		}
	}
}
