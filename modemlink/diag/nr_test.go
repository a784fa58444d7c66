// SPDX-License-Identifier: MIT

package diag

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// nrTypeOf returns the type with the nth name of a list, from 1.
func nrTypeOf(names string, n int) NRRRCType {
	name := strings.Fields(names)[n-1]
	for t := NRRRCUnknown; t <= NRRRCRadioBearerConfig; t++ {
		if t.String() == name {
			return t
		}
	}
	panic(name)
}

// nrCase is a version of a log code.
type nrCase struct {
	code    LogCode
	version NRVersion
	random  func(*rand.Rand, NRVersion) ([]byte, []any)
}

func (c nrCase) String() string { return fmt.Sprintf("%v_%v", c.code, c.version) }

// nrCases is every version that is decoded.
func nrCases() []nrCase {
	old := func(rng *rand.Rand, v NRVersion) ([]byte, []any) { return randomB872(rng, v, 20, true, false) }
	cases := []nrCase{
		{LogB872, 4, old},
		{LogB872, nrVersion(2, 1), old},
		{LogB872, nrVersion(3, 8), func(rng *rand.Rand, v NRVersion) ([]byte, []any) {
			return randomB872(rng, v, 24, false, false)
		}},
		{LogB873, 2, randomB873},
		{LogB873, nrVersion(3, 3), randomB873},
		{LogB881, nrVersion(2, 0), randomB881},
		{LogB881, nrVersion(2, 1), randomB881},
		{LogB881, nrVersion(3, 1), randomB881},
		{LogB883, nrVersion(2, 8), randomB883},
		{LogB883, nrVersion(2, 11), randomB883},
		{LogB883, nrVersion(2, 17), randomB883},
		{LogB883, nrVersion(3, 15), randomB883},
		{LogB885, nrVersion(2, 5), randomB885},
		{LogB885, nrVersion(2, 12), randomB885},
		{LogB885, nrVersion(3, 9), randomB885},
	}
	for _, v := range []NRVersion{7, 8, 9, 12, 14, 17, 19, 20, 23, 24, 25, 26, 28} {
		cases = append(cases, nrCase{LogB821, v, randomB821})
	}

	return cases
}

func isBad(err error) bool { return errors.Is(err, ErrTruncated) || errors.Is(err, ErrMalformed) }

func isUnsupported(err error) bool {
	var e *UnsupportedVersionError

	return errors.As(err, &e)
}

// What is encoded bit by bit comes back, whatever the bits between the fields.
func TestNRRoundTrip(t *testing.T) {
	for _, c := range nrCases() {
		t.Run(c.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(c.code)))
			samples := 0
			for range 300 {
				body, want := c.random(rng, c.version)
				got, err := Details(Packet{Code: c.code, Body: body})
				if err != nil {
					t.Fatalf("%v; % x", err, body)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("\n got %+v\nwant %+v\n% x", got, want, body)
				}
				samples += len(got)
				if _, err := ParseLog(Packet{Code: c.code, Body: body}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if samples < 150 {
				t.Errorf("%d samples in 300 packets", samples)
			}
		})
	}
}

// A packet that ends too early, at whatever byte, or too late is refused whole.
func TestNRLength(t *testing.T) {
	for _, c := range nrCases() {
		t.Run(c.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(2, uint64(c.code)))
			for range 20 {
				body, _ := c.random(rng, c.version)
				check := func(what string, body []byte) {
					t.Helper()
					p := Packet{Code: c.code, Body: body}
					details, err := Details(p)
					recs, err2 := ParseLog(p, nil)
					if !isBad(err) || !isBad(err2) || len(details) != 0 || len(recs) != 0 {
						t.Fatalf("%s: %d details, %v; %d records, %v; % x", what, len(details), err, len(recs), err2, body)
					}
				}
				for n := range body {
					check("cut", body[:n])
				}
				check("one more", append(body, 0))
			}
		})
	}
}

