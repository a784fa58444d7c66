// SPDX-License-Identifier: MIT

package qoe

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnknownPreset is wrapped by [PresetByName].
var ErrUnknownPreset = errors.New("unknown preset")

// Preset is the set of numbers that suits one use of video. They are starting
// points with a known direction, not optima: a path with other timers or other
// users may want others.
type Preset struct {
	// Name is what [PresetByName] finds, Doc one line for help texts.
	Name, Doc string
	// Smoother is how the encoder's rate follows the estimate.
	Smoother SmootherConfig
	// Beta is the steepness of the rate gain per unit of grant ratio. A
	// larger one is flat around the target and sharp at the edges: calmer,
	// with more drift of the queue.
	Beta float64
	// TargetDelay is the queueing delay in the phone to steer to. A short one
	// is felt less and leaves the scheduler without a queue to serve when
	// frames are small; a long one uses all of the link.
	TargetDelay time.Duration
	// ZoneLow and ZoneHigh are the borders of the neutral zone in multiples
	// of the target ratio: inside, the rate is left alone. The ratio is the
	// inverse of the delay, so the zone is TargetDelay/ZoneHigh ..
	// TargetDelay/ZoneLow. The width must stay above the step of a buffer
	// status report, 17 % with the LTE table (TS 36.321 6.1.3.1).
	ZoneLow, ZoneHigh float64
}

// Presets returns all presets, the default one first.
func Presets() []Preset {
	return []Preset{
		{
			Name: "call",
			Doc:  "conversation: 200 ms from lens to screen count as much as the picture",
			Smoother: SmootherConfig{
				// Half a second of rise averages over some 100 ratio samples
				// and 15 frames: slower wastes rate after each dip of a
				// fading channel, faster lets every fade into the picture.
				Rise: 500 * time.Millisecond,
				// Fall 0: a frame above the rate is a queue in the phone.
				// After a cut, 3 % more are not worth a new encoder target.
				DeadBand: 0.03,
				// Below 100 kbit/s video in a call is better switched off.
				FloorBps: 100_000,
			},
			// Between the steep and the flat end: the queue neither swings
			// with every report nor drifts across the whole zone.
			Beta: 25,
			// Four reports of 5 ms, so that one coarse report does not leave
			// the zone of 10..25 ms. A frame time of queue or more would add
			// more delay than the rate it saves is worth in a conversation.
			TargetDelay: 20 * time.Millisecond,
			ZoneLow:     0.8,
			ZoneHigh:    2.0,
		},
		{
			Name: "broadcast",
			Doc:  "one-way live video: steady quality, the viewers are seconds behind anyway",
			Smoother: SmootherConfig{
				// Viewers see quality that pumps, not quality that comes back
				// two seconds later.
				Rise: 2 * time.Second,
				// One frame at 30 fps: the receiver's buffer absorbs it, and
				// a dip of one sample does not reach the encoder in full.
				Fall:     33 * time.Millisecond,
				DeadBand: 0.08,
				// Below this nobody keeps watching; the buffer of seconds
				// bridges what the link cannot carry for a moment.
				FloorBps: 200_000,
			},
			// Flat: the rate is left alone over most of the zone, at the price
			// of a queue that drifts by tens of milliseconds.
			Beta: 50,
			// More queue: a dip in the frame sizes does not leave grants
			// unused.
			TargetDelay: 30 * time.Millisecond,
			// Wide, 12..43 ms: fewer changes of rate.
			ZoneLow:  0.7,
			ZoneHigh: 2.5,
		},
		{
			Name: "teleop",
			Doc:  "remote driving and control: latency first, quality second",
			Smoother: SmootherConfig{
				// The operator steers by the newest frame; a picture that
				// changes its sharpness does no harm.
				Rise:     250 * time.Millisecond,
				DeadBand: 0.02,
				// A coarse picture in time is better than a fine one late.
				FloorBps: 50_000,
			},
			// Steep in the middle: reacts before the zone is left.
			Beta: 10,
			// Two reports of 5 ms, the least that a ratio can resolve. Costs
			// rate: the scheduler sees an empty queue now and then.
			TargetDelay: 10 * time.Millisecond,
			// Narrow, 6..12.5 ms, yet its ends are a factor of 2 apart: several steps of
			// a report, so that noise alone seldom leaves it.
			ZoneLow:  0.8,
			ZoneHigh: 1.6,
		},
	}
}

// PresetByName finds a preset. The error wraps [ErrUnknownPreset] and lists
// the names there are.
func PresetByName(name string) (Preset, error) {
	all := Presets()
	names := make([]string, len(all))
	for i, p := range all {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}

	return Preset{}, fmt.Errorf("qoe: %w %q, have %s", ErrUnknownPreset, name, strings.Join(names, ", "))
}
