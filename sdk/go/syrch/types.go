package syrch

// This file has the values that ports and roles share, as wit/types.wit describes them. The zero value of each is useful: an optional
// field is a pointer, and nil means that there is no value. `new(0.5)` or `new("text")` makes one.

// A Dialect is the SQL dialect of a database. A dialect that is none of the constants is one that this version does not know.
type Dialect string

// The dialects.
const (
	SQLite     Dialect = "sqlite"
	Postgres   Dialect = "postgres"
	MySQL      Dialect = "mysql"
	DuckDB     Dialect = "duckdb"
	Databricks Dialect = "databricks"
	Spark      Dialect = "spark"
	ANSI       Dialect = "ansi"
)

// An Extra is a further field by name, for later versions. Both sides ignore the names that they do not know.
type Extra struct {
	Name string
	JSON string
}

// A Column is a column of a table or of a result.
type Column struct {
	// Name is spelled as in the catalog, without quotes.
	Name string
	// SQLType is the declared type; it is empty if there is none.
	SQLType  string
	Nullable bool
	Comment  *string
	Extra    []Extra
}

// A ForeignKey refers from columns of one table to columns of another.
type ForeignKey struct {
	Columns    []string
	RefTable   string
	RefColumns []string
}

// An Index is an index of a table.
type Index struct {
	Name      string
	Columns   []string
	IsUnique  bool
	Method    *string
	Predicate *string
}

// A Table is a table or a view that the user granted. Extra has `kind` = `"view"` for a view.
type Table struct {
	SchemaName  *string
	Name        string
	Columns     []Column
	PrimaryKey  []string
	ForeignKeys []ForeignKey
	Indexes     []Index
	RowEstimate *uint64
	Comment     *string
	Extra       []Extra
}

// A Catalog has the tables that a search may see. Database is the host's name for the database, never an address or a path.
type Catalog struct {
	Database string
	Dialect  Dialect
	Tables   []Table
}

// A Corpus is where a hit was found.
type Corpus string

// The corpora.
const (
	CorpusTables   Corpus = "tables"
	CorpusColumns  Corpus = "columns"
	CorpusCells    Corpus = "cells"
	CorpusNotes    Corpus = "notes"
	CorpusExamples Corpus = "examples"
)

// A Hit is one result of retrieval. Score is 0 to 1.
type Hit struct {
	Corpus  Corpus
	ID      string
	Path    string
	Table   *string
	Column  *string
	Snippet *string
	Payload *string
	Score   float64
}

// A Clarification is a question to the user and its answer.
type Clarification struct {
	Question string
	Answer   string
}

// A Problem is what the user wants to know. Answers are the clarifications so far, the oldest first.
type Problem struct {
	Question string
	Evidence *string
	Goal     *string
	Answers  []Clarification
	Hints    []Hit
	Extra    []Extra
}

// A ColumnProfile describes a column of a result: how many of its cells are NULL, and how many are different; Distinct is nil if they
// were not counted.
type ColumnProfile struct {
	Column   Column
	Nulls    uint64
	Distinct *uint64
}

// A Profile is the shape of a result. Truncated is true if a limit cut it.
type Profile struct {
	Rows      uint64
	Truncated bool
	Columns   []ColumnProfile
	Warnings  []string
}

// A ValueKind is the kind of a cell.
type ValueKind uint8

// The kinds of cells. The content of KindDecimal, KindTemporal and KindOther is in Value.Text, as that of KindText is.
const (
	KindNull ValueKind = iota
	KindBoolean
	KindInteger
	KindReal
	KindDecimal
	KindText
	KindTemporal
	KindBytes
	KindOther
)

// A Value is a cell. Kind says which of the fields has its content; the zero value is NULL.
type Value struct {
	Kind    ValueKind
	Boolean bool
	Integer int64
	Real    float64
	Text    string
	Bytes   []byte
}

// A Measure is a further number of a strategy's own, by name.
type Measure struct {
	Name  string
	Value float64
}

// Signals are what happened before a candidate was found: counts over the attempts at its task, up to and including its own. Agreeing of
// Samples results have the candidate's fingerprint; both are 0 if the solver did not count.
type Signals struct {
	Attempts        uint32
	MaxAttempts     uint32
	SyntaxErrors    uint32
	SchemaErrors    uint32
	ExecutionErrors uint32
	EmptyResult     bool
	NullColumns     uint32
	Overflow        bool
	Samples         uint32
	Agreeing        uint32
	LogProb         *float64
	Reward          *float64
	Extra           []Measure
}

