//! The warnings of a report.

use std::collections::{BTreeMap, BTreeSet};

use syrch_core::text;
use syrch_report::words::{count, count_either, dollars};

use super::arm::ArmReport;
use super::bands;
use super::costs::Costs;
use super::figures::{self, Ends};
use super::head::Partial;
use super::pair::PairReport;
use super::pairing::{Drawn, FEW_DATABASES};
use super::plausible::{Sampled, beyond_reach, plausible};
use super::share::Share;
use crate::Verdict;
use crate::run::{Arm, Dropped, EarlierTries, End, Graded, Header};

/// The beginning of a warning about shared calls, which differs between equal runs.
const SHARED: &str = "calls from the cache: ";
/// The beginning of a warning about the times of cached calls.
const CACHED_TIMES: &str =
    "more than a tenth of the calls came from a cache, so times are partly those of a cache: ";
/// The beginning of a warning about a timed pass.
const TIMED: &str = "R-VES: ";
/// The beginning of a warning about tries that were repeated.
const EARLIER: &str = "tries that failed and were repeated cost more than the figures show: ";
/// The beginning of a warning about searches that were dropped.
const DROPPED: &str = "searches that were cut off cost more than the figures show: ";

/// Returns the finished part of a run, by the answers of each arm under each seed. `None` if it is
/// complete.
pub(crate) fn partial(header: &Header, seeds: &[Vec<Vec<&Graded>>]) -> Option<Partial> {
    let questions =
        header.shard.map_or(header.suite.questions, |shard| shard.share(header.suite.questions));
    let of = questions.saturating_mul(seeds.iter().flatten().count() as u64);
    let done = seeds.iter().flatten().map(|answers| answers.len() as u64).sum();
    (done < of).then(|| Partial { done, of, why: "the run is not finished".to_owned() })
}

/// The warnings about the answers of each arm under each seed, its own first, in the order of the
/// arms. Fewer answers than arms are those of the first arms.
pub(crate) fn warnings<'a>(
    header: &'a Header,
    seeds: &[Vec<Vec<&Graded>>],
    rule: &str,
) -> Vec<String> {
    let mut notes = Vec::new();
    let answers: Vec<Vec<&Graded>> =
        seeds.iter().map(|seeds| seeds.first().cloned().unwrap_or_default()).collect();
    let all: Vec<&Graded> = answers.iter().flatten().copied().collect();
    if let Some(shard) = header.shard {
        notes.push(format!("this is shard {}/{} of the suite", shard.index, shard.of));
    }
    let rules = figures::rules(&all);
    if !rules.is_empty() && !rules.contains(rule) {
        let stored: Vec<&str> = rules.into_iter().collect();
        notes.push(format!(
            "no verdict under the rule `{rule}` is stored; there are {}",
            text::few(stored)
        ));
    }
    let faulty: BTreeSet<u64> =
        all.iter().filter(|one| one.gold_fault.is_some()).map(|one| one.place).collect();
    if !faulty.is_empty() {
        notes.push(exclusion_warning(faulty.len() as u64));
    }
    notes.extend(
        header
            .arms
            .iter()
            .zip(&answers)
            .filter_map(|(arm, answers)| many_failed(&arm.name, answers)),
    );
    let cached = |(arm, answers): (&Arm, &Vec<&Graded>)| {
        Costs::from_answers(answers).is_cached().then(|| format!("`{}`", arm.name))
    };
    let cached: Vec<String> = header.arms.iter().zip(&answers).filter_map(cached).collect();
    if !cached.is_empty() {
        notes.push(format!("{CACHED_TIMES}{}", text::few(cached)));
    }
    notes.extend(bands::notes(
        &header
            .arms
            .iter()
            .zip(seeds)
            .filter_map(|(arm, seeds): (&'a Arm, &Vec<Vec<&Graded>>)| {
                Some((arm.name.as_str(), bands::for_share(seeds, rule)?))
            })
            .collect::<Vec<_>>(),
    ));
    if header.simulated.is_some() {
        notes.extend(too_good(header, seeds, rule));
    }
    notes
}

/// The warning about questions without an expected answer.
pub(crate) fn exclusion_warning(questions: u64) -> String {
    let questions = count_either(questions, "question does not count", "questions do not count");
    format!("{questions}: the expected answer is not available")
}

/// The reasons why simulated answers are better than real ones could be.
fn too_good(header: &Header, seeds: &[Vec<Vec<&Graded>>], rule: &str) -> Vec<String> {
    let mut why = Vec::new();
    for (arm, seeds) in header.arms.iter().zip(seeds) {
        let name = &arm.name;
        let share = Share::from_answers(seeds.iter().flatten().copied(), rule);
        why.extend(
            beyond_reach(share.right, share.of).map(|reason| format!("of `{name}`, {reason}")),
        );
        // One arm under several seeds: its samples do not follow from each other, as those of arms
        // that share them would.
        let grouped = by_question(seeds.iter().flatten(), rule);
        let found = plausible(grouped.values().map(Vec::as_slice)).too_good;
        why.extend(found.into_iter().map(|reason| format!("of `{name}`, {reason}")));
    }
    if seeds.iter().all(|seeds| seeds.len() == 1) {
        // Arms that share samples agree more often than others would, which looks more plausible.
        // So what is found nevertheless is real.
        let grouped = by_question(seeds.iter().flatten().flatten(), rule);
        why.extend(plausible(grouped.values().map(Vec::as_slice)).too_good);
    }
    why.into_iter().map(|why| format!("too good for a real model: {why}")).collect()
}

