//! Runs over suites: how much of the endpoint's pace they keep, how many questions a second they
//! come to where it answers at once, and how much memory a long one takes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use syrch::{Silent, Stop};
use syrch_grade::rules::Rule;
use syrch_grade::run::{Graded, Observer, Progress, RunBudgets};
use syrch_grading::{Beginning, SuiteOptions, SuiteRun, Traces};
use syrch_kit::MockEndpoint;

use crate::child;
use crate::figure::Figure;
use crate::world::{World, add_journal, endpoint_with_delay, one_task};
use crate::{Outcome, text};

/// The statement that each question of the suites asks for, and that the endpoint answers.
const STATEMENT: &str =
    "SELECT country, count(*) AS customers FROM customers GROUP BY country ORDER BY customers DESC";

/// Runs of which the quickest counts.
const RUNS: u32 = 10;

/// An endpoint that takes a while for each call is called without a pause: how long a run takes, as
/// a share of the calls' time over those at once.
pub(crate) fn pace(world: &World) -> Outcome<Vec<Figure>> {
    const QUESTIONS: u32 = 100;
    const DELAY: Duration = Duration::from_millis(50);
    const WORKERS: usize = 5;
    let endpoint = endpoint_with_delay(DELAY);
    let (taken, calls) = quickest(world, &endpoint, QUESTIONS, WORKERS)?;
    let ideal = DELAY.as_secs_f64() * f64::from(calls) / WORKERS as f64;
    let what = format!(
        "a suite of {QUESTIONS} questions at 50 ms a call, {WORKERS} at once: time \
         against the ideal"
    );
    Ok(vec![
        Figure::new(what, taken / ideal, "×")
            .at_most(1.2)
            .note(format!("{calls} calls, {taken:.2} s, the best of {RUNS} runs")),
    ])
}

/// An endpoint that answers at once: questions a second.
pub(crate) fn rate(world: &World) -> Outcome<Vec<Figure>> {
    const QUESTIONS: u32 = 1_000;
    const WORKERS: usize = 8;
    let endpoint = one_task();
    // The first run compiles plugins.
    run(world, &endpoint, 20, WORKERS)?;
    let (taken, calls) = quickest(world, &endpoint, QUESTIONS, WORKERS)?;
    let rate = f64::from(QUESTIONS) / taken;
    let note = format!(
        "{calls} calls, {WORKERS} at once, the endpoint in the same process, the best \
         of {RUNS} runs"
    );
    Ok(vec![
        Figure::new("questions a second of a suite at 0 ms a call", rate, "/s")
            .at_least(300.0)
            .note(note),
    ])
}

/// The memory of a process over a long suite.
pub(crate) fn memory(world: &World) -> Outcome<Vec<Figure>> {
    let few = world.searches / 10;
    let many = world.searches;
    let endpoint = one_task();
    let mut peaks = Vec::new();
    for questions in [few, many] {
        let suite = suite(world, questions)?;
        let suite = suite.display().to_string();
        let url = endpoint.url();
        let reported = [
            "--base-url",
            &url,
            "--model",
            "mock",
            "--no-cache",
            "--workers",
            "8",
            "--quiet",
            "--format",
            "markdown",
        ];
        let arguments: Vec<&str> = ["benchmark", &suite].into_iter().chain(reported).collect();
        peaks.push(child::peak_of(&child::host(world, &arguments)?, 1)?);
    }
    let what = format!("memory at its peak over a suite of {many} questions");
    let note = format!("{:.0} MiB over {few}", peaks[0]);
    Ok(vec![Figure::new(what, peaks[1], "MiB").at_most(150.0).note(note)])
}

