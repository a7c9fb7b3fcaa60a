package syrch_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/syrch/syrch-host/sdk/go/syrch"
	"github.com/syrch/syrch-host/sdk/go/syrchtest"
)

// The table of all languages: the SDK gives the same outputs as the Rust SDK, byte for byte.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../vectors/prompts.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Cases []struct {
			Function, Name string
			Input          object
			Output         any
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, vector := range table.Cases {
		t.Run(vector.Function+"/"+vector.Name, func(t *testing.T) {
			function := vectors[vector.Function]
			if function == nil {
				t.Fatal("no test knows this function")
			}
			if vector.Function == "settings.read" {
				_, isError := vector.Output.(map[string]any)["error"]
				if got := plain(function(vector.Input)); isError != (got == nil) || !isError && !reflect.DeepEqual(got, vector.Output) {
					t.Errorf("got %v, want %v", got, vector.Output)
				}
				return
			}
			if got := plain(function(vector.Input)); !reflect.DeepEqual(got, vector.Output) {
				t.Errorf("got\n%s\nwant\n%s", syrch.JSON(got), syrch.JSON(vector.Output))
			}
		})
	}
}

// plain makes a value what it is after it was written to JSON and read again.
func plain(value any) (out any) {
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &out) != nil {
		panic(fmt.Sprint(err, value))
	}
	return out
}

type object map[string]any

func (o object) text(key string) string { text, _ := o[key].(string); return text }
func (o object) flag(key string) bool   { flag, _ := o[key].(bool); return flag }
func (o object) number(key string) float64 {
	number, _ := o[key].(float64)
	return number
}
func (o object) object(key string) object { of, _ := o[key].(map[string]any); return of }
func (o object) list(key string) []any    { list, _ := o[key].([]any); return list }
func (o object) objects(key string) (out []object) {
	for _, one := range o.list(key) {
		out = append(out, one.(map[string]any))
	}
	return out
}
func (o object) texts(key string) []string {
	out := []string{}
	for _, one := range o.list(key) {
		out = append(out, one.(string))
	}
	return out
}
func (o object) option(key string) *string {
	if text, isText := o[key].(string); isText {
		return &text
	}
	return nil
}

// variant splits "name" and {"name": payload}.
func variant(value any) (string, any) {
	if name, isText := value.(string); isText {
		return name, nil
	}
	for name, payload := range value.(map[string]any) {
		return name, payload
	}
	return "", nil
}

func (o object) syntax() syrch.Syntax {
	given, _ := o["syntax"].(map[string]any)
	of := object(given)
	syntax := syrch.Syntax{
		Title: "SQL", Rules: of.text("rules"), Backticks: of.flag("backticks"), FoldsNames: of.flag("folds_names"),
		BackslashEscapes: of.flag("backslash_escapes"),
	}
	if title := of.option("title"); title != nil {
		syntax.Title = *title
	}
	return syntax
}

func extras(o object) (out []syrch.Extra) {
	for _, pair := range o.list("extra") {
		out = append(out, syrch.Extra{Name: pair.([]any)[0].(string), JSON: pair.([]any)[1].(string)})
	}
	return out
}

func column(o object) syrch.Column {
	return syrch.Column{Name: o.text("name"), SQLType: o.text("sql_type"), Nullable: o.flag("nullable"), Comment: o.option("comment")}
}

func tableOf(o object) syrch.Table {
	table := syrch.Table{
		SchemaName: o.option("schema_name"), Name: o.text("name"), PrimaryKey: o.texts("primary_key"), Comment: o.option("comment"), Extra: extras(o),
	}
	if rows, isGiven := o["row_estimate"].(float64); isGiven {
		table.RowEstimate = new(uint64(rows))
	}
	for _, of := range o.objects("columns") {
		table.Columns = append(table.Columns, column(of))
	}
	for _, key := range o.objects("foreign_keys") {
		table.ForeignKeys = append(table.ForeignKeys, syrch.ForeignKey{
			Columns: key.texts("columns"), RefTable: key.text("ref_table"), RefColumns: key.texts("ref_columns"),
		})
	}
	return table
}

func catalogOf(o object) *syrch.Catalog {
	catalog := &syrch.Catalog{Database: o.text("database"), Syntax: o.syntax()}
	for _, table := range o.objects("tables") {
		catalog.Tables = append(catalog.Tables, tableOf(table))
	}
	return catalog
}