// A Candidate is one SQL statement that may solve a task. Parents and Origin (how it was made) form the tree that a person sees.
// RawConfidence is what the model stated, 0 to 1. The host overwrites Confidence with the calibrator's value.
type Candidate struct {
	ID            string
	Parents       []string
	Origin        string
	SQL           string
	RawConfidence *float64
	Confidence    *float64
	Score         *float64
	Rationale     *string
	Signals       Signals
	Extra         []Extra
}

// A JoinKind says which dependencies a task waits for.
type JoinKind uint8

// The kinds of joins: all dependencies, any one of them, or at least a number of them.
const (
	AllOf JoinKind = iota
	AnyOf
	AtLeast
)

// A Join says when a task may start. The zero value means: when all dependencies are solved. Number counts for AtLeast only.
type Join struct {
	Kind   JoinKind
	Number uint32
}

// A Retriever is how a corpus is searched.
type Retriever string

// The retrievers: by words, by the spelling of names, by the lines of descriptions and notes, and by embeddings.
const (
	Lexical      Retriever = "lexical"
	PathFuzzy    Retriever = "path-fuzzy"
	SegmentFuzzy Retriever = "segment-fuzzy"
	Vector       Retriever = "vector"
)

// A RetrievalQuery asks for at most Limit hits of a corpus, and never more than 100.
type RetrievalQuery struct {
	Corpus    Corpus
	Retriever Retriever
	Text      string
	Limit     uint32
}

// An OperationKind says who does a task.
type OperationKind uint8

// The kinds of operations: the solver is called, the host runs a retrieval query, or the host takes the best result of the dependencies.
const (
	Solve OperationKind = iota
	Retrieve
	Choose
	OtherOperation
)

// An Operation is what a task does. The zero value calls the solver. Query is that of Retrieve, and Other is the name of an operation that
// this version does not know.
type Operation struct {
	Kind  OperationKind
	Query RetrievalQuery
	Other string
}

// A Task is a node of the graph. The zero value of each field is its default.
type Task struct {
	ID        string
	Parent    *string
	Text      string
	Operation Operation
	DependsOn []string
	Join      Join
	// Tolerant says that the task runs although a dependency failed.
	Tolerant bool
	// Among ready tasks, the one with the greatest Priority starts first.
	Priority   float64
	Confidence *float64
	Expected   *string
	Database   *string
	// Context is a JSON document from the planner to the solver, opaque to the host.
	Context *string
}

// A Graph has the tasks of a search. Answer is the id of the task whose result answers the question. Memo is the planner's state between
// calls, a JSON document that is opaque to the host.
type Graph struct {
	Tasks  []Task
	Answer string
	Memo   *string
}

// A Question is one to the user. Choices are suggested answers, none for a free text. Ambiguity is 0 to 1.
type Question struct {
	Text      string
	Choices   []string
	Ambiguity float64
}

// An EndingKind says how a task ended.
type EndingKind uint8

// The kinds of endings. Empty means that the task was solved by a statement without rows, and Skipped that a dependency was not solved.
const (
	Solved EndingKind = iota
	Empty
	Failed
	Skipped
	Cancelled
	OtherEnding
)

// An Ending is how a task ended. Failure is that of Failed; Text is the name of the dependency for Skipped, or of an ending that this
// version does not know.
type Ending struct {
	Kind    EndingKind
	Failure Failure
	Text    string
}

// An Observation is what became of a task. Candidates are calibrated, the best first.
type Observation struct {
	Task        string
	Ending      Ending
	Candidates  []Candidate
	Profile     *Profile
	Fingerprint *string
	Hits        []Hit
	Subtasks    []Task
	Memo        *string
}

// A Check is one thing that a judge looked at, and whether it was as it should be.
type Check struct {
	Name   string
	Passed bool
}

// A VerdictKind is the kind of a verdict.
type VerdictKind uint8

// The kinds of verdicts. Unavailable never counts as acceptance or rejection.
const (
	Unavailable VerdictKind = iota
	Accepted
	Rejected
)

// A Verdict is what a reward says of a candidate. Score, 0 to 1, and Checks are left out of one that is unavailable.
type Verdict struct {
	Kind   VerdictKind
	Score  float64
	Reason string
	Checks []Check
}
