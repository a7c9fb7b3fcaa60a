//! Cases for every database engine, which run against one fixture. An engine takes part by
//! implementing [`Engine`] in a test of its own: it makes the fixture, declares what it can do, and
//! [`run`] reports each case as passed, skipped or failed.
//!
//! A case that does not apply is skipped because of a declared capability, never because of an
//! engine's name.

mod cases;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::Database;
use syrch_core::{Dialect, Limits};

use cases::Case;

/// Rows of the fixture's table `numbers`: 1 to 100.
pub const NUMBERS: i64 = 100;

/// The fixture as SQL that SQLite, PostgreSQL and DuckDB take. Engines with other types or quotes
/// write their own with the same names, rows and keys. `mixed case` has a table, a column and a
/// reserved word that need quotes.
pub const FIXTURE: &str = r#"
CREATE TABLE numbers (n INTEGER NOT NULL);
WITH RECURSIVE series(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM series WHERE i < 100)
INSERT INTO numbers SELECT i FROM series;
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
    height DOUBLE PRECISION, note TEXT);
INSERT INTO people VALUES (1, 'Zoë', 1.75, NULL), (2, 'Łukasz', NULL, ''),
    (3, '名前 🦆', 2.5, 'It''s');
CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER NOT NULL REFERENCES people(id),
    total INTEGER);
INSERT INTO orders VALUES (10, 1, 5), (11, 1, NULL), (12, 3, 7);
CREATE TABLE "Order Details" ("Product ""Name""" TEXT, "select" INTEGER);
INSERT INTO "Order Details" VALUES ('Lamp', 1);
"#;

/// The capabilities of an engine. Everything else is required of all engines.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability that has nothing to do with the others"
)]
pub struct Capabilities {
    /// The dialect of its databases.
    pub dialect: Dialect,
    /// The quote around names, doubled within them.
    pub quote: char,
    /// The name of the fixture's table that is `Order Details` where an engine takes spaces in
    /// names of tables.
    pub odd_table: &'static str,
    /// The catalog knows which columns are never NULL. Otherwise all may be.
    pub has_not_null: bool,
    /// `Database::identity` changes when a table changes. Otherwise it must be `None`.
    pub has_identity: bool,
    /// The catalog has primary and foreign keys.
    pub has_keys: bool,
    /// `Database::explain` has plans. Otherwise it must fail.
    pub has_plans: bool,
    /// `Database::column_stats` and `CellIndex::samples` work. Otherwise they must fail as
    /// `PortError::Unsupported`.
    pub has_statistics: bool,
    /// A statement that is compiled may be ended by its deadline, or by dropping its future.
    pub can_interrupt: bool,
    /// Statements of one database run at once: a short one does not wait for a long one.
    pub is_concurrent: bool,
}

impl Capabilities {
    /// All capabilities, for an engine of that dialect whose names stand between double quotes.
    #[must_use]
    pub fn all(dialect: Dialect) -> Self {
        Self {
            dialect,
            quote: '"',
            odd_table: "Order Details",
            has_not_null: true,
            has_identity: true,
            has_keys: true,
            has_plans: true,
            has_statistics: true,
            can_interrupt: true,
            is_concurrent: true,
        }
    }
}

/// An engine under test with a database that holds the [`FIXTURE`] and nothing else.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Returns the capabilities of the engine.
    fn capabilities(&self) -> Capabilities;

    /// Opens the database. It is called once for each case, with the limits that the case is about.
    async fn open(&self, limits: Limits) -> Arc<dyn Database>;

    /// Changes the database as another program would: adds the row `(13, 3, 9)` to `orders`. It is
    /// called at most once for an engine that has identities.
    async fn change(&self);
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The engine did what it must.
    Passed,
    /// The case is about a capability that the engine does not declare.
    Skipped(&'static str),
    /// The engine did something else, which the text describes.
    Failed(String),
}

/// The outcome of every case, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report(pub BTreeMap<&'static str, Outcome>);

impl Report {
    /// The failed cases with what the engine did, a line each.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let failed = self.0.iter().filter_map(|(name, outcome)| match outcome {
            Outcome::Failed(why) => Some(format!("{name}: {why}")),
            Outcome::Passed | Outcome::Skipped(_) => None,
        });
        failed.collect()
    }

    /// The names of the skipped cases.
    #[must_use]
    pub fn names_of_skipped(&self) -> Vec<&'static str> {
        let skipped = self.0.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Skipped(_)));
        skipped.map(|(name, _)| *name).collect()
    }
}

/// Runs all cases, one after the other.
pub async fn run(engine: &dyn Engine) -> Report {
    let mut outcomes = BTreeMap::new();
    for case in cases::all() {
        outcomes.insert(case.name, outcome(engine, &case).await);
    }
    Report(outcomes)
}

/// Runs one case; `None` if there is none of that name.
pub async fn run_case(engine: &dyn Engine, name: &str) -> Option<Outcome> {
    let case = cases::all().into_iter().find(|case| case.name == name)?;
    Some(outcome(engine, &case).await)
}

async fn outcome(engine: &dyn Engine, case: &Case) -> Outcome {
    let capabilities = engine.capabilities();
    if let Some((capability, _)) = case.needs.filter(|(_, has)| !has(&capabilities)) {
        return Outcome::Skipped(capability);
    }
    match (case.check)(engine).await {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Failed(why),
    }
}
