// SPDX-License-Identifier: MIT

// Package headless starts Chromium for tests, and looks at pages.
//
// Files: headless.go (Start), page.go (Tab, Eval, Call, Wait, Screenshot, Artifact),
// looks.go (Looks), record.go (Record).
package headless
