// SPDX-License-Identifier: MIT

package fakemodem

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Config is what kind of modem it is. The zero value is a good one without
// anything to log.
type Config struct {
	// LastItem is the last log item of LTE and NR, default 0x9FF.
	LastItem int
	// Silent modems answer nothing.
	Silent bool
	// Refuse answers every log mask with an error status.
	Refuse bool
	// NoLogCommands answers log commands with "bad command".
	NoLogCommands bool
	// Wrapped answers and logs inside the multi-radio wrapper.
	Wrapped bool
	// Play is what it logs, again and again from the moment that a mask is set.
	Play []LogPacket
	// Burst is how long it buffers when nobody drains, default 380 ms.
	Burst time.Duration
}

// Operations of the log configuration command, their status.
const (
	cmdLogConfig = 0x73
	opDisable    = 0
	opRanges     = 1
	opSetMask    = 3

	equipments = 16
	equipLTE   = 0xB

	statusOK    = 0
	statusRange = 1
)

const defaultBurst = 380 * time.Millisecond

// Modem is a fake modem. Close it.
type Modem struct {
	cfg  Config
	done chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	owned    bool
	mask     []byte
	bits     int
	epoch    int // counts masks
	commands [][]byte
	refused  int
	drains   int
	drained  time.Time
	modes    []uint32
	closers  []io.Closer
	closed   bool
}

// New makes a modem.
func New(cfg Config) *Modem {
	if cfg.LastItem == 0 {
		cfg.LastItem = 0x9FF
	}
	if cfg.Burst == 0 {
		cfg.Burst = defaultBurst
	}

	return &Modem{cfg: cfg, done: make(chan struct{})}
}

// Close ends all ports and waits for them.
func (m *Modem) Close() error {
	m.mu.Lock()
	closers := m.closers
	m.closers = nil
	if !m.closed {
		m.closed = true
		close(m.done)
	}
	m.mu.Unlock()
	var errs []error
	for _, c := range closers {
		errs = append(errs, c.Close())
	}
	m.wg.Wait()

	return errors.Join(errs...)
}

// Masked returns the log codes that are switched on, ascending.
func (m *Modem) Masked() []diag.LogCode {
	m.mu.Lock()
	defer m.mu.Unlock()
	var on []diag.LogCode
	for i := range m.bits {
		if m.mask[i/8]>>(i%8)&1 != 0 {
			on = append(on, diag.LogCode(equipLTE<<12|i))
		}
	}

	return on
}

// Commands returns the commands so far.
func (m *Modem) Commands() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.Clone(m.commands)
}

// Refused returns how many clients were turned away.
func (m *Modem) Refused() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.refused
}

// Drains returns how often the buffer was drained.
func (m *Modem) Drains() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.drains
}

// Modes returns the logging modes that the router was asked for.
func (m *Modem) Modes() []uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.Clone(m.modes)
}

// enter makes a client the owner, if there is none.
func (m *Modem) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned || m.closed {
		m.refused++

		return false
	}
	m.owned = true

	return true
}

func (m *Modem) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owned = false
}

// keep closes c with the modem.
func (m *Modem) keep(c io.Closer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closers = append(m.closers, c)
}

// on tells whether a code is in the mask.
func (m *Modem) on(code diag.LogCode) bool {
	i := int(code & 0xFFF)

	return code>>12 == equipLTE && i < m.bits && m.mask[i/8]>>(i%8)&1 != 0
}

// Drain is the buffer drain command.
func (m *Modem) Drain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drains++
	m.drained = time.Now()
}

// Handle returns the answer to a command, not framed; nil for none.
func (m *Modem) Handle(cmd []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commands = append(m.commands, slices.Clone(cmd))
	if m.cfg.Silent || len(cmd) == 0 {
		return nil
	}
	switch cmd[0] {
	case 0x1D:
		return binary.LittleEndian.AppendUint64([]byte{0x1D}, uint64(diag.TimestampOf(time.Now())))
	case 0x00, 0x7C, 0x0C, 0x63:
		return append(slices.Clone(cmd), make([]byte, 20)...)
	case 0x4B, 0x60, 0x7D:
		return append(slices.Clone(cmd), 0)
	case cmdLogConfig:
		if !m.cfg.NoLogCommands && len(cmd) >= 8 {
			return m.logConfig(cmd)
		}
	}

	return append([]byte{0x13}, cmd...) // bad command, as some modems say to 1C
}

func (m *Modem) logConfig(cmd []byte) []byte {
	op := binary.LittleEndian.Uint32(cmd[4:])
	reply := func(status uint32) []byte {
		b := append([]byte{cmdLogConfig, 0, 0, 0}, cmd[4:8]...)

		return binary.LittleEndian.AppendUint32(b, status)
	}
	switch op {
	case opDisable:
		m.bits = 0
		m.epoch++

		return reply(statusOK)
	case opRanges:
		b := reply(statusOK)
		for e := range equipments {
			last := 0
			if e == equipLTE {
				last = m.cfg.LastItem
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(last))
		}

		return b
	case opSetMask:
		if len(cmd) < 16 {
			return reply(statusRange)
		}
		equip, bits := binary.LittleEndian.Uint32(cmd[8:]), int(binary.LittleEndian.Uint32(cmd[12:]))
		if m.cfg.Refuse || equip != equipLTE || bits > m.cfg.LastItem+1 || len(cmd) != 16+(bits+7)/8 {
			return reply(statusRange)
		}
		m.mask, m.bits = slices.Clone(cmd[16:]), bits
		m.epoch++

		return append(reply(statusOK), cmd[8:]...)
	default:
		return reply(statusRange)
	}
}
