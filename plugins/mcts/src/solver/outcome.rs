//! The outcome and its log.

use syrch_plugin::attempt::{carry_on, nothing};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count32};

use crate::Settings;
use crate::solver::search::Search;
use crate::solver::tree::{Cluster, Tree, level};

/// One candidate for each result, best first. Without one, an unavailable model or database and a
/// used-up budget are failures, and everything else is an empty outcome.
pub(crate) fn outcome<H: SolverHost>(search: Search<'_, H>) -> Result<Outcome, Failure> {
    let clusters = search.tree.clusters();
    if clusters.is_empty() {
        return without_candidate(search);
    }
    if let Some(failure) = &search.ended {
        carry_on(search.host, search.task, Level::Warn, &failure.message);
    }
    let mut candidates = Vec::new();
    for (rank, cluster) in clusters.iter().enumerate() {
        let members = best_first(&search, cluster);
        let best = members
            .first()
            .map(|member| candidate(&search.tree, search.settings, cluster, *member));
        candidates.extend(best);
        log(&search, &clusters, rank, &members);
    }
    Ok(Outcome { candidates, ..Outcome::default() })
}

/// The most confident member first, and of several the earliest.
fn best_first<H>(search: &Search<'_, H>, cluster: &Cluster) -> Vec<usize> {
    let claim = |place: usize| claim(&search.tree.nodes[place].candidate, search.settings);
    let mut members = cluster.members.clone();
    members.sort_by(|a, b| claim(*b).total_cmp(&claim(*a)));
    members
}

fn claim(candidate: &Candidate, settings: &Settings) -> f64 {
    candidate.raw_confidence.unwrap_or(settings.unstated)
}

fn candidate(tree: &Tree<'_>, settings: &Settings, cluster: &Cluster, place: usize) -> Candidate {
    let node = &tree.nodes[place];
    let mut candidate = node.candidate.clone();
    let claim = claim(&candidate, settings);
    candidate.raw_confidence =
        Some(confidence(claim, cluster.members.len(), tree.running(), settings.claim_weight));
    candidate.score = Some(tree.value(place));
    candidate.rationale = Some(describe_cluster(tree, cluster));
    candidate.signals.reward = node.reward;
    candidate.signals.samples = count32(tree.running());
    candidate.signals.agreeing = count32(cluster.members.len());
    candidate
}

/// `(agreeing − 1 + w·claim) / (running − 1 + w)`: the stated confidence counts as `w` results
/// beside those of the other statements. A single statement keeps its stated confidence.
fn confidence(claim: f64, agreeing: usize, running: usize, weight: f64) -> f64 {
    let agreeing = agreeing.max(1) as f64;
    let running = running.max(1) as f64;
    clamp01((agreeing - 1.0 + weight * claim) / (running - 1.0 + weight))
}

fn describe_cluster(tree: &Tree<'_>, cluster: &Cluster) -> String {
    let best =
        cluster.members.iter().map(|place| tree.visits_and_mean(*place).1).fold(0.0, f64::max);
    format!("{} of {} results, mean value {best:.2}", cluster.members.len(), tree.running())
}

fn log<H: SolverHost>(
    search: &Search<'_, H>,
    clusters: &[Cluster],
    rank: usize,
    members: &[usize],
) {
    let tree = &search.tree;
    let id = |place: usize| tree.nodes[place].candidate.id.as_str();
    let own = &clusters[rank];
    let first = &clusters[0];
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            search.host.discard(id(*member), &format!("the same result as {}", id(members[0])));
        } else if rank == 0 {
            let rivals = clusters
                .iter()
                .skip(1)
                .filter(|other| level(other.weight) == level(own.weight))
                .count();
            let tie = if rivals > 0 {
                format!("; results with as many: {}", rivals + 1)
            } else {
                String::new()
            };
            search.host.keep(id(*member), &format!("{}{tie}", describe_cluster(tree, own)));
        } else {
            let best = best_first(search, first)[0];
            let why = format!(
                "{}, where {} has {}",
                describe_cluster(tree, own),
                id(best),
                describe_cluster(tree, first)
            );
            search.host.discard(id(*member), &why);
        }
    }
}

fn without_candidate<H: SolverHost>(search: Search<'_, H>) -> Result<Outcome, Failure> {
    if let Some(failure) = search.ended {
        return Err(failure);
    }
    let why = match (search.abstained, search.last_wrong) {
        (Some(why), None) => why,
        (_, last) => {
            let last = last.unwrap_or_else(|| "the model gave no statement".to_owned());
            format!(
                "no statement did after {} of {} rollouts: {last}",
                search.asked, search.settings.rollouts
            )
        }
    };
    Ok(nothing(search.host, &why))
}
