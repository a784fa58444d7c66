// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

const (
	authKey    = "authorization"
	authPrefix = "Bearer "
)

// bearer sends the token with every RPC, and only over TLS.
type bearer string

var _ credentials.PerRPCCredentials = bearer("")

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{authKey: authPrefix + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return true }

// knows tells whether a call has the token, exactly once.
func (id *Identity) knows(ctx context.Context) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md.Get(authKey); len(v) == 1 {
		if token, ok := strings.CutPrefix(v[0], authPrefix); ok {
			return id.tokenIs(token)
		}
	}

	return false
}

func (s *Server) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := s.admit(ctx); err != nil {
		return nil, err
	}

	return next(ctx, req)
}

func (s *Server) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := s.admit(ss.Context()); err != nil {
		return err
	}

	return next(srv, ss)
}
