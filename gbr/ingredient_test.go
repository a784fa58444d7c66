// SPDX-License-Identifier: MIT

package gbr

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Every ingredient has a name that finds it, alone and in company.
func TestIngredientNames(t *testing.T) {
	all := Ingredient(0)
	for _, i := range Ingredients() {
		all |= i
		if got, err := IngredientByName(i.String()); err != nil || got != i {
			t.Errorf("%v: %v, %v", i, got, err)
		}
	}
	if got, err := IngredientByName(all.String()); err != nil || got != all {
		t.Errorf("%v: %v, %v", all, got, err)
	}
	if got, err := IngredientByName(Ingredient(0).String()); err != nil || got != 0 {
		t.Errorf("none: %v, %v", got, err)
	}
	for _, name := range []string{"", "salt", "path+", "path, growth"} {
		if _, err := IngredientByName(name); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "smoothing") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if got := (1<<15 | Correction).String(); got != "correction+ingredient(32768)" {
		t.Errorf("one that there is not: %s", got)
	}
	if Correction.String() != "correction" || PathLaw.String() != "path" || Smoothing.String() != "smoothing" {
		t.Errorf("%v, %v, %v", Correction, PathLaw, Smoothing)
	}
}

// A new constant needs a name.
func TestIngredientsAreAll(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		first, ok := g.Specs[0].(*ast.ValueSpec)
		if id, isID := first.Type.(*ast.Ident); ok && isID && id.Name == "Ingredient" {
			constants += len(g.Specs)
		}
	}
	if constants == 0 || constants != len(Ingredients()) {
		t.Errorf("%d constants, %d names", constants, len(Ingredients()))
	}
}
