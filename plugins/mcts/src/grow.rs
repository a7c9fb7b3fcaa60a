//! New statements on their way through the database and the reward into the tree.

use std::rc::Rc;

use serde_json::json;
use syrch_plugin::attempt::{Trial, candidate_id, failed, look};
use syrch_plugin::prelude::*;
use syrch_plugin::text::line;

use crate::search::{Search, Stated};
use crate::tree::{Came, ROOT, Ran, Tree};

/// A statement's text and what came of it.
struct Tested {
    sql: String,
    /// Its own counts.
    own: Signals,
    /// None: no statement can do now, and the failure says why.
    came: Result<Came, Failure>,
}

impl<H: SolverHost> Search<'_, H> {
    /// Takes statements into the tree. Those of the same text run once.
    pub(crate) fn grow(&mut self, stated: Vec<Stated>) {
        let mut tested = self.test(&stated);
        let candidates: Vec<Candidate> = stated.iter().map(|stated| self.candidate(stated, &tested)).collect();
        for candidate in &candidates {
            self.host.propose(candidate);
        }
        self.judge(&candidates, &mut tested);
        for (stated, candidate) in stated.into_iter().zip(candidates) {
            let Some(test) = tested.iter().find(|test| test.sql == candidate.sql) else { continue };
            match &test.came {
                Ok(came) => self.put(stated.parent, candidate, test.own.clone(), came.clone()),
                Err(failure) => {
                    self.host.discard(&candidate.id, &failure.message);
                    self.ended.get_or_insert(failure.clone());
                }
            }
        }
    }

    /// Checks and runs each text once; a text that is in the tree keeps what it found there.
    fn test(&self, stated: &[Stated]) -> Vec<Tested> {
        let mut tested: Vec<Tested> = Vec::new();
        let mut running: Vec<(usize, Facts)> = Vec::new();
        for stated in stated {
            let sql = stated.said.sql.clone();
            if tested.iter().any(|test| test.sql == sql) {
                continue;
            }
            if let Some((_, twin)) = self.tree.statements().find(|(_, node)| node.candidate.sql == sql) {
                tested.push(Tested { sql, own: twin.own.clone(), came: Ok(twin.came.clone()) });
                continue;
            }
            let mut own = Signals::default();
            let came = match self.host.check(&sql) {
                Ok(facts) => {
                    running.push((tested.len(), facts));
                    Ok(Came::Failed(String::new()))
                }
                Err(error) => came_of(&error, &mut own),
            };
            tested.push(Tested { sql, own, came });
        }
        let texts: Vec<String> = running.iter().map(|(place, _)| tested[*place].sql.clone()).collect();
        let ends = if texts.is_empty() { Vec::new() } else { self.host.run_all(&texts) };
        for ((place, facts), end) in running.into_iter().zip(ends) {
            let test = &mut tested[place];
            test.came = match end {
                Ok(results) => Ok(Came::Ran(Rc::new(self.ran(results, facts, &mut test.own)))),
                Err(error) => came_of(&error, &mut test.own),
            };
        }
        tested
    }

    fn ran(&self, results: ResultSet, facts: Facts, own: &mut Signals) -> Ran {
        let profile = results.profile();
        let doubts = look(self.bounds.overflow_rows, &profile, own);
        // A host that knows no fingerprint leaves each text its own result.
        let fingerprint = results.fingerprint(&Equality::Bag).unwrap_or(facts.normalized);
        Ran { results, profile, doubts, fingerprint, reward: None }
    }

    /// The candidate of a statement: its parent is the tree's, and its signals count the errors on the way to it.
    fn candidate(&mut self, stated: &Stated, tested: &[Tested]) -> Candidate {
        self.numbered += 1;
        let own = tested.iter().find(|test| test.sql == stated.said.sql).map(|test| test.own.clone());
        let mut signals = own.unwrap_or_default();
        for place in self.tree.path(stated.parent) {
            let before = &self.tree.nodes[place].own;
            signals.syntax_errors += before.syntax_errors;
            signals.schema_errors += before.schema_errors;
            signals.execution_errors += before.execution_errors;
        }
        signals.attempts = self.tree.nodes[stated.parent].depth + 1;
        signals.max_attempts = self.bounds.depth;
        signals.logprob = stated.reply.logprob;
        let usage = &stated.reply.usage;
        let tokens = f64::from(usage.input_tokens) + f64::from(usage.output_tokens);
        signals.extra.push(("tokens".to_owned(), tokens));
        Candidate {
            id: candidate_id(&self.task.id, self.numbered),
            parents: self.id_of(stated.parent).map(str::to_owned).into_iter().collect(),
            origin: stated.how.name().to_owned(),
            sql: stated.said.sql.clone(),
            raw_confidence: stated.said.confidence,
            signals,
            ..Candidate::default()
        }
    }

    /// Asks the reward about all new results together. What it rejects has failed.
    fn judge(&self, candidates: &[Candidate], tested: &mut [Tested]) {
        let is_new = |sql: &str| !self.tree.statements().any(|(_, node)| node.candidate.sql == sql);
        let mut rivals: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            let has_run = tested.iter().any(|test| test.sql == candidate.sql && matches!(test.came, Ok(Came::Ran(_))));
            if has_run && is_new(&candidate.sql) && !rivals.iter().any(|rival| rival.sql == candidate.sql) {
                rivals.push(candidate.clone());
            }
        }
        if rivals.is_empty() {
            return;
        }
        let verdicts = self.host.reward(&rivals).unwrap_or_else(|error| {
            let why = port_failure(&error).message;
            self.host.note(Level::Info, &format!("{}: no result was judged: {why}", self.task.id));
            Vec::new()
        });
        for (rival, verdict) in rivals.iter().zip(verdicts) {
            let Some(test) = tested.iter_mut().find(|test| test.sql == rival.sql) else { continue };
            match verdict {
                Verdict::Rejected(opinion) => {
                    test.came = Ok(Came::Failed(format!("rejected: {}", line(&opinion.reason, 400))));
                }
                Verdict::Accepted(opinion) => {
                    if let Ok(Came::Ran(ran)) = &mut test.came
                        && let Some(ran) = Rc::get_mut(ran)
                    {
                        ran.reward = Some(opinion.score);
                    }
                }
                // A judge that cannot judge is neither a yes nor a no.
                Verdict::Unavailable(_) => {}
            }
        }
    }

    /// Adds a node and tells how the values stand with it, from the node up.
    fn put(&mut self, parent: usize, candidate: Candidate, own: Signals, came: Came) {
        if let Came::Failed(wrong) = &came {
            self.host.discard(&candidate.id, wrong);
            self.last_wrong = Some(wrong.clone());
        }
        let place = self.tree.add(parent, candidate, own, came);
        let tree = &self.tree;
        let told = json!({ "value": tree.value(place), "agreeing": tree.agreeing(place), "running": tree.running() });
        self.host.event(self.id_of(place), "evaluate", &told);
        self.host.event(self.id_of(place), "back-up", &backed_up(tree, place));
    }
}

/// Visits and means on the way up to the root.
fn backed_up(tree: &Tree<'_>, place: usize) -> serde_json::Value {
    let way = tree.path(place).into_iter().rev().chain([ROOT]);
    let told = |place: usize| {
        let (visits, mean) = tree.visits_and_mean(place);
        json!({ "id": tree.nodes[place].candidate.id, "visits": visits, "mean": mean })
    };
    json!({ "path": way.map(told).collect::<Vec<_>>() })
}

fn came_of(error: &SqlError, own: &mut Signals) -> Result<Came, Failure> {
    match failed(error, own) {
        Trial::Over(failure) => Err(failure),
        Trial::Failed(wrong) => Ok(Came::Failed(wrong)),
        Trial::Ran { .. } => Ok(Came::Failed(String::new())),
    }
}
