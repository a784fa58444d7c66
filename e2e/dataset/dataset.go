// SPDX-License-Identifier: MIT

// Package dataset finds the folder of real captures and traces, which is not
// part of the module: $GBRCC_DATA, else ../shared/data beside the module.
//
// Its functions only read and are safe for concurrent use.
package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Variables of the environment.
const (
	// EnvDir names the folder.
	EnvDir = "GBRCC_DATA"
	// EnvRequire, set to 1, makes a test fail that the folder is missing for.
	EnvRequire = "GBRCC_REQUIRE_DATA"
)

// ErrMissing is wrapped by errors that say where the folder was looked for.
var ErrMissing = errors.New("dataset: the folder of real data is missing")

// Dir is the folder. The error says where it was looked for and how to name
// another place.
func Dir() (string, error) {
	dir := os.Getenv(EnvDir)
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "..", "shared", "data")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: %s is no folder; set %s to the one you have", ErrMissing, dir, EnvDir)
	}

	return dir, nil
}

// TB is what File needs of a testing.TB.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// File is the path of a file in the folder. When it is not there the test is
// skipped, or fails with EnvRequire.
func File(tb TB, name ...string) string {
	tb.Helper()
	dir, err := Dir()
	path := filepath.Join(append([]string{dir}, name...)...)
	if err == nil {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
	case os.Getenv(EnvRequire) == "1":
		tb.Fatalf("test data is required: %v", err)
	default:
		tb.Skipf("test data is not there: %v", err)
	}

	return path
}

// moduleRoot is the nearest folder above with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("dataset: %w", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("dataset: %w", err)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("%w: not within a Go module; set %s", ErrMissing, EnvDir)
		}
		dir = up
	}
}