// A version is known or it is not: no other one is taken for it.
func TestNRVersionFlips(t *testing.T) {
	known := map[LogCode]map[NRVersion]bool{}
	for _, c := range nrCases() {
		if known[c.code] == nil {
			known[c.code] = map[NRVersion]bool{}
		}
		known[c.code][c.version] = true
	}
	for _, c := range nrCases() {
		rng := rand.New(rand.NewPCG(3, uint64(c.code)))
		body, _ := c.random(rng, c.version)
		for bit := range 32 {
			v := c.version ^ 1<<bit
			// Unknown 3.x of B872 may be inferred.
			if known[c.code][v] || c.code == LogB872 && v>>16 == 3 {
				continue
			}
			flipped := append(nrHead(v), body[4:]...)
			_, err := ParseLog(Packet{Code: c.code, Body: flipped}, nil)
			var e *UnsupportedVersionError
			if !errors.As(err, &e) || e.Version != uint32(v) || e.Code != c.code {
				t.Errorf("%v as %v: %v", c, v, err)
			}
		}
	}
}

// The lists of the layouts' versions, from a second place in the sources.
func TestNRVersionWords(t *testing.T) {
	for v, want := range map[NRVersion]string{131089: "2.17", 196623: "3.15", 196616: "3.8", 131077: "2.5", 4: "4", 196609: "3.1"} {
		if v.String() != want {
			t.Errorf("%d is %v, want %s", uint32(v), v, want)
		}
	}
	err := &UnsupportedVersionError{Code: LogB883, Version: 196634}
	if want := "diag: 0xB883: unsupported version 3.26"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// b872Fits walks a body in the dumb way: sizes and ranges alone.
func b872Fits(body []byte, header int) bool {
	pos := 8
	for range body[4] & 15 {
		if pos+8 > len(body) {
			return false
		}
		slot, blocks := int(body[pos]), body[pos+4]&15
		pos += 8
		for range blocks {
			if pos+header > len(body) {
				return false
			}
			mu, n := body[pos]&7, int(body[pos+header-4]&63)
			grant := int(body[pos+4]) | int(body[pos+5])<<8 | int(body[pos+6])<<16 | int(body[pos+7])<<24
			pos += header
			if mu > 4 || slot >= 10<<mu || grant >= 1<<18 || pos+n > len(body) {
				return false
			}
			if _, _, err := parseNRCEs(body[pos : pos+n]); err != nil {
				return false
			}
			pos += n
		}
	}

	return pos == len(body)
}

// An unknown 3.x of B872 is decoded when exactly one layout fits to the last
// byte, and marked; any other is refused.
func TestNRB872Inferred(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	var inferred, ambiguous, empty int
	const packets = 4000
	for i := range packets {
		header := 20 + 4*(i%2)
		body, want := randomB872(rng, nrVersion(3, 17), header, false, true)
		p := Packet{Code: LogB872, Body: body}
		other := b872Fits(body, 44-header)
		got, err := Details(p)
		recs, err2 := ParseLog(p, nil)
		switch {
		case !b872Fits(body, header):
			t.Fatalf("the test's own packet does not fit: % x", body)
		case other:
			if !isUnsupported(err) || !isUnsupported(err2) || len(got)+len(recs) != 0 {
				t.Fatalf("both layouts fit: %v, %v, % x", err, err2, body)
			}
			if ambiguous++; len(want) == 0 {
				empty++
			}
		default:
			if err != nil || err2 != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, %v\n got %+v\nwant %+v", err, err2, got, want)
			}
			for _, r := range recs {
				if !r.Inferred || r.Trigger != TriggerUnknown && r.Trigger != TriggerPadding {
					t.Fatalf("%+v", r)
				}
			}
			inferred++
		}
		for n := range body {
			if n%7 == 0 && n >= 8 && !b872Fits(body[:n], 20) && !b872Fits(body[:n], 24) {
				if _, err := ParseLog(Packet{Code: LogB872, Body: body[:n]}, nil); !isUnsupported(err) {
					t.Fatalf("cut at %d: %v", n, err)
				}
			}
		}
	}
	t.Logf("%d inferred, %d ambiguous of which %d without blocks", inferred, ambiguous, empty)
	// Packets without a block fit any layout. Of the others few are open.
	if open := ambiguous - empty; inferred < packets*60/100 || open > packets/100 {
		t.Errorf("%d inferred, %d open of %d", inferred, open, packets)
	}
}