func hits(list []object) (out []syrch.Hit) {
	for _, o := range list {
		out = append(out, syrch.Hit{
			Corpus: syrch.Corpus(o.text("corpus")), Path: o.text("path"), Column: o.option("column"), Snippet: o.option("snippet"), Payload: o.option("payload"),
		})
	}
	return out
}

func problemOf(o object) *syrch.Problem {
	problem := &syrch.Problem{Question: o.text("question"), Evidence: o.option("evidence"), Goal: o.option("goal"), Hints: hits(o.objects("hints"))}
	for _, pair := range o.list("answers") {
		problem.Answers = append(problem.Answers, syrch.Clarification{Question: pair.([]any)[0].(string), Answer: pair.([]any)[1].(string)})
	}
	for _, term := range o.objects("terms") {
		problem.Terms = append(problem.Terms, termOf(term))
	}
	return problem
}

func termOf(o object) syrch.Term {
	mentioned, _ := o["mentioned"].(bool)
	term := syrch.Term{
		Kind: syrch.TermKind(o.text("kind")), Name: o.text("name"), Synonyms: o.texts("synonyms"), Definition: o.text("definition"),
		Description: o.option("description"), Mentioned: mentioned,
	}
	for _, label := range o.objects("labels") {
		term.Labels = append(term.Labels, syrch.TermLabel{Value: label.text("value"), Words: label.texts("words")})
	}
	return term
}

func taskOf(o object) *syrch.Task {
	return &syrch.Task{ID: o.text("id"), Text: o.text("text"), Expected: o.option("expected"), Context: o.option("context")}
}

func valueOf(o object) syrch.Value {
	kinds := map[string]syrch.ValueKind{
		"decimal": syrch.KindDecimal, "text": syrch.KindText, "temporal": syrch.KindTemporal, "other": syrch.KindOther,
	}
	switch kind := o.text("type"); kind {
	case "null":
		return syrch.NullValue()
	case "boolean":
		return syrch.BooleanValue(o.flag("value"))
	case "integer":
		if number, err := strconv.ParseInt(o.text("value"), 10, 64); err == nil {
			return syrch.IntegerValue(number)
		}
		return syrch.IntegerValue(int64(o.number("value")))
	case "real":
		switch o.text("value") {
		case "inf":
			return syrch.RealValue(math.Inf(1))
		case "-inf":
			return syrch.RealValue(math.Inf(-1))
		case "NaN":
			return syrch.RealValue(math.NaN())
		}
		return syrch.RealValue(o.number("value"))
	case "bytes":
		return syrch.Value{Kind: syrch.KindBytes, Bytes: make([]byte, len(o.list("value")))}
	default:
		return syrch.Value{Kind: kinds[kind], Text: o.text("value")}
	}
}

func rowsOf(o object) (rows [][]syrch.Value) {
	for _, list := range o.list("rows") {
		row := []syrch.Value{}
		for _, cell := range list.([]any) {
			row = append(row, valueOf(cell.(map[string]any)))
		}
		rows = append(rows, row)
	}
	return rows
}

func parentsOf(list []object) (out []syrch.Parent) {
	for _, o := range list {
		parent := syrch.Parent{Task: *taskOf(o.object("task"))}
		name, payload := variant(o["output"])
		switch name {
		case "relation":
			relation := object(payload.(map[string]any))
			results := relation.object("results")
			parent.Relation = &syrch.Relation{
				Name: relation.text("name"), Results: syrchtest.Rows(results.texts("columns"), rowsOf(results)...),
			}
		case "hits":
			parent.Hits = hits(object{"hits": payload}.objects("hits"))
		case "failed":
			parent.Failure = &syrch.Failure{Message: object(payload.(map[string]any)).text("message")}
		default:
			parent.Other = payload.(string)
		}
		out = append(out, parent)
	}
	return out
}

