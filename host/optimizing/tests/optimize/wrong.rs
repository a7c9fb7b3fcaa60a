//! Wrong rewrites: mutants of real statements over real databases, with a clock by which every
//! other statement is faster. None whose rows differ is accepted, which an independent comparison
//! checks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use syrch::databases::open_database;
use syrch::{Error, Host};
use syrch_core::ports::{
    Admitted, Bench, BenchLimits, CellIndex, ColumnStats, Compared, Database, DatabaseError, Facts,
    Match, Plan, PortError, ResultSize, Sample, SqlQuery, Timing,
};
use syrch_core::roles::{Attempt, Call, Proposal, Rewriter};
use syrch_core::{Catalog, Column, Dialect, Hit, ResultSet, RoleError, SqlError};
use syrch_optimizing::{IterationState as State, Optimizes, Outcome, Report, Settings};
use syrch_sqlite_copies::{VariantConfig, literals, make_variant};

use crate::fake::proposal;
use crate::mutate::mutants;

/// A database whose clock lies: each statement takes half the time of the one that was timed first
/// before it.
struct Lying(Arc<dyn Database>);

#[async_trait]
impl CellIndex for Lying {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.0.samples(table, columns, limit).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.0.find(phrases, how, limit).await
    }
}

#[async_trait]
impl Database for Lying {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    async fn identity(&self) -> Option<String> {
        self.0.identity().await
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        self.0.catalog().await
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.0.compose(query)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        self.0.check(query).await
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        self.0.explain(query).await
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        self.0.run(query).await
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.0.column_stats(table, columns).await
    }

    async fn bench(&self, limits: BenchLimits) -> Result<Box<dyn Bench>, PortError> {
        let bench = self.0.bench(limits).await?;
        Ok(Box::new(LyingBench { bench, known: BTreeMap::new() }))
    }
}

struct LyingBench {
    bench: Box<dyn Bench>,
    known: BTreeMap<String, u64>,
}

#[async_trait]
impl Bench for LyingBench {
    async fn admit(&mut self, text: &str, within: Option<&[String]>) -> Result<Admitted, SqlError> {
        self.bench.admit(text, within).await
    }

    async fn snapshot(&mut self) -> Result<(), SqlError> {
        self.bench.snapshot().await
    }

    async fn columns(&mut self, admitted: &Admitted) -> Result<Vec<Column>, SqlError> {
        self.bench.columns(admitted).await
    }

    async fn size(&mut self, admitted: &Admitted) -> Result<ResultSize, SqlError> {
        self.bench.size(admitted).await
    }

    async fn compare(
        &mut self,
        original: &Admitted,
        candidate: &Admitted,
    ) -> Result<Compared, SqlError> {
        self.bench.compare(original, candidate).await
    }

    async fn time(&mut self, admitted: &Admitted) -> Result<Timing, SqlError> {
        let number = self.known.len() as u32;
        let wall_ns =
            *self.known.entry(admitted.sql.clone()).or_insert(u64::MAX >> (number + 2).min(62));
        Ok(Timing { wall_ns, ..Timing::default() })
    }

    async fn explain(&mut self, admitted: &Admitted) -> Result<Plan, SqlError> {
        self.bench.explain(admitted).await
    }

    async fn version(&mut self) -> Result<Option<String>, SqlError> {
        self.bench.version().await
    }
}

struct Proposes(Vec<String>);

#[async_trait]
impl Rewriter for Proposes {
    async fn rewrite(
        &self,
        _: Call,
        _: &str,
        _: &str,
        _: &Plan,
        _: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, RoleError> {
        Ok(self.0.get(history.len()).map(|sql| proposal(sql)))
    }
}

/// The statements of Spider's databases, each once.
fn golds(data: &Path) -> BTreeMap<PathBuf, Vec<String>> {
    let mut all: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(data.join("spider/questions.jsonl")).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let statements =
            all.entry(data.join("spider/db").join(format!("{}.sqlite", text("db")))).or_default();
        if !statements.contains(&text("gold_sql")) {
            statements.push(text("gold_sql"));
        }
    }
    all
}

