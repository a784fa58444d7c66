// SPDX-License-Identifier: MIT

// Package modemlink carries what a modem reports from the phone to the sender:
// [gbr.Telemetry] over gRPC and TLS.
//
//	modem -> source -> Server ===== TLS, network ===== Client -> func(gbr.Telemetry)
//	        (agent)    Publish      Stream  ------->   Run        (estimator)
//	                                Ping    <-------
//
// The schema with its units and rules is modemlink/proto/modemlink.proto, the
// open "GBR interface"; agents and clients in other languages are made from it.
//
// Pairing. The agent makes a certificate and a token once ([LoadIdentity]) and
// prints a URL that has both ([PairingURL]). The client pins the certificate by
// its SHA-256 and proves itself with the token. Without either there is no
// telemetry, and there is no mode without TLS.
//
// Strangers. A connection has one try and 5 s to show the token. Ten failures of
// an address are free, one more is forgiven each second; after that it takes
// turns, 20 a second, and never longer than 1.6 s (gate.go). Addresses without
// failures never wait. The service is read-only: nothing that a client says
// changes the agent or the modem.
//
// Bounds. The agent keeps 256 batches and 32 Ki entries for a client and serves
// 8 clients; the client takes messages of 256 KiB, of each list 1024 entries,
// and 64 Ki entries a second (flood.go).
//
// Versions. Client and agent tell each other the version of the interface that
// they speak; without a common one Run ends with [ErrVersion].
//
// Losing. Fresh telemetry is worth more than complete telemetry: the server
// never waits for a client, a slow client loses its oldest batches and sees a
// gap in the sequence numbers ([Status], [Event]). The configuration is not
// lost with them.
//
// Life. While the modem is alive a message comes at least every 100 ms, an empty
// batch if need be. 1.5 s of silence is a dead link: the client connects again,
// with jittered back-off. Agent alive and modem silent is [SourceStalled]: the
// link stays and the sink is not called, so that a sender whose telemetry is
// stale falls back by itself.
//
// Time. Agent times are nanoseconds of the agent's monotonic clock. The client
// compares the clocks (clock.go) and gives out local monotonic times, wrong by
// at most half a round trip and never in the future.
//
// Map: pairing.go URL; identity.go certificate and token; auth.go the token in
// calls; gate.go who may try, visitor.go connections at the gate; server.go,
// queue.go, listen.go the agent's end; client.go, status.go the sender's end,
// watchdog.go its ear for silence, flood.go its limit; version.go agreement on
// the interface; clock.go offset of the clocks; convert.go messages from and to
// telemetry. Beside it: proto (schema), source (where telemetry comes from),
// agent (the program on the phone), modemtest (a fake agent for tests).
//
// Concurrency: [Server] and the getters of [Client] may be used from any
// goroutine; a sink and OnEvent are called from the one goroutine of
// [Client.Run].
package modemlink
