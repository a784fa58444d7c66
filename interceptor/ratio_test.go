// SPDX-License-Identifier: MIT

//go:build !race && !386 && !arm

package interceptor

// minCPURatio is how many times less than Pion's estimator a packet costs.
const minCPURatio = 3
