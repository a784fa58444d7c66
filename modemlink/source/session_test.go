// SPDX-License-Identifier: MIT

package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/gbr"
	"github.com/gbrcc/gbrcc/modemlink/diag"
	"github.com/gbrcc/gbrcc/modemlink/source/fakemodem"
)

// pipeTo opens ports on a modem, in memory.
func pipeTo(serve func(io.ReadWriteCloser)) opener {
	return func(context.Context) (port, error) {
		a, b := net.Pipe()
		go serve(b)

		return &tcpPort{Conn: a}, nil
	}
}

func silentLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func busy(t testing.TB, length time.Duration) []fakemodem.LogPacket {
	t.Helper()
	p, err := fakemodem.Busy(length, 1000, 10_000)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func TestSessionStart(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  fakemodem.Config
		want error
		// says is part of the error, masked the last code that is on.
		says   string
		masked diag.LogCode
		// within is the longest it may take.
		within time.Duration
	}{
		{"good", fakemodem.Config{}, nil, "", 0xB885, 2 * time.Second},
		{"wrapped", fakemodem.Config{Wrapped: true}, nil, "", 0xB885, 2 * time.Second},
		{"LTE only", fakemodem.Config{LastItem: 0x1FF}, nil, "", 0xB16C, 2 * time.Second},
		{"just enough", fakemodem.Config{LastItem: 0x139}, nil, "", 0xB139, 2 * time.Second},
		{"no LTE", fakemodem.Config{LastItem: 1}, ErrRefused, "no LTE", 0, 2 * time.Second},
		{"refuses", fakemodem.Config{Refuse: true}, ErrRefused, "status 1", 0, 2 * time.Second},
		{"no logs", fakemodem.Config{NoLogCommands: true}, ErrRefused, "no such command", 0, 2 * time.Second},
		{"silent", fakemodem.Config{Silent: true}, ErrSilent, "diagnostic port", 0, 4 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := fakemodem.New(tc.cfg)
				defer m.Close() //nolint:errcheck // nothing was opened
				p, _ := pipeTo(m.ServeStream)(t.Context())
				began := time.Now()
				s, err := newSession(t.Context(), "test", p, silentLog())
				if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("got %v, want %v with %q", err, tc.want, tc.says)
				}
				if took := time.Since(began); took > tc.within {
					t.Errorf("it took %v, want at most %v", took, tc.within)
				}
				on := m.Masked()
				if tc.want != nil {
					if len(on) != 0 {
						t.Errorf("left on after the failure: %v", on)
					}

					return
				}
				if len(on) < 5 || on[len(on)-1] != tc.masked {
					t.Errorf("on: %v, want them up to %v", on, tc.masked)
				}
				for _, secret := range []diag.LogCode{0xB871, 0xB0A0, 0xB0A5, 0xB0B0, 0xB0B5} {
					if slices.Contains(on, secret) {
						t.Errorf("%v is on, which has keys in it", secret)
					}
				}
				if err := s.close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if on := m.Masked(); len(on) != 0 {
					t.Errorf("left on at the end: %v", on)
				}
			})
		})
	}
}

// rudePort is a port that answers with what it likes.
type rudePort struct {
	mu     sync.Mutex
	reads  func() ([]byte, error)
	sent   [][]byte
	closed chan struct{}
	once   sync.Once
}

func (p *rudePort) Read(b []byte) (int, error) {
	select {
	case <-p.closed:
		return 0, io.EOF
	default:
	}
	data, err := p.reads()

	return copy(b, data), err
}

func (p *rudePort) Send(cmd []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, bytes.Clone(cmd))

	return nil
}

func (p *rudePort) Close() error {
	p.once.Do(func() { close(p.closed) })

	return nil
}

