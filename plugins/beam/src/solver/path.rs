//! The path of one candidate table: its statements so far, and what came of them.

use syrch_plugin::attempt::Chain;
use syrch_plugin::brief::{Brief, feedback};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count32, line};

use crate::solver::fit::Fit;
use crate::solver::tables::Primary;

/// A statement that ran and may be returned.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) candidate: Candidate,
    pub(crate) fit: Fit,
    /// Equal for equal multisets of rows.
    pub(crate) fingerprint: String,
    pub(crate) profile: Profile,
}

/// One candidate table under exploration.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    pub(crate) primary: Primary<'a>,
    /// The attempts at a statement on the table.
    pub(crate) chain: Chain,
    /// The viable statement, which ends the path.
    pub(crate) viable: Option<Found>,
    /// The last statement that ran and is to be repaired, as a rule for it has no rows; rather one
    /// that has some.
    pub(crate) unsound: Option<Found>,
    /// The first statement that was out of scope, and so did not run.
    pub(crate) stray: Option<Candidate>,
    /// True if no further attempt is of use.
    pub(crate) is_closed: bool,
}

impl<'a> Path<'a> {
    pub(crate) fn new(primary: Primary<'a>, max_attempts: u32) -> Self {
        Self {
            primary,
            chain: Chain::new(max_attempts),
            viable: None,
            unsound: None,
            stray: None,
            is_closed: false,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.is_closed
            && self.viable.is_none()
            && self.chain.signals.attempts < self.chain.signals.max_attempts
    }

    /// The next request: a statement on the table, or a repair that carries all earlier ones of the
    /// path (syrch bug 13: feedback was overwritten). `asked` is the number of requests before it,
    /// all paths together: with the statements that it is about taken off it becomes the sample, so
    /// that a provider with a list of answers gives each of them once.
    pub(crate) fn request(&self, brief: &Brief<'_>, syntax: &Syntax, asked: u32) -> Request {
        let subjects: Vec<String> = self
            .chain
            .tried
            .iter()
            .map(|tried| tried.sql.clone())
            .filter(|sql| !sql.is_empty())
            .collect();
        let purpose = if subjects.is_empty() { Purpose::Generate } else { Purpose::Repair };
        let sample = asked.saturating_sub(count32(subjects.len()));
        let more = format!("{}{}", self.primary.prompt_text(syntax), feedback(&self.chain.tried));
        brief.ask(purpose, brief.instructions(), &more).subjects(subjects).sample(sample).sql()
    }

    /// Returns true if the path has tried that statement before.
    pub(crate) fn has(&self, sql: &str) -> bool {
        self.chain.tried.iter().any(|tried| tried.sql == sql)
    }

    /// Returns the reason why a statement does not belong to this path: it is not built on the
    /// path's table. A statement that reads only finished tasks is in scope, as the materialized
    /// contexts of syrch 0.3.7 were.
    pub(crate) fn out_of_scope(&self, facts: &Facts, catalog: &Catalog) -> Option<String> {
        let reads_tasks_only = facts.tables.is_empty() && !facts.tasks.is_empty();
        if reads_tasks_only
            || facts.tables.iter().any(|name: &String| {
                catalog.table(name).is_some_and(|table| table.is_same(self.primary.table))
            })
        {
            return None;
        }
        Some(format!("it is not built on the table {}", line(&self.primary.table.name, 80)))
    }
}
