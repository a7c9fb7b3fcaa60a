// The solver vote draws several statements and returns the result on which most of them agree.
package main

import (
	"fmt"
	"math"
	"sort"

	"github.com/syrch/syrch-host/sdk/go/role/solver"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// Settings are what the user may set.
type Settings struct {
	Samples     uint32  `setting:"samples" default:"3" least:"1" most:"16" help:"How many statements are drawn."`
	Temperature float64 `setting:"temperature" default:"0.7" least:"0" most:"2" help:"The temperature of the model."`
}

// Vote is the plugin.
type Vote struct{ Settings }

var plugin = syrch.New("vote", "1.0.0", "returns the result on which most samples agree", func(settings Settings) Vote {
	return Vote{settings}
})

func init() { solver.Export(plugin) }

func main() {}

// A draw is a statement that was drawn, and how it ended.
type draw struct {
	number    uint32
	statement syrch.Statement
	tested    *syrch.Tested
}

// Solve draws, runs and groups the statements.
func (v Vote) Solve(
	host syrch.SolverHost, problem syrch.Problem, catalog syrch.Catalog, task syrch.Task, parents []syrch.Parent,
) (syrch.Outcome, error) {
	brief := syrch.NewBrief(host, syrch.DefaultPromptSize, &problem, &catalog, &task, parents)
	drawn, why := v.draw(host, brief)
	if len(drawn) == 0 {
		return syrch.Nothing(host, "no statement: "+why), nil
	}
	tester := syrch.NewTester(math.MaxUint64)
	defer tester.Close()
	var texts []string
	for _, draw := range drawn {
		texts = append(texts, draw.statement.SQL)
	}
	if err := tester.Run(host, texts...); err != nil {
		return syrch.Outcome{}, err
	}
	wrong := ""
	for at := range drawn {
		drawn[at].tested = tester.Get(drawn[at].statement.SQL)
		if wrong == "" {
			wrong = drawn[at].tested.Wrong
		}
	}
	groups := groups(drawn)
	candidates := report(host, task, drawn, groups)
	if len(groups) == 0 {
		return syrch.Nothing(host, "no statement ran: "+wrong), nil
	}
	var outcome syrch.Outcome
	for _, group := range groups {
		outcome.Candidates = append(outcome.Candidates, candidates[group[0]])
	}
	return outcome, nil
}

// draw returns the drawn statements, and why the first of the others has none.
func (v Vote) draw(host syrch.SolverHost, brief *syrch.Brief) (drawn []draw, why string) {
	var requests []syrch.Request
	for number := range v.Samples {
		requests = append(requests, syrch.DrawRequest(brief, nil, number+1, &v.Temperature))
	}
	for at, result := range host.CompleteAll(requests) {
		statement, err := syrch.StatementOf(result.Value, result.Err)
		if err == nil {
			drawn = append(drawn, draw{number: uint32(at + 1), statement: statement})
		} else if why == "" {
			why = err.Error()
		}
	}
	return drawn, why
}

// groups returns the places of draws with equal results, the best group first.
func groups(drawn []draw) [][]int {
	var places []int
	var fingerprints []string
	for at, draw := range drawn {
		if draw.tested.Ran != nil {
			places, fingerprints = append(places, at), append(fingerprints, draw.tested.Ran.Fingerprint)
		}
	}
	groups := syrch.Groups(fingerprints)
	for _, group := range groups {
		for at := range group {
			group[at] = places[group[at]]
		}
	}
	stated := func(group []int) float64 {
		most := 0.0
		for _, place := range group {
			most = max(most, syrch.Or(drawn[place].statement.Confidence, 0))
		}
		return most
	}
	// The sort is stable, so that equally good groups stay in the order of their earliest members.
	sort.SliceStable(groups, func(one, other int) bool {
		if len(groups[one]) != len(groups[other]) {
			return len(groups[one]) > len(groups[other])
		}
		return stated(groups[one]) > stated(groups[other])
	})
	return groups
}

// report says of every draw what became of it. It returns their candidates.
func report(host syrch.SolverHost, task syrch.Task, drawn []draw, groups [][]int) []syrch.Candidate {
	ran, groupOf := 0, map[int]int{}
	for at, group := range groups {
		ran += len(group)
		for _, place := range group {
			groupOf[place] = at
		}
	}
	candidates := make([]syrch.Candidate, len(drawn))
	for place, draw := range drawn {
		candidates[place] = syrch.Candidate{
			ID: syrch.CandidateID(task.ID, draw.number), Origin: "generate", SQL: draw.statement.SQL, RawConfidence: draw.statement.Confidence,
		}
		if at, hasRun := groupOf[place]; hasRun {
			agreeing := len(groups[at])
			candidates[place].Rationale = new(fmt.Sprintf("%d of %d results", agreeing, ran))
			candidates[place].Signals.Samples, candidates[place].Signals.Agreeing = uint32(ran), uint32(agreeing)
		}
		host.Propose(candidates[place])
	}
	for place, candidate := range candidates {
		at, hasRun := groupOf[place]
		switch {
		case !hasRun:
			host.Discard(candidate.ID, drawn[place].tested.Wrong)
		case groups[at][0] != place:
			host.Discard(candidate.ID, "the same result as "+candidates[groups[at][0]].ID)
		case at == 0:
			host.Keep(candidate.ID, *candidate.Rationale)
		default:
			host.Discard(candidate.ID, *candidate.Rationale)
		}
	}
	return candidates
}