// A port that talks nonsense is silent, whatever it says, and costs bounded
// memory.
func TestSessionHostilePort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	noise := func() []byte {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}

		return b
	}
	badCRC := diag.AppendHDLC(nil, []byte{0x73, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4})
	badCRC[len(badCRC)-2] ^= 0x55
	for name, data := range map[string]func() []byte{
		"noise":          noise,
		"endless frame":  func() []byte { return bytes.Repeat([]byte{0x55}, 16<<10) },
		"empty frames":   func() []byte { return bytes.Repeat([]byte{0x7E}, 4096) },
		"bad checksums":  func() []byte { return badCRC },
		"short answers":  func() []byte { return diag.AppendHDLC(nil, []byte{0x73}) },
		"empty wrapper":  func() []byte { return diag.AppendHDLC(nil, []byte{0x98, 1, 0, 0, 1, 0, 0, 0}) },
		"foreign errors": func() []byte { return diag.AppendHDLC(nil, []byte{0x13, 0x99, 1}) },
		"bare error":     func() []byte { return diag.AppendHDLC(nil, []byte{0x15}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &rudePort{closed: make(chan struct{}), reads: func() ([]byte, error) {
					time.Sleep(5 * ms)

					return data(), nil
				}}
				_, err := newSession(t.Context(), "test", p, silentLog())
				if !errors.Is(err, ErrSilent) {
					t.Errorf("got %v, want ErrSilent", err)
				}
			})
		})
	}
}

func TestSessionPortEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("input/output error")
		for _, cause := range []error{io.EOF, broken} {
			p := &rudePort{closed: make(chan struct{}), reads: func() ([]byte, error) {
				time.Sleep(50 * ms)

				return nil, cause
			}}
			if _, err := newSession(t.Context(), "test", p, silentLog()); !errors.Is(err, ErrGone) ||
				errors.Is(cause, broken) && !errors.Is(err, broken) {
				t.Errorf("%v: got %v, want ErrGone", cause, err)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*ms, func() { cancel(errDone) })
		m := fakemodem.New(fakemodem.Config{Silent: true})
		defer m.Close() //nolint:errcheck // nothing was opened
		p, _ := pipeTo(m.ServeStream)(ctx)
		if _, err := newSession(ctx, "test", p, silentLog()); !errors.Is(err, errDone) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// hungPort takes commands and never comes back.
type hungPort struct{ closed chan struct{} }

func (p hungPort) Read([]byte) (int, error) { <-p.closed; return 0, io.EOF }
func (p hungPort) Send([]byte) error        { <-p.closed; return io.ErrClosedPipe }
func (p hungPort) Close() error             { close(p.closed); return nil }

func TestSessionHungPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := newSession(t.Context(), "test", hungPort{make(chan struct{})}, silentLog()); !errors.Is(err, ErrSilent) {
			t.Errorf("got %v, want ErrSilent", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// telemetry collects what a source emits, by when.
type telemetry struct {
	batches, empty int
	samples        []gbr.Sample
	ages           []time.Duration
	last           time.Time
	longest        time.Duration // between two calls
}

func (r *telemetry) emit(t gbr.Telemetry) {
	now := time.Now()
	if !r.last.IsZero() {
		r.longest = max(r.longest, now.Sub(r.last))
	}
	r.last = now
	if r.batches++; len(t.Samples)+len(t.Grants)+len(t.Reports) == 0 && t.Config == nil {
		r.empty++
	}
	for _, s := range t.Samples {
		if s.Flags&gbr.FlagCorrected != 0 {
			continue // it came before
		}
		r.samples = append(r.samples, s)
		r.ages = append(r.ages, now.Sub(s.At))
	}
}

// quantile of the ages.
func (r *telemetry) quantile(q float64) time.Duration {
	if len(r.ages) == 0 {
		return -1
	}
	a := slices.Clone(r.ages)
	slices.Sort(a)

	return a[int(q*float64(len(a)-1))]
}

func TestModemRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fakemodem.New(fakemodem.Config{Play: busy(t, 10240*ms), Burst: 20 * ms})
		defer m.Close() //nolint:errcheck // nothing was opened
		src := &modem{name: "test", open: pipeTo(m.ServeStream), cfg: Config{Logger: silentLog()}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, errDone)
		defer cancel()
		var got telemetry
		if err := src.Run(ctx, got.emit); !errors.Is(err, errDone) {
			t.Errorf("Run returned %v, want the cause", err)
		}
		// 12 s without 1 s of start, 0.2 s to settle, 5 ms each; 3 s over the end
		// of the SFN cycle.
		if n := len(got.samples); n < 2050 || n > 2360 {
			t.Errorf("%d samples in 12 s, want 2050 to 2360", n)
		}
		if !slices.IsSortedFunc(got.samples, func(a, b gbr.Sample) int { return a.At.Compare(b.At) }) {
			t.Error("samples are not in order")
		}
		if p50, p99 := got.quantile(.5), got.quantile(.99); p50 < 0 || p50 > 40*ms || p99 > 80*ms {
			t.Errorf("ages p50 %v p99 %v, want at most 40 and 80 ms", p50, p99)
		}
		synctest.Wait()
		if on := m.Masked(); len(on) != 0 {
			t.Errorf("left on: %v", on)
		}
		// Events and debug text off, and nothing that was not meant to be sent.
		var ops []byte
		for _, c := range m.Commands() {
			if c[0] == 0x73 {
				ops = append(ops, c[4])
			}
		}
		if !bytes.Equal(ops, []byte{0, 1, 3, 0}) {
			t.Errorf("log operations %v, want off, ranges, mask, off", ops)
		}
	})
}

