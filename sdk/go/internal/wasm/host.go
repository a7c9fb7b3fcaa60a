//go:build wasip1

package wasm

import "github.com/syrch/syrch-host/sdk/go/syrch"

// A Host has all ports. The linker drops the methods that no code calls through an interface, and with them their imports.
type Host struct{}

var (
	replied = answer[syrch.Reply, syrch.ModelError](Reply, ModelError)
	ran     = answer[syrch.ResultSet, syrch.SQLError](results, SQLError)
	judged  = answer[[]syrch.Verdict, syrch.PortError](Verdicts, PortError)
	found   = answer[[]syrch.Hit, syrch.PortError](Hits, PortError)
)

// CurrentPolicy is a function of the port run.
func (Host) CurrentPolicy() syrch.Policy { return receive(Policy, runCurrentPolicy) }

// Setting is a function of the port run.
func (Host) Setting(name string) *string {
	at, length := textAt(name)
	return optional(func(area uintptr) { runSetting(at, length, area) })
}

// Remaining is a function of the port run.
func (Host) Remaining() syrch.Budget { return receive(Budget, runRemaining) }

// Seed is a function of the port run.
func (Host) Seed() uint64 { return runSeed() }

// WaitAny is the function any of the port wait.
func (Host) WaitAny(tickets []uint32) []uint32 {
	at, length := lowerList(tickets, number[uint32])
	return receive(listOf(number[uint32]), func(area uintptr) { waitAny(at, length, area) })
}

// Pause is a function of the port wait.
func (Host) Pause(milliseconds uint32) { waitPause(milliseconds) }

// Models is a function of the port llm.
func (Host) Models() []string { return receive(texts, llmModels) }

// Complete is a function of the port llm.
func (Host) Complete(of syrch.Request) (syrch.Reply, error) {
	return pair(receive(replied, func(area uintptr) { llmComplete(Lower(of, Request), area) }))
}

// CompleteAll is a function of the port llm.
func (Host) CompleteAll(requests []syrch.Request) []syrch.Result[syrch.Reply] {
	at, length := lowerList(requests, Request)
	return receive(answers(replied), func(area uintptr) { llmCompleteAll(at, length, area) })
}

// StartReply is the function start of the port llm.
func (Host) StartReply(of syrch.Request) syrch.PendingReply {
	return &pending{llmStart(Lower(of, Request))}
}

type pending struct{ handle uint32 }

func (p *pending) Ticket() uint32 { return llmPendingTicket(p.handle) }
func (p *pending) Cancel()        { llmPendingCancel(p.handle) }
func (p *pending) Close()         { closeHandle(&p.handle, llmDropPending) }
func (p *pending) Get() (syrch.Result[syrch.Reply], bool) {
	return taken(receive(ended(replied), func(area uintptr) { llmPendingGet(p.handle, area) }))
}

// closeHandle gives a handle back, once.
func closeHandle(handle *uint32, drop func(uint32)) {
	if *handle != 0 {
		drop(*handle)
		*handle = 0
	}
}

// Check is a function of the port inspect.
func (Host) Check(statement string) (syrch.Facts, error) {
	at, length := textAt(statement)
	checked := answer[syrch.Facts, syrch.SQLError](Facts, SQLError)
	return pair(receive(checked, func(area uintptr) { inspectCheck(at, length, area) }))
}

// Explain is a function of the port inspect.
func (Host) Explain(statement string) (syrch.Plan, error) {
	at, length := textAt(statement)
	explained := answer[syrch.Plan, syrch.SQLError](Plan, SQLError)
	return pair(receive(explained, func(area uintptr) { inspectExplain(at, length, area) }))
}

// ColumnStatsOf is a function of the port inspect.
func (Host) ColumnStatsOf(table string, columns []string) ([]syrch.ColumnStats, error) {
	at, length := textAt(table)
	names, count := lowerList(columns, text)
	counted := answer[[]syrch.ColumnStats, syrch.PortError](listOf(ColumnStats), PortError)
	return pair(receive(counted, func(area uintptr) { inspectColumnStatsOf(at, length, names, count, area) }))
}

