package syrch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file writes problems, catalogs and rows as prompt text: in the order in which they came, bounded, one fact a line. The texts have the
// same bytes as those of the SDKs of other languages.

const (
	commentLength = 160
	// The most characters of a note, and bytes of a solved example: a longer example is left out, since a part of a statement is none.
	noteLength = 4000
	// The most hints, and the most bytes of all. One that does not fit is left out whole.
	mostHints  = 20
	hintsBytes = 12 * 1024
	// The most bytes of all terms. One that does not fit is left out whole.
	termsBytes = 8 * 1024
	// The most characters of a term's definition, and of its values.
	definitionLength = 400
	cellLength     = 60
	questionLength = 8 * 1024
)

// ProblemText returns the question with all that the user added to it.
func ProblemText(problem *Problem) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Question: %s\n", Clip(strings.TrimSpace(problem.Question), questionLength))
	if problem.Evidence != nil {
		fmt.Fprintf(&out, "Explanation: %s\n", Clip(strings.TrimSpace(*problem.Evidence), questionLength))
	}
	if problem.Goal != nil {
		fmt.Fprintf(&out, "Goal: %s\n", Line(*problem.Goal, 400))
	}
	for _, said := range problem.Answers {
		fmt.Fprintf(&out, "Clarified: %s Answer: %s\n", Line(said.Question, 400), Line(said.Answer, 400))
	}
	out.WriteString(termTexts(problem.Terms))
	out.WriteString(hintTexts(problem.Hints))
	return out.String()
}

const metricRequestText = "\nThe lines that begin with `Metric` and `Dimension` are definitions. If the question asks for metrics and nothing else, write in " +
	"place of the statement a request, whose statement is made by the definitions: a ```json fence with " +
	"{\"metrics\": [\"revenue\"], \"by\": [dimensions, or day, week, month, quarter or year], " +
	"\"where\": \"country = 'France' AND channel IN ('web', 'shop')\", \"period\": \"2024, 2024-Q1, 2024-03..2024-06, 2024.. or last_month\", " +
	"\"order\": \"revenue:desc\", \"limit\": 3, " +
	"\"within\": [those of by in each of whose groups limit and share_of_total count], " +
	"\"compare\": \"previous_period, same_period_last_year, growth, growth_last_year, share_of_total or running_total\"}, " +
	"without the keys that it does not need."

// MetricRequest returns the form of a request for metrics, for the instructions of a prompt whose reply has the shape `sql`; empty unless the
// question mentions a defined metric.
func MetricRequest(problem *Problem) string {
	for at := range problem.Terms {
		if term := &problem.Terms[at]; term.Mentioned && term.Kind == MetricTerm {
			return metricRequestText
		}
	}
	return ""
}

// termTexts returns the terms that fit, as prompt text.
func termTexts(terms []Term) string {
	var out strings.Builder
	left := termsBytes
	for at := range terms {
		if term := termText(&terms[at]); len(term) <= left {
			left -= len(term)
			out.WriteString(term)
		}
	}
	return out.String()
}

func termText(term *Term) string {
	kind := "Term"
	switch term.Kind {
	case MetricTerm:
		kind = "Metric"
	case DimensionTerm:
		kind = "Dimension"
	}
	out := kind + " " + Line(term.Name, commentLength) + ": " + Line(term.Definition, definitionLength)
	if len(term.Synonyms) > 0 {
		out += " (also: " + Line(strings.Join(term.Synonyms, ", "), commentLength) + ")"
	}
	if len(term.Labels) > 0 {
		var labels []string
		for _, label := range term.Labels {
			text := label.Value
			if len(label.Words) > 0 {
				text += " (" + strings.Join(label.Words, ", ") + ")"
			}
			labels = append(labels, text)
		}
		out += " values: " + Line(strings.Join(labels, "; "), definitionLength)
	}
	if term.Description != nil {
		out += " -- " + Line(*term.Description, commentLength)
	}
	return out + "\n"
}

