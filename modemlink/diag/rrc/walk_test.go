// SPDX-License-Identifier: MIT

package rrc

import (
	"encoding/csv"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

// vector is a message of a real network and the timers that another decoder
// found in it.
type vector struct {
	name     string
	channel  Channel
	rat      RAT
	periodic time.Duration
	retx     time.Duration
	both     bool // LTE and NR in one message
	payload  []byte
}

func vectors(tb testing.TB) []vector {
	tb.Helper()
	f, err := os.Open(dataset.File(tb, "rrc_vectors.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	r := csv.NewReader(f)
	r.Comma = ';'
	rows, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	channels := map[string]Channel{
		"lte-rrc.dl.ccch": LTECCCH, "lte-rrc.dl.dcch": LTEDCCH, "nr-rrc.rrc_reconf": NRReconfiguration,
	}
	rats := map[string]RAT{"LTE": LTE, "NR": NR}
	out := make([]vector, 0, len(rows))
	for i, row := range rows[1:] {
		v := vector{
			name:    strconv.Itoa(i+1) + "_" + row[2],
			channel: channels[row[1]], rat: rats[row[3]],
			periodic: subframes(tb, row[4]), retx: subframes(tb, row[5]),
			both: strings.Contains(row[4], "|"),
		}
		if v.payload, err = hex.DecodeString(row[8]); err != nil {
			tb.Fatal(err)
		}
		if v.channel == 0 || v.rat == 0 {
			tb.Fatalf("row %v is not understood", row[:6])
		}
		out = append(out, v)
	}

	return out
}

// subframes turns "sf320", "infinity" or "sf5|sf5" to a duration.
func subframes(tb testing.TB, s string) time.Duration {
	tb.Helper()
	first, _, _ := strings.Cut(s, "|")
	if first == "infinity" {
		return Infinite
	}
	n, err := strconv.Atoi(strings.TrimPrefix(first, "sf"))
	if err != nil {
		tb.Fatal(err)
	}

	return time.Duration(n) * time.Millisecond
}

func TestVectors(t *testing.T) {
	all := vectors(t)
	if len(all) < 9 {
		t.Fatalf("%d vectors, at least 9 expected", len(all))
	}
	for _, v := range all {
		t.Run(v.name, func(t *testing.T) {
			got, err := WalkAll(v.channel, v.payload, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := []RAT{v.rat}
			if v.both {
				want = []RAT{LTE, NR}
			}
			if len(got) != len(want) {
				t.Fatalf("%+v: radios %v expected", got, want)
			}
			for i, c := range got {
				if c.RAT != want[i] || c.Secondary != (c.RAT == NR) || c.Default ||
					!c.HasPeriodic || c.Periodic != v.periodic || !c.HasRetx || c.Retx != v.retx {
					t.Errorf("%+v: %v periodic %v retx %v expected", c, want[i], v.periodic, v.retx)
				}
			}
			first, err := Walk(v.channel, v.payload)
			if err != nil || first != got[0] {
				t.Errorf("Walk gives %+v, %v", first, err)
			}
		})
	}
}

// A message that was cut tells the same or fails: it never tells something else.
func TestTruncated(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) { checkPrefixes(t, v.channel, v.payload) })
	}
}

func checkPrefixes(tb testing.TB, channel Channel, payload []byte) {
	tb.Helper()
	full, fullErr := WalkAll(channel, payload, nil)
	for n := range payload {
		got, err := WalkAll(channel, payload[:n], nil)
		if len(got) > len(full) || !slices.Equal(got, full[:len(got)]) {
			tb.Fatalf("%d of %d octets give %+v, the whole message %+v", n, len(payload), got, full)
		}
		if !errors.Is(err, ErrTruncated) && !sameError(err, fullErr) {
			tb.Fatalf("%d of %d octets give %v, the whole message %v", n, len(payload), err, fullErr)
		}
		if err == nil && len(got) != len(full) {
			tb.Fatalf("%d of %d octets give %d of %d configurations and no error", n, len(payload), len(got), len(full))
		}
		if c, err := Walk(channel, payload[:n]); err == nil && c != full[0] {
			tb.Fatalf("%d of %d octets give %+v", n, len(payload), c)
		}
	}
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}

	return a.Error() == b.Error()
}

