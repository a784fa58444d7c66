// SPDX-License-Identifier: MIT

package interceptor

import (
	"fmt"
	"sync"
	"testing"

	pion "github.com/pion/interceptor"
)

var _ pion.Factory = (*PeerFactory)(nil)

type peerID string

func (p peerID) ID() string { return string(p) }

// Every PeerConnection finds its own Estimator, made at the same time or not,
// until it is closed.
func TestForPeerConnection(t *testing.T) {
	f, err := NewInterceptor(WithLoggerFactory(&logBook{}))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	told := map[string]*Estimator{}
	f.OnNewPeerConnection(func(id string, e *Estimator) {
		mu.Lock()
		defer mu.Unlock()
		told[id] = e
	})
	const n = 20
	chains := make([]pion.Interceptor, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			chain, err := f.NewInterceptor(fmt.Sprint(i))
			if err != nil {
				t.Error(err)

				return
			}
			chains[i] = chain
			// The writer of this chain is of the Estimator of this id.
			e, ok := f.ForPeerConnection(peerID(fmt.Sprint(i)))
			s, isStream := chain.BindLocalStream(videoInfo(), &wire{}).(*stream)
			if !ok || !isStream || s.e != e {
				t.Errorf("%d: another Estimator", i)
			}
		})
	}
	wg.Wait()
	if len(told) != n || len(f.Estimators()) != n {
		t.Errorf("told of %d, %d are there, want %d", len(told), len(f.Estimators()), n)
	}
	if err := chains[3].Close(); err != nil {
		t.Error(err)
	}
	if _, ok := f.ForPeerConnection(peerID("3")); ok || len(f.Estimators()) != n-1 {
		t.Error("a closed PeerConnection has an Estimator")
	}
	if _, ok := f.ForPeerConnection(peerID("stranger")); ok {
		t.Error("a stranger has an Estimator")
	}
	if err := f.Close(); err != nil || len(f.Estimators()) != 0 {
		t.Errorf("%v, %d are left", err, len(f.Estimators()))
	}
	if _, err := NewInterceptor(WithBitrateBounds(3, 2, 1)); err == nil {
		t.Error("a bad option is not refused")
	}
}
