//! Checks the expected answers of a suite before a run is graded by them: whether each can be
//! computed under the guard, and whether it is the only result that its own statement may have.

mod finding;
#[cfg(test)]
mod tests;
mod ties;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::{StreamExt, stream};
use syrch::databases::{open_database, with_single_quotes};
use syrch::{Error, Settings, Silent};
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::{DatabaseUrl, Equality, ResultSet, SqlError, SqlErrorKind};
use syrch_grade::Verdict;
use syrch_grade::rules::bag_v1;
use syrch_grade::suite::{self, Gold, Question, Suite};

pub use finding::{Finding, FindingKind, LINT_SCHEMA, LintReport, Severity, SuiteOfLint};

use ties::Order;

/// The log target of these checks.
const LOG: &str = "syrch.lint";

/// Receives the progress of [`lint`].
pub trait LintObserver: Send + Sync {
    /// Called when `done` questions of `of` are checked.
    fn on_question_checked(&self, done: u64, of: u64);
}

impl LintObserver for Silent {
    fn on_question_checked(&self, _: u64, _: u64) {}
}

/// Reads a suite on a thread that may block.
///
/// # Errors
/// When it cannot be read. The error lists everything that is wrong with it.
pub async fn read_suite(path: &Path) -> Result<Suite, Error> {
    let path = path.to_owned();
    let read = tokio::task::spawn_blocking(move || suite::read(&path)).await;
    Ok(read.map_err(|error| Error::Internal(error.to_string()))??)
}

/// Runs every expected statement of a suite as searches run theirs, and reports what is wrong with
/// it. `databases` has the databases of the suite by name; one is open at a time. There is no
/// finding where a check cannot decide, and none for alternative answers that differ, since any of
/// them is right.
pub async fn lint(
    suite: &Suite,
    databases: &BTreeMap<String, DatabaseUrl>,
    settings: &Settings,
    observer: &dyn LintObserver,
) -> LintReport {
    let repeated = find_repeats(suite);
    let groups = group_by_database(suite, databases);
    let mut checked: Vec<Checked> = suite.questions.iter().map(|_| Checked::default()).collect();
    let mut done = 0;
    let of = suite.questions.len() as u64;
    for (url, members) in &groups {
        let shown = url.map(ToString::to_string).unwrap_or_default();
        tracing::info!(target: LOG, database = %shown, "checking {} questions", members.len());
        let opened = match url {
            Some(url) => open(settings, url).await.map_err(|error| error.to_string()),
            None => Err("the database is not known".to_owned()),
        };
        let opened = &opened;
        let repeated = &repeated;
        let mut results = stream::iter(members)
            .map(|at| async move {
                let question = &suite.questions[*at];
                let database = match opened {
                    Ok(database) => database,
                    Err(error) => {
                        return (
                            *at,
                            Checked::with_finding(FindingKind::NoDatabase, error.clone()),
                        );
                    }
                };
                let is_repeated = repeated.contains_key(&question_key(question));
                (*at, check(database, question, is_repeated).await)
            })
            .buffered(settings.limits.sql_in_flight.max(1));
        while let Some((at, result)) = results.next().await {
            checked[at] = result;
            done += 1;
            observer.on_question_checked(done, of);
        }
    }
    add_contradictions(suite, &repeated, &mut checked);
    LintReport::new(suite, groups.len(), checked.into_iter().map(|checked| checked.findings))
}

/// The positions of questions by their database, so that each database is opened once.
fn group_by_database<'a>(
    suite: &Suite,
    databases: &'a BTreeMap<String, DatabaseUrl>,
) -> BTreeMap<Option<&'a DatabaseUrl>, Vec<usize>> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, question) in suite.questions.iter().enumerate() {
        groups.entry(databases.get(&question.db)).or_default().push(at);
    }
    groups
}

async fn open(settings: &Settings, url: &DatabaseUrl) -> Result<Arc<dyn Database>, Error> {
    open_database(&Settings { database: url.expose().to_owned(), ..settings.clone() }).await
}

/// The result of checking one question.
#[derive(Default)]
struct Checked {
    /// The kind of each finding, the number from 1 of the expected answer that it is about, if any,
    /// and the message.
    findings: Vec<(FindingKind, Option<u32>, String)>,
    /// Fingerprints of the expected results, if another question of the suite asks the same.
    prints: Vec<String>,
}

impl Checked {
    fn with_finding(kind: FindingKind, what: String) -> Self {
        Self { findings: vec![(kind, None, what)], prints: Vec::new() }
    }
}

async fn check(database: &Arc<dyn Database>, question: &Question, is_repeated: bool) -> Checked {
    let dialect = database.dialect();
    let has_sql = question.golds.iter().any(|gold| matches!(gold, Gold::Sql(_)));
    let other = question.engine.as_deref().filter(|engine| has_sql && *engine != dialect.name());
    if let Some(engine) = other {
        let what = format!("the question is for {engine}, and its database is {}", dialect.name());
        return Checked::with_finding(FindingKind::OtherEngine, what);
    }
    let mut checked = Checked::default();
    for (number, gold) in (1..).zip(&question.golds) {
        let mut find = |kind, what: String| checked.findings.push((kind, Some(number), what));
        let gold = match gold {
            // A search that is to end without rows has none to check.
            Gold::End(_) => continue,
            Gold::Sql(sql) => &Gold::Sql(with_single_quotes(sql, database.as_ref()).await),
            other => other,
        };
        let result = match read_gold_rows(database, gold).await {
            Ok(result) => result,
            Err((kind, what)) => {
                find(kind, what);
                continue;
            }
        };
        if is_repeated {
            checked.prints.extend(result.fingerprint(&Equality::Bag, 0));
        }
        if result.row_count() == 0 {
            find(FindingKind::Empty, "has no rows, as most wrong statements have none".to_owned());
        } else if result.is_truncated() {
            find(
                FindingKind::Truncated,
                format!("only its first {} rows are compared", result.row_count()),
            );
        } else if let Gold::Sql(sql) = gold
            && let Some((kind, what)) = check_ties(database, sql, &result, question.ordered).await
        {
            find(kind, what);
        }
    }
    checked
}

