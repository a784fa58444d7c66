// SPDX-License-Identifier: MIT

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/ratio"
)

// readBytes is one read from the port: larger than any burst that matters for
// latency, and bounded.
const readBytes = 16 << 10

// DiagConfig configures [NewDiag].
type DiagConfig struct {
	// Ratio tunes how records become windows.
	Ratio ratio.Config
	// AliveWhileOpen takes an open port as a live modem even when no byte
	// comes. An emulated modem needs it, which is silent when idle.
	AliveWhileOpen bool
	// Unknown is a folder for log packets that were not understood, to report
	// them with; empty for none. See [Config].
	Unknown string
	// StatsEvery is how often the counters are logged; 0 for at the end only.
	StatsEvery time.Duration
	// Logger is nil for none.
	Logger *slog.Logger
}

// Diag is the source of a modem's diagnostic byte stream.
type Diag struct {
	r   io.Reader
	cfg DiagConfig

	dec     diag.Decoder
	asm     *ratio.Assembler
	records []diag.Record
	// rrc finds the BSR timers in RRC messages, of which nothing else is looked
	// at, kept or told.
	rrc rrcTimers
	// now is when the bytes came that are being decoded.
	now     time.Time
	batch   gbr.Telemetry
	config  gbr.RadioConfig
	emitted time.Time
	// lifeGap is the least time between two signs of life.
	lifeGap time.Duration
	// newest is the time of the last sample.
	newest time.Time

	counts counts
}

// NewDiag makes a source of an HDLC byte stream, as a modem's diagnostic port or
// an emulated modem writes it: mode and log mask are set already. If r is an
// io.Closer, Run closes it at its end, and that must end a Read under way.
// Otherwise a Read under way goes on after Run.
func NewDiag(r io.Reader, cfg DiagConfig) (*Diag, error) {
	asm, err := ratio.New(cfg.Ratio)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	d := &Diag{r: r, cfg: cfg, asm: asm}
	d.dec.Buffers = true // the phone's own queue, for modems that tell no BSRs
	d.dec.OnLog = d.packet
	if cfg.Unknown != "" {
		k, err := newKeeper(cfg.Unknown, cfg.Logger)
		if err != nil {
			return nil, err
		}
		d.dec.OnUnknown = k.packet
	}

	return d, nil
}

// Stats tells what was decoded and what skipped. Call it after Run.
func (d *Diag) Stats() diag.Stats { return d.dec.Stats() }

// chunk is one read.
type chunk struct {
	data []byte
	err  error
}

// Run reads until the stream ends, which is no error, or ctx does.
func (d *Diag) Run(ctx context.Context, emit func(gbr.Telemetry)) error {
	stop := make(chan struct{})
	chunks := make(chan chunk)
	go func() {
		defer close(chunks)
		read(d.r, chunks, stop)
	}()
	defer func() {
		close(stop)
		if c, ok := d.r.(io.Closer); ok {
			_ = c.Close() // nothing was written
			for range chunks {
			}
		}
		d.report()
	}()

	return d.loop(ctx, nil, chunks, nil, emit)
}

// loop decodes what came before, and then chunks until they end. watch, if there
// is one, is told every quietPing how long nothing has come; its error ends the
// loop.
func (d *Diag) loop(
	ctx context.Context, before []byte, chunks <-chan chunk, watch func(time.Duration) error, emit func(gbr.Telemetry),
) error {
	var tick, stats <-chan time.Time
	if watch != nil {
		t := time.NewTicker(quietPing)
		defer t.Stop()
		tick = t.C
	}
	if d.cfg.StatsEvery > 0 {
		t := time.NewTicker(d.cfg.StatsEvery)
		defer t.Stop()
		stats = t.C
	}
	d.emitted = time.Now()
	if d.lifeGap = aliveEvery; watch != nil {
		d.lifeGap /= 2 // answers come at least every quietPing, if not just then
	}
	heard := d.emitted
	d.decode(heard, before)
	timer := time.NewTimer(aliveEvery)
	defer timer.Stop()
	for {
		timer.Reset(d.wait(time.Now()))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case c, ok := <-chunks:
			now := time.Now()
			switch {
			case !ok || errors.Is(c.err, io.EOF):
				return nil
			case c.err != nil:
				return fmt.Errorf("source: diagnostic port: %w", c.err)
			}
			heard = now
			d.decode(now, c.data)
			d.onTimeout(now)
			d.emit(now, true, emit)
		case now := <-timer.C:
			d.onTimeout(now)
			d.emit(now, d.cfg.AliveWhileOpen, emit)
		case <-tick:
			if err := watch(time.Since(heard)); err != nil {
				return err
			}
		case <-stats:
			d.logStats()
		}
	}
}

