//! Doubts about a result as the answer to its question: a number where a thing is asked for, keys
//! in place of names, the other end of an order.
//!
//! The rules read English questions; any other question raises no doubt. Each is certain by the
//! question's words alone or says nothing.

mod amounts;
mod bounds;
mod connective;
mod constant;
mod copied;
mod days;
mod denied;
mod first;
mod flags;
mod measure;
mod negation;
mod question;
mod shown;
mod statement;
#[cfg(test)]
mod tests;
mod units;
mod unused;
mod values;
mod years;

use std::collections::HashSet;
use std::sync::Arc;

use syrch_core::ports::{ColumnName, Database, Definitions, Facts, Outline, Selected, SqlQuery};
use syrch_core::{Catalog, Column, Doubt, DoubtKind, ResultSet, Table};
use syrch_words::stem;

use super::Seen;
use super::joins::Side;
use super::kinds::Stored;
pub(crate) use question::Question;
use question::{stems, words};

/// Words that ask for a number of things.
const NUMBERS: &[&str] = &[
    "amount",
    "count",
    "counts",
    "frequencies",
    "frequency",
    "many",
    "much",
    "number",
    "numbers",
    "often",
    "times",
    "total",
];
/// Words with which *how many* asks for several numbers.
const EACH: &[&str] = &[
    "and",
    "by",
    "different",
    "each",
    "every",
    "group",
    "per",
    "respective",
    "respectively",
    "various",
];
/// Words that ask for all columns.
const EVERYTHING: &[&str] = &[
    "about",
    "all",
    "columns",
    "data",
    "detail",
    "details",
    "everything",
    "fields",
    "info",
    "information",
    "record",
    "records",
    "row",
    "rows",
];
/// Words that ask for a key.
const KEYS: &[&str] =
    &["code", "codes", "identifier", "identifiers", "key", "keys", "number", "numbers"];
/// Words that ask for each value once.
const DIFFERENT: &[&str] = &["different", "distinct", "distinctive", "unique"];
/// Words that begin a question for things.
const LISTS: &[&str] = &["display", "give", "list", "name", "show", "where", "which", "who"];
/// Words of columns and questions in which the first may be the last.
const TURNED: &[&str] = &[
    "birth",
    "born",
    "date",
    "earliest",
    "established",
    "founded",
    "grade",
    "latest",
    "opened",
    "position",
    "rank",
    "ranking",
    "recent",
    "since",
    "time",
    "year",
];
const GREATEST: &[&str] = &[
    "biggest", "greatest", "heaviest", "highest", "largest", "longest", "oldest", "richest",
    "tallest",
];
const LEAST: &[&str] = &["cheapest", "lightest", "lowest", "shortest", "smallest", "youngest"];

/// Words behind `most` and `least` that say of a measure which end is meant.
const ADJECTIVES: &[&str] = &[
    "costly",
    "expensive",
    "lucrative",
    "populated",
    "populous",
    "powerful",
    "profitable",
    "spacious",
    "valuable",
];
/// Words behind `best` and `worst` that do.
const JUDGED: &[&str] = &["paid", "rated", "reviewed", "selling"];

/// The result with the doubts about it as the answer to a question, beside its own.
pub(crate) async fn with_doubts(
    results: Arc<ResultSet>,
    question: &Question,
    query: &SqlQuery,
    database: &dyn Database,
    definitions: Option<&dyn Definitions>,
) -> Arc<ResultSet> {
    let read = async { Some((database.check(query).await.ok()?, database.catalog().await.ok()?)) };
    let Some((facts, catalog)) = read.await else { return results };
    let mut doubts: Vec<Doubt> = Vec::new();
    let mut known = results.doubts().to_vec();
    if let Some(doubt) = constant::find(question, &facts, &catalog, query, database).await {
        // Nothing else about such a result matters.
        doubts.push(doubt);
    } else {
        if let Some(outline) = &facts.outline {
            let results = &results;
            let asked = Asked { question, outline, facts: &facts, catalog: &catalog, results };
            if asked.asks_for_each() {
                known.retain(|doubt| doubt.kind != DoubtKind::RepeatedThings);
            }
            doubts.extend(asked.doubts());
            doubts.extend(asked.find_lost_value(database).await);
        }
        doubts.extend(copied::find(question, &facts, &catalog, query));
        let departures =
            definitions.map(|it| it.find_departures(question.text(), &query.text, &facts));
        doubts.extend(
            departures
                .unwrap_or_default()
                .into_iter()
                .map(|text| Doubt { kind: DoubtKind::OtherDefinition, text }),
        );
    }
    if doubts.is_empty() && known.len() == results.doubts().len() {
        return results;
    }
    known.extend(doubts);
    Arc::new(results.as_ref().clone().with_doubts(known))
}

/// A result with its statement's outline and the question that it is to answer.
pub(crate) struct Asked<'a> {
    pub(crate) question: &'a Question,
    pub(crate) outline: &'a Outline,
    pub(crate) facts: &'a Facts,
    pub(crate) catalog: &'a Catalog,
    pub(crate) results: &'a ResultSet,
}

