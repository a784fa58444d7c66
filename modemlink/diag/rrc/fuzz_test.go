// SPDX-License-Identifier: MIT

package rrc

import (
	"slices"
	"testing"
)

func FuzzWalk(f *testing.F) {
	for i, m := range messages() {
		for seed := range uint64(8) {
			payload, _ := generate(m, uint64(i)<<8|seed, seed%2 == 1)
			f.Add(uint8(m.channel), payload)
		}
	}
	f.Fuzz(func(t *testing.T, channel uint8, payload []byte) {
		before := slices.Clone(payload)
		got, err := WalkAll(Channel(channel), payload, nil)
		check(t, got, err)
		if !slices.Equal(before, payload) {
			t.Fatal("the message was written to")
		}
		if len(payload) < 100 {
			checkPrefixes(t, Channel(channel), payload)
		}
		// What stands behind a message is none of its business.
		if err == nil {
			again, err := WalkAll(Channel(channel), append(before, 0xFF), nil)
			if err != nil || !slices.Equal(got, again) {
				t.Fatalf("with an octet behind: %+v, %v; without %+v", again, err, got)
			}
		}
	})
}
