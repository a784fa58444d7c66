// SPDX-License-Identifier: MIT

// Package webrtcv5 runs the estimator in a call of webrtc v5, whose API is
// compatible where the estimator touches it. It has tests alone, and a module
// of its own, so that nobody else depends on a release candidate.
package webrtcv5
