//! Tests that read rendered reports back.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use syrch_core::Access;
use syrch_report::Table;

use super::made::{self, SKILLS};
use crate::report::render::{csv, markdown, page, parquet as file, tables};
use crate::report::{BenchmarkReport, CompareOptions, CompareReport, Section};
use crate::run::{Graded, Header};

const QUICK: CompareOptions = CompareOptions { seed: None, resamples: 500 };

fn small() -> (Header, Vec<Graded>) {
    made::run(&[SKILLS[0], SKILLS[1]], 24)
}

#[test]
fn markdown_for_a_pull_request() {
    let (header, graded) = small();
    let text = markdown::document(&CompareReport::new(&header, &graded, "bag-v1", &QUICK).into());
    assert_eq!(text, include_str!("compare.md"), "\n{text}");
}

#[test]
fn markdown_with_the_columns_of_syrch_0_1_2() {
    let (header, graded) = small();
    let text = markdown::document(&BenchmarkReport::new(&header, &graded, "bag-v1").into());
    assert_eq!(text, include_str!("benchmark.md"), "\n{text}");
    assert!(text.contains("| ID | Status | Exact | Rows | Cols | Conf | Tokens | Time |"));
}

#[test]
fn the_most_expensive_questions_are_listed_by_their_tokens() {
    let (header, mut graded) = made::run(&SKILLS[..1], 24);
    for (answer, tokens) in graded.iter_mut().zip([5, 0, 900, 70].into_iter().chain(100..)) {
        (answer.cost.input_tokens, answer.cost.output_tokens) = (tokens, 0);
    }
    let tables = tables::for_section(
        &BenchmarkReport::new(&header, &graded, "bag-v1").into(),
        Section::Expensive,
    );
    let listed: Vec<(&str, u64)> = tables[0]
        .grid
        .rows
        .iter()
        .map(|row| (row[0].as_str().unwrap(), row[3].as_u64().unwrap()))
        .collect();
    assert_eq!(
        (listed.len(), listed[0], listed[1], listed[9]),
        (10, ("q0002", 900), ("q0023", 119), ("q0015", 111))
    );
    graded
        .iter_mut()
        .for_each(|answer| (answer.cost.input_tokens, answer.cost.output_tokens) = (0, 0));
    assert!(
        tables::for_section(
            &BenchmarkReport::new(&header, &graded, "bag-v1").into(),
            Section::Expensive
        )
        .is_empty()
    );
}

/// The tables of the set-up of a run.
fn setup(header: &Header, graded: &[Graded]) -> Vec<Table> {
    let report = BenchmarkReport::new(header, graded, "bag-v1");
    tables::for_section(&report.into(), Section::Setup)
}

#[test]
fn the_grants_of_plugins_are_added_over_all_searches() {
    let (header, mut graded) = made::run(&SKILLS[..1], 3);
    assert_eq!(setup(&header, &graded).len(), 1, "all plugins are built in");
    for answer in &mut graded {
        answer.access = vec![Access {
            plugin: "votes".to_owned(),
            digest: "a".repeat(64),
            wanted: vec!["llm".to_owned(), "sql".to_owned()],
            granted: Some(vec!["llm".to_owned()]),
            used: [("llm".to_owned(), 2)].into(),
            denied: [("sql".to_owned(), 1)].into(),
            limits: BTreeMap::new(),
        }];
    }
    let rows = setup(&header, &graded)[1].grid.rows.clone();
    let row: Vec<&str> = rows[0].iter().map(|cell| cell.as_str().unwrap()).collect();
    assert_eq!(
        (rows.len(), &row[1..]),
        (1, &["votes", "llm, sql", "llm", "llm 6", "sql 3", ""][..])
    );
    // Another grant is another row.
    graded[2].access[0].granted = None;
    assert_eq!(setup(&header, &graded)[1].grid.rows.len(), 2);
}

