// SPDX-License-Identifier: MIT

package live

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// tap is one reader of the diagnostic port.
type tap struct {
	link *Link
	more chan struct{} // holds a token while there may be something to read
	gone chan struct{} // closed by Close

	mu     sync.Mutex
	data   []byte
	off    int
	ended  bool
	closed bool
}

// Diag returns a reader of the diagnostic port, an HDLC byte stream, from now
// on. Each call makes another reader that gets everything. Whole packets are
// dropped, and counted in Stats, while a reader has DiagBuffer bytes waiting.
// Read blocks; it returns io.EOF after Close of the link and io.ErrClosedPipe
// after Close of the reader.
func (l *Link) Diag() io.ReadCloser {
	t := &tap{link: l, more: make(chan struct{}, 1), gone: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		t.ended = true
		return t
	}
	l.taps = append(l.taps, t)
	return t
}

// publish is called with the link's lock held.
func (l *Link) publish(chunk []byte) {
	l.counters.diagChunks++
	l.counters.diagBytes += int64(len(chunk))
	for _, t := range l.taps {
		if !t.put(chunk, l.cfg.DiagBuffer) {
			l.counters.diagDropped++
		}
	}
}

// put says whether there was room.
func (t *tap) put(chunk []byte, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.data)-t.off+len(chunk) > limit {
		return false
	}
	if t.off == len(t.data) {
		t.data, t.off = t.data[:0], 0
	} else if len(t.data)+len(chunk) > cap(t.data) {
		n := copy(t.data, t.data[t.off:])
		t.data, t.off = t.data[:n], 0
	}
	t.data = append(t.data, chunk...)
	t.signal()
	return true
}

func (t *tap) signal() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// end says that nothing more comes.
func (t *tap) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.signal()
}

func (t *tap) Read(p []byte) (int, error) {
	for {
		if n, err := t.take(p); !errors.Is(err, errNothing) {
			return n, err
		}
		select {
		case <-t.more:
		case <-t.gone:
		}
	}
}

// errNothing is take's answer when there is nothing yet.
var errNothing = errors.New("live: nothing to read yet")

// take reads without blocking.
func (t *tap) take(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return 0, io.ErrClosedPipe
	case len(p) == 0:
		return 0, nil
	case t.off < len(t.data):
		n := copy(p, t.data[t.off:])
		t.off += n
		if t.off < len(t.data) {
			t.signal() // for another goroutine that reads
		}
		return n, nil
	case t.ended:
		t.signal()
		return 0, io.EOF
	}
	return 0, errNothing
}

func (t *tap) Close() error {
	t.link.mu.Lock()
	t.link.taps = slices.DeleteFunc(t.link.taps, func(o *tap) bool { return o == t })
	t.link.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.closed = true
		close(t.gone)
	}
	return nil
}