func briefOf(o object) *syrch.Brief {
	host := syrchtest.NewHost()
	host.Database.GrantedRows = nil
	if rows, isGiven := o["granted_rows"].(float64); isGiven {
		host.Database.GrantedRows = new(uint32(rows))
	}
	size := syrch.PromptSize{CatalogBytes: uint32(o.number("catalog_bytes")), ParentRows: uint32(o.number("parent_rows"))}
	brief := syrch.NewBrief(
		host, size, problemOf(o.object("problem")), catalogOf(o.object("catalog")), taskOf(o.object("task")), parentsOf(o.objects("parents")),
	)
	for range int(o.number("shortened")) {
		brief.Shorten()
	}
	return brief
}

func triedOf(o object) (out []syrch.Tried) {
	for _, tried := range o.objects("tried") {
		out = append(out, syrch.Tried{SQL: tried.text("sql"), Wrong: tried.text("wrong")})
	}
	return out
}

func requestJSON(request syrch.Request) any {
	messages := []any{}
	for _, message := range request.Messages {
		speaker := [...]string{"system", "user", "assistant"}[message.Speaker]
		messages = append(messages, map[string]any{"speaker": speaker, "text": message.Text})
	}
	var expect any
	switch request.Expect.Kind {
	case syrch.TextShape:
		expect = "text"
	case syrch.SQLShape:
		expect = "sql"
	case syrch.JSONShape:
		expect = map[string]any{"json": request.Expect.Text}
	case syrch.ChoiceShape:
		expect = map[string]any{"choice": request.Expect.Words}
	}
	var purpose any = request.Purpose
	if request.Purpose == "vote" {
		purpose = map[string]any{"other": request.Purpose}
	}
	return map[string]any{
		"purpose": purpose, "messages": messages, "expect": expect, "model": request.Model, "subjects": append([]string{}, request.Subjects...),
		"temperature": request.Temperature, "top_p": request.TopP, "max_tokens": request.MaxTokens, "stop": append([]string{}, request.Stop...),
		"logprobs": request.LogProbs, "sample": request.Sample,
	}
}

func asked(o object) any {
	purpose, other := variant(o["purpose"])
	if other != nil {
		purpose = other.(string)
	}
	request := syrch.Ask(syrch.Purpose(purpose))
	for _, message := range o.objects("messages") {
		if message.text("speaker") == "system" {
			request = request.System(message.text("text"))
		} else {
			request = request.User(message.text("text"))
		}
	}
	request = request.About(o.texts("subjects")...).Number(uint32(o.number("sample")))
	request.Model = o.option("model")
	if heat, isGiven := o["temperature"].(float64); isGiven {
		request = request.Heat(heat)
	}
	if most, isGiven := o["max_tokens"].(float64); isGiven {
		request = request.Most(uint32(most))
	}
	name, payload := variant(o["expect"])
	switch name {
	case "sql":
		request = request.SQL()
	case "plan":
		request = request.JSON(syrch.PlanSchema)
	case "verdict":
		request = request.JSON(syrch.VerdictSchema)
	case "choice":
		request = request.Choice(object{"words": payload}.texts("words")...)
	}
	return requestJSON(request)
}

func reply(o object) *syrch.Reply { return &syrch.Reply{Parsed: o.option("parsed")} }

func failureJSON(err error) any {
	failure := syrch.AsFailure(err)
	return map[string]any{"kind": failure.Kind, "message": failure.Message, "retryable": failure.Retryable}
}

func sqlErrorOf(o object) *syrch.SQLError {
	failed := &syrch.SQLError{Kind: syrch.SQLErrorKind(o.text("kind")), Message: o.text("message"), Suggestions: o.texts("suggestions")}
	if position, isGiven := o["position"].(float64); isGiven {
		failed.Position = new(uint32(position))
	}
	return failed
}

func signalsJSON(of syrch.Signals) any {
	return map[string]any{
		"attempts": of.Attempts, "max_attempts": of.MaxAttempts, "syntax_errors": of.SyntaxErrors, "schema_errors": of.SchemaErrors,
		"execution_errors": of.ExecutionErrors, "empty_result": of.EmptyResult, "null_columns": of.NullColumns, "overflow": of.Overflow,
		"samples": of.Samples, "agreeing": of.Agreeing, "logprob": of.LogProb, "reward": of.Reward, "extra": []any{},
	}
}

func keysJSON(keys []syrch.JoinKey) any {
	out := []any{}
	for _, key := range keys {
		out = append(out, map[string]any{
			"left": key.Left, "left_col": key.LeftCol, "right": key.Right, "right_col": key.RightCol, "how": key.How,
		})
	}
	return out
}