// read hands on what r gives, in two buffers by turns: the receiver is done with
// one when it takes the other.
func read(r io.Reader, out chan<- chunk, stop <-chan struct{}) {
	var bufs [2][readBytes]byte
	for i := 0; ; i = 1 - i {
		n, err := r.Read(bufs[i][:])
		for _, c := range [...]chunk{{data: bufs[i][:n]}, {err: err}} {
			if len(c.data) == 0 && c.err == nil {
				continue
			}
			select {
			case out <- c:
			case <-stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (d *Diag) decode(now time.Time, data []byte) {
	d.now = now
	d.counts.bytes += uint64(len(data))
	d.dec.Write(data)
	for {
		var err error
		d.records, err = d.dec.Next(d.records[:0])
		if len(d.records) > 0 { // of one log packet
			d.collect(d.asm.OnRecords(now, d.records))
		}
		if err != nil {
			return // it needs more bytes
		}
	}
}

// packet is the decoder's OnLog: it is called before the records of the packet.
func (d *Diag) packet(p diag.Packet) {
	if recs := d.rrc.packet(p); len(recs) > 0 {
		d.collect(d.asm.OnRecords(d.now, recs))
	}
}

func (d *Diag) onTimeout(now time.Time) {
	if t := d.asm.NextTimeout(); !t.IsZero() && !t.After(now) {
		d.collect(d.asm.OnTimeout(now))
	}
}

// wait is until the assembler or a sign of life is due.
func (d *Diag) wait(now time.Time) time.Duration {
	wait := time.Hour // of nothing but bytes to come
	if d.cfg.AliveWhileOpen {
		wait = d.emitted.Add(aliveEvery).Sub(now)
	}
	if t := d.asm.NextTimeout(); !t.IsZero() {
		wait = min(wait, t.Sub(now))
	}

	return max(wait, 0)
}

// collect copies t, which the assembler reuses, into the batch.
func (d *Diag) collect(t gbr.Telemetry) {
	d.batch.Samples = append(d.batch.Samples, t.Samples...)
	d.batch.Grants = append(d.batch.Grants, t.Grants...)
	d.batch.Reports = append(d.batch.Reports, t.Reports...)
	if t.Config != nil {
		d.config = *t.Config
		d.batch.Config = &d.config
	}
}

// emit gives the batch away if there is one, or a sign of life if one is due
// and the modem is alive.
func (d *Diag) emit(now time.Time, alive bool, emit func(gbr.Telemetry)) {
	b := &d.batch
	if len(b.Samples)+len(b.Grants)+len(b.Reports) == 0 && b.Config == nil {
		if alive && now.Sub(d.emitted) >= d.lifeGap {
			d.emitted = now
			emit(gbr.Telemetry{})
		}

		return
	}
	// Log packets overlap in time; a batch ascends, and so do samples over all,
	// but for corrections, which have the time of what they correct.
	slices.SortStableFunc(b.Samples, func(x, y gbr.Sample) int { return x.At.Compare(y.At) })
	for i := range b.Samples {
		// When it becomes known that the clock was wrong, the next sample may be
		// older than the last.
		s := &b.Samples[i]
		if s.Flags&gbr.FlagCorrected != 0 {
			continue
		}
		if s.At.Before(d.newest) {
			s.At = d.newest
		}
		d.newest = s.At
	}
	slices.SortStableFunc(b.Grants, func(x, y gbr.Grant) int { return x.At.Compare(y.At) })
	slices.SortStableFunc(b.Reports, func(x, y gbr.Report) int { return x.At.Compare(y.At) })
	d.emitted = now
	d.counts.add(now, b)
	emit(*b)
	b.Samples, b.Grants, b.Reports, b.Config = b.Samples[:0], b.Grants[:0], b.Reports[:0], nil
}

// report says once what was not understood; it is why there is no telemetry.
func (d *Diag) report() {
	s := d.dec.Stats()
	d.cfg.Logger.Info("source: diagnostic stream ended", "frames", s.Frames, "bad_crc", s.BadCRC, "log_packets", s.Logs,
		"encrypted", s.Encrypted, "lost_bytes", s.Lost, "rrc", d.rrc.String())
	for _, c := range s.Codes {
		if c.Unsupported+c.Bad > 0 {
			d.cfg.Logger.Warn("source: log packets skipped", "code", c.Code, "version", c.Version, "sub", c.Sub, "unsupported", c.Unsupported,
				"bad", c.Bad, "err", c.Err)
		}
	}
}
