//! The decision of a comparison, and the sentence about it.

use syrch_report::words::{count, points, points_with_sign};

use super::pair::{Decision, PairReport};
use super::pairing::Drawn;
use crate::stats;

/// Below this a difference is more than chance.
pub(crate) const LEVEL: f64 = 0.05;

/// The facts of the run that the sentence mentions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    /// The simulated model that the answers come from.
    pub(crate) simulated: Option<&'a str>,
    /// The answers of a run that ended early, and those of the complete run.
    pub(crate) unfinished: Option<(u64, u64)>,
    /// The number of pairs that the adjustment is over.
    pub(crate) pairs: usize,
    /// The sentences about arms of which most searches failed. They replace all others.
    pub(crate) failures: &'a [String],
}

/// A simulated model as what comes after "simulated": its label without that word, in brackets.
pub(crate) fn in_brackets(model: &str) -> String {
    let label =
        model.strip_prefix("simulated").and_then(|rest| rest.strip_prefix(", ")).unwrap_or(model);
    if label.is_empty() || label == "simulated" { String::new() } else { format!(" ({label})") }
}

/// Decides whether the second is better. Decided by the adjusted test and the interval over
/// databases together; by the e-process alone where the run was started with early stopping, whose
/// p is 1/E (Ville's inequality), adjusted as `e_holm`.
pub(crate) fn decide(pair: &PairReport, e_holm: f64) -> Decision {
    let towards = if pair.c > pair.b { Decision::Better } else { Decision::Worse };
    if pair.e_process.decides {
        return if e_holm <= LEVEL && pair.b != pair.c { towards } else { Decision::None };
    }
    let by_test = pair.holm < LEVEL;
    let by_interval = pair.interval.map(|interval| interval.low > 0.0 || interval.high < 0.0);
    match (by_test, by_interval) {
        (true, Some(true)) => towards,
        // One question or one cluster has no interval; the test alone cannot be significant on so
        // little.
        (true, Some(false) | None) | (false, Some(true)) => Decision::Unsure,
        (false, Some(false) | None) => Decision::None,
    }
}

/// The sentence about a pair.
pub(crate) fn sentence(pair: &PairReport, about: Circumstances) -> String {
    let first = &pair.first;
    let second = &pair.second;
    let mut text = match (pair.difference, pair.decision) {
        _ if !about.failures.is_empty() => return about.failures.join("; "),
        (None, _) => format!(
            "no comparison is possible: no question counts for both `{first}` and `{second}`"
        ),
        (Some(_), _) if pair.b + pair.c == 0 => {
            format!(
                "no difference was found: `{first}` and `{second}` agree on all of {}",
                questions(pair.questions)
            )
        }
        (Some(difference), decision) => {
            describe_comparison(pair, difference, decision, about.pairs)
        }
    };
    if let Some(model) = about.simulated {
        text = format!("with simulated answers{}, {text}", in_brackets(model));
    }
    if let Some((done, of)) = about.unfinished {
        text += &format!("; the run ended after {done} of {}", count(of, "answer"));
    }
    text
}

fn describe_comparison(
    pair: &PairReport,
    difference: f64,
    decision: Decision,
    pairs: usize,
) -> String {
    let facts = facts(pair, difference, pairs);
    let first = &pair.first;
    let second = &pair.second;
    match decision {
        Decision::None => {
            format!(
                "no difference was found between `{first}` and `{second}` (`{second}` minus \
                 `{first}`: {} points, {facts}): {}",
                points_with_sign(difference),
                describe_power(pair)
            )
        }
        _ => format!("{} ({facts}): {}", head(pair, difference), describe_decision(pair, decision)),
    }
}

fn head(pair: &PairReport, difference: f64) -> String {
    let way = if difference < 0.0 { "fewer" } else { "more" };
    format!(
        "`{}` answers {} points {way} questions right than `{}`",
        pair.second,
        points(difference.abs()),
        pair.first
    )
}

fn describe_decision(pair: &PairReport, decision: Decision) -> &'static str {
    match decision {
        Decision::Unsure if pair.interval.is_none() => "too little to be sure of",
        Decision::Unsure if pair.holm < LEVEL => match pair.clusters.of {
            Drawn::Databases => {
                "the test confirms it on these questions, but the databases disagree: \
                 not sure for others"
            }
            Drawn::Questions => {
                "the test confirms it, but the interval does not leave out zero: not sure"
            }
        },
        Decision::Unsure => {
            "the interval leaves out zero, but the exact test does not confirm it: not sure"
        }
        Decision::Better | Decision::Worse | Decision::None => "the difference is real",
    }
}

fn facts(pair: &PairReport, difference: f64, pairs: usize) -> String {
    let interval = pair.interval.map(|interval| {
        // "3 points fewer" goes with an interval of "fewer", unless nothing was found and the
        // difference keeps its sign.
        let turned = difference < 0.0 && pair.decision != Decision::None;
        let (low, high) =
            if turned { (-interval.high, -interval.low) } else { (interval.low, interval.high) };
        let over = match pair.clusters.of {
            Drawn::Databases => format!("over {} databases", pair.clusters.count),
            Drawn::Questions => "over the questions of one database".to_owned(),
        };
        format!("95 % interval {} to {} {over}; ", points(low), points(high))
    });
    let alone = format!("right alone: `{}` {}, `{}` {}", pair.second, pair.c, pair.first, pair.b);
    format!("{}{alone}; {}", interval.unwrap_or_default(), test(pair, pairs))
}

/// The test that decides, and beside the e-process the one for a fixed number of questions.
fn test(pair: &PairReport, pairs: usize) -> String {
    let adjusted = if pairs > 1 { " after Holm" } else { "" };
    let fixed = format!("p {}{adjusted}", p_value(pair.holm));
    if !pair.e_process.decides {
        return fixed;
    }
    let interval = if pair.interval.is_some() {
        "the interval is that of a fixed number of questions, and "
    } else {
        ""
    };
    let e = e_value(pair.e_process.value);
    format!("E = {e} {}; {interval}without stopping early it would be {fixed}", describe_stop(pair))
}

fn describe_stop(pair: &PairReport) -> String {
    match pair.e_process.stopped_at {
        Some(at) => format!("(at least {} after {})", pair.e_process.threshold, questions(at)),
        None => format!("(never {})", pair.e_process.threshold),
    }
}

/// The smallest difference that the comparison could have found, with a power of 80 %.
fn describe_power(pair: &PairReport) -> String {
    let differ = pair.discordance.unwrap_or(0.0) * 100.0;
    let least = match pair.minimum_detectable {
        Some(least) => format!("only {} points or more would have been seen", points(least)),
        None => too_few(pair.discordance.unwrap_or(0.0)),
    };
    format!("with {} of which {differ:.0} % differ, {least}", questions(pair.questions))
}

/// Says that the questions are too few for any difference, and how many would do.
fn too_few(discordance: f64) -> String {
    let missed =
        "even the largest possible difference would be missed in more than 1 of 5 such runs";
    match stats::questions_needed(discordance, discordance) {
        Some(needed) => format!("{missed}; it takes {}", questions(needed)),
        None => missed.to_owned(),
    }
}

fn questions(number: u64) -> String {
    count(number, "question")
}

/// A p with two digits that mean something, after its sign: `= 0.024`.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("= {p:.4}"),
        p if p < 0.1 => format!("= {p:.3}"),
        p => format!("= {p:.2}"),
    }
}

/// An e-value, of which only the size matters.
pub(crate) fn e_value(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{value:.0e}"),
        value if value >= 100.0 => format!("{value:.0}"),
        value => format!("{value:.2}"),
    }
}
