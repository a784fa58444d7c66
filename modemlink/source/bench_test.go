// SPDX-License-Identifier: MIT

package source

import (
	"testing"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

// slices10ms is what a port gives in one 10 ms of a stream of rate bytes/s: the logs
// of a busy uplink, and debug text, which phones have most of, up to that rate.
func slices10ms(tb testing.TB, rate int) [][]byte {
	tb.Helper()
	text := make([]byte, 300)
	for i := range text {
		text[i] = byte(i * 7)
	}
	text[0] = 0x79
	filler := diag.AppendHDLC(nil, text)
	packets := busy(tb, 10240*ms)
	var out [][]byte
	for i := 0; i < len(packets); i += 2 {
		b := fakemodem.Stream(packets[i : i+2])
		for len(b) < rate/100 {
			b = append(b, filler...)
		}
		out = append(out, b)
	}

	return out
}

// feeder runs a decoder over slices again and again, with a clock of its own.
type feeder struct {
	d      *Diag
	slices [][]byte
	next   int
	now    time.Time
	emit   func(gbr.Telemetry)
}

func newFeeder(tb testing.TB, rate int, emit func(gbr.Telemetry)) *feeder {
	tb.Helper()
	d, err := NewDiag(nil, DiagConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	f := &feeder{d: d, slices: slices10ms(tb, rate), now: time.Now(), emit: emit}
	for range 200 { // until every buffer has its size, and it settled
		f.step()
	}

	return f
}

func (f *feeder) step() int {
	b := f.slices[f.next]
	f.next = (f.next + 1) % len(f.slices)
	f.now = f.now.Add(10 * ms)
	for at := 0; at < len(b); at += readBytes {
		f.d.decode(f.now, b[at:min(at+readBytes, len(b))])
	}
	f.d.onTimeout(f.now)
	f.d.emit(f.now, true, f.emit)

	return len(b)
}

// 2 MB/s is a phone that logs a lot. CPU share of a core = ns/byte * 2e6 / 1e9.
func BenchmarkStream(b *testing.B) {
	const rate = 2_000_000
	server, err := modemlink.NewServer(modemlink.ServerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct {
		name string
		rate int
		emit func(gbr.Telemetry)
	}{
		{"decode", rate, func(gbr.Telemetry) {}},
		{"publish", rate, server.Publish},
		{"logs only", 0, func(gbr.Telemetry) {}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			f := newFeeder(b, bm.rate, bm.emit)
			total := 0
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				total += f.step()
			}
			perByte := float64(b.Elapsed().Nanoseconds()) / float64(total)
			b.SetBytes(int64(total / b.N))
			b.ReportMetric(perByte, "ns/byte")
			// A step is 10 ms of the modem.
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e7*100, "%core")
		})
	}
}

// The path from bytes to telemetry does not allocate once its buffers have their
// size.
func TestDecodeDoesNotAllocate(t *testing.T) {
	f := newFeeder(t, 200_000, func(gbr.Telemetry) {})
	for range 2000 {
		f.step()
	}
	// 10 ms: 12 records and 2 samples.
	if n := testing.AllocsPerRun(500, func() { f.step() }); n != 0 {
		t.Errorf("%v allocations in 10 ms of log, want 0", n)
	}
}
