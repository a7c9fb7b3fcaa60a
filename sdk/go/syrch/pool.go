package syrch

import (
	"slices"
	"sort"
	"strings"
)

// A Draw is one drawn statement and how it ended.
type Draw struct {
	// Number is that of the draw, from 1, in the order of the requests.
	Number uint32
	// Repairs is the number of the draw that this one repairs; 0 for a fresh one.
	Repairs uint32
	// SQL is the statement; empty if the reply had none.
	SQL string
	// Confidence is what the model stated, 0 to 1.
	Confidence *float64
	// Ran is the result; nil if the statement failed, and Wrong says then why.
	Ran     *Ran
	Wrong   string
	signals Signals
}

// A Cluster is a group of draws with equal results: the fingerprint, and the numbers of the draws, ascending. There is at least one, and the
// first represents the group.
type Cluster struct {
	Fingerprint string
	Members     []uint32
}

// A Pool has the draws that ended, by their numbers.
type Pool struct {
	draws []*Draw
	// The reasons by the fingerprints of the results.
	rejected map[string]string
}

// Draws returns the draws that have ended, ascending.
func (p *Pool) Draws() []*Draw { return p.draws }

// Draw returns the draw of that number; nil before it ended.
func (p *Pool) Draw(number uint32) *Draw {
	for _, draw := range p.draws {
		if draw.Number == number {
			return draw
		}
	}
	return nil
}

// Ran returns how many draws ran, with or without rows.
func (p *Pool) Ran() uint32 {
	ran := uint32(0)
	for _, draw := range p.draws {
		if draw.Ran != nil {
			ran++
		}
	}
	return ran
}

// Reject excludes a result from the vote, for all draws that have it now or later.
func (p *Pool) Reject(fingerprint, reason string) {
	if p.rejected == nil {
		p.rejected = map[string]string{}
	}
	p.rejected[fingerprint] = reason
}

// Clusters returns the groups of equal results that were not rejected: the largest first, and of equally large ones that with the earliest
// member. Results without rows are left out unless empty says that they count.
func (p *Pool) Clusters(empty bool) []Cluster {
	var voting []*Draw
	var fingerprints []string
	for _, draw := range p.draws {
		if draw.Ran == nil || !empty && draw.Ran.Profile.Rows == 0 {
			continue
		}
		if _, isRejected := p.rejected[draw.Ran.Fingerprint]; !isRejected {
			voting, fingerprints = append(voting, draw), append(fingerprints, draw.Ran.Fingerprint)
		}
	}
	var clusters []Cluster
	for _, places := range Groups(fingerprints) {
		cluster := Cluster{Fingerprint: fingerprints[places[0]]}
		for _, place := range places {
			cluster.Members = append(cluster.Members, voting[place].Number)
		}
		clusters = append(clusters, cluster)
	}
	return clusters
}

// Tried returns what was wrong with each draw that cannot win, in order: it failed, was rejected, or, unless empty, has no rows.
func (p *Pool) Tried(empty bool) []Tried {
	var tried []Tried
	for _, draw := range p.draws {
		if wrong, isWrong := p.wrong(draw, empty); isWrong {
			tried = append(tried, Tried{draw.SQL, wrong})
		}
	}
	return tried
}

// TriedLately returns what was wrong with the draws since the last one that can win, in order: what the next draw may repair. A draw that ends a
// chain of that many statements, the first one and its repairs, is repaired no more, so that the next one is fresh.
func (p *Pool) TriedLately(empty bool, attempts uint32) []Tried {
	var tried []Tried
	for _, draw := range slices.Backward(p.draws) {
		wrong, isWrong := p.wrong(draw, empty)
		if !isWrong || p.chain(draw) >= attempts {
			break
		}
		tried = append(tried, Tried{draw.SQL, wrong})
	}
	slices.Reverse(tried)
	return tried
}

// chain returns the number of statements from the first one of a chain to this repair of it.
func (p *Pool) chain(draw *Draw) uint32 {
	length := uint32(1)
	// A repair is later than what it repairs, so that this ends.
	for draw = p.Draw(draw.Repairs); draw != nil; draw = p.Draw(draw.Repairs) {
		length++
	}
	return length
}

func (p *Pool) wrong(draw *Draw, empty bool) (string, bool) {
	if draw.Ran == nil {
		return draw.Wrong, true
	}
	if reason, isRejected := p.rejected[draw.Ran.Fingerprint]; isRejected {
		return "rejected: " + Line(reason, 400), true
	}
	if draw.Ran.Profile.Rows == 0 && !empty {
		return strings.Join(draw.Ran.Doubts, "; "), true
	}
	return "", false
}

// Candidate returns the candidate of a draw. Its signals count the errors of the draws up to and including this one, out of most. The parent of
// a repair is the draw that it repairs.
func (p *Pool) Candidate(task *Task, draw *Draw, most uint32) Candidate {
	signals := draw.signals
	signals.Attempts, signals.MaxAttempts = draw.Number, most
	for _, earlier := range p.draws {
		if earlier.Number < draw.Number {
			signals.addErrors(&earlier.signals)
		}
	}
	candidate := Candidate{
		ID: CandidateID(task.ID, draw.Number), Origin: "generate", SQL: draw.SQL, RawConfidence: draw.Confidence, Signals: signals,
	}
	if draw.Repairs != 0 {
		candidate.Parents, candidate.Origin = []string{CandidateID(task.ID, draw.Repairs)}, "repair"
	}
	return candidate
}

func (p *Pool) insert(draw *Draw) {
	at := 0
	for at < len(p.draws) && p.draws[at].Number < draw.Number {
		at++
	}
	p.draws = slices.Insert(p.draws, at, draw)
}

// Groups returns the places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest
// member.
func Groups[K comparable](keys []K) [][]int {
	var groups [][]int
	group := map[K]int{}
	for place, key := range keys {
		at, isKnown := group[key]
		if !isKnown {
			at, group[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], place)
	}
	sort.SliceStable(groups, func(one, other int) bool { return len(groups[one]) > len(groups[other]) })
	return groups
}
