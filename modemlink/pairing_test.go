// SPDX-License-Identifier: MIT

package modemlink

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
)

const (
	testFP    = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	testToken = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMyLWI"
)

func TestParseURL(t *testing.T) {
	const q = "?fp=" + testFP + "&token=" + testToken
	for _, tc := range []struct {
		name, in, host, addr, out string
	}{
		{"IPv4", "gbr://192.168.42.129:7667" + q, "192.168.42.129", "192.168.42.129:7667", ""},
		{"name", " gbr://robot-1.local:1" + q + "\n", "robot-1.local", "robot-1.local:1", "gbr://robot-1.local:1" + q},
		{"IPv6", "gbr://[fd00::1]:65535" + q, "fd00::1", "[fd00::1]:65535", ""},
		{"zone", "gbr://[fe80::1%25usb0]:7667" + q, "fe80::1%usb0", "[fe80::1%usb0]:7667", ""},
		{"padding, order, unknown key, slash", "gbr://h:7667/?x=1&token=" + testToken + "=&fp=" + strings.ToUpper(testFP), "h", "h:7667", "gbr://h:7667" + q},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := ParseURL(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if p.Host != tc.host || p.Addr() != tc.addr || p.Fingerprint.String() != testFP || p.Token != testToken {
				t.Errorf("got %#v, address %s", p, p.Addr())
			}
			want := tc.out
			if want == "" {
				want = tc.in
			}
			if p.String() != want {
				t.Errorf("String() = %s, want %s", p, want)
			}
		})
	}
}

func TestParseURLErrors(t *testing.T) {
	const fp, token = "fp=" + testFP, "token=" + testToken
	for in, want := range map[string]string{
		"":                                            "empty",
		"192.168.1.1:7667":                            "not a URL",
		"http://h:1?" + fp + "&" + token:              "the scheme is not",
		"gbr://h:1/x?" + fp + "&" + token:             "it has more than",
		"gbr://u@h:1?" + fp + "&" + token:             "it has more than",
		"gbr://h:1?" + fp + "&" + token + "#":         "",
		"gbr://:1?" + fp + "&" + token:                "host is missing",
		"gbr://h?" + fp + "&" + token:                 "port is missing",
		"gbr://h:0?" + fp + "&" + token:               "port is not within",
		"gbr://h:65536?" + fp + "&" + token:           "port is not within",
		"gbr://0.0.0.0:1?" + fp + "&" + token:         "wildcard",
		"gbr://[::]:1?" + fp + "&" + token:            "wildcard",
		"gbr://a$b:1?" + fp + "&" + token:             "neither",
		"gbr://h:1?" + fp:                             "token= is missing",
		"gbr://h:1?" + token:                          "fp= is missing",
		"gbr://h:1?" + fp + "&token=":                 "token= is missing",
		"gbr://h:1?" + fp + "00&" + token:             "fp= is not 64",
		"gbr://h:1?fp=zz&" + token:                    "fp= is not 64",
		"gbr://h:1?" + fp + "&" + token + "!":         "base64url",
		"gbr://h:1?" + fp + "&token=AAAA":             "bytes long",
		"gbr://h:1?" + fp + "&" + token + "&" + token: "2 times",
		"gbr://h:1?" + fp + "&" + token + ";x":        "malformed",
		"gbr://h:1?%zz&" + token:                      "malformed",
		"gbr://h:1?\x7f" + token:                      "not a URL",
	} {
		_, err := ParseURL(in)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", in, err)
			}

			continue
		}
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want ErrURL with %q", in, err, want)
		}
		if err != nil && strings.Contains(err.Error(), testToken) {
			t.Errorf("%q: the error has the token: %v", in, err)
		}
	}
}

func TestPairingURLHidesTokenInLogs(t *testing.T) {
	p, err := ParseURL("gbr://h:1?fp=" + testFP + "&token=" + testToken)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("paired", "url", p)
	if s := out.String(); strings.Contains(s, testToken) || !strings.Contains(s, "gbr://h:1") {
		t.Errorf("logged %s", s)
	}
}

func TestServerURL(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		addr net.Addr
		host string // empty: any usable one
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7}, "127.0.0.1"},
		{&net.TCPAddr{IP: net.IPv4zero, Port: 7}, ""},
		{&net.TCPAddr{IP: net.IPv6unspecified, Port: 7}, ""},
		{&net.TCPAddr{Port: 7}, ""},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "usb0", Port: 7}, "fe80::1%usb0"},
	} {
		p := s.URL(tc.addr)
		back, err := ParseURL(p.String())
		if err != nil || back != p {
			t.Errorf("%v: %v does not come back: %v", tc.addr, p.LogValue(), err)
		}
		if p.Port != 7 || tc.host != "" && p.Host != tc.host {
			t.Errorf("%v: host %s port %d, want %s 7", tc.addr, p.Host, p.Port, tc.host)
		}
		if p.Fingerprint != s.cfg.Identity.Fingerprint() || !s.cfg.Identity.tokenIs(p.Token) {
			t.Errorf("%v: fingerprint or token are not those of the server", tc.addr)
		}
	}
}

func TestHostRank(t *testing.T) {
	// Best first.
	order := []struct{ ifc, ip string }{
		{"rndis0", "192.168.42.129"},
		{"wlan0", "10.0.0.7"},
		{"wlan0", "fd00::7"},
		{"eth0", "203.0.113.9"},
		{"weird0", "192.168.9.1"},
		{"rmnet_data0", "10.64.1.2"},
		{"rmnet_data0", "2001:db8::1"},
	}
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if hostRank(a.ifc, net.ParseIP(a.ip)) <= hostRank(b.ifc, net.ParseIP(b.ip)) {
			t.Errorf("%v is not before %v", a, b)
		}
	}
	if r := hostRank("usb0", net.ParseIP("169.254.1.1")); r != 0 {
		t.Errorf("link-local has rank %d", r)
	}
}

func FuzzParseURL(f *testing.F) {
	const q = "?fp=" + testFP + "&token=" + testToken
	for _, s := range []string{
		"", "gbr://h:1" + q, "gbr://[fe80::1%25usb0]:7667" + q, "gbr://h:1?token=" + testToken,
		"gbr:h:1" + q, "gbr://[::1" + q, "gbr://h:1" + q + "&fp=", "gbr://%41:1" + q,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseURL(s)
		if err != nil {
			if strings.Contains(err.Error(), testToken) {
				t.Errorf("token in %v", err)
			}

			return
		}
		if _, _, err := net.SplitHostPort(p.Addr()); err != nil {
			t.Errorf("%q: address %q: %v", s, p.Addr(), err)
		}
		back, err := ParseURL(p.String())
		if err != nil || back != p {
			t.Errorf("%q gives %q, which gives %+v, %v", s, p.String(), back, err)
		}
	})
}
