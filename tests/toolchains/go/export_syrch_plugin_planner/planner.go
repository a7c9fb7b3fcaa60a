// Package export_syrch_plugin_planner makes one task with the problem's question.
package export_syrch_plugin_planner

import (
	planner "wit_component/syrch_plugin_planner"
	types "wit_component/syrch_plugin_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

func Plan(problem types.Problem, _ types.Catalog) wit.Result[types.Graph, types.Failure] {
	task := types.Task{
		Id:        "answer",
		Text:      problem.Question,
		Operation: types.MakeOperationSolve(),
		Join:      types.MakeJoinAllOf(),
		Priority:  1,
	}
	return wit.Ok[types.Graph, types.Failure](types.Graph{Tasks: []types.Task{task}, Answer: task.Id})
}

func Next(
	_ types.Problem, _ types.Catalog, graph types.Graph, _ []types.Observation, _ uint32,
) wit.Result[planner.Step, types.Failure] {
	return wit.Ok[planner.Step, types.Failure](planner.Step{Memo: graph.Memo})
}
