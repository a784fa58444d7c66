// SPDX-License-Identifier: MIT

//go:build race

package interceptor

// minCPURatio is lower under the race detector, which costs plain code most.
const minCPURatio = 1
