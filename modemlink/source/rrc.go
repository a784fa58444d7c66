// SPDX-License-Identifier: MIT

package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// rrcTimers finds the BSR configuration in RRC messages, and counts what became
// of them.
type rrcTimers struct {
	configs diag.RRCConfigs
	records []diag.Record
	// walks counts by [diag.RRCOutcome].
	walks map[string]uint64
}

// packet returns the records of a log packet of any code, valid until the next
// call.
func (r *rrcTimers) packet(p diag.Packet) []diag.Record {
	records, found, err := r.configs.OnPacket(p, r.records[:0])
	r.records = records
	if p.Code == diag.LogB0C0 || p.Code == diag.LogB821 {
		if r.walks == nil {
			r.walks = make(map[string]uint64)
		}
		r.walks[diag.RRCOutcome(found, err)]++
	}

	return records
}

// String is the counters, "none" for no message.
func (r *rrcTimers) String() string {
	if len(r.walks) == 0 {
		return "none"
	}
	out := make([]string, 0, len(r.walks))
	for _, k := range slices.Sorted(maps.Keys(r.walks)) {
		out = append(out, fmt.Sprintf("%d %s", r.walks[k], k))
	}

	return strings.Join(out, "; ")
}
