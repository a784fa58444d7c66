// SPDX-License-Identifier: MIT

//go:build race

package e2e

// raceEnabled: calls take a dozen times as long.
const raceEnabled = true