// factsText returns the facts about tables among the hints of a problem, as prompt text.
func factsText(problem *Problem) string {
	var facts []Hit
	for at := range problem.Hints {
		if isFact(&problem.Hints[at]) {
			facts = append(facts, problem.Hints[at])
		}
	}
	return hintTexts(facts)
}

// isFact returns whether a hit is a fact about a table: cells of no column.
func isFact(hit *Hit) bool {
	return hit.Corpus == CorpusCells && hit.Column == nil
}

// hintTexts returns the hits that fit, as prompt text.
func hintTexts(hits []Hit) string {
	var out strings.Builder
	left := hintsBytes
	for at := range hits[:min(len(hits), mostHints)] {
		if hint := hintText(&hits[at]); len(hint) <= left {
			left -= len(hint)
			out.WriteString(hint)
		}
	}
	return out.String()
}

// hintText returns a hit as prompt text; empty for a solved example that is too long.
func hintText(hit *Hit) string {
	if hit.Corpus == CorpusExamples && hit.Payload != nil {
		example := ExampleOf(hit)
		if example == nil {
			return ""
		}
		return "Solved before: " + example.Question + "\n```sql\n" + example.SQL + "\n```\n"
	}
	text := hit.Snippet
	if whole := payloadOf(hit).Note; hit.Corpus == CorpusNotes && whole != nil {
		text = whole
	}
	snippet := ""
	if text != nil {
		snippet = ": " + Line(*text, mostOf(hit))
	}
	return fmt.Sprintf("Hint: %s%s\n", Line(hit.Path, commentLength), snippet)
}

// mostOf returns the most characters of a hit's text: what people wrote, and facts about a table, are whole.
func mostOf(hit *Hit) int {
	if hit.Corpus == CorpusNotes || hit.Corpus == CorpusExamples || isFact(hit) {
		return noteLength
	}
	return commentLength
}

// A hitPayload has the texts of a hit's payload.
type hitPayload struct {
	Note     *string
	Question *string
	SQL      *string
}

func payloadOf(hit *Hit) (payload hitPayload) {
	if hit.Payload == nil {
		return
	}
	texts := map[string]any{}
	if ReadJSON(*hit.Payload, &texts) != nil {
		return
	}
	text := func(key string) *string {
		if text, is := texts[key].(string); is {
			return &text
		}
		return nil
	}
	return hitPayload{Note: text("note"), Question: text("question"), SQL: text("sql")}
}

// An Example is a question with the statement that answers it, as the user gave it.
type Example struct {
	Question string
	SQL      string
}

// ExampleOf returns the solved example of a hit; nil for any other hit, and for an example of more than 4,000 bytes.
func ExampleOf(hit *Hit) *Example {
	payload := payloadOf(hit)
	if hit.Corpus != CorpusExamples || payload.Question == nil || payload.SQL == nil {
		return nil
	}
	example := Example{Line(*payload.Question, noteLength), strings.TrimSpace(*payload.SQL)}
	if example.SQL == "" || len(example.Question)+len(example.SQL) > noteLength {
		return nil
	}
	return &example
}

type detail uint8

const (
	withComments detail = iota
	withTypes
	withNames
)

// CatalogText returns all tables with columns, types, keys and comments in at most about that many bytes: comments go first, then types and
// keys, and at last whole tables, whose number is stated.
func CatalogText(catalog *Catalog, bytes int) string {
	var tables []string
	for _, how := range []detail{withComments, withTypes, withNames} {
		tables = tables[:0]
		length := 0
		for at := range catalog.Tables {
			text := tableText(catalog, &catalog.Tables[at], how)
			tables, length = append(tables, text), length+len(text)
		}
		if length <= bytes {
			return strings.Join(tables, "")
		}
	}
	var out strings.Builder
	for at, text := range tables {
		if out.Len()+len(text) > bytes {
			fmt.Fprintf(&out, "(%s more not shown)\n", Count(uint64(len(tables)-at), "table"))
			break
		}
		out.WriteString(text)
	}
	return out.String()
}