func TestBitFlips(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.name, func(t *testing.T) {
			buf := slices.Clone(v.payload)
			var same, other, failed int
			for i := range 8 * len(buf) {
				buf[i/8] ^= 0x80 >> (i % 8)
				got, err := WalkAll(v.channel, buf, nil)
				check(t, got, err)
				switch c, err := Walk(v.channel, buf); {
				case err != nil:
					failed++
				case c.Periodic == v.periodic && c.Retx == v.retx:
					same++
				default:
					other++
				}
				buf[i/8] ^= 0x80 >> (i % 8)
			}
			t.Logf("%d flips: %d the same timers, %d other ones, %d errors", 8*len(buf), same, other, failed)
			if same == 0 || failed == 0 || other == 0 {
				t.Error("flips in the timers, in front of them and behind them must differ")
			}
		})
	}
}

// check holds for whatever the walk returns, whatever it was given.
func check(tb testing.TB, got []Config, err error) {
	tb.Helper()
	if len(got) > maxConfigs {
		tb.Fatalf("%d configurations", len(got))
	}
	for _, c := range got {
		if c.RAT != LTE && c.RAT != NR {
			tb.Fatalf("%+v: no radio", c)
		}
		if c.HasPeriodic != (c.Periodic != 0) || c.HasRetx != (c.Retx != 0) {
			tb.Fatalf("%+v: Has does not agree with the value", c)
		}
		if c.Periodic < 0 || c.Periodic > 2560*ms && c.Periodic != Infinite ||
			c.Retx < 0 || c.Retx > 10240*ms || c.SRDelay < 0 || c.SRDelay > 2560*ms {
			tb.Fatalf("%+v: out of range", c)
		}
	}
	var skipped *SkippedError
	switch {
	case err == nil && len(got) > 0, errors.Is(err, ErrTruncated), errors.Is(err, ErrMalformed):
	case errors.Is(err, ErrNoMAC) && len(got) == 0:
	case errors.As(err, &skipped) && errors.Is(err, ErrSkipped) && skipped.Field != "":
	default:
		tb.Fatalf("%d configurations and error %v", len(got), err)
	}
}

// message is a kind of message that the generator can write.
type message struct {
	name    string
	channel Channel
	write   func(*generator)
}

func messages() []message {
	return []message{
		{"RRCConnectionSetup", LTECCCH, (*generator).lteSetup},
		{"RRCConnectionReestablishment", LTECCCH, (*generator).lteReestablishment},
		{"RRCConnectionResume", LTEDCCH, (*generator).lteResume},
		{"RRCConnectionReconfiguration", LTEDCCH, (*generator).lteReconfiguration},
		{"RRCSetup", NRCCCH, (*generator).nrSetup},
		{"RRCResume", NRDCCH, (*generator).nrResume},
		{"RRCReconfiguration", NRDCCH, (*generator).nrDCCHReconfiguration},
		{"RRCReconfiguration_bare", NRReconfiguration, (*generator).nrReconfiguration},
	}
}

func generate(m message, seed uint64, unknown bool) ([]byte, []Config) {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0)), unknown: unknown}
	m.write(&g)

	return g.buf, g.want
}

// Whatever optional fields stand in front of the timers, they are found.
func TestGenerated(t *testing.T) {
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) {
			var found int
			for seed := range uint64(1000) {
				payload, want := generate(m, seed, seed%2 == 1)
				got, err := WalkAll(m.channel, payload, nil)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: %x\n got %+v, %v\nwant %+v", seed, payload, got, err, want)
				}
				if len(want) == 0 != errors.Is(err, ErrNoMAC) || len(want) > 0 && err != nil {
					t.Fatalf("seed %d: %d configurations and error %v", seed, len(want), err)
				}
				found += len(want)
				if seed < 8 {
					checkPrefixes(t, m.channel, payload)
				}
			}
			if found < 70 {
				t.Errorf("only %d configurations in 1000 messages: the generator is of no use", found)
			}
		})
	}
}

func TestDeterministic(t *testing.T) {
	m := messages()[3]
	a, _ := generate(m, 7, true)
	b, _ := generate(m, 7, true)
	if !slices.Equal(a, b) {
		t.Fatal("a seed gives two messages")
	}
}
