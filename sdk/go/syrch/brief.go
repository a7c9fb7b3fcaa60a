package syrch

import (
	"fmt"
	"strings"
)

// This file writes the prompt of a statement and of its repair: the catalog, the task, its plan, what its dependencies found, and what was
// tried before.

const (
	// Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
	statementBytes = 4000
	taskLength     = 2000
	shownColumns   = 50
	// The most bytes of all solved examples before the question.
	examplesBytes = 6000
	// The fewest bytes to which the catalog is shortened.
	leastBytes = 500
)

// A Tried is a statement that failed, which is empty if the reply had none, and what was wrong with it, in words that a model can use.
type Tried struct {
	SQL   string
	Wrong string
}

// A PromptSize has the limits of the parts of a prompt: the most bytes of the catalog, and the most rows of each finished dependency, as far
// as they are granted. A struct of settings may embed it.
type PromptSize struct {
	ParentRows   uint32 `setting:"parent_rows" default:"3" least:"0" most:"50" help:"Rows of each finished dependency that stand in the prompt, as far as they are granted."`
	CatalogBytes uint32 `setting:"catalog_bytes" default:"48000" least:"500" most:"200000" help:"Bytes of a prompt that the catalog may fill."`
}

// DefaultPromptSize is the size of prompts that no setting changes.
var DefaultPromptSize = PromptSize{ParentRows: 3, CatalogBytes: 48_000}

// A Brief is the part that all prompts of one task share.
type Brief struct {
	catalog      *Catalog
	bytes        int
	facts        string
	problem      string
	asked        string
	examples     []*Example
	rest         string
	// The form of a request for metrics, if the question mentions one.
	metricRequest string
}

// NewBrief collects the task, its question, and the results of its dependencies.
func NewBrief(host RowsPort, size PromptSize, problem *Problem, catalog *Catalog, task *Task, parents []Parent) *Brief {
	var out strings.Builder
	plain, asked := *problem, *problem
	plain.Hints, asked.Hints = nil, nil
	var examples []*Example
	for at := range problem.Hints {
		hit := &problem.Hints[at]
		if isFact(hit) {
			continue
		}
		plain.Hints = append(plain.Hints, *hit)
		if hit.Corpus != CorpusExamples {
			asked.Hints = append(asked.Hints, *hit)
		} else if example := ExampleOf(hit); example != nil {
			examples = append(examples, example)
		}
	}
	if strings.TrimSpace(task.Text) != strings.TrimSpace(problem.Question) {
		fmt.Fprintf(&out, "The question above is the setting. Your task is this part of it: %s\n", Line(task.Text, taskLength))
	}
	if task.Expected != nil {
		fmt.Fprintf(&out, "The result should be: %s\n", Line(*task.Expected, 400))
	}
	for at, step := range PlanOf(task) {
		if at == 0 {
			out.WriteString("A plan of the statement:\n")
		}
		fmt.Fprintf(&out, "%d. %s\n", at+1, Line(step, 600))
	}
	for at := range parents {
		out.WriteString(found(host, size.ParentRows, catalog.Syntax, &parents[at]))
	}
	out.WriteString(joinHints(catalog.Syntax, task, parents))
	facts := factsText(problem)
	return &Brief{
		catalog, int(size.CatalogBytes), facts, ProblemText(&plain), ProblemText(&asked), examples, out.String(), MetricRequest(problem),
	}
}

// Shorten makes the prompts shorter: it leaves the solved examples out, then the facts about tables, and then halves what the catalog may
// fill; false if there is nothing more to leave out.
func (b *Brief) Shorten() bool {
	if len(b.problem) > len(b.asked) {
		b.examples, b.problem = nil, b.asked
		return true
	}
	if b.facts != "" {
		b.facts = ""
		return true
	}
	before := len(b.tables())
	for b.bytes >= 2*leastBytes && len(b.tables()) == before {
		b.bytes /= 2
	}
	return len(b.tables()) < before
}

// Request returns the request for the next statement. If there are earlier statements, it is a repair with all of them and what was wrong.
// Sample is the number of the draw that it is or repairs.
func (b *Brief) Request(tried []Tried, sample uint32) Request {
	var subjects []string
	for _, earlier := range tried {
		if earlier.SQL != "" {
			subjects = append(subjects, earlier.SQL)
		}
	}
	purpose := ForGenerating
	if len(subjects) > 0 {
		purpose = ForRepair
	}
	return b.Ask(purpose, b.Instructions(), Feedback(tried)).About(subjects...).Number(sample).SQL()
}

// Ask returns a request with these instructions, the tables and the task, for a reply in the form of Instructions; more follows the task.
// Solved examples are turns before it, and the tables then stand before them.
func (b *Brief) Ask(purpose Purpose, instructions, more string) Request {
	if len(b.shownExamples()) == 0 {
		return Ask(purpose).System(instructions).User(b.Setting() + more)
	}
	reply := func(sql string) string { return "```sql\n" + sql + "\n```\nConfidence: 0.95" }
	return b.AddTurns(Ask(purpose).System(instructions+"\n\n"+b.tables()), reply).User(b.Task() + more)
}

