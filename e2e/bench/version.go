// SPDX-License-Identifier: MIT

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime/debug"
)

// codeVersion names the code that runs here. A revision does, when nothing was
// changed since; else only the program itself can say which one it is.
func codeVersion() string {
	if rev, clean := revision(); clean {
		return "revision " + rev
	}
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}

	return "program " + fingerprint(data)
}

// revision is that of version control, which a `go build` knows and a `go run`
// does not.
func revision() (rev string, clean bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	modified := true
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			modified = s.Value != "false"
		}
	}

	return rev, rev != "" && !modified
}

// fingerprint is enough of a hash to tell files apart.
func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)

	return hex.EncodeToString(sum[:6])
}
