//! The bench of the verified optimizer: one session, in which statements are checked by what the
//! server made of them, compared and measured.
//!
//! The first check reads the text (`syrch_guard::deterministic`), and the guard writes the
//! statement again as it does for all others. The second reads the server's analysis of that text,
//! which it reports when it prepares a statement under `debug_print_parse`.

mod analysed;
mod canonical;
mod lists;
mod pinned;
mod resolve;
mod rows;
mod tree;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_arrow_engine::{Snapshot, deadline_error};
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CANDIDATE, Compared, DatabaseError, Plan, ResultSize, SqlQuery,
    Timing,
};
use syrch_core::{Column, Dialect, SqlError, SqlErrorKind};
use syrch_guard::deterministic::{Checked, RealSums};
use syrch_guard::{Kind, deterministic, lex};
use tokio::time::timeout;

use crate::connect::Connector;
use crate::engine::LATER;
use crate::error;
use crate::execute::read_plan;
use crate::value::name;
use analysed::Used;
use pinned::{Connection, Pinned, unavailable};
use resolve::Objects;
use rows::{Counted, Rows};

/// Lets the server report analyses, until [`QUIET`]: it writes a copy to its own log, too.
const REPORT: [&str; 2] = [
    "SAVEPOINT syrch",
    "SELECT set_config('debug_pretty_print', 'off', true), set_config('client_min_messages', \
     'log', true), set_config('debug_print_parse', 'on', true)",
];
const QUIET: [&str; 2] = ["ROLLBACK TO SAVEPOINT syrch", "RELEASE SAVEPOINT syrch"];

/// Bytes that the server may send for an analysis: the tree, twice what is read of it, and the
/// types of the columns.
const ANALYSIS: usize = 2 * tree::MAX_TREE + (4 << 20);

/// The query for a version of the data, which is equal as long as no transaction that could have
/// changed anything has started or ended in between, as `engine::IDENTITY` explains.
const VERSION: &str =
    "SELECT pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text";

/// Words that dates and times are read from, and that mean another time each day.
const CLOCK_WORDS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];

/// A session for the verified optimizer, and a second one that only detects writers, which a
/// session cannot do within a snapshot.
pub(crate) struct PostgresBench {
    snapshot: Arc<Snapshot>,
    limits: BenchLimits,
    connection: Connection,
    watch: Connection,
}

impl PostgresBench {
    /// Connects to the server.
    ///
    /// # Errors
    /// When there is no connection.
    pub(crate) async fn open(
        connector: Arc<Connector>,
        snapshot: Arc<Snapshot>,
        limits: BenchLimits,
    ) -> Result<Self, DatabaseError> {
        let watch = Connection::new(Arc::clone(&connector), limits);
        let mut connection = Connection::new(connector, limits);
        let pinned = connection.take_session().await?;
        connection.put(pinned);
        Ok(Self { snapshot, limits, connection, watch })
    }

    /// The first check; returns the statement as the guard wrote it again, and whether it has an
    /// order.
    fn read(&self, text: &str) -> Result<Checked, SqlError> {
        let sums = RealSums::from_flag(self.limits.real_sums);
        let checked =
            deterministic::admit_with(text, &self.snapshot.catalog, &Dialect::Postgres, sums)?;
        let admitted = self.snapshot.admit(&SqlQuery::new(&checked.sql))?;
        Ok(Checked { sql: admitted.sql, ..checked })
    }

    /// Runs a statement, whose rows are counted and, for a comparison, retained.
    async fn count_rows(&mut self, sql: &str, is_retained: bool) -> Result<Counted, SqlError> {
        let limits = self.limits;
        self.connection
            .work(sql, |pinned, sql| {
                Box::pin(async move {
                    pinned.allow_rows();
                    let mut counted = Counted::new(limits, is_retained);
                    let ended = rows::each(pinned.client(), sql, |row| counted.take(row)).await;
                    ended.map(|_| counted).map_err(|ended| pinned.stream_error(ended, sql))
                })
            })
            .await
    }

