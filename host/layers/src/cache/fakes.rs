//! Backends with a script, and caches in folders of their own, for the tests of this module.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use syrch_cache::{Cache, Options};
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Estimate, Facts, LlmError, Match, ModelCall,
    ModelOutcome, ModelProvider, Plan, PortError, Reply, Sample, SqlQuery, Usage,
};
use syrch_core::{Catalog, Corpus, Dialect, Hit, ResultSet, SqlError, Table, Value};
use tokio::sync::Semaphore;

/// A cache in a new folder, which goes away with the first value.
pub(super) fn scratch() -> (tempfile::TempDir, Arc<Cache>) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), Options::default());
    (folder, cache)
}

/// A whole reply that used some tokens.
pub(super) fn reply(text: &str) -> Reply {
    let usage = Usage {
        input_tokens: 11,
        output_tokens: 7,
        cost_micros: Some(5),
        model: "m-2".into(),
        ..Usage::default()
    };
    Reply {
        text: text.into(),
        parsed: Some("{\"a\":1.0}".into()),
        truncated: false,
        logprob: Some(-0.123_456_789_012_345_67),
        usage,
    }
}

pub(super) fn answer_outcome(reply: Reply) -> ModelOutcome {
    let usage = Some(reply.usage.clone());
    ModelOutcome::sent(Ok(reply), usage)
}

pub(super) fn failure_outcome(error: LlmError) -> ModelOutcome {
    ModelOutcome::sent(Err(error), None)
}

/// A model that answers by its script, the last line again and again; with permits, one call for
/// each.
pub(super) struct ScriptedModel {
    pub(super) identity: Mutex<Option<String>>,
    pub(super) script: Mutex<VecDeque<ModelOutcome>>,
    pub(super) permits: Option<Semaphore>,
    pub(super) calls: AtomicUsize,
}

impl ScriptedModel {
    pub(super) fn new(script: impl IntoIterator<Item = ModelOutcome>) -> Arc<Self> {
        Arc::new(Self::with_permits(script, None))
    }

    pub(super) fn with_gate(script: impl IntoIterator<Item = ModelOutcome>) -> Arc<Self> {
        Arc::new(Self::with_permits(script, Some(Semaphore::new(0))))
    }

    fn with_permits(
        script: impl IntoIterator<Item = ModelOutcome>,
        permits: Option<Semaphore>,
    ) -> Self {
        let identity = Mutex::new(Some("fake http://here m-2".into()));
        Self {
            identity,
            script: Mutex::new(script.into_iter().collect()),
            permits,
            calls: AtomicUsize::new(0),
        }
    }

    pub(super) fn set_identity(&self, identity: Option<&str>) {
        *self.identity.lock().unwrap() = identity.map(str::to_owned);
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ModelProvider for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn models(&self) -> Vec<String> {
        vec!["m".into(), "n".into()]
    }

    fn identity(&self, _: &ModelCall) -> Option<String> {
        self.identity.lock().unwrap().clone()
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate { input_tokens: 30, output_tokens: 10, cost_micros: Some(9) }
    }

    async fn complete(&self, _: &ModelCall) -> ModelOutcome {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(permits) = &self.permits {
            permits.acquire().await.unwrap().forget();
        }
        let mut script = self.script.lock().unwrap();
        if script.len() > 1 { script.pop_front().unwrap() } else { script[0].clone() }
    }
}

/// A database of one result, which a test may change.
pub(super) struct ScriptedDatabase {
    pub(super) identity: Mutex<Option<String>>,
    pub(super) result: Mutex<Result<ResultSet, SqlError>>,
    /// True if the file changes while a statement runs.
    pub(super) is_restless: bool,
    pub(super) views: Vec<String>,
    pub(super) permits: Option<Semaphore>,
    pub(super) runs: AtomicUsize,
    /// The number of times that cells were searched for or sampled.
    pub(super) finds: AtomicUsize,
    /// True if building its index of cells ended early.
    pub(super) is_late: bool,
}

impl ScriptedDatabase {
    pub(super) fn new(identity: &str, result: Result<ResultSet, SqlError>) -> Self {
        Self {
            identity: Mutex::new(Some(identity.into())),
            result: Mutex::new(result),
            is_restless: false,
            views: Vec::new(),
            permits: None,
            runs: AtomicUsize::new(0),
            finds: AtomicUsize::new(0),
            is_late: false,
        }
    }

    /// The file changes: another identity, another result.
    pub(super) fn change(&self, identity: Option<&str>, result: ResultSet) {
        *self.identity.lock().unwrap() = identity.map(str::to_owned);
        *self.result.lock().unwrap() = Ok(result);
    }

    pub(super) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl CellIndex for ScriptedDatabase {
    async fn samples(&self, _: &str, columns: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        let count = self.finds.fetch_add(1, Ordering::SeqCst) as u64;
        let least = Value::Real(f64::NEG_INFINITY);
        let greatest = Value::Text("z".into());
        Ok(columns
            .iter()
            .map(|column: &String| Sample {
                column: column.clone(),
                least: least.clone(),
                greatest: greatest.clone(),
                frequent: vec![(Value::Null, count)],
            })
            .collect())
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        _: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        if how == Match::Vector {
            return Err(PortError::Unsupported);
        }
        let score = self.finds.fetch_add(1, Ordering::SeqCst) as f64;
        let hit = |phrase: &String| Hit {
            corpus: Corpus::Cells,
            id: phrase.clone(),
            path: "t.n".into(),
            table: Some("t".into()),
            column: Some("n".into()),
            snippet: Some(phrase.clone()),
            payload: None,
            score,
        };
        Ok(phrases.iter().map(|phrase| vec![hit(phrase)]).collect())
    }

    fn is_repeatable(&self) -> bool {
        !self.is_late
    }
}

#[async_trait]
impl Database for ScriptedDatabase {
    fn name(&self) -> &str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    async fn identity(&self) -> Option<String> {
        self.identity.lock().unwrap().clone()
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        let table = Table { name: "t".into(), ..Table::default() };
        let tables = self
            .views
            .iter()
            .map(|name: &String| Table {
                name: name.clone(),
                extra: vec![("kind".into(), "\"view\"".into())],
                ..Table::default()
            })
            .chain([table])
            .collect();
        Ok(Arc::new(Catalog { database: "scripted".into(), dialect: Dialect::Sqlite, tables }))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        let relations: String = query
            .relations
            .iter()
            .map(|relation| format!("WITH {} AS ({}) ", relation.name, relation.sql))
            .collect();
        Ok(format!("{relations}{}", query.text))
    }

    async fn check(&self, _: &SqlQuery) -> Result<Facts, SqlError> {
        Ok(Facts::default())
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        Ok(Plan { format: "scripted".into(), text: self.compose(query)?, cost: None, rows: None })
    }

    async fn run(&self, _: &SqlQuery) -> Result<ResultSet, SqlError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst);
        if let Some(permits) = &self.permits {
            permits.acquire().await.unwrap().forget();
        }
        if self.is_restless {
            *self.identity.lock().unwrap() = Some(format!("after {run}"));
        }
        self.result.lock().unwrap().clone()
    }

    async fn column_stats(&self, table: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::UnknownName(table.to_owned()))
    }
}
