// SPDX-License-Identifier: MIT

//go:build race || 386 || arm

package interceptor

// minCPURatio is lower under the race detector, which costs plain code most, and
// where 64 bits take two registers.
const minCPURatio = 1
