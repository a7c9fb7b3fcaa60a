//! Paths side by side: each round asks for one statement of every open path, all at once, and reads what came.

use serde_json::json;
use syrch_plugin::attempt::candidate_id;
use syrch_plugin::brief::Brief;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{SqlReply, sql_reply};
use syrch_plugin::text::line;

use crate::Beam;
use crate::needs::Needs;
use crate::path::Path;
use crate::settle::{Scope, Stated};
use crate::tables::Primary;

/// The paths so far, and the tables that are left.
pub(crate) struct Explorer<'a, H> {
    pub(crate) host: &'a H,
    pub(crate) beam: &'a Beam,
    pub(crate) task: &'a Task,
    pub(crate) catalog: &'a Catalog,
    pub(crate) needs: Needs,
    brief: Brief<'a>,
    max_attempts: u32,
    /// Tables that were not explored yet, best first.
    rest: std::collections::VecDeque<Primary<'a>>,
    /// In the order of exploring.
    pub(crate) paths: Vec<Path<'a>>,
    /// Why no call or no statement can do any more.
    pub(crate) ended: Option<Failure>,
    /// What a model said that gives no more drafts, which is no failure.
    pub(crate) abstained: Option<String>,
    /// Requests so far.
    asked: u32,
    /// Statements that were proposed.
    numbered: u32,
}

impl<'a, H: SolverHost> Explorer<'a, H> {
    pub(crate) fn new(
        host: &'a H,
        beam: &'a Beam,
        problem: &Problem,
        catalog: &'a Catalog,
        task: &'a Task,
        brief: Brief<'a>,
        pool: Vec<Primary<'a>>,
    ) -> Self {
        let text = if task.text.trim().is_empty() { &problem.question } else { &task.text };
        Self {
            host,
            beam,
            task,
            catalog,
            needs: Needs::of(text, catalog),
            brief,
            max_attempts: host.policy().max_attempts.max(1),
            rest: pool.into(),
            paths: Vec::new(),
            ended: None,
            abstained: None,
            asked: 0,
            numbered: 0,
        }
    }

    /// How many tables are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Explores the next tables, at most that many and at most as many as calls are left; false when there is none.
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
        let names: Vec<&str> = self.paths[from..].iter().map(|path| path.primary.table.name.as_str()).collect();
        self.host.event(None, "explore", &json!({ "tables": names }));
        while self.ended.is_none() && self.round() {}
        true
    }

    /// One attempt of every open path; false when none is open.
    fn round(&mut self) -> bool {
        let open: Vec<usize> = (0..self.paths.len()).filter(|path| self.paths[*path].is_open()).collect();
        if open.is_empty() {
            return false;
        }
        let mut requests = Vec::new();
        for path in &open {
            requests.push(self.paths[*path].request(&self.brief, &self.catalog.dialect, self.asked));
            self.asked += 1;
        }
        let replies = self.host.complete_all(&requests);
        let mut shorter = None;
        let mut stated = Vec::new();
        for (path, reply) in open.into_iter().zip(replies) {
            self.paths[path].signals.attempts += 1;
            stated.extend(self.read(path, reply, &mut shorter));
        }
        self.settle(stated, Scope::OwnTable);
        true
    }

    /// The statement of a reply.
    fn read(&mut self, path: usize, reply: Result<Reply, LlmError>, shorter: &mut Option<bool>) -> Option<Stated> {
        match reply {
            Ok(reply) => match sql_reply(&reply) {
                Some(said) => return self.state(path, said, &reply),
                None => self.no_statement(path, "the reply held no statement".to_owned()),
            },
            Err(LlmError::Malformed(start)) => {
                self.no_statement(path, format!("the reply held no statement; it began: {}", line(&start, 200)));
            }
            // Prompts of one round are of about the same length: one shortening does for all of them. It is no attempt at a statement.
            Err(LlmError::TooLarge) if *shorter.get_or_insert_with(|| self.brief.shorten()) => {
                self.paths[path].signals.attempts -= 1;
            }
            // Other paths may have a statement to be repaired; but no further table is begun.
            Err(error @ (LlmError::Refused(_) | LlmError::Unsupported(_))) => {
                self.paths[path].is_closed = true;
                if self.paths[path].tried.is_empty() {
                    self.abstained.get_or_insert(llm_words(&error));
                }
            }
            Err(error) => {
                self.paths[path].is_closed = true;
                self.ended.get_or_insert(llm_failure(&error));
            }
        }
        None
    }

    fn no_statement(&mut self, path: usize, wrong: String) {
        self.paths[path].signals.syntax_errors += 1;
        self.paths[path].fail("", wrong);
    }

    /// Makes a candidate of a statement that the path did not have before.
    fn state(&mut self, path: usize, said: SqlReply, reply: &Reply) -> Option<Stated> {
        if self.paths[path].has(&said.sql) {
            self.host.note(Level::Debug, &format!("{}: the model stands by its statement", self.task.id));
            self.paths[path].is_closed = true;
            return None;
        }
        Some(Stated { path, candidate: self.candidate(path, said, reply) })
    }

    fn candidate(&mut self, path: usize, said: SqlReply, reply: &Reply) -> Candidate {
        self.numbered += 1;
        let id = candidate_id(&self.task.id, self.numbered);
        let path = &mut self.paths[path];
        let mut signals = path.signals.clone();
        signals.logprob = reply.logprob;
        let usage = f64::from(reply.usage.input_tokens) + f64::from(reply.usage.output_tokens);
        signals.extra.push(("tokens".to_owned(), usage));
        let is_repair = path.tried.iter().any(|tried| !tried.sql.is_empty());
        Candidate {
            parents: path.last_id.replace(id.clone()).into_iter().collect(),
            id,
            origin: if is_repair { "repair" } else { "generate" }.to_owned(),
            sql: said.sql,
            raw_confidence: said.confidence,
            rationale: Some(format!(
                "built on {} (score {:.2})",
                line(&path.primary.table.name, 80),
                path.primary.score
            )),
            signals,
            ..Candidate::default()
        }
    }
}
