//! Measures the worth of the findings of `discern` on a database that had no part in choosing them.
//! Nothing is fitted: each finding halves a vote.
//!
//! Each database is left out in turn. On the others the findings are chosen one after the other,
//! each the one that most raises the share of right answers there. Then the left-out database is
//! sampled as the plugin would sample it.

mod evidence;

use std::collections::BTreeMap;

use syrch::databases::{run_as_answer, with_doubts};
use syrch::{Host, Settings, Silent};
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Execution, Question, SAMPLERS, questions};

use self::evidence::Database;
use super::tally::{Tally, difference, total};
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The signs that may speak against a statement (`table` speaks for it). The plugin has five of
/// them: `doubt`, `absent_value`, `unused_word`, `repeated_rows` and `zero_count`.
const SIGNS: [&str; 17] = [
    "absent_value",
    "odd_join",
    "unused_word",
    "repeated_rows",
    "column",
    "table",
    "null_column",
    "left_join",
    "distinct",
    "subquery",
    "unasked_order",
    "length",
    "odd_shape",
    "unnamed_column",
    "bare_column",
    "zero_count",
    "doubt",
];
/// The plugin's, by their places.
const KNOWN: [usize; 5] = [DOUBT, 0, 2, 3, 15];
/// The host's doubts about the result.
const DOUBT: usize = 16;
/// A further sign must raise the right answers of a hundred by that much. This was fixed before any
/// outcome was seen.
const GAIN: f64 = 0.1;
/// The part of a vote that is left for each finding.
const KEEP: f64 = 0.5;
/// The plugin stops when the first result leads by so many votes.
const LEAD: f64 = 2.5;
/// The plugin stops after so many draws.
const SAMPLES: usize = 12;
/// The strategy that it is held against.
const RIVAL: &str = "gate3of9";

/// The value of each sign. Signs against a statement have values below zero.
type Signs = [f64; SIGNS.len()];

/// A question with what its answers come to.
struct Asked {
    database: String,
    answers: Vec<Vote>,
    /// The places of the answers, by seed.
    orders: Vec<Vec<usize>>,
    /// The tally of the rival, over all seeds.
    rival: Tally,
}

/// One recorded answer as a vote.
struct Vote {
    /// The first answer with the same result; `None` if it failed or has no rows.
    result: Option<usize>,
    is_right: bool,
    signs: Signs,
}

/// Chooses and measures for each database.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let all = load_questions(world)?;
    let chosen: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..all.len())
            .map(|out: usize| {
                let all = &all;
                scope.spawn(move || choose(all, out))
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a choice broke off"))
            .collect::<Result<_, _>>()
    })?;
    let tallies = |signs: &dyn Fn(usize) -> Vec<usize>, lead: f64| -> Vec<Tally> {
        all.iter()
            .enumerate()
            .flat_map(|(out, asked): (usize, &Vec<Asked>)| {
                let signs = signs(out);
                asked.iter().map(|asked| sample_question(asked, &signs, lead)).collect::<Vec<_>>()
            })
            .collect()
    };
    let databases: Vec<&str> = all.iter().flatten().map(|asked| asked.database.as_str()).collect();
    let elsewhere = |out: usize| chosen[out].clone();
    let rival = all.iter().flatten().map(|asked| asked.rival).collect();
    let orders = format!("orders: {}", world.orders);
    let choice = format!("chosen, of {} times: {}; {orders}", chosen.len(), list_signs(&chosen));
    let in_view = format!("nothing fitted, the five were chosen in view; {orders}");
    let ways = [
        ("`discern` with findings chosen elsewhere", tallies(&elsewhere, LEAD), choice),
        ("the same with a lead of 2", tallies(&elsewhere, 2.0), orders.clone()),
        ("`discern` with its five findings", tallies(&|_| KNOWN.to_vec(), LEAD), in_view.clone()),
        ("the same with a lead of 2", tallies(&|_| KNOWN.to_vec(), 2.0), in_view),
        ("`discern` with doubts alone", tallies(&|_| vec![DOUBT], LEAD), orders.clone()),
        ("the same sampling without findings", tallies(&|_| Vec::new(), LEAD), orders),
        (RIVAL, rival, String::new()),
    ];
    Ok(figures(&databases, &ways))
}

