// SPDX-License-Identifier: MIT

// Package e2e holds the tests that look at the project as a whole; it exports
// nothing. The folders below it are the means: the simulated radio (cell, and
// cell/live in real time), the loop in virtual time (sim) and the benchmark
// harness (bench).
//
//	arch_test.go     which package may import which, what the pure ones may
//	                 not touch, what may not reach the phone
//	words_test.go    package comments, licence lines, paths of one machine
//	planted_test.go  a planted violation for every rule of the two above
//
// The arrows point one way, and the map in arch_test.go is the one in
// README.md:
//
//	phone                               sender
//	source ─▶ ratio ─▶ modemlink ═══▶ modemlink ─▶ gbr ◀─ interceptor ◀─ app
//	  ▲         │        (gRPC)                  ╱   ╲
//	diag ◀──────┘                              gcc   qoe
//
// Everything here runs in one process and reads the tree with go/parser: a
// test that asks the go command is cached by "go test", and keeps passing after
// the violation.
package e2e
