//! Readers of untrusted bytes, each with the properties that hold for any input: the guard of each
//! dialect, replies, journals, archives of plugins, components, and files of rows.
//!
//! A target panics where a property does not hold. `tests/corpus.rs` runs each over the committed
//! corpus and changes of it; the programs in `fuzz` do the same under libFuzzer, which searches for
//! inputs that reach code which no other has reached.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a library for tests: a property that does not hold fails the test"
)]

#[cfg(feature = "components")]
mod archive;
#[cfg(feature = "components")]
mod component;
mod guard;
mod journal;
mod mutate;
mod replies;
#[cfg(feature = "databases")]
mod rows;
#[cfg(feature = "databases")]
mod sqlite;

pub use mutate::Mutations;

/// One entry for untrusted bytes.
pub struct Target {
    /// The name of its program, of its corpus and of its dictionary, if it has one.
    pub name: &'static str,
    /// Hands an input to the entry, and panics where a property does not hold.
    pub check: fn(&[u8]),
    /// The engine of `tests/sql` whose statements are inputs, too.
    pub engine: Option<&'static str>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    #[cfg(feature = "components")]
    Target::new("archive", archive::check),
    #[cfg(feature = "components")]
    Target::new("component", component::check),
    #[cfg(feature = "databases")]
    Target::new("csv", rows::check_csv),
    Target::for_engine("guard_ansi", guard::check_ansi, "ansi"),
    Target::for_engine("guard_databricks", guard::check_databricks, "databricks"),
    Target::for_engine("guard_duckdb", guard::check_duckdb, "duckdb"),
    Target::for_engine("guard_postgres", guard::check_postgres, "postgres"),
    Target::for_engine("guard_spark", guard::check_spark, "spark"),
    #[cfg(feature = "databases")]
    Target::for_engine("guard_sqlite", sqlite::check, "sqlite"),
    Target::new("journal", journal::check),
    #[cfg(feature = "databases")]
    Target::new("json_lines", rows::check_json_lines),
    Target::new("reply", replies::check),
];

impl Target {
    const fn new(name: &'static str, check: fn(&[u8])) -> Self {
        Self { name, check, engine: None }
    }

    const fn for_engine(name: &'static str, check: fn(&[u8]), engine: &'static str) -> Self {
        Self { name, check, engine: Some(engine) }
    }
}

/// Runs the target of that name.
///
/// # Panics
/// Where there is none, and where a property does not hold.
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    (target.check)(input);
}
