//! Paths of several tables: each round requests one statement of every open path, concurrently, and
//! reads the replies.

use std::collections::VecDeque;

use serde_json::json;
use syrch_plugin::attempt::{Statement, Written, candidate_id, too_large, written};
use syrch_plugin::brief::Brief;
use syrch_plugin::prelude::*;
use syrch_plugin::text::line;

use crate::Settings;
use crate::solver::needs::Needs;
use crate::solver::path::Path;
use crate::solver::settle::{Scope, Stated};
use crate::solver::tables::Primary;

/// The paths so far, and the tables that are left.
pub(crate) struct Explorer<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) settings: &'a Settings,
    pub(crate) task: &'a Task,
    pub(crate) catalog: &'a Catalog,
    pub(crate) needs: Needs,
    brief: Brief<'a>,
    max_attempts: u32,
    /// Tables that were not explored yet, best first.
    rest: VecDeque<Primary<'a>>,
    /// The paths in the order in which their tables were explored.
    pub(crate) paths: Vec<Path<'a>>,
    /// The failure after which no call or no statement can succeed any more.
    pub(crate) ended: Option<Failure>,
    /// The reason why the model gives no more drafts, which is not a failure.
    pub(crate) abstained: Option<String>,
    /// The number of requests.
    asked: u32,
    /// The number of statements that were proposed.
    numbered: u32,
}

impl<'a, H: SolverHost> Explorer<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        settings: &'a Settings,
        problem: &Problem,
        catalog: &'a Catalog,
        task: &'a Task,
        brief: Brief<'a>,
        pool: Vec<Primary<'a>>,
    ) -> Self {
        let text = if task.text.trim().is_empty() { &problem.question } else { &task.text };
        Self {
            host,
            settings,
            task,
            catalog,
            needs: Needs::read(text, catalog),
            brief,
            max_attempts: host.attempts(),
            rest: pool.into(),
            paths: Vec::new(),
            ended: None,
            abstained: None,
            asked: 0,
            numbered: 0,
        }
    }

    /// Returns the number of tables that are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Explores the next tables, at most that many and at most as many as calls are left; false
    /// when there is none.
    pub(crate) fn explore(&mut self, most: usize) -> bool {
        let budget = self.host.remaining();
        let calls = if budget.time == TimeLeft::Over { 0 } else { budget.llm_calls as usize };
        let next = most.min(self.rest.len()).min(calls);
        if self.ended.is_some() || self.abstained.is_some() || next == 0 {
            return false;
        }
        let from = self.paths.len();
        let max_attempts = self.max_attempts;
        self.paths.extend(self.rest.drain(..next).map(|primary| Path::new(primary, max_attempts)));
        let names: Vec<&str> =
            self.paths[from..].iter().map(|path| path.primary.table.name.as_str()).collect();
        self.host.event(None, "explore", &json!({ "tables": names }));
        while self.ended.is_none() && self.round() {}
        true
    }

    /// One attempt of every open path; false when none is open.
    fn round(&mut self) -> bool {
        let open: Vec<usize> =
            (0..self.paths.len()).filter(|path| self.paths[*path].is_open()).collect();
        if open.is_empty() {
            return false;
        }
        let mut requests = Vec::new();
        for path in &open {
            requests.push(self.paths[*path].request(&self.brief, &self.catalog.syntax, self.asked));
            self.asked += 1;
        }
        let replies = self.host.complete_all(&requests);
        let mut shorter = None;
        let mut stated = Vec::new();
        for (path, reply) in open.into_iter().zip(replies) {
            self.paths[path].chain.signals.attempts += 1;
            stated.extend(self.read(path, reply, &mut shorter));
        }
        self.settle(stated, Scope::OwnTable);
        true
    }

    /// The statement of a reply, as a candidate.
    fn read(
        &mut self,
        path: usize,
        reply: Result<Reply, LlmError>,
        shorter: &mut Option<bool>,
    ) -> Option<Stated> {
        match written(reply) {
            Written::Statement(statement) => return self.state(path, statement),
            Written::NoStatement(wrong) => self.paths[path].chain.fail_without_statement(wrong),
            // The prompts of one round have about the same length: one shortening is enough for all
            // of them. It is no attempt.
            Written::TooLarge if *shorter.get_or_insert_with(|| self.brief.shorten()) => {
                self.paths[path].chain.signals.attempts -= 1;
            }
            // Other paths may have a statement to repair, but no further table is started.
            Written::Abstained(why) => {
                self.paths[path].is_closed = true;
                if self.paths[path].chain.tried.is_empty() {
                    self.abstained.get_or_insert(why);
                }
            }
            Written::TooLarge => self.end(path, too_large()),
            Written::Failed(failure) => self.end(path, failure),
        }
        None
    }

    fn end(&mut self, path: usize, failure: Failure) {
        self.paths[path].is_closed = true;
        self.ended.get_or_insert(failure);
    }

    /// The candidate of a statement that the path did not have before.
    fn state(&mut self, path: usize, statement: Statement) -> Option<Stated> {
        if self.paths[path].has(&statement.sql) {
            self.host
                .note(Level::Debug, &format!("{}: the model repeats its statement", self.task.id));
            self.paths[path].is_closed = true;
            return None;
        }
        self.numbered += 1;
        let id = candidate_id(&self.task.id, self.numbered);
        let Path { chain, primary, .. } = &mut self.paths[path];
        let origin = chain.origin();
        let mut candidate = chain.candidate(id, origin, statement, &Signals::default());
        candidate.rationale = Some(format!(
            "built on {} (score {:.2})",
            line(&primary.table.name, 80),
            primary.score
        ));
        Some(Stated { path, candidate })
    }
}
