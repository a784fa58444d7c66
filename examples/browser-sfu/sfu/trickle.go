// SPDX-License-Identifier: MIT

package sfu

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/pion/webrtc/v4"
)

// fragment is a PATCH body. RFC 8840 9.
type fragment struct {
	ufrag      string // empty: not said
	candidates []webrtc.ICECandidateInit
}

// parseFragment reads lines of SDP; those it does not know are skipped.
func parseFragment(b []byte) (fragment, error) {
	var f fragment
	var mid string
	seen := false
	for line := range bytes.Lines(b) {
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			continue
		}
		if len(text) < 2 || text[1] != '=' {
			return f, fail(http.StatusBadRequest, "malformed SDP fragment")
		}
		seen = true
		key, value, _ := strings.Cut(text[2:], ":")
		switch {
		case text[0] != 'a':
		case key == "ice-ufrag":
			f.ufrag = value
		case key == "mid":
			mid = value
		case key == "candidate":
			if len(f.candidates) == maxCandidates {
				return f, fail(http.StatusBadRequest, "more than %d candidates", maxCandidates)
			}
			of := mid
			f.candidates = append(f.candidates, webrtc.ICECandidateInit{Candidate: text[2:], SDPMid: &of})
		}
	}
	if !seen {
		return f, fail(http.StatusBadRequest, "empty SDP fragment")
	}

	return f, nil
}

// trickle adds the candidates of a PATCH.
func (x *session) trickle(b []byte) error {
	f, err := parseFragment(b)
	if err != nil {
		return err
	}
	if f.ufrag != "" && f.ufrag != x.ufrag {
		return fail(http.StatusUnprocessableEntity, "ICE restart is not supported: open a new session")
	}
	if n := int(x.candidates.Add(int64(len(f.candidates)))); n > maxCandidates {
		return fail(http.StatusBadRequest, "more than %d candidates", maxCandidates)
	}
	for _, c := range f.candidates {
		if err := x.pc.AddICECandidate(c); err != nil {
			return fail(http.StatusBadRequest, "malformed candidate")
		}
	}

	return nil
}
