// SPDX-License-Identifier: MIT

package diag

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/gbrcc/gbrcc/e2e/dataset"
)

type sizeTable struct {
	name  string
	bits  int
	size  func(uint8) (int, int)
	index func(int) uint8
	// max is the formula's Bmax, 0 where no formula holds.
	max float64
}

func sizeTables() []sizeTable {
	return []sizeTable{
		{
			"lte_36321_6.1.3.1-1", 6,
			func(i uint8) (int, int) { return LTEBufferSize(i, false) },
			func(n int) uint8 { return LTEIndex(n, false) },
			150000,
		},
		{
			"lte_36321_6.1.3.1-2_extended", 6,
			func(i uint8) (int, int) { return LTEBufferSize(i, true) },
			func(n int) uint8 { return LTEIndex(n, true) },
			3000000,
		},
		{"nr_38321_6.1.3.1-1_5bit", 5, NRShortBufferSize, NRShortIndex, 150000},
		{"nr_38321_6.1.3.1-2_8bit", 8, NRLongBufferSize, NRLongIndex, 0},
	}
}

func TestBufferTablesAgainstList(t *testing.T) {
	f, err := os.Open(dataset.File(t, "bsr_tables.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range sizeTables() {
		n, prev := 0, 0
		for _, row := range rows {
			if row[0] != table.name {
				continue
			}
			idx, err := strconv.Atoi(row[1])
			if err != nil || idx != n {
				t.Fatalf("%v: index %d expected", row, n)
			}
			n++
			low, high := table.size(uint8(idx))
			wantLow, wantHigh := prev+1, -1
			switch row[2] {
			case "inf":
			case "reserved":
				wantLow = 0
			default:
				if wantHigh, err = strconv.Atoi(row[2]); err != nil {
					t.Fatal(err)
				}
			}
			if idx == 0 {
				wantLow = 0
			}
			if low != wantLow || high != wantHigh {
				t.Errorf("%s index %d: [%d, %d], want [%d, %d]", table.name, idx, low, high, wantLow, wantHigh)
			}
			prev = wantHigh
		}
		if n != 1<<table.bits {
			t.Errorf("%s: %d rows, want %d", table.name, n, 1<<table.bits)
		}
	}
}

// The tables but the last follow a closed formula, so a slip in one entry shows
// without a list.
func TestBufferTablesAgainstFormula(t *testing.T) {
	for _, table := range sizeTables() {
		last := 1<<table.bits - 2 // the last index with an upper edge
		for k := 1; k <= last && table.max > 0; k++ {
			want := int(math.Ceil(10*math.Pow(table.max/10, float64(k-1)/float64(last-1)) - 1e-6))
			if _, high := table.size(uint8(k)); high != want {
				t.Errorf("%s index %d: upper edge %d, want %d", table.name, k, high, want)
			}
		}
	}
}

func TestBufferIndexIsInverse(t *testing.T) {
	for _, table := range sizeTables() {
		unbounded := 1<<table.bits - 1
		if table.bits == 8 {
			unbounded-- // 255 is reserved
		}
		for k := 0; k <= unbounded; k++ {
			low, high := table.size(uint8(k))
			if high < 0 {
				high = low + 1000000
			}
			for _, n := range []int{low, (low + high) / 2, high} {
				if got := table.index(n); int(got) != k {
					t.Errorf("%s: index of %d bytes = %d, want %d", table.name, n, got, k)
				}
			}
		}
		if got := table.index(-5); got != 0 {
			t.Errorf("%s: index of -5 bytes = %d, want 0", table.name, got)
		}
		if low, high := table.size(255); table.bits < 8 && (low != 0 || high != -1) {
			t.Errorf("%s: index 255 = [%d, %d], want nothing known", table.name, low, high)
		}
	}
}

func TestRecordBuffer(t *testing.T) {
	bsr := func(rat RAT, form Form, lcgs uint8, idx ...uint8) Record {
		r := Record{Kind: KindBSR, RAT: rat, Form: form, LCGs: lcgs}
		copy(r.Index[:], idx)

		return r
	}
	for _, c := range []struct {
		name      string
		rec       Record
		extended  bool
		low, high int
	}{
		{"empty long", bsr(LTE, FormLong, 15), false, 0, 0},
		{"short", bsr(LTE, FormShort, 2, 9, 4), false, 15, 17},
		{"two groups", bsr(LTE, FormLong, 15, 0, 1, 0, 62), false, 1 + 128126, 10 + 150000},
		{"one unbounded", bsr(LTE, FormLong, 15, 63, 1), false, 150002, -1},
		{"extended", bsr(LTE, FormShort, 1, 62), true, 2439679, 3000000},
		{"truncated has more", bsr(LTE, FormTruncated, 1, 1), false, 1, -1},
		{"nr short", bsr(NR, FormShort, 1, 3), false, 15, 20},
		{"nr long", bsr(NR, FormLong, 1<<7|1, 3, 0, 0, 0, 0, 0, 0, 2), false, 12 + 11, 12 + 11},
		{"nr long truncated", bsr(NR, FormLongTruncated, 1, 3), false, 12, -1},
		{"nr reserved", bsr(NR, FormLong, 1, 255), false, 0, -1},
		{"no groups", bsr(LTE, FormShort, 0, 5), false, 0, 0},
	} {
		if low, high := c.rec.Buffer(c.extended); low != c.low || high != c.high {
			t.Errorf("%s: [%d, %d], want [%d, %d] bytes", c.name, low, high, c.low, c.high)
		}
	}
}
