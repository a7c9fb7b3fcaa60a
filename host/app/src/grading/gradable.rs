//! Which questions of a suite can be graded: a question whose expected answers are all refused, or do not compile, is not asked, since
//! nobody could tell what its answer is worth.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use indexmap::IndexMap;
use syrch_core::ports::{Database, Query};
use syrch_core::text::NAMED;
use syrch_grade::Question;
use syrch_grade::run::{Graded, Shard};
use syrch_grade::suite::{self, Gold, Suite};

use super::arena::Arena;
use super::expected;
use crate::Error;

/// Expected statements that are looked at at once.
const AT_ONCE: usize = 4;

/// Why questions cannot be graded, by their ids. Statements are compiled under the guard, and not run. What fails for a reason that passes is
/// no reason: such a question is asked.
///
/// # Errors
/// When a database cannot be opened, or no question of the suite can be graded.
pub(super) async fn ungradable(
    suite: &Suite,
    shard: Option<Shard>,
    arena: &Arena,
) -> Result<BTreeMap<String, String>, Error> {
    let mut groups: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    let own = (0..).zip(&suite.questions).filter(|(place, _)| shard.is_none_or(|shard| shard.holds(*place)));
    own.for_each(|(_, question)| groups.entry(&question.db).or_default().push(question));
    let of: usize = groups.values().map(Vec::len).sum();
    let mut faults = BTreeMap::new();
    for (db, questions) in groups {
        let database = &arena.database(db).await?;
        let checked = stream::iter(questions)
            .map(|question| async move { (question, fault(question, database).await) })
            .buffered(AT_ONCE);
        let found = checked.filter_map(async |(question, fault)| Some((question.id.clone(), fault?)));
        faults.extend(found.collect::<Vec<_>>().await);
    }
    if shard.is_none() && of > 0 && faults.len() == of {
        let named = named(faults.iter().map(|(id, why)| (&**id, &**why)));
        return Err(Error::Unfit(format!("no question of the suite can be graded: {named}")));
    }
    Ok(faults)
}

/// Why none of the expected answers of a question can be had; none: one can, as far as is known before it is run.
async fn fault(question: &Question, database: &Arc<dyn Database>) -> Option<String> {
    let mut first = None;
    for gold in &question.golds {
        let checked = match gold {
            Gold::Sql(sql) => match expected::told(database.check(&Query::new(sql)).await) {
                Ok(checked) => checked.map(drop),
                Err(_) => return None,
            },
            other => {
                let other = other.clone();
                let read = tokio::task::spawn_blocking(move || suite::expected(&other)).await;
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

/// What is told of them before anybody is asked; none: there are none.
pub(super) fn warning(faults: &BTreeMap<String, String>) -> Option<String> {
    let how_many = match faults.len() {
        0 => return None,
        1 => "1 question cannot be graded and is not asked".to_owned(),
        many => format!("{many} questions cannot be graded and are not asked"),
    };
    let named = named(faults.iter().map(|(id, why)| (&**id, &**why)));
    Some(format!("{how_many}: {named}; `suite lint` tells of all"))
}

/// What is told of those that were asked, and whose expected answers then could not be had, or were cut, so that they count for nobody.
pub(super) fn afterwards(graded: &[Graded], known: &BTreeMap<String, String>) -> Option<String> {
    let told = graded.iter().filter(|graded| !known.contains_key(&graded.id));
    let faults: BTreeMap<&str, &str> =
        told.filter_map(|graded| Some((&*graded.id, graded.gold_fault.as_deref()?))).collect();
    let how_many = match faults.len() {
        0 => return None,
        1 => "1 question that was asked cannot be graded".to_owned(),
        many => format!("{many} questions that were asked cannot be graded"),
    };
    Some(format!("{how_many}: {}", named(faults.into_iter())))
}

/// The first questions, each with what is wrong with it and how many others have the same fault.
fn named<'a>(faults: impl Iterator<Item = (&'a str, &'a str)>) -> String {
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
