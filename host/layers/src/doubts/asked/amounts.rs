//! Numbers of a question and of a statement: the aggregate, the year, the groups, and what is
//! counted.

use syrch_core::ports::{Literal, Selected};
use syrch_core::{Doubt, DoubtKind, Table, Value};
use syrch_words::stem;

use super::super::SHOWN;
use super::super::joins::Side;
use super::super::outline::is_unique;
use super::first::PER;
use super::measure::{MOST, SUPERLATIVES};
use super::question::{stems, words};
use super::{Asked, DIFFERENT, TURNED};

/// Words of a question that name an aggregate, its name, and the aggregates that it is not.
const NAMED: &[(&[&str], &str, &[&str])] = &[
    (&["average", "averages", "avg"], "average", &["max", "min", "sum", "total"]),
    (&["sum", "total"], "total", &["avg", "mean"]),
    (&["biggest", "greatest", "highest", "largest", "max", "maximum"], "greatest", &["min"]),
    (&["lowest", "min", "minimum", "smallest"], "least", &["max"]),
];
/// Functions of which a statement has one alone.
const AGGREGATES: &[&str] = &["avg", "count", "max", "mean", "min", "sum", "total"];
/// Functions of a mean, and those of its form.
const MEANS: &[&str] = &["avg", "count", "mean", "sum", "total"];
const ROUNDED: &[&str] = &["cast", "coalesce", "ifnull", "nullif", "round"];
/// Words of which one stands directly before a year in which something is.
pub(super) const WITHIN: &[&str] = &[
    "april",
    "august",
    "december",
    "during",
    "february",
    "for",
    "in",
    "january",
    "july",
    "june",
    "march",
    "may",
    "november",
    "of",
    "october",
    "september",
    "year",
];
/// Words with which a year of a question is not that of the rows.
const AROUND: &[&str] = &[
    "academic",
    "after",
    "age",
    "aged",
    "ago",
    "before",
    "between",
    "earlier",
    "fiscal",
    "following",
    "later",
    "next",
    "old",
    "older",
    "preceding",
    "previous",
    "prior",
    "season",
    "since",
    "till",
    "until",
    "younger",
];
/// Words that stand before *than* and a number, in short, and the operators of the other side.
const BOUNDS: &[(&[&str], &str, [&str; 2])] = &[
    (&["bigger", "greater", "higher", "larger", "more"], "more than", ["<", "<="]),
    (&["fewer", "less", "lower", "smaller"], "less than", [">", ">="]),
];
/// Words with which a bound may be another one.
const UNBOUND: &[&str] = &[
    "besides",
    "but",
    "cannot",
    "except",
    "exclude",
    "excludes",
    "excluding",
    "fail",
    "fails",
    "ignoring",
    "lack",
    "lacking",
    "lacks",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "only",
    "or",
    "other",
    "priority",
    "rank",
    "ranked",
    "ranking",
    "t",
    "than",
    "unless",
    "without",
];
/// Functions that choose a value by a condition, as CASE does.
const CHOICES: &[&str] = &["if", "iff", "iif"];
/// Operators beside which a number is a part of a sum or a product.
const ARITHMETIC: &[&str] = &["%", "*", "+", "-", "/", "||"];
/// Words of columns that hold years.
const DATES: &[&str] = &["at", "date", "datetime", "day", "on", "time", "timestamp", "year"];
/// Units of a measure that is one of each row already.
const UNITS: &[&str] = &[
    "capita",
    "day",
    "gallon",
    "game",
    "head",
    "hour",
    "kilogram",
    "kilometer",
    "liter",
    "mile",
    "minute",
    "month",
    "night",
    "person",
    "pound",
    "second",
    "unit",
    "week",
    "year",
];
/// Words with which rows are included, and those that say of what there may be none.
const INCLUDED: &[&str] = &["also", "even", "include", "including"];
const NONE: &[&str] = &["0", "any", "never", "no", "none", "not", "without", "zero"];
/// The multiple of a table's rows from which on a count of its things is too large: the number of
/// rows may be an
/// estimate.
const TOO_MANY: f64 = 1.2;