fn by_question<'a>(
    answers: impl Iterator<Item = &'a &'a Graded>,
    rule: &str,
) -> BTreeMap<u64, Vec<Sampled<'a>>> {
    let mut by_question: BTreeMap<u64, Vec<Sampled>> = BTreeMap::new();
    for one in answers {
        let Some(judged) =
            one.verdicts.get(rule).filter(|judged| judged.verdict != Verdict::Excluded)
        else {
            continue;
        };
        let sampled =
            Sampled { result: judged.fingerprint.as_deref(), is_right: judged.verdict.is_right() };
        by_question.entry(one.place).or_default().push(sampled);
    }
    by_question
}

fn many_failed(arm: &str, answers: &[&Graded]) -> Option<String> {
    let ends = Ends::from_answers(answers);
    if !ends.many_failed() {
        return None;
    }
    let failed = answers.iter().filter(|one| one.end == End::Failed);
    let classes: BTreeSet<&str> =
        failed.filter_map(|one| one.fault.as_ref()).map(|fault| fault.class.as_str()).collect();
    let classes: Vec<&str> = classes.into_iter().collect();
    let why = if classes.is_empty() { String::new() } else { format!(" ({})", text::few(classes)) };
    let found = ends.describe_failures(arm) + &why;
    Some(match ends.most_failed() {
        true => format!("{found}: the figures mean nothing"),
        false => format!("{found}: they count as wrong, whatever the cause"),
    })
}

/// The warnings about a comparison.
pub(crate) fn comparison_warnings(arms: &[ArmReport], pairs: &[PairReport]) -> Vec<String> {
    let mut notes = Vec::new();
    if arms.iter().any(|arm| arm.figures.costs.cached.unwrap_or(0) > 0) {
        let each: Vec<String> = arms
            .iter()
            .map(|arm| {
                format!(
                    "{} of {} for `{}`",
                    arm.figures.costs.cached.unwrap_or(0),
                    arm.figures.costs.calls.unwrap_or(0),
                    arm.arm.name
                )
            })
            .collect();
        notes.push(format!(
            "{SHARED}{}; which arm paid for a shared call in tokens and money is chance",
            text::few(each)
        ));
    }
    let fewest = pairs
        .iter()
        .filter(|pair| pair.clusters.of == Drawn::Databases)
        .map(|pair| pair.clusters.count)
        .min();
    if let Some(count) = fewest.filter(|count| *count < FEW_DATABASES) {
        notes.push(format!("{count} databases are few: intervals over so few are too narrow"));
    }
    if pairs.iter().any(|pair| pair.clusters.of == Drawn::Questions && pair.questions > 0) {
        notes.push(
            "all questions are of one database: the results may not hold for others".to_owned(),
        );
    }
    notes
}

/// The warning about the cost of an arm's tries that failed and were repeated.
pub(crate) fn note_earlier_tries(arm: &str, tries: &EarlierTries) -> String {
    let made = count_either(tries.tries, "try", "tries");
    format!("{EARLIER}{made} of `{arm}` took {}", describe_cost(tries))
}

/// The warning about searches that were dropped when the run stopped; `None` if there are none.
pub(crate) fn describe_dropped(dropped: &Dropped) -> Option<String> {
    let Dropped { cost, unknown } = dropped;
    let known = (cost.tries > 0).then(|| {
        let made = count_either(cost.tries, "search", "searches");
        format!("{made} took {}", describe_cost(cost))
    });
    let others = (*unknown > 0).then(|| {
        let made = count_either(*unknown, "search", "searches");
        format!("the cost of {made} is not known, for lack of a journal")
    });
    let parts: Vec<String> = known.into_iter().chain(others).collect();
    (!parts.is_empty()).then(|| format!("{DROPPED}{}", parts.join("; ")))
}

/// Writes calls, tokens and money, such as `2 model calls, 900 tokens, $0.0021`.
fn describe_cost(cost: &EarlierTries) -> String {
    let calls = count(cost.calls, "model call");
    let usd = cost.usd.map(|usd| format!(", {}", dollars(Some(usd)))).unwrap_or_default();
    format!("{calls}, {}{usd}", count(cost.tokens, "token"))
}

/// The warning about a timed pass.
pub(crate) fn timing_warning(what: &str) -> String {
    format!("{TIMED}{what}")
}

/// Removes the warnings that differ between equal runs.
pub(crate) fn without_times(notes: &mut Vec<String>) {
    notes.retain(|note| {
        ![SHARED, CACHED_TIMES, TIMED, EARLIER, DROPPED]
            .iter()
            .any(|beginning| note.starts_with(beginning))
    });
}