// sample are the settings of the table.
type sample struct {
	Share  float64 `setting:"share" default:"0.5" least:"0.0" most:"1.0" help:"A share." json:"share"`
	Count  uint32  `setting:"count" default:"3" least:"1" most:"9" help:"A count, described in two lines." json:"count"`
	Switch bool    `setting:"switch" default:"true" help:"A switch." json:"switch"`
	Word   string  `setting:"word" default:"x" help:"A word." json:"word"`
}

func signalsOf(o object) syrch.Signals {
	number := func(key string) uint32 { return uint32(o.number(key)) }
	return syrch.Signals{
		Attempts: number("attempts"), MaxAttempts: number("max_attempts"), SyntaxErrors: number("syntax_errors"),
		SchemaErrors: number("schema_errors"), ExecutionErrors: number("execution_errors"), EmptyResult: o.flag("empty_result"),
		NullColumns: number("null_columns"), Overflow: o.flag("overflow"), Samples: number("samples"),
	}
}

func numberOf(o object, key string) *float64 {
	if number, isGiven := o[key].(float64); isGiven {
		return &number
	}
	return nil
}

// candidateJSON has a candidate's further numbers apart from its signals.
func candidateJSON(candidate syrch.Candidate) map[string]any {
	numbers := []any{}
	for _, measure := range candidate.Signals.Extra {
		numbers = append(numbers, []any{measure.Name, measure.Value})
	}
	return map[string]any{
		"id": candidate.ID, "parents": append([]string{}, candidate.Parents...), "origin": candidate.Origin, "sql": candidate.SQL,
		"raw_confidence": candidate.RawConfidence, "signals": signalsJSON(candidate.Signals), "numbers": numbers,
	}
}

func chained(o object) any {
	chain, candidates := syrch.NewChain(uint32(o.number("max_attempts"))), []any{}
	for _, step := range o.objects("steps") {
		kind, payload := variant(map[string]any(step))
		if kind == "no_statement" {
			chain.FailWithoutStatement(payload.(string))
			continue
		}
		of := object(payload.(map[string]any))
		if kind == "fail" {
			chain.Fail(of.text("sql"), of.text("wrong"))
			continue
		}
		given := of.object("statement")
		statement := syrch.Statement{
			SQL: given.text("sql"), Confidence: numberOf(given, "confidence"), LogProb: numberOf(given, "logprob"), Tokens: given.number("tokens"),
		}
		origin := syrch.Or(of.option("origin"), chain.Origin())
		candidates = append(candidates, candidateJSON(chain.Candidate(of.text("id"), origin, statement, signalsOf(of.object("signals")))))
	}
	tried := []any{}
	for _, one := range chain.Tried {
		tried = append(tried, map[string]any{"sql": one.SQL, "wrong": one.Wrong})
	}
	return map[string]any{
		"candidates": candidates, "tried": tried, "origin": chain.Origin(), "statements": chain.Statements(), "signals": signalsJSON(chain.Signals),
	}
}

