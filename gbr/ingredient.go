// SPDX-License-Identifier: MIT

package gbr

import (
	"fmt"
	"strings"
)

// ingredientNames are in the order of the constants.
func ingredientNames() []string {
	return []string{"correction", "hold-back", "path", "growth", "bursts", "quick-fall", "prediction", "cross-check", "smoothing", "caution", "outages", "skipping"}
}

// Ingredients lists all parts of Default that can be left out, one by one.
func Ingredients() []Ingredient {
	var all []Ingredient
	for n := range ingredientNames() {
		all = append(all, 1<<n)
	}

	return all
}

// String names one, or several with a plus between them.
func (i Ingredient) String() string {
	if i == 0 {
		return "none"
	}
	var names []string
	for n, name := range ingredientNames() {
		if one := Ingredient(1) << n; i.Has(one) {
			names = append(names, name)
			i &^= one
		}
	}
	if i != 0 {
		names = append(names, fmt.Sprintf("ingredient(%d)", uint16(i)))
	}

	return strings.Join(names, "+")
}

// IngredientByName finds what String has named.
func IngredientByName(name string) (Ingredient, error) {
	if name == "none" {
		return 0, nil
	}
	var found Ingredient
	for part := range strings.SplitSeq(name, "+") {
		some := false
		for n, known := range ingredientNames() {
			if part == known {
				found, some = found|1<<n, true
			}
		}
		if !some {
			return 0, fmt.Errorf("%w: unknown ingredient %q, choose from none, %s", ErrConfig, part, strings.Join(ingredientNames(), ", "))
		}
	}

	return found, nil
}
