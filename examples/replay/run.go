// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"syscall"
)

// run is the program; it returns the exit status. Every bad file costs one line
// on stderr and does not keep the others from being read.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "replay:", err)

		return 2
	}
	status, printed := 0, false
	out := bufio.NewWriterSize(stdout, 64<<10)
	for _, path := range o.files {
		if printed && o.mode != modeJSON && o.mode != modeRecords {
			fmt.Fprintln(out)
		}
		note, err := replay(o, path, out)
		if err == nil {
			printed = true
			err = out.Flush()
		}
		switch {
		case closed(err):
			return status // the reader has seen enough
		case err != nil:
			fmt.Fprintln(stderr, "replay:", err)
			status = 1
		case note != "":
			fmt.Fprintf(stderr, "replay: %s: %s\n", path, note)
		}
	}

	return status
}

// closed tells whether an error is that of a pipe whose reader has gone.
func closed(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// replay reads one file. note is what the user should know although nothing
// failed.
func replay(o options, path string, out io.Writer) (note string, err error) {
	if err := check(path); err != nil {
		return "", err
	}
	in, err := open(path)
	if err != nil {
		return "", err
	}
	defer in.close()
	f := newFacts(in)
	s := sink{batch: f.batch}
	var p *picture
	if o.plot != "" {
		if err := in.notTheSame(o.plot); err != nil {
			return "", err
		}
		p = newPicture()
		s.batch = func(b *batch) error {
			p.batch(b)

			return f.batch(b)
		}
	}
	var d *decisions
	name := ""
	if len(o.files) > 1 {
		name = filepath.Base(path)
	}
	switch o.mode {
	case modeJSON:
		j, err := newSamplePrinter(out, name)
		if err != nil {
			return "", err
		}
		next := s.batch
		s.batch = func(b *batch) error { return errors.Join(next(b), j.batch(b)) }
	case modeRecords:
		if in.kind != kindCapture {
			return "", in.errorf("%s has no modem records; -records needs a capture", in.what())
		}
		r := recordPrinter{w: out, file: filepath.Base(path)}
		s.packet = r.packet
	case modeDecisions:
		if in.kind != kindEvents {
			return "", in.errorf("%s has no inputs of an estimator; -decisions needs an event log", in.what())
		}
		if d, err = newDecisions(&o); err != nil {
			return "", err
		}
		s.event = d.event
	case modeSummary, modeStats:
	}
	if err := in.read(f, &s); err != nil {
		return "", err
	}
	switch o.mode {
	case modeSummary:
		f.summary(out)
	case modeStats:
		f.printStats(out)
	case modeJSON:
		if f.ratios.n()+f.idle() == 0 {
			note = "no sample: " + f.whyNone()
		}
	case modeDecisions:
		if err := d.finish(); err != nil {
			return "", in.errorf("%w", err)
		}
		d.print(out, f)
	case modeRecords:
	}
	if p != nil {
		if err := p.save(o.plot, f); err != nil {
			return "", err
		}
	}

	return note, nil
}