    async fn rows(&mut self, sql: &str) -> Result<Rows, SqlError> {
        Ok(self.count_rows(sql, true).await?.rows())
    }
}

/// The server's analysis of a statement with what it uses; the statement does not run. The inner
/// error is a refusal, after which the snapshot is still there.
async fn analyse(
    pinned: &mut Pinned,
    sql: &str,
) -> Result<Result<(Used, Objects), SqlError>, SqlError> {
    let failed = |error: &tokio_postgres::Error| pinned.server_error(error, sql, false);
    pinned.allow(ANALYSIS);
    pinned.each(&REPORT).await.map_err(|error| failed(&error))?;
    pinned.expect_tree();
    let prepared = pinned.client().prepare(sql).await;
    let tree = pinned.tree();
    if prepared.is_err() && pinned.is_exhausted() {
        return Err(unreadable_plan(tree::Unreadable::TooLong.to_string()));
    }
    pinned.each(&QUIET).await.map_err(|error| failed(&error))?;
    let statement = match prepared {
        Ok(statement) => statement,
        Err(error) => return Ok(Err(failed(&error))),
    };
    if !statement.params().is_empty() {
        return Ok(Err(analysed::refuse(
            "parameters",
            "$1",
            "parameters cannot be bound: write the value",
        )));
    }
    let used = match read_uses(tree.as_deref(), sql) {
        Ok(used) => used,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let objects = Objects::read(pinned.client(), pinned.objects(), &used)
        .await
        .map_err(|error| failed(&error))?;
    Ok(Ok((used, objects)))
}

fn unreadable_plan(reason: String) -> SqlError {
    let message = format!("the server's analysis of the statement cannot be checked: {reason}");
    SqlError::new(SqlErrorKind::Denied, message).rule("tree")
}

/// Returns the objects that an analysed statement uses.
fn read_uses(tree: Option<&str>, sql: &str) -> Result<Used, SqlError> {
    let tree = tree.ok_or_else(|| unreadable_plan("it reported none".to_owned()))?;
    let nodes = tree::read(tree).map_err(|error| unreadable_plan(error.to_string()))?;
    let used = analysed::check(&nodes)?;
    let has_times = lists::TIMES.iter().any(|time| used.types.contains(time));
    match clock_word(sql).filter(|_| has_times) {
        Some(word) => {
            Err(analysed::refuse("clock", word, "as a date or time it is another one each day"))
        }
        None => Ok(used),
    }
}

/// A word in a text of the statement that means another time each day. A text whose letters are
/// escaped, or that stands in parts, may have one.
fn clock_word(sql: &str) -> Option<&'static str> {
    let tokens = lex(sql, &Dialect::Postgres, 0).unwrap_or_default();
    let mut is_behind_text = false;
    for token in tokens.iter().filter(|token| token.is_significant()) {
        let is_text = token.kind == Kind::Text;
        if is_text {
            let text = token.text(sql).to_ascii_lowercase();
            let before = sql[..token.start]
                .chars()
                .next_back()
                .filter(|_| text.starts_with('\''))
                .unwrap_or(' ');
            let is_prefixed = before.is_ascii_alphabetic() || !text.starts_with(['\'', '$']);
            if is_behind_text || before == '&' || (is_prefixed && text.contains(['\\', '&'])) {
                return Some("a text with escapes or in parts");
            }
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            let found = words.find_map(|word| CLOCK_WORDS.into_iter().find(|clock| word == *clock));
            if found.is_some() {
                return found;
            }
        }
        is_behind_text = is_text;
    }
    None
}

