// SPDX-License-Identifier: MIT

package sim

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/media"
)

func applimitedScenarios() []Scenario {
	return []Scenario{
		scenario("applimited-1", "the content needs 1 Mbit/s on a radio of 6 Mbit/s", constant(6*mbit), source(media.Config{CapBps: 1 * mbit})),
		// The estimate of a sender that does not use it drifts slowly.
		scenario("applimited-2", "the content needs 2 Mbit/s on a radio of 3 Mbit/s, for 120 s", constant(3*mbit), source(media.Config{CapBps: 2 * mbit}), atLeast(120*second)),
		scenario("applimited-step", "the content needs 1.5 Mbit/s; the radio falls from 6 to 1 Mbit/s at 25 s, back at 40 s", source(media.Config{CapBps: 1500 * kbit}),
			steps(hold(6*mbit, 25), hold(1*mbit, 15), hold(6*mbit, 20))),
		scenario("applimited-scenes", "scenes of a few seconds that need 0.9 to 3 Mbit/s each, on a radio of 6 Mbit/s", constant(6*mbit),
			source(media.Config{Kind: media.AppLimited, CapBps: 3 * mbit})),
		scenario("applimited-screen", "a shared screen whose pages change every 5 s, on a radio of 4 Mbit/s", constant(4*mbit), source(media.Config{Kind: media.ScreenShare})),
		scenario("applimited-mute", "a camera that is off from 20 s to 35 s, on a radio of 6 Mbit/s", constant(6*mbit),
			source(media.Config{Kind: media.Mute, Muted: []media.Window{{From: 20 * second, To: 35 * second}}})),
		scenario("applimited-mute-step", "the same; while it is off the radio falls to 1.5 Mbit/s", steps(hold(6*mbit, 27), hold(1500*kbit, 33)),
			source(media.Config{Kind: media.Mute, Muted: []media.Window{{From: 20 * second, To: 35 * second}}})),
		scenario("applimited-simulcast", "three simulcast layers, 3.15 Mbit/s in all; the radio falls from 5 to 1 Mbit/s at 25 s, back at 40 s",
			steps(hold(5*mbit, 25), hold(1*mbit, 15), hold(5*mbit, 20)), source(media.Config{Kind: media.Simulcast})),
		scenario("applimited-audio", "audio of 32 kbit/s beside the video, on a radio of 3 Mbit/s", constant(3*mbit), withAudio(media.AudioConfig{})),
		scenario("applimited-audio-dtx", "audio of 32 kbit/s that leaves pauses out, beside video of 0.5 Mbit/s, on a radio of 3 Mbit/s", constant(3*mbit),
			source(media.Config{CapBps: 500 * kbit}), withAudio(media.AudioConfig{DTX: true, Interval: 20 * time.Millisecond})),
		scenario("applimited-60fps", "60 frames a second on a radio of 6 Mbit/s", constant(6*mbit), source(media.Config{FPS: 60})),
	}
}

func withAudio(a media.AudioConfig) change { return func(s *Scenario) { s.Audio = &a } }

// source is another one, with the usual noise.
func source(c media.Config) change {
	return filming(func(s *media.Config) {
		c.Noise = s.Noise
		*s = c
	})
}
