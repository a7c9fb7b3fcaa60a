//! The statements that count, in each dialect.

use syrch_core::ports::Use;
use syrch_core::{Catalog, Dialect, Table};

/// Rows that are read of a statement that counts.
pub(super) const ROWS: u64 = 6;

/// A plain number, in the regular expressions that all engines share: without separators, units, or
/// a comma.
const NUMBER: &str = "^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)? *$";
/// A number in which nothing but its digits before the point decides whether texts are in the order
/// of numbers.
const DIGITS: &str = "^[0-9]+([.][0-9]+)?$";
/// A day that begins with its day or month.
const OTHER_DAY: &str = "^ *[0-9]{1,2}([/.-])[0-9]{1,2}[/.-][0-9]{4}( .*)?$";
/// The days that SQLite knows, counted in Julian days: of the years 0 to 9999.
const JULIAN: [&str; 2] = ["1721059.5", "5373484.5"];
/// A day, and a day with a time, in patterns of LIKE.
const DAY: &str = "____-__-__%";
const TIMES: [&str; 2] = ["____-__-__ _%", "____-__-__T_%"];

/// The values of a use as a table with the one column `v`.
struct Values<'u> {
    dialect: &'u Dialect,
    one: &'u Use,
    table: String,
}

/// Writes the statements that count the values of one use.
pub(super) struct Probe<'u>(Values<'u>);

impl<'u> Probe<'u> {
    /// `None` if the catalog has no such table.
    pub(super) fn new(one: &'u Use, catalog: &Catalog, dialect: &'u Dialect) -> Option<Self> {
        let table = quote_table(catalog.table(&one.table)?, dialect);
        Some(Self(Values { dialect, one, table }))
    }

    fn column(&self) -> String {
        self.0.dialect.quote(&self.0.one.column)
    }

    fn value(&self) -> String {
        self.0.one.value.clone().unwrap_or_else(|| self.column())
    }

