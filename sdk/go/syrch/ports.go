package syrch

// This file has the ports as interfaces, and for each role the interface that has exactly its ports. wit/ports.wit is the contract of each
// function; the comments here state what differs in Go. A component imports only the functions that its code calls.

// RunPort has the facts of the run.
type RunPort interface {
	// CurrentPolicy returns what the user asked for.
	CurrentPolicy() Policy
	// Setting returns a further setting of the user's by name, as JSON; nil if the user did not give it.
	Setting(name string) *string
	// Remaining returns what the search may still spend.
	Remaining() Budget
	// Seed returns the source for shuffles and samples. The same run gives the same number.
	Seed() uint64
}

// WaitPort waits for any mix of calls in flight.
type WaitPort interface {
	// WaitAny waits until at least one ticket is ready, and returns those that are, in the given order.
	WaitAny(tickets []uint32) []uint32
	// Pause waits that many milliseconds: a minute at most, and five minutes in one call of the role.
	Pause(milliseconds uint32)
}

// LLMPort has the language models. Its errors are of the type *ModelError.
type LLMPort interface {
	// Models returns the names that a request may have.
	Models() []string
	// Complete sends a request and waits for the reply.
	Complete(request Request) (Reply, error)
	// CompleteAll sends the requests concurrently. Replies have the order of the requests.
	CompleteAll(requests []Request) []Result[Reply]
	// StartReply sends a request without waiting. Close the handle when it is no longer needed.
	StartReply(request Request) PendingReply
}

// A Result is the value of a call or its error.
type Result[T any] struct {
	Value T
	Err   error
}

// PendingReply is a model call in flight.
type PendingReply interface {
	// Ticket returns the number to pass to WaitAny.
	Ticket() uint32
	// Cancel ends the call now, which stays charged.
	Cancel()
	// Get returns false while the call is in flight; afterwards the same reply each time.
	Get() (Result[Reply], bool)
	// Close gives the handle back to the host, which ends a call in flight. It never fails.
	Close()
}

// InspectPort has syntax, facts of the catalog, plans and statistics.
type InspectPort interface {
	// Check parses one statement and resolves its names, without running it. Errors are of the type *SQLError.
	Check(text string) (Facts, error)
	// Explain returns the engine's plan of a statement, which is not run. Errors are of the type *SQLError.
	Explain(text string) (Plan, error)
	// ColumnStatsOf returns the statistics of a table's columns. Errors are of the type *PortError.
	ColumnStatsOf(table string, columns []string) ([]ColumnStats, error)
	// CompileMetric returns the statement of a request for metrics, which is JSON. Errors are of the type *PortError.
	CompileMetric(request string) (Compiled, error)
}

// A ResultSet is the result of a statement. Its rows stay in the host. Close it when it is no longer needed: `defer results.Close()`.
// A role's arguments need no Close; the SDK closes them after the call.
type ResultSet interface {
	// Profile returns the shape of the result.
	Profile() Profile
	// Fingerprint returns a text that is equal for equal results of the same run; nil for an equality that the host does not know.
	Fingerprint(under Equality) *string
	// Close gives the handle back to the host. It never fails.
	Close()
}

// RunningStatement is a statement in flight.
type RunningStatement interface {
	// Ticket returns the number to pass to WaitAny.
	Ticket() uint32
	// Cancel ends the statement now.
	Cancel()
	// Take moves the result to the caller, once. It returns false while the statement is in flight, and after the result was taken.
	Take() (Result[ResultSet], bool)
	// Close gives the handle back to the host, which ends a statement in flight. It never fails.
	Close()
}

// SQLPort runs statements. Its errors are of the type *SQLError.
type SQLPort interface {
	// Run runs one read-only statement.
	Run(text string) (ResultSet, error)
	// RunAll runs statements concurrently. Results have the order of the texts.
	RunAll(texts []string) []Result[ResultSet]
	// StartStatement starts a statement without waiting.
	StartStatement(text string) RunningStatement
}

