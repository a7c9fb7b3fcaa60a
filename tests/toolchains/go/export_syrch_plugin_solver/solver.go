// Package export_syrch_plugin_solver has one statement for every task.
package export_syrch_plugin_solver

import (
	about "wit_component/export_syrch_plugin_about"
	run "wit_component/syrch_plugin_run"
	solver "wit_component/syrch_plugin_solver"
	sql "wit_component/syrch_plugin_sql"
	trace "wit_component/syrch_plugin_trace"
	types "wit_component/syrch_plugin_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

const statement = "SELECT 1 AS n"

func Solve(
	types.Problem, types.Catalog, types.Task, []solver.Parent,
) wit.Result[solver.Outcome, types.Failure] {
	answer := sql.Run(statement)
	if answer.IsErr() {
		return wit.Err[solver.Outcome, types.Failure](types.Failure{
			Kind:    types.MakeFailureKindDatabase(),
			Message: statement + ": " + answer.Err().Message,
		})
	}
	results := answer.Ok()
	profile := results.Profile()
	// The collector might do so too late.
	results.Drop()

	candidate := types.Candidate{
		Id:            "go-1",
		Origin:        about.Name,
		Sql:           statement,
		RawConfidence: wit.Some(0.5),
		Rationale:     wit.Some("always the same statement"),
		Signals:       signals(profile, run.CurrentPolicy().MaxAttempts),
	}
	trace.Propose(candidate)
	return wit.Ok[solver.Outcome, types.Failure](solver.Outcome{Candidates: []types.Candidate{candidate}})
}

// What happened: one attempt, which ran.
func signals(profile types.Profile, maxAttempts uint32) types.Signals {
	var nullColumns uint32
	for _, column := range profile.Columns {
		if profile.Rows > 0 && column.Nulls == profile.Rows {
			nullColumns++
		}
	}
	return types.Signals{
		Attempts:    1,
		MaxAttempts: maxAttempts,
		EmptyResult: profile.Rows == 0,
		NullColumns: nullColumns,
		Overflow:    profile.Truncated,
	}
}
