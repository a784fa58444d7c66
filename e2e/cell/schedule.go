// SPDX-License-Identifier: MIT

package cell

// Scheduler is how a Shared cell divides its resource blocks.
type Scheduler uint8

// Schedulers. "Capped" ones give nobody more than its report asks for.
const (
	// CappedFair takes the phones in rotation; each gets at most an equal
	// share of the RBs that are left.
	CappedFair Scheduler = iota
	// CappedPF takes them by what their channel carries over what they were
	// granted of late (0.01 a slot); each gets all it needs.
	CappedPF
	// EqualSplit gives each phone with something to send the same number of
	// RBs, however little it has.
	EqualSplit
	// RoundRobin gives one phone all RBs, in rotation.
	RoundRobin
	// WaterPF gives everybody the least that can be given, and each RB after
	// that to the phone whose channel carries most over what it was granted of
	// late when it wanted to send, this slot included, until it has all it
	// needs: the OFDMA scheduler of ns-3's NR module.
	WaterPF
)

// String is the scheduler's name.
func (s Scheduler) String() string {
	switch s {
	case CappedFair:
		return "capped-fair"
	case CappedPF:
		return "capped-pf"
	case EqualSplit:
		return "equal-split"
	case RoundRobin:
		return "round-robin"
	case WaterPF:
		return "water-pf"
	default:
		return "unknown scheduler"
	}
}

const (
	// leastTB is the smallest block: headers, a report and a little data.
	leastTB = 16
	// meanGain is by how much a slot moves the mean of proportional fairness.
	meanGain = 0.01
)

// claim is a phone that wants to send, as of one decision.
type claim struct {
	*user
	need   int
	factor float64 // of the cell it is in, see Handover
	rank   float64 // of proportional fairness
	rbs    int     // granted
}

// bytes is the transport block in so many RBs.
func (c *claim) bytes(rbs int) int {
	n := c.link.bytes(rbs)
	if c.factor != 1 {
		n = min(int(float64(n)*c.factor), c.frame.maxTB)
	}
	return n
}

// fit is the fewest RBs, at most limit, that hold what is needed.
func (c *claim) fit(limit int) int {
	need := max(c.need, leastTB)
	if c.factor != 1 {
		need = int(float64(need)/c.factor) + 1
	}
	return c.link.fit(need, c.frame.leastRBs, limit)
}

// schedule decides in slot k who sends in slot air.
func (s *Shared) schedule(k, air int64) {
	free := s.retransmissions(air)
	s.gather(k, air)
	switch s.cfg.Scheduler {
	case CappedFair:
		s.rotate()
		s.edgeFirst()
		free = s.shareFairly(free)
	case CappedPF:
		s.rank()
		free = s.shareGreedily(free)
	case EqualSplit:
		s.rotate()
		free = s.split(free)
	case RoundRobin:
		s.rotate()
		free = s.wholeBand(free)
	case WaterPF:
		s.rank()
		free = s.fill(free)
	}
	s.forget()
	for i := range s.claims {
		s.give(k, air, &s.claims[i])
	}
	s.load.RBs += int64(s.cfg.RBs - free)
	s.load.Of += int64(s.cfg.RBs)
}

// forget ages the means of proportional fairness. WaterPF takes them over the
// slots in which a phone wants to send.
func (s *Shared) forget() {
	if s.cfg.Scheduler == WaterPF {
		for i := range s.claims {
			s.claims[i].mean *= 1 - meanGain
		}
		return
	}
	for _, u := range s.users {
		u.mean *= 1 - meanGain
	}
}

// retransmissions returns the RBs that they leave.
func (s *Shared) retransmissions(air int64) (free int) {
	free = s.cfg.RBs
	for _, u := range s.users {
		if u.quiet {
			continue
		}
		n := u.harq.due(0, air)
		if n < 0 {
			continue
		}
		rbs := u.harq.block(n).rbs
		if s.cfg.LoneRepeats {
			rbs = s.cfg.RBs
		}
		if rbs <= free {
			free -= rbs
		} else {
			u.harq.postpone(air, n)
		}
	}
	return free
}

// gather collects who wants to send.
func (s *Shared) gather(k, air int64) {
	s.claims = s.claims[:0]
	for _, u := range s.users {
		u.link.at(k)
		if u.quiet {
			continue
		}
		s.listen(u, k)
		need := u.station.need()
		if need == 0 || u.link.mcs < 0 || u.harq.busy(0, air) || u.air.off(air) {
			continue
		}
		s.claims = append(s.claims, claim{user: u, need: need, factor: u.factor(air)})
	}
}

// factor is that of the cell that a phone is in.
func (u *user) factor(air int64) float64 {
	if u.air.plain() {
		return 1
	}
	return u.air.at(u.air.visit(air)).factor
}

