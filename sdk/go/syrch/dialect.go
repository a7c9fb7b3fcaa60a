package syrch

import "strings"

// The rules of each SQL dialect for prompts: what models get wrong when they write one engine's SQL for another. One line a rule; each was
// checked on the engine.
const (
	sqliteRules = "- Names in double quotes, texts in single quotes; a quote inside is doubled.\n" +
		"- Dates are texts such as '2024-05-31': date(d, '-7 days'), strftime('%Y-%m', d), CAST(strftime('%Y', d) AS INTEGER); days between: julianday(a) - julianday(b). There is no EXTRACT, INTERVAL or date_trunc.\n" +
		"- Texts: a || b, substr, instr, group_concat(x, ', '). LIKE ignores the case of letters, = does not; there is no ILIKE.\n" +
		"- / between integers drops the fraction: write 1.0 * a / b.\n" +
		"- Booleans are 0 and 1. NULL sorts as the least value. Limits: LIMIT n OFFSET m.\n"
	postgresRules = "- Names with capitals or odd characters in double quotes, since others are folded to lower case; texts in single quotes, a quote inside is doubled.\n" +
		"- Dates: d - INTERVAL '7 days', date_trunc('month', d), EXTRACT(YEAR FROM d), to_char(d, 'YYYY-MM'); a date minus a date is a number of days. There is no strftime, datediff or julianday.\n" +
		"- Texts: a || b, substring(x FROM 1 FOR 3), position('a' IN x), string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.\n" +
		"- / between integers drops the fraction: write a::numeric / b. ROUND(x, 2) needs a numeric.\n" +
		"- A text is not compared with a number, nor a boolean with 0 or 1: cast, write TRUE and FALSE.\n" +
		"- All that is selected beside aggregates stands in GROUP BY. NULL sorts as the greatest value: write DESC NULLS LAST. Limits: LIMIT n OFFSET m.\n"
	duckdbRules = "- Names in double quotes, texts in single quotes; a quote inside is doubled. Names do not depend on letter case.\n" +
		"- Dates: d - INTERVAL 7 DAY, date_trunc('month', d), EXTRACT(YEAR FROM d), strftime(d, '%Y-%m'); days from a to b: date_diff('day', a, b). There is no julianday or to_char. A text is no date until it is cast: CAST(x AS DATE).\n" +
		"- Texts: a || b, substr, instr, string_agg(x, ', '). ILIKE ignores the case of letters, LIKE and = do not.\n" +
		"- / gives a fraction, // drops it. A text column is not compared with a number or added up: TRY_CAST(x AS DOUBLE) gives NULL where it is none.\n" +
		"- Booleans are TRUE and FALSE. All that is selected beside aggregates stands in GROUP BY.\n" +
		"- NULL sorts last, ascending and descending. Limits: LIMIT n OFFSET m.\n"
	sparkRules = "- Names in `backticks`; texts in single quotes, a quote inside as \\'. Double quotes hold a text, too, not a name.\n" +
		"- Dates: d - INTERVAL 7 DAYS, date_add(d, 7), add_months(d, 1), date_trunc('MONTH', d), year(d), date_format(d, 'yyyy-MM'); days: datediff(end, start). There is no strftime, julianday or to_char of dates.\n" +
		"- Texts: concat(a, b) or a || b, NULL where one is NULL; substring, instr, array_join(collect_list(x), ', '). ILIKE ignores the case of letters, LIKE and = do not.\n" +
		"- / gives a fraction, a div b drops it. TRY_CAST(x AS DOUBLE) gives NULL where a text is no number; CAST fails.\n" +
		"- A boolean is not compared with 0 or 1: write TRUE and FALSE. The types are STRING and TIMESTAMP, not TEXT and DATETIME.\n" +
		"- All that is selected beside aggregates stands in GROUP BY; after DISTINCT, ORDER BY has only what is selected.\n" +
		"- NULL sorts as the least value. Limits: LIMIT n OFFSET m, no FETCH FIRST.\n"
	mysqlRules = "- Names in `backticks`, texts in single quotes, a quote inside is doubled.\n" +
		"- Dates: d - INTERVAL 7 DAY, YEAR(d), DATE_FORMAT(d, '%Y-%m'); days: DATEDIFF(end, start).\n" +
		"- Texts: CONCAT(a, b), since || is OR; SUBSTRING, LOCATE, GROUP_CONCAT(x SEPARATOR ', '). = and LIKE ignore the case of letters by default.\n" +
		"- / gives a fraction, DIV drops it. Booleans are 1 and 0. NULL sorts as the least value. Limits: LIMIT n OFFSET m; there is no FULL JOIN.\n"
	ansiRules = "- Names in double quotes, texts in single quotes; a quote inside is doubled.\n" +
		"- Dates: DATE '2024-05-31', d - INTERVAL '7' DAY, EXTRACT(YEAR FROM d). Texts: a || b, SUBSTRING(x FROM 1 FOR 3), UPPER(a) = UPPER(b).\n" +
		"- / between integers may drop the fraction: cast first. Limits: OFFSET m ROWS FETCH FIRST n ROWS ONLY. All that is selected beside aggregates stands in GROUP BY.\n"
)

// Name returns the dialect's name in prompts.
func (d Dialect) Name() string {
	switch d {
	case SQLite:
		return "SQLite"
	case Postgres:
		return "PostgreSQL"
	case MySQL:
		return "MySQL"
	case DuckDB:
		return "DuckDB"
	case Databricks:
		return "Databricks SQL"
	case Spark:
		return "Spark SQL"
	case ANSI:
		return "standard SQL"
	}
	return string(d)
}

// Rules returns the rules of the dialect for the prompt of a statement, a line each; empty for a dialect that is not known here.
func (d Dialect) Rules() string {
	switch d {
	case SQLite:
		return sqliteRules
	case Postgres:
		return postgresRules
	case MySQL:
		return mysqlRules
	case DuckDB:
		return duckdbRules
	case Databricks, Spark:
		return sparkRules
	case ANSI:
		return ansiRules
	}
	return ""
}

// Literal returns a text as a literal of a statement. Spark and Databricks read two quotes within a text in several ways, by version; all
// read a quote after a backslash.
func (d Dialect) Literal(text string) string {
	switch d {
	case Databricks, Spark:
		text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `'`, `\'`)
	case MySQL:
		text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `'`, `''`)
	default:
		text = strings.ReplaceAll(text, `'`, `''`)
	}
	return "'" + text + "'"
}
