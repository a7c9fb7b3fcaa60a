//! Measures how much linking shows of what the expected statements of a suite need: tables, columns
//! and literals, and the length of the prompt.

mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, stream};
use syrch::databases::with_single_quotes;
use syrch::{Error, Linking, Observer, Settings, Shared, Silent, batch};
use syrch_core::ports::{Facts, Preview, SqlQuery};
use syrch_core::{Catalog, Corpus, DatabaseUrl};
use syrch_grade::Question;
use syrch_grade::suite::Suite;

pub use report::{LINKING_SCHEMA, LinkingReport, MissedInLinking, PromptLength, ShownShare};

use crate::arena::Arena;
use crate::suite_run::withheld;

/// The number of questions that are linked at once.
const AT_ONCE: usize = 4;
/// The longest literal that counts, in characters: a longer one is no value that a prompt would
/// show.
const LITERAL: usize = 200;

/// Receives the progress of [`linking`].
pub trait LinkingObserver: Send + Sync {
    /// Called when `done` questions of `of` are linked.
    fn on_question_linked(&self, done: u64, of: u64);
}

impl LinkingObserver for Silent {
    fn on_question_linked(&self, _: u64, _: u64) {}
}

/// Links every question of a suite under one strategy, and compares what is shown with what its
/// expected statements need. No model is asked but by the linker. A question without an expected
/// statement that passes the guard does not count.
///
/// # Errors
/// When a database, a plugin or an endpoint cannot be opened.
pub async fn linking(
    suite: &Suite,
    databases: &BTreeMap<String, DatabaseUrl>,
    settings: Settings,
    opening: &Arc<dyn Observer>,
    observer: &dyn LinkingObserver,
) -> Result<LinkingReport, Error> {
    let strategy = settings.strategy.name.clone();
    let mut settings = settings;
    settings.retrieval.withheld = Arc::new(withheld(suite));
    let arena = &Arena::new(vec![settings], databases.clone(), Shared::new(), Arc::clone(opening));
    let mut linked = stream::iter(&suite.questions)
        .map(|question| link_question(arena, question))
        .buffered(AT_ONCE);
    let mut report = LinkingReport::new(suite, strategy);
    let of = suite.questions.len() as u64;
    for (question, done) in suite.questions.iter().zip(1..) {
        match linked.next().await {
            Some(Ok(found)) => report.add(question, found),
            Some(Err(error)) => return Err(error),
            None => break,
        }
        observer.on_question_linked(done, of);
    }
    report.finish();
    Ok(report)
}

/// The parts of the catalog that one question needs, and those that it is shown.
pub(crate) struct LinkedQuestion {
    pub(crate) tables: Compared,
    pub(crate) columns: Compared,
    pub(crate) literals: Compared,
    /// The characters of the longest prompt that would be sent first; `None` if no model is needed.
    pub(crate) prompt: Option<u64>,
}

/// The names that are needed and those that are shown, in lower case but for literals.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Compared {
    pub(crate) needed: BTreeSet<String>,
    pub(crate) shown: BTreeSet<String>,
}

impl Compared {
    pub(crate) fn missing_names(&self) -> Vec<String> {
        self.needed.difference(&self.shown).cloned().collect()
    }
}

/// Links one question; the inner error is the reason why none of its expected statements can be
/// read.
async fn link_question(
    arena: &Arena,
    question: &Question,
) -> Result<Result<LinkedQuestion, String>, Error> {
    let database = arena.database(&question.db).await?;
    let whole = database.catalog().await?;
    let mut golds = Vec::new();
    let mut reason = "it has no expected statement".to_owned();
    for sql in question.statements() {
        let query = SqlQuery::new(with_single_quotes(sql, database.as_ref()).await);
        match database.check(&query).await {
            Ok(gold) => golds.push(gold),
            Err(error) => reason = error.to_string(),
        }
    }
    if golds.is_empty() {
        return Ok(Err(reason));
    }
    let host = arena.host(0, &question.db).await?;
    let problem =
        batch::problem(&question.question, question.evidence.as_deref(), question.as_of.as_deref());
    let linking = host.linking(problem).await?;
    // Any expected statement is right, so what counts is the one of which most is shown.
    let compared = golds.iter().map(|gold| compare_linking(gold, &linking, &whole));
    Ok(compared
        .min_by_key(|question: &LinkedQuestion| {
            [&question.tables, &question.columns, &question.literals]
                .map(|part| part.missing_names().len())
        })
        .ok_or(reason))
}