/// The questions by their databases.
fn load_questions(world: &World) -> Outcome<Vec<Vec<Asked>>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let mut by_database: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for question in questions(&data) {
        by_database.entry(question.database.clone()).or_default().push(question);
    }
    let mut all = Vec::new();
    for (name, questions) in by_database {
        let file = data.join("db").join(format!("{name}.sqlite"));
        let mut database = Database::open(&file)?;
        let settings = Settings { database: file.display().to_string(), ..Settings::default() };
        let mut doubts = world.runtime.block_on(doubts(settings, &questions))?.into_iter();
        let mut one = |question: &Question| {
            one(&mut database, question, doubts.next().unwrap_or_default(), world.orders)
        };
        all.push(questions.iter().map(&mut one).collect::<Outcome<_>>()?);
    }
    Ok(all)
}

/// Returns whether the host doubts the result of each answer, by question.
async fn doubts(settings: Settings, questions: &[Question]) -> Outcome<Vec<Vec<bool>>> {
    let host = Host::open(settings, &Silent).await?;
    let database = with_doubts(host.database());
    let catalog = database.catalog().await?;
    let mut all = Vec::new();
    for question in questions {
        let mut known: BTreeMap<&str, bool> = BTreeMap::new();
        let mut doubted = Vec::new();
        for answer in &question.answers {
            if !known.contains_key(answer.sql.as_str()) {
                let sql =
                    with_single_quotes(&answer.sql, &catalog).unwrap_or_else(|| answer.sql.clone());
                let results = run_as_answer(&database, &question.question, &sql).await;
                known
                    .insert(&answer.sql, results.is_ok_and(|results| !results.doubts().is_empty()));
            }
            doubted.push(known[answer.sql.as_str()]);
        }
        all.push(doubted);
    }
    Ok(all)
}

fn one(
    database: &mut Database,
    question: &Question,
    doubted: Vec<bool>,
    orders: u32,
) -> Outcome<Asked> {
    let gate = SAMPLERS.iter().find(|gate| gate.name == RIVAL).ok_or("the rival is unknown")?;
    let mut answers: Vec<Vote> = Vec::new();
    for (answer, doubted) in question.answers.iter().zip(doubted) {
        let is_same = |earlier: &Execution| {
            matches!(answer.outcome, Execution::Rows(_)) && *earlier == answer.outcome
        };
        let result = question.answers.iter().position(|earlier| is_same(&earlier.outcome));
        let mut signs = match result {
            Some(_) => database
                .signs(&question.question, &answer.sql)
                .map_err(|error| format!("{}: {error}", answer.sql))?,
            None => [0.0; SIGNS.len()],
        };
        signs[DOUBT] = if doubted { -1.0 } else { 0.0 };
        answers.push(Vote { result, is_right: answer.is_right, signs });
    }
    let mut places = Vec::new();
    let mut rival = Tally::default();
    for seed in 0..u64::from(orders) {
        let order = question.order(seed);
        let taken = gate.take(&order);
        rival.add(taken.answer.is_some_and(|answer| answer.is_right), taken.calls);
        let place =
            |system: &str| question.answers.iter().position(|answer| answer.system == system);
        places.push(order.iter().filter_map(|answer| place(&answer.system)).collect());
    }
    Ok(Asked { database: question.database.clone(), answers, orders: places, rival })
}