/// A grid of one question: how often the endpoint is asked the same.
pub(crate) fn grid(world: &World) -> Outcome<Vec<Figure>> {
    let endpoint = one_task();
    let url = endpoint.url();
    let shop = world.shop.display().to_string();
    let question = "How many customers are there in each country?";
    let reported = ["--base-url", &url, "--model", "mock", "--quiet", "--format", "json"];
    let arguments: Vec<&str> =
        ["grid", "-q", question, "--db", &shop].into_iter().chain(reported).collect();
    let output = child::host(world, &arguments)?.output()?;
    child::check_success(&output)?;
    let report: serde_json::Value = serde_json::from_str(text(&output.stdout).trim())?;
    let cells = report["cells"].as_array().map_or(0, Vec::len);
    let most = endpoint.repeats().into_iter().max().unwrap_or_default();
    let what =
        format!("{cells} grid cells of one question: how often the same call was sent at most");
    let note = format!("{} calls", endpoint.count());
    Ok(vec![
        Figure::new("cells of the grid of one question", cells as f64, "").at_least(54.0),
        Figure::new(what, most as f64, "×").at_most(1.0).note(note),
    ])
}

/// A suite of so many questions, all of them different.
pub(super) fn suite(world: &World, questions: u32) -> Outcome<PathBuf> {
    let folder = world.place("suites")?;
    let database = folder.join("shop.sqlite");
    if !database.exists() {
        std::fs::copy(&world.shop, &database)?;
    }
    let path = folder.join(format!("{questions}.jsonl"));
    let mut file = BufWriter::new(File::create(&path)?);
    for number in 0..questions {
        let question =
            format!("How many customers are there in each country, asked for the time {number}?");
        let line = json!({
            "id": format!("q{number}"), "db": "shop", "question": question, "gold_sql": STATEMENT
        });
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(path)
}

/// The quickest of some runs: what else the machine does only ever takes time.
fn quickest(
    world: &World,
    endpoint: &MockEndpoint,
    questions: u32,
    workers: usize,
) -> Outcome<(f64, u32)> {
    let mut best = run(world, endpoint, questions, workers)?;
    for _ in 1..RUNS {
        let again = run(world, endpoint, questions, workers)?;
        best = if again.0 < best.0 { again } else { best };
    }
    Ok(best)
}

/// Runs a suite in this process; the seconds that it took, and the calls that the endpoint saw.
fn run(
    world: &World,
    endpoint: &MockEndpoint,
    questions: u32,
    workers: usize,
) -> Outcome<(f64, u32)> {
    let options = options(suite(world, questions)?, None, workers, world.place("runs")?);
    let settings = add_journal(world.settings(endpoint)?, &world.place("journals")?);
    let before = endpoint.count();
    let (taken, right) = world.runtime.block_on(async {
        let observer: Arc<dyn syrch::Observer> = Arc::new(Silent);
        let run =
            SuiteRun::open(vec![("decompose".to_owned(), settings)], options, &observer).await?;
        let started = Instant::now();
        let outcome = run.carry_out(&Nobody, &Stop::new()).await?;
        let rule = &outcome.record.header.rule;
        let right = outcome
            .record
            .graded
            .iter()
            .filter(|graded: &&Graded| {
                graded.verdict(rule).is_some_and(|verdict| verdict.is_right())
            })
            .count();
        Ok::<_, syrch::Error>((started.elapsed().as_secs_f64(), right))
    })?;
    if right != questions as usize {
        return Err(format!("{right} of {questions} questions were answered rightly").into());
    }
    Ok((taken, u32::try_from(endpoint.count() - before)?))
}

/// A run of a suite as users make it, with so many questions at once.
pub(super) fn options(
    suite: PathBuf,
    databases: Option<PathBuf>,
    workers: usize,
    runs: PathBuf,
) -> SuiteOptions {
    SuiteOptions {
        suite,
        databases: databases.map(|path| syrch::syrch_core::DatabaseUrl::from_path(&path)),
        rule: Rule::BAG_V1,
        workers,
        shard: None,
        runs,
        resume: None,
        folder: None,
        wave: None,
        retry_failed: false,
        budgets: RunBudgets::default(),
        max_outages: 10,
        traces: Traces::Wrong,
        stop_early: false,
        answers: Vec::new(),
        seeds: 1,
        asks_ungraded: false,
        fuzz: None,
        timed: 0,
    }
}

/// An observer that ignores all progress.
pub(super) struct Nobody;

impl Observer for Nobody {
    fn progress(&self, _: &Progress, _: &Graded) {}
}

impl Beginning for Nobody {
    fn on_start(&self, _: &str, _: &Path) {}
}