    /// FROM, with these conditions besides those of the use.
    fn from(&self, conditions: &[String]) -> String {
        let all: Vec<String> = self
            .0
            .one
            .filter
            .iter()
            .chain(conditions)
            .map(|condition| format!("({condition})"))
            .collect();
        let filter =
            if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) };
        format!("FROM {}{filter}", self.0.table)
    }

    /// Returns the values of the use as a relation that a statement can read.
    fn values(&self) -> String {
        format!("(SELECT {} AS v {}) AS t", self.value(), self.from(&[]))
    }

    /// Returns the condition that a value matches a regular expression; `None` in a dialect without
    /// them.
    fn matches(&self, pattern: &str) -> Option<String> {
        let matches = self.0.dialect.syntax().matches?;
        Some(matches("v", &format!("'{pattern}'")))
    }

    /// Counts the texts among the values of a column that promises none, 1 at most.
    pub(super) fn any_text(&self) -> String {
        let text = [format!("typeof({}) = 'text'", self.value())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&text))
    }

    /// Counts the values, the texts, the numbers among the values, the texts that are digits with
    /// at most a point, and those that are days which do not begin with the year; and finds the
    /// fewest and the most digits before the point.
    pub(super) fn numbers(&self) -> Option<String> {
        let number = self.matches(NUMBER)?;
        let digits = self.matches(DIGITS)?;
        let (is_text, is_number) = if self.0.dialect.syntax().has_affinities {
            ("typeof(v) = 'text'", format!("typeof(v) IN ('integer', 'real') OR {number}"))
        } else {
            ("v IS NOT NULL", number)
        };
        let find = self.0.dialect.syntax().find;
        let whole =
            format!("CASE WHEN {find}(v, '.') > 0 THEN {find}(v, '.') - 1 ELSE length(v) END");
        let length =
            |which: &str| format!("{which}(CASE WHEN {is_text} AND {digits} THEN {whole} END)");
        Some(format!(
            "SELECT count(v) AS n, {} AS texts, {} AS numbers, {} AS digits, {} AS days, {} AS \
             shortest, {} AS longest FROM {}",
            count_where(is_text),
            count_where(&is_number),
            count_where(&format!("{is_text} AND {digits}")),
            count_where(&format!("{is_text} AND {}", self.matches(OTHER_DAY)?)),
            length("min"),
            length("max"),
            self.values(),
        ))
    }

    /// Counts the values, those that begin with a day, and those that have a time behind it.
    pub(super) fn days(&self) -> String {
        let [first, second] = TIMES;
        format!(
            "SELECT count(v) AS n, {} AS days, {} AS times FROM {}",
            count_where(&format!("v LIKE '{DAY}'")),
            count_where(&format!("v LIKE '{first}' OR v LIKE '{second}'")),
            self.values(),
        )
    }

    /// Counts the times of a column other than midnight, 1 at most.
    pub(super) fn any_time(&self) -> String {
        let column = self.column();
        let time = [format!("{column} <> CAST({column} AS DATE)")];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&time))
    }

    /// Counts the rows that have the column and for which the use's value is not NULL, 1 at most.
    pub(super) fn any_value(&self) -> String {
        let given =
            [format!("{} IS NOT NULL", self.column()), format!("({}) IS NOT NULL", self.value())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&given))
    }

    /// Counts the numbers that are no Julian day in SQLite's range of dates and for which the use's
    /// value is not NULL, 1 at most.
    pub(super) fn any_day_beyond(&self) -> String {
        let column = self.column();
        let [first, last] = JULIAN;
        let beyond = [
            format!(
                "typeof({column}) IN ('integer', 'real') AND ({column} < {first} OR \
                 {column} >= {last})"
            ),
            format!("({}) IS NOT NULL", self.value()),
        ];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&beyond))
    }

    /// Counts the texts of the column that are that number in another spelling, such as `007` or
    /// `1,200`, 1 at most. For SQLite.
    pub(super) fn any_spelling_of_number(&self, number: &str) -> String {
        let column = self.column();
        let spelled = [
            format!(
                "typeof({column}) = 'text' AND {column} <> '{number}' \
                 AND {column} REGEXP '^ *[+-]?[0-9][0-9,.]* *$'"
            ),
            format!("CAST(replace({column}, ',', '') AS REAL) = {number}"),
        ];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&spelled))
    }

    /// Counts the rows that have the column, 1 at most.
    pub(super) fn any_row(&self) -> String {
        let given = [format!("{} IS NOT NULL", self.column())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&given))
    }

    /// Counts the rows that have the column, and those for which the use's value is not NULL.
    pub(super) fn non_null_counts(&self) -> String {
        format!(
            "SELECT count(c) AS n, count(v) AS given FROM (SELECT {} AS c, {} AS v {}) AS t",
            self.column(),
            self.value(),
            self.from(&[]),
        )
    }

    /// Finds the different values of the column, so many at most.
    pub(super) fn distinct_values_sql(&self, most: u64) -> String {
        let column = self.column();
        let given = [format!("{column} IS NOT NULL")];
        format!("SELECT DISTINCT {column} AS v {} LIMIT {most}", self.from(&given))
    }

    /// Finds the further spellings of texts, each with its count, the most frequent first. `None`
    /// if a text cannot be written in the dialect for certain.
    pub(super) fn spellings(&self, texts: &[String]) -> Option<String> {
        let written = write_literals(texts.iter().map(String::as_str), self.0.dialect)?;
        let folded: Vec<String> =
            written.iter().map(|text| format!("lower(trim({text}))")).collect();
        let column = self.column();
        let another = [
            format!("lower(trim({column})) IN ({})", folded.join(", ")),
            format!("{column} NOT IN ({})", written.join(", ")),
        ];
        Some(format!(
            "SELECT {column} AS v, count(*) AS n {} GROUP BY {column} ORDER BY count(*) DESC, \
             {column} LIMIT {ROWS}",
            self.from(&another)
        ))
    }

    /// Returns the statement whose result is 1 if any value of the column is one of these texts,
    /// else
    /// 0. `None` if a text cannot be written in the dialect for certain.
    pub(super) fn any_of(&self, texts: &[&str]) -> Option<String> {
        let written = write_literals(texts.iter().copied(), self.0.dialect)?;
        let one_of = [format!("{} IN ({})", self.column(), written.join(", "))];
        Some(format!(
            "SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t",
            self.from(&one_of)
        ))
    }

    /// Counts the rows whose column has the pattern anywhere in it, letter case aside, 1 at most.
    /// `None` if it cannot be written in the dialect for certain.
    pub(super) fn any_like(&self, pattern: &str) -> Option<String> {
        let pattern = format!("%{pattern}%");
        let written = write_literals(std::iter::once(pattern.as_str()), self.0.dialect)?;
        let like = [format!("lower({}) LIKE lower({})", self.column(), written.join(", "))];
        Some(format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&like)))
    }

    /// Counts the rows whose column is that number or more, 1 at most.
    pub(super) fn any_from(&self, number: f64) -> String {
        let from = [format!("{} >= {number}", self.column())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&from))
    }

    /// Returns the statement whose result is 1 if any value of the column is a longer day than this
    /// year or month, else 0.
    pub(super) fn any_day_within(&self, part: &str) -> String {
        let within = [format!("{} LIKE '{part}-%'", self.column())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&within))
    }

    /// Two spellings of each value that differ in letter case or in blanks around them, the values
    /// that have several in one group of the keys, in order.
    pub(super) fn several_spellings(&self, keys: &[String]) -> String {
        let column = self.column();
        let named = keys
            .iter()
            .enumerate()
            .map(|(number, key)| format!(", {key} AS k{number}"))
            .collect::<String>();
        let grouped = keys.iter().map(|key| format!(", {key}")).collect::<String>();
        let outer = (0..keys.len()).map(|number| format!(", k{number}")).collect::<String>();
        format!(
            "SELECT min(v) AS one, max(v) AS other FROM (SELECT {column} AS v{named} {} \
             GROUP BY {column}{grouped}) AS t GROUP BY lower(trim(v)){outer} HAVING count(*) > 1 \
             ORDER BY 1 LIMIT {ROWS}",
            self.from(&[])
        )
    }

    /// Counts the pairs of rows in which the column and one of another table have equal values, 1
    /// at most.
    pub(super) fn any_pair(&self, table: &Table, column: &str) -> String {
        let dialect = self.0.dialect;
        let condition = format!("a.{} = b.{}", self.column(), dialect.quote(column));
        let tables = format!("{} AS a JOIN {} AS b", self.0.table, quote_table(table, dialect));
        format!(
            "SELECT count(*) AS n FROM (SELECT 1 AS v FROM {tables} ON {condition} LIMIT 1) AS t"
        )
    }

    /// Counts the rows of the table, 2 at most.
    pub(super) fn two_rows(&self) -> String {
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 2) AS t", self.from(&[]))
    }

    /// Counts the values of the column that several rows share, 1 at most.
    pub(super) fn any_shared(&self) -> String {
        let column = self.column();
        let given = [format!("{column} IS NOT NULL")];
        let from = self.from(&given);
        format!(
            "SELECT count(*) AS n FROM (SELECT 1 AS v {from} GROUP BY {column} HAVING count(*) > 1 \
             LIMIT 1) AS t"
        )
    }

    /// Returns the statement whose result is 1 if several rows have one of these texts, else 0.
    /// `None` if a text cannot be written in the dialect for certain.
    pub(super) fn any_repeated(&self, texts: &[String]) -> Option<String> {
        let written = write_literals(texts.iter().map(String::as_str), self.0.dialect)?;
        let column = self.column();
        let from = self.from(&[format!("{column} IN ({})", written.join(", "))]);
        Some(format!(
            "SELECT count(*) AS n FROM (SELECT 1 AS v {from} GROUP BY {column} HAVING count(*) > 1 \
             LIMIT 1) AS t"
        ))
    }

    /// Counts the rows whose column is within bounds, as operators with ordered days, 1 at most.
    pub(super) fn any_within(&self, bounds: &[(&str, &str)]) -> String {
        let column = self.column();
        let bounds = bounds.iter().map(|(operator, day)| format!("{column} {operator} '{day}'"));
        let bounds: Vec<String> = bounds.collect();
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&bounds))
    }

    /// Counts the rows in which the column is NULL, 1 at most.
    pub(super) fn any_null(&self) -> String {
        let null = [format!("{} IS NULL", self.column())];
        format!("SELECT count(*) AS n FROM (SELECT 1 AS v {} LIMIT 1) AS t", self.from(&null))
    }

    /// Counts the values of the column in the group that has most of them, up to 2. NULL is a
    /// value.
    pub(super) fn values_of_group(&self, keys: &[String]) -> String {
        let column = self.column();
        if keys.is_empty() {
            return format!(
                "SELECT count(*) AS n FROM (SELECT DISTINCT {column} AS v {} LIMIT 2) AS t",
                self.from(&[])
            );
        }
        format!(
            "SELECT 1 + count(*) AS n FROM (SELECT 1 AS v {} GROUP BY {} \
             HAVING min({column}) <> max({column}) OR count({column}) > 0 \
             AND count({column}) < count(*) LIMIT 1) AS t",
            self.from(&[]),
            keys.join(", "),
        )
    }
}

/// Texts as they may stand in a statement. `None` if one cannot be written in the dialect for
/// certain.
fn write_literals<'t>(
    texts: impl Iterator<Item = &'t str>,
    dialect: &Dialect,
) -> Option<Vec<String>> {
    let has_escapes = dialect.syntax().has_backslashes();
    fn is_plain(has_escapes: bool, text: &str) -> bool {
        !(text.contains('\0') || has_escapes && text.contains('\\'))
    }
    texts
        .map(|text| is_plain(has_escapes, text).then(|| format!("'{}'", text.replace('\'', "''"))))
        .collect()
}

/// The SQL that counts the rows of a condition.
fn count_where(condition: &str) -> String {
    format!("sum(CASE WHEN {condition} THEN 1 ELSE 0 END)")
}

/// A table with its schema, as it may stand in a statement.
fn quote_table(table: &Table, dialect: &Dialect) -> String {
    let schema = table.schema_name.as_ref().map(|schema| format!("{}.", dialect.quote(schema)));
    format!("{}{}", schema.unwrap_or_default(), dialect.quote(&table.name))
}
