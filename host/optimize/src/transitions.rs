//! The transitions: the result of a step changes the state of an optimization.

use syrch_core::ports::{Admitted, CANDIDATE, Compared, TOO_MANY_ROWS, Timing, UNSUPPORTED_TYPE};
use syrch_core::roles::{Proposal, Trial};
use syrch_core::{Column, SqlError, SqlErrorKind};

use crate::machine::Phase;
use crate::{Fed, IterationState, Optimization, OutOfTurn, Outcome, Proposed, is_faster};

/// The reason why the versions of the data may differ.
const WRITTEN: &str = "the database was written to during the optimization";

impl Optimization {
    /// Takes the result of the present step.
    ///
    /// # Errors
    /// When it is no answer to that step; then nothing has changed.
    pub fn feed(&mut self, fed: Fed) -> Result<(), OutOfTurn> {
        match (self.phase, fed) {
            (Phase::Admit, Fed::Admitted(found)) => self.original_admitted(found),
            (Phase::FirstVersion | Phase::Version | Phase::LastVersion, Fed::Version(found)) => {
                self.take_version(found)
            }
            (
                Phase::FirstSnapshot | Phase::CandidateSnapshot | Phase::LastSnapshot,
                Fed::Snapshot(found),
            ) => {
                self.snapshot_taken(found);
            }
            (Phase::Columns, Fed::Columns(found)) => self.original_columns(found),
            (Phase::Size, Fed::Size(found)) => match found {
                Ok(size) => {
                    self.size = size;
                    self.phase = Phase::Baseline;
                }
                Err(error) if is_rule(&error, TOO_MANY_ROWS) => {
                    self.end(Outcome::UnsupportedTooLarge, &error)
                }
                Err(error) => self.end(Outcome::Error, &error),
            },
            (
                Phase::Baseline
                | Phase::Noise
                | Phase::WarmBest
                | Phase::WarmCandidate
                | Phase::Round
                | Phase::WarmOriginal
                | Phase::WarmLast
                | Phase::Pairs,
                Fed::Time(found),
            ) => self.take_timing(found),
            (Phase::Explain, Fed::Plan(found)) => match found {
                Ok(plan) => {
                    self.before = Some(plan.clone());
                    self.best_plan = Some(plan);
                    self.phase = Phase::Propose;
                }
                Err(error) => self.end(Outcome::Error, &error),
            },
            (Phase::ExplainBest, Fed::Plan(found)) => {
                // A statement that ran is verified, whether the engine shows its plan or not.
                if let Ok(plan) = found {
                    self.best_plan = Some(plan);
                }
                self.next_proposal();
            }
            (Phase::Propose, Fed::Proposed(proposed)) => self.take_proposal(proposed),
            (Phase::AdmitCandidate, Fed::Admitted(found)) => self.candidate_admitted(found),
            (Phase::CandidateColumns, Fed::Columns(found)) => self.candidate_columns(found),
            (Phase::Compare, Fed::Compared(found)) => self.take_comparison(found),
            (Phase::Copy(number), Fed::OnCopy(found)) => self.take_copy_comparison(number, found),
            (Phase::LastCompare, Fed::Compared(found)) => match found {
                Ok(Compared::Equal(_)) => self.phase = Phase::WarmOriginal,
                Ok(_) => self
                    .end_with(Outcome::Error, "the results were equal before, and are so no more"),
                Err(error) => self.end(Outcome::Error, &error),
            },
            _ => return Err(OutOfTurn { step: self.step() }),
        }
        Ok(())
    }

    fn end(&mut self, outcome: Outcome, error: &SqlError) {
        self.end_with(outcome, &describe_error(error));
    }

    fn end_with(&mut self, outcome: Outcome, reason: &str) {
        self.ending = Some((outcome, reason.to_owned()));
        self.phase = Phase::Done;
    }

    fn original_admitted(&mut self, found: Result<Admitted, SqlError>) {
        match found {
            Ok(admitted) => {
                self.best = Some(admitted.clone());
                self.original = Some(admitted);
                self.phase = Phase::FirstVersion;
            }
            Err(error) if is_outage(&error) || error.kind == SqlErrorKind::Timeout => {
                self.end(Outcome::Error, &error)
            }
            Err(error) if is_rule(&error, UNSUPPORTED_TYPE) => {
                self.end(Outcome::UnsupportedTypes, &error)
            }
            Err(error) => self.end(Outcome::UnsupportedSafety, &error),
        }
    }

