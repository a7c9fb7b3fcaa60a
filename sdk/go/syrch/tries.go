package syrch

import "errors"

// This file has several tries at a task, each a statement and its repairs, in rounds.

// A Written is what a request for a statement gave: the statement, or the error of StatementOf.
type Written struct {
	Place     int
	Statement Statement
	Err       error
}

// Tries is what a strategy decides about tries. They are named by their places, from 0. A type that also has the method
// `Origin(place int, chain *Chain) string` names the origin of the next candidate, and one with `FinishRound(chains []Chain)` is called at the end of
// each round.
type Tries interface {
	// IsOpen reports whether the try has another attempt in the next round.
	IsOpen(place int, chain *Chain) bool
	// Request returns the request of the next statement.
	Request(place int, chain *Chain) Request
	// Adapt changes the prompts after that error so that a request may be made again; false if that is no use.
	Adapt(err *ModelError) bool
	// Read returns those of a round's replies that go on with their statement. One without a statement has to end its try or count in its chain, so
	// that all tries end.
	Read(replies []Written, chains []Chain) []Written
	// Settled is called once for each statement after it ran or failed and was logged. What was wrong with one that failed is in its chain.
	Settled(place int, candidate Candidate, trial *Tested, chain *Chain)
}

// TriesHost has the ports that tries need.
type TriesHost interface {
	LLMPort
	InspectPort
	SQLPort
	TracePort
}

// RunTries makes that many tries of at most that many statements each. The requests of a round are made concurrently, and its statements run
// together. A request that failed in a way that the prompts can be adapted to is made again in its round. The handles of the results are given back
// to the host at the end.
func RunTries(host TriesHost, task *Task, number int, attempts uint32, overflowRows uint64, tries Tries) {
	chains := make([]Chain, number)
	for place := range chains {
		chains[place] = NewChain(attempts)
	}
	trials, proposed := NewTester(overflowRows), uint32(0)
	defer trials.Close()
	for {
		var open []int
		for place := range chains {
			if tries.IsOpen(place, &chains[place]) {
				open = append(open, place)
			}
		}
		if len(open) == 0 {
			return
		}
		statements := tries.Read(askTries(host, open, chains, tries), chains)
		texts := make([]string, len(statements))
		for at, written := range statements {
			texts[at] = written.Statement.SQL
		}
		// What stopped the database is in the trials, too.
		_ = trials.Run(host, texts...)
		for _, written := range statements {
			trial, chain := trials.Get(written.Statement.SQL), &chains[written.Place]
			if trial == nil {
				continue
			}
			proposed++
			chain.Signals.Attempts++
			origin := chain.Origin()
			if named, hasOrigin := tries.(interface{ Origin(int, *Chain) string }); hasOrigin {
				origin = named.Origin(written.Place, chain)
			}
			candidate := chain.Candidate(CandidateID(task.ID, proposed), origin, written.Statement, trial.Signals)
			host.Propose(candidate)
			if trial.Ran == nil {
				host.Discard(candidate.ID, trial.Wrong)
				chain.Fail(candidate.SQL, trial.Wrong)
			}
			tries.Settled(written.Place, candidate, trial, chain)
		}
		if told, isTold := tries.(interface{ FinishRound([]Chain) }); isTold {
			told.FinishRound(chains)
		}
	}
}

// askTries asks for a statement of each open try.
func askTries(host LLMPort, open []int, chains []Chain, tries Tries) []Written {
	replies := make([]Result[Reply], len(open))
	again := make([]int, len(open))
	for at := range again {
		again[at] = at
	}
	for len(again) > 0 {
		requests := make([]Request, len(again))
		for index, at := range again {
			requests[index] = tries.Request(open[at], &chains[open[at]])
		}
		for index, reply := range host.CompleteAll(requests) {
			replies[again[index]] = reply
		}
		again = adapted(replies, tries)
	}
	written := make([]Written, len(open))
	for at, reply := range replies {
		statement, err := StatementOf(reply.Value, reply.Err)
		written[at] = Written{open[at], statement, err}
	}
	return written
}

// adapted returns the places of the replies whose requests are to be made again. The prompts are adapted once to each kind of error.
func adapted(replies []Result[Reply], tries Tries) []int {
	asked := map[ModelErrorKind]bool{}
	for _, reply := range replies {
		var failed *ModelError
		if !errors.As(reply.Err, &failed) || asked[failed.Kind] {
			continue
		}
		asked[failed.Kind] = true
		if !tries.Adapt(failed) {
			continue
		}
		var again []int
		for at, other := range replies {
			var same *ModelError
			if errors.As(other.Err, &same) && same.Kind == failed.Kind {
				again = append(again, at)
			}
		}
		return again
	}
	return nil
}
