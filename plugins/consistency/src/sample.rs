//! What is asked for each sample, when there are enough, and what the votes say.

use syrch_plugin::brief::Brief;
use syrch_plugin::draws::{Cluster, Draw, Pool, Sampler, Standing, Voter, request};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count};

use crate::Gate;

/// The samples of one task.
pub(crate) struct Samples<'a> {
    gate: &'a Gate,
    /// Statements of a chain of repairs at the most.
    attempts: u32,
    /// Samples at the most.
    most: u32,
    brief: Brief<'a>,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(gate: &'a Gate, attempts: u32, most: u32, brief: Brief<'a>) -> Self {
        Self { gate, attempts, most, brief }
    }

    /// The groups that vote; results without rows when there are no others.
    fn clusters(&self, pool: &Pool) -> Vec<Cluster> {
        let voting = pool.clusters(self.gate.empty_counts);
        if voting.is_empty() { pool.clusters(true) } else { voting }
    }

    /// `(agreeing − 1 + w·claim) / (ran − 1 + w)`: what the model claims of the members, on average, counts as `w` results beside those
    /// of the other samples that ran. One sample alone keeps its claim.
    fn confidence(&self, pool: &Pool, cluster: &Cluster) -> f64 {
        let claims: Vec<f64> =
            cluster.members.iter().filter_map(|number| pool.draw(*number)).map(|draw| self.claim(draw)).collect();
        let agreeing = claims.len().max(1) as f64;
        let weight = self.gate.claim_weight;
        let claim = claims.iter().sum::<f64>() / agreeing;
        clamp01((agreeing - 1.0 + weight * claim) / (f64::from(pool.ran().max(1)) - 1.0 + weight))
    }

    fn claim(&self, draw: &Draw) -> f64 {
        draw.confidence.unwrap_or(self.gate.unstated)
    }
}

impl Sampler for Samples<'_> {
    fn request(&mut self, number: u32, pool: &Pool) -> Request {
        let empty = self.gate.empty_counts;
        let tried = if self.gate.repair { pool.tried_lately(empty, self.attempts) } else { Vec::new() };
        let temperature = Some(self.gate.temperature).filter(|heat| self.gate.samples > 1 && *heat > 0.0);
        request(&self.brief, &tried, number, temperature)
    }

    fn in_rounds(&self) -> bool {
        self.gate.repair
    }

    fn missing(&self, pool: &Pool) -> u32 {
        let ended = u32::try_from(pool.draws().len()).unwrap_or(u32::MAX);
        let left = self.most.saturating_sub(ended);
        if self.gate.agree == 0 {
            return left;
        }
        let largest = pool.clusters(self.gate.empty_counts).first().map_or(0, |cluster| cluster.members.len());
        self.gate.agree.saturating_sub(u32::try_from(largest).unwrap_or(u32::MAX)).min(left)
    }

    fn shorten(&mut self) -> bool {
        self.brief.shorten()
    }
}

impl Voter for Samples<'_> {
    fn standings(&self, pool: &Pool) -> Vec<Standing> {
        let ran = count(u64::from(pool.ran()), "result");
        let standing = |cluster: Cluster| Standing {
            confidence: self.confidence(pool, &cluster),
            told: format!("{} of {ran}", cluster.members.len()),
            cluster,
        };
        self.clusters(pool).into_iter().map(standing).collect()
    }
}
