//! The weighted vote: what is asked for, when sampling may stop, and which result leads.

pub(crate) mod evidence;
pub(crate) mod probes;

use std::collections::BTreeMap;

use syrch_plugin::attempt::candidate_id;
use syrch_plugin::brief::{Brief, Tried};
use syrch_plugin::draws::{Cluster, Draw, Pool, Sampler, Standing, Voter, elect, request};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, count};

use crate::solver::evidence::{Evidence, Looker};
use crate::{Discern, Settings};

impl SolverRole for Discern {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let settings = &self.settings;
        let brief = Brief::new(host, settings, problem, catalog, task, parents);
        let mut votes = Votes::new(host, settings, catalog, task, brief);
        elect(host, task, settings.samples, settings.overflow_rows, &mut votes)
    }
}

/// The votes of one task.
pub(crate) struct Votes<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    task: &'a Task,
    brief: Brief<'a>,
    looker: Looker<'a, H>,
    /// The weight and the evidence of each draw that ran, by its number.
    seen: BTreeMap<u32, (f64, Evidence)>,
}

/// A group of equal results with the sum of its votes.
struct Weighed {
    cluster: Cluster,
    votes: f64,
}

impl<'a, H: Run + Sql + Trace> Votes<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        catalog: &'a Catalog,
        task: &'a Task,
        brief: Brief<'a>,
    ) -> Self {
        let looker = Looker::new(host, catalog, &task.text, settings.probes);
        Self { host, settings, task, brief, looker, seen: BTreeMap::new() }
    }

    fn weight(&self, number: u32) -> f64 {
        self.seen.get(&number).map_or(0.0, |(weight, _)| *weight)
    }

    /// The groups by their votes, the most first; the votes are counted in the weight of the
    /// weightiest draw among them.
    fn weigh_clusters(&self, clusters: Vec<Cluster>) -> Vec<Weighed> {
        let members = clusters.iter().flat_map(|cluster| &cluster.members);
        let unit = members.map(|number| self.weight(*number)).fold(f64::MIN_POSITIVE, f64::max);
        let mut weighed: Vec<Weighed> = clusters
            .into_iter()
            .map(|cluster: Cluster| Weighed {
                votes: cluster.members.iter().map(|number| self.weight(*number) / unit).sum(),
                cluster,
            })
            .collect();
        weighed.sort_by(|a, b| {
            b.votes.total_cmp(&a.votes).then_with(|| a.cluster.first().cmp(&b.cluster.first()))
        });
        weighed
    }

    /// The statements that the next draw repairs: those that failed or whose results have faults.
    fn to_repair(&self, pool: &Pool) -> Vec<Tried> {
        match self.settings.repair {
            true => pool.unsound_lately(false, self.host.attempts()),
            false => Vec::new(),
        }
    }

    /// The lead of the first group over the second. One with faults that are not yet repaired leads
    /// by nothing.
    fn lead(&self, pool: &Pool) -> f64 {
        let weighed = self.weigh_clusters(pool.clusters(false));
        fn votes_at(weighed: &[Weighed], place: usize) -> f64 {
            weighed.get(place).map_or(0.0, |group| group.votes)
        }
        let first = weighed.first().and_then(|group| pool.draw(group.cluster.first())?.ran());
        if first.is_some_and(|ran| !ran.faults.is_empty()) && !self.to_repair(pool).is_empty() {
            return 0.0;
        }
        votes_at(&weighed, 0) - votes_at(&weighed, 1)
    }

    /// `σ(base + share × votes / (all votes + 1))`.
    fn confidence(&self, votes: f64, all: f64) -> f64 {
        let odds =
            self.settings.confidence_base + self.settings.confidence_share * votes / (all + 1.0);
        clamp01(1.0 / (1.0 + (-odds).exp()))
    }

    fn reason(&self, pool: &Pool, group: &Weighed) -> String {
        let agreeing = format!(
            "{} of {}",
            group.cluster.members.len(),
            count(u64::from(pool.ran()), "result")
        );
        let findings = self
            .seen
            .get(&group.cluster.first())
            .map(|(_, evidence)| evidence.describe_findings())
            .unwrap_or_default();
        let against =
            if findings.is_empty() { String::new() } else { format!(", against it: {findings}") };
        format!("{agreeing} weighing {:.2}{against}", group.votes)
    }
}

impl<H: Run + Sql + Trace> Sampler for Votes<'_, H> {
    fn request(&mut self, number: u32, pool: &Pool) -> Request {
        let tried = self.to_repair(pool);
        let temperature =
            Some(self.settings.temperature).filter(|heat| self.settings.samples > 1 && *heat > 0.0);
        request(&self.brief, &tried, number, temperature)
    }

    fn in_rounds(&self) -> bool {
        self.settings.repair
    }

    fn observe(&mut self, draw: &Draw) {
        let Some(ran) = draw.ran() else { return };
        let evidence = self.looker.evidence_of(ran);
        let weight = evidence.weight(self.settings);
        let id = candidate_id(&self.task.id, draw.number);
        self.host.event(Some(&id), "evidence", &evidence.json(weight));
        self.seen.insert(draw.number, (weight, evidence));
    }

    // A draw adds at most one unit to a lead, and a weightier one than all before makes every
    // earlier lead smaller in its units: so this many are needed whatever they bring.
    fn missing(&self, pool: &Pool) -> u32 {
        let left = self
            .settings
            .samples
            .saturating_sub(u32::try_from(pool.draws().len()).unwrap_or(u32::MAX));
        let wanted = (self.settings.lead - self.lead(pool) - 1e-9).ceil().max(0.0);
        left.min(wanted as u32)
    }

    fn shorten(&mut self) -> bool {
        self.brief.shorten()
    }
}

impl<H: Run + Sql + Trace> Voter for Votes<'_, H> {
    fn standings(&self, pool: &Pool) -> Vec<Standing> {
        let voting = pool.clusters(false);
        let weighed =
            self.weigh_clusters(if voting.is_empty() { pool.clusters(true) } else { voting });
        let all: f64 = weighed.iter().map(|group| group.votes).sum();
        weighed
            .into_iter()
            .map(|group: Weighed| Standing {
                confidence: self.confidence(group.votes, all),
                reason: self.reason(pool, &group),
                cluster: group.cluster,
            })
            .collect()
    }
}
