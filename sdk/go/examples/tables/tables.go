// The planner tables may look at each table of the question by itself first.
package main

import (
	"fmt"
	"strings"

	"github.com/syrch/syrch-host/sdk/go/role/planner"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// Settings are what the user may set.
type Settings struct {
	PerTable bool `setting:"per_table" help:"Whether each table that the question names gets a task of its own."`
}

// Tables is the plugin.
type Tables struct{ Settings }

var plugin = syrch.New("tables", "1.0.0", "plans one task, or one for each table of the question", func(settings Settings) Tables {
	return Tables{settings}
})

func init() { planner.Export(plugin) }

func main() {}

// Plan makes one task, or with the setting one for each table and then the question.
func (t Tables) Plan(_ syrch.PlannerHost, problem syrch.Problem, catalog syrch.Catalog) (syrch.Graph, error) {
	answer := syrch.Task{ID: "A", Text: problem.Question}
	var tasks []syrch.Task
	for _, table := range catalog.Tables {
		if !t.PerTable || !strings.Contains(strings.ToLower(problem.Question), strings.ToLower(table.Name)) {
			continue
		}
		task := syrch.Task{ID: fmt.Sprintf("T%d", len(tasks)+1), Text: fmt.Sprintf("%s (table %s)", problem.Question, table.Name)}
		tasks = append(tasks, task)
		answer.DependsOn = append(answer.DependsOn, task.ID)
		// A tolerant task runs although a dependency failed.
		answer.Tolerant = true
	}
	return syrch.Graph{Tasks: append(tasks, answer), Answer: answer.ID}, nil
}
