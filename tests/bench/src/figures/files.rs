//! Files of rows: a large CSV file is read into a private database, against DuckDB's `read_csv`
//! into a table in the same run, alternately; and a question is asked on what was read, against its
//! statement alone.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};
use syrch::Settings;
use syrch::imports::ImportSettings;

use super::arrow::Python;
use crate::Outcome;
use crate::child::{check_success, host};
use crate::figure::Figure;
use crate::rates::ratio;
use crate::samples::{greatest, median, milliseconds};
use crate::world::World;

/// Rows of the file, which has 37 MB.
const ROWS: u32 = 336_776;
const RUNS: usize = 5;
const QUESTION: &str = "What is the average distance for each carrier?";
const STATEMENT: &str = "SELECT carrier, AVG(distance) FROM flights GROUP BY carrier";
/// The greatest time that a question may take beside its statement, in milliseconds.
const BESIDE: f64 = 100.0;

/// Reads the file into a table of a new database file, once for each line that it is sent.
const SCRIPT: &str = "
import os, sys, time
import duckdb
print('DuckDB', duckdb.__version__, flush=True)
source, target = sys.argv[1:]
for _ in sys.stdin:
    if os.path.exists(target):
        os.remove(target)
    begin = time.perf_counter()
    connection = duckdb.connect(target)
    connection.execute('CREATE TABLE flights AS SELECT * FROM read_csv(?)', [source])
    connection.close()
    taken = time.perf_counter() - begin
    connection = duckdb.connect(target)
    rows = connection.execute('SELECT count(*) FROM flights').fetchone()[0]
    connection.close()
    print(rows, taken, flush=True)
";

/// Measures the import, its ratio, and a question.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let folder = world.place("files")?;
    let source = folder.join("flights.csv");
    fs::write(&source, flights())?;
    let target = folder.join("flights.duckdb");
    let arguments = [source.display().to_string(), target.display().to_string()];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut duckdb = Python::start(&folder, &["duckdb"], SCRIPT, &arguments);
    let mut ours = Vec::new();
    for run in 0..RUNS {
        ours.push(import(world, &source, &folder.join(format!("tables-{run}")))?);
        duckdb = duckdb.and_then(|script| script.read(ROWS));
    }
    let megabytes = fs::metadata(&source)?.len() / 1_000_000;
    let what =
        format!("{megabytes} MB of CSV read into a private database, {ROWS} rows × 19 columns");
    let mut figures =
        vec![Figure::new(what, median(ours.clone()), "rows/s").note(format!("median of {RUNS}"))];
    let against = "that against DuckDB's `read_csv` into a table";
    figures.push(match duckdb {
        Ok(duckdb) => {
            let theirs = median(duckdb.rates.clone());
            let note = format!("{}, {theirs:.0} rows/s", duckdb.versions);
            Figure::new(against, ratio(&ours, &duckdb.rates), "×").at_least(0.25).note(note)
        }
        Err(error) => Figure::without_measure(against, format!("DuckDB cannot be had: {error}")),
    });
    figures.extend(questions(world, &source)?);
    Ok(figures)
}

/// Rows per second of reading the file into a new private database.
fn import(world: &World, source: &Path, tables: &Path) -> Outcome<f64> {
    let imports = ImportSettings { folder: Some(tables.to_owned()), ..ImportSettings::default() };
    let settings =
        Settings { database: source.display().to_string(), imports, ..Settings::default() };
    let begin = Instant::now();
    let database = world.runtime.block_on(syrch::databases::open_database(&settings))?;
    let taken = begin.elapsed();
    let catalog = world.runtime.block_on(database.catalog())?;
    drop(database);
    fs::remove_dir_all(tables)?;
    match catalog.tables.as_slice() {
        [flights] if flights.columns.len() == 19 => Ok(f64::from(ROWS) / taken.as_secs_f64()),
        _ => Err("the file did not become a table of 19 columns".into()),
    }
}