// CompileMetric is a function of the port inspect.
func (Host) CompileMetric(request string) (syrch.Compiled, error) {
	at, length := textAt(request)
	compiled := answer[syrch.Compiled, syrch.PortError](Compiled, PortError)
	return pair(receive(compiled, func(area uintptr) { inspectCompileMetric(at, length, area) }))
}

type resultSet struct{ handle uint32 }

// results is a handle, which moves to the component.
func results(c *Codec, of *syrch.ResultSet) {
	var handle uint32
	number(c, &handle)
	if c.mode == lifting {
		*of = &resultSet{handle}
	}
}

func (r *resultSet) Profile() syrch.Profile {
	return receive(Profile, func(area uintptr) { sqlResultSetProfile(r.handle, area) })
}

func (r *resultSet) Fingerprint(under syrch.Equality) *string {
	tag, other := wordTag(under, equalityWords)
	at, length := textAt(other)
	return optional(func(area uintptr) { sqlResultSetFingerprint(r.handle, uint32(tag), at, length, area) })
}

func (r *resultSet) Close() { closeHandle(&r.handle, sqlDropResultSet) }

// Run is a function of the port sql.
func (Host) Run(statement string) (syrch.ResultSet, error) {
	at, length := textAt(statement)
	return pair(receive(ran, func(area uintptr) { sqlRun(at, length, area) }))
}

// RunAll is a function of the port sql.
func (Host) RunAll(statements []string) []syrch.Result[syrch.ResultSet] {
	at, length := lowerList(statements, text)
	return receive(answers(ran), func(area uintptr) { sqlRunAll(at, length, area) })
}

// StartStatement is the function start of the port sql.
func (Host) StartStatement(statement string) syrch.RunningStatement {
	at, length := textAt(statement)
	return &running{sqlStart(at, length)}
}

type running struct{ handle uint32 }

func (r *running) Ticket() uint32 { return sqlRunningTicket(r.handle) }
func (r *running) Cancel()        { sqlRunningCancel(r.handle) }
func (r *running) Close()         { closeHandle(&r.handle, sqlDropRunning) }
func (r *running) Take() (syrch.Result[syrch.ResultSet], bool) {
	return taken(receive(ended(ran), func(area uintptr) { sqlRunningTake(r.handle, area) }))
}

// Read is the function of the port rows.
func (Host) Read(of syrch.ResultSet, offset uint64, limit uint32) (syrch.Page, error) {
	results, isOfHost := of.(*resultSet)
	if !isOfHost {
		return syrch.Page{}, &syrch.PortError{Kind: syrch.PortUnsupported}
	}
	read := answer[syrch.Page, syrch.PortError](Page, PortError)
	return pair(receive(read, func(area uintptr) { rowsRead(results.handle, offset, limit, area) }))
}

// Samples is a function of the port cells.
func (Host) Samples(table string, columns []string, limit uint32) ([]syrch.Sample, error) {
	at, length := textAt(table)
	names, count := lowerList(columns, text)
	sampled := answer[[]syrch.Sample, syrch.PortError](listOf(Sample), PortError)
	return pair(receive(sampled, func(area uintptr) { cellsSamples(at, length, names, count, limit, area) }))
}

// FindCells is the function find of the port cells.
func (Host) FindCells(phrases []string, how syrch.Match, limit uint32) ([][]syrch.Hit, error) {
	list, count := lowerList(phrases, text)
	tag, other := wordTag(how, matchWords)
	at, length := textAt(other)
	found := answer[[][]syrch.Hit, syrch.PortError](listOf(Hits), PortError)
	return pair(receive(found, func(area uintptr) { cellsFind(list, count, uint32(tag), at, length, limit, area) }))
}

