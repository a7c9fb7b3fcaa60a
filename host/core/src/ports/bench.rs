//! Comparing and measuring statements: what an executor implements for the verified optimizer. No
//! plugin sees it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::{Column, SqlError};

/// The rule of an error which says that the result has more rows or bytes than [`BenchLimits`]
/// allow.
pub const TOO_MANY_ROWS: &str = "result-size";

/// The rule of an error which says that a column has a type whose values cannot be compared
/// exactly.
pub const UNSUPPORTED_TYPE: &str = "output-type";

/// The bounds of one bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchLimits {
    /// The most rows of a result that is compared.
    pub rows: u64,
    /// The most bytes of a result that is compared, counted while it is read.
    pub bytes: u64,
    /// The longest time of one statement, in milliseconds.
    pub statement_ms: u64,
    /// The longest time that a statement waits for a lock, in milliseconds.
    pub lock_ms: u64,
    /// True if sums and means of reals are admitted, whose last digits depend on the order in which
    /// the engine adds. They are compared bit for bit like all values.
    #[serde(default)]
    pub real_sums: bool,
}

impl Default for BenchLimits {
    /// 10,000 rows of 10 MB in all, 120 s a statement, 5 s for a lock, no sums of reals.
    fn default() -> Self {
        Self {
            rows: 10_000,
            bytes: 10_000_000,
            statement_ms: 120_000,
            lock_ms: 5_000,
            real_sums: false,
        }
    }
}

/// A statement that both checks let through: the host's own and the engine's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// The statement as it was written again after the check, without comments, every output column
    /// with a name. This text alone is sent, shown and run.
    pub sql: String,
    /// The tables that it reads, as the engine resolved them, spelled as the catalog spells them;
    /// sorted.
    pub tables: Vec<String>,
    /// True if the outermost query has ORDER BY, so that the order of rows counts.
    pub is_ordered: bool,
    /// The names that output columns were given because the statement gives them none. They are no
    /// part of a comparison.
    #[serde(default)]
    pub unnamed: Vec<String>,
}

/// The cost of executing a statement. Nothing of the result is retained.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Wall-clock time until the last row was drained, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the executing thread in nanoseconds, where it runs in this process.
    pub cpu_ns: Option<u64>,
    /// The engine's own count of its work, where it has one: SQLite's steps of its virtual machine,
    /// PostgreSQL's blocks.
    pub work: Option<u64>,
    /// The rows that were drained.
    pub rows: u64,
}

/// The size of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ResultSize {
    /// The number of rows.
    pub rows: u64,
    /// The bytes of their cells.
    pub bytes: u64,
}

/// The comparison of a candidate's result with that of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// Exactly the same rows, in the same order where the original has ORDER BY. Of so many rows.
    Equal(u64),
    /// The same rows as a multiset, in another order, though the original has ORDER BY.
    Reordered,
    /// The results differ in at least one row, or in how often a row occurs.
    Different,
    /// The candidate has more rows or bytes than the limits allow; the original has not.
    TooLarge,
}

/// One connection of its own, on which statements are compared and measured one after the other.
/// Nothing of it is pooled, cached or shared, every statement runs under a read-only session, and
/// none can change the database. After an error the bench is ready for the next call.
#[async_trait]
pub trait Bench: Send {
    /// Called before anything else happens with a statement. Checks by an allow-list that it is one
    /// deterministic SELECT over ordinary tables, first by its text and then by what the engine
    /// made of it, without running it. `within` are the tables of the original: a candidate may
    /// read no others.
    ///
    /// # Errors
    /// An error with the rule, and with the token in its message, when the statement is refused.
    /// [`SqlErrorKind::Syntax`](crate::SqlErrorKind) when it does not parse.
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError>;
    /// Ends the present snapshot, if there is one, and takes a fresh one. All later calls read it.
    ///
    /// # Errors
    /// When the database is locked or gone.
    async fn snapshot(&mut self) -> Result<(), SqlError>;
    /// Called before any row is read. Returns the result's columns, in order, with the engine's
    /// name of each type.
    ///
    /// # Errors
    /// When the engine refuses the statement; with the rule [`UNSUPPORTED_TYPE`] when a column
    /// cannot be compared exactly.
    async fn columns(&mut self, admitted: &Admitted) -> Result<Vec<Column>, SqlError>;
    /// Runs a statement once and counts its rows and bytes while they stream.
    ///
    /// # Errors
    /// With the rule [`TOO_MANY_ROWS`] as soon as a limit is passed; when the engine ends the
    /// statement.
    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError>;
    /// Runs both in the present snapshot, whose rows it compares cell by cell without any coercion:
    /// bytes of text, bits of reals, digits of exact numbers.
    ///
    /// # Errors
    /// When the engine ends one of them; with the rule [`TOO_MANY_ROWS`] when the original is too
    /// large, and [`CANDIDATE`] as the prefix of the rule when the candidate failed.
    async fn compare(
        &mut self,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Result<Compared, SqlError>;
    /// Executes a statement and drains its rows without building anything of them.
    ///
    /// # Errors
    /// When the engine ends the statement.
    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError>;
    /// Called for the engine's plan of a statement, which is not run.
    ///
    /// # Errors
    /// When the engine refuses the statement.
    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError>;
    /// Called outside a measurement. Returns a text that is equal as long as nobody has written to
    /// the tables that the bench reads; `None` when the engine cannot detect writes.
    ///
    /// # Errors
    /// When the database is gone.
    async fn version(&mut self) -> Result<Option<String>, SqlError>;
}

/// The prefix of the rule of an error of [`Bench::compare`] that the candidate caused, such as
/// `candidate: deadline`.
pub const CANDIDATE: &str = "candidate";
