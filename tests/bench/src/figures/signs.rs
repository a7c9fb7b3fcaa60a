//! What the signs of `discern` are worth on a database that had no part in choosing them, nor in fitting their shares.
//!
//! Each database is left out in turn. On the others the signs are chosen one after the other, each the one that most raises the likelihood
//! of the right results on databases left out within those others, and their shares are fitted. Then the left-out database is sampled as
//! the plugin would sample it.

mod evidence;
mod fit;

use std::collections::BTreeMap;

use syrch_kit::recorded::{Execution, Question, SAMPLERS, questions};

use self::evidence::Database;
use self::fit::{Drawn, Numbers, Pool};
use super::tally::{Tally, difference, total};
use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The plugin's six signs, whose directions are fixed (`table` speaks for a statement, the others against it), and those that its README
/// names as left out, which may speak either way.
const SIGNS: [&str; 16] = [
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
];
/// How many of them are the plugin's.
const KNOWN: usize = 6;
/// A further sign must raise the mean log likelihood by that much. This was fixed before any outcome was seen.
const GAIN: f64 = 0.002;
/// Draws in the pools of the fit.
const POOLS: [usize; 3] = [5, 9, 14];
/// How many orders the pools are drawn in.
const POOL_ORDERS: usize = 10;
/// The plugin stops when the first result leads by so many votes.
const LEAD: f64 = 2.5;
/// The plugin stops after so many draws.
const SAMPLES: usize = 12;
/// The strategy that it is held against.
const RIVAL: &str = "gate3of9";

/// What each sign counts. What speaks against a statement counts below zero, so that no share of the plugin's six is negative.
type Signs = [f64; SIGNS.len()];

/// A question with what its answers come to.
struct Asked {
    database: String,
    answers: Vec<Vote>,
    /// The places of the answers, by seed.
    orders: Vec<Vec<usize>>,
    /// What the rival comes to, over all seeds.
    rival: Tally,
}

/// One recorded answer as a vote.
struct Vote {
    /// The first answer with the same result; `None` if it failed or has no rows.
    result: Option<usize>,
    is_right: bool,
    signs: Signs,
}

/// Chooses, fits and measures for each database.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let all = asked(world.orders)?;
    let pools: Vec<Vec<Pool>> = all.iter().map(|asked| asked.iter().flat_map(pools).collect()).collect();
    let chosen: Vec<(Vec<usize>, Numbers)> = std::thread::scope(|scope| {
        let start = |out: usize| {
            let pools = &pools;
            scope.spawn(move || choose(pools, out))
        };
        let running: Vec<_> = (0..pools.len()).map(start).collect();
        running.into_iter().map(|thread| thread.join().map_err(|_| "a choice broke off")).collect::<Result<_, _>>()
    })?;
    let tallies = |shares: &dyn Fn(usize) -> Numbers| -> Vec<Tally> {
        let of_database = |(out, asked): (usize, &Vec<Asked>)| {
            let shares = shares(out);
            asked.iter().map(|asked| sampled(asked, &shares, world.orders)).collect::<Vec<_>>()
        };
        all.iter().enumerate().flat_map(of_database).collect()
    };
    let databases: Vec<&str> = all.iter().flatten().map(|asked| asked.database.as_str()).collect();
    let known: Vec<usize> = (0..KNOWN).collect();
    let given = |out: usize| fit::fit(&among(&pools, |database| database != out), &known, &fit::nothing());
    let rival = all.iter().flatten().map(|asked| asked.rival).collect();
    let orders = format!("orders: {}", world.orders);
    let choice = format!("chosen, of {} times: {}; {orders}", chosen.len(), listed(&chosen));
    let ways = [
        ("`discern` with signs chosen and fitted elsewhere", tallies(&|out| chosen[out].1), choice),
        (
            "`discern` with its six signs, fitted elsewhere",
            tallies(&given),
            format!("the six were chosen in view; {orders}"),
        ),
        ("the same sampling without signs", tallies(&|_| fit::nothing()), orders),
        (RIVAL, rival, String::new()),
    ];
    Ok(figures(&databases, &ways))
}

/// The questions by their databases.
fn asked(orders: u32) -> Outcome<Vec<Vec<Asked>>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let mut by_database: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for question in questions(&data) {
        by_database.entry(question.database.clone()).or_default().push(question);
    }
    let mut all = Vec::new();
    for (name, questions) in by_database {
        let mut database = Database::open(&data.join("db").join(format!("{name}.sqlite")))?;
        all.push(questions.iter().map(|question| one(&mut database, question, orders)).collect::<Outcome<_>>()?);
    }
    Ok(all)
}

fn one(database: &mut Database, question: &Question, orders: u32) -> Outcome<Asked> {
    let gate = SAMPLERS.iter().find(|gate| gate.name == RIVAL).ok_or("the rival is unknown")?;
    let mut answers: Vec<Vote> = Vec::new();
    for answer in &question.answers {
        let is_same = |earlier: &Execution| matches!(answer.outcome, Execution::Rows(_)) && *earlier == answer.outcome;
        let result = question.answers.iter().position(|earlier| is_same(&earlier.outcome));
        let signs = match result {
            Some(_) => {
                database.signs(&question.question, &answer.sql).map_err(|error| format!("{}: {error}", answer.sql))?
            }
            None => [0.0; SIGNS.len()],
        };
        answers.push(Vote { result, is_right: answer.is_right, signs });
    }
    let (mut places, mut rival) = (Vec::new(), Tally::default());
    for seed in 0..u64::from(orders).max(POOL_ORDERS as u64) {
        let order = question.order(seed);
        if seed < u64::from(orders) {
            let taken = gate.take(&order);
            rival.add(taken.answer.is_some_and(|answer| answer.is_right), taken.calls);
        }
        let place = |system: &str| question.answers.iter().position(|answer| answer.system == system);
        places.push(order.iter().filter_map(|answer| place(&answer.system)).collect());
    }
    Ok(Asked { database: question.database.clone(), answers, orders: places, rival })
}

