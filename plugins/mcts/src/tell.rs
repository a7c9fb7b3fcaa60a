//! The outcome, and what people are told of it.

use serde_json::json;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, line};

use crate::Bounds;
use crate::search::Search;
use crate::tree::{Cluster, Tree, level};

/// One candidate for each result, best first. With nothing to return, an outage or a spent budget is a failure, and anything
/// else an honest empty outcome.
pub(crate) fn outcome<H: SolverHost>(search: Search<'_, H>) -> Result<Outcome, Failure> {
    let clusters = search.tree.clusters();
    if clusters.is_empty() {
        return nothing(search);
    }
    if let Some(failure) = &search.ended {
        let note = format!("{}: going on with what there is: {}", search.task.id, failure.message);
        search.host.note(Level::Warn, &note);
    }
    let mut candidates = Vec::new();
    for (rank, cluster) in clusters.iter().enumerate() {
        let members = best_first(&search, cluster);
        let best = members.first().map(|member| candidate(&search.tree, search.bounds, cluster, *member));
        candidates.extend(best);
        tell(&search, &clusters, rank, &members);
    }
    Ok(Outcome { candidates, ..Outcome::default() })
}

/// The most confident member first, and of several the earliest.
fn best_first<H>(search: &Search<'_, H>, cluster: &Cluster) -> Vec<usize> {
    let claim = |place: usize| claim(&search.tree.nodes[place].candidate, search.bounds);
    let mut members = cluster.members.clone();
    members.sort_by(|a, b| claim(*b).total_cmp(&claim(*a)));
    members
}

fn claim(candidate: &Candidate, bounds: &Bounds) -> f64 {
    candidate.raw_confidence.unwrap_or(bounds.unstated)
}

fn candidate(tree: &Tree<'_>, bounds: &Bounds, cluster: &Cluster, place: usize) -> Candidate {
    let node = &tree.nodes[place];
    let mut candidate = node.candidate.clone();
    let claim = claim(&candidate, bounds);
    candidate.raw_confidence = Some(confidence(claim, cluster.members.len(), tree.running(), bounds.claim_weight));
    candidate.score = Some(tree.value(place));
    candidate.rationale = Some(told(tree, cluster));
    candidate.signals.reward = node.ran().and_then(|ran| ran.reward);
    candidate.signals.samples = u32::try_from(tree.running()).unwrap_or(u32::MAX);
    candidate.signals.agreeing = u32::try_from(cluster.members.len()).unwrap_or(u32::MAX);
    candidate
}

/// `(agreeing − 1 + w·claim) / (running − 1 + w)`: the claim counts as `w` results beside those of the other statements. One statement
/// alone keeps its claim.
fn confidence(claim: f64, agreeing: usize, running: usize, weight: f64) -> f64 {
    let (agreeing, running) = (agreeing.max(1) as f64, running.max(1) as f64);
    clamp01((agreeing - 1.0 + weight * claim) / (running - 1.0 + weight))
}

fn told(tree: &Tree<'_>, cluster: &Cluster) -> String {
    let best = cluster.members.iter().map(|place| tree.visits_and_mean(*place).1).fold(0.0, f64::max);
    format!("{} of {} results, mean value {best:.2}", cluster.members.len(), tree.running())
}

fn tell<H: SolverHost>(search: &Search<'_, H>, clusters: &[Cluster], rank: usize, members: &[usize]) {
    let tree = &search.tree;
    let id = |place: usize| tree.nodes[place].candidate.id.as_str();
    let (own, first) = (&clusters[rank], &clusters[0]);
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            search.host.discard(id(*member), &format!("the same result as {}", id(members[0])));
        } else if rank == 0 {
            let rivals = clusters.iter().skip(1).filter(|other| level(other.weight) == level(own.weight)).count();
            let tie = if rivals > 0 { format!("; results with as many: {}", rivals + 1) } else { String::new() };
            search.host.keep(id(*member), &format!("{}{tie}", told(tree, own)));
        } else {
            let best = best_first(search, first)[0];
            let why = format!("{}, where {} has {}", told(tree, own), id(best), told(tree, first));
            search.host.discard(id(*member), &why);
        }
    }
}

fn nothing<H: SolverHost>(search: Search<'_, H>) -> Result<Outcome, Failure> {
    if let Some(failure) = search.ended {
        return Err(failure);
    }
    let why = match (search.abstained, search.last_wrong) {
        (Some(why), None) => why,
        (_, last) => {
            let last = last.unwrap_or_else(|| "the model gave no statement".to_owned());
            format!("no statement did after {} of {} rollouts: {last}", search.asked, search.bounds.rollouts)
        }
    };
    // The host tells the user the last warning when a task comes to nothing; the clarifier reads the memo.
    search.host.note(Level::Warn, &why);
    Ok(Outcome { memo: Some(json!({ "reason": line(&why, 600) }).to_string()), ..Outcome::default() })
}
