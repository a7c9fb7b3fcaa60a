package main

import (
	"github.com/syrch/syrch-host/sdk/go/role/aggregator"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { aggregator.Export(plugin) }

// Aggregate makes the answer from the task that the graph names.
func (p Plugin) Aggregate(
	_ syrch.AggregatorHost, _ syrch.Problem, graph syrch.Graph, finished []syrch.Finished, _ []syrch.Observation,
) (*syrch.Answer, error) {
	var answer *syrch.Answer
	var basis []string
	for _, of := range finished {
		basis = append(basis, of.Task.Text)
		if of.Task.ID != graph.Answer {
			continue
		}
		rows := of.Results.Profile().Rows
		// The field SQL may have a statement that names finished tasks in FROM, as of.Name.
		answer = &syrch.Answer{
			Text: syrch.Count(rows, "row"), Task: of.Task.ID, Candidate: &of.Candidate.ID, Confidence: of.Candidate.Sureness(),
		}
		if rows > uint64(p.Most) {
			answer.Caveats = []string{"the result is long"}
		}
	}
	if answer != nil {
		answer.Basis = basis
	}
	// Nil says that nothing here answers the question.
	return answer, nil
}