// An idle modem says nothing by itself, but it answers.
func TestModemIdleIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fakemodem.New(fakemodem.Config{})
		defer m.Close() //nolint:errcheck // nothing was opened
		src := &modem{name: "test", open: pipeTo(m.ServeStream), cfg: Config{Logger: silentLog()}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errDone)
		defer cancel()
		var got telemetry
		if err := src.Run(ctx, got.emit); !errors.Is(err, errDone) {
			t.Error(err)
		}
		if got.empty < 45 || got.empty > 100 || got.longest > 210*ms {
			t.Errorf("%d signs of life in 10 s, up to %v apart; want 45 to 100, 200 ms", got.empty, got.longest)
		}
	})
}

// A modem that hangs is left alone for a while and then opened again.
func TestModemComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, began := 0, time.Now()
		var at []time.Duration
		open := func(ctx context.Context) (port, error) {
			at = append(at, time.Since(began).Round(10*ms))
			switch opened++; opened {
			case 1, 5:
				m := fakemodem.New(fakemodem.Config{Play: busy(t, 1000*ms), Burst: 20 * ms})
				p, err := pipeTo(m.ServeStream)(ctx)
				time.AfterFunc(3*time.Second, func() { _ = p.Close(); _ = m.Close() })

				return p, err
			default:
				return nil, portError("test", ErrNoDevice, "")
			}
		}
		src := &modem{name: "test", open: open, cfg: Config{Logger: silentLog()}}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 13*time.Second, errDone)
		defer cancel()
		var got telemetry
		gap := time.Duration(0)
		err := src.Run(ctx, func(tel gbr.Telemetry) {
			if len(got.samples) > 0 && opened == 5 && gap == 0 {
				gap = time.Since(got.last)
			}
			got.emit(tel)
		})
		if !errors.Is(err, errDone) {
			t.Error(err)
		}
		// Lost at 3 s; 0.5, 1, 2, 4 s later.
		want := []time.Duration{0, 3500 * ms, 4500 * ms, 6500 * ms, 10_500 * ms}
		if len(at) < 5 || !slices.EqualFunc(at[:5], want, func(a, b time.Duration) bool { return (a - b).Abs() <= 50*ms }) {
			t.Errorf("opened at %v, want %v", at, want)
		}
		if gap < 7*time.Second {
			t.Errorf("something was emitted %v after the loss, while there was no modem", gap)
		}
	})
}

func TestModemFirstFailureIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, want := range []error{ErrNoDevice, ErrPermission, ErrBusy} {
			src := &modem{name: "test", cfg: Config{Logger: silentLog()}, open: func(context.Context) (port, error) {
				return nil, portError("test", want, "")
			}}
			if err := src.Run(t.Context(), func(gbr.Telemetry) {}); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
	})
}

// A modem that stops answering in the middle is silent.
func TestModemGoesSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deaf bool
		m := fakemodem.New(fakemodem.Config{Play: busy(t, 2000*ms)[:400], Burst: 20 * ms})
		defer m.Close() //nolint:errcheck // nothing was opened
		p, _ := pipeTo(m.ServeStream)(t.Context())
		s, err := newSession(t.Context(), "test", p, silentLog())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		d := newDiag(t, nil, DiagConfig{})
		chunks := make(chan chunk)
		go func() { // a second of the modem, then nothing gets through
			for c := range s.chunks {
				if deaf = deaf || time.Since(began) > time.Second; !deaf {
					chunks <- chunk{bytes.Clone(c.data), c.err}
				}
			}
		}()
		err = d.loop(t.Context(), s.rest, chunks, s.watch, func(gbr.Telemetry) {})
		if took := time.Since(began); !errors.Is(err, ErrSilent) || took < 3900*ms || took > 4300*ms {
			t.Errorf("%v after %v, want ErrSilent after 1 s + 3 s", err, took)
		}
		_ = s.close()
	})
}

