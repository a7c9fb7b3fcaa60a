// The plugin conformance in Go: all eight roles, each of which does what the case's setting `habit` says. The plugins of the other languages do
// the same, and all are tested with the cases of tests/languages/cases.
package main

import (
	"strings"

	"github.com/syrch/syrch-host/sdk/go/role/aggregator"
	"github.com/syrch/syrch-host/sdk/go/role/calibrator"
	"github.com/syrch/syrch-host/sdk/go/role/clarifier"
	"github.com/syrch/syrch-host/sdk/go/role/linker"
	"github.com/syrch/syrch-host/sdk/go/role/planner"
	"github.com/syrch/syrch-host/sdk/go/role/reward"
	"github.com/syrch/syrch-host/sdk/go/role/rewriter"
	"github.com/syrch/syrch-host/sdk/go/role/solver"
	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// Settings are what a case may set.
type Settings struct {
	Habit string  `setting:"habit" default:"echo" words:"echo raise fail loop large wrong ports parallel cancel" help:"The behaviour of the roles."`
	Size  uint32  `setting:"size" default:"3" least:"0" most:"1000000" help:"A number of things, by habit."`
	Text  string  `setting:"text" help:"A text, by habit."`
	Share float64 `setting:"share" default:"0.5" least:"0" most:"1" help:"A confidence, score or ambiguity."`
	Flag  bool    `setting:"flag" help:"A switch, by habit."`
}

// Conformance is the plugin.
type Conformance struct{ Settings }

var plugin = syrch.New("conformance", "1.0.0", "answers what its case says", func(settings Settings) Conformance {
	return Conformance{settings}
})

func init() {
	linker.Export(plugin)
	planner.Export(plugin)
	solver.Export(plugin)
	calibrator.Export(plugin)
	reward.Export(plugin)
	clarifier.Export(plugin)
	aggregator.Export(plugin)
	rewriter.Export(plugin)
}

func main() {}

// begin ends the call where the habit says so.
func (c Conformance) begin() error {
	switch c.Habit {
	case "raise":
		panic(c.Text)
	case "fail":
		return &syrch.Failure{Kind: syrch.UnsupportedFailure, Message: c.Text, Retryable: c.Flag}
	case "loop":
		for turns := 0; ; turns++ {
			sink = turns
		}
	}
	return nil
}

// sink keeps the endless loop from being removed.
var sink int

// letters returns a text of that many KiB.
func (c Conformance) letters() string { return strings.Repeat("x", int(c.Size)*1024) }

// Link shows the whole catalog.
func (c Conformance) Link(_ syrch.LinkerHost, problem syrch.Problem, catalog syrch.Catalog) (syrch.Linked, error) {
	if err := c.begin(); err != nil {
		return syrch.Linked{}, err
	}
	linked := c.linked(problem, catalog)
	for at := range linked.Tables {
		switch c.Habit {
		case "large":
			linked.Tables[at].Reason = c.letters()
		case "wrong":
			linked.Tables[at].Score = 2
		}
	}
	return linked, nil
}

// Plan makes a chain of tasks.
func (c Conformance) Plan(_ syrch.PlannerHost, problem syrch.Problem, _ syrch.Catalog) (syrch.Graph, error) {
	if err := c.begin(); err != nil {
		return syrch.Graph{}, err
	}
	if c.Habit == "wrong" {
		return syrch.SingleTask(syrch.Task{ID: "a b", Text: problem.Question}), nil
	}
	graph := c.graph(problem)
	if c.Habit == "large" {
		for at := range graph.Tasks {
			graph.Tasks[at].Text = c.letters()
		}
	}
	return graph, nil
}

// Next makes an edit of each new observation.
func (c Conformance) Next(
	_ syrch.PlannerHost, _ syrch.Problem, _ syrch.Catalog, graph syrch.Graph, seen []syrch.Observation, fresh int,
) (syrch.Step, error) {
	if err := c.begin(); err != nil {
		return syrch.Step{}, err
	}
	step := syrch.Step{Memo: graph.Memo}
	for _, observation := range seen[fresh:] {
		step.Edits = append(step.Edits, edits(graph, observation)...)
	}
	return step, nil
}

// Solve returns a candidate for each parent, or does what the habit says.
func (c Conformance) Solve(
	host syrch.SolverHost, problem syrch.Problem, catalog syrch.Catalog, task syrch.Task, parents []syrch.Parent,
) (syrch.Outcome, error) {
	if err := c.begin(); err != nil {
		return syrch.Outcome{}, err
	}
	var outcome syrch.Outcome
	var err error
	switch c.Habit {
	case "ports":
		outcome = c.ports(host, problem, catalog, task)
	case "parallel":
		outcome = c.parallel(host, problem)
	case "cancel":
		outcome, err = c.cancelled(host, problem)
	default:
		outcome = c.outcome(task, parents)
	}
	for at := range outcome.Candidates {
		switch c.Habit {
		case "large":
			outcome.Candidates[at].Rationale = new(c.letters())
		case "wrong":
			outcome.Candidates[at].ID = ""
		}
		host.Propose(outcome.Candidates[at])
	}
	return outcome, err
}

// Calibrate returns a number for each claim.
func (c Conformance) Calibrate(claims []syrch.Claim) []float64 {
	if err := c.begin(); err != nil {
		panic(err)
	}
	number := len(claims)
	if c.Habit == "large" {
		number = int(c.Size)
	}
	numbers := make([]float64, number)
	for at := range numbers {
		switch c.Habit {
		case "large":
			numbers[at] = 0.5
		case "wrong":
			numbers[at] = 2
		default:
			numbers[at] = syrch.Clamp01(claims[at].Confidence*c.Share + float64(claims[at].Signals.Attempts)/1000)
		}
	}
	return numbers
}

// Judge returns a verdict for each rival.
func (c Conformance) Judge(
	_ syrch.RewardHost, _ syrch.Problem, _ syrch.Catalog, _ syrch.Task, rivals []syrch.Rival,
) ([]syrch.Verdict, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	var verdicts []syrch.Verdict
	for _, rival := range rivals {
		verdict := c.verdict(rival.Results.Profile())
		if c.Habit == "large" {
			verdict = syrch.Accept(c.Share, c.letters())
		}
		verdicts = append(verdicts, verdict)
	}
	if c.Habit == "wrong" {
		verdicts = append(verdicts, syrch.Reject(0, "one too many"))
	}
	return verdicts, nil
}

// Assess asks about each failure.
func (c Conformance) Assess(
	_ syrch.ClarifierHost, _ syrch.Problem, _ syrch.Catalog, _ syrch.Graph, seen []syrch.Observation,
) ([]syrch.Question, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	questions := c.questions(seen)
	for at := range questions {
		switch c.Habit {
		case "large":
			questions[at].Text = c.letters()
		case "wrong":
			questions[at].Ambiguity = 2
		}
	}
	return questions, nil
}

// Aggregate answers by the task that the graph names.
func (c Conformance) Aggregate(
	_ syrch.AggregatorHost, _ syrch.Problem, graph syrch.Graph, finished []syrch.Finished, seen []syrch.Observation,
) (*syrch.Answer, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	answer := c.answer(graph, finished, seen)
	if answer != nil {
		switch c.Habit {
		case "large":
			answer.Text = c.letters()
		case "wrong":
			answer.Confidence = 2
		}
	}
	return answer, nil
}

// Rewrite appends a remark to the best statement.
func (c Conformance) Rewrite(
	_ syrch.RewriterHost, _, best string, _ syrch.Plan, _ syrch.Catalog, history []syrch.Attempt,
) (*syrch.Proposal, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	switch c.Habit {
	case "large":
		return &syrch.Proposal{SQL: best, Family: "large", Reason: c.letters()}, nil
	case "wrong":
		return &syrch.Proposal{SQL: best, Family: "in to exists", Reason: "a family with a space"}, nil
	}
	return c.proposal(best, history), nil
}