/// The pools of a question in which right and wrong results meet.
fn pools(asked: &Asked) -> Vec<Pool> {
    // By result and by the first answer with the same result and signs: how often it was drawn. The same pools come often.
    let mut pools: BTreeMap<BTreeMap<(usize, usize), u32>, u32> = BTreeMap::new();
    for (order, size) in asked.orders.iter().take(POOL_ORDERS).flat_map(|order| POOLS.map(|size| (order, size))) {
        let mut drawn = BTreeMap::new();
        for vote in order.iter().take(size).map(|place| &asked.answers[*place]) {
            let is_like = |other: &Vote| other.result == vote.result && other.signs == vote.signs;
            let alike = asked.answers.iter().position(is_like);
            if let Some(key) = vote.result.zip(alike) {
                *drawn.entry(key).or_default() += 1;
            }
        }
        *pools.entry(drawn).or_default() += 1;
    }
    let pool = |(drawn, times): (BTreeMap<(usize, usize), u32>, u32)| {
        let mut results: BTreeMap<usize, Drawn> = BTreeMap::new();
        for ((result, alike), count) in drawn {
            let is_right = asked.answers[result].is_right;
            let drawn = results.entry(result).or_insert(Drawn { is_right, draws: Vec::new() });
            drawn.draws.push((asked.answers[alike].signs, f64::from(count)));
        }
        Pool { results: results.into_values().collect(), times: f64::from(times) }
    };
    let has = |pool: &Pool, right: bool| pool.results.iter().any(|result| result.is_right == right);
    pools.into_iter().map(pool).filter(|pool| has(pool, true) && has(pool, false)).collect()
}

/// The signs that are chosen without that database, in the order of their choice, and all shares as fitted without it.
fn choose(pools: &[Vec<Pool>], out: usize) -> (Vec<usize>, Numbers) {
    // The mean log likelihood of the other databases, each by what is fitted on the rest of them.
    let score = |chosen: &[usize], start: &Numbers| -> f64 {
        let (mut score, mut count) = (0.0, 0.0);
        for held in (0..pools.len()).filter(|held| *held != out) {
            let numbers = fit::fit(&among(pools, |database| database != out && database != held), chosen, start);
            let (likelihood, times) = fit::sum(&pools[held], chosen, &numbers);
            (score, count) = (score + likelihood, count + times);
        }
        score / count
    };
    let others = among(pools, |database| database != out);
    let mut chosen = Vec::new();
    let mut numbers = fit::fit(&others, &chosen, &fit::nothing());
    let mut reached = score(&chosen, &numbers);
    loop {
        let with = |sign: usize| {
            let wider = [&chosen[..], &[sign]].concat();
            (score(&wider, &numbers), wider)
        };
        let candidates = (0..SIGNS.len()).filter(|sign| !chosen.contains(sign)).map(with);
        let best = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((score, wider)) = best.filter(|(score, _)| *score > reached + GAIN) else { break };
        numbers = fit::fit(&others, &wider, &numbers);
        (reached, chosen) = (score, wider);
    }
    (chosen, numbers)
}

fn among(pools: &[Vec<Pool>], is_in: impl Fn(usize) -> bool) -> Vec<&Pool> {
    pools.iter().enumerate().filter(|(database, _)| is_in(*database)).flat_map(|(_, pools)| pools).collect()
}

/// What the plugin comes to on a question, in so many of its orders.
fn sampled(asked: &Asked, shares: &Numbers, orders: u32) -> Tally {
    let mut tally = Tally::default();
    let weigh = |vote: &Vote| vote.signs.iter().zip(shares).map(|(sign, share)| sign * share).sum::<f64>().exp();
    let weights: Vec<f64> = asked.answers.iter().map(weigh).collect();
    for order in asked.orders.iter().take(orders as usize) {
        let (is_right, calls) = vote(&asked.answers, &weights, order);
        tally.add(is_right, calls);
    }
    tally
}

/// Draws until a result leads; whether the first one of the leading result is right, and how many were drawn.
fn vote(answers: &[Vote], weights: &[f64], order: &[usize]) -> (bool, u32) {
    // A result, its votes, and whether the draw that stands for it is right.
    let mut results: Vec<(usize, f64, bool)> = Vec::new();
    let (mut unit, mut calls) = (f64::MIN_POSITIVE, 0);
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
        if votes[0] - votes.get(1).unwrap_or(&0.0) >= LEAD - 1e-9 {
            break;
        }
    }
    let most = results.iter().map(|(_, votes, _)| *votes).fold(0.0, f64::max);
    let first = results.iter().find(|(_, votes, _)| *votes >= most);
    (first.is_some_and(|(.., is_right)| *is_right), calls)
}

/// How often each sign was chosen, the most frequent first.
fn listed(chosen: &[(Vec<usize>, Numbers)]) -> String {
    let times = |sign: usize| chosen.iter().filter(|(chosen, _)| chosen.contains(&sign)).count();
    let mut counts: Vec<(usize, &str)> = SIGNS.iter().enumerate().map(|(sign, name)| (times(sign), *name)).collect();
    counts.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    let counts = counts.iter().filter(|(times, _)| *times > 0).map(|(times, name)| format!("{name} {times}"));
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
            right =
                right.note(format!("against `{RIVAL}` {points} points and {more} calls, 95 % over databases; {note}"));
        }
        figures.extend([right, Figure::new(format!("{name}: calls a question"), sum.calls(), "")]);
    }
    figures
}