// rotate orders the claims from the user whose turn it is.
func (s *Shared) rotate() {
	first := 0
	for first < len(s.claims) && s.claims[first].number < s.turn {
		first++
	}
	if first == len(s.claims) {
		return
	}
	reverse(s.claims[:first])
	reverse(s.claims[first:])
	reverse(s.claims)
}

func reverse(c []claim) {
	for i, j := 0, len(c)-1; i < j; i, j = i+1, j-1 {
		c[i], c[j] = c[j], c[i]
	}
}

// edgeFirst moves those ahead that have no power for all RBs: what they leave of
// their share is for the others.
func (s *Shared) edgeFirst() {
	first := 0
	for i := range s.claims {
		if s.claims[i].link.most < s.cfg.RBs {
			for j := i; j > first; j-- {
				s.claims[j], s.claims[j-1] = s.claims[j-1], s.claims[j]
			}
			first++
		}
	}
}

// rank orders the claims by proportional fairness.
func (s *Shared) rank() {
	for i := range s.claims {
		c := &s.claims[i]
		c.rank = float64(c.bytes(s.cfg.RBs)) / max(c.mean, 1)
		for j := i; j > 0 && s.claims[j].rank > s.claims[j-1].rank; j-- {
			s.claims[j], s.claims[j-1] = s.claims[j-1], s.claims[j]
		}
	}
}

// shareFairly gives each an equal share of what is left, if it needs it.
func (s *Shared) shareFairly(free int) int {
	users := min(len(s.claims), s.cfg.UsersPerTTI)
	for i := range users {
		if free < s.frame.leastRBs {
			break
		}
		c := &s.claims[i]
		c.rbs = c.fit(min(max(free/(users-i), s.frame.leastRBs), free))
		free -= c.rbs
		s.turn = c.number + 1
	}
	return free
}

// shareGreedily gives each all it needs as long as there is something.
func (s *Shared) shareGreedily(free int) int {
	for i := range min(len(s.claims), s.cfg.UsersPerTTI) {
		if free < s.frame.leastRBs {
			break
		}
		c := &s.claims[i]
		c.rbs = c.fit(free)
		free -= c.rbs
	}
	return free
}

// split gives each the same, needed or not; what does not divide is left.
func (s *Shared) split(free int) int {
	if len(s.claims) == 0 {
		return free
	}
	each := max(free/len(s.claims), s.frame.leastRBs)
	for i := range s.claims {
		if free < each {
			break
		}
		c := &s.claims[i]
		c.rbs = min(each, c.link.most)
		free -= c.rbs
		s.turn = c.number + 1
	}
	return free
}

// fill gives RBs one by one to those who are worst off.
func (s *Shared) fill(free int) int {
	users := s.claims[:min(len(s.claims), s.cfg.UsersPerTTI)]
	for i := range users {
		if c := &users[i]; free >= c.frame.leastRBs {
			c.rbs = c.frame.leastRBs
			free -= c.rbs
		}
	}
	for free > 0 {
		var best *claim
		rank := 0.0
		for i := range users {
			c := &users[i]
			if had := c.bytes(c.rbs); had > 0 && had < c.need && c.rbs < c.link.most {
				if r := float64(c.bytes(s.cfg.RBs)) / max(c.mean+meanGain*float64(had), 1); r > rank {
					best, rank = c, r
				}
			}
		}
		if best == nil {
			break
		}
		best.rbs++
		free--
	}
	return free
}

// wholeBand gives all to the one whose turn it is.
func (s *Shared) wholeBand(free int) int {
	if len(s.claims) == 0 || free < s.frame.leastRBs {
		return free
	}
	c := &s.claims[0]
	c.rbs = min(free, c.link.most)
	s.turn = c.number + 1
	return free - c.rbs
}

// give grants what a claim got.
func (s *Shared) give(k, air int64, c *claim) {
	size := c.bytes(c.rbs)
	if size < leastTB {
		return
	}
	c.station.grant(slot{air: air, grant: size, rbs: c.rbs})
	c.mean += meanGain * float64(size)
	if s.onGrant != nil {
		s.onGrant(c.number, air*s.frame.micros()/1000, size)
	}
	if s.cfg.Observe != nil {
		s.cfg.Observe(Decision{At: c.begin(k), User: c.number, Report: -1, RBs: c.rbs, MCS: c.link.mcs, Bytes: size})
	}
}

// listen has the station of a user read its reports, and tells of them.
func (s *Shared) listen(u *user, k int64) {
	tell := func(bytes int, open bool) {
		if s.cfg.Observe != nil {
			s.cfg.Observe(Decision{At: u.begin(k), User: u.number, Report: bytes, Open: open})
		}
	}
	sizes := u.station.sizes
	for i := range u.station.reports.n {
		r := u.station.reports.at(i)
		if r.at > k {
			break
		}
		if r.ce.present() {
			tell(sizes.upper(r.ce.index), sizes.open(r.ce.index))
		}
	}
	read := u.station.ideal.readAt
	if u.station.listen(k); u.station.ideal.readAt != read {
		tell(u.station.ideal.last, false)
	}
}