// Built bytes as told for three sets of control elements are the lengths of
// these as parsed: the length byte of a long BSR is there.
func TestNRControlElementLengths(t *testing.T) {
	for _, c := range []struct {
		what  string
		built int
		ces   []byte
		want  NRBSR
	}{
		{"short BSR", 2, []byte{61, 0xA3}, NRBSR{LCID: 61, LCGs: 0x20, Index: [8]uint8{5: 3}}},
		{"empty long BSR", 3, []byte{62, 1, 0}, NRBSR{LCID: 62}},
		{"PHR and short BSR", 5, []byte{57, 1, 2, 61, 0}, NRBSR{LCID: 61, LCGs: 1}},
	} {
		got, _, err := parseNRCEs(c.ces)
		if err != nil || got != c.want || len(c.ces) != c.built {
			t.Errorf("%s: %+v, %v", c.what, got, err)
		}
	}
}

func TestNRControlElements(t *testing.T) {
	type result struct {
		bsr NRBSR
		err error
	}
	for _, c := range []struct {
		what string
		ces  []byte
		want result
	}{
		{"nothing", nil, result{}},
		{"PHR alone", []byte{57, 62, 61}, result{}},
		{"unknown first", []byte{58, 61, 0}, result{}},
		{"unknown last", []byte{61, 0x21, 33, 62}, result{bsr: NRBSR{LCID: 61, LCGs: 2, Index: [8]uint8{1: 1}}}},
		{"highest index", []byte{59, 0xFF}, result{bsr: NRBSR{LCID: 59, LCGs: 0x80, Index: [8]uint8{7: 31}}}},
		{
			"long, all groups",
			[]byte{62, 9, 0xFF, 1, 2, 3, 4, 5, 6, 7, 254},
			result{bsr: NRBSR{LCID: 62, LCGs: 0xFF, Index: [8]uint8{1, 2, 3, 4, 5, 6, 7, 254}}},
		},
		{
			"long, two groups",
			[]byte{62, 3, 0x82, 9, 0},
			result{bsr: NRBSR{LCID: 62, LCGs: 0x82, Index: [8]uint8{1: 9}}},
		},
		{"long, an index too few", []byte{62, 2, 0x82, 9}, result{err: errNRLongBSR}},
		{"long, an index too many", []byte{62, 4, 0x82, 9, 9, 9}, result{err: errNRLongBSR}},
		{"long, no groups byte", []byte{62, 0}, result{err: errNRLongBSR}},
		{"long, no length", []byte{62}, result{err: errNRCE}},
		{"long, cut off", []byte{62, 3, 0x82, 9}, result{err: errNRCE}},
		{
			"long truncated, one of three",
			[]byte{60, 2, 0x19, 77},
			result{bsr: NRBSR{LCID: 60, LCGs: 1, Index: [8]uint8{77}, More: 0x18}},
		},
		{"long truncated, none", []byte{60, 1, 0x19}, result{bsr: NRBSR{LCID: 60, More: 0x19}}},
		{"long truncated, too many", []byte{60, 3, 0x10, 1, 2}, result{err: errNRLongBSR}},
		{"short, cut off", []byte{61}, result{err: errNRCE}},
		{"PHR, cut off", []byte{57, 1}, result{err: errNRCE}},
		{"two BSRs", []byte{61, 0, 61, 0}, result{err: errNRTwoBSRs}},
	} {
		bsr, _, err := parseNRCEs(c.ces)
		if !errors.Is(err, c.want.err) || err == nil && bsr != c.want.bsr {
			t.Errorf("%s: %+v, %v, want %+v", c.what, bsr, err, c.want)
		}
	}
}

