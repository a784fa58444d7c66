// SPDX-License-Identifier: MIT

// Command replay turns modem captures and recordings into GBR samples, shows
// what is in them and what was not understood, and plots them. README.md has
// examples.
//
//	FILE --gunzip--> capture ----> diag.Decoder --> ratio.Assembler --+
//	                 recording (source.Writer) ----------------------+--> batch --> summary, -json, -plot
//	                 event log (interceptor.EventLog) ---------------+
//
// Files: options.go flags, run.go the program; input.go what a file is; batch.go
// what is read from it; capture.go, recording.go and eventlog.go the three
// kinds, lines.go what the latter two share, timeline.go the clock of captures,
// timers.go T by its sources; facts.go counts, summary.go and stats.go print
// them; samples.go -json, records.go -records, plot.go and columns.go -plot,
// decisions.go -decisions; output.go errors of writing.
//
// Time is that of the file: durations since its first packet or line.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Then a write to a closed pipe is an error that can be told from others.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
