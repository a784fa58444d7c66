// SPDX-License-Identifier: MIT

package modemlink

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
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

// authorize says the same to a missing, a malformed and a wrong token.
func (id *Identity) authorize(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md.Get(authKey); len(v) == 1 {
		if token, ok := strings.CutPrefix(v[0], authPrefix); ok && id.tokenIs(token) {
			return nil
		}
	}

	return status.Error(codes.Unauthenticated, "unauthorized")
}

func (id *Identity) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := id.authorize(ctx); err != nil {
		return nil, err
	}

	return next(ctx, req)
}

func (id *Identity) stream(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := id.authorize(ss.Context()); err != nil {
		return err
	}

	return next(srv, ss)
}
