//! Columns that a question asks for and the result lacks, and a number in the place of a share.

use syrch_core::ports::Selected;
use syrch_core::{Doubt, DoubtKind};
use syrch_words::stem;

use super::Asked;
use super::bounds::is_digits;
use super::question::{stems, words};

/// Words before the columns that a question asks for.
const ASKING: &[&str] = &[
    "are", "display", "find", "get", "give", "is", "list", "me", "output", "print", "report",
    "retrieve", "return", "see", "show", "us", "what",
];
/// Words before the first column and between two of them.
const JOINING: &[&str] = &["all", "and", "both", "its", "the", "their"];
/// Words of a column's name.
const LONGEST: usize = 4;
/// Words that ask for a share.
const SHARES: &[&str] = &["percent", "percentage", "percentages"];
/// Words of columns that hold shares.
const RATES: &[&str] =
    &["fraction", "pct", "percent", "percentage", "perc", "proportion", "rate", "ratio", "share"];

impl Asked<'_> {
    /// The doubt about a column that the question asks for beside another one, and that the
    /// statement does not read.
    pub(super) fn find_lost_column(&self) -> Option<Doubt> {
        let asked = self.list_asked_columns();
        if asked.len() < 2
            || self.outline.columns.contains(&Selected::Other)
            || !asked.iter().any(|name| self.shows_column(name))
        {
            return None;
        }
        let lost = asked.iter().find(|name| {
            let own = stems(name);
            let mut read = self.facts.columns.iter().chain(&self.facts.tables);
            !read.any(|path| {
                let last = path.rsplit('.').next().unwrap_or_default();
                last.eq_ignore_ascii_case(name) || stems(last).ends_with(&own)
            })
        })?;
        let text = format!("the question asks for {lost}, and the statement does not read it");
        Some(Doubt { kind: DoubtKind::LostColumn, text })
    }

    fn shows_column(&self, name: &str) -> bool {
        self.outline.columns.iter().any(|selected| match selected {
            Selected::Column(column) => column.column.eq_ignore_ascii_case(name),
            Selected::Aggregate { .. } | Selected::Other => false,
        })
    }

    /// The columns that the question lists behind its verb: `the names and emails`.
    fn list_asked_columns(&self) -> Vec<&str> {
        let asked: Vec<&str> = self.question.words().collect();
        let tables = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
        let known: Vec<(&str, Vec<String>)> = tables
            .flat_map(|table| &table.columns)
            .map(|column| (column.name.as_str(), stems(&column.name)))
            .collect();
        let Some(mut at) = asked.iter().position(|word| ASKING.contains(word)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        while let Some(word) = asked.get(at) {
            let is_thing = self.find_table(word).is_some();
            let is_before = found.is_empty() && (ASKING.contains(word) || is_thing);
            let is_between = is_before || JOINING.contains(word);
            match find_column(&asked[at..], &known).filter(|_| !is_between) {
                _ if is_between => at += 1,
                Some((name, length)) => {
                    found.push(name);
                    at += length;
                }
                None => break,
            }
        }
        // Of a `city manager` the city is not asked for.
        if asked.get(at).is_some_and(|next| self.names().contains(&stem(next))) {
            found.pop();
        }
        found
    }

    /// The doubt about a number where a share is asked for.
    pub(super) fn no_share(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        let is_number = !columns.is_empty()
            && columns.iter().all(|column: &Selected| column.is_aggregate(&["count", "sum"]));
        let has_rate = self.facts.columns.iter().any(|path| {
            let name = path.rsplit('.').next().unwrap_or_default();
            words(name).iter().any(|word| RATES.contains(&word.as_str()))
        });
        let asked: Vec<&str> = self.question.words().collect();
        // A share of 15 percent is no question for one.
        let asks_for_share = asked
            .iter()
            .enumerate()
            .any(|(at, word)| SHARES.contains(word) && (at == 0 || !is_digits(asked[at - 1])));
        if !asks_for_share
            || !is_number
            || has_rate
            || ["/", "OVER"].iter().any(|part| !self.lacks(part))
            || self.facts.functions.iter().any(|name| !["count", "sum"].contains(&name.as_str()))
        {
            return None;
        }
        let text = "the question asks for a percentage, and the statement has a number".to_owned();
        Some(Doubt { kind: DoubtKind::NoShare, text })
    }
}

/// The column that the first words name, and how many they are.
fn find_column<'k>(words: &[&str], known: &[(&'k str, Vec<String>)]) -> Option<(&'k str, usize)> {
    (1..=LONGEST.min(words.len())).rev().find_map(|length| {
        let own: Vec<String> = words[..length].iter().map(|word| stem(word)).collect();
        let (name, _) = known.iter().find(|(_, stems)| *stems == own)?;
        Some((*name, length))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{aggregate, assert_kind, column, columns, count, facts};
    use super::*;

    #[test]
    fn the_columns_that_are_asked_for_are_read() {
        let names = columns(&[column("state.name")]);
        let mut known = facts("SELECT name FROM state", &["state"], &[]);
        known.columns = vec!["state.name".into()];
        let cases = [
            ("List the names and populations of all states.", true),
            ("What are the name and the area of each state?", true),
            ("Show state name, population and area.", true),
            ("List the names of all states.", false),
            ("List the names of states by population and area.", false),
            ("Which states have a name and a population?", false),
            ("List the name and area state of all states.", false),
        ];
        assert_kind(DoubtKind::LostColumn, &names, &known, &cases);
        let asked = [("List the names and populations of all states.", false)];
        known.columns.push("state.population".into());
        assert_kind(DoubtKind::LostColumn, &names, &known, &asked);
        known.columns.pop();
        let made = columns(&[column("state.name"), Selected::Other]);
        assert_kind(DoubtKind::LostColumn, &made, &known, &asked);
    }

    #[test]
    fn a_share_is_no_number() {
        let cases = [
            ("What percentage of the states are large?", true),
            ("What percent of states is large?", true),
            ("How many states are large?", false),
            ("How many states have more than 15 percent of the cities?", false),
        ];
        for outline in [columns(&[count()]), columns(&[aggregate("sum", "state.area")])] {
            let known = facts("SELECT count(*) FROM state", &["state"], &["count"]);
            assert_kind(DoubtKind::NoShare, &outline, &known, &cases);
        }
        for (outline, sql, functions) in [
            (columns(&[Selected::Other]), "SELECT 100.0 * count(*) / 3 FROM state", &["count"]),
            (columns(&[aggregate("avg", "state.area")]), "SELECT avg(area) FROM state", &["avg"]),
        ] {
            let known = facts(sql, &["state"], functions);
            assert_kind(DoubtKind::NoShare, &outline, &known, &[(cases[0].0, false)]);
        }
        let mut known = facts("SELECT sum(pct) FROM state", &["state"], &["sum"]);
        known.columns = vec!["state.vote_pct".into()];
        let outline = columns(&[aggregate("sum", "state.area")]);
        assert_kind(DoubtKind::NoShare, &outline, &known, &[(cases[0].0, false)]);
    }
}