    fn take_version(&mut self, found: Result<Option<String>, SqlError>) {
        let version = match found {
            Ok(version) => version,
            Err(error) => return self.end(Outcome::Error, &error),
        };
        match self.phase {
            Phase::FirstVersion => {
                self.version = version;
                self.phase = Phase::FirstSnapshot;
            }
            _ if self.version != version => self.end_with(Outcome::Error, WRITTEN),
            Phase::Version => self.close(),
            _ => self.phase = Phase::Done,
        }
    }

    fn snapshot_taken(&mut self, found: Result<(), SqlError>) {
        match (found, self.phase) {
            (Err(error), _) => self.end(Outcome::Error, &error),
            (Ok(()), Phase::FirstSnapshot) => self.phase = Phase::Columns,
            (Ok(()), Phase::LastSnapshot) => self.phase = Phase::LastCompare,
            (Ok(()), _) => self.phase = Phase::CandidateColumns,
        }
    }

    fn original_columns(&mut self, found: Result<Vec<Column>, SqlError>) {
        match found {
            Ok(columns) => {
                self.columns = columns;
                self.phase = Phase::Size;
            }
            Err(error) if is_rule(&error, UNSUPPORTED_TYPE) => {
                self.end(Outcome::UnsupportedTypes, &error)
            }
            Err(error) => self.end(Outcome::Error, &error),
        }
    }

    fn take_timing(&mut self, found: Result<Timing, SqlError>) {
        let is_candidate = self.phase == Phase::WarmCandidate
            || (self.phase == Phase::Round && self.round.next() == Some(crate::Which::Candidate));
        let timing = match found {
            Ok(timing) => timing,
            Err(error) if is_candidate => return self.candidate_failed(&error),
            Err(error) => return self.end(Outcome::Error, &error),
        };
        match self.phase {
            Phase::Baseline => {
                self.baseline = Some(timing);
                self.phase = Phase::Noise;
            }
            Phase::Noise => {
                self.noise.push(timing);
                if self.noise.len() == 2 {
                    self.phase = Phase::Explain;
                }
            }
            Phase::WarmBest => self.phase = Phase::WarmCandidate,
            Phase::WarmCandidate => self.phase = Phase::Round,
            Phase::Round => {
                self.round.add(timing);
                if self.round.next().is_none() {
                    self.judge_round();
                }
            }
            Phase::WarmOriginal => self.phase = Phase::WarmLast,
            Phase::WarmLast => self.phase = Phase::Pairs,
            _ => {
                self.pairs.add(timing, &self.settings);
                if self.pairs.next(&self.settings).is_none() {
                    self.phase = Phase::LastVersion;
                }
            }
        }
    }

    fn judge_round(&mut self) {
        let speed = self.round.speed();
        let is_faster = is_faster(self.round.best_ns(), self.round.candidate_ns(), &self.settings);
        if let Some(draft) = &mut self.draft {
            draft.round = Some(std::mem::take(&mut self.round));
        }
        match is_faster {
            true => self.verdict(IterationState::Kept, Trial::Accepted(speed), None),
            false => self.verdict(IterationState::DiscardedSlower, Trial::Slower(speed), None),
        }
    }

    fn take_proposal(&mut self, proposed: Proposed) {
        fn no_proposal() -> Proposal {
            Proposal { sql: String::new(), family: String::new(), reason: String::new() }
        }
        match proposed {
            Proposed::Statement(proposal) => {
                self.begin(proposal);
                self.phase = Phase::AdmitCandidate;
            }
            Proposed::Nothing => self.finish(),
            Proposed::PromptTooLarge(reason) if self.iterations.is_empty() => {
                self.end_with(Outcome::UnsupportedPrompt, &reason);
            }
            Proposed::Failed(reason) | Proposed::PromptTooLarge(reason) => {
                self.begin(no_proposal());
                self.decide(
                    IterationState::CandidateError,
                    Trial::Failed(reason.clone()),
                    Some(reason),
                );
                self.close();
            }
        }
    }