/// The rows of an expected answer, or a finding.
async fn read_gold_rows(
    database: &Arc<dyn Database>,
    gold: &Gold,
) -> Result<ResultSet, (FindingKind, String)> {
    if let Gold::Sql(sql) = gold {
        return database
            .run(&SqlQuery::new(sql))
            .await
            .map_err(|error| (finding_kind(&error), describe_error(&error)));
    }
    let gold = gold.clone();
    let read = tokio::task::spawn_blocking(move || {
        suite::read_expected_rows(&gold).map_err(|error| error.to_string())
    })
    .await;
    match read {
        Ok(Ok(Some(result))) => Ok(result),
        Ok(Err(error)) => Err((FindingKind::Unreadable, error)),
        Ok(Ok(None)) | Err(_) => Err((FindingKind::Unreadable, "it could not be read".to_owned())),
    }
}

fn finding_kind(error: &SqlError) -> FindingKind {
    match error.kind {
        SqlErrorKind::WriteRefused => FindingKind::Writes,
        SqlErrorKind::FunctionRefused | SqlErrorKind::Denied => FindingKind::Refused,
        _ => FindingKind::DoesNotRun,
    }
}

/// The guard's or the engine's error, in the words of the command `sql`.
fn describe_error(error: &SqlError) -> String {
    let rule = error.rule.as_ref().map(|rule| format!(" (rule `{rule}`)")).unwrap_or_default();
    format!("{}: {}{rule}", error.kind.name(), error.message)
}

/// Checks whether a statement leaves to chance which rows it has, or in which order it has them if
/// the order is graded. The statement is run with its ties broken in both directions. There is no
/// finding if that cannot be done.
async fn check_ties(
    database: &Arc<dyn Database>,
    sql: &str,
    result: &ResultSet,
    is_graded: bool,
) -> Option<(FindingKind, String)> {
    let order =
        Order::read(sql, database.dialect().name(), result.schema().fields().len(), is_graded)
            .await?;
    if let Some([up, down]) = &order.variants {
        let up = database.run(&SqlQuery::new(up)).await.ok()?;
        let down = database.run(&SqlQuery::new(down)).await.ok()?;
        if up.is_truncated() || down.is_truncated() {
            return None;
        }
        if !is_same(&up, &down, false) {
            let what = format!(
                "which rows it has is chance: rows that tie are on both sides of {}",
                order.clause
            );
            return Some((FindingKind::TieCut, what));
        }
        if is_graded && order.is_ordered && !is_same(&up, &down, true) {
            let what = format!("the order is graded, and rows tie under {}", order.clause);
            return Some((FindingKind::OrderTies, what));
        }
    }
    let what = || "the order is graded, and the statement has no ORDER BY".to_owned();
    (is_graded && !order.is_ordered && result.row_count() > 1)
        .then(|| (FindingKind::Unordered, what()))
}

fn is_same(one: &ResultSet, other: &ResultSet, is_ordered: bool) -> bool {
    let equality = if is_ordered { Equality::Ordered } else { Equality::Bag };
    one.fingerprint(&equality, 0) == other.fingerprint(&equality, 0)
        || (one.row_count() == other.row_count()
            && bag_v1(one, other, is_ordered) != Verdict::Wrong)
}

/// Questions with equal values of this type ask the same.
type Same<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a str>);

fn question_key(question: &Question) -> Same<'_> {
    (
        &question.db,
        question.question.trim(),
        question.evidence.as_deref(),
        question.as_of.as_deref(),
    )
}

/// The positions of questions that are in the suite more than once with different expected answers.
fn find_repeats(suite: &Suite) -> BTreeMap<Same<'_>, Vec<usize>> {
    let mut groups: BTreeMap<Same<'_>, Vec<usize>> = BTreeMap::new();
    for (at, question) in suite.questions.iter().enumerate() {
        groups.entry(question_key(question)).or_default().push(at);
    }
    let golds = |at: &usize| &suite.questions[*at].golds;
    groups.retain(|_, members| members.iter().any(|at| golds(at) != golds(&members[0])));
    groups
}

/// Adds a finding to each repeated question of which no result equals one of the first question.
fn add_contradictions(
    suite: &Suite,
    repeated: &BTreeMap<Same<'_>, Vec<usize>>,
    checked: &mut [Checked],
) {
    for members in repeated.values() {
        let Some(((first, prints), rest)) = members
            .split_first()
            .map(|(first, rest)| ((*first, checked[*first].prints.clone()), rest))
            .filter(|((_, prints), _)| !prints.is_empty())
        else {
            continue;
        };
        for at in rest {
            let own = &mut checked[*at];
            if !own.prints.is_empty() && !own.prints.iter().any(|print| prints.contains(print)) {
                let id = &suite.questions[first].id;
                let what = format!("asks word for word what `{id}` asks, and expects other rows");
                own.findings.push((FindingKind::Contradiction, None, what));
            }
        }
    }
}
