// SPDX-License-Identifier: MIT

package interceptor

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	pion "github.com/pion/interceptor"
	"github.com/pion/logging"
)

// Whoever gives no logger sees the mistakes in the set-up: Pion's default leaves
// out warnings.
func TestMistakesAreSeenByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		e, err := NewEstimator(func(c *config) error {
			c.resolve() // the default
			f, ok := c.loggers.(*logging.DefaultLoggerFactory)
			if !ok {
				t.Fatalf("the default logger is %T", c.loggers)
			}
			f.Writer = &out

			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w := e.AddStream(videoInfo(), &wire{})
		e.AddStream(&pion.StreamInfo{SSRC: 9, MimeType: "video/VP8"}, &wire{})
		for i := range uint16(60) {
			mustWrite(t, w, header(mediaSSRC, i), payloadFor(500))
			time.Sleep(33 * time.Millisecond)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"gbrcc WARN", "must loop on RTPSender.Read", "ConfigureTWCCHeaderExtensionSender"} {
			if n := strings.Count(out.String(), want); n == 0 {
				t.Errorf("%q is not in the log:\n%s", want, out.String())
			}
		}
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines in the log:\n%s", n, out.String())
		}
	})
}
