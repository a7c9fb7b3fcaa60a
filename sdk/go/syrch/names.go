package syrch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words that stand unquoted only as keywords in at least one of the dialects.
const reserved = " all alter and any as asc between by case cast check collate column constraint create cross current default " +
	"delete desc distinct drop else end except exists false fetch for foreign from full grant group having in " +
	"index inner insert intersect into is join key left like limit natural not null offset on or order outer over " +
	"partition primary range references right row rows select set some table then to transaction trigger true " +
	"union unique update user using values view when where window with "

// The longest name that a database here allows has 255.
const shownName = 256

// Literal returns a text as a literal of a statement.
func (s Syntax) Literal(text string) string {
	if s.BackslashEscapes {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `'`, `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(text, `'`, `''`) + "'"
}

// QuoteName returns the name in the syntax's quotes.
func QuoteName(syntax Syntax, name string) string {
	quote := `"`
	if syntax.Backticks {
		quote = "`"
	}
	return quote + strings.ReplaceAll(name, quote, quote+quote) + quote
}

// QuoteIfOdd returns the name as a person would write it: quoted only when it would not be read as that name otherwise.
func QuoteIfOdd(syntax Syntax, name string) string {
	if isPlain(syntax, name) {
		return name
	}
	return QuoteName(syntax, name)
}

// ShownName returns the name as a prompt shows it: quoted when it has to be, and on one line. A name that could break out of its line, or that
// is longer than any database allows, is changed. It is never for a statement that is run.
func ShownName(syntax Syntax, name string) string {
	breaks := func(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }
	if !strings.ContainsFunc(name, breaks) && utf8.RuneCountInString(name) <= shownName {
		return QuoteIfOdd(syntax, name)
	}
	return QuoteIfOdd(syntax, Line(name, shownName))
}

// FromName returns a table's name as a statement has it in FROM.
func FromName(syntax Syntax, table *Table) string {
	name := QuoteIfOdd(syntax, table.Name)
	if table.SchemaName == nil {
		return name
	}
	return QuoteIfOdd(syntax, *table.SchemaName) + "." + name
}

func isPlain(syntax Syntax, name string) bool {
	hasUpper := strings.ContainsFunc(name, func(c rune) bool { return 'A' <= c && c <= 'Z' })
	folds := syntax.FoldsNames && hasUpper
	return isWord(name) && !folds && !strings.Contains(reserved, " "+asciiLower(name)+" ")
}

func isWord(name string) bool {
	for at, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (at == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
