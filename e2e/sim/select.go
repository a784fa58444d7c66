// SPDX-License-Identifier: MIT

package sim

import (
	"fmt"
	glob "path"
	"slices"
	"strings"
)

// Select finds built-in and held-out scenarios, see SelectFrom.
func Select(list string) ([]Scenario, error) {
	return SelectFrom(append(Catalogue(), Random()...), list)
}

// SelectFrom finds scenarios by a comma-separated list of names, classes,
// patterns of names with * and ? (as cell-lte-*), and "all", in the order of the
// list. Case does not matter, and what is named twice comes once. The error, one
// line, says what is unknown.
//
// Held-out scenarios come only to who asks for them: "random" and their classes
// are the first few numbers, and only patterns that begin so are theirs.
func SelectFrom(all []Scenario, list string) ([]Scenario, error) {
	var picked []Scenario
	for want := range strings.SplitSeq(list, ",") {
		want = strings.ToLower(strings.TrimSpace(want))
		found := false
		for _, s := range all {
			if !s.answers(want) {
				continue
			}
			found = true
			if !slices.ContainsFunc(picked, func(p Scenario) bool { return p.Name == s.Name }) {
				picked = append(picked, s)
			}
		}
		if !found {
			return nil, fmt.Errorf("sim: unknown scenario %q, choose from all, a class (%s), a name of the list or a pattern such as step-*%s",
				want, strings.Join(classNames(), " "), hint(all, want))
		}
	}

	return picked, nil
}

// answers tells whether a word in lower case means the scenario.
func (s Scenario) answers(want string) bool {
	name := strings.ToLower(s.Name)
	if s.Number > 0 {
		ok, err := glob.Match(want, name)
		few := s.Number <= RandomFew && (want == "random" || want == s.Class)

		return few || strings.HasPrefix(want, "random-") && ok && err == nil
	}
	if want == "all" || want == s.Class || want == name {
		return true
	}
	ok, err := glob.Match(want, name)

	return ok && err == nil
}

func classNames() []string {
	var names []string
	for _, c := range append(Classes(), RandomClasses()...) {
		names = append(names, c.Name)
	}

	return names
}

// hint names up to three scenarios that contain the word, or begin as it does.
func hint(all []Scenario, want string) string {
	var near []string
	for _, s := range all {
		name := strings.ToLower(s.Name)
		if len(want) > 2 && (strings.Contains(name, want) || strings.HasPrefix(name, want[:3])) {
			near = append(near, s.Name)
		}
	}
	if len(near) == 0 {
		return ""
	}

	return "; did you mean " + strings.Join(near[:min(len(near), 3)], ", ") + "?"
}
