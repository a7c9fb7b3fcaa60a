// Package syrchtest has fakes for the tests of plugins, which run natively with `go test`: a host with a scripted model, database and judges, and a
// record of all requests and log entries.
//
//	host := syrchtest.NewHost()
//	host.Model.ReplySQL("SELECT 1", 0.9)
//	host.Database.Answer("SELECT 1", syrchtest.Rows([]string{"n"}, []syrch.Value{syrch.IntegerValue(1)}))
package syrchtest

import "github.com/syrch/syrch-host/sdk/go/syrch"

// A Host has all ports in one value; it serves every role.
type Host struct {
	// Policy is what the user asked for.
	Policy syrch.Policy
	// Budget is what Remaining returns.
	Budget syrch.Budget
	// Settings are further settings of the user's by name, as JSON.
	Settings map[string]string
	// SeedNumber is what Seed returns.
	SeedNumber uint64
	// Model has the replies of the language models.
	Model Model
	// Database has the facts, results and cells of the database.
	Database Database
	// Judges has the verdicts of the reward and the probabilities of the calibrator.
	Judges Judges
	// Retrieval has the hits that retrieval finds.
	Retrieval Retrieval
	// Trace has the entries that the plugin logged.
	Trace Trace
	// Order, if there is one, says which of the tickets in flight are ready.
	Order func(tickets []uint32) []uint32
	// Paused is the number of milliseconds for which the plugin paused.
	Paused  uint64
	tickets uint32
}

// NewHost returns a host with the policy and the budget that a search has by default, which grants three rows of each result.
func NewHost() *Host {
	return &Host{
		Policy:   syrch.Policy{HighConfidence: 0.85, MaxAttempts: 3, MaxDepth: 3, MaxParallel: 5, MaxRounds: 8},
		Budget:   syrch.Budget{Tokens: 100_000, LLMCalls: 200, SQLRuns: 500},
		Database: Database{GrantedRows: new(uint32(3))},
	}
}

// CurrentPolicy returns the field Policy.
func (h *Host) CurrentPolicy() syrch.Policy { return h.Policy }

// Setting returns an element of the field Settings.
func (h *Host) Setting(name string) *string {
	if text, isGiven := h.Settings[name]; isGiven {
		return &text
	}
	return nil
}

// Remaining returns the field Budget.
func (h *Host) Remaining() syrch.Budget { return h.Budget }

// Seed returns the field SeedNumber.
func (h *Host) Seed() uint64 { return h.SeedNumber }

// WaitAny returns all tickets, since fake calls have always ended, or those that the field Order returns.
func (h *Host) WaitAny(tickets []uint32) []uint32 {
	if h.Order != nil {
		return h.Order(tickets)
	}
	return tickets
}

// Pause adds to the field Paused, and takes no time.
func (h *Host) Pause(milliseconds uint32) { h.Paused += uint64(milliseconds) }

// Models returns the names of the models.
func (h *Host) Models() []string { return h.Model.Names }

// Complete returns the next scripted reply.
func (h *Host) Complete(request syrch.Request) (syrch.Reply, error) { return h.Model.answer(request) }

// CompleteAll returns the next scripted replies.
func (h *Host) CompleteAll(requests []syrch.Request) []syrch.Result[syrch.Reply] {
	return eachResult(requests, h.Model.answer)
}

// StartReply returns the next scripted reply as a call in flight that has ended.
func (h *Host) StartReply(request syrch.Request) syrch.PendingReply {
	return started(h, result(h.Model.answer(request)))
}

// Check returns the scripted facts of a statement.
func (h *Host) Check(text string) (syrch.Facts, error) { return h.Database.check(text) }

// Explain returns the scripted plan of a statement.
func (h *Host) Explain(text string) (syrch.Plan, error) { return h.Database.explain(text) }

// ColumnStatsOf returns the scripted statistics of a table.
func (h *Host) ColumnStatsOf(table string, columns []string) ([]syrch.ColumnStats, error) {
	return h.Database.columnStats(table, columns)
}

// CompileMetric returns the scripted statement of a request for metrics.
func (h *Host) CompileMetric(request string) (syrch.Compiled, error) {
	return h.Database.compileMetric(request)
}

// Run returns the scripted result of a statement.
func (h *Host) Run(text string) (syrch.ResultSet, error) { return h.Database.run(text) }

// RunAll returns the scripted results of statements.
func (h *Host) RunAll(texts []string) []syrch.Result[syrch.ResultSet] {
	return eachResult(texts, h.Database.run)
}

