// SPDX-License-Identifier: MIT

package modemlink

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrURL is wrapped by every error of [ParseURL].
var ErrURL = errors.New("modemlink: bad pairing URL")

// Fingerprint is the SHA-256 of a certificate in DER form.
type Fingerprint [sha256.Size]byte

// String returns 64 lower-case hex digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

const (
	scheme = "gbr"
	form   = "gbr://HOST:PORT?fp=FINGERPRINT&token=TOKEN"
	// A token is 16 to 64 bytes; ours are 32.
	minTokenBytes, maxTokenBytes = 16, 64
	tokenBytes                   = 32
)

// PairingURL is all that a client needs to reach an agent and to trust it:
//
//	gbr://HOST:PORT?fp=<sha256 of the certificate, hex>&token=<base64url>
//
// It contains the secret token: keep it out of logs. As a log/slog value it
// hides the token by itself.
type PairingURL struct {
	// Host is an IP address, with zone if need be, or a DNS name.
	Host string
	Port uint16
	// Fingerprint is that of the agent's certificate.
	Fingerprint Fingerprint
	// Token is base64url without padding of 16 to 64 bytes.
	Token string
}

// ParseURL parses a pairing URL. Its errors wrap [ErrURL], say what is missing
// or malformed and never repeat the input, because that may hold the token.
func ParseURL(raw string) (PairingURL, error) {
	p, err := parseURL(strings.TrimSpace(raw))
	if err != nil {
		return PairingURL{}, fmt.Errorf("%w: %w", ErrURL, err)
	}

	return p, nil
}

func parseURL(raw string) (PairingURL, error) {
	var p PairingURL
	if raw == "" {
		return p, errors.New("it is empty")
	}
	u, err := url.Parse(raw)
	if err != nil {
		// url.Error quotes the URL, and with it the token.
		return p, errors.New("not a URL of the form " + form)
	}
	if u.Scheme != scheme {
		return p, errors.New("the scheme is not that of " + form)
	}
	if u.User != nil || u.Opaque != "" || (u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return p, errors.New("it has more than " + form)
	}
	if p.Host = u.Hostname(); p.Host == "" {
		return p, errors.New("the host is missing")
	}
	if err := checkHost(p.Host); err != nil {
		return p, err
	}
	if u.Port() == "" {
		return p, errors.New("the port is missing")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return p, errors.New("the port is not within 1..65535")
	}
	p.Port = uint16(port)

	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return p, errors.New("the part after ? is malformed (a shell may have cut it at &: quote the URL)")
	}
	for _, key := range []string{"fp", "token"} {
		switch n := len(q[key]); {
		case n == 0 || q.Get(key) == "":
			return p, fmt.Errorf("%s= is missing (a shell may have cut the URL at &: quote it)", key)
		case n > 1:
			return p, fmt.Errorf("%s= is there %d times", key, n)
		}
	}
	fp, err := hex.DecodeString(q.Get("fp"))
	if err != nil || len(fp) != len(p.Fingerprint) {
		return p, fmt.Errorf("fp= is not %d hex digits", 2*len(p.Fingerprint))
	}
	copy(p.Fingerprint[:], fp)
	if p.Token, err = normalToken(q.Get("token")); err != nil {
		return p, err
	}

	return p, nil
}

// normalToken accepts base64url with or without padding.
func normalToken(s string) (string, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return "", errors.New("token= is not base64url")
	}
	if len(b) < minTokenBytes || len(b) > maxTokenBytes {
		return "", fmt.Errorf("token= is not %d to %d bytes long", minTokenBytes, maxTokenBytes)
	}

	return base64.RawURLEncoding.EncodeToString(b), nil
}

func checkHost(h string) error {
	if a, err := netip.ParseAddr(h); err == nil {
		if a.IsUnspecified() {
			return errors.New("the host is the wildcard address: put the agent's own address there")
		}
		if !isName(a.Zone(), "-._") {
			return errors.New("the host has a malformed zone")
		}

		return nil
	}
	if len(h) > 253 || !isName(h, "-._") {
		return errors.New("the host is neither an IP address nor a DNS name")
	}

	return nil
}

// isName tells whether s has only ASCII letters, digits and the extra ones.
func isName(s, extra string) bool {
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(extra, r):
		default:
			return false
		}
	}

	return true
}

// Addr returns HOST:PORT for dialling.
func (p PairingURL) Addr() string {
	return net.JoinHostPort(p.Host, strconv.Itoa(int(p.Port)))
}

// String returns the whole URL, the token included.
func (p PairingURL) String() string {
	return p.prefix() + "&token=" + p.Token
}

// LogValue hides the token.
func (p PairingURL) LogValue() slog.Value { return slog.StringValue(p.prefix()) }

func (p PairingURL) prefix() string {
	// A zone's percent sign is itself escaped in a URL, RFC 6874 2.
	addr := strings.ReplaceAll(p.Addr(), "%", "%25")

	return scheme + "://" + addr + "?fp=" + p.Fingerprint.String()
}
