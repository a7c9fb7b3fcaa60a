//go:build wasip1

package wasm

import "github.com/syrch/syrch-host/sdk/go/syrch"

// This file has the values of wit/types.wit, with the fields in its order.

var (
	dialects     = []syrch.Dialect{syrch.SQLite, syrch.Postgres, syrch.MySQL, syrch.DuckDB, syrch.Databricks, syrch.Spark, syrch.ANSI}
	corpora      = []syrch.Corpus{syrch.CorpusTables, syrch.CorpusColumns, syrch.CorpusCells, syrch.CorpusNotes, syrch.CorpusExamples}
	retrievers   = []syrch.Retriever{syrch.Lexical, syrch.PathFuzzy, syrch.SegmentFuzzy, syrch.Vector}
	failureKinds = []syrch.FailureKind{
		syrch.InputFailure, syrch.ModelFailure, syrch.DatabaseFailure, syrch.BudgetFailure, syrch.UnsupportedFailure,
		syrch.CancelledFailure, syrch.InternalFailure,
	}
	sqlErrorKinds = []syrch.SQLErrorKind{
		syrch.SyntaxError, syrch.UnknownTable, syrch.UnknownColumn, syrch.AmbiguousName, syrch.TypeMismatch, syrch.WriteRefused,
		syrch.FunctionRefused, syrch.SQLDenied, syrch.SQLTimeout, syrch.SQLTooLarge, syrch.SQLCancelled, syrch.SQLBudget,
		syrch.SQLUnavailable, syrch.OtherSQLError,
	}
	portErrorKinds = []syrch.PortErrorKind{
		syrch.PortDenied, syrch.PortUnsupported, syrch.PortUnknownName, syrch.PortBudget, syrch.PortUnavailable, syrch.PortOther,
	}
)

// Unit is the value of a result that has none.
func Unit(*Codec, *struct{}) {}

func extras(c *Codec, list_ *[]syrch.Extra) {
	list(c, list_, func(c *Codec, extra *syrch.Extra) {
		text(c, &extra.Name)
		text(c, &extra.JSON)
	})
}

// Problem is the type of the contract, as the other functions of this file are.
func Problem(c *Codec, problem *syrch.Problem) {
	text(c, &problem.Question)
	option(c, &problem.Evidence, text)
	option(c, &problem.Goal, text)
	list(c, &problem.Answers, func(c *Codec, said *syrch.Clarification) {
		text(c, &said.Question)
		text(c, &said.Answer)
	})
	list(c, &problem.Hints, hit)
	extras(c, &problem.Extra)
}

func column(c *Codec, column *syrch.Column) {
	text(c, &column.Name)
	text(c, &column.SQLType)
	boolean(c, &column.Nullable)
	option(c, &column.Comment, text)
	extras(c, &column.Extra)
}

func foreignKey(c *Codec, key *syrch.ForeignKey) {
	texts(c, &key.Columns)
	text(c, &key.RefTable)
	texts(c, &key.RefColumns)
}

func index(c *Codec, index *syrch.Index) {
	text(c, &index.Name)
	texts(c, &index.Columns)
	boolean(c, &index.IsUnique)
	option(c, &index.Method, text)
	option(c, &index.Predicate, text)
}

func table(c *Codec, table *syrch.Table) {
	option(c, &table.SchemaName, text)
	text(c, &table.Name)
	list(c, &table.Columns, column)
	texts(c, &table.PrimaryKey)
	list(c, &table.ForeignKeys, foreignKey)
	list(c, &table.Indexes, index)
	option(c, &table.RowEstimate, number[uint64])
	option(c, &table.Comment, text)
	extras(c, &table.Extra)
}

// Catalog is the type of the contract.
func Catalog(c *Codec, catalog *syrch.Catalog) {
	text(c, &catalog.Database)
	words(c, &catalog.Dialect, dialects)
	list(c, &catalog.Tables, table)
}

