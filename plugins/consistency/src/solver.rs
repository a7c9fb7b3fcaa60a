//! Writes the request of each sample, decides when there are enough, and reads the votes.

use syrch_plugin::brief::Brief;
use syrch_plugin::draws::{Cluster, Draw, Pool, Sampler, Standing, Voter, elect, request};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count, count32};

use crate::{Consistency, Settings};

impl SolverRole for Consistency {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let brief = Brief::new(host, &self.settings, problem, catalog, task, parents);
        let attempts = host.attempts();
        let is_chain = self.settings.repair && self.settings.agree == 1;
        let most =
            if is_chain { self.settings.samples.min(attempts) } else { self.settings.samples };
        elect(
            host,
            task,
            most,
            self.settings.overflow_rows,
            &mut Samples::new(&self.settings, attempts, most, brief),
        )
    }
}

/// The samples of one task.
pub(crate) struct Samples<'a> {
    settings: &'a Settings,
    /// The most statements of a chain of repairs.
    attempts: u32,
    /// The most samples of the task.
    most: u32,
    brief: Brief<'a>,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(settings: &'a Settings, attempts: u32, most: u32, brief: Brief<'a>) -> Self {
        Self { settings, attempts, most, brief }
    }

    /// The groups that vote. What would be repaired has no vote.
    fn voting(&self, pool: &Pool) -> Vec<Cluster> {
        let empty = self.settings.empty_counts;
        if self.settings.repair { pool.sound_clusters(empty) } else { pool.clusters(empty) }
    }

    /// The groups that vote; if there are none, results with faults, and then those without rows.
    fn clusters(&self, pool: &Pool) -> Vec<Cluster> {
        let all =
            [self.voting(pool), pool.clusters(self.settings.empty_counts), pool.clusters(true)];
        all.into_iter().find(|clusters| !clusters.is_empty()).unwrap_or_default()
    }

    /// The number of samples among which a result is elected: those that ran, and where each has
    /// one try also those that failed, which agree with nothing.
    fn voters(&self, pool: &Pool) -> u32 {
        if self.settings.repair { pool.ran() } else { count32(pool.draws().len()) }
    }

    /// `(agreeing − 1 + w·claim) / (voters − 1 + w)`: the mean confidence that the model states for
    /// the members counts as `w` results beside those of the other samples. A single sample keeps
    /// its stated confidence.
    fn confidence(&self, pool: &Pool, cluster: &Cluster) -> f64 {
        let claims: Vec<f64> = cluster
            .members
            .iter()
            .filter_map(|number| pool.draw(*number))
            .map(|draw| self.claim(draw))
            .collect();
        let agreeing = claims.len().max(1) as f64;
        let weight = self.settings.claim_weight;
        let claim = claims.iter().sum::<f64>() / agreeing;
        clamp01(
            (agreeing - 1.0 + weight * claim)
                / (f64::from(self.voters(pool).max(1)) - 1.0 + weight),
        )
    }

    fn claim(&self, draw: &Draw) -> f64 {
        draw.confidence.unwrap_or(self.settings.unstated)
    }
}

impl Sampler for Samples<'_> {
    fn request(&mut self, number: u32, pool: &Pool) -> Request {
        let empty = self.settings.empty_counts;
        let tried = if self.settings.repair {
            pool.unsound_lately(empty, self.attempts)
        } else {
            Vec::new()
        };
        let temperature = Some(self.settings.temperature)
            .filter(|heat| self.settings.samples == 1 || *heat > 0.0);
        request(&self.brief, &tried, number, temperature)
    }

    fn in_rounds(&self) -> bool {
        self.settings.repair
    }

    fn missing(&self, pool: &Pool) -> u32 {
        let ended = count32(pool.draws().len());
        let left = self.most.saturating_sub(ended);
        if self.settings.agree == 0 {
            return left;
        }
        let largest = self.voting(pool).first().map_or(0, |cluster| cluster.members.len());
        self.settings.agree.saturating_sub(count32(largest)).min(left)
    }

    fn shorten(&mut self) -> bool {
        self.brief.shorten()
    }
}

impl Voter for Samples<'_> {
    fn standings(&self, pool: &Pool) -> Vec<Standing> {
        let voters = self.voters(pool);
        let noun = if voters > pool.ran() { "sample" } else { "result" };
        let all = count(u64::from(voters), noun);
        self.clusters(pool)
            .into_iter()
            .map(|cluster: Cluster| Standing {
                confidence: self.confidence(pool, &cluster),
                reason: format!("{} of {all}", cluster.members.len()),
                cluster,
            })
            .collect()
    }
}