var vectors = map[string]func(object) any{
	"text.line":  func(o object) any { return syrch.Line(o.text("text"), int(o.number("limit"))) },
	"text.clip":  func(o object) any { return syrch.Clip(o.text("text"), int(o.number("bytes"))) },
	"text.count": func(o object) any { return syrch.Count(uint64(o.number("number")), o.text("noun")) },
	"text.clamp01": func(o object) any {
		value, isNumber := o["value"].(float64)
		if !isNumber {
			value, _ = strconv.ParseFloat(o.text("value"), 64)
		}
		return syrch.Clamp01(value)
	},
	"names.quote":        func(o object) any { return syrch.QuoteName(o.syntax(), o.text("name")) },
	"names.quote_if_odd": func(o object) any { return syrch.QuoteIfOdd(o.syntax(), o.text("name")) },
	"names.shown":        func(o object) any { return syrch.ShownName(o.syntax(), o.text("name")) },
	"names.from_name": func(o object) any {
		table := tableOf(o.object("table"))
		return syrch.FromName(o.syntax(), &table)
	},
	"names.literal":  func(o object) any { return o.syntax().Literal(o.text("text")) },
	"prompt.catalog": func(o object) any { return syrch.CatalogText(catalogOf(o.object("catalog")), int(o.number("bytes"))) },
	"prompt.problem": func(o object) any { return syrch.ProblemText(problemOf(o.object("problem"))) },
	"prompt.cell":    func(o object) any { return syrch.CellText(valueOf(o.object("value"))) },
	"prompt.rows": func(o object) any {
		page := o.object("page")
		return syrch.RowsText(&syrch.Page{Columns: page.texts("columns"), Rows: rowsOf(page)})
	},
	"catalog.table_names": func(o object) any {
		catalog := catalogOf(o.object("catalog"))
		out := []string{}
		for at := range catalog.Tables {
			out = append(out, catalog.TableName(&catalog.Tables[at]))
		}
		return out
	},
	"catalog.place": func(o object) any {
		catalog := catalogOf(o.object("catalog"))
		table := catalog.Table(o.text("name"))
		for at := range catalog.Tables {
			if &catalog.Tables[at] == table {
				return at
			}
		}
		return nil
	},
	"brief.request":      func(o object) any { return requestJSON(briefOf(o).Request(triedOf(o), uint32(o.number("sample")))) },
	"brief.setting":      func(o object) any { return briefOf(o).Setting() },
	"brief.instructions": func(o object) any { return briefOf(o).Instructions() },
	"brief.feedback":     func(o object) any { return syrch.Feedback(triedOf(o)) },
	"draws.request": func(o object) any {
		var heat *float64
		if given, isGiven := o["temperature"].(float64); isGiven {
			heat = &given
		}
		return requestJSON(syrch.DrawRequest(briefOf(o), triedOf(o), uint32(o.number("number")), heat))
	},
	"ask":                    asked,
	"replies.plan_schema":    func(object) any { return syrch.PlanSchema },
	"replies.verdict_schema": func(object) any { return syrch.VerdictSchema },
	"replies.sql_reply": func(o object) any {
		sql, confidence := syrch.SQLOf(reply(o))
		if sql == "" {
			return nil
		}
		return map[string]any{"sql": sql, "confidence": confidence}
	},
	"replies.verdict_reply": func(o object) any {
		verdict := syrch.VerdictOf(reply(o))
		opinion := map[string]any{"score": verdict.Score, "reason": verdict.Reason, "checks": []any{}}
		switch verdict.Kind {
		case syrch.Accepted:
			return map[string]any{"accepted": opinion}
		case syrch.Rejected:
			return map[string]any{"rejected": opinion}
		}
		return map[string]any{"unavailable": verdict.Reason}
	},
	"replies.plan_reply": func(o object) any {
		var out []any
		for _, of := range syrch.SubtasksOf(reply(o)) {
			out = append(out, map[string]any{
				"id": of.ID, "description": of.Description, "depends_on": append([]string{}, of.DependsOn...), "is_atomic": of.IsAtomic,
				"expected_output": of.ExpectedOutput, "join_keys": keysJSON(of.JoinKeys),
			})
		}
		if out == nil {
			return nil
		}
		return out
	},
	"replies.join_context": func(o object) any {
		var keys []syrch.JoinKey
		for _, key := range o.objects("keys") {
			keys = append(keys, syrch.JoinKey{
				Left: key.text("left"), LeftCol: key.text("left_col"), Right: key.text("right"), RightCol: key.text("right_col"), How: key.text("how"),
			})
		}
		return syrch.JoinContext(keys)
	},
	"replies.join_keys_of": func(o object) any { return keysJSON(syrch.JoinKeysOf(taskOf(o.object("task")))) },
	"replies.plan_context": func(o object) any { return syrch.PlanContext(o.texts("steps")) },
	"replies.plan_of":      func(o object) any { return append([]string{}, syrch.PlanOf(taskOf(o.object("task")))...) },
	"attempt.chain":        chained,
	"attempt.words":        func(o object) any { return syrch.ErrorWords(sqlErrorOf(o.object("error"))) },
	"attempt.failed": func(o object) any {
		var signals syrch.Signals
		words, failure := syrch.CountError(sqlErrorOf(o.object("error")), &signals)
		if failure != nil {
			return map[string]any{"failure": failureJSON(failure)}
		}
		return map[string]any{"words": words, "signals": signalsJSON(signals)}
	},
	"attempt.doubts": func(o object) any {
		given := o.object("profile")
		profile := syrch.Profile{Rows: uint64(given.number("rows")), Truncated: given.flag("truncated")}
		for _, of := range given.objects("columns") {
			profile.Columns = append(profile.Columns, syrch.ColumnProfile{Column: column(of.object("column")), Nulls: uint64(of.number("nulls"))})
		}
		var signals syrch.Signals
		doubts := syrch.Doubts(uint64(o.number("overflow_rows")), &profile, &signals)
		return map[string]any{"doubts": append([]string{}, doubts...), "signals": signalsJSON(signals)}
	},
	"attempt.candidate_id": func(o object) any { return syrch.CandidateID(o.text("task"), uint32(o.number("number"))) },
	"failure.llm": func(o object) any {
		kind, payload := variant(o["error"])
		text, _ := payload.(string)
		return failureJSON(&syrch.ModelError{Kind: syrch.ModelErrorKind(kind), Text: text})
	},
	"failure.sql": func(o object) any { return failureJSON(sqlErrorOf(o.object("error"))) },
	"failure.port": func(o object) any {
		kind, payload := variant(o["error"])
		text, _ := payload.(string)
		return failureJSON(&syrch.PortError{Kind: syrch.PortErrorKind(kind), Text: text})
	},
	"draws.groups": func(o object) any { return append([][]int{}, syrch.Groups(o.texts("keys"))...) },
	"random.fnv1a": func(o object) any { return strconv.FormatUint(syrch.FNV1a(o.text("text")), 10) },
	"settings.schema": func(object) any {
		var schema any
		if err := syrch.ReadJSON(syrch.SettingsSchema[sample](), &schema); err != nil {
			panic(err)
		}
		return schema
	},
	"settings.read": func(o object) any {
		settings, err := syrch.ReadSettings[sample](o.text("config"))
		if err != nil {
			return nil
		}
		return map[string]any{"settings": settings}
	},
}

