//! The fake host with facts: the facts of a statement are read from its text, and the sizes of
//! concurrent model calls are recorded.

use std::cell::RefCell;

use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json::Value as JsonValue;

#[derive(Default)]
pub(super) struct ShopHost {
    pub(super) fake: FakeHost,
    /// The number of requests of each call of `complete_all`.
    pub(super) rounds: RefCell<Vec<usize>>,
    /// The statements that each call of `reward` had.
    pub(super) judged: RefCell<Vec<usize>>,
}

impl Inspect for ShopHost {
    /// Tables follow FROM and JOIN, functions stand before a parenthesis, columns have a dot;
    /// `task_…` are finished tasks.
    fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let mut facts = self.fake.check(text)?;
        let words: Vec<&str> = text.split([' ', ',']).collect();
        let sources = words
            .windows(2)
            .filter(|pair| ["FROM", "JOIN"].contains(&pair[0]))
            .map(|pair| pair[1].to_owned());
        (facts.tasks, facts.tables) = sources.partition(|name| name.starts_with("task_"));
        facts.functions =
            words.iter().filter_map(|word| Some(word.split_once('(')?.0.to_owned())).collect();
        facts.columns =
            words.iter().filter(|word| word.contains('.')).map(|word| (*word).to_owned()).collect();
        Ok(facts)
    }

    fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.fake.explain(text)
    }

    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.fake.column_stats(table, columns)
    }
}

impl Llm for ShopHost {
    fn models(&self) -> Vec<String> {
        self.fake.models()
    }

    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.fake.complete(request)
    }

    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>> {
        self.rounds.borrow_mut().push(requests.len());
        self.fake.complete_all(requests)
    }

    fn start_reply(&self, request: &Request) -> PendingReply {
        self.fake.start_reply(request)
    }
}

impl Evaluate for ShopHost {
    fn calibrate(&self, claims: &[(f64, Signals)]) -> Result<Vec<f64>, PortError> {
        self.fake.calibrate(claims)
    }

    fn reward(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>, PortError> {
        self.judged.borrow_mut().push(candidates.len());
        self.fake.reward(candidates)
    }

    fn start_reward(&self, candidates: &[Candidate]) -> Judging {
        self.fake.start_reward(candidates)
    }
}

impl Run for ShopHost {
    fn policy(&self) -> Policy {
        self.fake.policy()
    }

    fn setting(&self, name: &str) -> Option<JsonValue> {
        self.fake.setting(name)
    }

    fn remaining(&self) -> Budget {
        self.fake.remaining()
    }

    fn seed(&self) -> u64 {
        self.fake.seed()
    }
}

impl Wait for ShopHost {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        self.fake.any(tickets)
    }

    fn pause(&self, length: std::time::Duration) {
        self.fake.pause(length);
    }
}

impl Sql for ShopHost {
    fn run(&self, text: &str) -> Result<ResultSet, SqlError> {
        self.fake.run(text)
    }

    fn run_all(&self, texts: &[String]) -> Vec<Result<ResultSet, SqlError>> {
        self.fake.run_all(texts)
    }

    fn start_statement(&self, text: &str) -> RunningStatement {
        self.fake.start_statement(text)
    }
}

impl Rows for ShopHost {
    fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        self.fake.read(results, offset, limit)
    }
}

impl Cells for ShopHost {
    fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.fake.samples(table, columns, limit)
    }

    fn find(
        &self,
        phrases: &[String],
        how: &Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.fake.find(phrases, how, limit)
    }
}

impl Retrieval for ShopHost {
    fn retrieve(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError> {
        self.fake.retrieve(query)
    }

    fn retrieve_all(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        self.fake.retrieve_all(queries)
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.fake.embed(texts)
    }
}

impl Trace for ShopHost {
    fn note(&self, level: Level, message: &str) {
        self.fake.note(level, message);
    }

    fn propose(&self, candidate: &Candidate) {
        self.fake.propose(candidate);
    }

    fn keep(&self, candidate: &str, reason: &str) {
        self.fake.keep(candidate, reason);
    }

    fn discard(&self, candidate: &str, reason: &str) {
        self.fake.discard(candidate, reason);
    }

    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue) {
        self.fake.event(candidate, name, data);
    }
}
