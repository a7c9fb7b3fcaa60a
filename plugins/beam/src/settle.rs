//! What becomes of a round's statements: they run side by side, are judged together, and end their paths or are repaired.

use serde_json::json;
use syrch_plugin::attempt::{Trial, failed, look};
use syrch_plugin::prelude::*;
use syrch_plugin::text::line;

use crate::explore::Explorer;
use crate::fit::{Fit, execution_signal};
use crate::path::Found;

/// A path's statement.
pub(crate) struct Stated {
    pub(crate) path: usize,
    pub(crate) candidate: Candidate,
}

/// One that ran.
struct Ran {
    stated: Stated,
    facts: Facts,
    results: ResultSet,
    profile: Profile,
    doubts: Vec<String>,
}

/// Which statements may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that are built on their path's table.
    OwnTable,
    Any,
}

/// Why a statement did not run, or failed.
enum Wrong {
    Sql(SqlError),
    Scope(String),
}

impl<H: SolverHost> Explorer<'_, H> {
    /// Checks and runs statements, and has the results judged.
    pub(crate) fn settle(&mut self, stated: Vec<Stated>, scope: Scope) {
        let ran = self.run(stated, scope);
        self.judge(ran);
    }

    /// When no path came to anything: a statement that runs is better than none, whatever it is built on. The first of each path that was
    /// out of scope runs after all, each text once. (In syrch 0.3.7 the task failed.)
    pub(crate) fn last_resort(&mut self) {
        let mut strays: Vec<Stated> = Vec::new();
        for (index, path) in self.paths.iter_mut().enumerate() {
            let Some(mut candidate) = path.stray.take() else { continue };
            if !strays.iter().any(|stray| stray.candidate.sql == candidate.sql) {
                candidate.rationale = Some(format!("not built on {}", line(&path.primary.table.name, 80)));
                strays.push(Stated { path: index, candidate });
            }
        }
        if !strays.is_empty() {
            let ids: Vec<&str> = strays.iter().map(|stray| stray.candidate.id.as_str()).collect();
            self.host.event(None, "last-resort", &json!({ "candidates": ids }));
            self.settle(strays, Scope::Any);
        }
    }

    /// Tells of a statement that failed its check or its run.
    fn failed(&mut self, path: usize, mut candidate: Candidate, error: &SqlError) {
        match failed(error, &mut candidate.signals) {
            Trial::Over(failure) => {
                self.drop(path, candidate, &failure.message);
                self.ended.get_or_insert(failure);
            }
            Trial::Failed(wrong) => self.drop(path, candidate, &wrong),
            Trial::Ran { .. } => {}
        }
    }

    /// Tells of a statement that did not do, and leaves it to be repaired.
    fn drop(&mut self, path: usize, candidate: Candidate, wrong: &str) {
        self.host.propose(&candidate);
        self.host.discard(&candidate.id, wrong);
        self.remember(path, &candidate.signals);
        self.paths[path].fail(&candidate.sql, wrong);
    }

    /// Errors add up over a path's attempts; what a result looked like is that result's alone.
    fn remember(&mut self, path: usize, signals: &Signals) {
        let own = &mut self.paths[path].signals;
        own.syntax_errors = signals.syntax_errors;
        own.schema_errors = signals.schema_errors;
        own.execution_errors = signals.execution_errors;
    }

    /// Runs what passes its check and is in scope, all at once, and tells of all in their order.
    fn run(&mut self, stated: Vec<Stated>, scope: Scope) -> Vec<Ran> {
        let checked: Vec<Result<Facts, Wrong>> = stated.iter().map(|stated| self.check(stated, scope)).collect();
        let in_scope = stated.iter().zip(&checked).filter(|(_, checked)| checked.is_ok());
        let texts: Vec<String> = in_scope.map(|(stated, _)| stated.candidate.sql.clone()).collect();
        let ends = if texts.is_empty() { Vec::new() } else { self.host.run_all(&texts) };
        let mut ends = ends.into_iter();
        let mut ran = Vec::new();
        for (mut stated, checked) in stated.into_iter().zip(checked) {
            let ended = checked.and_then(|facts| match ends.next() {
                Some(Ok(results)) => Ok((facts, results)),
                Some(Err(error)) => Err(Wrong::Sql(error)),
                None => Err(Wrong::Scope("it was not run".to_owned())),
            });
            match ended {
                Ok((facts, results)) => {
                    let profile = results.profile();
                    let doubts = look(self.beam.overflow_rows, &profile, &mut stated.candidate.signals);
                    self.host.propose(&stated.candidate);
                    ran.push(Ran { stated, facts, results, profile, doubts });
                }
                Err(Wrong::Sql(error)) => self.failed(stated.path, stated.candidate, &error),
                Err(Wrong::Scope(wrong)) => {
                    stated.candidate.signals.schema_errors += 1;
                    self.paths[stated.path].stray.get_or_insert_with(|| stated.candidate.clone());
                    self.drop(stated.path, stated.candidate, &wrong);
                }
            }
        }
        ran
    }

    fn check(&self, stated: &Stated, scope: Scope) -> Result<Facts, Wrong> {
        let facts = self.host.check(&stated.candidate.sql).map_err(Wrong::Sql)?;
        match self.paths[stated.path].out_of_scope(&facts) {
            Some(wrong) if scope == Scope::OwnTable => Err(Wrong::Scope(wrong)),
            _ => Ok(facts),
        }
    }

    /// Asks the reward about all results of a round together.
    fn judge(&mut self, ran: Vec<Ran>) {
        if ran.is_empty() {
            return;
        }
        let candidates: Vec<Candidate> = ran.iter().map(|ran| ran.stated.candidate.clone()).collect();
        let verdicts = self.host.reward(&candidates).unwrap_or_else(|error| {
            let why = port_failure(&error).message;
            self.host.note(Level::Info, &format!("{}: no result was judged: {why}", self.task.id));
            Vec::new()
        });
        let mut verdicts = verdicts.into_iter();
        for ran in ran {
            match verdicts.next() {
                Some(Verdict::Rejected(opinion)) => {
                    let wrong = format!("rejected: {}", line(&opinion.reason, 400));
                    self.host.discard(&ran.stated.candidate.id, &wrong);
                    self.paths[ran.stated.path].fail(&ran.stated.candidate.sql, wrong);
                }
                Some(Verdict::Accepted(opinion)) => self.keep(ran, Some(opinion.score)),
                // A judge that cannot judge is neither a yes nor a no.
                Some(Verdict::Unavailable(_)) | None => self.keep(ran, None),
            }
        }
    }

    /// A result with rows is viable and ends its path; one without is kept in case nothing better comes, and tried again.
    fn keep(&mut self, ran: Ran, reward: Option<f64>) {
        let Ran { stated: Stated { path, mut candidate }, facts, results, profile, doubts } = ran;
        // `PathScore.total` of syrch 0.3.7, which the built-in reward gives too.
        let quality = reward.unwrap_or_else(|| 0.5 + 0.5 * execution_signal(&candidate.signals));
        let fit = Fit::of(&self.needs, self.catalog, &facts, &profile, quality);
        let unstated = if profile.rows > 0 { self.beam.unstated_with_rows } else { self.beam.unstated };
        candidate.raw_confidence = Some(candidate.raw_confidence.unwrap_or(unstated));
        candidate.signals.reward = reward;
        candidate.score = Some(if profile.rows > 0 { fit.posterior() } else { 0.0 });
        self.host.event(Some(&candidate.id), "fit", &json!({ "signals": fit.signals(), "rows": profile.rows }));
        // A host that knows no fingerprint leaves each text its own result.
        let fingerprint = results.fingerprint(&Equality::Bag).unwrap_or(facts.normalized);
        let path = &mut self.paths[path];
        if profile.rows > 0 {
            path.viable = Some(Found { candidate, fit, fingerprint, profile });
        } else {
            path.fail(&candidate.sql, doubts.join("; "));
            path.empty = Some(Found { candidate, fit, fingerprint, profile });
        }
    }
}
