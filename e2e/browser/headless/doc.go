// SPDX-License-Identifier: MIT

// Package headless starts Chromium for tests.
//
// Files: headless.go (Start).
package headless
