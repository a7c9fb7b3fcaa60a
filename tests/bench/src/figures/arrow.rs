//! Measures how fast rows come out of SQLite: ours into Arrow, against Python's sqlite3 into pandas
//! on the same file in the same run, alternately.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;
use syrch_core::Limits;
use syrch_core::ports::{Database, SqlQuery};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

use crate::child::check_success;
use crate::figure::Figure;
use crate::samples::median;
use crate::world::World;
use crate::{Outcome, text};

pub(super) const RUNS: usize = 5;
pub(super) const QUERY: &str = "SELECT * FROM t";

/// Reads the table in the way of a Python user, once for each line that it is sent.
const SCRIPT: &str = "
import sqlite3, sys, time
import pandas
print(pandas.__version__, sys.version.split()[0], flush=True)
for _ in sys.stdin:
    connection = sqlite3.connect(sys.argv[1])
    begin = time.perf_counter()
    frame = pandas.read_sql_query(sys.argv[2], connection)
    taken = time.perf_counter() - begin
    connection.close()
    rows = len(frame)
    del frame
    print(rows, taken, flush=True)
";

/// Measures both and their ratio.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let rows = world.rows;
    let folder = world.place("arrow")?;
    let path = folder.join("large.sqlite");
    fill(&path, rows)?;
    let mut python =
        Python::start(&folder, &["pandas"], SCRIPT, &[&path.display().to_string(), QUERY]);
    let limits = Limits { rows: u64::MAX, result_bytes: usize::MAX, ..Limits::default() };
    let config = SqliteConfig { limits, memory: 1 << 30, ..SqliteConfig::new(&path) };
    let database: Arc<dyn Database> = Arc::new(SqliteDatabase::open(config)?);
    let mut ours = Vec::new();
    for _ in 0..RUNS {
        ours.push(rate(world, &database)?);
        python = python.and_then(|script| script.read(rows));
    }
    let ours = median(ours);
    let what = format!("SQLite to Arrow, {} rows × 10 columns", thousands(rows));
    let mut figures = vec![Figure::new(what, ours, "rows/s").note(format!("median of {RUNS}"))];
    let ratio = "that against Python's sqlite3 into pandas";
    match python {
        Ok(python) => {
            let theirs = median(python.rates.clone());
            figures.extend([
                Figure::new("Python's sqlite3 into pandas, the same rows", theirs, "rows/s")
                    .note(format!("pandas and Python {}", python.versions)),
                Figure::new(ratio, ours / theirs, "×").at_least(4.0),
            ]);
        }
        Err(error) => {
            figures.push(Figure::without_measure(ratio, format!("pandas cannot be had: {error}")))
        }
    }
    Ok(figures)
}

/// A number of rows in words.
pub(super) fn thousands(rows: u32) -> String {
    if rows.is_multiple_of(1_000_000) {
        format!("{} million", rows / 1_000_000)
    } else {
        rows.to_string()
    }
}

/// Whole numbers, reals, short and long texts, dates and some NULLs.
fn fill(path: &Path, rows: u32) -> Outcome<()> {
    let script = format!(
        "PRAGMA journal_mode = OFF;
         CREATE TABLE t(id INTEGER PRIMARY KEY, shop INT, quantity INT, price REAL, discount REAL, \
           customer TEXT,
                        city TEXT, day DATE, parent INT, remark TEXT);
         WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {rows})
         INSERT INTO t SELECT n, n % 7, n * 3, n / 2.0, (n % 10) / 100.0, 'customer ' || (n % \
           5000), 'city ' || (n % 100),
                date('2020-01-01', (n % 1000) || ' days'), iif(n % 5 = 0, NULL, n / 5),
                iif(n % 3 = 0, NULL, 'delivered on time to the door of ' || n) FROM r;"
    );
    Ok(Connection::open(path)?.execute_batch(&script)?)
}

/// Rows per second of the whole table as a search's executor reads it, guard included, but without
/// its caps.
pub(super) fn rate(world: &World, database: &Arc<dyn Database>) -> Outcome<f64> {
    let begin = Instant::now();
    // In a task, as a search does.
    let database = Arc::clone(database);
    let task = world.runtime.spawn(async move { database.run(&SqlQuery::new(QUERY)).await });
    let results = world.runtime.block_on(task)??;
    let taken = begin.elapsed();
    if results.row_count() != u64::from(world.rows) || results.schema().fields().len() != 10 {
        return Err(format!("{} of {} rows came", results.row_count(), world.rows).into());
    }
    Ok(f64::from(world.rows) / taken.as_secs_f64())
}

/// A Python script in an environment of its own, which goes away with its folder.
pub(super) struct Python {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    /// The versions that the script printed at its start.
    pub(super) versions: String,
    /// Rows per second of each reading.
    pub(super) rates: Vec<f64>,
}

impl Python {
    /// Installs the packages and starts the script. The script prints its versions first; for each
    /// line that it is sent, it prints the number of rows and the seconds.
    pub(super) fn start(
        folder: &Path,
        packages: &[&str],
        script: &str,
        arguments: &[&str],
    ) -> Outcome<Self> {
        let environment = folder.join("python");
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        let python = environment.join("bin/python");
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(&python).args(pip).args(packages))?;
        let mut command = Command::new(&python);
        command.args(["-c", script]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let requests = child.stdin.take().ok_or("no standard input")?;
        let replies = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        let mut started =
            Self { child, requests, replies, versions: String::new(), rates: Vec::new() };
        started.versions = started.line()?.join(", ");
        Ok(started)
    }

    /// Makes the script read the table once more, and records its rate. Fails when it read another
    /// number of rows.
    pub(super) fn read(mut self, rows: u32) -> Outcome<Self> {
        writeln!(self.requests)?;
        let line = self.line()?;
        match line.as_slice() {
            [count, seconds] if *count == rows.to_string() => {
                self.rates.push(f64::from(rows) / seconds.parse::<f64>()?);
                Ok(self)
            }
            _ => Err(format!("it printed `{}`", line.join(" ")).into()),
        }
    }

    fn line(&mut self) -> Outcome<Vec<String>> {
        let mut line = String::new();
        if self.replies.read_line(&mut line)? == 0 {
            return Err("the script ended; its error is above".into());
        }
        Ok(line.split_whitespace().map(str::to_owned).collect())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command, which must succeed, and returns what it printed.
fn run(command: &mut Command) -> Outcome<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    check_success(&output)?;
    Ok(text(&output.stdout))
}
