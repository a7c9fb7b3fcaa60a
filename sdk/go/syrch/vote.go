package syrch

import (
	"errors"
	"fmt"
	"slices"
)

// This file goes from groups of equal results to an outcome: the reward may reject results, and the log states what became of every draw.

// A Standing is a group of equal results with its place in the vote. The earliest member of the cluster becomes the candidate. Confidence is the
// strategy's own, 0 to 1, and Reason is in words: `3 of 5 results`.
type Standing struct {
	Cluster    Cluster
	Confidence float64
	Reason     string
}

// A Voter is a sampler that orders the results.
type Voter interface {
	Sampler
	// Standings returns the groups that may win, best first; none if no draw is acceptable.
	Standings(pool *Pool) []Standing
}

// ElectionHost has the ports that an election needs.
type ElectionHost interface {
	DrawingHost
	EvaluatePort
}

// Elect draws, votes, has the reward judge the results, draws again if it rejected one, and returns one candidate for each remaining result, best
// first. The reward judges each result once. Without a candidate, an unavailable model or database and a used-up budget are errors, and everything
// else is an empty outcome.
func Elect(host ElectionHost, task *Task, most uint32, overflowRows uint64, voter Voter) (Outcome, error) {
	drawing := NewDrawing(host, task, most, overflowRows)
	defer drawing.Close()
	election := election{host, task, most, &drawing.Pool, map[string]Verdict{}}
	stopped := drawing.Run(voter)
	for {
		standings := voter.Standings(&drawing.Pool)
		if len(standings) == 0 {
			election.log(standings)
			return election.nothing(stopped, drawing.Started())
		}
		candidates := make([]Candidate, len(standings))
		for at := range standings {
			candidates[at] = election.candidate(&standings[at])
		}
		election.judge(standings, candidates)
		if election.reject(standings) {
			if stopped == nil {
				stopped = drawing.Run(voter)
			}
			continue
		}
		if stopped != nil {
			election.carryOn(stopped)
		}
		election.log(standings)
		return election.outcome(standings, candidates), nil
	}
}

type election struct {
	host ElectionHost
	task *Task
	most uint32
	pool *Pool
	// The reward's verdicts by the fingerprints of the results.
	verdicts map[string]Verdict
}

func (e *election) candidate(standing *Standing) Candidate {
	candidate := e.pool.Candidate(e.task, e.pool.Draw(standing.Cluster.Members[0]), e.most)
	candidate.RawConfidence = new(standing.Confidence)
	candidate.Rationale = &standing.Reason
	candidate.Signals.Samples = e.pool.Ran()
	candidate.Signals.Agreeing = uint32(len(standing.Cluster.Members))
	return candidate
}

// judge has the results judged that were not judged yet, together. Without a reward they stay as they are.
func (e *election) judge(standings []Standing, candidates []Candidate) {
	var fresh []string
	var asked []Candidate
	for at, standing := range standings {
		if _, isKnown := e.verdicts[standing.Cluster.Fingerprint]; !isKnown {
			fresh, asked = append(fresh, standing.Cluster.Fingerprint), append(asked, candidates[at])
		}
	}
	if len(asked) == 0 {
		return
	}
	verdicts, err := e.host.Reward(asked)
	if err != nil {
		e.host.Note(Info, fmt.Sprintf("%s: no result was judged: %s", e.task.ID, AsFailure(err).Message))
	}
	for at, verdict := range verdicts[:min(len(verdicts), len(fresh))] {
		e.verdicts[fresh[at]] = verdict
	}
}

// reject excludes the results that the reward rejected, and reports whether there are any. A judge that cannot judge counts as neither acceptance
// nor rejection.
func (e *election) reject(standings []Standing) bool {
	rejected := false
	for _, standing := range standings {
		if verdict, isKnown := e.verdicts[standing.Cluster.Fingerprint]; isKnown && verdict.Kind == Rejected {
			e.pool.Reject(standing.Cluster.Fingerprint, verdict.Reason)
			rejected = true
		}
	}
	return rejected
}

func (e *election) outcome(standings []Standing, candidates []Candidate) Outcome {
	for at, standing := range standings {
		if verdict, isKnown := e.verdicts[standing.Cluster.Fingerprint]; isKnown && verdict.Kind == Accepted {
			candidates[at].Score = new(verdict.Score)
			candidates[at].Signals.Reward = new(verdict.Score)
		}
	}
	return Outcome{Candidates: candidates}
}

// carryOn says that the drawing ended early but found something. That a model has no more statements is nothing to warn of.
func (e *election) carryOn(stopped error) {
	level := Warn
	if abstains(stopped) {
		level = Info
	}
	e.host.Note(level, fmt.Sprintf("%s: going on with what there is: %s", e.task.ID, AsFailure(stopped).Message))
}

// log says why each statement that ran was chosen or not; what was wrong with the others was logged when they failed.
func (e *election) log(standings []Standing) {
	for _, draw := range e.pool.draws {
		if draw.Ran == nil {
			continue
		}
		id := CandidateID(e.task.ID, draw.Number)
		at := slices.IndexFunc(standings, func(standing Standing) bool { return slices.Contains(standing.Cluster.Members, draw.Number) })
		switch {
		case at == 0 && standings[0].Cluster.Members[0] == draw.Number:
			e.host.Keep(id, standings[0].Reason)
		case at >= 0 && standings[at].Cluster.Members[0] == draw.Number:
			best := CandidateID(e.task.ID, standings[0].Cluster.Members[0])
			e.host.Discard(id, fmt.Sprintf("%s, where %s has %s", standings[at].Reason, best, standings[0].Reason))
		case at >= 0:
			e.host.Discard(id, "the same result as "+CandidateID(e.task.ID, standings[at].Cluster.Members[0]))
		default:
			wrong, isWrong := e.pool.wrong(draw, false)
			if !isWrong {
				wrong = "it has no vote"
			}
			e.host.Discard(id, wrong)
		}
	}
}

func (e *election) nothing(stopped error, started uint32) (Outcome, error) {
	switch {
	case stopped == nil:
		last := "the model gave no statement"
		if tried := e.pool.Tried(false); len(tried) > 0 {
			last = tried[len(tried)-1].Wrong
		}
		return Nothing(e.host, fmt.Sprintf("no statement did after %d of %d attempts: %s", started, e.most, last)), nil
	case abstains(stopped):
		return Nothing(e.host, stopped.Error()), nil
	default:
		return Outcome{}, stopped
	}
}

func abstains(err error) bool {
	var failed *ModelError
	return errors.As(err, &failed) && failed.Abstains()
}
