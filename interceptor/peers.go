// SPDX-License-Identifier: MIT

package interceptor

import (
	"maps"
	"slices"
	"sync"

	pion "github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
)

// PeerFactory makes an Estimator for each PeerConnection of an API and
// remembers which is whose. It is a [pion.Factory]: add it to the registry
// before all others. It is safe for concurrent use.
type PeerFactory struct {
	cc *cc.InterceptorFactory

	making sync.Mutex // NewInterceptor: cc tells the id by a callback
	made   *Estimator

	mu    sync.Mutex
	peers map[string]*Estimator
	onNew func(id string, e *Estimator)
}

// NewInterceptor returns a factory for a registry, as pkg/cc's function of the
// same name does, with typed access to the Estimators. It fails on a wrong
// option, which [Factory] shows only when a PeerConnection is made; what the
// function of [WithOuter] returns is seen only then, too.
func NewInterceptor(opts ...Option) (*PeerFactory, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	opts = shared(opts)
	f := &PeerFactory{peers: map[string]*Estimator{}}
	inner, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		e, err := NewEstimator(opts...)
		if err != nil {
			return nil, err
		}
		f.made = e

		return e, nil
	})
	if err != nil {
		return nil, err
	}
	f.cc = inner

	return f, nil
}

// NewInterceptor implements [pion.Factory]; webrtc calls it while it makes the
// PeerConnection with that id.
func (f *PeerFactory) NewInterceptor(id string) (pion.Interceptor, error) {
	f.making.Lock()
	f.made = nil
	i, err := f.cc.NewInterceptor(id)
	e := f.made
	f.making.Unlock()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	_, again := f.peers[id]
	f.peers[id] = e
	onNew := f.onNew
	f.mu.Unlock()
	if again {
		// Its name is the time at which it was made.
		e.log.Warnf("two Estimators for PeerConnection %q: add the factory to its registry only once; or, if two "+
			"PeerConnections were made at the very same time, take their Estimators from OnNewPeerConnection", id)
	}
	e.atClose(func() { f.forget(id, e) })
	if onNew != nil {
		onNew(id, e)
	}

	return i, nil
}

func (f *PeerFactory) forget(id string, e *Estimator) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.peers[id] == e {
		delete(f.peers, id)
	}
}

// PeerConnection is what [PeerFactory.ForPeerConnection] asks of one.
// The PeerConnections of webrtc v4 and v5 have it.
type PeerConnection interface{ ID() string }

// ForPeerConnection returns the Estimator of a PeerConnection. It is not ok
// when the PeerConnection is closed, or was made by an API whose registry does
// not hold this factory.
func (f *PeerFactory) ForPeerConnection(pc PeerConnection) (e *Estimator, ok bool) {
	if pc == nil {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok = f.peers[pc.ID()]

	return e, ok
}

// OnNewPeerConnection sets what is called with every new Estimator, inside of
// webrtc's NewPeerConnection; nil is none. id is the PeerConnection's.
func (f *PeerFactory) OnNewPeerConnection(cb func(id string, e *Estimator)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onNew = cb
}

// Estimators returns those of all open PeerConnections, by id.
func (f *PeerFactory) Estimators() map[string]*Estimator {
	f.mu.Lock()
	defer f.mu.Unlock()

	return maps.Clone(f.peers)
}

// Close closes all Estimators. A PeerConnection closes its own; this is for an
// application that ends without closing them.
func (f *PeerFactory) Close() error {
	var first error
	for _, e := range slices.Collect(maps.Values(f.Estimators())) {
		if err := e.Close(); err != nil && first == nil {
			first = err
		}
	}

	return first
}
