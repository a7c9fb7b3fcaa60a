package main

import (
	"fmt"

	"github.com/syrch/syrch-host/sdk/go/role/clarifier"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

func init() { clarifier.Export(plugin) }

// Assess asks about the tasks that failed.
func (p Plugin) Assess(
	_ syrch.ClarifierHost, _ syrch.Problem, _ syrch.Catalog, graph syrch.Graph, seen []syrch.Observation,
) ([]syrch.Question, error) {
	var questions []syrch.Question
	for _, observation := range seen {
		if observation.Ending.Kind != syrch.Failed || len(questions) == int(p.Most) {
			continue
		}
		text := observation.Task
		if task := graph.Task(observation.Task); task != nil {
			text = task.Text
		}
		// Without choices any answer will do.
		questions = append(questions, syrch.Question{
			Text:      fmt.Sprintf("\"%s\" failed: %s. How else can it be said?", text, observation.Ending.Failure.Message),
			Ambiguity: 0.5,
		})
	}
	return questions, nil
}
