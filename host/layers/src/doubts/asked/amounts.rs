//! Numbers of a question and of a statement: the aggregate, the groups, and what is counted.

use syrch_core::ports::Selected;
use syrch_core::{Doubt, DoubtKind, Table, Value};
use syrch_words::stem;

use super::super::SHOWN;
use super::super::joins::Side;
use super::super::kinds::Stored;
use super::super::outline::is_unique;
use super::first::PER;
use super::measure::{MOST, SUPERLATIVES};
use super::question::stems;
use super::statement::split;
use super::{Asked, DIFFERENT, TURNED};

/// Words of a question that name an aggregate, its name, and the aggregates that it is not.
const NAMED: &[(&[&str], &str, &[&str])] = &[
    (&["average", "averages", "avg"], "average", &["max", "min", "sum", "total"]),
    (&["sum", "total"], "total", &["avg", "max", "mean", "min"]),
    (&["biggest", "greatest", "highest", "largest", "max", "maximum"], "greatest", &["min"]),
    (&["lowest", "min", "minimum", "smallest"], "least", &["max"]),
];
/// Functions of which a statement has one alone.
const AGGREGATES: &[&str] = &["avg", "count", "max", "mean", "min", "sum", "total"];
/// Functions of a mean, and those of its form.
const MEANS: &[&str] = &["avg", "count", "mean", "sum", "total"];
const ROUNDED: &[&str] = &["cast", "coalesce", "ifnull", "nullif", "round"];
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
        // `AVG(x) / 100` is an average, and the one of a number by another not.
        let is_alone = matches!(self.outline.columns.as_slice(), [Selected::Other]);
        let is_made = is_alone
            && self.facts.subqueries.is_empty()
            && (*used != "sum" && *used != "total" || self.lacks("/"));
        let shown = self.outline.columns.iter().find(|column| {
            column.is_aggregate(&[*used]) || is_made && **column == Selected::Other
        })?;
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

    /// The doubt about one number of all where one of each is asked for.
    pub(super) fn no_groups(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        if columns.is_empty()
            || !self.outline.groups.is_empty()
            || self.results.row_count() != 1
            || !columns.iter().all(|column: &Selected| match column {
                // Sums of cases may be those of the groups, a column each.
                Selected::Aggregate { of, .. } => of.is_some() || columns.len() == 1,
                Selected::Other => columns.len() == 1 && self.has_one_mean(),
                Selected::Column(_) => false,
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

    /// Returns true if the statement has one mean and no other aggregate, and divides by numbers
    /// alone.
    fn has_one_mean(&self) -> bool {
        let parts = split(&self.facts.normalized);
        let aggregates: Vec<String> = parts
            .windows(2)
            .filter(|pair| pair[1] == "(")
            .map(|pair| pair[0].to_lowercase())
            .filter(|name| AGGREGATES.contains(&name.as_str()))
            .collect();
        let mut divisors = parts.windows(2).filter(|pair| pair[0] == "/").map(|pair| pair[1]);
        aggregates == ["avg"] && divisors.all(|part| part.parse::<f64>().is_ok())
    }

    /// The doubt about a count of values where their total is asked for: `the total area` by
    /// `COUNT(area)`.
    pub(super) fn count_for_total(&self) -> Option<Doubt> {
        let [only @ Selected::Aggregate { of: Some(column), is_distinct: false, .. }] =
            self.outline.columns.as_slice()
        else {
            return None;
        };
        let words: Vec<&str> = self.question.words().collect();
        let own = stems(&column.column);
        let at = words.iter().position(|word| ["average", "sum", "total"].contains(word))?;
        let mut behind = words.iter().skip(at + 1).take(1 + own.len()).map(|word| stem(word));
        let is_named = behind.any(|word| own.contains(&word));
        let is_number = self.storage_of(column) == Some(Stored::Number);
        let key = Side::new(self.catalog, &column.table, &column.column)?;
        let asks_for_number = self.question.has_any(&["many", "number", "count"]);
        let is_value = is_number && !key.is_key() && key.references(self.catalog).next().is_none();
        if !only.is_aggregate(&["count"]) || !is_named || !is_value || asks_for_number {
            return None;
        }
        let text = format!(
            "the question asks for the {} of {}, and the statement counts its values",
            words[at], column.column
        );
        Some(Doubt { kind: DoubtKind::OtherAggregate, text })
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
            || self.counts_own_rows()
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
            "{counted} rows are counted, and {} has {rows}: count each of them once",
            table.name
        );
        Some(Doubt { kind: DoubtKind::TooMany, text })
    }

    /// Returns true if the statement reads the rows of the counted table alone, of which it counts
    /// no more than there are.
    fn counts_own_rows(&self) -> bool {
        let counted = self.find_counted_table();
        let mut read = self.facts.tables.iter().map(|table| self.catalog.table(table));
        self.outline.relations < 2
            && read.all(|table| match (table, counted) {
                (Some(table), Some(counted)) => std::ptr::eq(table, counted),
                _ => true,
            })
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
    pub(super) fn find_table(&self, word: &str) -> Option<&Table> {
        let own = [stem(word)];
        self.catalog.tables.iter().find(|table| stems(&table.name) == own)
    }

    /// Returns true if each row of the table has one row of the other at most, by foreign keys that
    /// lead there in one way alone: a flight has two airports.
    pub(super) fn has_one(&self, table: &Table, other: &Table) -> bool {
        let Some(mut at) = self.catalog.table(&table.name) else { return false };
        let reaching = self.list_reaching(at, other);
        // A circle of keys is longer than all tables.
        for _ in 0..=reaching.len() {
            if std::ptr::eq(at, other) {
                return true;
            }
            let mut ways = self.list_parents(at).filter(|parent| has_table(&reaching, parent));
            let (Some(parent), None) = (ways.next(), ways.next()) else { return false };
            at = parent;
        }
        false
    }

    /// The tables among those that foreign keys lead to, of which they lead to the other.
    fn list_reaching<'c>(&'c self, table: &'c Table, other: &Table) -> Vec<&'c Table> {
        let mut known = vec![table];
        let mut next = 0;
        while let Some(table) = known.get(next).copied() {
            next += 1;
            for parent in self.list_parents(table) {
                if !has_table(&known, parent) {
                    known.push(parent);
                }
            }
        }
        let mut reaching: Vec<&Table> =
            known.iter().copied().filter(|known| std::ptr::eq(*known, other)).collect();
        let mut next = 0;
        while let Some(parent) = reaching.get(next).copied() {
            next += 1;
            let new: Vec<&Table> = known
                .iter()
                .copied()
                .filter(|table| self.list_parents(table).any(|it| std::ptr::eq(it, parent)))
                .filter(|table| !has_table(&reaching, table))
                .collect();
            reaching.extend(new);
        }
        reaching
    }

    /// The tables that the foreign keys of a table refer to, but for itself.
    fn list_parents<'c>(&'c self, table: &'c Table) -> impl Iterator<Item = &'c Table> {
        let keys = table.foreign_keys.iter();
        let parents = keys.filter_map(|key| self.catalog.table(&key.ref_table));
        parents.filter(move |parent| !std::ptr::eq(*parent, table))
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

fn has_table(tables: &[&Table], table: &Table) -> bool {
    tables.iter().any(|known| std::ptr::eq(*known, table))
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Facts, Outline};
    use syrch_core::{Catalog, Column, Dialect, ForeignKey};

    use super::super::Question;
    use super::super::tests::{aggregate, columns, facts, kinds_of, rows};
    use super::*;

    fn kinds(question: &str, outline: &Outline, sql: &str, functions: &[&str]) -> Vec<DoubtKind> {
        let read = ["population", "area", "StateId"].map(|name| format!("state.{name}"));
        let facts = Facts { columns: read.to_vec(), ..facts(sql, &["state"], functions) };
        kinds_of(question, outline, &facts, &[7])
    }

    #[test]
    fn an_aggregate_within_a_quotient_is_the_one_that_is_named() {
        let asked = "What is the total population of the states, in thousands?";
        let shown = columns(&[Selected::Other]);
        for function in ["avg", "max"] {
            let sql = format!("SELECT {function}(population) / 1000.0 FROM state");
            let found = kinds(asked, &shown, &sql, &[function]);
            assert!(found.contains(&DoubtKind::OtherAggregate), "{sql}: {found:?}");
        }
        let asked = "What is the average population of the states, in thousands?";
        for sql in [
            "SELECT sum(population) / count(*) FROM state",
            "SELECT avg(population) / 1000.0 FROM state",
        ] {
            let function = &sql[7..10];
            let found = kinds(asked, &shown, sql, &[function]);
            assert!(!found.contains(&DoubtKind::OtherAggregate), "{sql}: {found:?}");
        }
    }

    #[test]
    fn a_mean_of_all_is_none_of_each() {
        let asked = "What is the average area in thousands of each city?";
        let shown = columns(&[Selected::Other]);
        for (sql, is_doubtful) in [
            ("SELECT avg(area) / 1000.0 FROM state", true),
            ("SELECT avg(area) / 1000.0 FROM state GROUP BY city", false),
            ("SELECT avg(area) / count(*) FROM state", false),
        ] {
            let found = kinds(asked, &shown, sql, &["avg"]);
            assert_eq!(found.contains(&DoubtKind::NoGroups), is_doubtful, "{sql}: {found:?}");
        }
    }

    #[test]
    fn a_count_of_values_is_no_total() {
        let sql = "SELECT count(area) FROM state";
        for (asked, path, is_doubtful) in [
            ("What is the total area of the states?", "state.area", true),
            ("What is the average area of the states?", "state.area", true),
            ("What is the total number of areas?", "state.area", false),
            ("What is the total population of the states?", "state.area", false),
            ("What is the total of all states?", "state.StateId", false),
        ] {
            let counted = columns(&[aggregate("count", path)]);
            let found = kinds(asked, &counted, sql, &["count"]);
            let is_found = found.contains(&DoubtKind::OtherAggregate);
            assert_eq!(is_found, is_doubtful, "{asked} {path}: {found:?}");
        }
    }

    #[test]
    fn two_ways_to_one_table_say_nothing_of_another() {
        fn key((column, table): &(&str, &str)) -> ForeignKey {
            ForeignKey {
                columns: vec![(*column).into()],
                ref_table: (*table).into(),
                ref_columns: vec!["id".into()],
            }
        }
        fn table(name: &str, keys: &[(&str, &str)]) -> Table {
            let names = keys.iter().map(|(column, _)| *column).chain(["id"]);
            let columns = names.map(|name| Column { name: name.into(), ..Column::default() });
            Table {
                name: name.into(),
                columns: columns.collect(),
                primary_key: vec!["id".into()],
                foreign_keys: keys.iter().map(key).collect(),
                ..Table::default()
            }
        }
        let tables = vec![
            table("bookings", &[("flight", "flights"), ("passenger", "passengers")]),
            table("flights", &[("origin", "airports"), ("goal", "airports"), ("line", "lines")]),
            table("airports", &[("country", "countries")]),
            table("lines", &[("country", "countries")]),
            table("passengers", &[("mentor", "passengers")]),
            table("countries", &[]),
        ];
        let catalog = Catalog { database: "air".into(), dialect: Dialect::Sqlite, tables };
        let asked = Asked {
            question: &Question::new("Which?"),
            outline: &columns(&[]),
            facts: &Facts::default(),
            catalog: &catalog,
            results: &rows(&[]),
        };
        for (table, other, is_one) in [
            ("bookings", "passengers", true),
            ("bookings", "flights", true),
            ("bookings", "lines", true),
            ("flights", "airports", false),
            ("flights", "countries", false),
            ("airports", "countries", true),
            ("passengers", "bookings", false),
        ] {
            let [one, two] = [table, other].map(|name| catalog.table(name).unwrap());
            assert_eq!(asked.has_one(one, two), is_one, "{table} {other}");
        }
    }
}