impl Asked<'_> {
    /// The doubt about an aggregate where the question names another one, and each has no other.
    pub(super) fn other_aggregate(&self) -> Option<Doubt> {
        let mut named = NAMED.iter().filter(|(words, ..)| self.question.has_any(words));
        let (words, name, others) = named.next()?;
        let is_extreme = matches!(*name, "greatest" | "least");
        let has_end = self.question.has_any(SUPERLATIVES) || self.question.has_any(MOST);
        let used: Vec<&str> = self
            .facts
            .functions
            .iter()
            .map(String::as_str)
            .filter(|function| AGGREGATES.contains(function))
            .collect();
        let ([used], None) = (used.as_slice(), named.next()) else { return None };
        let shown = self.outline.columns.iter().find(|column| column.is_aggregate(&[*used]))?;
        let is_turned = self.question.has_any(TURNED)
            || shown.column().is_some_and(|column| {
                super::words(&column.column).iter().any(|word| TURNED.contains(&word.as_str()))
            });
        let may_be_other = if is_extreme { is_turned } else { has_end };
        if !others.contains(used)
            || may_be_other
            || self.outline.limit.is_some()
            || !self.facts.tasks.is_empty()
        {
            return None;
        }
        // The average may be the name of a column.
        let names = self.names();
        if words.iter().any(|word| names.contains(&stem(word))) {
            return None;
        }
        let text = format!("the question asks for the {name}, and the statement has {used} alone");
        Some(Doubt { kind: DoubtKind::OtherAggregate, text })
    }

    /// The doubt about a mean where a median is asked for.
    pub(super) fn no_median(&self) -> Option<Doubt> {
        let functions = &self.facts.functions;
        if !self.question.has_any(&["median"])
            || !functions.iter().any(|function| MEANS.contains(&function.as_str()))
            || !functions.iter().all(|function| {
                MEANS.contains(&function.as_str()) || ROUNDED.contains(&function.as_str())
            })
            || ["LIMIT", "OVER", "FETCH", "MEDIAN"].iter().any(|word| !self.lacks(word))
        {
            return None;
        }
        let text = "the question asks for the median, and the statement has a mean".to_owned();
        Some(Doubt { kind: DoubtKind::OtherAggregate, text })
    }

    /// The doubt about days of other years than that in which the question asks for something.
    pub(super) fn other_year(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let mut years =
            words.iter().enumerate().filter_map(|(at, word)| Some((at, year_of(word)?)));
        let (at, asked) = years.next()?;
        let before = at.checked_sub(1).map(|before| words[before])?;
        let is_day = before.len() <= 2 && before.bytes().all(|byte| byte.is_ascii_digit());
        if years.any(|(_, other)| other != asked)
            || !(is_day || WITHIN.contains(&before))
            || self.question.has_any(AROUND)
            || !self.facts.tasks.is_empty()
        {
            return None;
        }
        let found: Vec<u32> = self.facts.literals.iter().flat_map(years_in).collect();
        let first = found.iter().min()?;
        let last = found.iter().max()?;
        let earliest = first - u32::from(self.may_end_before_a_year());
        if (earliest..=*last).contains(&asked) {
            return None;
        }
        let text = format!("the question asks for {asked}, and the statement has {first}");
        Some(Doubt { kind: DoubtKind::OtherYear, text })
    }

    /// Returns true if the only day of the statement begins a year: what is before it is of the
    /// year before, as in `by the end of 2023`.
    fn may_end_before_a_year(&self) -> bool {
        let mut dated = self.facts.literals.iter().filter(|literal| !years_in(literal).is_empty());
        let only = dated.next().filter(|first| dated.all(|other| other.text == first.text));
        only.is_some_and(|literal| {
            literal.text.get(4..).is_some_and(|rest| rest.starts_with("-01-01"))
        })
    }

    /// The doubt about a number that bounds from the other side than the question says: `less than
    /// 100` by `> 100`.
    pub(super) fn other_bound(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let at = words.iter().position(|word| *word == "than")?;
        let before = words[..at].last()?;
        let number = words.get(at + 1).copied().filter(|word| is_digits(word))?;
        let (_, bound, others) = BOUNDS.iter().find(|(words, ..)| words.contains(before))?;
        let mut rest = words[..at].iter().chain(&words[at + 2..]);
        if words.get(at + 2).is_some_and(|word| is_digits(word))
            || rest.any(|word| UNBOUND.contains(word) || *word == number)
            || ["NOT", "EXCEPT", "CASE", "BETWEEN"].iter().any(|word| !self.lacks(word))
            || self.facts.functions.iter().any(|name| CHOICES.contains(&name.as_str()))
        {
            return None;
        }
        let used = find_operators(&self.facts.normalized, number);
        let first = used.first()?;
        if !used.iter().all(|operator| others.contains(operator)) {
            return None;
        }
        let text = format!(
            "the question asks for {bound} {number}, and the statement has {first} {number}"
        );
        Some(Doubt { kind: DoubtKind::OtherBound, text })
    }

    /// The doubt about one number of all where one of each is asked for.
    pub(super) fn no_groups(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        if columns.is_empty()
            || !self.outline.groups.is_empty()
            || self.results.row_count() != 1
            || !columns.iter().all(|column: &Selected| match column {
                // Sums of cases may be those of the groups, a column each.
                Selected::Aggregate { function, of, .. } => {
                    of.is_some() || columns.len() == 1 && function == "count"
                }
                Selected::Column(_) | Selected::Other => false,
            })
            || ["GROUP BY", "OVER", "EXISTS"].iter().any(|word| !self.lacks(word))
        {
            return None;
        }
        let words: Vec<&str> = self.question.words().collect();
        let names = self.names();
        let behind = words.windows(2).find_map(|pair| {
            let is_unit = pair[0] == "per" && UNITS.contains(&pair[1].trim_end_matches('s'));
            (PER.contains(&pair[0]) && !is_unit && names.contains(&stem(pair[1])))
                .then_some(pair[1])
        });
        let by = match words.as_slice() {
            // Something is done by the last one.
            [.., verb, "by", _]
                if *verb != "grouped" && (verb.ends_with("ed") || verb.ends_with("en")) =>
            {
                None
            }
            [.., "by", noun] if names.contains(&stem(noun)) => Some(*noun),
            _ => None,
        };
        let noun = behind.or(by)?;
        // Each row of a table of that name is one already.
        let is_row = self.outline.relations == 1
            && self.facts.tables.iter().any(|table| stems(table).contains(&stem(noun)));
        let is_measured_so = columns
            .iter()
            .filter_map(Selected::column)
            .any(|column| super::words(&column.column).iter().any(|word| word == "per"));
        if is_row || is_measured_so {
            return None;
        }
        let text =
            format!("the question asks for a number of each {noun}, and the result is one of all");
        Some(Doubt { kind: DoubtKind::NoGroups, text })
    }

    /// The doubt about a count of joined rows that is larger than the number of the things; of the
    /// counts of groups, their sum.
    pub(super) fn too_many(&self) -> Option<Doubt> {
        let place = self.outline.columns.iter().position(|column| {
            matches!(
                column,
                Selected::Aggregate { function, is_distinct: false, .. } if function == "count"
            )
        })?;
        if self.outline.columns.len() > self.outline.groups.len() + 1
            || self.outline.relations < 2
            || self.outline.limit.is_some()
        {
            return None;
        }
        let table = self.find_counted_table()?;
        let rows = table.row_estimate?;
        // Each row of the table has one group of these at most.
        if !self.outline.groups.iter().all(|group| match group {
            Selected::Column(column) => {
                let other = self.catalog.table(&column.table);
                other.is_some_and(|other| self.has_one(table, other))
            }
            Selected::Aggregate { .. } | Selected::Other => false,
        }) {
            return None;
        }
        let counts = self.results.rows(0, SHOWN);
        let counts: Option<Vec<i64>> = counts
            .iter()
            .map(|row| match row.get(place) {
                Some(Value::Integer(count)) => Some(*count),
                _ => None,
            })
            .collect();
        let counted = counts?.into_iter().fold(0, i64::saturating_add);
        if counted as f64 <= TOO_MANY * rows as f64 {
            return None;
        }
        let text = format!(
            "{counted} rows of the join are counted, and {} has {rows}: count each of them once",
            table.name
        );
        Some(Doubt { kind: DoubtKind::TooMany, text })
    }

    /// The table whose rows the question counts: `how many orders`, `the number of orders`.
    pub(super) fn find_counted_table(&self) -> Option<&Table> {
        let words: Vec<&str> = self.question.words().collect();
        let at = words
            .windows(2)
            .position(|pair| matches!(*pair, ["how", "many"] | ["number" | "count", "of"]))?;
        // `Customer orders` are orders.
        let after = words.get(at + 3);
        self.find_table(words.get(at + 2)?)
            .filter(|_| after.is_none_or(|word| self.find_table(word).is_none()))
    }

    /// The table of that name, in the singular or the plural.
    fn find_table(&self, word: &str) -> Option<&Table> {
        let own = [stem(word)];
        self.catalog.tables.iter().find(|table| stems(&table.name) == own)
    }

    /// Returns true if each row of the table has one row of the other at most, by foreign keys of
    /// which no two lead to the same table: a flight has two airports.
    pub(super) fn has_one(&self, table: &Table, other: &Table) -> bool {
        let mut known: Vec<&Table> = self.catalog.table(&table.name).into_iter().collect();
        let mut next = 0;
        while let Some(table) = known.get(next).copied() {
            next += 1;
            let keys = table.foreign_keys.iter();
            for parent in keys.filter_map(|key| self.catalog.table(&key.ref_table)) {
                if std::ptr::eq(parent, table) {
                    continue;
                }
                if known.iter().any(|known| std::ptr::eq(*known, parent)) {
                    return false;
                }
                known.push(parent);
            }
        }
        known.iter().any(|known| std::ptr::eq(*known, other))
    }

    /// The doubt about a count without DISTINCT where different things are to be counted.
    pub(super) fn counted_again(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let at = words.iter().position(|word| DIFFERENT.contains(word))?;
        let is_number = match &words[..at] {
            [.., "many"] => true,
            [.., number, "of"] => ["count", "number"].contains(number),
            _ => false,
        };
        let nouns: Vec<String> = words.iter().skip(at + 1).take(2).map(|word| stem(word)).collect();
        let count = self.outline.columns.iter().find(|column: &&Selected| {
            matches!(
                column,
                Selected::Aggregate { function, is_distinct: false, .. } if function == "count"
            )
        })?;
        let is_grouped = !self.outline.groups.is_empty();
        let is_whole =
            if is_grouped { self.facts.subqueries.is_empty() } else { self.lacks("GROUP BY") };
        if !is_number || !is_whole || !self.lacks("DISTINCT") {
            return None;
        }
        let is_noun = |name: &str| stems(name).iter().any(|stem| nouns.contains(stem));
        let what = match count.column() {
            Some(column) => {
                let side = Side::new(self.catalog, &column.table, &column.column)?;
                let is_once = side.is_key() || is_unique(side);
                (!is_once && is_noun(&column.column)).then_some(column.column.as_str())?
            }
            // The rows of a table are no more than things of another name in it.
            None => {
                let [table] = self.facts.tables.as_slice() else { return None };
                let table = self.catalog.table(table)?;
                let is_alone =
                    self.outline.relations == 1 && !is_grouped && self.facts.subqueries.is_empty();
                let has_noun = table.columns.iter().any(|column| is_noun(&column.name));
                let is_other = is_alone && has_noun && !is_noun(&table.name);
                is_other.then_some("*")?
            }
        };
        let text = format!(
            "the question asks for the number of different things, and COUNT({what}) takes \
             repeated ones again: COUNT(DISTINCT …)"
        );
        Some(Doubt { kind: DoubtKind::NotDistinct, text })
    }

    /// The doubt about things that have none of what they are joined with, which are asked for and
    /// left out.
    pub(super) fn left_out(&self) -> Option<Doubt> {
        if !self.question.has_any(INCLUDED) || !self.question.has_any(NONE) {
            return None;
        }
        let others = ["LEFT", "RIGHT", "FULL", "SELECT", "EXISTS"];
        let rest = self.facts.normalized.strip_prefix("SELECT");
        let is_plain = self.lacks("UNION")
            && rest.is_some_and(|rest| !others.iter().any(|other| rest.contains(other)));
        let is_joined = self.outline.relations > 1 && !self.outline.groups.is_empty();
        let text = if self.outline.is_inner {
            "WHERE leaves out the rows that LEFT JOIN adds: the condition belongs to ON"
        } else if is_plain && is_joined && !self.question.has_any(&["also"]) {
            "the join leaves out what has none of the other table: LEFT JOIN has it"
        } else {
            return None;
        };
        Some(Doubt { kind: DoubtKind::InnerJoin, text: text.to_owned() })
    }
}