func hit(c *Codec, hit *syrch.Hit) {
	words(c, &hit.Corpus, corpora)
	text(c, &hit.ID)
	text(c, &hit.Path)
	option(c, &hit.Table, text)
	option(c, &hit.Column, text)
	option(c, &hit.Snippet, text)
	option(c, &hit.Payload, text)
	number(c, &hit.Score)
}

// Hits is a list of the type of the contract, as the other functions with plural names are.
func Hits(c *Codec, hits *[]syrch.Hit) { list(c, hits, hit) }

func profile(c *Codec, profile *syrch.Profile) {
	number(c, &profile.Rows)
	boolean(c, &profile.Truncated)
	list(c, &profile.Columns, func(c *Codec, of *syrch.ColumnProfile) {
		record(c, &of.Column, column)
		number(c, &of.Nulls)
		option(c, &of.Distinct, number[uint64])
	})
	texts(c, &profile.Warnings)
}

func value(c *Codec, value *syrch.Value) {
	// The cases have the order of the kinds.
	tag := uint8(value.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.ValueKind(tag) {
		case syrch.KindNull:
		case syrch.KindBoolean:
			boolean(c, &value.Boolean)
		case syrch.KindInteger:
			number(c, &value.Integer)
		case syrch.KindReal:
			number(c, &value.Real)
		case syrch.KindBytes:
			list(c, &value.Bytes, number[uint8])
		default:
			text(c, &value.Text)
		}
	}, uint8(syrch.KindBoolean), uint8(syrch.KindInteger), uint8(syrch.KindText))
	value.Kind = syrch.ValueKind(tag)
}

// Signals is the type of the contract.
func Signals(c *Codec, signals *syrch.Signals) {
	number(c, &signals.Attempts)
	number(c, &signals.MaxAttempts)
	number(c, &signals.SyntaxErrors)
	number(c, &signals.SchemaErrors)
	number(c, &signals.ExecutionErrors)
	boolean(c, &signals.EmptyResult)
	number(c, &signals.NullColumns)
	boolean(c, &signals.Overflow)
	number(c, &signals.Samples)
	number(c, &signals.Agreeing)
	option(c, &signals.LogProb, number[float64])
	option(c, &signals.Reward, number[float64])
	list(c, &signals.Extra, func(c *Codec, measure *syrch.Measure) {
		text(c, &measure.Name)
		number(c, &measure.Value)
	})
}

// Claim is a pair of a stated confidence and signals.
func Claim(c *Codec, claim *syrch.Claim) {
	number(c, &claim.Confidence)
	record(c, &claim.Signals, Signals)
}

// Candidate is the type of the contract.
func Candidate(c *Codec, candidate *syrch.Candidate) {
	text(c, &candidate.ID)
	texts(c, &candidate.Parents)
	text(c, &candidate.Origin)
	text(c, &candidate.SQL)
	option(c, &candidate.RawConfidence, number[float64])
	option(c, &candidate.Confidence, number[float64])
	option(c, &candidate.Score, number[float64])
	option(c, &candidate.Rationale, text)
	record(c, &candidate.Signals, Signals)
	extras(c, &candidate.Extra)
}

func query(c *Codec, query *syrch.RetrievalQuery) {
	words(c, &query.Corpus, corpora)
	words(c, &query.Retriever, retrievers)
	text(c, &query.Text)
	number(c, &query.Limit)
}

func operation(c *Codec, operation *syrch.Operation) {
	tag := uint8(operation.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.OperationKind(tag) {
		case syrch.Retrieve:
			query(c, &operation.Query)
		case syrch.OtherOperation:
			text(c, &operation.Other)
		}
	}, uint8(syrch.Retrieve), uint8(syrch.OtherOperation))
	operation.Kind = syrch.OperationKind(tag)
}

func join(c *Codec, join *syrch.Join) {
	tag := uint8(join.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		if syrch.JoinKind(tag) == syrch.AtLeast {
			number(c, &join.Number)
		}
	}, uint8(syrch.AtLeast))
	join.Kind = syrch.JoinKind(tag)
}

