// SPDX-License-Identifier: MIT

package sfu

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// failure is an answer that is an error. Its text is for people.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func fail(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

const (
	typeSDP     = "application/sdp"
	typeTrickle = "application/trickle-ice-sdpfrag"
)

// Handler serves the endpoints /whip and /whep, and their sessions below them.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, kind := range []role{publisher, viewer} {
		handle := func(pattern string, f func(http.ResponseWriter, *http.Request) error) {
			mux.HandleFunc(pattern, s.wrap(kind, f))
		}
		path := "/" + kind.endpoint()
		handle("POST "+path, func(w http.ResponseWriter, r *http.Request) error { return s.post(w, r, kind) })
		handle("PATCH "+path+"/{id}", func(w http.ResponseWriter, r *http.Request) error { return s.patch(w, r, kind) })
		handle("DELETE "+path+"/{id}", func(w http.ResponseWriter, r *http.Request) error { return s.delete(w, r, kind) })
		mux.HandleFunc("OPTIONS "+path, s.preflight("POST, OPTIONS"))
		mux.HandleFunc("OPTIONS "+path+"/{id}", s.preflight("PATCH, DELETE, OPTIONS"))
	}

	return mux
}

// wrap checks who asks and turns errors into answers.
func (s *Server) wrap(kind role, f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		var err error
		switch {
		case !LocalHost(r):
			err = fail(http.StatusForbidden, "Host %q is not this server", r.Host)
		case !s.allowed(w, r):
			err = fail(http.StatusForbidden, "pages of %s may not use this server", r.Header.Get("Origin"))
		case kind == publisher && !s.authorized(r):
			h.Set("WWW-Authenticate", "Bearer")
			err = fail(http.StatusUnauthorized, "wrong or missing bearer token")
		default:
			err = f(w, r)
		}
		if err == nil {
			return
		}
		status := http.StatusInternalServerError
		if fl := (*failure)(nil); errors.As(err, &fl) {
			status = fl.status
		} else {
			s.log.Error("request", "path", r.URL.Path, "err", err)
		}
		if status == http.StatusServiceUnavailable || status == http.StatusNotFound && r.Method == http.MethodPost {
			h.Set("Retry-After", "1")
		}
		http.Error(w, err.Error(), status)
	}
}

// preflight answers a browser that asks what it may ask.
func (s *Server) preflight(methods string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !LocalHost(r) || !s.allowed(w, r) {
			http.Error(w, "pages of this origin may not use this server", http.StatusForbidden)

			return
		}
		h := w.Header()
		h.Set("Allow", methods)
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
		h.Set("Access-Control-Max-Age", "600")
		h.Set("Accept-Post", typeSDP)
		w.WriteHeader(http.StatusNoContent)
	}
}

// body reads a request of the right type and a sensible size.
func body(w http.ResponseWriter, r *http.Request, want string, limit int64) ([]byte, error) {
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != want {
		w.Header().Set("Accept", want)

		return nil, fail(http.StatusUnsupportedMediaType, "Content-Type must be %s", want)
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
		return nil, fail(http.StatusRequestEntityTooLarge, "body over %d bytes", limit)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "body cut off")
	}

	return b, nil
}

// post opens a session: offer in, answer out. RFC 9725 4.2.
func (s *Server) post(w http.ResponseWriter, r *http.Request, kind role) error {
	b, err := body(w, r, typeSDP, maxOffer)
	if err != nil {
		return err
	}
	o, err := parseOffer(b, kind)
	if err != nil {
		return err
	}
	var x *session
	var answer string
	if kind == publisher {
		x, answer, err = s.publish(r.Context(), o)
	} else {
		x, answer, err = s.view(r.Context(), o)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", typeSDP)
	h.Set("Location", "/"+kind.endpoint()+"/"+x.id)
	h.Set("ETag", x.etag)
	h.Set("Accept-Patch", typeTrickle)
	w.WriteHeader(http.StatusCreated)
	// Who does not take the answer does not connect either, and times out.
	_, _ = io.WriteString(w, answer)

	return nil
}

// patch takes ICE candidates. RFC 9725 4.3.
func (s *Server) patch(w http.ResponseWriter, r *http.Request, kind role) error {
	x, err := s.find(r.PathValue("id"), kind)
	if err != nil {
		return err
	}
	b, err := body(w, r, typeTrickle, maxTrickle)
	if err != nil {
		return err
	}
	switch r.Header.Get("If-Match") {
	case x.etag:
	case "":
		return fail(http.StatusPreconditionRequired, "If-Match is missing")
	case "*": // RFC 9725 4.3.3: the sign of an ICE restart
		return fail(http.StatusUnprocessableEntity, "ICE restart is not supported: open a new session")
	default:
		return fail(http.StatusPreconditionFailed, "If-Match names another ICE session")
	}
	if err := x.trickle(b); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)

	return nil
}

// delete ends a session and waits for its end. RFC 9725 4.2.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, kind role) error {
	x, err := s.find(r.PathValue("id"), kind)
	if err != nil {
		return err
	}
	x.end()
	select {
	case <-x.gone:
	case <-r.Context().Done():
	}
	w.WriteHeader(http.StatusOK)

	return nil
}

func (s *Server) find(id string, kind role) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil && x.role == kind {
		return x, nil
	}

	return nil, fail(http.StatusNotFound, "no such session")
}
