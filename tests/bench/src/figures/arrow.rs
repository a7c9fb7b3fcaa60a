//! How fast rows come out of SQLite: ours into Arrow, against Python's sqlite3 into pandas on the same file in the same run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use rusqlite::Connection;
use syrch_core::Limits;
use syrch_core::ports::{Database, SqlQuery};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

use crate::child::succeeded;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::World;
use crate::{Outcome, text};

const RUNS: usize = 5;
const QUERY: &str = "SELECT * FROM t";

/// Reads the table in the way of a Python user; prints seconds.
const SCRIPT: &str = "
import sqlite3, sys, time
import pandas
times = []
for _ in range(int(sys.argv[3])):
    connection = sqlite3.connect(sys.argv[1])
    begin = time.perf_counter()
    frame = pandas.read_sql_query(sys.argv[2], connection)
    times.append(time.perf_counter() - begin)
    connection.close()
    rows = len(frame)
    del frame
print(rows, sorted(times)[len(times) // 2], pandas.__version__, sys.version.split()[0])
";

/// Both, and their ratio.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let rows = world.rows;
    let folder = world.place("arrow")?;
    let path = folder.join("large.sqlite");
    fill(&path, rows)?;
    // Meanwhile the system writes the new file to the disk, and does not do so while the rows are read.
    let python = Python::install(&folder, &["pandas"]);
    let ours = f64::from(rows) / seconds(world, &path)?;
    let what = format!("SQLite to Arrow, {} rows × 10 columns", thousands(rows));
    let mut figures = vec![Figure::new(what, ours, "rows/s").note(format!("median of {RUNS}"))];
    let ratio = "that against Python's sqlite3 into pandas";
    let of_file = path.display().to_string();
    let theirs = python.and_then(|python| python.rate(SCRIPT, &[&of_file, QUERY, &RUNS.to_string()], rows));
    figures.extend(match theirs {
        Ok((theirs, versions)) => vec![
            Figure::new("Python's sqlite3 into pandas, the same rows", theirs, "rows/s")
                .note(format!("pandas and Python {versions}")),
            Figure::new(ratio, ours / theirs, "×").at_least(4.0),
        ],
        Err(error) => vec![Figure::unmeasured(ratio, format!("pandas cannot be had: {error}"))],
    });
    Ok(figures)
}

/// A number of rows in words.
pub(super) fn thousands(rows: u32) -> String {
    if rows.is_multiple_of(1_000_000) { format!("{} million", rows / 1_000_000) } else { rows.to_string() }
}

/// Whole numbers, reals, short and long texts, dates and some NULLs.
fn fill(path: &Path, rows: u32) -> Outcome<()> {
    let script = format!(
        "PRAGMA journal_mode = OFF;
         CREATE TABLE t(id INTEGER PRIMARY KEY, shop INT, quantity INT, price REAL, discount REAL, customer TEXT,
                        city TEXT, day DATE, parent INT, remark TEXT);
         WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {rows})
         INSERT INTO t SELECT n, n % 7, n * 3, n / 2.0, (n % 10) / 100.0, 'customer ' || (n % 5000), 'city ' || (n % 100),
                date('2020-01-01', (n % 1000) || ' days'), iif(n % 5 = 0, NULL, n / 5),
                iif(n % 3 = 0, NULL, 'delivered on time to the door of ' || n) FROM r;"
    );
    Ok(Connection::open(path)?.execute_batch(&script)?)
}

/// The median time of the whole table as a search's executor reads it, guard included, but without its caps.
fn seconds(world: &World, path: &Path) -> Outcome<f64> {
    let limits = Limits { rows: u64::MAX, result_bytes: usize::MAX, ..Limits::default() };
    let config = SqliteConfig { limits, memory: 1 << 30, ..SqliteConfig::new(path) };
    let database = SqliteDatabase::open(config)?;
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begin = Instant::now();
        let results = world.runtime.block_on(database.run(&SqlQuery::new(QUERY)))?;
        times.push(begin.elapsed().as_secs_f64());
        if results.row_count() != u64::from(world.rows) || results.schema().fields().len() != 10 {
            return Err(format!("{} of {} rows came", results.row_count(), world.rows).into());
        }
    }
    Ok(median(times))
}

/// Python in an environment of its own, which goes away with its folder.
pub(super) struct Python(PathBuf);

impl Python {
    /// Installs these packages.
    pub(super) fn install(folder: &Path, packages: &[&str]) -> Outcome<Self> {
        let environment = folder.join("python");
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        let python = environment.join("bin/python");
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(&python).args(pip).args(packages))?;
        Ok(Self(python))
    }

    /// Rows per second that a script reads, and the two versions that it prints.
    pub(super) fn rate(&self, script: &str, arguments: &[&str], rows: u32) -> Outcome<(f64, String)> {
        let printed = run(Command::new(&self.0).args(["-c", script]).args(arguments))?;
        let words: Vec<&str> = printed.split_whitespace().collect();
        let [count, seconds, one, other] = words.as_slice() else {
            return Err(format!("it printed `{}`", printed.trim()).into());
        };
        if *count != rows.to_string() {
            return Err(format!("it read {count} rows").into());
        }
        Ok((f64::from(rows) / seconds.parse::<f64>()?, format!("{one}, {other}")))
    }
}

/// What a command printed, once it has succeeded.
fn run(command: &mut Command) -> Outcome<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    succeeded(&output)?;
    Ok(text(&output.stdout))
}
