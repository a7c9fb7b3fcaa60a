//! A host for the linker: the host's own index and the database's values behind the ports, as the
//! runtime lends them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value as JsonValue;
use syrch_core as core;
use syrch_core::ports::CellIndex;
use syrch_plugin::fakes::FakeHost;
use syrch_plugin::handles::PendingReply;
use syrch_plugin::prelude::*;
use syrch_retrieval::Index;
use syrch_sqlite::SqliteDatabase;
use tokio::runtime::Runtime;

/// Everything but `retrieval` and `cells` is a fake.
pub(crate) struct LinkerWorld<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) index: &'a Index,
    /// `None` if cells are not granted.
    pub(crate) cells: Option<&'a SqliteDatabase>,
    /// Hits of phrases that were searched before: questions have many words in common.
    pub(crate) seen: &'a RefCell<BTreeMap<String, Vec<Hit>>>,
    pub(crate) others: FakeHost,
}

impl Retrieval for LinkerWorld<'_> {
    fn retrieve(&self, query: &RetrievalQuery) -> Result<Vec<Hit>, PortError> {
        let key = format!("{query:?}");
        if let Some(hits) = self.seen.borrow().get(&key) {
            return Ok(hits.clone());
        }
        let found = self
            .runtime
            .block_on(self.index.find(&to_core(query), None))
            .map(hits)
            .map_err(error)?;
        self.seen.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn retrieve_all(&self, queries: &[RetrievalQuery]) -> Vec<Result<Vec<Hit>, PortError>> {
        queries.iter().map(|query| self.retrieve(query)).collect()
    }

    fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError::Unsupported)
    }
}

impl Cells for LinkerWorld<'_> {
    fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    fn find(
        &self,
        phrases: &[String],
        how: &Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        let cells = self.cells.ok_or_else(|| PortError::Denied("not granted".into()))?;
        let how = match how {
            Match::Exact => core::ports::Match::Exact,
            Match::Ngram => core::ports::Match::Ngram,
            _ => return Err(PortError::Unsupported),
        };
        let found = self.runtime.block_on(cells.find(phrases, how, limit)).map_err(error)?;
        Ok(found.into_iter().map(hits).collect())
    }
}

impl Run for LinkerWorld<'_> {
    fn policy(&self) -> Policy {
        self.others.policy()
    }
    fn setting(&self, name: &str) -> Option<JsonValue> {
        self.others.setting(name)
    }
    fn remaining(&self) -> Budget {
        self.others.remaining()
    }
    fn seed(&self) -> u64 {
        self.others.seed()
    }
}

impl Wait for LinkerWorld<'_> {
    fn any(&self, tickets: &[u32]) -> Vec<u32> {
        self.others.any(tickets)
    }

    fn pause(&self, length: std::time::Duration) {
        self.others.pause(length);
    }
}

impl Llm for LinkerWorld<'_> {
    fn models(&self) -> Vec<String> {
        self.others.models()
    }
    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        self.others.complete(request)
    }
    fn complete_all(&self, requests: &[Request]) -> Vec<Result<Reply, LlmError>> {
        self.others.complete_all(requests)
    }
    fn start_reply(&self, request: &Request) -> PendingReply {
        self.others.start_reply(request)
    }
}

impl Inspect for LinkerWorld<'_> {
    fn check(&self, text: &str) -> Result<Facts, SqlError> {
        self.others.check(text)
    }
    fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.others.explain(text)
    }
    fn column_stats(&self, table: &str, columns: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        self.others.column_stats(table, columns)
    }
}

impl Trace for LinkerWorld<'_> {
    fn note(&self, level: Level, message: &str) {
        self.others.note(level, message);
    }
    fn propose(&self, candidate: &Candidate) {
        self.others.propose(candidate);
    }
    fn keep(&self, candidate: &str, reason: &str) {
        self.others.keep(candidate, reason);
    }
    fn discard(&self, candidate: &str, reason: &str) {
        self.others.discard(candidate, reason);
    }
    fn event(&self, candidate: Option<&str>, name: &str, data: &JsonValue) {
        self.others.event(candidate, name, data);
    }
}

fn to_core(query: &RetrievalQuery) -> core::RetrievalQuery {
    let corpus = match &query.corpus {
        Corpus::Tables => core::Corpus::Tables,
        Corpus::Columns => core::Corpus::Columns,
        Corpus::Cells => core::Corpus::Cells,
        Corpus::Notes => core::Corpus::Notes,
        Corpus::Examples => core::Corpus::Examples,
        Corpus::Other(name) => core::Corpus::Other(name.clone()),
    };
    let retriever = match &query.retriever {
        Retriever::Lexical => core::Retriever::Lexical,
        Retriever::PathFuzzy => core::Retriever::PathFuzzy,
        Retriever::SegmentFuzzy => core::Retriever::SegmentFuzzy,
        Retriever::Vector => core::Retriever::Vector,
        Retriever::Other(name) => core::Retriever::Other(name.clone()),
    };
    core::RetrievalQuery { corpus, retriever, text: query.text.clone(), limit: query.limit }
}

fn hits(hits: Vec<core::Hit>) -> Vec<Hit> {
    hits.into_iter()
        .map(|hit: core::Hit| Hit {
            corpus: match hit.corpus {
                core::Corpus::Tables => Corpus::Tables,
                core::Corpus::Columns => Corpus::Columns,
                core::Corpus::Cells => Corpus::Cells,
                core::Corpus::Notes => Corpus::Notes,
                core::Corpus::Examples => Corpus::Examples,
                core::Corpus::Other(name) => Corpus::Other(name),
            },
            id: hit.id,
            path: hit.path,
            table: hit.table,
            column: hit.column,
            snippet: hit.snippet,
            payload: hit.payload,
            score: hit.score,
        })
        .collect()
}

fn error(error: core::ports::PortError) -> PortError {
    match error {
        core::ports::PortError::Denied(why) => PortError::Denied(why),
        core::ports::PortError::Unsupported => PortError::Unsupported,
        other => PortError::Other(other.to_string()),
    }
}

/// The catalog as the contract has it.
pub(crate) fn catalog(catalog: &core::Catalog) -> Catalog {
    Catalog {
        database: catalog.database.clone(),
        dialect: Dialect::Sqlite,
        tables: catalog
            .tables
            .iter()
            .map(|table: &core::Table| Table {
                schema_name: table.schema_name.clone(),
                name: table.name.clone(),
                columns: table
                    .columns
                    .iter()
                    .map(|column: &core::Column| Column {
                        name: column.name.clone(),
                        sql_type: column.sql_type.clone(),
                        nullable: column.nullable,
                        comment: column.comment.clone(),
                        extra: column.extra.clone(),
                    })
                    .collect(),
                primary_key: table.primary_key.clone(),
                foreign_keys: table
                    .foreign_keys
                    .iter()
                    .map(|key: &core::ForeignKey| ForeignKey {
                        columns: key.columns.clone(),
                        ref_table: key.ref_table.clone(),
                        ref_columns: key.ref_columns.clone(),
                    })
                    .collect(),
                row_estimate: table.row_estimate,
                comment: table.comment.clone(),
                extra: table.extra.clone(),
                ..Table::default()
            })
            .collect(),
        ..Catalog::default()
    }
}
