// SPDX-License-Identifier: MIT

package pionrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/logging"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/e2e/media"
	"github.com/gbrcc/gbrcc/e2e/peer"
)

const (
	// replayWindow is more packets than are sent while one is asked for again.
	replayWindow = 4096
	// videoClock is RTP's for video. RFC 3551 5.
	videoClock = 90000
	// windDown is how long Pion's timers and transports take to end.
	windDown = 5 * time.Second
	// dialTimeout is virtual; connecting takes a fraction of a second.
	dialTimeout = 20 * time.Second
)

// seedPhase is the stream of random numbers of this package, beside the
// cell's and the source's.
const seedPhase = 0x9107

// Run has one run in virtual time. t is only what a bubble must be given; what
// goes wrong is in the error, but for goroutines that are left over: those end
// the process.
func Run(t *testing.T, j Job) (Reply, error) {
	if err := j.Check(); err != nil {
		return Reply{}, err
	}
	var reply Reply
	var err error
	synctest.Test(t, func(*testing.T) { reply, err = inBubble(j) })

	return reply, err
}

// call is a run under way.
type call struct {
	job       Job
	meter     *meter
	network   *network
	estimator *estimator
	began     chan error // the media has begun, or could not
}

func inBubble(j Job) (reply Reply, err error) {
	c := &call{job: j, meter: newMeter(), began: make(chan error, 1)}
	c.network = newNetwork(c.meter)
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled, ScopeLevels: map[string]logging.LogLevel{}}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	p, err := peer.Dial(ctx, peer.Config{
		Sender: c.network.near, Receiver: c.network.far, FeedbackEvery: j.Scenario.FeedbackEvery,
		ReplayWindow: replayWindow, Received: func(p *rtp.Packet) { c.meter.received(p.SequenceNumber) },
		LoggerFactory: quiet, Source: c.source,
		Estimator: func() (cc.BandwidthEstimator, error) {
			e, err := newEstimator(j.CC, j.Scenario.Limits, j.Params, c.meter, quiet)
			c.estimator = e

			return e, err
		},
	})
	if err == nil {
		if err = <-c.began; err == nil {
			time.Sleep(time.Until(c.meter.end()))
			reply = c.meter.finish()
			time.Sleep(time.Millisecond) // what has arrived now is read
			err = c.meter.unread()
		}
		err = errors.Join(err, p.Close())
	}
	// Whatever happens, nothing may be left in the bubble.
	err = errors.Join(err, c.network.end())
	time.Sleep(windDown)
	synctest.Wait()
	if err != nil {
		return reply, fmt.Errorf("pionrun: %w", err)
	}

	return reply, nil
}

// begin puts the scenario in: from now on it is its run.
func (c *call) begin(ctx context.Context) error {
	// Feedback leaves every so often since the peers connected, which takes
	// always the same time: without this its phase would be one for all seeds.
	rng := rand.New(rand.NewPCG(c.job.Seed, seedPhase))
	select {
	case <-time.After(time.Duration(rng.Int64N(int64(c.job.Scenario.FeedbackEvery)))):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.meter.begin(c.job, time.Now(), c.estimator.hear); err != nil {
		return err
	}
	c.network.begin()

	return nil
}

// source is the scenario's: the same frames, noise and rule of skipping as in
// package sim. It reads the target as old as the encoder is slow.
func (c *call) source(ctx context.Context, _ cc.BandwidthEstimator, write func(*rtp.Packet) error) {
	err := c.begin(ctx)
	c.began <- err
	if err != nil {
		return
	}
	m, lag := c.meter, cmp.Or(c.job.Scenario.Source.Lag, media.DefaultLag)
	m.rates(m.start, c.estimator.rates())
	sleep := func(until time.Time) bool {
		select {
		case <-time.After(time.Until(until)):
			return true
		case <-ctx.Done():
			return false
		}
	}
	seq := uint16(0)
	for {
		due := m.nextCapture()
		if ask := due.Add(-lag); ask.After(m.start) {
			if !sleep(ask) {
				return
			}
			m.rates(time.Now(), c.estimator.rates())
		}
		if !sleep(due) {
			return
		}
		now := time.Now()
		packets := m.capture(now, c.estimator.pacerDelay())
		for i, p := range packets {
			m.queue(now, seq, p)
			// An error is the connection going down, of which ctx tells.
			_ = write(&rtp.Packet{
				Header: rtp.Header{
					Version: 2, Marker: i == len(packets)-1, SequenceNumber: seq,
					Timestamp: uint32(now.Sub(m.start).Seconds() * videoClock),
				},
				Payload: make([]byte, p.Bytes),
			})
			seq++
		}
	}
}
