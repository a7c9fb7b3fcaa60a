//! Finds the questions of a suite that cannot be graded. A question whose expected statements are
//! all refused, or do not compile, is not asked, since no answer to it could be judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use indexmap::IndexMap;
use syrch::Error;
use syrch::databases::with_single_quotes;
use syrch_core::ports::{Database, SqlQuery};
use syrch_core::text::NAMED;
use syrch_grade::Question;
use syrch_grade::run::{Graded, Shard};
use syrch_grade::suite::{self, Gold, Suite};

use super::arena::Arena;
use super::expected;

/// The number of expected statements that are checked at once.
const AT_ONCE: usize = 4;
/// The number of checks that are made ready at once.
const MADE: usize = 256;

/// The questions that cannot be graded, by id, with the reasons. Statements are compiled under the
/// guard and not run. A question whose statement fails for a transient reason is asked.
///
/// # Errors
/// When a database cannot be opened, or no question of the suite can be graded.
pub(super) async fn ungradable(
    suite: &Suite,
    shard: Option<Shard>,
    arena: &Arena,
) -> Result<BTreeMap<String, String>, Error> {
    let mut groups: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    let own = (0..)
        .zip(&suite.questions)
        .filter(|(place, _)| shard.is_none_or(|shard| shard.holds(*place)));
    own.for_each(|(_, question)| groups.entry(&question.db).or_default().push(question));
    let of: usize = groups.values().map(Vec::len).sum();
    let mut faults = BTreeMap::new();
    for (db, questions) in groups {
        let database = &arena.database(db).await?;
        // A stream that held a closure over references would keep the whole run on one thread.
        for some in questions.chunks(MADE) {
            let checks: Vec<_> = some.iter().map(|question| fault(question, database)).collect();
            let found: Vec<_> = stream::iter(checks).buffered(AT_ONCE).collect().await;
            let found = some.iter().zip(found);
            faults
                .extend(found.filter_map(|(question, fault)| Some((question.id.clone(), fault?))));
        }
    }
    if shard.is_none() && of > 0 && faults.len() == of {
        let named = summarize_faults(faults.iter().map(|(id, why)| (&**id, &**why)));
        return Err(Error::Unfit(format!("no question of the suite can be graded: {named}")));
    }
    Ok(faults)
}

/// The reason why a question has no expected answer that can be used; `None` if it has one, as far
/// as can be known before it is run.
async fn fault(question: &Question, database: &Arc<dyn Database>) -> Option<String> {
    let mut first = None;
    for gold in &question.golds {
        let checked = match gold {
            Gold::Sql(sql) => {
                let query = SqlQuery::new(with_single_quotes(sql, database.as_ref()).await);
                match expected::separate_lasting(database.check(&query).await) {
                    Ok(checked) => checked.map(drop),
                    Err(_) => return None,
                }
            }
            other => {
                let other = other.clone();
                let read =
                    tokio::task::spawn_blocking(move || suite::read_expected_rows(&other)).await;
                read.map_or_else(
                    |error| Err(error.to_string()),
                    |read| read.map(drop).map_err(|error| error.to_string()),
                )
            }
        };
        match checked {
            Ok(()) => return None,
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    first
}

/// The warning about questions that cannot be graded, before the first question is asked; `None` if
/// there are none.
pub(super) fn warning(faults: &BTreeMap<String, String>) -> Option<String> {
    let how_many = match faults.len() {
        0 => return None,
        1 => "1 question cannot be graded and is not asked".to_owned(),
        many => format!("{many} questions cannot be graded and are not asked"),
    };
    let named = summarize_faults(faults.iter().map(|(id, why)| (&**id, &**why)));
    Some(format!("{how_many}: {named}; `suite lint` lists all of them"))
}

/// The warning about questions that were asked and then could not be graded, because their expected
/// statements failed or were cut at a limit; `None` if there are none. They count for no arm.
pub(super) fn warn_of_ungraded(
    graded: &[Graded],
    known: &BTreeMap<String, String>,
) -> Option<String> {
    let asked = graded.iter().filter(|graded| !known.contains_key(&graded.id));
    let faults: BTreeMap<&str, &str> =
        asked.filter_map(|graded| Some((&*graded.id, graded.gold_fault.as_deref()?))).collect();
    let how_many = match faults.len() {
        0 => return None,
        1 => "1 question that was asked cannot be graded".to_owned(),
        many => format!("{many} questions that were asked cannot be graded"),
    };
    Some(format!("{how_many}: {}", summarize_faults(faults.into_iter())))
}

/// The first questions, each with its fault and the number of other questions that have the same
/// fault.
fn summarize_faults<'a>(faults: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut kinds: IndexMap<&str, (&str, usize)> = IndexMap::new();
    for (id, why) in faults {
        kinds.entry(why).or_insert((id, 0)).1 += 1;
    }
    let shown = kinds.iter().take(NAMED).map(|(why, (id, many))| match many - 1 {
        0 => format!("{id}: {why}"),
        more => format!("{id} and {more} more: {why}"),
    });
    let rest: usize = kinds.values().skip(NAMED).map(|(_, many)| many).sum();
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    shown.chain(rest).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
