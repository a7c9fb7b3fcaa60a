//! The worth of doubts: how many recorded answers that are wrong have one of each kind, how many
//! that are right, and how many expected statements.
//!
//! No doubt is fitted on anything, so that all databases are out of sample but for the eye of
//! whoever thought of them. Which kinds count is decided once more without that eye: on each
//! database, by the other ones alone.

use std::collections::{BTreeMap, BTreeSet};

use syrch::databases::{run_as_answer, with_doubts};
use syrch::{Host, Settings, Silent};
use syrch_core::DoubtKind;
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Question, questions};

use super::tally::share;
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The doubts about a statement, by their kinds.
type Kinds = BTreeSet<String>;

/// A recorded answer that ran and had rows.
struct Ran {
    is_right: bool,
    doubts: Kinds,
}

/// The findings on one database's statements.
#[derive(Default)]
struct Found {
    answers: Vec<Ran>,
    /// The doubts about each expected statement.
    gold: Vec<Kinds>,
}

/// Runs each recorded answer and each expected statement, and counts those of which there is a
/// doubt.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let all = questions(&data);
    let mut by_database: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in &all {
        by_database.entry(&question.database).or_default().push(question);
    }
    let mut answers: Vec<(&str, Ran)> = Vec::new();
    let mut gold: Vec<(&str, Kinds)> = Vec::new();
    for (database, questions) in by_database {
        let file = data.join("db").join(format!("{database}.sqlite"));
        let settings = Settings { database: file.display().to_string(), ..Settings::default() };
        let found = world.runtime.block_on(run(settings, &questions))?;
        answers.extend(found.answers.into_iter().map(|ran| (database, ran)));
        gold.extend(found.gold.into_iter().map(|kinds| (database, kinds)));
    }
    let mut figures = wholes(&answers, &gold);
    let kinds: BTreeSet<&String> = answers.iter().flat_map(|(_, ran)| &ran.doubts).collect();
    figures.extend(kinds.into_iter().map(|kind| kind_figure(kind, &answers, &gold)));
    Ok(figures)
}

/// Runs the answers to questions about one database.
async fn run(settings: Settings, questions: &[&Question]) -> Outcome<Found> {
    let host = Host::open(settings, &Silent).await?;
    let database = with_doubts(host.database());
    let catalog = database.catalog().await?;
    let kinds = async |question: &Question, sql: &str| {
        let sql = with_single_quotes(sql, &catalog).unwrap_or_else(|| sql.to_owned());
        let results = run_as_answer(&database, &question.question, &sql).await.ok()?;
        fn kind(kind: DoubtKind) -> String {
            format!("{kind:?}")
        }
        (results.row_count() > 0)
            .then(|| results.doubts().iter().map(|doubt| kind(doubt.kind)).collect::<Kinds>())
    };
    let mut found = Found::default();
    for question in questions {
        let mut known: BTreeMap<&str, Option<Kinds>> = BTreeMap::new();
        for answer in &question.answers {
            if !known.contains_key(answer.sql.as_str()) {
                known.insert(&answer.sql, kinds(question, &answer.sql).await);
            }
            if let Some(Some(doubts)) = known.get(answer.sql.as_str()) {
                found.answers.push(Ran { is_right: answer.is_right, doubts: doubts.clone() });
            }
        }
        found.gold.extend(kinds(question, &question.gold).await);
    }
    Ok(found)
}

/// The shares of wrong, right and expected statements with any doubt, and with one of the kinds
/// that are worth it elsewhere.
fn wholes(answers: &[(&str, Ran)], gold: &[(&str, Kinds)]) -> Vec<Figure> {
    let databases: BTreeSet<&str> = answers.iter().map(|(database, _)| *database).collect();
    let worth: BTreeMap<&str, Kinds> = databases
        .into_iter()
        .map(|database| (database, worth_without(database, answers)))
        .collect();
    let of_class = |is_right: bool| -> Vec<(&str, (&str, &Kinds))> {
        let class = answers.iter().filter(|(_, ran)| ran.is_right == is_right);
        class.map(|(database, ran)| (*database, (*database, &ran.doubts))).collect()
    };
    let gold: Vec<(&str, (&str, &Kinds))> =
        gold.iter().map(|(database, kinds)| (*database, (*database, kinds))).collect();
    let classes = [
        ("recorded answers with rows that are wrong", of_class(false)),
        ("recorded answers with rows that are right", of_class(true)),
        ("expected statements", gold),
    ];
    let mut figures = Vec::new();
    for (name, class) in &classes {
        let any = share(class, |(_, kinds)| !kinds.is_empty());
        let chosen = share(class, |(database, kinds)| {
            worth.get(database).is_some_and(|worth| !worth.is_disjoint(kinds))
        });
        for (what, (share, interval)) in
            [("with a doubt", any), ("with one that is worth it elsewhere", chosen)]
        {
            let note = format!("of {}; {interval}", class.len());
            figures.push(Figure::new(format!("{name}: {what}"), share, "%").note(note));
        }
    }
    figures
}

/// The kinds that mark more wrong answers than right ones on the other databases.
fn worth_without(out: &str, answers: &[(&str, Ran)]) -> Kinds {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    for (_, ran) in answers.iter().filter(|(database, _)| *database != out) {
        for kind in &ran.doubts {
            *counts.entry(kind).or_default() += if ran.is_right { -1 } else { 1 };
        }
    }
    counts.into_iter().filter(|(_, more)| *more > 0).map(|(kind, _)| kind.clone()).collect()
}

/// The worth of one kind: the share of the answers with it that are wrong.
fn kind_figure(kind: &str, answers: &[(&str, Ran)], gold: &[(&str, Kinds)]) -> Figure {
    let marked: Vec<(&str, bool)> = answers
        .iter()
        .filter(|(_, ran)| ran.doubts.contains(kind))
        .map(|(database, ran)| (*database, ran.is_right))
        .collect();
    let (precision, interval) = share(&marked, |is_right| !is_right);
    let right = marked.iter().filter(|(_, is_right)| *is_right).count();
    let databases: BTreeSet<&str> = marked.iter().map(|(database, _)| *database).collect();
    let expected = gold.iter().filter(|(_, kinds)| kinds.contains(kind)).count();
    let note = format!(
        "{} wrong, {right} right, {expected} expected; in {} databases; {interval}",
        marked.len() - right,
        databases.len()
    );
    Figure::new(format!("answers with the doubt {kind} that are wrong"), precision, "%").note(note)
}