/// The signs that are chosen without that database, in the order of their choice.
fn choose(all: &[Vec<Asked>], out: usize) -> Vec<usize> {
    let others: Vec<&Asked> = all
        .iter()
        .enumerate()
        .filter(|(database, _)| *database != out)
        .flat_map(|(_, asked)| asked)
        .collect();
    let right = |signs: &[usize]| {
        total(&others.iter().map(|asked| sample_question(asked, signs, LEAD)).collect::<Vec<_>>())
            .right()
    };
    let mut chosen: Vec<usize> = Vec::new();
    let mut reached = right(&chosen);
    loop {
        let candidates =
            (0..SIGNS.len()).filter(|sign| !chosen.contains(sign)).map(|sign: usize| {
                let wider = [&chosen[..], &[sign]].concat();
                (right(&wider), wider)
            });
        let best = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((share, wider)) = best.filter(|(share, _)| *share >= reached + GAIN) else {
            break;
        };
        (reached, chosen) = (share, wider);
    }
    chosen
}

/// Returns the tally of the plugin on a question, in all of its orders.
fn sample_question(asked: &Asked, signs: &[usize], lead: f64) -> Tally {
    let mut tally = Tally::default();
    let weights: Vec<f64> = asked
        .answers
        .iter()
        .map(|vote: &Vote| KEEP.powf(-signs.iter().map(|sign| vote.signs[*sign]).sum::<f64>()))
        .collect();
    for order in &asked.orders {
        let (is_right, calls) = vote(&asked.answers, &weights, order, lead);
        tally.add(is_right, calls);
    }
    tally
}

/// Draws until a result leads; whether the first one of the leading result is right, and how many
/// were drawn.
fn vote(answers: &[Vote], weights: &[f64], order: &[usize], lead: f64) -> (bool, u32) {
    // A result, its votes, and whether the draw that stands for it is right.
    let mut results: Vec<(usize, f64, bool)> = Vec::new();
    let mut unit = f64::MIN_POSITIVE;
    let mut calls = 0;
    for place in order.iter().copied().take(SAMPLES) {
        calls += 1;
        let Some(result) = answers[place].result else { continue };
        unit = unit.max(weights[place]);
        match results.iter_mut().find(|(known, ..)| *known == result) {
            Some((_, votes, _)) => *votes += weights[place],
            None => results.push((result, weights[place], answers[place].is_right)),
        }
        let mut votes: Vec<f64> = results.iter().map(|(_, votes, _)| votes / unit).collect();
        votes.sort_by(|a, b| b.total_cmp(a));
        if votes[0] - votes.get(1).unwrap_or(&0.0) >= lead - 1e-9 {
            break;
        }
    }
    let most = results.iter().map(|(_, votes, _)| *votes).fold(0.0, f64::max);
    let first = results.iter().find(|(_, votes, _)| *votes >= most);
    (first.is_some_and(|(.., is_right)| *is_right), calls)
}

/// Writes how often each sign was chosen, the most frequent first.
fn list_signs(chosen: &[Vec<usize>]) -> String {
    let times = |sign: usize| chosen.iter().filter(|chosen| chosen.contains(&sign)).count();
    let mut counts: Vec<(usize, &str)> =
        SIGNS.iter().enumerate().map(|(sign, name)| (times(sign), *name)).collect();
    counts.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let counts = counts
        .iter()
        .filter(|(times, _)| *times > 0)
        .map(|(times, name)| format!("{name} {times}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Two figures for each way to sample, the rival last.
fn figures(databases: &[&str], ways: &[(&str, Vec<Tally>, String)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let rival = ways.last().map_or(&[][..], |(_, tallies, _)| tallies);
    for (name, tallies, note) in ways {
        let sum = total(tallies);
        let mut right = Figure::new(format!("{name}: right"), sum.right(), "%");
        if *name != RIVAL {
            let points = difference(databases, tallies, rival, Tally::right);
            let more = difference(databases, tallies, rival, Tally::calls);
            right = right.note(format!(
                "against `{RIVAL}` {points} points and {more} calls, 95 % over databases; {note}"
            ));
        }
        figures.extend([right, Figure::new(format!("{name}: calls a question"), sum.calls(), "")]);
    }
    figures
}
