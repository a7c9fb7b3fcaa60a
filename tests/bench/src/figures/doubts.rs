//! The worth of doubts: how many recorded answers that are wrong have one, and how many that are right.
//!
//! No doubt is fitted on anything, so that all databases are out of sample but for the eye of whoever thought of them.

use std::collections::{BTreeMap, BTreeSet};

use syrch::databases::doubting;
use syrch::{Host, Settings, Silent};
use syrch_core::DoubtKind;
use syrch_core::ports::SqlQuery;
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Question, questions};

use super::tally::share;
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// A recorded answer that ran and had rows.
struct Ran {
    is_right: bool,
    doubts: BTreeSet<String>,
}

/// Runs each recorded answer, and counts those of which there is a doubt.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let all = questions(&data);
    let mut by_database: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in &all {
        by_database.entry(&question.database).or_default().push(question);
    }
    let mut ran: Vec<(&str, Ran)> = Vec::new();
    for (database, questions) in by_database {
        let file = data.join("db").join(format!("{database}.sqlite"));
        let settings = Settings { database: file.display().to_string(), ..Settings::default() };
        let found = world.runtime.block_on(run(settings, &questions))?;
        ran.extend(found.into_iter().map(|ran| (database, ran)));
    }
    let (right, wrong): (Vec<_>, Vec<_>) = ran.into_iter().partition(|(_, ran)| ran.is_right);
    let figure = |name: &str, answers: &[(&str, Ran)]| {
        let (share, interval) = share(answers, |ran| !ran.doubts.is_empty());
        let note = format!("of {}; {interval}; {}", answers.len(), kinds(answers));
        Figure::new(format!("recorded answers with rows that are {name}: with a doubt"), share, "%").note(note)
    };
    Ok(vec![figure("wrong", &wrong), figure("right", &right)])
}

/// Runs the answers to questions about one database.
async fn run(settings: Settings, questions: &[&Question]) -> Outcome<Vec<Ran>> {
    let host = Host::open(settings, &Silent).await?;
    let database = doubting(host.database());
    let catalog = database.catalog().await?;
    let mut known: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::new();
    let mut ran = Vec::new();
    for answer in questions.iter().flat_map(|question| &question.answers) {
        let sql = with_single_quotes(&answer.sql, &catalog).unwrap_or_else(|| answer.sql.clone());
        if !known.contains_key(&sql) {
            let results = database.run(&SqlQuery::new(sql.as_str())).await.ok().filter(|found| found.row_count() > 0);
            let kind = |kind: DoubtKind| format!("{kind:?}");
            let doubts = results.map(|found| found.doubts().iter().map(|doubt| kind(doubt.kind)).collect());
            known.insert(sql.clone(), doubts);
        }
        if let Some(Some(doubts)) = known.get(&sql) {
            ran.push(Ran { is_right: answer.is_right, doubts: doubts.clone() });
        }
    }
    Ok(ran)
}

/// How many answers have a doubt of each kind.
fn kinds(answers: &[(&str, Ran)]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in answers.iter().flat_map(|(_, ran)| &ran.doubts) {
        *counts.entry(kind).or_default() += 1;
    }
    counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect::<Vec<_>>().join(", ")
}
