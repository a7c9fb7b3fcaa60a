//! The outcome and its log.

use syrch_plugin::attempt::{carry_on, nothing};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32, line};

use crate::solver::explore::Explorer;
use crate::solver::path::Found;
use crate::solver::policy::standing;
use crate::solver::weigh::{Cluster, count_tied};

/// Results that a question shows at the most.
const CHOICES: usize = 5;

/// The candidates best first: one of each group of equal results in their order, then what ran
/// without a row. Without one, an unavailable model or database and a used-up budget are failures,
/// and everything else is an empty outcome.
pub(crate) fn outcome<H: SolverHost>(explorer: &Explorer<'_, H>) -> Result<Outcome, Failure> {
    let clusters = standing(&explorer.paths);
    let empty: Vec<&Found> = explorer.paths.iter().filter_map(without_rows).collect();
    if clusters.is_empty() && empty.is_empty() {
        return without_candidate(explorer);
    }
    if let Some(failure) = &explorer.ended {
        carry_on(explorer.host, explorer.task, Level::Warn, &failure.message);
    }
    let tie = count_tied(&clusters);
    let mut candidates = Vec::new();
    for (place, cluster) in clusters.iter().enumerate() {
        let doubt = if place < tie { doubt(tie) } else { 0.0 };
        candidates.extend(cluster.best().map(|found| candidate(found, cluster, &clusters, doubt)));
    }
    candidates.extend(empty.iter().map(|found| found.candidate.clone()));
    log(explorer.host, &clusters, &empty);
    let ask = (tie > 1).then(|| question(explorer.task, &clusters[..tie]));
    Ok(Outcome { candidates, ask, ..Outcome::default() })
}

fn without_rows<'p>(path: &'p crate::solver::path::Path<'_>) -> Option<&'p Found> {
    if path.viable.is_some() { None } else { path.unsound.as_ref() }
}

/// Returns the probability that a choice among so many tied results is wrong: below 1, since one of
/// them is right.
fn doubt(tie: usize) -> f64 {
    1.0 - 1.0 / tie.max(1) as f64
}

fn candidate(
    found: &Found,
    cluster: &Cluster<'_>,
    clusters: &[Cluster<'_>],
    doubt: f64,
) -> Candidate {
    let viable: usize = clusters.iter().map(|cluster| cluster.members.len()).sum();
    let mut candidate = found.candidate.clone();
    candidate.signals.samples = count32(viable);
    candidate.signals.agreeing = count32(cluster.members.len());
    let built = candidate.rationale.take().unwrap_or_default();
    let mut reported =
        format!("{built}; {} of {viable} results; {}", cluster.members.len(), found.fit.log_line());
    if doubt > 0.0 {
        reported += "; another result fits equally well";
    }
    candidate.rationale = Some(reported);
    // The discount for ambiguity of syrch: half of it.
    candidate.raw_confidence = candidate.raw_confidence.map(|claim| claim * (1.0 - 0.5 * doubt));
    candidate
}

fn log(host: &impl SolverHost, clusters: &[Cluster<'_>], empty: &[&Found]) {
    let best = clusters.first().and_then(Cluster::best).or(empty.first().copied());
    let Some(best) = best else { return };
    let built = best.candidate.rationale.as_deref().unwrap_or_default();
    let how = match clusters.first() {
        Some(first) => format!("{built}; {}; {}", agreeing(first), best.fit.log_line()),
        None => format!("{built}; no table gave a result with rows"),
    };
    host.keep(&best.candidate.id, &how);
    for (place, cluster) in clusters.iter().enumerate() {
        for found in cluster.members.iter().filter(|found| found.candidate.id != best.candidate.id)
        {
            let twin = cluster.best().map_or("", |twin| twin.candidate.id.as_str());
            let why = if twin == found.candidate.id {
                beaten(cluster, &clusters[0], best, place < count_tied(clusters))
            } else {
                format!("the same result as {twin}")
            };
            host.discard(&found.candidate.id, &why);
        }
    }
    for found in empty.iter().filter(|found| found.candidate.id != best.candidate.id) {
        host.discard(&found.candidate.id, "the result has no rows");
    }
}

fn agreeing(cluster: &Cluster<'_>) -> String {
    match cluster.members.len() {
        1 => "no other statement agrees".to_owned(),
        members => format!("{members} statements agree"),
    }
}

/// Writes the reason why a group is behind the best one.
fn beaten(own: &Cluster<'_>, first: &Cluster<'_>, best: &Found, is_tied: bool) -> String {
    let id = &best.candidate.id;
    if is_tied {
        return format!(
            "another result, which fits as well as that of {id}; its table was found later"
        );
    }
    if own.fits_like(first) {
        return format!(
            "another result, which fits as well as that of {id}, but fewer statements agree"
        );
    }
    let fit = own.best().map(|found| found.fit.log_line()).unwrap_or_default();
    format!("another result, which fits worse than that of {id}: {fit}")
}

/// Both readings, or all of them, for the user.
fn question(task: &Task, tied: &[Cluster<'_>]) -> Question {
    Question {
        text: format!(
            "\"{}\" can be read in {} ways that give different results. Which one is meant?",
            line(&task.text, 300),
            tied.len()
        ),
        choices: tied
            .iter()
            .filter_map(Cluster::best)
            .take(CHOICES)
            .map(|found: &Found| {
                let columns: Vec<String> = found
                    .profile
                    .columns
                    .iter()
                    .take(6)
                    .map(|column| line(&column.column.name, 40))
                    .collect();
                let built = found.candidate.rationale.as_deref().unwrap_or_default();
                format!("{built}: {} of {}", count(found.profile.rows, "row"), columns.join(", "))
            })
            .collect(),
        ambiguity: doubt(tied.len()),
    }
}

fn without_candidate<H: SolverHost>(explorer: &Explorer<'_, H>) -> Result<Outcome, Failure> {
    if let Some(failure) = &explorer.ended {
        return Err(failure.clone());
    }
    let last = explorer.paths.iter().rev().find_map(|path| path.chain.tried.last());
    let why = match (last, &explorer.abstained, explorer.paths.len()) {
        (None, Some(why), _) => why.clone(),
        (None, None, 0) => "there is no table to begin with, or no call left".to_owned(),
        (last, _, tables) => {
            let last = last.map_or("the model gave no statement", |tried| tried.wrong.as_str());
            format!("no statement did on {}: {last}", count(tables as u64, "table"))
        }
    };
    Ok(nothing(explorer.host, &why))
}
