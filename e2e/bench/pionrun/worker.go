// SPDX-License-Identifier: MIT

package pionrun

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"testing"
)

const (
	// workerEnv makes a process a worker.
	workerEnv = "GBRCC_PION_WORKER"
	// greeting is a worker's first line: whatever else the program might
	// print, it is not that.
	greeting = "gbrcc pion worker\n"
)

// IsWorker tells whether this process was started as a worker. Its main (a test
// binary's TestMain) must then call Main before anything else.
func IsWorker() bool { return os.Getenv(workerEnv) != "" }

// Main is a worker: it reads jobs from standard input, a line each, and writes
// the replies to standard output. It ends the process when the input ends.
//
// A bubble of virtual time wants a *testing.T, and only package testing makes
// one. testing.Main is the way in that is kept for programs which are not built
// by "go test" (RunTests runs nothing there: its list of CPU counts is empty
// before a Main has read the flags). It parses the command line, so that is
// emptied, and it prints, so standard output becomes standard error.
func Main() {
	// An interrupt is for the parent, which has its runs stopped.
	signal.Ignore(os.Interrupt)
	replies := os.Stdout
	os.Stdout = os.Stderr
	os.Args = os.Args[:1]
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "worker", F: func(t *testing.T) {
		if err := serve(t, os.Stdin, replies); err != nil {
			t.Error(err)
		}
	}}}, nil, nil)
}

func serve(t *testing.T, in io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, greeting); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // half a line is of a parent that is no more
		}
		if err != nil {
			return err
		}
		b, err := json.Marshal(answer(t, line))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
}

// answer has the run that a line asks for.
func answer(t *testing.T, line []byte) wireReply {
	j, err := decode(line)
	if err != nil {
		return wireReply{Error: err.Error()}
	}
	r := wireReply{Error: "pionrun: the run ended early"}
	t.Run(fmt.Sprintf("%s/%s/%d", j.Scenario.Name, j.CC, j.Seed), func(t *testing.T) {
		reply, err := Run(t, j)
		r = wireReply{Reply: reply}
		if err != nil {
			r.Error = err.Error()
		}
	})

	return r
}
