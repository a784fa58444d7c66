// SPDX-License-Identifier: MIT

package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
)

// ReadTrace reads the capacity of a cell from FILE, FILE#nr or FILE#lte. note says what
// was left out, if something was. Errors name neither flag nor file.
func ReadTrace(path string) (trace cell.Trace, note string, err error) {
	file, leg := cell.SplitLeg(path)
	data, err := os.ReadFile(file)
	if err != nil {
		return trace, "", Plain(err)
	}
	data, dropped := cell.DropNoLimit(data)
	trace, err = cell.ParseTraceLeg(filepath.Base(path), data, leg)
	if err != nil {
		return trace, "", err
	}
	if _, err := cell.New(cell.Config{Start: time.Now(), Capacity: trace}); err != nil { // knows what a cell can carry
		return trace, "", err
	}
	if dropped > 0 {
		note = fmt.Sprintf("%d steps above 1 Gbit/s mean no limit and are left out", dropped)
	}

	return trace, note, nil
}

// CheckOutput makes sure that WriteJSON can write a file. No file is "", and fine.
func CheckOutput(path string) error {
	if path == "" {
		return nil
	}
	// Not a folder; and the rename must not replace a link such as /dev/stdout.
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", path)
	}
	// The only way to know that a file can be made is to make one.
	probe, err := tempBeside(path)
	if err != nil {
		return err
	}

	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// WriteJSON writes a value, and leaves no partial file behind.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := tempBeside(path)
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}

	return err
}

// tempBeside makes a file in the folder of path, to become path by a rename.
func tempBeside(path string) (*os.File, error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".result-*.json")
	if err != nil {
		return nil, fmt.Errorf("cannot make a file in %s: %w", dir, Plain(err))
	}

	return f, nil
}

// Plain leaves out of a file's error what its user did not type.
func Plain(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}

	return err
}
