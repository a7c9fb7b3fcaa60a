package main

import (
	"fmt"
	"strings"

	"github.com/syrch/syrch-host/sdk/go/role/planner"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { planner.Export(plugin) }

// Plan makes a task for each table that the question names, and then the question itself. With a method Next, see syrch.PlannerNext, a planner
// also changes the graph after each observation.
func (p Plugin) Plan(_ syrch.PlannerHost, problem syrch.Problem, catalog syrch.Catalog) (syrch.Graph, error) {
	question := strings.ToLower(problem.Question)
	// A tolerant task runs although a dependency failed.
	answer := syrch.Task{ID: "A", Text: problem.Question, Tolerant: true}
	var tasks []syrch.Task
	for _, table := range catalog.Tables {
		if len(tasks) == int(p.Most) || !strings.Contains(question, strings.ToLower(table.Name)) {
			continue
		}
		id := fmt.Sprintf("T%d", len(tasks)+1)
		tasks = append(tasks, syrch.Task{ID: id, Text: fmt.Sprintf("%s (table %s)", problem.Question, table.Name)})
		answer.DependsOn = append(answer.DependsOn, id)
	}
	return syrch.Graph{Tasks: append(tasks, answer), Answer: answer.ID}, nil
}
