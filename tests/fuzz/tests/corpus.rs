//! Each target over its committed corpus, over the statements of `tests/sql`, and over a number of
//! changes of both. `make fuzz` searches for further inputs; one that fails becomes a file of the
//! corpus.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syrch_fuzz::{Mutations, TARGETS, Target};
use syrch_kit::{corpus, data_root, repository, scale};

/// Bytes of a file of the corpus at most, and of all together.
const FILE: usize = 4 << 10;
const ALL: usize = 200 << 10;

fn folder() -> PathBuf {
    repository().join("tests/fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// The committed inputs of a target, in the order of their names.
fn list_committed(target: &Target) -> Vec<Vec<u8>> {
    let folder = folder().join("corpus").join(target.name);
    names(&folder).iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// The statements for an engine, of this repository and of the shared data where they are.
fn statements(engine: &str) -> Vec<Vec<u8>> {
    let own = ["benign.jsonl", "forms.jsonl", "hostile.jsonl"];
    let own = own.map(|name| repository().join("tests/sql").join(name));
    let shared = data_root().map(|data| data.join("sql-guard"));
    let shared = shared.into_iter().flat_map(|folder| {
        ["hostile.jsonl", "hostile_other_engines.jsonl"].map(|name| folder.join(name))
    });
    let lines = own.into_iter().chain(shared).flat_map(|file| corpus::lines(&file, engine));
    let texts = lines.map(|line| corpus::text(&line).into_bytes());
    texts.filter(|text| text.len() <= FILE).collect()
}

/// The words of a dictionary as libFuzzer reads them: one in quotes in each line.
fn pieces(target: &Target) -> Vec<Vec<u8>> {
    let name = if target.engine.is_some() { "guard" } else { target.name };
    let path = folder().join("dictionaries").join(format!("{name}.dict"));
    let Ok(text) = fs::read_to_string(&path) else { return Vec::new() };
    let quoted = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    quoted
        .map(|line: &str| {
            let word = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap();
            let word = word.replace("\\x0a", "\n").replace("\\x0c", "\u{c}");
            word.replace("\\\"", "\"").replace("\\\\", "\\").into_bytes()
        })
        .collect()
}

/// Runs a target over its inputs, and over so many changes of them.
fn run(name: &str, changes: usize) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let mut inputs = list_committed(target);
    inputs.extend(target.engine.into_iter().flat_map(statements));
    assert!(inputs.len() >= 3, "{name}: {} inputs", inputs.len());
    inputs.iter().for_each(|input| (target.check)(input));
    let pieces = pieces(target);
    let changes = scale(changes, 100 * changes);
    Mutations::new(&inputs, &pieces, 42).take(changes).for_each(|input| (target.check)(&input));
}

#[test]
fn archives_stay_in_their_folder() {
    run("archive", 600);
}

#[test]
fn components_are_refused_within_bounds() {
    run("component", 300);
}

#[test]
fn files_of_values_are_read_as_they_are_written() {
    run("csv", 100);
}

#[test]
fn files_of_objects_are_read_line_by_line() {
    run("json_lines", 150);
}

#[test]
fn journals_lose_no_more_than_their_last_line() {
    run("journal", 400);
}

#[test]
fn replies_give_what_stands_in_them() {
    run("reply", 500);
}

#[test]
fn statements_that_are_admitted_read_granted_tables() {
    for (name, changes) in [
        ("guard_ansi", 300),
        ("guard_databricks", 300),
        ("guard_duckdb", 300),
        ("guard_postgres", 300),
        ("guard_spark", 300),
    ] {
        run(name, changes);
    }
}

#[test]
fn statements_of_sqlite_leave_the_database_as_it_is() {
    run("guard_sqlite", 300);
}

#[test]
fn a_seed_gives_the_same_inputs_each_time() {
    let corpus = [b"SELECT a FROM t".to_vec(), Vec::new(), vec![b'x'; 20_000]];
    let pieces = [b" WHERE ".to_vec()];
    let [one, again, other] = [1, 1, 2].map(|seed| {
        let inputs = Mutations::new(&corpus, &pieces, seed).take(500);
        inputs.collect::<Vec<Vec<u8>>>()
    });
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert!(one.iter().all(|input| input.len() <= 2 * FILE));
    let changes = one.iter().filter(|input| !corpus.contains(input)).count();
    assert!(changes > 400, "{changes}");
    let mut empty = Mutations::new(&[], &[], 1);
    assert!(empty.next().is_some_and(|input| input.is_empty()));
}

/// A target without a program is fuzzed by nobody, and one without a test by nobody who changes
/// the code.
#[test]
fn each_target_has_a_program_a_corpus_and_a_test() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(names(&folder().join("corpus")), targets);
    let programs = names(&folder().join("fuzz/fuzz_targets"));
    let programs: BTreeSet<String> =
        programs.iter().map(|name| name.strip_suffix(".rs").unwrap().to_owned()).collect();
    assert_eq!(programs, targets);
    let manifest = fs::read_to_string(folder().join("fuzz/Cargo.toml")).unwrap();
    let tests = fs::read_to_string(folder().join("tests/corpus.rs")).unwrap();
    for name in &targets {
        assert_eq!(manifest.matches(&format!("name = \"{name}\"\n")).count(), 1, "{name}");
        assert_eq!(tests.matches(&format!("(\"{name}\", ")).count(), 1, "{name}");
        let program = format!("fuzz/fuzz_targets/{name}.rs");
        let program = fs::read_to_string(folder().join(program)).unwrap();
        assert!(program.contains(&format!("check(\"{name}\", ")), "{name}");
    }
    for name in names(&folder().join("dictionaries")) {
        let name = name.strip_suffix(".dict").unwrap();
        assert!(name == "guard" || targets.contains(name), "{name}");
    }
}

#[test]
fn the_corpus_is_small() {
    let sizes = TARGETS.iter().flat_map(list_committed).map(|input| input.len());
    let sizes: Vec<usize> = sizes.collect();
    assert!(sizes.iter().all(|size| *size <= FILE), "{sizes:?}");
    let all: usize = sizes.iter().sum();
    assert!(all <= ALL, "{all} bytes");
}