#[async_trait]
impl Bench for PostgresBench {
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError> {
        let Checked { sql, tables: _, is_ordered, unnamed } = self.read(text)?;
        let checked =
            self.connection.work(&sql, |pinned, sql| Box::pin(analyse(pinned, sql))).await;
        let catalog = &self.snapshot.catalog;
        let (used, objects) = checked
            .and_then(|checked| checked)
            .map_err(|error| error::with_nearest(error, catalog))?;
        let tables = objects.judge(&used, catalog, self.limits.real_sums)?;
        let outside = within.and_then(|within| tables.iter().find(|table| !within.contains(table)));
        match outside {
            Some(table) => Err(analysed::refuse("within", table, "the original does not read it")),
            None => Ok(Admitted { sql, tables, is_ordered, unnamed }),
        }
    }

    async fn snapshot(&mut self) -> Result<(), SqlError> {
        self.connection.fresh().await
    }

    async fn columns(&mut self, admitted: &Admitted) -> Result<Vec<Column>, SqlError> {
        self.connection
            .work(&admitted.sql, |pinned, sql| {
                Box::pin(async move {
                    let prepared = pinned.client().prepare(sql).await;
                    let statement =
                        prepared.map_err(|error| pinned.server_error(&error, sql, false))?;
                    statement
                        .columns()
                        .iter()
                        .map(|column: &tokio_postgres::Column| {
                            let of = column.type_();
                            match lists::OUTPUTS.binary_search(&of.oid()) {
                                Ok(_) => Ok(Column {
                                    name: column.name().to_owned(),
                                    sql_type: name(of),
                                    ..Column::default()
                                }),
                                Err(_) => Err(rows::type_error(of)),
                            }
                        })
                        .collect()
                })
            })
            .await
    }

    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError> {
        Ok(self.count_rows(&admitted.sql, false).await?.size())
    }

    async fn compare(
        &mut self,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Result<Compared, SqlError> {
        let expected = self.rows(&original.sql).await?;
        let snapshots = self.connection.snapshots;
        let found = match self.rows(&candidate.sql).await {
            Ok(found) => found,
            Err(error) if error.rule.as_deref() == Some(syrch_core::ports::TOO_MANY_ROWS) => {
                return Ok(Compared::TooLarge);
            }
            Err(mut error) => {
                let rule = error.rule.take().map(|rule| format!(": {rule}")).unwrap_or_default();
                return Err(error.rule(format!("{CANDIDATE}{rule}")));
            }
        };
        if self.connection.snapshots != snapshots {
            return Err(SqlError::new(
                SqlErrorKind::Unavailable,
                "the server ended the snapshot of a comparison",
            ));
        }
        Ok(expected.compare(&found, original.is_ordered))
    }

    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError> {
        self.connection
            .work(&admitted.sql, |pinned, sql| {
                Box::pin(async move {
                    pinned.allow_rows();
                    let started = Instant::now();
                    let drained = rows::each(pinned.client(), sql, |_| Ok(())).await;
                    let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    let rows = drained.map_err(|ended| pinned.stream_error(ended, sql))?;
                    Ok(Timing { wall_ns, cpu_ns: None, work: None, rows })
                })
            })
            .await
    }

    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError> {
        let sql = format!("EXPLAIN {}", admitted.sql);
        self.connection
            .work(&sql, |pinned, sql| {
                Box::pin(async move {
                    let lines = pinned.client().query_typed(sql, &[]).await;
                    lines
                        .and_then(|lines| read_plan(&lines))
                        .map_err(|error| pinned.server_error(&error, sql, false))
                })
            })
            .await
    }

    async fn version(&mut self) -> Result<Option<String>, SqlError> {
        let pinned = self.watch.take_session().await.map_err(unavailable)?;
        let limit = Duration::from_millis(self.limits.statement_ms);
        let read = timeout(limit + LATER, pinned.client().query_typed_one(VERSION, &[])).await;
        let row = read.map_err(|_| deadline_error(limit))?.and_then(|row| row.try_get(0));
        let version = row.map_err(|error| pinned.server_error(&error, VERSION, true))?;
        self.watch.put(pinned);
        Ok(Some(version))
    }
}

#[cfg(test)]
mod tests;
