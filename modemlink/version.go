// SPDX-License-Identifier: MIT

package modemlink

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gbrcc/gbrcc/modemlink/proto"
)

// Version of the interface; see modemlink.proto.
const (
	versionMajor = 1
	versionMinor = 1
)

// ErrVersion means that agent and client have no version of the interface in
// common: one of them is too old. No retry can mend it.
var ErrVersion = errors.New("modemlink: agent and client speak different versions of the interface: update the older one")

// ownVersion is said with each request and answer.
func ownVersion() *pb.Version { return &pb.Version{Major: versionMajor, Minor: versionMinor} }

// agree returns the version that both sides speak, if the major one is known.
func agree(other *pb.Version) (minor uint32, ok bool) {
	switch other.GetMajor() {
	case 0:
		return 0, true // from before there was a version
	case versionMajor:
		return min(other.GetMinor(), versionMinor), true
	default:
		return 0, false
	}
}

// checkClient is the agent's side.
func (s *Server) checkClient(v *pb.Version) error {
	if _, ok := agree(v); ok {
		return nil
	}
	s.cfg.Logger.Warn("modemlink: client refused, it speaks an unknown version of the interface",
		"client", versionString(v), "agent", versionString(ownVersion()))

	return status.Errorf(codes.FailedPrecondition, "this agent speaks version %s of the interface, not %s",
		versionString(ownVersion()), versionString(v))
}

// checkAgent is the client's side.
func checkAgent(v *pb.Version) (agreed string, err error) {
	minor, ok := agree(v)
	if !ok {
		return "", fmt.Errorf("%w (the agent speaks %s, this client %s)", ErrVersion, versionString(v), versionString(ownVersion()))
	}

	return versionString(&pb.Version{Major: versionMajor, Minor: minor}), nil
}

func versionString(v *pb.Version) string { return fmt.Sprintf("%d.%d", v.GetMajor(), v.GetMinor()) }

// versionError tells whether an agent refused a call for its version.
func versionError(err error) error {
	switch s := status.Convert(err); s.Code() {
	case codes.FailedPrecondition:
		return fmt.Errorf("%w (%.200s)", ErrVersion, s.Message())
	case codes.Unimplemented:
		return fmt.Errorf("%w (the agent does not serve version %d)", ErrVersion, versionMajor)
	default:
		return nil
	}
}