// Garbage between log packets costs what it hits, and no more.
func TestModemSurvivesGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 0))
		packets := busy(t, 4000*ms)
		r, w := pipe(t)
		go func() {
			defer w.Close() //nolint:errcheck // a pipe
			for i := 0; i < len(packets); i += 2 {
				b := fakemodem.Stream(packets[i : i+2])
				switch i % 40 {
				case 4: // a wrong byte
					b[rng.IntN(len(b))] ^= 0x21
				case 10: // noise
					for range 3000 {
						b = append(b, byte(rng.Uint32()))
					}
				case 20: // a frame without an end, until the next one ends it
					b = append(b, bytes.Repeat([]byte{0x55}, 300<<10)...)
				case 30: // cut off
					b = b[:len(b)/2]
				}
				if _, err := w.Write(b); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * ms)
			}
		}()
		var got telemetry
		var logged bytes.Buffer
		log := slog.New(slog.NewTextHandler(&logged, nil))
		d := newDiag(t, r, DiagConfig{StatsEvery: time.Second, Logger: log})
		if err := d.Run(t.Context(), got.emit); err != nil {
			t.Error(err)
		}
		if n := strings.Count(logged.String(), "source: running"); n != 4 && n != 3 || strings.Contains(logged.String(), "age_max_ms=0 ") {
			t.Errorf("%d lines of counters in 4 s: %s", n, logged.String())
		}
		s := d.Stats()
		if s.BadCRC == 0 || s.Oversized == 0 || s.Logs < uint64(len(packets)*3/4) {
			t.Errorf("%+v", s.FrameStats)
		}
		if len(got.samples) < 500 || !slices.IsSortedFunc(got.samples, func(a, b gbr.Sample) int { return a.At.Compare(b.At) }) {
			t.Errorf("%d samples of 760 without garbage, or not in order", len(got.samples))
		}
	})
}

// Real log packets through the whole protocol.
func TestModemPlaysRealRecords(t *testing.T) {
	for _, name := range []string{"mi_att", "mi_tmobile"} {
		stream, err := os.ReadFile(dataset.File(t, "diag", name+".hdlc"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := fakemodem.New(fakemodem.Config{Play: fakemodem.Capture(stream), Burst: 20 * ms, Wrapped: true})
				defer m.Close() //nolint:errcheck // nothing was opened
				src := &modem{name: "test", open: pipeTo(m.ServeStream), cfg: Config{Logger: silentLog()}}
				ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errDone)
				defer cancel()
				var got telemetry
				if err := src.Run(ctx, got.emit); !errors.Is(err, errDone) {
					t.Error(err)
				}
				if len(got.samples) < 40 || got.longest > 210*ms {
					t.Errorf("%d samples in 20 s, %v without a sign of life", len(got.samples), got.longest)
				}
				if p50 := got.quantile(.5); p50 < 0 || p50 > 200*ms {
					t.Errorf("age p50 %v, want at most 200 ms (B064 batches)", p50)
				}
			})
		})
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(diag.AppendHDLC(nil, []byte{0x73, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}))
	f.Add(diag.AppendHDLC(nil, []byte{0x4B, 4, 0}))
	f.Add(diag.AppendHDLC(nil, []byte{0x13, 0x1C}))
	f.Add(diag.AppendHDLC(nil, []byte{0x98, 1, 0, 0, 1, 0, 0, 0, 0x1D}))
	f.Fuzz(func(t *testing.T, data []byte) {
		cmds := append(diag.StartUp(), diag.AppendLogMaskRanges(nil))
		for _, stream := range [][]byte{data, diag.AppendHDLC(nil, data)} {
			s := session{}
			s.keep(stream)
			for {
				frame, ok := s.frame()
				if !ok {
					break
				}
				for _, cmd := range cmds {
					if answers(frame, cmd) && rejects(frame, cmd) {
						t.Errorf("%x both answers and rejects %x", frame, cmd)
					}
				}
			}
		}
	})
}
