// SPDX-License-Identifier: MIT

package main

// outputError is an error of what is written, not of the file that is read.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

func output(err error) error {
	if err == nil {
		return nil
	}

	return &outputError{err}
}
