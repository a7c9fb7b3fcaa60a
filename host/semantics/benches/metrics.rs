//! Measures the reading of a file with 1,000 metrics, and requests compiled with it. A request is
//! to take at most 1 ms, the file at most 50 ms. A question among 10,000 metrics is to be read in
//! at most 50 ms, and its statement compared with the definitions in at most 5 ms.

use std::fmt::Write;

use chrono::NaiveDate;
use divan::{Bencher, black_box};
use syrch_core::Dialect;
use syrch_core::ports::Facts;
use syrch_semantics::{
    Comparison, RequestText, Semantics, Source, WeekStart, compile, find_departures, read_question,
};

fn main() {
    divan::main();
}

/// Tables of facts with ten metrics each, all joined to 20 tables in a chain.
fn write_file(facts: usize) -> String {
    let mut tables = String::from("tables:\n");
    let mut joins = String::from("joins:\n");
    let mut metrics = String::from("metrics:\n");
    for fact in 0..facts {
        let _ = writeln!(tables, "  f{fact}: {{time: day, dimensions: {{day: {{type: time}}}}}}");
        let _ = writeln!(joins, "  - {{from: f{fact}.k, to: d0.k}}");
        for number in 0..10 {
            let _ = writeln!(
                metrics,
                "  metric {fact} {number}: {{measure: sum(f{fact}.v{number} * f{fact}.w), \
                 filter: \"d1.state <> 'test'\"}}"
            );
        }
    }
    for table in 0..20 {
        let _ = writeln!(
            tables,
            "  d{table}: {{dimensions: {{name{table}: {{}}, state{table}: {{}}}}}}"
        );
        if table > 0 {
            let _ = writeln!(joins, "  - {{from: d{}.p, to: d{table}.k}}", table - 1);
        }
    }
    format!("{tables}{joins}{metrics}")
}

fn read(text: &str) -> Semantics {
    let source = Source { file: "bench.yml".to_owned(), text: text.to_owned() };
    match Semantics::read(&[source]) {
        Ok(semantics) => semantics,
        Err(problems) => unreachable!("{problems:?}"),
    }
}

#[divan::bench]
fn reads_a_file_with_1000_metrics(bencher: Bencher<'_, '_>) {
    let text = write_file(100);
    bencher.bench(|| read(black_box(&text)));
}

#[divan::bench(args = ["one", "three"])]
fn compiles_a_request(bencher: Bencher<'_, '_>, metrics: &str) {
    let semantics = read(&write_file(100));
    let today = NaiveDate::default();
    let metrics = match metrics {
        "one" => vec!["metric 99 9".to_owned()],
        _ => vec!["metric 99 9".to_owned(), "metric 50 5".to_owned(), "metric 1 1".to_owned()],
    };
    let text = RequestText {
        metrics,
        by: vec!["name19".to_owned(), "month".to_owned()],
        condition: Some("state10 IN ('a', 'b') AND name3 <> 'c'".to_owned()),
        period: Some("2024".to_owned()),
        limit: Some(10),
        compare: Some(Comparison::Growth),
        ..RequestText::default()
    };
    bencher.bench(|| {
        let request = black_box(&text).read(today, WeekStart::Monday);
        request.map(|request| compile(&semantics, &request, &Dialect::Postgres, today))
    });
}

#[divan::bench]
fn reads_a_question_among_10000_metrics(bencher: Bencher<'_, '_>) {
    let semantics = read(&write_file(1_000));
    let today = NaiveDate::default();
    bencher
        .bench(|| read_question(&semantics, black_box("metric 99 9 by month in 2024"), &[], today));
}

#[divan::bench]
fn compares_a_statement_with_10000_metrics(bencher: Bencher<'_, '_>) {
    let semantics = read(&write_file(1_000));
    let facts = Facts { normalized: "SELECT SUM(w) FROM f99".to_owned(), ..Facts::default() };
    bencher.bench(|| find_departures(&semantics, black_box("metric 99 9"), &facts));
}
