//! A statement and its repairs.

use super::{Statement, add_errors};
use crate::brief::Tried;
use crate::prelude::*;

/// The attempts at one statement: the first one and its repairs.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    /// Earlier statements and what was wrong with them, the oldest first.
    pub tried: Vec<Tried>,
    /// Counts over all attempts of the chain.
    pub signals: Signals,
    /// The id of the last candidate.
    pub last_id: Option<String>,
}

impl Chain {
    /// A chain of at most that many attempts.
    #[must_use]
    pub fn new(max_attempts: u32) -> Self {
        Self { signals: Signals { max_attempts, ..Signals::default() }, ..Self::default() }
    }

    /// Returns the number of earlier replies that had a statement.
    #[must_use]
    pub fn statements(&self) -> usize {
        self.tried.iter().filter(|tried| !tried.sql.is_empty()).count()
    }

    /// The origin of the chain's next candidate.
    #[must_use]
    pub fn origin(&self) -> &'static str {
        if self.statements() > 0 { "repair" } else { "generate" }
    }

    /// Adds what was wrong with a statement, which the next request is to repair.
    pub fn fail(&mut self, sql: &str, wrong: impl Into<String>) {
        self.tried.push(Tried { sql: sql.to_owned(), wrong: wrong.into() });
    }

    /// Adds a reply without a statement.
    pub fn fail_without_statement(&mut self, wrong: impl Into<String>) {
        self.signals.syntax_errors += 1;
        self.fail("", wrong);
    }

    /// The candidate of the chain's next statement, a child of the one before. `own` are the
    /// statement's own counts: its errors are added to those of the chain, while the shape of the
    /// result stays its own.
    pub fn candidate(
        &mut self,
        id: String,
        origin: &str,
        statement: Statement,
        own: &Signals,
    ) -> Candidate {
        add_errors(&mut self.signals, own);
        let Signals { empty_result, null_columns, overflow, .. } = *own;
        let signals = Signals { empty_result, null_columns, overflow, ..self.signals.clone() };
        let parents = self.last_id.replace(id.clone()).into_iter().collect();
        statement.candidate(id, parents, origin, signals)
    }
}
