// SPDX-License-Identifier: MIT

package rrc

import "testing"

func BenchmarkWalkAll(b *testing.B) {
	for _, m := range messages() {
		// The longest of some messages that have a configuration.
		var payload []byte
		for seed := range uint64(200) {
			if p, want := generate(m, seed, false); len(want) > 0 && len(p) > len(payload) {
				payload = p
			}
		}
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(payload)))
			dst := make([]Config, 0, maxConfigs)
			for b.Loop() {
				got, err := WalkAll(m.channel, payload, dst)
				if err != nil || len(got) == 0 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

func TestNoAllocations(t *testing.T) {
	for _, m := range messages() {
		for seed := range uint64(20) {
			payload, _ := generate(m, seed, true)
			if n := testing.AllocsPerRun(10, func() { _, _ = Walk(m.channel, payload) }); n != 0 {
				t.Fatalf("%s, seed %d: %v allocations", m.name, seed, n)
			}
		}
	}
}
