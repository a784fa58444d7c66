// SPDX-License-Identifier: MIT

package main

import (
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

const (
	// videoClock and audioClock are RTP's, RFC 7741 4.1 and RFC 7587 4.1.
	videoClock = 90_000
	audioClock = 48_000
	// reportEvery is how often viewers hear of the two clocks. A browser plays sound
	// and pictures in step after two reports.
	reportEvery = 500 * time.Millisecond
)

// report tells all viewers when what they see and hear was captured: without it a
// browser would play both as they come, and pictures come later than sound.
func (v *viewers) report() {
	defer close(v.ended)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-v.end:
			return
		case now := <-tick.C:
			v.mu.Lock()
			for pc, s := range v.pcs {
				if !s.start.IsZero() && pc.ConnectionState() == webrtc.PeerConnectionStateConnected {
					_ = pc.WriteRTCP(senderReports(pc, s.start, now)) // a viewer that is gone
				}
			}
			v.mu.Unlock()
		}
	}
}

// senderReports are of all tracks of a connection, whose timestamps are 0 at start.
// They count nothing: a browser counts what arrives.
func senderReports(pc *webrtc.PeerConnection, start, now time.Time) []rtcp.Packet {
	var reports []rtcp.Packet
	for _, s := range pc.GetSenders() {
		track := s.Track()
		if track == nil {
			continue
		}
		clock := int64(videoClock)
		if track.Kind() == webrtc.RTPCodecTypeAudio {
			clock = audioClock
		}
		at := uint32(int64(now.Sub(start)) * clock / int64(time.Second))
		for _, e := range s.GetParameters().Encodings {
			reports = append(reports, &rtcp.SenderReport{
				SSRC: uint32(e.SSRC), NTPTime: ntp(now), RTPTime: at,
			})
		}
	}

	return reports
}

// ntp is a time as seconds since 1900 and their fraction, RFC 3550 section 4.
func ntp(t time.Time) uint64 {
	const from1900 = 2_208_988_800
	seconds, fraction := uint64(t.Unix()+from1900), uint64(t.Nanosecond())

	return seconds<<32 | fraction<<32/1_000_000_000
}
