// SPDX-License-Identifier: MIT

package sfu

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// LocalHost tells whether a request that came to a loopback address was meant
// for it: a page of another site can have its own name point to 127.0.0.1.
func LocalHost(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))

	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allowed checks the origin of the page that asks, if a page asks, and tells
// the browser. Without an Origin there is no browser to protect.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	same := err == nil && u.Host != "" && u.Host == r.Host
	if !same && !slices.Contains(s.cfg.Origins, origin) && !slices.Contains(s.cfg.Origins, "*") {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	// Of an answer to another origin, scripts see these headers only.
	h.Set("Access-Control-Expose-Headers", "Location, ETag, Link, Retry-After, Accept-Patch")

	return true
}

// authorized compares the bearer token. RFC 6750 2.1: the scheme has no case.
func (s *Server) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")

	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(s.cfg.Token)) == 1
}
