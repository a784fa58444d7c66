// SPDX-License-Identifier: MIT

// Package phone is what runs on an emulated phone: an agent that reads the
// modem's diagnostic port and serves telemetry, in this process. Examples and
// tests use it with package live's modem.
//
// Files: phone.go (Agent).
package phone
