// SPDX-License-Identifier: MIT

// Package source is where an agent's telemetry comes from.
//
//	diag bytes --NewDiag--> diag.Decoder --> ratio.Assembler --+
//	recording  --File-----------------------------------------+--> emit(gbr.Telemetry)
//	sim        --Open("sim"), not on phones: an emulated cell --+
//
// Map: source.go the interface and Open; diag.go a modem's diagnostic byte
// stream; line.go the format of recordings, file.go their replay, writer.go
// their making; sim.go the emulated modem (nosim.go where it is left out).
//
// Units are in the names: _ms is milliseconds, _bytes bytes.
//
// A source is run once and from one goroutine; emit is called from the goroutine
// of Run.
package source
