// SPDX-License-Identifier: MIT

package interceptor

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/rtp"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/gcc/pacing"
)

// What applications get wrong is refused, by NewEstimator and by NewInterceptor,
// before there is a call, with an error that says what to do.
func TestWrongOptions(t *testing.T) {
	source := func(context.Context, func(gbr.Telemetry)) error { return nil }
	for name, c := range map[string]struct {
		opts []Option
		want string // part of the error
	}{
		"bounds inverted":          {[]Option{WithBitrateBounds(10_000_000, 300_000, 100_000)}, "lowest one first"},
		"bounds of 0":              {[]Option{WithBitrateBounds(0, 0, 0)}, "ascending from 1"},
		"start above the bounds":   {[]Option{WithBitrateBounds(1, 10, 5)}, "ascending from 1"},
		"bounds out of range":      {[]Option{WithBitrateBounds(1, 10, math.MaxInt)}, "ascending within 1.."},
		"bounds of the core":       {[]Option{WithConfig(gbr.Config{MinBps: 5, MaxBps: 1})}, "ascending within 1.."},
		"core":                     {[]Option{WithConfig(gbr.Config{Beta: -1})}, "want 0.1 to 1000"},
		"preset":                   {[]Option{WithPreset("cal")}, "have default, call"},
		"algorithm":                {[]Option{WithAlgorithm(99)}, "see Algorithms"},
		"no queue":                 {[]Option{WithMaxQueue(0)}, "above 0"},
		"no skip delay":            {[]Option{WithSkipDelay(-1)}, "above 0"},
		"pacer":                    {[]Option{WithPacer(pacing.Config{MaxQueue: -1})}, "negative value"},
		"weight 0":                 {[]Option{WithUplink(NewUplink(nil), 0)}, "not above 0"},
		"weight that is no number": {[]Option{WithUplink(NewUplink(nil), math.NaN())}, "not above 0"},
		"endless weight":           {[]Option{WithUplink(NewUplink(nil), math.Inf(1))}, "not above 0"},
		"nil uplink":               {[]Option{WithUplink(nil, 1)}, "NewUplink"},
		"nil source":               {[]Option{WithTelemetrySource(nil)}, "leave the option out"},
		"two sources":              {[]Option{WithTelemetrySource(source), WithUplink(NewUplink(source), 1)}, "WithUplink alone"},
		"two sources, too":         {[]Option{WithTelemetrySource(source), WithTelemetrySource(source)}, "two sources"},
		"nil outer loop":           {[]Option{WithOuter(nil)}, "leave the option out"},
		"nil scheduler":            {[]Option{WithScheduler(nil)}, "NewScheduler"},
		"nil event writer":         {[]Option{WithEventWriter(nil)}, "writer is nil"},
	} {
		e, err := NewEstimator(c.opts...)
		if e != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: NewEstimator's error is %v, want one with %q", name, err, c.want)
		}
		f, err := NewInterceptor(c.opts...)
		if f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: NewInterceptor's error is %v, want one with %q", name, err, c.want)
		}
	}
	for name, opts := range map[string][]Option{
		"nothing": nil, "nil": {nil}, "no logger": {WithLoggerFactory(nil)}, "no recorder": {WithRecorder(nil)},
		"no preset": {WithPreset("")}, "the same uplink twice": func() []Option {
			u := NewUplink(nil)

			return []Option{WithUplink(u, 1), WithUplink(u, 2)}
		}(),
	} {
		e, err := NewEstimator(opts...)
		if err != nil {
			t.Errorf("%s: %v", name, err)

			continue
		}
		_ = e.Close()
	}
}

// An end-to-end loop that cannot be made, or is none, is said when it is needed.
func TestWrongOuter(t *testing.T) {
	broken := errors.New("no GPU")
	for want, outer := range map[string]func() (gbr.Outer, error){
		"no GPU":        func() (gbr.Outer, error) { return nil, broken },
		"no outer loop": func() (gbr.Outer, error) { return nil, nil },
	} {
		if e, err := NewEstimator(WithOuter(outer)); e != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
		f, err := NewInterceptor(WithOuter(outer))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.NewInterceptor("a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error for the PeerConnection is %v, want one with %q", err, want)
		}
		if n := len(f.Estimators()); n != 0 {
			t.Errorf("%d Estimators are left", n)
		}
	}
}

// Two Estimators in one chain pace and number everything twice: it is said.
func TestTwoEstimatorsOfAPeerConnection(t *testing.T) {
	var book *logBook
	log := Option(func(c *config) error {
		c.loggers = book

		return nil
	})
	factory := func() *PeerFactory {
		f, err := NewInterceptor(log)
		if err != nil {
			t.Fatal(err)
		}

		return f
	}
	one, two := factory(), factory()
	other, err := cc.NewInterceptor(Factory(log))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		factories []pion.Factory
		want      string
	}{
		"one":                {[]pion.Factory{one}, ""},
		"the same one twice": {[]pion.Factory{one, one}, "only once"},
		"two":                {[]pion.Factory{one, two}, "add one factory"},
		"one of Pion's cc":   {[]pion.Factory{one, other}, "add one factory"},
	} {
		book = &logBook{}
		registry := &pion.Registry{}
		for _, f := range c.factories {
			registry.Add(f)
		}
		chain, err := registry.Build("a")
		if err != nil {
			t.Fatal(err)
		}
		chain.BindLocalStream(videoInfo(), &wire{})
		if err := chain.Close(); err != nil {
			t.Error(err)
		}
		said := book.warnings()
		if !strings.Contains(said, c.want) || (said == "") != (c.want == "") {
			t.Errorf("%s: log is %q, want %q", name, said, c.want)
		}
		if n := len(one.Estimators()) + len(two.Estimators()); n != 0 {
			t.Errorf("%s: %d Estimators are left", name, n)
		}
	}
	if _, ok := one.ForPeerConnection(nil); ok {
		t.Error("nil has an Estimator")
	}
}

// A writer may panic, in the goroutine of an application that lives on: packets go
// on, and Close does not wait for the one that was on its way.
func TestWriterThatPanics(t *testing.T) {
	e, err := NewEstimator()
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	sent := make(chan uint16, 100)
	w := e.AddStream(videoInfo(), pion.RTPWriterFunc(func(h *rtp.Header, p []byte, _ pion.Attributes) (int, error) {
		if calls.Add(1) == 1 {
			panic("the next writer's")
		}
		sent <- h.SequenceNumber

		return h.MarshalSize() + len(p), nil
	}))
	write := func(number uint16) (cause any) {
		defer func() { cause = recover() }()
		if _, err := w.Write(header(mediaSSRC, number), make([]byte, 100), nil); err != nil {
			t.Errorf("packet %d: %v", number, err)
		}

		return nil
	}
	if cause := write(1); cause != "the next writer's" {
		t.Fatalf("the application recovers %v: the packet was not sent at once, so nothing is tested", cause)
	}
	if cause := write(2); cause != nil {
		t.Fatalf("the next packet panics with %v", cause)
	}
	if number := <-sent; number != 2 {
		t.Errorf("packet %d comes after the panic, want 2", number)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
