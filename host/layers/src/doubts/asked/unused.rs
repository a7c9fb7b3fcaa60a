//! Values and tables that the question names and the statement does not use: a condition that was
//! lost, the rows of another table.
//!
//! Only statements without any condition are judged by values, and only questions that ask for the
//! number of a table's rows and nothing else by tables: a model often says the rest in other words.

use std::time::Duration;

use syrch_core::ports::{Database, Match, Selected};
use syrch_core::{Doubt, DoubtKind, Hit, Table};
use syrch_words::{is_stop_word, stem};

use super::super::kinds::Stored;
use super::Asked;
use super::question::{stems, words};
use super::years::WITHIN;

/// The longest time of a search for cells.
pub(super) const TIME: Duration = Duration::from_secs(2);
/// Phrases that are searched for, and words of one.
const PHRASES: usize = 64;
const LONGEST: usize = 4;
/// Cells that are looked at for a phrase.
pub(super) const CELLS: u32 = 20;
/// Letters of the shortest word in lower case that may be a cell.
const SHORTEST: usize = 4;
/// Words of a question that say what is computed.
const MEASURES: &[&str] = &[
    "average", "count", "each", "first", "highest", "last", "least", "lowest", "many", "maximum",
    "mean", "median", "minimum", "most", "number", "other", "sum", "total",
];
/// Parts of statements that choose rows.
const CHOICES: &[&str] = &[
    "WHERE",
    "HAVING",
    "CASE",
    "FILTER",
    "OVER",
    "EXCEPT",
    "INTERSECT",
    "EXISTS",
    "PIVOT",
    "NULLIF",
];
/// Words of a question behind the things whose number it asks for.
const ONLY: &[&str] = &[
    "all",
    "altogether",
    "are",
    "available",
    "data",
    "database",
    "dataset",
    "do",
    "exist",
    "found",
    "have",
    "here",
    "i",
    "in",
    "is",
    "listed",
    "me",
    "our",
    "overall",
    "please",
    "recorded",
    "registered",
    "stored",
    "tell",
    "the",
    "there",
    "total",
    "we",
    "you",
];
/// Words before a year that is a bound.
const BOUNDS: &[&str] =
    &["after", "before", "between", "by", "from", "on", "since", "through", "until"];
/// Words behind a number that ends what is said of it, and words with which it may be a bound that
/// a statement writes otherwise.
const ENDS: &[&str] = &["and", "are", "by", "for", "from", "have", "in", "is", "on", "with"];
const BOUNDING: &[&str] = &[
    "above", "below", "least", "maximum", "minimum", "most", "no", "not", "over", "than", "under",
];
/// Words with which a number of a column is not the only one.
const RANGING: &[&str] = &[
    "after", "and", "before", "between", "from", "higher", "lower", "onward", "or", "through",
    "to", "until", "up", "upward", "upwards",
];
const ORDINALS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
/// Words of columns that hold days or times.
const TIMES: &[&str] = &[
    "at",
    "born",
    "created",
    "date",
    "datetime",
    "day",
    "hired",
    "month",
    "on",
    "period",
    "quarter",
    "season",
    "time",
    "timestamp",
    "week",
    "year",
];

