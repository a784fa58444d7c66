// SPDX-License-Identifier: MIT

package qoe

import (
	"errors"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		if got, err := PresetByName(p.Name); err != nil || got != p {
			t.Errorf("PresetByName(%q) = %+v, %v", p.Name, got, err)
		}
		if p.Doc == "" || strings.Contains(p.Doc, "\n") {
			t.Errorf("%s: Doc is not one line: %q", p.Name, p.Doc)
		}
		if _, err := NewSmoother(p.Smoother); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if p.Beta < 5 || p.Beta > 100 || p.TargetDelay < 5*ms || p.TargetDelay > 50*ms {
			t.Errorf("%s: beta %v, target %v", p.Name, p.Beta, p.TargetDelay)
		}
		// Wider than one LTE report bin, and around the target.
		if p.ZoneLow >= 1 || p.ZoneHigh <= 1 || p.ZoneHigh/p.ZoneLow < 1.17 {
			t.Errorf("%s: zone %v..%v", p.Name, p.ZoneLow, p.ZoneHigh)
		}
	}
}

// The uses differ in the direction that their texts claim.
func TestPresetOrder(t *testing.T) {
	get := func(name string) Preset {
		p, err := PresetByName(name)
		if err != nil {
			t.Fatal(err)
		}

		return p
	}
	order := []Preset{get("teleop"), get("default"), get("call"), get("broadcast")}
	for i := range order[1:] {
		a, b := order[i], order[i+1]
		if a.TargetDelay > b.TargetDelay || a.Smoother.Band > b.Smoother.Band || a.Smoother.Window >= b.Smoother.Window ||
			a.Beta > b.Beta || a.ZoneHigh/a.ZoneLow > b.ZoneHigh/b.ZoneLow ||
			a.Standing >= b.Standing || a.Drain >= b.Drain || a.FrameStanding > b.FrameStanding {
			t.Errorf("%s is not the faster one of %+v and %+v", a.Name, a, b)
		}
	}
}

func TestUnknownPreset(t *testing.T) {
	_, err := PresetByName("Call")
	if !errors.Is(err, ErrUnknownPreset) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"qoe: ", `"Call"`, "call", "broadcast", "teleop"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}