// Record.Buffer takes the table that the form has, TS 38.321 6.1.3.1.
func TestNRBuffer(t *testing.T) {
	for _, c := range []struct {
		ces       []byte
		form      Form
		low, high int
	}{
		{[]byte{61, 0x49}, FormShort, 103, 142},    // 5-bit index 9
		{[]byte{59, 0x49}, FormTruncated, 103, -1}, // and more in other groups
		{[]byte{62, 2, 4, 9}, FormLong, 18, 18},    // 8-bit index 9
		{[]byte{62, 3, 5, 9, 1}, FormLong, 18 + 1, 18 + 10},
		{[]byte{62, 1, 0}, FormLong, 0, 0},
		{[]byte{60, 2, 6, 9}, FormLongTruncated, 18, -1},
		{[]byte{61, 0x1F}, FormShort, 150001, -1},
		{[]byte{62, 2, 1, 254}, FormLong, 81338369, -1},
		{[]byte{62, 2, 1, 255}, FormLong, 0, -1}, // reserved
	} {
		body := nrHead(4, 1, 0, 0, 0, 3, 0, 1, 0, 1, 0, 0, 0)
		tb := make([]byte, 20)
		tb[16] = byte(len(c.ces))
		recs, err := ParseLog(Packet{Code: LogB872, Body: append(append(body, tb...), c.ces...)}, nil)
		if err != nil || len(recs) != 1 || recs[0].Kind != KindBSR || recs[0].RAT != NR || recs[0].Form != c.form {
			t.Errorf("% x: %v, %v", c.ces, recs, err)

			continue
		}
		if low, high := recs[0].Buffer(true); low != c.low || high != c.high {
			t.Errorf("% x: %d..%d, want %d..%d", c.ces, low, high, c.low, c.high)
		}
	}
}

