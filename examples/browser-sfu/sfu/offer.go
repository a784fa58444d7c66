// SPDX-License-Identifier: MIT

package sfu

import (
	"net/http"
	"slices"
	"strings"

	"github.com/pion/sdp/v3"
)

// role is what the far end does.
type role int

const (
	publisher role = iota
	viewer
)

// endpoint is the path of the role.
func (r role) endpoint() string {
	if r == publisher {
		return "whip"
	}

	return "whep"
}

// offer is a description that was looked at.
type offer struct {
	sdp        string
	ufrag      string
	candidates int
	codecs     map[string][]string // kind of medium -> codecs, in small letters
	channel    bool                // asks for data channels
}

// parseOffer refuses what cannot become a session before anything is made for
// it.
func parseOffer(b []byte, kind role) (offer, error) {
	o := offer{sdp: string(b), codecs: map[string][]string{}}
	var d sdp.SessionDescription
	if err := d.Unmarshal(b); err != nil {
		return o, fail(http.StatusBadRequest, "malformed SDP")
	}
	attribute := func(m *sdp.MediaDescription, key string) (string, bool) {
		if v, ok := m.Attribute(key); ok {
			return v, true
		}

		return d.Attribute(key)
	}
	want, wrong := "sendonly", "recvonly"
	if kind == viewer {
		want, wrong = wrong, want
	}
	for _, m := range d.MediaDescriptions {
		name := m.MediaName.Media
		if name == "application" {
			o.channel = true

			continue
		}
		if name != "audio" && name != "video" {
			return o, fail(http.StatusBadRequest, "unknown medium %q", name)
		}
		for _, key := range []string{"fingerprint", "ice-ufrag", "ice-pwd", "mid"} {
			if v, ok := attribute(m, key); !ok || v == "" {
				return o, fail(http.StatusBadRequest, "no %s in the offer: not WebRTC", key)
			}
		}
		o.ufrag, _ = attribute(m, "ice-ufrag")
		_, bad := m.Attribute(wrong)
		_, none := m.Attribute("inactive")
		if bad || none {
			return o, fail(http.StatusBadRequest, "%s is not %s", name, want)
		}
		if len(o.codecs[name]) > 0 {
			return o, fail(http.StatusBadRequest, "more than one %s", name)
		}
		for _, a := range m.Attributes {
			switch a.Key {
			case "candidate":
				o.candidates++
			case "rtpmap":
				_, codec, _ := strings.Cut(a.Value, " ")
				codec, _, _ = strings.Cut(codec, "/")
				o.codecs[name] = append(o.codecs[name], strings.ToLower(codec))
			}
		}
	}
	switch {
	case len(o.codecs) == 0:
		return o, fail(http.StatusBadRequest, "no audio and no video in the offer")
	case o.candidates > maxCandidates:
		return o, fail(http.StatusBadRequest, "more than %d candidates", maxCandidates)
	case kind == publisher:
		return o, o.carries()
	}

	return o, nil
}

// carries checks a publisher's codecs.
func (o *offer) carries() error {
	has := func(medium string, names ...string) bool {
		return o.codecs[medium] == nil ||
			slices.ContainsFunc(names, func(n string) bool { return slices.Contains(o.codecs[medium], n) })
	}
	if !has("video", "vp8", "h264") || !has("audio", "opus") {
		return fail(http.StatusNotAcceptable, "no common codec: this server takes VP8, H.264 and Opus")
	}

	return nil
}

// plays checks that a viewer can play a medium, if it asks for it at all.
func (o *offer) plays(medium, mimeType string) error {
	_, name, _ := strings.Cut(strings.ToLower(mimeType), "/")
	if c := o.codecs[medium]; c != nil && !slices.Contains(c, name) {
		return fail(http.StatusNotAcceptable, "the %s is %s, which is not in the offer", medium, name)
	}

	return nil
}
