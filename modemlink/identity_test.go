// SPDX-License-Identifier: MIT

package modemlink

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLoadIdentityKeepsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "id")
	a, err := LoadIdentity(path)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o600 {
		t.Errorf("mode %04o, want 0600", st.Mode().Perm())
	}
	b, err := LoadIdentity(path)
	if err != nil {
		t.Fatal(err)
	}
	if a.fp != b.fp || a.token != b.token || a.fp == (Fingerprint{}) || len(a.token) != 43 {
		t.Errorf("%v and %v, tokens equal: %t", a, b, a.token == b.token)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".gbr*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if c, err := NewIdentity(); err != nil || c.fp == a.fp || c.token == a.token {
		t.Errorf("a new identity is not new (%v)", err)
	}
}

func TestLoadIdentityRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if _, err := LoadIdentity(good); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), mode); err != nil {
			t.Fatal(err)
		}

		return p
	}
	text := string(data)
	for _, tc := range []struct{ path, want string }{
		{write("readable", text, 0o644), "chmod 600"},
		{write("empty", "", 0o600), "not an identity file"},
		{write("text", "hello", 0o600), "not an identity file"},
		{write("no-token", text[:strings.Index(text, "-----BEGIN GBR")], 0o600), "missing"},
		{write("cut", text[:len(text)/3], 0o600), "missing"},
		{filepath.Join(dir, "no", "such", "folder"), "no such file"},
		{dir, "identity"},
	} {
		if _, err := LoadIdentity(tc.path); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", filepath.Base(tc.path), err, tc.want)
		}
	}
	if after, err := os.ReadFile(good); err != nil || string(after) != text {
		t.Errorf("the good file changed (%v)", err)
	}
}

func TestIdentityDoesNotPrintSecrets(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(verb, id); strings.Contains(s, id.token) || len(s) > 40 {
			t.Errorf("%s prints %s", verb, s)
		}
	}
}

// A library that cannot pin takes the certificate as its only root.
func TestCertificateIsItsOwnRoot(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(id.cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	for _, now := range []time.Time{time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Now(), time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: serverName, Roots: roots, CurrentTime: now}); err != nil {
			t.Errorf("%v: %v", now, err)
		}
	}
}

func TestTokenIs(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]bool{
		id.token: true, "": false, id.token[:42]: false, id.token + "A": false, strings.ToLower(id.token): strings.ToLower(id.token) == id.token,
	} {
		if id.tokenIs(token) != want {
			t.Errorf("tokenIs(%d characters) = %t", len(token), !want)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	path := filepath.Join(f.TempDir(), "id")
	if _, err := LoadIdentity(path); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("-----BEGIN GBR TOKEN-----\n-----END GBR TOKEN-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if id, err := parseIdentity(data); err == nil && (id.token == "" || len(id.cert.Certificate) == 0) {
			t.Error("an identity without token or certificate")
		}
	})
}
