// SPDX-License-Identifier: MIT

package sfu

// Stats counts since New. Bytes are of RTP payload.
type Stats struct {
	// Publishing and Viewers are of now.
	Publishing bool `json:"publishing"`
	Viewers    int  `json:"viewers"`

	PublishersTotal  int   `json:"publishers_total"`
	ViewersTotal     int   `json:"viewers_total"`
	PacketsIn        int64 `json:"packets_in"`
	BytesIn          int64 `json:"bytes_in"`
	PacketsOut       int64 `json:"packets_out"`
	BytesOut         int64 `json:"bytes_out"`
	KeyFrameRequests int64 `json:"key_frame_requests"`
	// Dropped packets did not fit into a viewer's queue, or came before the
	// key frame that it began with; Overflows is how often a queue was full.
	Dropped   int64 `json:"dropped"`
	Overflows int64 `json:"overflows"`
}

func (st *Stats) addSource(src *source) {
	st.PacketsIn += src.packets.Load()
	st.BytesIn += src.bytes.Load()
}

func (st *Stats) addFeed(f *feed) {
	st.PacketsOut += f.packets.Load()
	st.BytesOut += f.bytes.Load()
	st.Dropped += f.dropped.Load()
	st.Overflows += f.gaps.Load()
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.past
	st.Publishing, st.Viewers = s.current != nil, s.viewers
	p := s.current
	if p == nil {
		return st
	}
	st.KeyFrameRequests += p.keyCount.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, src := range p.sources {
		st.addSource(src)
		src.mu.RLock()
		for f := range src.feeds {
			st.addFeed(f)
		}
		src.mu.RUnlock()
	}

	return st
}