func TestJSONIsWrittenAsInOtherLanguages(t *testing.T) {
	for _, of := range []struct {
		value any
		text  string
	}{
		{map[string]any{"b": 1, "a": []any{nil, true, 1.0, 0.1}}, `{"a":[null,true,1.0,0.1],"b":1}`},
		{"a\"\\\n\u2028<größe>\u0001", `"a\"\\\n` + "\u2028<größe>" + `\u0001"`},
		{[]float64{1e16, 1e15, 1e-5, 1e-6, 1.5e300, -0.25}, `[1e16,1000000000000000.0,0.00001,1e-6,1.5e300,-0.25]`},
		{math.NaN(), "null"},
		{struct {
			A string `json:"a"`
			B *int   `json:"b"`
		}{"x", nil}, `{"a":"x","b":null}`},
	} {
		if got := syrch.JSON(of.value); got != of.text {
			t.Errorf("got %s, want %s", got, of.text)
		}
	}
}

func TestJSONIsReadOrRefused(t *testing.T) {
	var value any
	if err := syrch.ReadJSON(` {"a": [1, -2.5e3, "\u00fc\ud83e\udd80\/", null, {}], "b": true} `, &value); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": []any{1.0, -2500.0, "ü🦀/", nil, map[string]any{}}, "b": true}
	if !reflect.DeepEqual(value, want) {
		t.Errorf("got %v", value)
	}
	for _, text := range []string{"", "{", "[1,]", `{"a" 1}`, "01", "+1", "nul", `"a`, `"\x"`, "1 2", strings.Repeat("[", 1000), "\"\n\""} {
		if err := syrch.ReadJSON(text, &value); err == nil {
			t.Errorf("%q was read as %v", text, value)
		}
	}
	var typed struct {
		Steps [][2]float64 `json:"steps"`
		Count *uint32      `json:"count"`
	}
	if err := syrch.ReadJSON(`{"steps": [[0, 0.2], [0.5, 1]], "count": 3, "more": 1}`, &typed); err != nil || len(typed.Steps) != 2 || *typed.Count != 3 {
		t.Errorf("got %v, %v", typed, err)
	}
	if err := syrch.ReadJSON(`{"count": -1}`, &typed); err == nil {
		t.Error("a negative number was read")
	}
}
