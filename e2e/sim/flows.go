// SPDX-License-Identifier: MIT

package sim

import "fmt"

// addFlow adds another flow.
func (w *world) addFlow(n int, f Flow, first *phone, cc string, params Params) error {
	if f.CC == "" {
		f.CC = cc
	}
	if f.Name == "" {
		f.Name = fmt.Sprintf("%s-%d", f.CC, n)
	}
	p := first
	if f.Where == OwnRadio {
		config := w.sc.Cell
		if f.Cell != nil {
			config = *f.Cell
		}
		var err error
		if p, err = w.addPhone(config, w.seed+uint64(n)*1_000_003); err != nil {
			return err
		}
	}
	_, err := w.addCall(f, p, params)

	return err
}