    fn candidate_admitted(&mut self, found: Result<Admitted, SqlError>) {
        let admitted = match found {
            Ok(admitted) => admitted,
            Err(error) if is_outage(&error) => return self.end(Outcome::Error, &error),
            Err(error) => return self.candidate_refused(&error),
        };
        // The tables are compared here as well, so that a mistake of the engine's check admits no
        // other table.
        let is_within = |table: &String| {
            self.original.as_ref().is_some_and(|original| original.tables.contains(table))
        };
        if let Some(table) = admitted.tables.iter().find(|table| !is_within(table)) {
            let error = SqlError::new(
                SqlErrorKind::Denied,
                format!("the table `{table}` is not one of the original's"),
            );
            return self.candidate_refused(&error.rule("tables"));
        }
        if let Some(draft) = &mut self.draft {
            draft.sql.clone_from(&admitted.sql);
            draft.is_statement = true;
        }
        if self.is_known(&admitted.sql) {
            let detail = "it is the original, or a statement that was accepted before".to_owned();
            self.decide(IterationState::DiscardedSlower, Trial::Slower(1.0), Some(detail));
            return self.close();
        }
        self.candidate = Some(admitted);
        self.phase = Phase::CandidateSnapshot;
    }

    fn is_known(&self, sql: &str) -> bool {
        let mut accepted =
            self.iterations.iter().filter(|iteration| iteration.state == IterationState::Kept);
        self.original.as_ref().is_some_and(|original| original.sql == sql)
            || accepted.any(|iteration| iteration.sql == sql)
    }

    /// A statement that does not parse is none; one with unknown names is one that fails; the
    /// checks refuse all others.
    fn candidate_refused(&mut self, error: &SqlError) {
        let reason = describe_error(error);
        let is_statement = error.kind != SqlErrorKind::Syntax;
        if let Some(draft) = &mut self.draft {
            draft.is_statement = is_statement;
        }
        let is_failure = !is_statement
            || matches!(
                error.kind,
                SqlErrorKind::UnknownTable
                    | SqlErrorKind::UnknownColumn
                    | SqlErrorKind::AmbiguousName
                    | SqlErrorKind::TypeMismatch
                    | SqlErrorKind::Timeout
            );
        let (state, trial) = match is_failure {
            true => (IterationState::CandidateError, Trial::Failed(reason.clone())),
            false => (IterationState::FailedSafety, Trial::Refused(reason.clone())),
        };
        self.decide(state, trial, Some(reason));
        self.close();
    }

    /// Ends a candidate that failed while the engine prepared or ran it; an outage of the database
    /// ends the optimization.
    fn candidate_failed(&mut self, error: &SqlError) {
        if is_outage(error) {
            return self.end(Outcome::Error, error);
        }
        let reason = describe_error(error);
        self.verdict(IterationState::CandidateError, Trial::Failed(reason.clone()), Some(reason));
    }

    fn candidate_columns(&mut self, found: Result<Vec<Column>, SqlError>) {
        let columns = match found {
            Ok(columns) => columns,
            Err(error) if is_rule(&error, UNSUPPORTED_TYPE) => {
                return self.verdict(
                    IterationState::FailedSchema,
                    Trial::OtherColumns,
                    Some(describe_error(&error)),
                );
            }
            Err(error) => return self.candidate_failed(&error),
        };
        let unnamed =
            self.original.as_ref().map(|original| original.unnamed.as_slice()).unwrap_or_default();
        match difference(&self.columns, &columns, unnamed) {
            Some(detail) => {
                self.verdict(IterationState::FailedSchema, Trial::OtherColumns, Some(detail))
            }
            None => self.phase = Phase::Compare,
        }
    }

    fn take_comparison(&mut self, found: Result<Compared, SqlError>) {
        match found {
            Ok(Compared::Equal(rows)) => {
                if let Some(draft) = &mut self.draft {
                    draft.rows = Some(rows);
                }
                self.phase =
                    if self.settings.copies > 0 { Phase::Copy(0) } else { Phase::WarmBest };
            }
            Ok(other) => self.differs(other, None),
            Err(error) if is_of_candidate(&error) => self.candidate_failed(&error),
            Err(error) => self.end(Outcome::Error, &error),
        }
    }