// shownTable returns a table's name as it stands in FROM, on one line: for prompts, not for a statement that is run.
func shownTable(syntax Syntax, table *Table) string {
	name := ShownName(syntax, table.Name)
	if table.SchemaName == nil {
		return name
	}
	return ShownName(syntax, *table.SchemaName) + "." + name
}

// target returns the table that a foreign key refers to, as it stands in FROM.
func target(catalog *Catalog, key *ForeignKey) string {
	if table := catalog.Table(key.RefTable); table != nil {
		return shownTable(catalog.Syntax, table)
	}
	return ShownName(catalog.Syntax, key.RefTable)
}

func tableText(catalog *Catalog, table *Table, how detail) string {
	kind := "Table"
	if table.IsView() {
		kind = "View"
	}
	name := shownTable(catalog.Syntax, table)
	if how == withNames {
		columns := make([]string, len(table.Columns))
		for at := range table.Columns {
			columns[at] = ShownName(catalog.Syntax, table.Columns[at].Name)
		}
		return fmt.Sprintf("%s %s (%s)\n", kind, name, strings.Join(columns, ", "))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", kind, name)
	if table.RowEstimate != nil {
		fmt.Fprintf(&out, " (about %s)", Count(*table.RowEstimate, "row"))
	}
	out.WriteString(commentText(table.Comment, how) + "\n")
	for at := range table.Columns {
		out.WriteString(columnText(catalog, table, &table.Columns[at], how))
	}
	for at := range table.ForeignKeys {
		if key := &table.ForeignKeys[at]; len(key.Columns) > 1 {
			shown := func(name string) string { return ShownName(catalog.Syntax, name) }
			fmt.Fprintf(&out, "  (%s) -> %s (%s)\n", names(key.Columns, shown), target(catalog, key), names(key.RefColumns, shown))
		}
	}
	return out.String()
}

func columnText(catalog *Catalog, table *Table, column *Column, how detail) string {
	var out strings.Builder
	out.WriteString("  " + ShownName(catalog.Syntax, column.Name))
	if column.SQLType != "" {
		out.WriteString(" " + Line(column.SQLType, 40))
	}
	for _, name := range table.PrimaryKey {
		if name == column.Name {
			out.WriteString(" primary key")
			break
		}
	}
	for at := range table.ForeignKeys {
		key := &table.ForeignKeys[at]
		if len(key.Columns) != 1 || key.Columns[0] != column.Name {
			continue
		}
		out.WriteString(" -> " + target(catalog, key))
		if len(key.RefColumns) > 0 {
			out.WriteString("." + ShownName(catalog.Syntax, key.RefColumns[0]))
		}
		break
	}
	return out.String() + commentText(column.Comment, how) + "\n"
}

func commentText(text *string, how detail) string {
	if text == nil || how != withComments || strings.TrimSpace(*text) == "" {
		return ""
	}
	return " -- " + Line(*text, commentLength)
}

// CellText returns a cell on one line, short.
func CellText(value Value) string {
	switch value.Kind {
	case KindNull:
		return "NULL"
	case KindBoolean:
		return strconv.FormatBool(value.Boolean)
	case KindInteger:
		return strconv.FormatInt(value.Integer, 10)
	case KindReal:
		return realText(value.Real)
	case KindBytes:
		return Count(uint64(len(value.Bytes)), "byte")
	default:
		return Line(value.Text, cellLength)
	}
}

func realText(number float64) string {
	switch {
	case math.IsNaN(number):
		return "NaN"
	case math.IsInf(number, 1):
		return "inf"
	case math.IsInf(number, -1):
		return "-inf"
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// RowsText returns rows as a small table: names, then one line for each row.
func RowsText(page *Page) string {
	var out strings.Builder
	cells := make([]string, len(page.Columns))
	for at, name := range page.Columns {
		cells[at] = Line(name, cellLength)
	}
	out.WriteString(strings.Join(cells, " | ") + "\n")
	for _, row := range page.Rows {
		cells = cells[:0]
		for _, cell := range row {
			cells = append(cells, CellText(cell))
		}
		out.WriteString(strings.Join(cells, " | ") + "\n")
	}
	return out.String()
}
