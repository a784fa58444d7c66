// SPDX-License-Identifier: MIT

// Package proto is the GBR interface between a modem agent and a sender: the
// Go code generated from modemlink.proto, which is its documentation.
//
//	modemlink.proto          the schema, with units and rules
//	modemlink.pb.go          generated messages
//	modemlink_grpc.pb.go     generated service
//
// Messages are not safe for concurrent writing.
//
// To regenerate: protoc of Debian or any 3.15 or later, protoc-gen-go v1.36.12
// and protoc-gen-go-grpc v1.6.2 in the PATH, then go generate.
package proto

//go:generate protoc -I ../.. --go_out=../.. --go_opt=paths=source_relative --go-grpc_out=../.. --go-grpc_opt=paths=source_relative modemlink/proto/modemlink.proto
