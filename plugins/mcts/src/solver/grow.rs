//! New statements on their way through the database and the reward into the tree.

use serde_json::json;
use syrch_plugin::attempt::{
    Ended, Statement, add_errors, candidate_id, judge_candidates, rejection,
};
use syrch_plugin::prelude::*;

use crate::prompts::Expansion;
use crate::solver::search::Search;
use crate::solver::tree::{ROOT, Tree};

/// A statement on its way into the tree.
pub(crate) struct Grown {
    pub(crate) parent: usize,
    pub(crate) expansion: Expansion,
    pub(crate) statement: Statement,
}

impl<H: SolverHost> Search<'_, H> {
    /// Adds statements to the tree. Each text runs and is judged once.
    pub(crate) fn grow(&mut self, grown: Vec<Grown>) {
        // What stopped the database is in the trials, too.
        let _ = self.trials.run(self.host, grown.iter().map(|grown| grown.statement.sql.as_str()));
        let parents: Vec<usize> = grown.iter().map(|grown| grown.parent).collect();
        let candidates: Vec<Candidate> =
            grown.into_iter().map(|grown| self.candidate(grown)).collect();
        for candidate in &candidates {
            self.host.propose(candidate);
        }
        self.judge(&candidates);
        for (parent, candidate) in parents.into_iter().zip(candidates) {
            let Some(trial) = self.trials.get(&candidate.sql).cloned() else { continue };
            if let Some(failure) = trial.stopped {
                self.host.discard(&candidate.id, &failure.message);
                self.ended.get_or_insert(failure);
                continue;
            }
            let (ended, reward) = match self.judgements.get(&candidate.sql) {
                Some(Err(wrong)) => (Ended::Failed(wrong.clone()), None),
                Some(Ok(reward)) => (trial.ended, *reward),
                None => (trial.ended, None),
            };
            self.put(parent, candidate, trial.signals, ended, reward);
        }
    }

    /// The candidate of a statement: its parent is that in the tree, and its signals count the
    /// errors from the root to it.
    fn candidate(&mut self, grown: Grown) -> Candidate {
        let Grown { parent, expansion, statement } = grown;
        self.numbered += 1;
        let own = self.trials.get(&statement.sql).map(|trial| trial.signals.clone());
        let mut signals = own.unwrap_or_default();
        for place in self.tree.path(parent) {
            add_errors(&mut signals, &self.tree.nodes[place].own);
        }
        signals.attempts = self.tree.nodes[parent].depth + 1;
        signals.max_attempts = self.settings.depth;
        let parents = self.id_of(parent).map(str::to_owned).into_iter().collect();
        statement.candidate(
            candidate_id(&self.task.id, self.numbered),
            parents,
            expansion.name(),
            signals,
        )
    }

    /// Has all new results judged together. A rejected one counts as failed.
    fn judge(&mut self, candidates: &[Candidate]) {
        let mut rivals: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            let has_run =
                self.trials.get(&candidate.sql).is_some_and(|trial| trial.ended.ran().is_some());
            let is_known = self.judgements.contains_key(&candidate.sql);
            if has_run && !is_known && !rivals.iter().any(|rival| rival.sql == candidate.sql) {
                rivals.push(candidate.clone());
            }
        }
        if rivals.is_empty() {
            return;
        }
        let mut verdicts = judge_candidates(self.host, self.task, &rivals).into_iter();
        for rival in rivals {
            let judgement = match verdicts.next() {
                Some(Verdict::Rejected(opinion)) => Err(rejection(&opinion)),
                Some(Verdict::Accepted(opinion)) => Ok(Some(opinion.score)),
                Some(Verdict::Unavailable(_)) | None => Ok(None),
            };
            self.judgements.insert(rival.sql, judgement);
        }
    }

    /// Adds a node and logs the values from the node up to the root.
    fn put(
        &mut self,
        parent: usize,
        candidate: Candidate,
        own: Signals,
        ended: Ended,
        reward: Option<f64>,
    ) {
        if let Some(wrong) = ended.wrong() {
            self.host.discard(&candidate.id, wrong);
            self.last_wrong = Some(wrong.to_owned());
        }
        let place = self.tree.add(parent, candidate, own, ended, reward);
        let tree = &self.tree;
        let values = json!({
            "value": tree.value(place), "agreeing": tree.agreeing(place), "running": tree.running()
        });
        self.host.event(self.id_of(place), "evaluate", &values);
        self.host.event(self.id_of(place), "back-up", &values_to_root(tree, place));
    }
}

/// The visits and means from a node up to the root.
fn values_to_root(tree: &Tree<'_>, place: usize) -> serde_json::Value {
    let up = tree.path(place).into_iter().rev().chain([ROOT]);
    json!({ "path": up.map(|place: usize| {
        let (visits, mean) = tree.visits_and_mean(place);
        json!({ "id": tree.nodes[place].candidate.id, "visits": visits, "mean": mean })
    }).collect::<Vec<_>>() })
}