#[test]
fn csv_is_read_back() {
    let (header, graded) = made::run(&SKILLS, 30);
    let report = CompareReport::new(&header, &graded, "bag-v1", &QUICK);
    let text = csv::csv(&report.results);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let place = |name: &str| names.iter().position(|one| one == name).unwrap();
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(
        (records.len(), names.iter().filter(|name| name.starts_with("verdict:")).count()),
        (90, 2)
    );
    for (record, row) in records.iter().zip(&report.results) {
        assert_eq!(
            (&record[place("arm")], &record[place("id")]),
            (row.arm.as_str(), row.id.as_str())
        );
        assert_eq!(record[place("confidence")].parse::<f64>().ok(), row.confidence);
        assert_eq!(record[place("calls")].parse::<u64>().ok(), row.calls);
        assert_eq!(&record[place("sql")], row.sql.as_deref().unwrap_or_default());
    }
}

#[test]
fn parquet_is_read_back_with_its_types() {
    let (header, graded) = made::run(&SKILLS, 30);
    let rows = CompareReport::new(&header, &graded, "bag-v1", &QUICK).results;
    let bytes = file::parquet(&rows).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.parquet");
    std::fs::write(&path, bytes).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap())
        .unwrap()
        .build()
        .unwrap();
    let mut read = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap().clone();
        for place in 0..batch.num_rows() {
            let id = column("id").as_string::<i32>().value(place).to_owned();
            let calls = column("calls").as_primitive::<UInt64Type>().value(place);
            let sure = column("confidence");
            let sure = sure.as_primitive::<Float64Type>().iter().nth(place).flatten();
            let is_exact = column("exact_match").as_boolean().iter().nth(place).flatten();
            let verdict = column("verdict:spider-ex").as_string::<i32>().value(place).to_owned();
            read.push((id, calls, sure, is_exact, verdict));
        }
    }
    let expected: Vec<_> = rows
        .iter()
        .map(|row| {
            let verdict = serde_json::to_value(row.verdicts["spider-ex"])
                .unwrap()
                .as_str()
                .unwrap()
                .to_owned();
            (row.id.clone(), row.calls.unwrap(), row.confidence, row.metrics.exact_match, verdict)
        })
        .collect();
    assert_eq!(read, expected);
}

#[test]
fn an_empty_parquet_file_has_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.parquet");
    std::fs::write(&path, file::parquet(&[]).unwrap()).unwrap();
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(
        (reader.metadata().file_metadata().num_rows(), reader.schema().field(0).name().as_str()),
        (0, "arm")
    );
}

#[test]
fn pages_have_the_pictures_of_all_sections() {
    let (header, graded) = made::run(&SKILLS, 60);
    let benchmark = page::document(&BenchmarkReport::new(&header, &graded, "bag-v1").into());
    let compare = page::document(&CompareReport::new(&header, &graded, "bag-v1", &QUICK).into());
    let pictures = |document: &Value| -> Vec<String> {
        let sections = document["sections"].as_array().unwrap();
        let all = sections.iter().flat_map(|section| section["pictures"].as_array().unwrap());
        all.map(|picture| picture["svg"].as_str().unwrap().to_owned()).collect()
    };
    // Shares, errors, reliability, risk, budget; and two of costs (times of a cache have none), two
    // a pair, errors, three of reliability, risk, budget.
    let counts = [&benchmark, &compare].map(|document| pictures(document).len());
    assert_eq!(counts, [5, 2 + 6 + 1 + 3 + 1 + 1]);
    for picture in pictures(&compare) {
        let picture = picture.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for word in ["http:", "https:", "url(", "@import", "<script", "src=", "href="] {
            assert!(!picture.contains(word), "{word}");
        }
    }
    assert_eq!(compare["left_out"], 0);
    let titles = |document: &Value| -> Vec<String> {
        let sections = document["sections"].as_array().unwrap();
        sections.iter().map(|section| section["title"].as_str().unwrap().to_owned()).collect()
    };
    assert!(titles(&compare).contains(&"Right answers and costs".to_owned()));
    assert!(titles(&benchmark).contains(&"Right answers".to_owned()));
}