/// The operators by which a statement in canonical spelling compares with a number, each as it is
/// with the number on its right. A number that is a part of a sum is compared with nothing itself.
fn find_operators(normalized: &str, number: &str) -> Vec<&'static str> {
    static TURNED_ROUND: [(&str, &str); 5] =
        [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("=", "=")];
    fn is_arithmetic(part: Option<&&str>) -> bool {
        part.is_some_and(|part| ARITHMETIC.contains(part))
    }
    fn find(part: &str) -> Option<&'static (&'static str, &'static str)> {
        TURNED_ROUND.iter().find(|(operator, _)| *operator == part)
    }
    let parts: Vec<&str> =
        normalized.split([' ', '(', ')', ',']).filter(|part| !part.is_empty()).collect();
    let pairs = parts.windows(2).enumerate().filter_map(|(at, pair)| {
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let after = parts.get(at + 2);
        match (find(pair[0]), find(pair[1])) {
            (Some((operator, _)), _) if pair[1] == number && !is_arithmetic(after) => {
                Some(*operator)
            }
            (_, Some((_, turned))) if pair[0] == number && !is_arithmetic(before) => Some(*turned),
            _ => None,
        }
    });
    pairs.collect()
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The year that a word is.
fn year_of(word: &str) -> Option<u32> {
    let is_year = word.len() == 4 && is_digits(word);
    word.parse().ok().filter(|year| is_year && (1900..2100).contains(year))
}

/// The years that a literal stands for: that of a day, or the literal itself where it is compared
/// with a date. The last day of a year may begin the next one.
fn years_in(literal: &Literal) -> Vec<u32> {
    let text = literal.text.as_str();
    let Some(year) = text.get(..4).and_then(year_of) else { return Vec::new() };
    let is_date = match literal.column.as_deref() {
        Some(column) => words(column).iter().any(|word| DATES.contains(&word.as_str())),
        None => true,
    };
    match &text[4..] {
        "" if is_date => vec![year],
        rest if rest.starts_with("-12-31") => vec![year, year + 1],
        rest if rest.starts_with(['-', '%']) => vec![year],
        _ => Vec::new(),
    }
}