/// The rows of a statement, with the bits of reals; `None` when it fails.
fn rows(database: &Connection, sql: &str) -> Option<Vec<Vec<String>>> {
    let mut statement = database.prepare(sql).ok()?;
    let width = statement.column_count();
    statement
        .query_map([], |row: &rusqlite::Row<'_>| {
            (0..width)
                .map(|column| {
                    row.get(column).map(|value: Value| match value {
                        Value::Real(real) => format!("real {:x}", real.to_bits()),
                        other => format!("{other:?}"),
                    })
                })
                .collect()
        })
        .ok()?
        .take(200_000)
        .collect::<Result<_, _>>()
        .ok()
}

fn is_equal(database: &Connection, original: &str, other: &str, is_ordered: bool) -> bool {
    let (Some(mut original), Some(mut other)) = (rows(database, original), rows(database, other))
    else {
        return false;
    };
    if !is_ordered {
        original.sort();
        other.sort();
    }
    original == other
}

/// A product of tables that takes longer is no rewrite that anybody would accept.
const LIMITS: BenchLimits = BenchLimits {
    rows: 10_000,
    bytes: 10_000_000,
    statement_ms: 1_000,
    lock_ms: 5_000,
    real_sums: false,
};

/// The mutants of a statement, mutants of these and so on, until there are so many.
fn many_mutants(sql: &str, most: usize) -> Vec<String> {
    let mut all = mutants(sql);
    let mut place = 0;
    while place < all.len() && all.len() < most {
        let second = mutants(&all[place])
            .into_iter()
            .filter(|mutant| mutant != sql && !all.contains(mutant));
        let second: Vec<String> = second.take(most.saturating_sub(all.len())).collect();
        all.extend(second);
        place += 1;
    }
    all.truncate(most);
    all
}

/// The counts of the mutants' results.
#[derive(Debug, Default)]
struct Counts {
    statements: usize,
    admitted: usize,
    mutants: usize,
    /// The number of mutants that no check refused, so that their rows were compared.
    compared: usize,
    differing: usize,
    accepted: usize,
    wrong: Vec<String>,
}

impl Counts {
    fn add(&mut self, database: &Connection, report: &Report) {
        self.admitted += 1;
        for iteration in &report.iterations {
            self.mutants += 1;
            let is_compared = matches!(
                iteration.state,
                State::Kept
                    | State::DiscardedSlower
                    | State::FailedMismatch
                    | State::FailedTieReorder
            );
            if !is_compared {
                continue;
            }
            self.compared += 1;
            let is_equal = is_equal(database, &report.original, &iteration.sql, report.is_ordered);
            self.differing += usize::from(!is_equal);
            if iteration.state == State::Kept {
                self.accepted += 1;
                if !is_equal {
                    self.wrong.push(format!("{}\n  {}", report.original, iteration.sql));
                }
            }
        }
    }
}

/// Optimizes every statement with so many of its mutants as proposals, until there were `most` in
/// all.
async fn measure(data: &Path, most: usize, of_each: u32) -> Counts {
    let mut counts = Counts::default();
    let settings = Settings {
        iterations: of_each,
        min_gain: 0.0,
        min_gain_ms: 0,
        pairs: 3,
        ..Settings::default()
    };
    // One of each database in turn, so that few mutants are of many databases.
    let mut databases = Vec::new();
    for (path, statements) in golds(data) {
        let settings =
            syrch::Settings { database: path.display().to_string(), ..syrch::Settings::default() };
        let database: Arc<dyn Database> = Arc::new(Lying(open_database(&settings).await.unwrap()));
        let host = Host::builder().database(database).open().await.unwrap();
        let plain = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        databases.push((host, plain, statements));
    }
    let longest =
        databases.iter().map(|(_, _, statements)| statements.len()).max().unwrap_or_default();
    'all: for place in 0..longest {
        for (host, plain, statements) in &databases {
            let Some(sql) = statements.get(place) else { continue };
            counts.statements += 1;
            let rewriter = Arc::new(Proposes(many_mutants(sql, settings.iterations as usize)));
            let optimize = host.optimize(sql).settings(settings).limits(LIMITS).rewriter(rewriter);
            let optimized = optimize.run().await.unwrap();
            if optimized.report.outcome.is_unsupported() {
                continue;
            }
            assert_ne!(
                optimized.report.outcome,
                Outcome::Error,
                "{sql}: {:?}",
                optimized.report.reason
            );
            counts.add(plain, &optimized.report);
            if counts.mutants >= most {
                break 'all;
            }
        }
    }
    counts
}