    /// A copy on which the original itself fails, or that is not there, decides nothing about the
    /// candidate.
    fn take_copy_comparison(&mut self, number: u32, found: Option<Result<Compared, SqlError>>) {
        match found {
            Some(Ok(Compared::Equal(_))) => {
                if let Some(draft) = &mut self.draft {
                    draft.copies += 1;
                }
            }
            // Rows that the original does not have: on a copy that is a difference like any other.
            Some(Ok(Compared::TooLarge)) => return self.differs(Compared::Different, Some(number)),
            Some(Ok(other)) => return self.differs(other, Some(number)),
            Some(Err(error)) if is_of_candidate(&error) => return self.candidate_failed(&error),
            Some(Err(_)) | None => {}
        }
        let next = number.saturating_add(1);
        self.phase = if next < self.settings.copies { Phase::Copy(next) } else { Phase::WarmBest };
    }

    fn differs(&mut self, compared: Compared, copy: Option<u32>) {
        let detail = copy.map(|number| {
            format!("on the changed copy {} of the database", number.saturating_add(1))
        });
        match compared {
            Compared::Reordered => {
                self.verdict(IterationState::FailedTieReorder, Trial::Reordered, detail)
            }
            Compared::TooLarge => {
                self.verdict(IterationState::CandidateTooLarge, Trial::TooLarge, detail)
            }
            Compared::Different | Compared::Equal(_) => {
                self.verdict(IterationState::FailedMismatch, Trial::Mismatch, detail);
            }
        }
    }

    /// A verdict that rests on data: it counts if these are still the same.
    fn verdict(&mut self, state: IterationState, trial: Trial, detail: Option<String>) {
        self.decide(state, trial, detail);
        self.phase = Phase::Version;
    }

    fn decide(&mut self, state: IterationState, trial: Trial, detail: Option<String>) {
        if let Some(draft) = &mut self.draft {
            (draft.state, draft.trial, draft.detail) = (state, trial, detail);
        }
    }

    /// Adds the proposal under way to those that are judged, and continues with the next step.
    fn close(&mut self) {
        let Some(draft) = self.draft.take() else { return self.next_proposal() };
        let state = draft.state;
        self.failures = state.count(self.failures);
        self.iterations.push(draft);
        let candidate = self.candidate.take();
        if state == IterationState::Kept && candidate.is_some() {
            self.best = candidate;
            self.phase = Phase::ExplainBest;
            return;
        }
        self.next_proposal();
    }

    fn next_proposal(&mut self) {
        let is_full = self.iterations.len() as u64 >= u64::from(self.settings.iterations);
        let is_early = self.settings.early_stop > 0 && self.failures >= self.settings.early_stop;
        if is_full || is_early {
            return self.finish();
        }
        self.phase = Phase::Propose;
    }

    /// The rewriter has ended: what it found is measured against the original.
    fn finish(&mut self) {
        let has_better =
            self.iterations.iter().any(|iteration| iteration.state == IterationState::Kept);
        self.phase = if has_better { Phase::LastSnapshot } else { Phase::Done };
    }
}

fn is_rule(error: &SqlError, rule: &str) -> bool {
    error.rule.as_deref() == Some(rule)
}

fn is_of_candidate(error: &SqlError) -> bool {
    error.rule.as_deref().is_some_and(|rule| rule.starts_with(CANDIDATE))
}

/// Returns true if the database itself failed, which is no fault of the statement.
fn is_outage(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Unavailable | SqlErrorKind::Cancelled | SqlErrorKind::Budget)
}

/// The rule and the message, which names the token and holds no cell.
fn describe_error(error: &SqlError) -> String {
    let rule = error.rule.as_deref().map(|rule| rule.strip_prefix(CANDIDATE).unwrap_or(rule));
    match rule.map(|rule| rule.trim_start_matches([':', ' '])) {
        Some(rule) if !rule.is_empty() => format!("{rule}: {}", error.message),
        _ => error.message.clone(),
    }
}

/// The first difference of two results' columns in number, order, names and types. The names of
/// columns that the original does not name itself are labels of the engine.
fn difference(original: &[Column], candidate: &[Column], unnamed: &[String]) -> Option<String> {
    if original.len() != candidate.len() {
        return Some(format!("{} columns in place of {}", candidate.len(), original.len()));
    }
    let (wanted, found) = original.iter().zip(candidate).find(|(a, b): &(&Column, &Column)| {
        (a.name != b.name && !unnamed.contains(&a.name)) || a.sql_type != b.sql_type
    })?;
    fn describe_column(column: &Column) -> String {
        format!("`{}` {}", column.name, column.sql_type).trim_end().to_owned()
    }
    Some(format!("the column {} in place of {}", describe_column(found), describe_column(wanted)))
}
