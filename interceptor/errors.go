// SPDX-License-Identifier: MIT

package interceptor

import (
	"errors"
	"fmt"
	"io"
)

var (
	// ErrClosed is returned by a stream's Write after Close. It is an
	// [io.ErrClosedPipe], which Pion applications check for.
	ErrClosed = fmt.Errorf("interceptor: estimator is closed: %w", io.ErrClosedPipe)
	// ErrOption is wrapped by the error of an option that is wrong by itself; what
	// does not fit the core wraps [gbr.ErrConfig].
	ErrOption = errors.New("interceptor: bad option")

	errNilHeader = errors.New("interceptor: RTP header is nil")

	// errMalformed is wrapped by what is wrong with a feedback packet.
	errMalformed = errors.New("interceptor: malformed feedback")
)