impl Asked<'_> {
    /// The doubts about the result, in a fixed order.
    pub(crate) fn doubts(&self) -> Vec<Doubt> {
        let rules = [
            self.measure(),
            self.count_beside(),
            self.count_alone(),
            self.several_counts(),
            self.key_for_name(),
            self.not_distinct(),
            self.other_connective(),
            self.doubt_negation(),
            self.doubt_denied(),
            self.doubt_flag(),
            self.other_end(),
            self.other_time(),
            self.other_direction(),
            self.other_extreme_time(),
            self.other_rows(),
            self.first_of_none(),
            self.first_for_second(),
            self.all_for_first(),
            self.doubt_order(),
            self.number_alone(),
            self.counted_again(),
            self.too_many(),
            self.other_aggregate().or_else(|| self.count_for_total()),
            self.other_year()
                .or_else(|| self.open_year())
                .or_else(|| self.month_of_every_year())
                .or_else(|| self.other_days()),
            self.other_bound().or_else(|| self.other_number()).or_else(|| self.other_range()),
            self.find_lost_bound(),
            self.find_lost_column(),
            self.no_share().or_else(|| self.no_percentage()),
            self.share_of_all(),
            self.no_groups(),
            self.left_out(),
            self.find_lost_year(),
            self.find_lost_number().or_else(|| self.other_number_of_column()),
            self.other_table(),
            self.other_evidence(),
            self.no_time(),
            self.no_median(),
            self.other_unit(),
            self.whole_quotient(),
        ];
        rules.into_iter().flatten().collect()
    }

    /// Returns true if the statement certainly has no such keyword, nor a finished task that may
    /// have it.
    fn lacks(&self, keyword: &str) -> bool {
        let text = &self.facts.normalized;
        !text.is_empty() && self.facts.tasks.is_empty() && !text.contains(keyword)
    }

    /// A number beside the first of an order: `the most common hometown` is no number. That which
    /// the order is by says why it is the first.
    fn count_beside(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        let is_beside = columns.iter().any(|column: &Selected| column.is_aggregate(&["count"]))
            && !columns
                .iter()
                .all(|column: &Selected| matches!(column, Selected::Aggregate { .. }));
        let is_measure =
            self.outline.order.as_ref().is_some_and(|order| order.by.is_aggregate(&["count"]));
        if !is_beside
            || is_measure
            || self.outline.limit.is_none()
            || self.question.has_any(NUMBERS)
        {
            return None;
        }
        let text = "the question does not ask for a number, and COUNT is a column of the result"
            .to_owned();
        Some(Doubt { kind: DoubtKind::Count, text })
    }

    fn count_alone(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        let is_alone =
            !columns.is_empty() && columns.iter().all(|column| column.is_aggregate(&["count"]));
        let asks_for_things = self.question.first().is_some_and(|first| LISTS.contains(&first));
        if !is_alone
            || !self.outline.groups.is_empty()
            || !asks_for_things
            || self.question.has_any(NUMBERS)
        {
            return None;
        }
        let text = "the question asks for things, and the result is their number".to_owned();
        Some(Doubt { kind: DoubtKind::Count, text })
    }

    fn several_counts(&self) -> Option<Doubt> {
        let rows = self.results.row_count();
        if !self.question.begins_with(&[&["how"], &["many", "much"]])
            || self.question.has_any(EACH)
            || rows < 2
        {
            return None;
        }
        let text = format!("the question asks for one number, and the result has {rows} rows");
        Some(Doubt { kind: DoubtKind::SeveralCounts, text })
    }

    /// Keys where the question asks for what they stand for, which another column has.
    fn key_for_name(&self) -> Option<Doubt> {
        if self
            .question
            .words()
            .any(|word: &str| KEYS.contains(&word) || word.ends_with("id") || word.ends_with("ids"))
            || self.question.has_any(EVERYTHING)
        {
            return None;
        }
        let mut key = None;
        for column in &self.outline.columns {
            match column {
                Selected::Aggregate { .. } => {}
                Selected::Column(column) if column.column.to_lowercase().ends_with("id") => {
                    key = key.or(Some(column));
                }
                Selected::Column(_) | Selected::Other => return None,
            }
        }
        let key = key?;
        let side = Side::new(self.catalog, &key.table, &key.column)?;
        let referenced = side.references(self.catalog).map(|(table, _)| table);
        let mut tables = referenced.chain(side.is_key().then_some(side.table));
        let (table, name) =
            tables.find_map(|table| Some((table, self.name_of(table, &key.column)?)))?;
        let text = format!(
            "{} is a key, and the question asks for what it stands for: {}.{}",
            key.column, table.name, name.name
        );
        Some(Doubt { kind: DoubtKind::KeyForName, text })
    }

    /// The column that names a row of the table, or that the question names. It may name one of a
    /// condition or an order for that alone.
    fn name_of<'t>(&self, table: &'t Table, key: &str) -> Option<&'t Column> {
        let others = || {
            table.columns.iter().filter(|column: &&Column| !column.name.eq_ignore_ascii_case(key))
        };
        others()
            .find(|column: &&Column| {
                let own = stems(&column.name);
                let path = format!("{}.{}", table.name, column.name);
                let is_read = self.facts.columns.iter().any(|it| it.eq_ignore_ascii_case(&path));
                !is_read && !own.is_empty() && own.iter().all(|stem| self.question.has_stem(stem))
            })
            .or_else(|| {
                others().find(|column: &&Column| {
                    let name = column.name.to_lowercase();
                    ["name", "title"].iter().any(|word| name.contains(word))
                })
            })
    }

    fn not_distinct(&self) -> Option<Doubt> {
        if !self.lists_different() || !Seen(self.results).repeats_rows() {
            return None;
        }
        let text = "the question asks for different values, and rows of the result are repeated"
            .to_owned();
        Some(Doubt { kind: DoubtKind::NotDistinct, text })
    }

    /// Returns true if the things that are to be different are those that the result lists, and no
    /// others of a condition: `more than 5 different products`, `from a different country`.
    fn lists_different(&self) -> bool {
        let words: Vec<&str> = self.question.words().collect();
        let mut names: HashSet<String> = HashSet::new();
        for column in &self.outline.columns {
            // Anything may be what is meant.
            let Some(column) = column.column() else { return self.question.has_any(DIFFERENT) };
            names.extend(stems(&column.column));
            names.extend(stems(&column.table));
        }
        words.iter().enumerate().any(|(at, word)| {
            let is_of_condition = at > 0
                && (["a", "an", "in", "than", "with"].contains(&words[at - 1])
                    || first::number(words[at - 1]).is_some());
            let mut nouns = words.iter().skip(at + 1).take(4);
            DIFFERENT.contains(word)
                && !is_of_condition
                && nouns.any(|noun| names.contains(&stem(noun)))
        })
    }

    /// The first of an order whose other end is asked for.
    fn other_end(&self) -> Option<Doubt> {
        let order = self.find_first()?;
        let is_count = matches!(order.by, Selected::Aggregate { .. });
        // Of the top 5 something else may be the largest.
        let has_more = self.question.has_any(&["bottom", "first", "last", "top"])
            || self.ends().len() > 1
            || self.question.has_any(&["best", "worst"])
                && !["best", "worst"].iter().any(|word| self.question.has_pair(word, JUDGED));
        if order.limit > 1 && has_more {
            return None;
        }
        // The second of an order is the first of its two first rows in the other direction.
        if self.question.has_any(first::ORDINALS)
            && self.facts.normalized.matches("SELECT").count() > 1
        {
            return None;
        }
        let column = order.by.column().map(|column| column.column.as_str()).unwrap_or_default();
        let is_turned = self.question.has_any(TURNED)
            || words(column).iter().any(|word| TURNED.contains(&word.as_str()));
        let is_amount = match &order.by {
            Selected::Column(column) => {
                self.storage_of(column).is_some_and(|stored| stored != Stored::Time)
            }
            Selected::Aggregate { .. } => true,
            Selected::Other => false,
        };
        let is_bound = self.question.has_pair("at", &["least", "most"]);
        if is_turned || !is_amount || is_bound {
            return None;
        }
        let [greatest, least] = match is_count {
            true => [
                self.question.has_any(GREATEST) || self.question.has_any(&["most"]),
                self.question.has_any(LEAST) || self.question.has_any(&["least", "fewest"]),
            ],
            false => [true, false].map(|is_great| self.ends().contains(&is_great)),
        };
        let (end, way) = match (greatest, least, order.is_descending) {
            (true, false, false) => ("greatest", "least"),
            (false, true, true) => ("least", "greatest"),
            _ => return None,
        };
        let text = format!("the question asks for the {end}, and the order puts the {way} first");
        Some(Doubt { kind: DoubtKind::OtherEnd, text })
    }

    /// The ends of orders of columns that the question asks for: true for the greatest. Of `most`
    /// and `best` the word behind them decides: `most expensive`, `earns the most`, `best paid`.
    fn ends(&self) -> Vec<bool> {
        let names = self.names();
        let words: Vec<&str> = self.question.words().collect();
        let ends = words.iter().enumerate().filter_map(|(at, word)| {
            let next = words.get(at + 1).copied();
            let is_known = match *word {
                "most" | "least" => next
                    .is_none_or(|next| ADJECTIVES.contains(&next) || names.contains(&stem(next))),
                "best" | "worst" => next.is_some_and(|next| JUDGED.contains(&next)),
                _ => false,
            };
            match *word {
                "most" | "best" if is_known => Some(true),
                "least" | "worst" if is_known => Some(false),
                word if GREATEST.contains(&word) => Some(true),
                word if LEAST.contains(&word) => Some(false),
                _ => None,
            }
        });
        ends.collect()
    }

    fn storage_of(&self, column: &ColumnName) -> Option<Stored> {
        Stored::from_column(
            self.catalog.table(&column.table)?,
            &column.column,
            &self.catalog.dialect,
        )
    }
}