fn compare_linking(gold: &Facts, linking: &Linking, whole: &Catalog) -> LinkedQuestion {
    let columns = gold.columns.iter().filter_map(|path| column(whole, path)).collect();
    LinkedQuestion {
        tables: Compared {
            needed: gold.tables.iter().filter_map(|name| table(whole, name)).collect(),
            shown: linking
                .catalog
                .table_names()
                .iter()
                .filter_map(|name| table(whole, name))
                .collect(),
        },
        columns: Compared { needed: columns, shown: visible_columns(&linking.catalog, whole) },
        literals: literals(gold, linking),
        prompt: linking.requests.iter().map(length).max(),
    }
}

/// The name of a table of the whole catalog, as both sides have it.
fn table(whole: &Catalog, name: &str) -> Option<String> {
    whole.table(name).map(|table| whole.table_name(table).to_lowercase())
}

/// The name of a column from its path `table.column`.
fn column(whole: &Catalog, path: &str) -> Option<String> {
    path.match_indices('.').find_map(|(dot, _)| {
        let name = path.get(..dot)?;
        let column = path.get(dot + 1..)?;
        whole.table(name)?.column(column)?;
        Some(format!("{}.{}", table(whole, name)?, column.to_lowercase()))
    })
}

fn visible_columns(shown: &Catalog, whole: &Catalog) -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    for (table_of, name) in shown.tables.iter().zip(shown.table_names()) {
        let Some(name) = table(whole, &name) else { continue };
        columns.extend(
            table_of.columns.iter().map(|column| format!("{name}.{}", column.name.to_lowercase())),
        );
    }
    columns
}

/// The texts that the statement compares with columns, and which of them a hint or the closed set
/// of a column's values shows. What is shown besides are the cells that hints name.
fn literals(gold: &Facts, linking: &Linking) -> Compared {
    fn is_value(text: &str) -> bool {
        text.parse::<f64>().is_err() && !text.is_empty() && text.chars().count() <= LITERAL
    }
    let compared =
        gold.literals.iter().filter(|literal| literal.column.is_some() && is_value(&literal.text));
    let needed: BTreeSet<String> = compared.map(|literal| literal.text.clone()).collect();
    let cells = linking.hints.iter().filter(|hint| hint.corpus == Corpus::Cells);
    let cells: Vec<(&str, bool)> =
        cells.filter_map(|hint| Some((hint.snippet.as_deref()?, hint.column.is_some()))).collect();
    let columns = linking.catalog.tables.iter().flat_map(|table| &table.columns);
    let sets: Vec<String> = columns.filter_map(|column| column.values_in_words()).collect();
    let mut shown: BTreeSet<String> = needed
        .iter()
        .filter(|text: &&String| {
            cells.iter().any(|(cell, _)| holds(cell, text))
                || sets.iter().any(|set| set.contains(&format!("'{text}'")))
        })
        .cloned()
        .collect();
    // A hint that shows a needed text within more is that text, and no further one.
    let others = cells
        .iter()
        .filter(|(cell, is_one)| *is_one && !needed.iter().any(|text| holds(cell, text)));
    shown.extend(others.map(|(cell, _)| (*cell).to_owned()));
    Compared { needed, shown }
}

/// Returns true if a text contains another as whole words.
fn holds(text: &str, part: &str) -> bool {
    fn continues_word(c: Option<char>) -> bool {
        c.is_some_and(char::is_alphanumeric)
    }
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at);
        let after = text.get(at + part.len()..);
        !continues_word(before.and_then(|text| text.chars().next_back()))
            && !continues_word(after.and_then(|text| text.chars().next()))
    })
}

/// The characters of a request's messages.
fn length(request: &Preview) -> u64 {
    ["system", "messages"].iter().filter_map(|key| request.body.get(key)).map(characters).sum()
}

fn characters(value: &serde_json::Value) -> u64 {
    match value {
        serde_json::Value::String(text) => text.chars().count() as u64,
        serde_json::Value::Array(items) => items.iter().map(characters).sum(),
        serde_json::Value::Object(members) => {
            let text =
                members.iter().filter(|(key, _)| ["content", "text"].contains(&key.as_str()));
            text.map(|(_, value)| characters(value)).sum()
        }
        _ => 0,
    }
}
