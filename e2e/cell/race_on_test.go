// SPDX-License-Identifier: MIT

//go:build race

package cell

// raceEnabled: under the race detector append allocates where it else does not.
const raceEnabled = true