impl Asked<'_> {
    /// Returns true if the statement certainly has no condition: no literal, and no part that
    /// chooses rows. A view may have one of its own.
    fn has_no_condition(&self) -> bool {
        let mut tables = self.facts.tables.iter().map(|table| self.catalog.table(table));
        tables.all(|table| table.is_some_and(|table| !table.is_view()))
            && self.facts.literals.is_empty()
            && self.facts.subqueries.is_empty()
            && CHOICES.iter().all(|choice| self.lacks(choice))
    }

    /// The doubt about a value that the question names, where the statement has no condition.
    pub(super) async fn find_lost_value(&self, database: &dyn Database) -> Option<Doubt> {
        if !self.has_no_condition() || self.results.row_count() == 0 {
            return self.find_other_value(database).await;
        }
        let phrases = self.phrases();
        if phrases.is_empty() {
            return None;
        }
        let search = database.find(&phrases, Match::Exact, CELLS);
        let found = tokio::time::timeout(TIME, search).await.ok()?.ok()?;
        let (phrase, hit) = phrases.iter().zip(&found).find_map(|(phrase, hits)| {
            // If a column of the result has it, the value may be one of those that are shown.
            let is_shown = hits.iter().any(|hit| self.shows(hit));
            let is_name = words(phrase).iter().all(|word| self.question.is_name(&stem(word)));
            let hit = hits.iter().find(|hit| is_name || self.is_read(hit))?;
            (!is_shown).then_some((phrase, hit))
        })?;
        let column = hit.column.as_deref()?;
        let text = format!(
            "the question names {phrase}, a value of {column}, and the statement has no condition"
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The phrases of the question that may be cells: runs of words of which no one names a table
    /// or a column, and of one word the plural without its ending.
    pub(super) fn phrases(&self) -> Vec<String> {
        let names = self.names();
        let words: Vec<&str> = self.question.words().skip(self.question.start() + 1).collect();
        let mut phrases: Vec<String> = Vec::new();
        for start in 0..words.len() {
            let run = words[start..].iter().take(LONGEST).take_while(|word| {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                let is_thing = names.contains(&stem(word)) && !self.question.is_name(&stem(word));
                !is_number && !MEASURES.contains(word) && !is_thing
            });
            for length in (1..=run.count()).rev() {
                let run = &words[start..start + length];
                let is_stopped = [run[0], run[length - 1]].iter().any(|word| is_stop_word(word));
                let phrase = run.join(" ");
                let is_name = run.iter().all(|word| self.question.is_name(&stem(word)));
                let least = if is_name { 2 } else { SHORTEST };
                if is_stopped || phrase.chars().count() < least {
                    continue;
                }
                let singular = phrase.strip_suffix('s').filter(|one| one.len() >= SHORTEST);
                phrases.extend(singular.map(str::to_owned));
                phrases.push(phrase);
            }
        }
        phrases.truncate(PHRASES);
        phrases
    }

    /// Returns true if the cell is one of a table that the statement reads.
    fn is_read(&self, hit: &Hit) -> bool {
        let table = hit.table.as_deref().unwrap_or_default();
        self.facts.tables.iter().any(|read| self.is_table(read, table))
    }

    pub(super) fn is_table(&self, one: &str, other: &str) -> bool {
        match (self.catalog.table(one), self.catalog.table(other)) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }

    /// Returns true if the result, a group or the order has the column of the cell, or something
    /// that cannot be told.
    fn shows(&self, hit: &Hit) -> bool {
        let table = hit.table.as_deref().and_then(|table| self.catalog.table(table));
        let path = format!(
            "{}.{}",
            table.map_or("", |table| &table.name),
            hit.column.as_deref().unwrap_or_default()
        );
        let is_read = self.facts.columns.iter().any(|own| own.eq_ignore_ascii_case(&path));
        let shows_all = ["SELECT *", ".*"].iter().any(|part| !self.lacks(part));
        let order = self.outline.order.iter().map(|order| &order.by);
        let mut all = self.outline.columns.iter().chain(&self.outline.groups).chain(order);
        all.any(|selected: &Selected| match selected {
            Selected::Column(column) => {
                Some(column.column.as_str()) == hit.column.as_deref()
                    && self.is_table(&column.table, hit.table.as_deref().unwrap_or_default())
            }
            Selected::Aggregate { .. } => false,
            Selected::Other => is_read || shows_all,
        })
    }

    /// The doubt about a year in which something is, where the statement has no condition and reads
    /// no day.
    pub(super) fn find_lost_year(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let (_, year) =
            words.windows(2).map(|pair| (pair[0], pair[1])).find(|(before, word)| {
                let is_year =
                    word.len() == 4 && word.parse().is_ok_and(|year| (1900..2100).contains(&year));
                is_year && (WITHIN.contains(before) || BOUNDS.contains(before))
            })?;
        let reads_all = self.outline.columns.contains(&Selected::Other);
        if !self.has_no_condition()
            || reads_all
            || self.facts.columns.iter().any(|column| {
                let name = column.rsplit('.').next().unwrap_or_default();
                super::words(name).iter().any(|word| TIMES.contains(&word.as_str()))
            })
            || self.facts.normalized.contains(year)
        {
            return None;
        }
        let text = format!("the question names {year}, and the statement has no condition");
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The doubt about a number that the question states of a column (`a rating of 5`), which the
    /// statement does not have.
    pub(super) fn find_lost_number(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let (column, number) = words.windows(3).enumerate().find_map(|(at, three)| {
            let [noun, of, number] = three else { return None };
            let is_end =
                words.get(at + 3).is_none_or(|next| *next == "stars" || ENDS.contains(next));
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let is_stated = ["of", "is", "equals"].contains(of) && is_number && is_end;
            let own = [stem(noun)];
            let columns = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
            let mut columns = columns.flat_map(|table| &table.columns);
            let column = columns.find(|column| is_stated && stems(&column.name) == own)?;
            Some((column.name.as_str(), *number))
        })?;
        let has_digits = super::words(&self.facts.normalized).iter().any(|word| word == number);
        let is_shown = self.outline.columns.iter().chain(&self.outline.groups).any(|selected| {
            matches!(selected, Selected::Column(shown) if shown.column == column)
                || *selected == Selected::Other
        });
        if has_digits
            || is_shown
            || self.facts.literals.iter().any(|literal| literal.text == number)
            || self.question.has_any(BOUNDING)
            || self.question.text().contains(&format!("{number}%"))
            || ["CASE", "NOT", "BETWEEN"].iter().any(|word| !self.lacks(word))
        {
            return None;
        }
        let text = format!(
            "the question asks for a {column} of {number}, and the statement has no {number}"
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The doubt about another number of a column than the question says (`grade 10`, `the third
    /// floor`), or about all from that number on.
    pub(super) fn other_number_of_column(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let (column, number) = (0..words.len()).find_map(|at| {
            let pair = words.get(at..at + 2)?;
            let place = ORDINALS.iter().position(|ordinal| *ordinal == pair[0]);
            let (noun, number) = match place {
                Some(place) => (pair[1], (place + 1).to_string()),
                None => (pair[0], pair[1].to_owned()),
            };
            let own = [stem(noun)];
            let tables = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
            let mut columns =
                tables.flat_map(|table| table.columns.iter().map(move |column| (table, column)));
            let (_, column) = columns.find(|(table, column)| {
                let stored = Stored::from_column(table, &column.name, &self.catalog.dialect);
                stems(&column.name) == own && stored == Some(Stored::Number)
            })?;
            let is_number = number.parse::<u32>().is_ok() && !TIMES.contains(&noun);
            is_number.then_some((column.name.as_str(), number))
        })?;
        let conditions = self.list_conditions();
        let own: Vec<_> =
            conditions.iter().filter(|one| one.column.eq_ignore_ascii_case(column)).collect();
        let wanted: Option<f64> = number.parse().ok();
        let has_number = super::words(&self.facts.normalized).contains(&number);
        let is_plain = own.iter().all(|one| one.call.is_empty() && !one.is_denied);
        let is_open =
            matches!(own.as_slice(), [one] if one.number() == wanted && one.operator != "=");
        let is_other = !own.is_empty() && !has_number;
        if !(is_open || is_other)
            || !is_plain
            || self.question.has_any(BOUNDING)
            || self.question.has_any(RANGING)
            || ["CASE", "NOT"].iter().any(|word| !self.lacks(word))
        {
            return None;
        }
        let text = format!(
            "the question asks for {column} {number}, and the statement has {column} {} {}",
            own[0].operator, own[0].literal
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The doubt about rows of other tables than the one whose things are to be counted or listed:
    /// `How many suppliers are there?`
    pub(super) fn other_table(&self) -> Option<Doubt> {
        let start = self.question.start();
        let at = match self.question.first()? {
            "how" if self.question.has_pair("how", &["many"]) => start + 2,
            "which" | "list" | "show" | "what" => {
                let words = self.question.words().skip(start + 1);
                start + 1 + words.take_while(|word| ["all", "me", "the"].contains(word)).count()
            }
            _ => return None,
        };
        let noun = stem(self.question.word(at)?);
        // `Customer orders` are orders.
        let next = self.question.word(at + 1);
        if next.is_some_and(|next| !ONLY.contains(&next) && self.names().contains(&stem(next))) {
            return None;
        }
        let own = std::slice::from_ref(&noun);
        let asked = self.catalog.tables.iter().find(|table| stems(&table.name) == own)?;
        let tables: Option<Vec<&Table>> =
            self.facts.tables.iter().map(|table| self.catalog.table(table)).collect();
        // Another table may hold them too: one that refers to them, or has their name in its own.
        let tables = tables.filter(|tables| !tables.is_empty() && self.facts.tasks.is_empty())?;
        if tables.iter().any(|table| {
            let is_view = table.is_view();
            let columns = table.columns.iter().map(|column| &column.name);
            let refers = table.foreign_keys.iter().any(|key| {
                self.catalog.table(&key.ref_table).is_some_and(|other| std::ptr::eq(other, asked))
            });
            is_view
                || refers
                || std::ptr::eq(*table, asked)
                || columns.chain([&table.name]).any(|name| stems(name).contains(&noun))
        }) {
            return None;
        }
        let text = format!(
            "the question asks for {}, and the statement reads {} alone",
            asked.name,
            tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>().join(", ")
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }
}
