// SPDX-License-Identifier: MIT

package source

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Bounds of what a keeper writes. A few packets show a layout.
const (
	keepEach  = 4
	keepFiles = 64
	keepBytes = 1 << 20
)

// keeper writes log packets that were not decoded to files. Each file is one
// packet in an HDLC frame: it replays with file:PATH.
//
// RRC messages can have identities in them and are not kept.
type keeper struct {
	dir     string
	log     *slog.Logger
	count   map[string]int
	files   int
	bytes   int
	stopped bool
}

func newKeeper(dir string, log *slog.Logger) (*keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("source: unknown log packets: %w", err)
	}
	k := &keeper{dir: dir, log: log, count: make(map[string]int)}
	// What is there counts, or restarts would fill the disk.
	old, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("source: unknown log packets: %w", err)
	}
	for _, e := range old {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			k.files++
			k.bytes += int(min(info.Size(), keepBytes))
		}
	}

	return k, nil
}

// packet is a [diag.Decoder]'s OnUnknown.
func (k *keeper) packet(p diag.Packet, err error) {
	if k.stopped || !keepable(p.Code) || errors.Is(err, diag.ErrEncrypted) {
		return
	}
	if name := keepName(p, err); k.count[name] < keepEach {
		k.save(name, reframe(nil, p))
	}
}

// reframe appends a packet as it was on the port.
func reframe(dst []byte, p diag.Packet) []byte {
	var b []byte
	if p.Radio != 0 {
		b = diag.AppendRadio(b, p.Radio)
	}

	return diag.AppendHDLC(dst, diag.AppendLog(b, p.Code, p.Logged, p.Body))
}

// keepName says what is unknown, for people who look into the folder.
func keepName(p diag.Packet, err error) string {
	name := fmt.Sprintf("%04X", uint16(p.Code))
	version, sub := p.Version()
	switch {
	case version > 0xFFFF: // major and minor
		name += fmt.Sprintf("-v%d.%d", version>>16, version&0xFFFF)
	case version >= 0:
		name += fmt.Sprintf("-v%d", version)
	}
	if sub >= 0 {
		name += fmt.Sprintf("-sub%d", sub)
	}
	if errors.Is(err, diag.ErrTruncated) || errors.Is(err, diag.ErrMalformed) {
		name += "-bad"
	}

	return name
}

// save writes one file that was not there yet.
func (k *keeper) save(name string, data []byte) {
	for k.count[name] < keepEach {
		if k.files >= keepFiles || k.bytes+len(data) > keepBytes {
			k.stop("source: enough unknown log packets kept", nil)

			return
		}
		k.count[name]++
		path := filepath.Join(k.dir, fmt.Sprintf("%s-%d.hdlc", name, k.count[name]))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue // of an earlier run
		}
		if err == nil {
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			k.stop("source: unknown log packets cannot be kept", err)

			return
		}
		k.files++
		k.bytes += len(data)

		return
	}
}

func (k *keeper) stop(msg string, err error) {
	k.stopped = true
	k.log.Warn(msg, "dir", k.dir, "files", k.files, "err", err)
}

// keepable tells whether packets of a code may go to a file: those that we ask
// modems for, and are no RRC messages.
func keepable(code diag.LogCode) bool {
	const lteRRC, nrRRC = 0xB0C0, 0xB821 // over the air

	return code != lteRRC && code != nrRRC && !diag.Forbidden(code) && slices.Contains(diag.GBRCodes(), code)
}
