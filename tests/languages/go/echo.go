package main

import (
	"fmt"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has the habit `echo`: values go through unchanged.

func (c Conformance) linked(problem syrch.Problem, catalog syrch.Catalog) syrch.Linked {
	linked := syrch.Linked{Hints: problem.Hints}
	for _, table := range catalog.Tables {
		linked.Tables = append(linked.Tables, syrch.Relevant{
			Table: table.Name, Columns: columns(table), Score: c.Share, Reason: syrch.Or(table.Comment, ""),
		})
	}
	return linked
}

func columns(table syrch.Table) []string {
	var names []string
	for _, column := range table.Columns {
		names = append(names, column.Name)
	}
	return names
}

// graph returns a chain of one task for each clarification, or one task with the question.
func (c Conformance) graph(problem syrch.Problem) syrch.Graph {
	var graph syrch.Graph
	for number, said := range problem.Answers {
		task := syrch.Task{ID: said.Question, Text: said.Answer, Context: new(syrch.JSON(map[string]int{"n": number}))}
		if number > 0 {
			task.DependsOn = []string{graph.Answer}
		}
		graph.Tasks, graph.Answer = append(graph.Tasks, task), task.ID
	}
	if len(graph.Tasks) == 0 {
		graph = syrch.SingleTask(syrch.Task{ID: "A", Text: problem.Question})
	}
	graph.Memo = new(syrch.JSON(map[string]string{"question": problem.Question}))
	return graph
}

func edits(graph syrch.Graph, seen syrch.Observation) []syrch.Edit {
	switch seen.Ending.Kind {
	case syrch.Solved:
		return []syrch.Edit{{Kind: syrch.Finish}}
	case syrch.Failed:
		again := syrch.Task{ID: seen.Task + "-again", Text: seen.Ending.Failure.Message}
		return []syrch.Edit{{Kind: syrch.AddTask, Task: again}}
	case syrch.Empty:
		return []syrch.Edit{{Kind: syrch.SetAnswer, ID: seen.Task}}
	case syrch.Skipped:
		return []syrch.Edit{{Kind: syrch.CancelTask, ID: seen.Task}}
	case syrch.Cancelled:
		if task := graph.Task(seen.Task); task != nil {
			update := *task
			update.Priority = 2
			return []syrch.Edit{{Kind: syrch.UpdateTask, Task: update}}
		}
	}
	return nil
}

func (c Conformance) outcome(task syrch.Task, parents []syrch.Parent) syrch.Outcome {
	outcome := syrch.Outcome{Memo: new(syrch.JSON(map[string]string{"task": task.ID}))}
	for _, parent := range parents {
		outcome.Candidates = append(outcome.Candidates, candidates(parent)...)
	}
	if len(parents) == 0 {
		candidate := named("only", "SELECT 1")
		candidate.RawConfidence = &c.Share
		outcome.Candidates = append(outcome.Candidates, candidate)
	}
	if c.Text != "" {
		outcome.Ask = &syrch.Question{Text: c.Text, Choices: []string{"yes", "no"}, Ambiguity: c.Share}
	}
	return outcome
}

func named(id, sql string) syrch.Candidate {
	return syrch.Candidate{ID: id, Origin: "conformance", SQL: sql}
}

func candidates(parent syrch.Parent) []syrch.Candidate {
	switch {
	case parent.Relation != nil:
		candidate := parent.Relation.Candidate
		if candidate.Origin == "" {
			candidate.Origin = "conformance"
		}
		candidate.Rationale = new(fmt.Sprintf("%s: %d rows", parent.Relation.Name, parent.Relation.Results.Profile().Rows))
		return []syrch.Candidate{candidate}
	case parent.Failure != nil:
		candidate := named("failed", "SELECT 0")
		candidate.Rationale = &parent.Failure.Message
		return []syrch.Candidate{candidate}
	case parent.Other != "":
		return nil
	}
	return []syrch.Candidate{named(fmt.Sprintf("hits-%d", len(parent.Hits)), fmt.Sprintf("SELECT %d", len(parent.Hits)))}
}

func (c Conformance) verdict(profile syrch.Profile) syrch.Verdict {
	if profile.Rows == 0 {
		return syrch.Reject(0, "no rows")
	}
	if profile.Truncated {
		return syrch.CannotJudge("truncated")
	}
	verdict := syrch.Accept(c.Share, fmt.Sprintf("%d rows of %d columns", profile.Rows, len(profile.Columns)))
	for _, column := range profile.Columns {
		verdict.Checks = append(verdict.Checks, syrch.Check{Name: column.Column.Name, Passed: column.Nulls == 0})
	}
	return verdict
}

func (c Conformance) questions(seen []syrch.Observation) []syrch.Question {
	var questions []syrch.Question
	for _, observation := range seen {
		if observation.Ending.Kind != syrch.Failed {
			continue
		}
		question := syrch.Question{Text: observation.Ending.Failure.Message, Ambiguity: c.Share}
		for _, candidate := range observation.Candidates {
			question.Choices = append(question.Choices, candidate.Origin)
		}
		questions = append(questions, question)
	}
	return questions
}

func (c Conformance) answer(graph syrch.Graph, finished []syrch.Finished, seen []syrch.Observation) *syrch.Answer {
	var answer *syrch.Answer
	var basis, caveats []string
	for _, of := range finished {
		basis = append(basis, of.Task.Text)
		if of.Task.ID != graph.Answer || answer != nil {
			continue
		}
		answer = &syrch.Answer{
			Text: of.Candidate.SQL, Task: of.Task.ID, Candidate: &of.Candidate.ID, Confidence: syrch.Or(of.Candidate.Confidence, 0),
		}
		if c.Flag {
			answer.SQL = new("SELECT * FROM " + of.Name)
		}
	}
	for _, observation := range seen {
		if observation.Ending.Kind == syrch.Skipped {
			caveats = append(caveats, observation.Task)
		}
	}
	if answer != nil {
		answer.Basis, answer.Caveats = basis, caveats
	}
	return answer
}

func (c Conformance) proposal(best string, history []syrch.Attempt) *syrch.Proposal {
	number := len(history)
	if number >= int(c.Size) {
		return nil
	}
	reason := "first"
	if number > 0 {
		reason = word(history[number-1].Trial)
	}
	return &syrch.Proposal{SQL: fmt.Sprintf("%s -- %d", best, number), Family: fmt.Sprintf("f%d", number), Reason: reason}
}

func word(trial syrch.Trial) string {
	switch trial.Kind {
	case syrch.TrialAccepted:
		return fmt.Sprintf("accepted %.1f", trial.Speed)
	case syrch.TrialSlower:
		return fmt.Sprintf("slower %.1f", trial.Speed)
	case syrch.TrialMismatch:
		return "mismatch"
	case syrch.TrialReordered:
		return "reordered"
	case syrch.TrialOtherColumns:
		return "other-columns"
	case syrch.TrialRefused:
		return "refused: " + trial.Text
	case syrch.TrialFailed:
		return "failed: " + trial.Text
	case syrch.TrialTooLarge:
		return "too-large"
	}
	return trial.Text
}
