// SPDX-License-Identifier: MIT

package pionrun

import (
	"time"

	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// heartbeat is how often a living agent says so.
const heartbeat = 100 * time.Millisecond

// telemetry is the agent on the phone and its link to the sender, as in
// package sim. A nil one hears nothing. Its goroutine works until stop.
type telemetry struct {
	delay     time.Duration
	push      func(gbr.Telemetry)
	meter     *meter
	assembler *ratio.Assembler
	deframer  diag.Deframer
	in        chan timedRecords
	stopped   chan struct{}
	done      chan struct{}
	queue     []timedRecords
	err       error
}

type timedRecords struct {
	at      time.Time
	records []diag.Record
}

func startTelemetry(delay time.Duration, extendedBSR bool, m *meter, push func(gbr.Telemetry)) (*telemetry, error) {
	a, err := ratio.New(ratio.Config{ExtendedBSR: extendedBSR})
	if err != nil {
		return nil, err
	}
	t := &telemetry{
		delay: delay, push: push, meter: m, assembler: a,
		in: make(chan timedRecords, inbox), stopped: make(chan struct{}), done: make(chan struct{}),
	}
	go t.loop()

	return t, nil
}

// read takes what the modem says; the slices are copied.
func (t *telemetry) read(out cell.Output) {
	if t == nil {
		return
	}
	for _, r := range out.Records {
		t.in <- timedRecords{r.At.Add(t.delay), []diag.Record{r.Record}}
	}
	for _, c := range out.Diag {
		recs, err := t.decode(c.Bytes)
		if err != nil && t.err == nil {
			t.err = err
		}
		if len(recs) > 0 {
			t.in <- timedRecords{c.At.Add(t.delay), recs}
		}
	}
}

func (t *telemetry) decode(b []byte) (recs []diag.Record, err error) {
	t.deframer.Write(b)
	for {
		f, err := t.deframer.Next()
		if err != nil {
			return recs, nil //nolint:nilerr // it wants more bytes
		}
		p, err := diag.ParseFrame(f)
		if err != nil {
			return recs, err
		}
		if recs, err = diag.ParseLog(p, recs); err != nil {
			return recs, err
		}
	}
}

func (t *telemetry) loop() {
	defer close(t.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	beat := time.Now()
	for {
		now := time.Now()
		t.turn(now)
		if !beat.After(now) {
			t.push(gbr.Telemetry{})
			beat = beat.Add(heartbeat)
		}
		next := beat
		if at := t.assembler.NextTimeout(); !at.IsZero() && at.Before(next) {
			next = at
		}
		if len(t.queue) > 0 && t.queue[0].at.Before(next) {
			next = t.queue[0].at
		}
		timer.Reset(max(next.Sub(now), time.Microsecond))
		select {
		case r := <-t.in:
			t.enqueue(r)
		case <-timer.C:
		case <-t.stopped:
			return
		}
	}
}

func (t *telemetry) enqueue(r timedRecords) {
	if n := len(t.queue); n > 0 && t.queue[n-1].at.Equal(r.at) {
		t.queue[n-1].records = append(t.queue[n-1].records, r.records...)

		return
	}
	t.queue = append(t.queue, r)
}

func (t *telemetry) turn(now time.Time) {
	for len(t.queue) > 0 && !t.queue[0].at.After(now) {
		t.tell(t.assembler.OnRecords(now, t.queue[0].records))
		t.queue = t.queue[1:]
	}
	if at := t.assembler.NextTimeout(); !at.IsZero() && !at.After(now) {
		t.tell(t.assembler.OnTimeout(now))
	}
}

func (t *telemetry) tell(x gbr.Telemetry) {
	if len(x.Samples) == 0 && len(x.Grants) == 0 && len(x.Reports) == 0 && x.Config == nil {
		return
	}
	t.meter.samples(len(x.Samples))
	t.push(x)
}

// stop ends the goroutine. Nothing may be read any more.
func (t *telemetry) stop() {
	if t == nil {
		return
	}
	close(t.stopped)
	<-t.done
}
