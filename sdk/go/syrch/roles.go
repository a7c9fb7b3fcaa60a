package syrch

// This file has the roles as interfaces, and the values of theirs that hold a result. A plugin is a type with the methods of its roles.

// A Relevant is a table to show. Columns are those to show; none means all. Score is 0 to 1.
type Relevant struct {
	Table   string
	Columns []string
	Score   float64
	Reason  string
}

// A Linked has the tables to show, most relevant first, and hints for the other roles. Without a table the catalog stays as it is.
type Linked struct {
	Tables []Relevant
	Hints  []Hit
}

// LinkerRole selects the part of a large catalog that a question needs.
type LinkerRole interface {
	// Link is called once, before any other role.
	Link(host LinkerHost, problem Problem, catalog Catalog) (Linked, error)
}

// An EditKind is the kind of a change of the graph.
type EditKind uint8

// The kinds of edits.
const (
	AddTask EditKind = iota
	UpdateTask
	CancelTask
	SetAnswer
	Finish
)

// An Edit is a change of the graph: AddTask and UpdateTask have a Task, CancelTask and SetAnswer the ID of one.
type Edit struct {
	Kind EditKind
	Task Task
	ID   string
}

// A Step is what a planner changes after an observation. Memo replaces that of the graph.
type Step struct {
	Edits []Edit
	Memo  *string
}

// PlannerRole makes a graph of tasks from a question. A planner with a method Next, see PlannerNext, also changes the graph.
type PlannerRole interface {
	// Plan returns the first graph.
	Plan(host PlannerHost, problem Problem, catalog Catalog) (Graph, error)
}

// PlannerNext is implemented by planners that change the graph. Without it the graph stays as it is.
type PlannerNext interface {
	// Next is called after each observation; seen[fresh:] are new.
	Next(host PlannerHost, problem Problem, catalog Catalog, graph Graph, seen []Observation, fresh int) (Step, error)
}

// A Relation is the result of a finished dependency. Name may stand in FROM.
type Relation struct {
	Name      string
	Candidate Candidate
	Results   ResultSet
}

// A Parent is a dependency of a task, which has ended: with a Relation, or with the Hits of a retrieval task, or with a Failure, which only
// reaches tasks that are tolerant, or with something that this version does not know, whose name is Other. Memo is what its solver returned.
type Parent struct {
	Task     Task
	Relation *Relation
	Hits     []Hit
	Failure  *Failure
	Other    string
	Memo     *string
}

// An Outcome is what a solver found. Candidates are the best first; none is a valid outcome. Subtasks replace this task by smaller ones. Ask
// is a question that only the user can decide.
type Outcome struct {
	Candidates []Candidate
	Subtasks   []Task
	Ask        *Question
	Memo       *string
}

// SolverRole finds statements that solve one task.
type SolverRole interface {
	// Solve is called once for each task.
	Solve(host SolverHost, problem Problem, catalog Catalog, task Task, parents []Parent) (Outcome, error)
}

// CalibratorRole turns stated confidences into probabilities. It reaches no port and cannot fail.
type CalibratorRole interface {
	// Calibrate returns one number of 0 to 1 for each claim, in order.
	Calibrate(claims []Claim) []float64
}

// A Rival is a candidate with its rows.
type Rival struct {
	Candidate Candidate
	Results   ResultSet
}

// RewardRole judges all candidates of one task at once.
type RewardRole interface {
	// Judge returns one verdict for each rival, in order.
	Judge(host RewardHost, problem Problem, catalog Catalog, task Task, rivals []Rival) ([]Verdict, error)
}

// ClarifierRole decides what to ask the user.
type ClarifierRole interface {
	// Assess returns the questions, the most useful first.
	Assess(host ClarifierHost, problem Problem, catalog Catalog, graph Graph, seen []Observation) ([]Question, error)
}

// A Finished is a finished task. Name may stand in FROM of the answer's statement; Others are its further candidates, best first.
type Finished struct {
	Name      string
	Task      Task
	Candidate Candidate
	Others    []Candidate
	Results   ResultSet
}

// An Answer is the answer to the question. SQL is a statement that joins finished tasks by the names of their relations. Basis states step
// by step how the answer was found, and Caveats warn.
type Answer struct {
	Text       string
	Task       string
	Candidate  *string
	SQL        *string
	Confidence float64
	Basis      []string
	Caveats    []string
}

// AggregatorRole makes the answer from the finished tasks.
type AggregatorRole interface {
	// Aggregate returns the answer, or nil if nothing here answers the question.
	Aggregate(host AggregatorHost, problem Problem, graph Graph, finished []Finished, seen []Observation) (*Answer, error)
}

// A TrialKind is the kind of an outcome of a proposal.
type TrialKind uint8

// The kinds of trials.
const (
	TrialAccepted TrialKind = iota
	TrialSlower
	TrialMismatch
	TrialReordered
	TrialOtherColumns
	TrialRefused
	TrialFailed
	TrialTooLarge
	TrialOther
)

// A Trial is the outcome of a proposal. Speed, of TrialAccepted and TrialSlower, is relative to the best statement so far. Text is the reason
// of TrialRefused and TrialFailed.
type Trial struct {
	Kind  TrialKind
	Speed float64
	Text  string
}

// An Attempt is an earlier proposal and what became of it.
type Attempt struct {
	SQL    string
	Family string
	Trial  Trial
}

// A Proposal is another statement with the same result. Family is the kind of rewrite, such as `in-to-exists`.
type Proposal struct {
	SQL    string
	Family string
	Reason string
}

// RewriterRole proposes other statements with the same result, for the verified optimizer.
type RewriterRole interface {
	// Rewrite returns the next proposal, made from original or from best, whose plan is plan; nil ends the optimization.
	Rewrite(host RewriterHost, original, best string, plan Plan, catalog Catalog, history []Attempt) (*Proposal, error)
}