// RowsPort has the cells of a result, as far as the user grants them. Its errors are of the type *PortError.
type RowsPort interface {
	// Read returns rows from offset on: at most limit, and at most those that the grant allows.
	Read(results ResultSet, offset uint64, limit uint32) (Page, error)
}

// CellsPort has the cells of the tables, under the same grant as RowsPort. Its errors are of the type *PortError.
type CellsPort interface {
	// Samples returns the least, greatest and most frequent values of a table's columns.
	Samples(table string, columns []string, limit uint32) ([]Sample, error)
	// FindCells returns the cells that match, one list for each phrase, best first.
	FindCells(phrases []string, how Match, limit uint32) ([][]Hit, error)
}

// Judging is a judgement in flight.
type Judging interface {
	// Ticket returns the number to pass to WaitAny.
	Ticket() uint32
	// Cancel ends the judgement now.
	Cancel()
	// Get returns false while the judgement is in flight; afterwards the same verdicts each time.
	Get() (Result[[]Verdict], bool)
	// Close gives the handle back to the host, which ends a judgement in flight. It never fails.
	Close()
}

// EvaluatePort has the calibrator and the reward of this search. Its errors are of the type *PortError.
type EvaluatePort interface {
	// CalibrateAll returns the calibrated confidence of each claim, in order.
	CalibrateAll(claims []Claim) ([]float64, error)
	// Reward returns one verdict for each candidate, in order. They are judged together.
	Reward(candidates []Candidate) ([]Verdict, error)
	// StartReward starts a judgement without waiting.
	StartReward(candidates []Candidate) Judging
}

// RetrievalPort has retrieval over names, descriptions, notes and solved examples. Its errors are of the type *PortError.
type RetrievalPort interface {
	// Retrieve returns the hits of one query, best first.
	Retrieve(query RetrievalQuery) ([]Hit, error)
	// RetrieveAll runs at most 64 queries concurrently. Results have the order of the queries.
	RetrieveAll(queries []RetrievalQuery) []Result[[]Hit]
	// Embed returns vectors of at most 256 texts, of length 1.
	Embed(texts []string) ([][]float32, error)
}

// TracePort is what people see of the search. Nothing here fails.
type TracePort interface {
	// Note writes a line of the log. If a task ends without a candidate, the user is shown its last warning.
	Note(level Level, message string)
	// Propose says that a candidate exists. Call it before Keep, Discard or Event name the candidate.
	Propose(candidate Candidate)
	// Keep says that the candidate was chosen, and why.
	Keep(candidate, reason string)
	// Discard says that the candidate was not chosen, and why.
	Discard(candidate, reason string)
	// Event is a step of the strategy's own, shown under its candidate. An empty candidate is none. Data is written by JSON.
	Event(candidate, name string, data any)
}

// LinkerHost is what a linker may reach.
type LinkerHost interface {
	RunPort
	WaitPort
	LLMPort
	InspectPort
	CellsPort
	RetrievalPort
	TracePort
}

// PlannerHost is what a planner may reach.
type PlannerHost interface {
	RunPort
	WaitPort
	LLMPort
	InspectPort
	RetrievalPort
	TracePort
}

// SolverHost is what a solver may reach.
type SolverHost interface {
	RunPort
	WaitPort
	LLMPort
	InspectPort
	SQLPort
	RowsPort
	CellsPort
	EvaluatePort
	RetrievalPort
	TracePort
}

// RewardHost is what a reward may reach.
type RewardHost interface {
	RunPort
	WaitPort
	LLMPort
	InspectPort
	SQLPort
	RowsPort
	CellsPort
	TracePort
}

// ClarifierHost is what a clarifier may reach.
type ClarifierHost interface {
	RunPort
	WaitPort
	LLMPort
	TracePort
}

// AggregatorHost is what an aggregator may reach.
type AggregatorHost interface {
	RunPort
	WaitPort
	LLMPort
	SQLPort
	RowsPort
	TracePort
}

// RewriterHost is what a rewriter may reach. Its Check and Explain know the tables of the original statement only.
type RewriterHost interface {
	RunPort
	WaitPort
	LLMPort
	InspectPort
	TracePort
}
