// SPDX-License-Identifier: MIT

//go:build !race

package sfu

// manyPackets are those of a frame where many viewers get it: 3 Mbit/s, or what ten
// connections under the race detector leave time for.
const manyPackets = 7