// What asks for a BSR decides whether it may be a window's border.
func TestNRTrigger(t *testing.T) {
	for _, c := range []struct {
		version NRVersion
		reason  uint8
		lcid    uint8
		want    Trigger
	}{
		{4, 0, 61, TriggerPadding},
		{4, 1, 61, TriggerPeriodic},
		{4, 2, 61, TriggerUnknown},
		{4, 4, 61, TriggerRegular},
		{4, 5, 62, TriggerRegular},
		{nrVersion(2, 1), 1, 59, TriggerPadding},
		{nrVersion(2, 1), 4, 60, TriggerPadding},
		{nrVersion(3, 8), 0, 61, TriggerUnknown},
		{nrVersion(3, 8), 0, 60, TriggerPadding},
	} {
		v := B872{Version: c.version, BSRReason: c.reason, BSR: NRBSR{LCID: c.lcid}}
		if got := v.trigger(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A record's TTI counts slots of its numerology, 10.24 s in all.
func TestNRTTI(t *testing.T) {
	for mu := range uint8(maxNumerology + 1) {
		slots := 10 << mu
		s := NRSlotTime{Frame: 1023, Slot: uint8(slots - 1), Numerology: mu}
		r := nrRecord(Packet{}, KindGrant, s)
		if !s.valid() || r.TTI != r.TTIs()-1 || r.TTIs() != 1024*slots {
			t.Errorf("numerology %d: TTI %d of %d", mu, r.TTI, r.TTIs())
		}
		if got := time.Duration(r.TTIs()) * r.TTILength(); got != 10240*time.Millisecond {
			t.Errorf("numerology %d: %v until the count begins again, want 10.24 s", mu, got)
		}
		if s.Slot++; s.valid() {
			t.Errorf("numerology %d has no slot %d", mu, s.Slot)
		}
	}
	lte := Record{RAT: LTE}
	if lte.TTIs() != ttiWrap || lte.TTILength() != time.Millisecond {
		t.Errorf("LTE: %d TTIs of %v", lte.TTIs(), lte.TTILength())
	}
	if (NRSlotTime{Numerology: 5}).valid() || (NRSlotTime{Frame: 1024}).valid() {
		t.Error("out of range is valid")
	}
}

// B883: retransmissions are marked, message 3 and empty blocks are no grants.
func TestNRB883Records(t *testing.T) {
	for _, c := range []struct {
		v    B883
		want []int // Retx of the records
	}{
		{B883{Version: nrVersion(2, 17), TBS: 9}, []int{0}},
		{B883{Version: nrVersion(2, 17), TBS: 9, RV: 2}, []int{0}}, // said to be new
		{B883{Version: nrVersion(2, 17), TBS: 9, TXType: 1, RV: 2}, []int{1}},
		{B883{Version: nrVersion(2, 17), TBS: 9, TXType: 1, RV: 3}, []int{2}},
		{B883{Version: nrVersion(2, 17), TBS: 9, TXType: 1, RV: 1}, []int{3}},
		{B883{Version: nrVersion(2, 17), TBS: 9, TXType: 1, RV: 0}, []int{1}},
		{B883{Version: nrVersion(2, 17), TBS: 0}, nil},
		{B883{Version: nrVersion(2, 17), TBS: 9, RNTIType: 2}, nil},
		{B883{Version: nrVersion(3, 15), TBS: 9}, []int{0}},
		{B883{Version: nrVersion(3, 15), TBS: 9, RV: 3}, []int{2}},
	} {
		var body []byte
		if c.v.Version>>16 == 2 {
			body = nrHead(c.v.Version, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 1, 7, 0, 1, 0, 0, 0, 0x80|c.v.RNTIType<<2|1, 0, 0, 0)
			b := make([]byte, 40)
			putBits(b, 43, 18, c.v.TBS)
			putBits(b, 66, 3, c.v.RV)
			putBits(b, 72, 2, c.v.TXType)
			body = append(body, b...)
		} else {
			body = nrHead(c.v.Version, 0, 0, 0, 1, 5, 1, 7, 1<<2)
			b := make([]byte, 20+36)
			b[1] = 1
			b[20+8] = byte(c.v.TBS)
			putBits(b[20:], 14, 2, c.v.RV)
			body = append(body, b...)
		}
		recs, err := ParseLog(Packet{Code: LogB883, Body: body, Logged: 9, Radio: 2}, nil)
		if err != nil || len(recs) != len(c.want) {
			t.Errorf("%+v: %v, %v", c.v, recs, err)

			continue
		}
		for i, r := range recs {
			want := Record{
				Code: LogB883, Kind: KindGrant, RAT: NR, Radio: 2, Logged: 9, TTI: 145, Numerology: 1,
				Bytes: 9, Retx: c.want[i],
			}
			if c.v.Version>>16 == 2 {
				want.Cell = 1
			}
			if r != want {
				t.Errorf("\n got %+v\nwant %+v", r, want)
			}
		}
	}
}

// Channels of unknown size cannot be passed over.
func TestNRB883UnknownChannels(t *testing.T) {
	for _, word := range []uint16{1 << 6, 1 << 11, 1<<6 | 1<<7} {
		body := nrHead(nrVersion(2, 11), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 1, 7, 0, 1, 0, 0, 0, byte(word), byte(word>>8), 0, 0)
		if _, err := ParseLog(Packet{Code: LogB883, Body: append(body, make([]byte, 40)...)}, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("channels %#x: %v", word, err)
		}
	}
}

// Messages of unknown size at the end of B885 3.9 are left alone.
func TestNRB885UnknownTail(t *testing.T) {
	for at := 11; at <= 13; at++ {
		body := append(nrHead(nrVersion(3, 9)), make([]byte, 12)...)
		body = append(body, 1, 2, 3)
		if _, err := Details(Packet{Code: LogB885, Body: body}); !errors.Is(err, ErrMalformed) {
			t.Errorf("three bytes of nothing: %v", err)
		}
		body[at] = 1
		if got, err := Details(Packet{Code: LogB885, Body: body}); err != nil || len(got) != 0 {
			t.Errorf("byte %d: %v, %v", at, got, err)
		}
	}
}

// PDU numbers above those that all versions share.
func TestNRB821Types(t *testing.T) {
	for _, c := range []struct {
		v    NRVersion
		pdu  uint8
		want NRRRCType
	}{
		{7, 9, NRRRCReconfiguration},
		{7, 10, NRRRCReconfigurationComplete},
		{7, 24, NRRRCRadioBearerConfig},
		{7, 26, NRRRCUnknown},
		{8, 26, NRRRCRadioBearerConfig},
		{8, 2, NRRRCUnknown},
		{9, 9, NRRRCReconfiguration},
		{12, 10, NRRRCReconfigurationComplete},
		{12, 11, NRRRCUnknown},
		{14, 9, NRRRCReconfiguration},
		{17, 29, NRRRCRadioBearerConfig},
		{25, 9, NRRRCReconfiguration},
		{20, 9, NRRRCULDCCH},
		{20, 10, NRRRCReconfiguration},
		{23, 11, NRRRCReconfigurationComplete},
		{24, 36, NRRRCRadioBearerConfig},
		{26, 9, NRRRCULDCCH},
		{26, 10, NRRRCUnknown},
		{26, 11, NRRRCReconfiguration},
		{26, 12, NRRRCReconfigurationComplete},
		{26, 13, NRRRCUnknown},
		{28, 10, NRRRCULDCCH},
		{28, 11, NRRRCReconfiguration},
		{28, 0, NRRRCUnknown},
	} {
		l, ok := b821LayoutOf(c.v)
		body := make([]byte, l.size())
		body[0] = byte(c.v)
		body[l.size()-l.extra-7] = c.pdu
		got, err := Details(Packet{Code: LogB821, Body: body})
		if !ok || err != nil || len(got) != 1 || got[0].(B821).Type != c.want {
			t.Errorf("version %v PDU %d: %+v, %v, want %v", c.v, c.pdu, got, err, c.want)
		}
	}
	for v, want := range map[NRVersion]int{7: 24, 8: 24, 9: 24, 12: 23, 14: 23, 17: 31, 19: 32, 20: 32, 25: 32, 23: 35, 24: 35, 26: 35, 28: 35} {
		if l, ok := b821LayoutOf(v); !ok || l.size() != want {
			t.Errorf("version %v: header of %d bytes, want %d", v, l.size(), want)
		}
	}
}

// Parts make a message when all are there and in order.
func TestRRCJoiner(t *testing.T) {
	type part struct {
		segment uint8
		text    string
		want    string // "" for nothing yet
	}
	for name, parts := range map[string][]part{
		"whole":                {{0, "a", "a"}, {0, "b", "b"}},
		"two parts":            {{1, "a", ""}, {7, "b", "ab"}},
		"seven parts":          {{1, "a", ""}, {2, "b", ""}, {3, "c", ""}, {4, "d", ""}, {5, "e", ""}, {6, "f", ""}, {7, "g", "abcdefg"}},
		"one after another":    {{1, "a", ""}, {7, "b", "ab"}, {1, "c", ""}, {7, "d", "cd"}},
		"begins anew":          {{1, "a", ""}, {2, "b", ""}, {1, "c", ""}, {7, "d", "cd"}},
		"first is missing":     {{2, "b", ""}, {7, "c", ""}},
		"last alone":           {{7, "c", ""}},
		"middle is missing":    {{1, "a", ""}, {3, "c", ""}, {7, "d", ""}},
		"part comes twice":     {{1, "a", ""}, {2, "b", ""}, {2, "b", ""}, {7, "c", ""}},
		"whole one in between": {{1, "a", ""}, {0, "x", "x"}, {7, "b", ""}},
		"nothing after last":   {{1, "a", ""}, {7, "b", "ab"}, {7, "c", ""}},
	} {
		var j RRCJoiner
		for i, p := range parts {
			msg, ok := j.Add(p.segment, []byte(p.text))
			if ok != (p.want != "") || string(msg) != p.want {
				t.Errorf("%s, part %d: %q, %v, want %q", name, i, msg, ok, p.want)
			}
		}
	}
}

func TestNRB821Whole(t *testing.T) {
	if !(&B821{}).Whole() || (&B821{Segment: 3}).Whole() || (&B821{Segment: LastSegment}).Whole() {
		t.Error("0 alone is a whole message")
	}
	if got := NRRRCType(99).String(); got != "type(99)" {
		t.Errorf("%q", got)
	}
}

// Slots and numerologies that are not there are refused by every code that has them.
func TestNRSlotRange(t *testing.T) {
	for _, c := range []struct {
		code LogCode
		body []byte
	}{
		{LogB873, append(nrHead(2, 1, 0, 0, 0, 160), make([]byte, 16)...)},
		{LogB883, nrHead(nrVersion(2, 17), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 0, 0, 0, 0, 0, 0, 0)},
		{LogB883, nrHead(nrVersion(3, 15), 0, 0, 0, 1, 0, 5, 0, 0)},
		{LogB885, nrHead(nrVersion(2, 5), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 20, 1, 0, 0, 0, 0, 0, 0)},
		{LogB885, nrHead(nrVersion(3, 9), 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 40, 2, 0, 0)},
	} {
		if _, err := Details(Packet{Code: c.code, Body: c.body}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v: %v, want ErrMalformed", c.code, err)
		}
	}
}