/// A question from process start to end on the import that exists, without an answer that is
/// cached.
fn questions(world: &World, source: &Path) -> Outcome<Vec<Figure>> {
    let database = source.display().to_string();
    let mut command =
        host(world, &["-q", QUESTION, "--db", &database, "--llm", "offline", "--format", "json"])?;
    let home = world.place("files/home")?;
    let cache = home.join("cache");
    command
        .env("HOME", &home)
        .env("SYRCH_CACHE_DIR", &cache)
        .env("SYRCH_STATE_DIR", home.join("state"));
    let mut first = 0.0;
    let mut times = Vec::new();
    let mut alone = Vec::new();
    for run in 0..=RUNS * 2 {
        match fs::remove_dir_all(cache.join("answers")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let begin = Instant::now();
        let output = command.output()?;
        let taken = milliseconds(begin);
        check_success(&output)?;
        if !crate::text(&output.stdout).contains(STATEMENT) {
            return Err(format!("the question was not answered by `{STATEMENT}`").into());
        }
        match run {
            0 => first = taken,
            _ => times.push(taken),
        }
        alone.push(statement(&private(&cache.join("tables"))?)?);
    }
    let alone = median(alone);
    let worst = greatest(&times);
    let taken = median(times);
    let what = "a question on that import, from process start";
    let note = format!(
        "by rules; median of {}, worst {worst:.1} ms; {first:.0} ms with the import",
        RUNS * 2
    );
    Ok(vec![
        Figure::new(what, taken, "ms").note(note),
        Figure::new("that less 100 ms, against its statement alone", (taken - BESIDE) / alone, "×")
            .at_most(3.0)
            .note(format!("{alone:.1} ms")),
    ])
}

/// The path of the only private database.
fn private(tables: &Path) -> Outcome<PathBuf> {
    let paths = fs::read_dir(tables)?.map(|entry| entry.map(|entry| entry.path()));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let mut found =
        paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "sqlite"));
    found.next().ok_or_else(|| "there is no private database".into())
}

/// Milliseconds of the statement by the engine alone.
fn statement(database: &Path) -> Outcome<f64> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let begin = Instant::now();
    let mut statement = connection.prepare(STATEMENT)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    let taken = milliseconds(begin);
    match count {
        16 => Ok(taken),
        _ => Err(format!("the statement has {count} rows").into()),
    }
}

/// Flights in the columns of the data set that is taught most, with `NA` where one was cancelled.
fn flights() -> String {
    let mut text = String::from(
        "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,\
         carrier,flight,tailnum,\
         origin,dest,air_time,distance,hour,minute,time_hour\n",
    );
    let mut state = 1_u64;
    let mut draw = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    fn code(mut number: u64) -> String {
        let letters = [(); 3].map(|()| {
            let letter = char::from(b'A' + (number % 26) as u8);
            number /= 26;
            letter
        });
        letters.iter().collect()
    }
    for row in 0..u64::from(ROWS) {
        let day = row * 365 / u64::from(ROWS);
        let month = day / 31 + 1;
        let day = day % 28 + 1;
        let hour = 5 + draw(19);
        let minute = draw(60);
        let scheduled = hour * 100 + minute;
        let arrival = (hour + 2) * 100 + minute;
        let is_cancelled = draw(40) == 0;
        let value = |value: u64| if is_cancelled { "NA".to_owned() } else { value.to_string() };
        let late = draw(50);
        let carrier = code(draw(16) * 7);
        let flight = draw(8_500);
        let tail = draw(4_000);
        let origin = code(draw(3) * 701);
        let to = code(draw(105) * 97);
        let time = draw(600);
        let distance = 80 + draw(4_900);
        let _ = writeln!(
            text,
            "2013,{month},{day},{},{scheduled},{},{},{arrival},{},{carrier},{flight},N{tail:05},\
             {origin},{to},{},{distance},{hour},{minute},2013-{month:02}-{day:02}T{hour:02}:00:00Z",
            value(scheduled),
            value(late),
            value(arrival),
            value(late + 3),
            value(time),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_so_many_rows_of_as_many_values() {
        let text = flights();
        assert_eq!(text.lines().count(), ROWS as usize + 1);
        assert!(text.lines().all(|line| line.split(',').count() == 19));
        assert!((30_000_000..40_000_000).contains(&text.len()), "{}", text.len());
    }
}
