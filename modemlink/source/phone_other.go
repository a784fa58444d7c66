// SPDX-License-Identifier: MIT

//go:build !linux

package source

import "fmt"

func openPhone(Config) (opener, error) {
	return nil, fmt.Errorf("source: diag is %w: it is for phones. For a modem at this computer use serial:DEV, "+
		"for one behind a bridge tcp:ADDR", ErrUnavailable)
}
