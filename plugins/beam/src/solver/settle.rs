//! The statements of a round: they run concurrently, are judged together, and end their paths or
//! are repaired.

use serde_json::json;
use syrch_plugin::attempt::{Ran, judge_candidates, record_error, rejection};
use syrch_plugin::prelude::*;
use syrch_plugin::text::line;

use crate::solver::explore::Explorer;
use crate::solver::fit::{Fit, execution_signal};
use crate::solver::path::Found;

/// The statement of a path as a candidate.
pub(crate) struct Stated {
    pub(crate) path: usize,
    pub(crate) candidate: Candidate,
}

/// The statements that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Statements that are built on their path's table.
    OwnTable,
    Any,
}

/// The reason why a statement did not run, or failed.
enum Wrong {
    Sql(SqlError),
    Scope(String),
}

impl<H: SolverHost> Explorer<'_, H> {
    /// Checks and runs statements, and has the results judged.
    pub(crate) fn settle(&mut self, stated: Vec<Stated>, scope: Scope) {
        let ran = self.run(stated, scope);
        if !ran.is_empty() {
            self.judge(ran);
        }
    }

    /// Runs the first statement of each path that was out of scope, each text once, after no path
    /// came to anything: a statement that runs is better than none, whatever it is built on. (In
    /// syrch 0.3.7 the task failed.)
    pub(crate) fn last_resort(&mut self) {
        let mut strays: Vec<Stated> = Vec::new();
        for (index, path) in self.paths.iter_mut().enumerate() {
            let Some(mut candidate) = path.stray.take() else { continue };
            if !strays.iter().any(|stray| stray.candidate.sql == candidate.sql) {
                candidate.rationale =
                    Some(format!("not built on {}", line(&path.primary.table.name, 80)));
                strays.push(Stated { path: index, candidate });
            }
        }
        if !strays.is_empty() {
            let ids: Vec<&str> = strays.iter().map(|stray| stray.candidate.id.as_str()).collect();
            self.host.event(None, "last-resort", &json!({ "candidates": ids }));
            self.settle(strays, Scope::Any);
        }
    }

    /// Takes a statement that failed its check or its run.
    fn handle_error(&mut self, path: usize, mut candidate: Candidate, error: &SqlError) {
        match record_error(error, &mut candidate.signals) {
            Ok(wrong) => self.drop(path, &candidate, &wrong),
            Err(failure) => {
                self.drop(path, &candidate, &failure.message);
                self.ended.get_or_insert(failure);
            }
        }
    }

    /// Logs a statement that failed, and leaves it to be repaired.
    fn drop(&mut self, path: usize, candidate: &Candidate, wrong: &str) {
        self.host.propose(candidate);
        self.host.discard(&candidate.id, wrong);
        let chain = &mut self.paths[path].chain;
        // Errors add up over the attempts of a path, while the shape of a result is that result's
        // alone.
        chain.signals.syntax_errors = candidate.signals.syntax_errors;
        chain.signals.schema_errors = candidate.signals.schema_errors;
        chain.signals.execution_errors = candidate.signals.execution_errors;
        chain.fail(&candidate.sql, wrong);
    }

    /// Runs the statements that pass their check and are in scope concurrently, and logs all in
    /// their order.
    fn run(&mut self, stated: Vec<Stated>, scope: Scope) -> Vec<(Stated, Ran)> {
        let checked: Vec<Result<Facts, Wrong>> =
            stated.iter().map(|stated| self.check(stated, scope)).collect();
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
                    let signals = &mut stated.candidate.signals;
                    let result =
                        Ran::new(self.host, facts, results, self.settings.overflow_rows, signals);
                    self.host.propose(&stated.candidate);
                    ran.push((stated, result));
                }
                Err(Wrong::Sql(error)) => self.handle_error(stated.path, stated.candidate, &error),
                Err(Wrong::Scope(wrong)) => {
                    stated.candidate.signals.schema_errors += 1;
                    self.paths[stated.path].stray.get_or_insert_with(|| stated.candidate.clone());
                    self.drop(stated.path, &stated.candidate, &wrong);
                }
            }
        }
        ran
    }

    fn check(&self, stated: &Stated, scope: Scope) -> Result<Facts, Wrong> {
        let facts = self.host.check(&stated.candidate.sql).map_err(Wrong::Sql)?;
        match self.paths[stated.path].out_of_scope(&facts, self.catalog) {
            Some(wrong) if scope == Scope::OwnTable => Err(Wrong::Scope(wrong)),
            _ => Ok(facts),
        }
    }

    /// Has the results of a round judged together.
    fn judge(&mut self, ran: Vec<(Stated, Ran)>) {
        let candidates: Vec<Candidate> =
            ran.iter().map(|(stated, _)| stated.candidate.clone()).collect();
        let mut verdicts = judge_candidates(self.host, self.task, &candidates).into_iter();
        for (stated, ran) in ran {
            match verdicts.next() {
                Some(Verdict::Rejected(opinion)) => {
                    let wrong = rejection(&opinion);
                    self.host.discard(&stated.candidate.id, &wrong);
                    self.paths[stated.path].chain.fail(&stated.candidate.sql, wrong);
                }
                Some(Verdict::Accepted(opinion)) => self.take(stated, ran, Some(opinion.score)),
                Some(Verdict::Unavailable(_)) | None => self.take(stated, ran, None),
            }
        }
    }

    /// A result with rows and without faults is viable and ends its path, as does the last one with
    /// rows. Any other is the path's last resort, and its statement is repaired.
    fn take(&mut self, stated: Stated, ran: Ran, reward: Option<f64>) {
        let Stated { path, mut candidate } = stated;
        let wrong = ran.to_repair(false);
        let raw_confidence = candidate.raw_confidence.unwrap_or(if ran.profile.rows > 0 {
            self.settings.unstated_with_rows
        } else {
            self.settings.unstated
        });
        candidate.raw_confidence = Some(ran.limit(raw_confidence));
        let Ran { facts, profile, fingerprint, .. } = ran;
        // `PathScore.total` of syrch 0.3.7, which is also the score of the built-in reward.
        let quality = reward.unwrap_or_else(|| 0.5 + 0.5 * execution_signal(&candidate.signals));
        let fit = Fit::compare(&self.needs, self.catalog, &facts, &profile, quality);
        candidate.signals.reward = reward;
        candidate.score = Some(if profile.rows > 0 { fit.posterior() } else { 0.0 });
        self.host.event(
            Some(&candidate.id),
            "fit",
            &json!({ "signals": fit.signals(), "rows": profile.rows }),
        );
        let path = &mut self.paths[path];
        let is_last = path.chain.signals.attempts >= path.chain.signals.max_attempts;
        match wrong.filter(|_| !is_last || profile.rows == 0) {
            None => path.viable = Some(Found { candidate, fit, fingerprint, profile }),
            Some(wrong) => {
                path.chain.fail(&candidate.sql, wrong);
                if profile.rows > 0
                    || path.unsound.as_ref().is_none_or(|known| known.profile.rows == 0)
                {
                    path.unsound = Some(Found { candidate, fit, fingerprint, profile });
                }
            }
        }
    }
}