// Task is the type of the contract.
func Task(c *Codec, task *syrch.Task) {
	text(c, &task.ID)
	option(c, &task.Parent, text)
	text(c, &task.Text)
	operation(c, &task.Operation)
	texts(c, &task.DependsOn)
	join(c, &task.Join)
	boolean(c, &task.Tolerant)
	number(c, &task.Priority)
	option(c, &task.Confidence, number[float64])
	option(c, &task.Expected, text)
	option(c, &task.Database, text)
	option(c, &task.Context, text)
}

// Graph is the type of the contract.
func Graph(c *Codec, graph *syrch.Graph) {
	list(c, &graph.Tasks, Task)
	text(c, &graph.Answer)
	option(c, &graph.Memo, text)
}

func question(c *Codec, question *syrch.Question) {
	text(c, &question.Text)
	texts(c, &question.Choices)
	number(c, &question.Ambiguity)
}

// Questions is a list of the type of the contract.
func Questions(c *Codec, questions *[]syrch.Question) { list(c, questions, question) }

func ending(c *Codec, ending *syrch.Ending) {
	tag := uint8(ending.Kind)
	variant(c, &tag, func(c *Codec, tag uint8) {
		switch syrch.EndingKind(tag) {
		case syrch.Failed:
			Failure(c, &ending.Failure)
		case syrch.Skipped, syrch.OtherEnding:
			text(c, &ending.Text)
		}
	}, uint8(syrch.Failed), uint8(syrch.Skipped))
	ending.Kind = syrch.EndingKind(tag)
}

func observation(c *Codec, seen *syrch.Observation) {
	text(c, &seen.Task)
	ending(c, &seen.Ending)
	list(c, &seen.Candidates, Candidate)
	option(c, &seen.Profile, profile)
	option(c, &seen.Fingerprint, text)
	Hits(c, &seen.Hits)
	list(c, &seen.Subtasks, Task)
	option(c, &seen.Memo, text)
}

// Observations is a list of the type of the contract.
func Observations(c *Codec, seen *[]syrch.Observation) { list(c, seen, observation) }

func verdict(c *Codec, verdict *syrch.Verdict) {
	const accepted, rejected, unavailable = 0, 1, 2
	kinds := [...]syrch.VerdictKind{accepted: syrch.Accepted, rejected: syrch.Rejected, unavailable: syrch.Unavailable}
	tag := uint8(unavailable)
	for at, kind := range kinds {
		if kind == verdict.Kind {
			tag = uint8(at)
		}
	}
	variant(c, &tag, func(c *Codec, tag uint8) {
		if tag == unavailable {
			text(c, &verdict.Reason)
			return
		}
		number(c, &verdict.Score)
		text(c, &verdict.Reason)
		list(c, &verdict.Checks, func(c *Codec, check *syrch.Check) {
			text(c, &check.Name)
			boolean(c, &check.Passed)
		})
	}, accepted, unavailable)
	verdict.Kind = kinds[tag]
}

// Verdicts is a list of the type of the contract.
func Verdicts(c *Codec, verdicts *[]syrch.Verdict) { list(c, verdicts, verdict) }

// Failure is the type of the contract.
func Failure(c *Codec, failure *syrch.Failure) {
	words(c, &failure.Kind, failureKinds)
	text(c, &failure.Message)
	boolean(c, &failure.Retryable)
}

func sqlError(c *Codec, failed *syrch.SQLError) {
	tag, _ := wordTag(failed.Kind, sqlErrorKinds)
	number(c, &tag)
	if c.mode == lifting {
		failed.Kind = sqlErrorKinds[tag]
	}
	text(c, &failed.Message)
	option(c, &failed.Position, number[uint32])
	texts(c, &failed.Suggestions)
}

func portError(c *Codec, failed *syrch.PortError) {
	tag, _ := wordTag(failed.Kind, portErrorKinds)
	variant(c, &tag, func(c *Codec, tag uint8) {
		if kind := portErrorKinds[tag]; kind != syrch.PortUnsupported && kind != syrch.PortBudget {
			text(c, &failed.Text)
		}
	}, 0)
	if c.mode == lifting {
		failed.Kind = portErrorKinds[tag]
	}
}
