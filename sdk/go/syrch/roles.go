package syrch

// This file has the roles as interfaces. A plugin is a type with the methods of its roles.

// LinkerRole selects the part of a large catalog that a question needs.
type LinkerRole interface {
	// Link is called once, before any other role.
	Link(host LinkerHost, problem Problem, catalog Catalog) (Linked, error)
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

// AggregatorRole makes the answer from the finished tasks.
type AggregatorRole interface {
	// Aggregate returns the answer, or nil if nothing here answers the question.
	Aggregate(host AggregatorHost, problem Problem, graph Graph, finished []Finished, seen []Observation) (*Answer, error)
}

// RewriterRole proposes other statements with the same result, for the verified optimizer.
type RewriterRole interface {
	// Rewrite returns the next proposal, made from original or from best, whose plan is plan; nil ends the optimization.
	Rewrite(host RewriterHost, original, best string, plan Plan, catalog Catalog, history []Attempt) (*Proposal, error)
}
