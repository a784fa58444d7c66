// SPDX-License-Identifier: MIT

//go:build android

package source

import "fmt"

const simHelp = `sim         an emulated modem                (not in this build)`

func openSim(Config) (Source, error) {
	return nil, fmt.Errorf("source: sim is %w: phones have a real modem. Run the agent on a computer for an emulated one", ErrUnavailable)
}