// StartStatement returns the scripted result of a statement as one in flight that has ended.
func (h *Host) StartStatement(text string) syrch.RunningStatement {
	return started(h, result(h.Database.run(text)))
}

// Read returns rows of a result, as far as the field Database.GrantedRows allows.
func (h *Host) Read(results syrch.ResultSet, offset uint64, limit uint32) (syrch.Page, error) {
	return h.Database.read(results, offset, limit)
}

// Samples returns the scripted samples of a table.
func (h *Host) Samples(table string, columns []string, limit uint32) ([]syrch.Sample, error) {
	return h.Database.samples(table, columns, limit)
}

// FindCells returns the scripted hits of phrases.
func (h *Host) FindCells(phrases []string, _ syrch.Match, limit uint32) ([][]syrch.Hit, error) {
	return h.Database.find(phrases, limit)
}

// CalibrateAll returns the probabilities of the field Judges.
func (h *Host) CalibrateAll(claims []syrch.Claim) ([]float64, error) {
	return h.Judges.calibrate(claims)
}

// Reward returns the verdicts of the field Judges.
func (h *Host) Reward(candidates []syrch.Candidate) ([]syrch.Verdict, error) {
	return h.Judges.judge(candidates)
}

// StartReward returns the verdicts of the field Judges as a judgement in flight that has ended.
func (h *Host) StartReward(candidates []syrch.Candidate) syrch.Judging {
	return started(h, result(h.Judges.judge(candidates)))
}

// Retrieve returns the scripted hits of a query.
func (h *Host) Retrieve(query syrch.RetrievalQuery) ([]syrch.Hit, error) {
	return h.Retrieval.find(query)
}

// RetrieveAll returns the scripted hits of queries.
func (h *Host) RetrieveAll(queries []syrch.RetrievalQuery) []syrch.Result[[]syrch.Hit] {
	return eachResult(queries, h.Retrieval.find)
}

// Embed returns the scripted vectors of texts.
func (h *Host) Embed(texts []string) ([][]float32, error) { return h.Retrieval.embed(texts) }

// Note records a line.
func (h *Host) Note(level syrch.Level, message string) {
	h.Trace.Notes = append(h.Trace.Notes, Note{level, message})
}

// Propose records a candidate.
func (h *Host) Propose(candidate syrch.Candidate) {
	h.Trace.Proposed = append(h.Trace.Proposed, candidate)
}

// Keep records why a candidate was chosen.
func (h *Host) Keep(candidate, reason string) { record(&h.Trace.Kept, candidate, reason) }

// Discard records why a candidate was not chosen.
func (h *Host) Discard(candidate, reason string) { record(&h.Trace.Discarded, candidate, reason) }

// Event records a step of the strategy's own.
func (h *Host) Event(candidate, name string, data any) {
	h.Trace.Events = append(h.Trace.Events, Event{candidate, name, syrch.JSON(data)})
}

// A Trace has the entries of the log.
type Trace struct {
	Notes     []Note
	Proposed  []syrch.Candidate
	Kept      map[string]string
	Discarded map[string]string
	Events    []Event
}

// A Note is a line of the log.
type Note struct {
	Level   syrch.Level
	Message string
}

// An Event is a step of a strategy's own. JSON is its data.
type Event struct{ Candidate, Name, JSON string }

func record(reasons *map[string]string, candidate, reason string) {
	if *reasons == nil {
		*reasons = map[string]string{}
	}
	(*reasons)[candidate] = reason
}

// call is a call in flight that has ended.
type call[T any] struct {
	ticket uint32
	result syrch.Result[T]
	taken  bool
}

func started[T any](host *Host, result syrch.Result[T]) *call[T] {
	host.tickets++
	return &call[T]{ticket: host.tickets, result: result}
}

func (c *call[T]) Ticket() uint32               { return c.ticket }
func (c *call[T]) Cancel()                      {}
func (c *call[T]) Close()                       {}
func (c *call[T]) Get() (syrch.Result[T], bool) { return c.result, true }
func (c *call[T]) Take() (syrch.Result[T], bool) {
	if c.taken {
		return syrch.Result[T]{}, false
	}
	c.taken = true
	return c.result, true
}

func result[T any](value T, err error) syrch.Result[T] {
	return syrch.Result[T]{Value: value, Err: err}
}

func eachResult[A, B any](list []A, call func(A) (B, error)) []syrch.Result[B] {
	out := make([]syrch.Result[B], len(list))
	for at := range list {
		out[at] = result(call(list[at]))
	}
	return out
}
