// SPDX-License-Identifier: MIT

// Package devices puts pion/mediadevices behind the interfaces of e2e/video:
//
//	encoder.go  its encoders
//	camera.go   its cameras
//
// All but this text has the build tag codec, since parts of mediadevices are C.
package devices
