package main

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/syrch/syrch-host/sdk/go/syrch"
)

// This file has the habits that call ports: `ports`, `parallel` and `cancel`.

// ports makes one call of each port, and returns what came of it in the memo.
func (c Conformance) ports(host syrch.SolverHost, problem syrch.Problem, catalog syrch.Catalog, task syrch.Task) syrch.Outcome {
	var table string
	var names []string
	if len(catalog.Tables) > 0 {
		table, names = catalog.Tables[0].Name, columns(catalog.Tables[0])
	}
	var found [][2]string
	add := func(name, value string) { found = append(found, [2]string{name, value}) }

	add("run.current-policy", number(host.CurrentPolicy().MaxAttempts))
	add("run.setting", setting(host.Setting(c.Text)))
	add("run.remaining", number(host.Remaining().LLMCalls))
	add("llm.models", strings.Join(host.Models(), ","))
	reply, err := host.Complete(asked(problem).Heat(0.5).Number(7))
	add("llm.complete", either(reply.Text, err))
	facts, err := host.Check(task.Text)
	add("inspect.check", either(facts.Normalized, err))
	plan, err := host.Explain(task.Text)
	add("inspect.explain", either(plan.Format, err))
	stats, err := host.ColumnStatsOf(table, names)
	add("inspect.column-stats-of", either(number(len(stats)), err))
	compiled, err := host.CompileMetric("{}")
	add("inspect.compile-metric", either(compiled.SQL, err))
	c.run(host, task.Text, add)
	samples, err := host.Samples(table, names, 2)
	add("cells.samples", either(number(len(samples)), err))
	cells, err := host.FindCells([]string{problem.Question}, syrch.NGram, 3)
	hits := 0
	for _, list := range cells {
		hits += len(list)
	}
	add("cells.find", either(number(hits), err))
	listed, err := host.Retrieve(syrch.RetrievalQuery{
		Corpus: syrch.CorpusTables, Retriever: syrch.Lexical, Text: problem.Question, Limit: 5,
	})
	add("retrieval.find", either(joined(listed, func(hit syrch.Hit) string { return hit.ID }), err))
	numbers, err := host.CalibrateAll([]syrch.Claim{{Confidence: c.Share}})
	add("evaluate.calibrate", either(joined(numbers, func(number float64) string {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}), err))
	candidate := named("only", task.Text)
	verdicts, err := host.Reward([]syrch.Candidate{candidate})
	add("evaluate.reward", either(joined(verdicts, verdictCase), err))
	host.Note(syrch.Info, c.Text)
	host.Event("", "ports", map[string]uint32{"n": c.Size})
	return syrch.Outcome{Candidates: []syrch.Candidate{candidate}, Memo: new(syrch.JSON(found))}
}

// run runs the statement, and again for its fingerprint, after its rows were read.
func (c Conformance) run(host syrch.SolverHost, sql string, add func(name, value string)) {
	results, err := host.Run(sql)
	if err != nil {
		add("sql.run", syrch.ErrorKind(err))
		add("rows.read", "skipped")
		return
	}
	defer results.Close()
	page, err := host.Read(results, 0, c.Size)
	read := either(rows(page), err)
	isSame := false
	if again, err := host.Run(sql); err == nil {
		defer again.Close()
		one, other := again.Fingerprint(syrch.Bag), results.Fingerprint(syrch.Bag)
		isSame = one != nil && other != nil && *one == *other
	}
	add("sql.run", fmt.Sprintf("%d %t", results.Profile().Rows, isSame))
	add("rows.read", read)
}

func rows(page syrch.Page) string {
	out := [][]any{}
	for _, row := range page.Rows {
		cells := []any{}
		for _, value := range row {
			cells = append(cells, cell(value))
		}
		out = append(out, cells)
	}
	return syrch.JSON(out)
}

func cell(value syrch.Value) any {
	switch value.Kind {
	case syrch.KindNull:
		return nil
	case syrch.KindBoolean:
		return value.Boolean
	case syrch.KindInteger:
		return value.Integer
	case syrch.KindReal:
		return value.Real
	case syrch.KindBytes:
		return hex.EncodeToString(value.Bytes)
	}
	return value.Text
}

