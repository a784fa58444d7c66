// SPDX-License-Identifier: MIT

// Package headless starts Chromium for tests, and looks at pages.
//
// Files: headless.go (Start), page.go (Tab, Eval, Call, Wait, Screenshot, Artifact),
// record.go (Record).
package headless
