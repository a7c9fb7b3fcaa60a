package main

import (
	"errors"

	"github.com/syrch/syrch-host/sdk/go/role/solver"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { solver.Export(plugin) }

// Solve asks the model for one statement and runs it.
func (p Plugin) Solve(
	host syrch.SolverHost, problem syrch.Problem, catalog syrch.Catalog, task syrch.Task, parents []syrch.Parent,
) (syrch.Outcome, error) {
	// The prompt has the tables, the question, the task, and the rows of the tasks on which this one depends.
	brief := syrch.NewBrief(host, syrch.DefaultPromptSize, &problem, &catalog, &task, parents)
	statement, err := syrch.StatementOf(host.Complete(brief.Request(nil, 0)))
	if isNoFailure(err) {
		// An outcome without a candidate is valid, for example if a provider without a model abstains.
		return syrch.Nothing(host, err.Error()), nil
	}
	if err != nil {
		return syrch.Outcome{}, err
	}
	// Checks and runs the statement. More rows than usual count as a sign against it.
	tester := syrch.NewTester(uint64(p.Most))
	defer tester.Close()
	if err := tester.Run(host, statement.SQL); err != nil {
		return syrch.Outcome{}, err
	}
	tested := tester.Get(statement.SQL)
	signals := tested.Signals
	signals.MaxAttempts = 1
	candidate := statement.Candidate(syrch.CandidateID(task.ID, 1), nil, "generate", signals)
	host.Propose(candidate)
	if tested.Ran == nil {
		host.Discard(candidate.ID, tested.Wrong)
		return syrch.Nothing(host, tested.Wrong), nil
	}
	host.Keep(candidate.ID, "it ran")
	return syrch.Outcome{Candidates: []syrch.Candidate{candidate}}, nil
}

// isNoFailure reports whether there is only no statement: the reply had none, or the model abstains.
func isNoFailure(err error) bool {
	var missing *syrch.NoStatement
	var failed *syrch.ModelError
	return errors.As(err, &missing) || errors.As(err, &failed) && failed.Abstains()
}