func setting(text *string) string {
	var value any
	if text == nil || syrch.ReadJSON(*text, &value) != nil {
		return "none"
	}
	return *text
}

func number[N int | uint32](number N) string { return fmt.Sprint(number) }

func either(value string, err error) string {
	if err != nil {
		return syrch.ErrorKind(err)
	}
	return value
}

func joined[T any](list []T, text func(T) string) string {
	texts := make([]string, len(list))
	for at := range list {
		texts[at] = text(list[at])
	}
	return strings.Join(texts, ",")
}

func verdictCase(verdict syrch.Verdict) string {
	return [...]string{"unavailable", "accepted", "rejected"}[verdict.Kind]
}

// asked returns a request whose only message is the question.
func asked(problem syrch.Problem) syrch.Request {
	return syrch.Ask(syrch.ForGenerating).User(problem.Question).SQL()
}

// wait waits until all tickets are ready.
func wait(host syrch.WaitPort, tickets []uint32) {
	for len(tickets) > 0 {
		ready := map[uint32]bool{}
		for _, ticket := range host.WaitAny(tickets) {
			ready[ticket] = true
		}
		var left []uint32
		for _, ticket := range tickets {
			if !ready[ticket] {
				left = append(left, ticket)
			}
		}
		tickets = left
	}
}

type sample struct {
	number      int
	statement   syrch.Statement
	running     syrch.RunningStatement
	hasRun      bool
	fingerprint string
}

// parallel starts all calls, and then all of their statements.
func (c Conformance) parallel(host syrch.SolverHost, problem syrch.Problem) syrch.Outcome {
	var calls []syrch.PendingReply
	var tickets []uint32
	for at := range c.Size {
		call := host.StartReply(asked(problem).Number(at))
		defer call.Close()
		calls, tickets = append(calls, call), append(tickets, call.Ticket())
	}
	wait(host, tickets)
	var samples []sample
	for at, call := range calls {
		if result, isReady := call.Get(); isReady {
			if statement, err := syrch.StatementOf(result.Value, result.Err); err == nil {
				samples = append(samples, sample{number: at, statement: statement})
			}
		}
	}
	tickets = nil
	for at := range samples {
		samples[at].running = host.StartStatement(samples[at].statement.SQL)
		defer samples[at].running.Close()
		tickets = append(tickets, samples[at].running.Ticket())
	}
	wait(host, tickets)
	votes := map[string]uint32{}
	for at := range samples {
		if result, isReady := samples[at].running.Take(); isReady && result.Err == nil {
			defer result.Value.Close()
			samples[at].hasRun, samples[at].fingerprint = true, syrch.Or(result.Value.Fingerprint(syrch.Bag), "")
			votes[samples[at].fingerprint]++
		}
	}
	var outcome syrch.Outcome
	for _, of := range samples {
		if of.hasRun {
			candidate := named(fmt.Sprintf("s%d", of.number), of.statement.SQL)
			candidate.RawConfidence = of.statement.Confidence
			candidate.Signals.Samples, candidate.Signals.Agreeing = c.Size, votes[of.fingerprint]
			outcome.Candidates = append(outcome.Candidates, candidate)
		}
	}
	return outcome
}

// cancelled returns the statement of the first of two calls; the second is cancelled at once.
func (c Conformance) cancelled(host syrch.SolverHost, problem syrch.Problem) (syrch.Outcome, error) {
	first := host.StartReply(asked(problem))
	defer first.Close()
	second := host.StartReply(asked(problem).Number(1))
	defer second.Close()
	second.Cancel()
	wait(host, []uint32{first.Ticket()})
	result, isReady := first.Get()
	if !isReady {
		return syrch.Outcome{}, syrch.Fail(syrch.InternalFailure, "the call has not ended")
	}
	if result.Err != nil {
		return syrch.Outcome{}, result.Err
	}
	sql, confidence := syrch.SQLOf(&result.Value)
	if sql == "" {
		return syrch.Outcome{}, syrch.Fail(syrch.ModelFailure, "the reply held no statement")
	}
	candidate := named("only", sql)
	candidate.RawConfidence = confidence
	return syrch.Outcome{Candidates: []syrch.Candidate{candidate}}, nil
}
