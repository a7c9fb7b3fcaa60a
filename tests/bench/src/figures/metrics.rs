//! Measures the reading of semantics files, from a text to definitions and from a request to its
//! statement.

use std::fmt::Write as _;
use std::time::Instant;

use syrch::semantics::{Comparison, RequestText, Semantics, Source, WeekStart, compile};
use syrch_core::Dialect;

use crate::Outcome;
use crate::figure::Figure;
use crate::samples::{median, milliseconds};
use crate::world::World;

const RUNS: usize = 20;
const REQUESTS: usize = 500;

/// The median times of reading a file with 1,000 and 10,000 metrics, and of compiling a request.
pub(crate) fn measure(_: &World) -> Outcome<Vec<Figure>> {
    Ok(vec![reading(100)?.at_most(50.0), reading(1_000)?.at_most(500.0), compiling()?.at_most(1.0)])
}

/// A file with tables of ten metrics each, all joined to 20 tables in a chain.
fn write_file(facts: usize) -> Outcome<Source> {
    let mut tables = String::from("tables:\n");
    let mut joins = String::from("joins:\n");
    let mut metrics = String::from("metrics:\n");
    for fact in 0..facts {
        writeln!(tables, "  f{fact}: {{time: day, dimensions: {{day: {{type: time}}}}}}")?;
        writeln!(joins, "  - {{from: f{fact}.k, to: d0.k}}")?;
        for number in 0..10 {
            writeln!(
                metrics,
                "  metric {fact} {number}: {{measure: sum(f{fact}.v{number} * f{fact}.w), \
                 filter: \"d1.state <> 'test'\"}}"
            )?;
        }
    }
    for table in 0..20 {
        writeln!(tables, "  d{table}: {{dimensions: {{name{table}: {{}}, state{table}: {{}}}}}}")?;
        if table > 0 {
            writeln!(joins, "  - {{from: d{}.p, to: d{table}.k}}", table - 1)?;
        }
    }
    Ok(Source {
        file: "metrics.yml".to_owned(),
        text: format!("today: 2024-12-31\n{tables}{joins}{metrics}"),
    })
}

fn read(source: &Source) -> Outcome<Semantics> {
    let read = Semantics::read(std::slice::from_ref(source));
    read.map_err(|problems| format!("{problems:?}").into())
}

fn reading(facts: usize) -> Outcome<Figure> {
    let source = write_file(facts)?;
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begin = Instant::now();
        read(&source)?;
        times.push(milliseconds(begin));
    }
    let what = format!("a semantics file of {} metrics read", facts * 10);
    Ok(Figure::new(what, median(times), "ms").note(format!("median of {RUNS}")))
}

fn compiling() -> Outcome<Figure> {
    let semantics = read(&write_file(100)?)?;
    let today = semantics.today.unwrap_or_default();
    let text = RequestText {
        metrics: ["metric 99 9", "metric 50 5", "metric 1 1"].map(str::to_owned).to_vec(),
        by: ["name19", "month"].map(str::to_owned).to_vec(),
        condition: Some("state10 IN ('a', 'b') AND name3 <> 'c'".to_owned()),
        period: Some("2024".to_owned()),
        limit: Some(10),
        compare: Some(Comparison::Growth),
        ..RequestText::default()
    };
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begin = Instant::now();
        let request = text.read(today, WeekStart::Monday).map_err(|error| error.to_string())?;
        compile(&semantics, &request, &Dialect::Postgres, today)
            .map_err(|error| error.to_string())?;
        times.push(milliseconds(begin));
    }
    let what = "a request of three metrics of 1,000 compiled, over 20 joins with a comparison";
    Ok(Figure::new(what, median(times), "ms").note(format!("median of {REQUESTS}")))
}
