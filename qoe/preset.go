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
	// Beta is the steepness of the seed law's gain per unit of grant ratio. A
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
	// Standing is the queue in the phone, as time, that may be left over when
	// the next frame comes; Drain is the time of queue above that for which an
	// encoder that follows a rate gives up all of it. The longer, the calmer.
	Standing, Drain time.Duration
	// FrameStanding is Standing for an encoder that obeys frame budgets, which
	// needs less.
	FrameStanding time.Duration
}

// Presets returns all presets, the default one first.
func Presets() []Preset {
	return []Preset{
		{
			Name: "default",
			Doc:  "all of the link at the least delay: the encoder follows the radio, some eight moves a second",
			Smoother: SmootherConfig{
				// Frames vary by 15 % by themselves, and a smaller move is lost in
				// them. A wider band leaves rate unused after each rise.
				Band: 0.2,
				// One report: after a fall the rate is back with the radio.
				Window: 5 * time.Millisecond,
				// Less than a frame's own noise is not seen, and it takes off the
				// queue what that has put on it.
				Free: 0.05,
				// Within the band, on a link that is steady, nothing else makes
				// up what a fall was too deep by.
				Creep: 0.05,
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
			// The grant loop is 8 ms long: a queue that is never empty does not
			// wait for a scheduling request either.
			Standing:      10 * time.Millisecond,
			Drain:         60 * time.Millisecond,
			FrameStanding: 7 * time.Millisecond,
		},
		{
			Name: "call",
			Doc:  "conversation with a calm picture: at most two moves of the encoder a second, for a tenth of the rate",
			Smoother: SmootherConfig{
				Band:   0.5,
				Window: 200 * time.Millisecond,
				Free:   0.05,
				Creep:  0.1,
			},
			Beta:        25,
			TargetDelay: 20 * time.Millisecond,
			ZoneLow:     0.8,
			ZoneHigh:    2.0,
			// A frame of queue is not worth a move.
			Standing:      30 * time.Millisecond,
			Drain:         200 * time.Millisecond,
			FrameStanding: 7 * time.Millisecond,
		},
		{
			Name: "broadcast",
			Doc:  "one-way live video: steady quality, the viewers are seconds behind anyway",
			Smoother: SmootherConfig{
				Band: 0.5,
				// Viewers see quality that pumps, not quality that comes back
				// half a second later.
				Window: 500 * time.Millisecond,
				Free:   0.05,
				Creep:  0.05,
			},
			// Flat: the rate is left alone over most of the zone, at the price
			// of a queue that drifts by tens of milliseconds.
			Beta: 50,
			// More queue: a dip in the frame sizes does not leave grants
			// unused.
			TargetDelay: 30 * time.Millisecond,
			// Wide, 12..43 ms: fewer changes of rate.
			ZoneLow:       0.7,
			ZoneHigh:      2.5,
			Standing:      50 * time.Millisecond,
			Drain:         300 * time.Millisecond,
			FrameStanding: 20 * time.Millisecond,
		},
		{
			Name: "teleop",
			Doc:  "remote driving and control: latency first, quality second",
			Smoother: SmootherConfig{
				// The operator steers by the newest frame; a picture that
				// changes its sharpness does no harm.
				Band:   0.2,
				Window: 2 * time.Millisecond,
				Free:   0.05,
				Creep:  0.3,
			},
			// Steep in the middle: reacts before the zone is left.
			Beta: 10,
			// Two reports of 5 ms, the least that a ratio can resolve. Costs
			// rate: the scheduler sees an empty queue now and then.
			TargetDelay: 10 * time.Millisecond,
			// Narrow, 6..12.5 ms, yet its ends are a factor of 2 apart: several steps of
			// a report, so that noise alone seldom leaves it.
			ZoneLow:       0.8,
			ZoneHigh:      1.6,
			Standing:      3 * time.Millisecond,
			Drain:         40 * time.Millisecond,
			FrameStanding: 2 * time.Millisecond,
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
