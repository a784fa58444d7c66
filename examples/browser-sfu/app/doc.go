// SPDX-License-Identifier: MIT

// Package app is the program of examples/browser-sfu, and of the module beside it
// that sends to LiveKit.
//
//	run.go      Main             way.go       what lies between publisher and viewers
//	options.go  flags            cellular.go  the emulated phone, or a real one
//	site.go     a server         pages.go     its pages, in pages/
//	notice.go   what is told who has not asked for the log
//	module.go   -sfu livekit: Module, and how its program is built and run
package app
