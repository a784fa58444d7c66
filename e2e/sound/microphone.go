// SPDX-License-Identifier: MIT

//go:build codec

package sound

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gen2brain/malgo"
)

// ErrClosed is returned by the listeners of a Microphone after Close.
var ErrClosed = errors.New("sound: the microphone is closed")

// errStopped is of a device that was pulled out.
var errStopped = errors.New("sound: the microphone has stopped")

// Microphone is this machine's, as its sound system chooses it.
type Microphone struct {
	*Splitter
	system *malgo.AllocatedContext
	device *malgo.Device
}

// systems are all that miniaudio knows, but for the one that is always there and
// always silent.
func systems() []malgo.Backend {
	return []malgo.Backend{
		malgo.BackendWasapi, malgo.BackendDsound, malgo.BackendWinmm, malgo.BackendCoreaudio, malgo.BackendSndio,
		malgo.BackendAudio4, malgo.BackendOss, malgo.BackendPulseaudio, malgo.BackendAlsa, malgo.BackendJack,
		malgo.BackendAaudio, malgo.BackendOpensl,
	}
}

// NewMicrophone opens the microphone.
func NewMicrophone() (*Microphone, error) { return openMicrophone(systems()) }

func openMicrophone(systems []malgo.Backend) (*Microphone, error) {
	system, err := malgo.InitContext(systems, malgo.ContextConfig{}, nil)
	if err != nil {
		return nil, fmt.Errorf("sound: no sound system: %w", err)
	}
	m := &Microphone{Splitter: NewSplitter(), system: system}
	cfg := malgo.DefaultDeviceConfig(malgo.Capture)
	cfg.Capture.Format, cfg.Capture.Channels, cfg.SampleRate = malgo.FormatF32, 1, Rate
	cfg.PeriodSizeInMilliseconds = uint32(BlockTime / time.Millisecond)
	m.device, err = malgo.InitDevice(system.Context, cfg, malgo.DeviceCallbacks{
		Data: func(_, in []byte, _ uint32) { m.Push(floats(in), time.Now()) },
		Stop: func() { m.End(errStopped) },
	})
	if err == nil {
		err = m.device.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sound: no microphone: %w", err), m.Close())
	}

	return m, nil
}

// floats copies samples: the device will write over them.
func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:]))
	}

	return out
}

// Close lets the microphone go.
func (m *Microphone) Close() error {
	m.End(ErrClosed)
	if m.device != nil {
		m.device.Uninit()
	}
	err := m.system.Uninit()
	m.system.Free()
	if err != nil {
		return fmt.Errorf("sound: microphone: %w", err)
	}

	return nil
}