// AddTurns adds the solved examples as turns, the one that is most like the question last: the user asks it, and the assistant gives the
// reply of its statement. The question itself is then that of Task.
func (b *Brief) AddTurns(request Request, reply func(sql string) string) Request {
	shown := b.shownExamples()
	for at := len(shown) - 1; at >= 0; at-- {
		request = request.User("Question: " + shown[at].Question + "\n").Assistant(reply(shown[at].SQL))
	}
	return request
}

// Task returns the task without tables and solved examples, for a prompt of a strategy's own.
func (b *Brief) Task() string {
	return b.asked + b.rest
}

// Setting returns the tables and the task with solved examples among its hints, for a prompt of a strategy's own.
func (b *Brief) Setting() string {
	return b.tables() + "\n" + b.problem + b.rest
}

func (b *Brief) tables() string {
	return "Tables:\n" + CatalogText(b.catalog, b.bytes) + b.facts
}

// shownExamples returns the solved examples that fit, the most like the question first.
func (b *Brief) shownExamples() []*Example {
	var shown []*Example
	left := examplesBytes
	for _, example := range b.examples {
		if bytes := len(example.Question) + len(example.SQL); bytes <= left {
			left -= bytes
			shown = append(shown, example)
		}
	}
	return shown
}

// Instructions returns the rules for a statement and the form of the reply.
func (b *Brief) Instructions() string {
	return fmt.Sprintf("You answer questions with one %[1]s SELECT statement (WITH is fine). Nothing may be changed.\n"+
		"- Use only the tables, columns and task results that are listed, and quote names as they are written there.\n"+
		"- Select exactly what is asked for: no further columns, and no rows that nobody asked about.\n"+
		"- Give computed columns short names.\n"+
		"Rules of %[1]s:\n%[2]s"+
		"Write the statement in a ```sql fence, then a line `Confidence: ` with a number from 0 to 1: how likely it is right.%[3]s",
		b.catalog.Syntax.Title, b.catalog.Syntax.Rules, b.metricRequest)
}

func found(host RowsPort, rows uint32, syntax Syntax, parent *Parent) string {
	reported := Line(parent.Task.Text, 300)
	switch {
	case parent.Relation != nil:
		return relationText(host, rows, syntax, parent.Relation, reported)
	case parent.Failure != nil:
		return fmt.Sprintf("There is no result for \"%s\": %s\n", reported, Line(parent.Failure.Message, 300))
	case parent.Other != "":
		return ""
	}
	var hits []string
	for at := range parent.Hits[:min(len(parent.Hits), 20)] {
		hit := &parent.Hits[at]
		text := Line(hit.Path, 120)
		if snippet := strings.TrimSpace(Or(hit.Snippet, "")); snippet != "" {
			text += " (" + Line(snippet, mostOf(hit)) + ")"
		}
		hits = append(hits, text)
	}
	return fmt.Sprintf("Found for \"%s\": %s\n", reported, strings.Join(hits, ", "))
}

func relationText(host RowsPort, rows uint32, syntax Syntax, relation *Relation, reported string) string {
	profile := relation.Results.Profile()
	var columns []string
	for _, column := range profile.Columns[:min(len(profile.Columns), shownColumns)] {
		columns = append(columns, ShownName(syntax, column.Column.Name))
	}
	if more := len(profile.Columns) - shownColumns; more > 0 {
		columns = append(columns, fmt.Sprintf("and %d more", more))
	}
	out := fmt.Sprintf("The result of \"%s\" can stand in FROM as %s (%s), %s.\n",
		reported, ShownName(syntax, relation.Name), strings.Join(columns, ", "), Count(profile.Rows, "row"))
	if rows > 0 && profile.Rows > 0 {
		// Without the grant there is only the shape.
		if page, err := host.Read(relation.Results, 0, rows); err == nil {
			out += "Its first rows:\n" + RowsText(&page)
		}
	}
	return out
}

func joinHints(syntax Syntax, task *Task, parents []Parent) string {
	name := func(id string) string {
		for at := range parents {
			if parents[at].Task.ID == id {
				if relation := parents[at].Relation; relation != nil {
					return ShownName(syntax, relation.Name)
				}
				break
			}
		}
		return ""
	}
	var out strings.Builder
	for _, key := range JoinKeysOf(task) {
		left, right := name(key.Left), name(key.Right)
		leftCol, rightCol := ShownName(syntax, key.LeftCol), ShownName(syntax, key.RightCol)
		switch {
		case left != "" && right != "":
			fmt.Fprintf(&out, "Join hint: %s.%s = %s.%s (%s)\n", left, leftCol, right, rightCol, key.How)
		case left != "":
			fmt.Fprintf(&out, "Join hint: %s.%s matches %s\n", left, leftCol, rightCol)
		case right != "":
			fmt.Fprintf(&out, "Join hint: %s.%s matches %s\n", right, rightCol, leftCol)
		}
	}
	return out.String()
}

// Feedback returns the earlier attempts as prompt text; empty without any.
func Feedback(tried []Tried) string {
	if len(tried) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("\nEarlier attempts, none of which did. Do not repeat them.\n")
	for at, earlier := range tried {
		sql := Clip(earlier.SQL, statementBytes)
		if sql == "" {
			sql = "(no statement)"
		}
		fmt.Fprintf(&out, "Attempt %d:\n%s\nWhat was wrong: %s\n", at+1, sql, earlier.Wrong)
	}
	return out.String()
}
