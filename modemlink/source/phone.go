// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// drainEvery is how often the modem is told to give away what it has buffered.
// Without, records come in bursts of some 380 ms.
//
// Deviation: tools for research drain every 100 µs, which is 10,000 wake-ups a
// second on a phone's battery; every millisecond costs half a millisecond of age
// on average.
const drainEvery = time.Millisecond

// drainer calls drain every drainEvery until it is stopped, or drain fails.
type drainer struct {
	once sync.Once
	stop chan struct{}
	done chan struct{}
}

func startDrainer(log *slog.Logger, drain func() error) *drainer {
	d := &drainer{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		t := time.NewTicker(drainEvery)
		defer t.Stop()
		for {
			select {
			case <-d.stop:
				return
			case <-t.C:
				if err := drain(); err != nil {
					log.Info("source: the modem's buffer cannot be drained, so records come in bursts", "err", err)

					return
				}
			}
		}
	}()

	return d
}

// close stops it. It does not wait: a drain under way may hang in the driver.
func (d *drainer) close() { d.once.Do(func() { close(d.stop) }) }

// phonePort opens the one of the two ports that a phone has: the device of
// older kernels, or the router that took its place from Linux 5.4 on.
func phonePort(device, router opener) opener {
	return func(ctx context.Context) (port, error) {
		p, deviceErr := device(ctx)
		if !errors.Is(deviceErr, ErrNoDevice) {
			return p, deviceErr
		}
		p, err := router(ctx)
		if !errors.Is(err, ErrNoDevice) {
			return p, err
		}

		return nil, fmt.Errorf("source: diag: %w: neither the device of older kernels nor a diag-router; "+
			"a Qualcomm modem and root are needed (%w; %w)", ErrNoDevice, deviceErr, err)
	}
}
