// SPDX-License-Identifier: MIT

package modemlink

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// serverName is the name in the certificate. Clients that cannot pin use it.
const serverName = "gbr-agent"

// PEM block types of an identity file.
const (
	pemCert  = "CERTIFICATE"
	pemKey   = "PRIVATE KEY"
	pemToken = "GBR TOKEN"
)

// Identity is what a client was paired with: the agent's certificate with its
// key, and the token. Keep it across restarts and pairings stay valid. It is
// read-only once made and safe for concurrent use.
type Identity struct {
	cert  tls.Certificate
	fp    Fingerprint
	token string
}

// NewIdentity makes a fresh certificate and token. The key is ECDSA P-256,
// which every TLS library takes (BoringSSL, under gRPC for Python and others,
// refuses Ed25519 by default).
func NewIdentity() (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)),
		Subject:      pkix.Name{CommonName: serverName},
		DNSNames:     []string{serverName},
		// The pin decides, not the dates: clocks of robots and modems are often
		// wrong. The end is "no well-defined expiration", RFC 5280 4.1.2.5.
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:  time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		// A certificate of its own authority, so that a library without
		// pinning can take it as its only root.
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	token := make([]byte, tokenBytes)
	if _, err := rand.Read(token); err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}

	return &Identity{
		cert:  tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		fp:    sha256.Sum256(der),
		token: base64.RawURLEncoding.EncodeToString(token),
	}, nil
}

// LoadIdentity reads the identity file at path, or makes a new identity and
// writes it there when the file does not exist. The file holds the private key
// and the token: it is written with mode 0600, and one that others can read is
// refused.
func LoadIdentity(path string) (*Identity, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		id, err := NewIdentity()
		if err != nil {
			return nil, err
		}

		return id, id.save(path)
	case err != nil:
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("modemlink: identity: %s holds a private key and others may use it (mode %04o): chmod 600 it, "+
			"or put it where file modes work", path, st.Mode().Perm())
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<16 {
		return nil, fmt.Errorf("modemlink: identity: %s is not an identity file", path)
	}
	data := make([]byte, st.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, fmt.Errorf("modemlink: identity: %w", err)
	}
	id, err := parseIdentity(data)
	if err != nil {
		return nil, fmt.Errorf("modemlink: identity: %s: %w; delete the file to start anew (clients must pair again)", path, err)
	}

	return id, nil
}

func parseIdentity(data []byte) (*Identity, error) {
	id := &Identity{}
	var certPEM, keyPEM []byte
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			break
		}
		switch b.Type {
		case pemCert:
			certPEM = append(certPEM, pem.EncodeToMemory(b)...)
		case pemKey:
			keyPEM = append(keyPEM, pem.EncodeToMemory(b)...)
		case pemToken:
			if n := len(b.Bytes); n < minTokenBytes || n > maxTokenBytes {
				return nil, fmt.Errorf("a token of %d bytes, want %d to %d", n, minTokenBytes, maxTokenBytes)
			}
			id.token = base64.RawURLEncoding.EncodeToString(b.Bytes)
		}
	}
	if certPEM == nil || keyPEM == nil || id.token == "" {
		return nil, errors.New("not an identity file (certificate, key or token is missing)")
	}
	var err error
	if id.cert, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		return nil, err
	}
	id.fp = sha256.Sum256(id.cert.Certificate[0])

	return id, nil
}

// save writes by way of a temporary file, so that a crash leaves no half.
func (id *Identity) save(path string) error {
	key, err := x509.MarshalPKCS8PrivateKey(id.cert.PrivateKey)
	if err != nil {
		return fmt.Errorf("modemlink: identity: %w", err)
	}
	token, err := base64.RawURLEncoding.DecodeString(id.token)
	if err != nil {
		return fmt.Errorf("modemlink: identity: %w", err)
	}
	data := pem.EncodeToMemory(&pem.Block{Type: pemCert, Bytes: id.cert.Certificate[0]})
	data = append(data, pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: key})...)
	data = append(data, pem.EncodeToMemory(&pem.Block{Type: pemToken, Bytes: token})...)

	// CreateTemp uses mode 0600.
	f, err := os.CreateTemp(filepath.Dir(path), ".gbr-identity-*")
	if err != nil {
		return fmt.Errorf("modemlink: identity: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("modemlink: identity: %w", err), os.Remove(f.Name()))
	}

	return nil
}

// Fingerprint returns that of the certificate.
func (id *Identity) Fingerprint() Fingerprint { return id.fp }

// String names the identity without its secrets.
func (id *Identity) String() string { return "identity " + id.fp.String()[:16] }

// GoString is String.
func (id *Identity) GoString() string { return id.String() }

// tokenIs compares in constant time, whatever the length.
func (id *Identity) tokenIs(token string) bool {
	want, got := sha256.Sum256([]byte(id.token)), sha256.Sum256([]byte(token))

	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
