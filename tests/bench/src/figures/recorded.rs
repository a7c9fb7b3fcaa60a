//! Measures how close the built-in ways to sample come to what is computed of them from recorded
//! answers, the files alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use syrch::plugins::CompileSettings;
use syrch::report::{AnswerDocument, CandidateStatus};
use syrch::{Host, Settings, Silent, Stop, strategies};
use syrch_core::{Catalog, Problem};
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Question, SAMPLERS, Sampler, questions};
use tokio::task::JoinSet;

use super::tally::{Tally, difference, total};
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The strategy that the others are held against.
const BASELINE: &str = "single";
/// The strategies that read warnings of the host, so that the files alone do not give their
/// figures: the reason why these are in-sample, the fewest right in a hundred, and the most calls.
const READING: [(&str, &str, f64, f64); 2] = [
    ("discern", "its findings were chosen on these databases", 91.5, 5.0),
    ("repair3of9", "it was chosen on these databases", 91.0, 4.5),
];
/// The strategy that they are held against.
const RIVAL: &str = "gate3of9";
/// The tolerance of a share of right answers, in points of a hundred, and that of a mean number of
/// calls.
const OFF: (f64, f64) = (2.0, 0.1);
/// The limit on the calls that repairs of doubtful answers add to a question: 7 % of right answers
/// and 30 % of wrong ones have a doubt, and each costs up to two calls.
const MORE_REPAIRS: f64 = 0.25;

/// Each strategy on all questions, in as many orders of the answers as the options say.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let all = questions(&data);
    let databases: Vec<&str> = all.iter().map(|question| question.database.as_str()).collect();
    let mut figures = Vec::new();
    let mut baseline = Vec::new();
    let mut rival = Vec::new();
    for gate in &SAMPLERS {
        let found = search_all(world, &data, gate.name, &all)?;
        let expected: Vec<Tally> =
            all.iter().map(|question| tally_from_files(gate, question, world.orders)).collect();
        let mut note = format!("orders: {}", world.orders);
        if gate.name == BASELINE {
            baseline.clone_from(&found);
        } else {
            if gate.name == RIVAL {
                rival.clone_from(&found);
            }
            let points = difference(&databases, &found, &baseline, Tally::right);
            note = format!("{note}; against `{BASELINE}` {points} points, 95 % over databases");
        }
        figures.extend(compare_tallies(gate, &total(&found), &total(&expected), &note));
    }
    for strategy in &READING {
        let found = search_all(world, &data, strategy.0, &all)?;
        let others = [(BASELINE, &baseline), (RIVAL, &rival)];
        figures.extend(compare_strategies(strategy, &databases, &found, others, world.orders));
    }
    Ok(figures)
}

/// Computes from the files alone what a question gives.
fn tally_from_files(gate: &Sampler, question: &Question, orders: u32) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..u64::from(orders) {
        let taken = gate.take(&question.order(seed));
        tally.add(taken.answer.is_some_and(|answer| answer.is_right), taken.calls);
    }
    tally
}

/// A strategy of ours, against the others.
fn compare_strategies(
    &(strategy, reason, least, most): &(&str, &str, f64, f64),
    databases: &[&str],
    found: &[Tally],
    others: [(&str, &Vec<Tally>); 2],
    orders: u32,
) -> [Figure; 2] {
    let mut note = format!("in-sample: {reason}; orders: {orders}");
    for (name, theirs) in others {
        let points = difference(databases, found, theirs, Tally::right);
        let calls = difference(databases, found, theirs, Tally::calls);
        note = format!(
            "{note}; against `{name}` {points} points and {calls} calls, 95 % over databases"
        );
    }
    let found = total(found);
    [
        Figure::new(format!("`{strategy}` on recorded answers: right"), found.right(), "%")
            .at_least(least)
            .note(note),
        Figure::new(
            format!("`{strategy}` on recorded answers: calls a question"),
            found.calls(),
            "",
        )
        .at_most(most),
    ]
}

/// Searches for the answers to all questions in all orders. The tallies are in the order of the
/// questions.
fn search_all(world: &World, data: &Path, strategy: &str, all: &[Question]) -> Outcome<Vec<Tally>> {
    let mut by_database: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, question) in all.iter().enumerate() {
        by_database.entry(&question.database).or_default().push(at);
    }
    let mut tallies = vec![Tally::default(); all.len()];
    for seed in 0..u64::from(world.orders) {
        for (database, places) in &by_database {
            let database = data.join("db").join(format!("{database}.sqlite"));
            let settings = settings(world, strategy, seed, &database, data)?;
            for (at, is_right, calls) in
                world.runtime.block_on(answer_all(settings, all, places))?
            {
                tallies[at].add(is_right, calls);
            }
        }
    }
    Ok(tallies)
}

/// Asks these questions, and returns whether each is answered right, and with how many calls.
async fn answer_all(
    settings: Settings,
    all: &[Question],
    places: &[usize],
) -> Outcome<Vec<(usize, bool, u32)>> {
    let host = Arc::new(Host::open(settings, &Silent).await?);
    let catalog = host.database().catalog().await?;
    let mut searches = JoinSet::new();
    for at in places.iter().copied() {
        let host = Arc::clone(&host);
        let catalog = Arc::clone(&catalog);
        let question = all[at].clone();
        searches.spawn(async move {
            let problem = Problem::new(&question.question);
            let report = host.search(problem, Arc::new(Silent), None, &Stop::new()).await?;
            Ok::<_, syrch::Error>((
                at,
                is_right(&question, &report.document, &catalog),
                report.document.cost.calls,
            ))
        });
    }
    Ok(searches.join_all().await.into_iter().collect::<Result<_, _>>()?)
}

fn settings(
    world: &World,
    strategy: &str,
    seed: u64,
    database: &Path,
    data: &Path,
) -> Outcome<Settings> {
    let compile = CompileSettings::in_folder(&world.place("cache")?);
    let mut settings =
        Settings { database: database.display().to_string(), seed, compile, ..Settings::default() };
    settings.model.replay = Some(data.join("recorded.jsonl"));
    strategies::find(strategy)?.apply(&mut settings);
    Ok(settings)
}

/// Returns true if the answer is a recorded statement that was graded right. Searches read texts in
/// double quotes as they are meant.
fn is_right(question: &Question, document: &AnswerDocument, catalog: &Catalog) -> bool {
    let answer =
        document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    answer.is_some_and(|answer| {
        let is_right = question.is_right(&answer.sql, |sql| with_single_quotes(sql, catalog));
        is_right.unwrap_or(false)
    })
}

/// Compares what was found with the files. A strategy with repairs also repairs what a doubt marks,
/// of which the files know nothing: it must not fall below them, and has calls of its own.
fn compare_tallies(sampler: &Sampler, found: &Tally, expected: &Tally, note: &str) -> [Figure; 2] {
    let Sampler { name, repair, .. } = sampler;
    let right =
        format!("{:.1} % where the files give {:.1} %; {note}", found.right(), expected.right());
    let calls = format!("{:.2} where the files give {:.2}", found.calls(), expected.calls());
    let [below, further] = [expected.right() - found.right(), found.calls() - expected.calls()];
    let (how, off, more) = match repair {
        true => ("below them by", below.max(0.0), MORE_REPAIRS),
        false => ("off by", below.abs(), OFF.1),
    };
    [
        Figure::new(format!("`{name}` on recorded answers: right, {how}"), off, "points")
            .at_most(OFF.0)
            .note(right),
        Figure::new(
            format!("`{name}` on recorded answers: calls a question, off by"),
            further.abs(),
            "",
        )
        .at_most(more)
        .note(calls),
    ]
}