// CalibrateAll is the function calibrate of the port evaluate.
func (Host) CalibrateAll(claims []syrch.Claim) ([]float64, error) {
	at, length := lowerList(claims, Claim)
	calibrated := answer[[]float64, syrch.PortError](listOf(number[float64]), PortError)
	return pair(receive(calibrated, func(area uintptr) { evaluateCalibrate(at, length, area) }))
}

// Reward is a function of the port evaluate.
func (Host) Reward(candidates []syrch.Candidate) ([]syrch.Verdict, error) {
	at, length := lowerList(candidates, Candidate)
	return pair(receive(judged, func(area uintptr) { evaluateReward(at, length, area) }))
}

// StartReward is a function of the port evaluate.
func (Host) StartReward(candidates []syrch.Candidate) syrch.Judging {
	at, length := lowerList(candidates, Candidate)
	return &judging{evaluateStartReward(at, length)}
}

type judging struct{ handle uint32 }

func (j *judging) Ticket() uint32 { return evaluateJudgingTicket(j.handle) }
func (j *judging) Cancel()        { evaluateJudgingCancel(j.handle) }
func (j *judging) Close()         { closeHandle(&j.handle, evaluateDropJudging) }
func (j *judging) Get() (syrch.Result[[]syrch.Verdict], bool) {
	return taken(receive(ended(judged), func(area uintptr) { evaluateJudgingGet(j.handle, area) }))
}

// Retrieve is the function find of the port retrieval.
func (Host) Retrieve(query syrch.RetrievalQuery) ([]syrch.Hit, error) {
	corpusTag, corpus := wordTag(query.Corpus, corpusWords)
	corpusAt, corpusLength := textAt(corpus)
	tag, retriever := wordTag(query.Retriever, retrieverWords)
	retrieverAt, retrieverLength := textAt(retriever)
	at, length := textAt(query.Text)
	return pair(receive(found, func(area uintptr) {
		retrievalFind(uint32(corpusTag), corpusAt, corpusLength, uint32(tag), retrieverAt, retrieverLength, at, length, query.Limit, area)
	}))
}

// RetrieveAll is the function find-all of the port retrieval.
func (Host) RetrieveAll(queries []syrch.RetrievalQuery) []syrch.Result[[]syrch.Hit] {
	at, length := lowerList(queries, RetrievalQuery)
	return receive(answers(found), func(area uintptr) { retrievalFindAll(at, length, area) })
}

// Embed is a function of the port retrieval.
func (Host) Embed(list []string) ([][]float32, error) {
	at, length := lowerList(list, text)
	embedded := answer[[][]float32, syrch.PortError](listOf(listOf(number[float32])), PortError)
	return pair(receive(embedded, func(area uintptr) { retrievalEmbed(at, length, area) }))
}

// Note is a function of the port trace.
func (Host) Note(level syrch.Level, message string) {
	at, length := textAt(message)
	traceNote(uint32(level), at, length)
}

// Propose is a function of the port trace.
func (Host) Propose(candidate syrch.Candidate) { tracePropose(Lower(candidate, Candidate)) }

// Keep is a function of the port trace.
func (Host) Keep(candidate, reason string) {
	at, length := textAt(candidate)
	why, whyLength := textAt(reason)
	traceKeep(at, length, why, whyLength)
}

// Discard is a function of the port trace.
func (Host) Discard(candidate, reason string) {
	at, length := textAt(candidate)
	why, whyLength := textAt(reason)
	traceDiscard(at, length, why, whyLength)
}

// Event is a function of the port trace.
func (Host) Event(candidate, name string, data any) {
	var has uint32
	if candidate != "" {
		has = 1
	}
	at, length := textAt(candidate)
	nameAt, nameLength := textAt(name)
	dataAt, dataLength := textAt(syrch.JSON(data))
	traceEvent(has, at, length, nameAt, nameLength, dataAt, dataLength)
}
