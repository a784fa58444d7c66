// SPDX-License-Identifier: MIT

// Package command is what the command lines of the examples have in common.
//
//	files.go  files that flags name: traces to read, results to write
//	url.go    where a browser finds a server
package command