fn check(counts: &Counts, least: usize) {
    let Counts { statements, admitted, mutants, compared, differing, accepted, wrong } = counts;
    println!(
        "{statements} statements, {admitted} admitted; {mutants} mutants, {compared} compared, \
         {differing} with other rows, {accepted} accepted, {} of them wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        *mutants >= least && differing * 3 > *compared && *accepted > compared / 50,
        "{counts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_wrong_rewrite_is_accepted_however_fast_it_looks() {
    let Some(data) = syrch_kit::data_root() else { return };
    check(&measure(&data, 500, 8).await, 500);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a figure: make figures"]
async fn no_wrong_rewrite_of_ten_thousand_is_accepted() {
    let Some(data) = syrch_kit::data_root() else { return };
    check(&measure(&data, 10_000, 50).await, 10_000);
}

/// A bench over a file.
async fn bench(path: &Path) -> Result<(Arc<dyn Database>, Box<dyn Bench>), Error> {
    let settings =
        syrch::Settings { database: path.display().to_string(), ..syrch::Settings::default() };
    let database = open_database(&settings).await?;
    let bench = database.bench(LIMITS).await.map_err(|error| Error::Config(error.to_string()))?;
    Ok((database, bench))
}

async fn is_equal_on(bench: &mut dyn Bench, original: &Admitted, candidate: &Admitted) -> bool {
    bench.snapshot().await.is_ok()
        && matches!(bench.compare(original, candidate).await, Ok(Compared::Equal(_)))
}

/// The share of rewrites that are equal on the database and on six changed copies of it, and are
/// not on a further copy.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a figure: make figures"]
async fn six_copies_find_what_is_right_by_luck() {
    const COPIES: u64 = 6;
    let Some(data) = syrch_kit::data_root() else { return };
    let mut on_database = 0;
    let mut on_copies = 0;
    let mut lucky = Vec::new();
    for (path, statements) in golds(&data) {
        let folder = syrch_kit::scratch();
        let (_database, mut real) = bench(&path).await.unwrap();
        real.snapshot().await.unwrap();
        let mut copies = Vec::new();
        for seed in 0..=COPIES {
            let target = folder.path().join(format!("{seed}.sqlite"));
            let keep = literals(statements.iter().map(String::as_str));
            make_variant(
                &path,
                &target,
                1_000 + seed,
                &VariantConfig { keep, ..VariantConfig::default() },
            )
            .unwrap();
            copies.push(bench(&target).await.unwrap());
        }
        for sql in &statements {
            let Ok(original) = real.admit(sql, None).await else { continue };
            let Ok(columns) = real.columns(&original).await else { continue };
            for mutant in mutants(sql) {
                let Ok(candidate) = real.admit(&mutant, Some(&original.tables)).await else {
                    continue;
                };
                let same = |found: &Vec<Column>| {
                    let named = |column: &Column| (column.name.clone(), column.sql_type.clone());
                    found.iter().map(named).eq(columns.iter().map(named))
                };
                let has_columns = real.columns(&candidate).await.is_ok_and(|found| same(&found));
                if !has_columns || !is_equal_on(real.as_mut(), &original, &candidate).await {
                    continue;
                }
                on_database += 1;
                let mut equal = 0;
                for (_, copy) in &mut copies {
                    if !is_equal_on(copy.as_mut(), &original, &candidate).await {
                        break;
                    }
                    equal += 1;
                }
                on_copies += u64::from(equal >= COPIES);
                if equal == COPIES {
                    lucky.push(format!("{}\n  {}", original.sql, candidate.sql));
                }
            }
        }
    }
    let share = lucky.len() as f64 / (on_copies as f64).max(1.0);
    println!("{}", lucky.join("\n"));
    println!(
        "{on_database} mutants equal on the database, {on_copies} of them on {COPIES} copies, \
         {} of these not on a further one: {:.2} %",
        lucky.len(),
        share * 100.0
    );
    assert!(on_copies > 100 && on_copies < on_database);
}
