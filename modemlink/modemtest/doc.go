// SPDX-License-Identifier: MIT

// Package modemtest has a modem agent for tests, in the way of net/http/httptest:
// a real modemlink server whose telemetry the test writes and whose faults the
// test decides.
//
//	agent := modemtest.NewServer(t)              // serves on the loopback
//	client, err := modemlink.NewClient(agent.URL, modemlink.ClientConfig{Dialer: agent.Dial})
//	...
//	agent.Publish(modemtest.Window(time.Now(), 1200, 4800))
//	agent.Pause()                                // the cable is pulled
//	agent.Resume()
//	agent.Kill()                                 // the phone is gone
//	agent.Restart()                              // and back, with its identity
//
// Map: server.go the server, listener.go connections that can stall and break,
// script.go telemetry in steps.
//
// All methods are safe for concurrent use.
package modemtest
