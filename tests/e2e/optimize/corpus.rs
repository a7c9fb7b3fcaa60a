//! Corpora: what is added, verified, refused and run, and the gates of a run.

use serde_json::{Value, json};

use super::{SLOW, Slow, document};
use crate::bad_input::{assert_refused, finish, read_streams};

/// Adds statements to `m.toml` as files.
pub(super) fn add(slow: &Slow, statements: &[(&str, &str)]) {
    for (name, sql) in statements {
        slow.file(name, sql);
    }
    let files: Vec<&str> = statements.iter().map(|(name, _)| *name).collect();
    let output =
        finish(slow.words("optimize corpus add m.toml --description made").args(files), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
}

/// AR-32.
#[test]
fn a_corpus_is_made_listed_and_verified() {
    let slow = Slow::new();
    add(&slow, &[("a.sql", SLOW), ("b.sql", "SELECT id FROM orders")]);
    let listed = document(&mut slow.words("optimize corpus list m.toml"), 0);
    assert_eq!(
        (&listed["schema"], &listed["queries"][1]["file"]),
        (&json!("syrch.corpus/1"), &json!("b.sql"))
    );
    let verified = document(&mut slow.words("optimize corpus verify m.toml"), 0);
    assert_eq!(verified["queries"][0]["state"], json!("OK"));
    slow.file("a.sql", "SELECT 1 FROM orders");
    std::fs::remove_file(slow.path().join("b.sql")).unwrap();
    let changed = document(&mut slow.words("optimize corpus verify m.toml"), 1);
    let states: Vec<_> =
        changed["queries"].as_array().unwrap().iter().map(|query| query["state"].clone()).collect();
    assert_eq!(states, [json!("MISMATCH"), json!("MISSING")]);
    // Nothing is measured of a corpus that is not what its manifest says.
    assert_refused(
        &mut slow.words("optimize run m.toml --db slow.sqlite"),
        10,
        &["2 of 2 statements", "`a.sql`", "corpus verify"],
    );
}

#[test]
fn wrong_manifests_are_refused() {
    let slow = Slow::new();
    slow.file("unknown.toml", "[[queries]]\nfile = \"a.sql\"\nlimit = 3\n");
    slow.file(
        "outside.toml",
        &format!("[[queries]]\nfile = \"../a.sql\"\nsha256 = \"{}\"\n", "0".repeat(64)),
    );
    slow.file("empty.toml", "");
    for (manifest, words) in [
        ("unknown.toml", &["line 3", "unknown field `limit`"][..]),
        ("outside.toml", &["not below the folder"][..]),
        ("none.toml", &["none.toml"][..]),
    ] {
        for command in ["corpus list", "corpus verify", "run --db slow.sqlite"] {
            assert_refused(&mut slow.words(&format!("optimize {command} {manifest}")), 10, words);
        }
    }
    assert_refused(
        &mut slow.words("optimize run --db slow.sqlite empty.toml"),
        10,
        &["has no statements"],
    );
    assert_refused(&mut slow.words("optimize corpus add m.toml none.sql"), 10, &["none.sql"]);
    assert_refused(
        &mut slow.words("optimize --db slow.sqlite unknown.toml"),
        2,
        &["is the manifest", "optimize run"],
    );
}

/// AR-31, AR-34.
#[test]
fn gates_that_fail_end_with_5_and_the_run_is_reported_again() {
    let slow = Slow::new();
    add(
        &slow,
        &[
            ("a.sql", SLOW),
            ("b.sql", "SELECT id FROM orders LIMIT 1"),
            ("c.sql", "SELECT id FROM orders LIMIT 2"),
        ],
    );
    let none = document(&mut slow.words("optimize report last"), 2);
    assert!(
        none["error"]["hint"]
            .as_str()
            .is_some_and(|hint| hint.starts_with("`syrch-host optimize run`")),
        "{none:#}"
    );
    let words = "optimize run m.toml --db slow.sqlite --min-gain-ms 1 --report r.html";
    let run = document(&mut slow.words(words), 5);
    assert_eq!(
        (&run["schema"], &run["passed"], &run["of"]),
        (&json!("syrch.optimize-corpus/1"), &json!(false), &json!(3))
    );
    let outcomes: Vec<_> = run["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["result"]["outcome"].clone())
        .collect();
    assert_eq!(
        outcomes,
        [json!("OPTIMIZED"), json!("UNSUPPORTED_SAFETY"), json!("UNSUPPORTED_SAFETY")]
    );
    // Without copies, as the figures of other systems are.
    let first = &run["statements"][0];
    assert_eq!(first["result"]["iterations"][0]["copies"], json!(0), "{first:#}");
    // A line for each statement, with all that is known of it.
    assert!(
        first["at_ms"].as_u64().is_some_and(|at| at > 0) && first["sha256"].as_str().is_some(),
        "{first:#}"
    );
    assert_eq!(
        (&first["result"]["schema"], &first["result"]["given"]),
        (&json!("syrch.optimize/1"), &json!(SLOW))
    );
    assert!(first["result"]["best"].as_str().is_some_and(|best| best != SLOW), "{first:#}");
    assert!(
        first["result"]["confirmation"]["ratio"].as_f64().is_some_and(|ratio| ratio > 1.0),
        "{first:#}"
    );
    let lines = std::fs::read_dir(slow.path().join("home/.local/state/syrch/optimize"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let lines = std::fs::read_to_string(lines.path().join("results.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, run["statements"].as_array().unwrap());
    let gate = |name: &str| {
        run["gates"].as_array().unwrap().iter().find(|gate| gate["name"] == name).unwrap()["passed"]
            .clone()
    };
    assert_eq!(
        (gate("support"), gate("win"), gate("error"), gate("mismatch")),
        (json!(false), json!(true), json!(true), json!(true))
    );
    assert!(run["advice"].as_str().unwrap().contains("support"), "{run:#}");
    assert_eq!(document(&mut slow.words("optimize report last"), 0), run);
    assert!(std::fs::read_to_string(slow.path().join("r.html")).unwrap().contains("Gates"));
    // It is finished: nothing is measured again, and the outcome is the same.
    let again = document(
        &mut slow.words("optimize run m.toml --db slow.sqlite --min-gain-ms 1 --resume last"),
        5,
    );
    assert_eq!(again, run);
    let other = "optimize run m.toml --db slow.sqlite --min-gain-ms 2 --resume last";
    assert_refused(&mut slow.words(other), 10, &["cannot be resumed", "settings"]);
}

#[test]
fn shards_of_a_corpus_are_merged_and_a_missing_one_is_named() {
    let slow = Slow::new();
    add(&slow, &[("a.sql", SLOW), ("b.sql", SLOW), ("c.sql", SLOW)]);
    let run = "optimize run m.toml --db slow.sqlite --quiescent-db --min-gain-ms 1 --folder run";
    for shard in ["2/2", "1/2"] {
        let part = document(slow.words(run).env("SYRCH_SHARD", shard), 0);
        assert_eq!(part["of"], json!(if shard == "1/2" { 2 } else { 1 }), "{part}");
    }
    let merged = document(&mut slow.words("optimize report run"), 0);
    let files: Vec<&Value> =
        merged["statements"].as_array().unwrap().iter().map(|line| &line["file"]).collect();
    assert_eq!(files, ["a.sql", "b.sql", "c.sql"]);
    assert_eq!((&merged["of"], &merged["passed"]), (&json!(3), &json!(true)));
    // What is done is not measured again.
    let again = document(slow.words(run).env("SYRCH_SHARD", "1/2"), 0);
    assert_eq!(again["statements"][0]["at_ms"], merged["statements"][0]["at_ms"]);
    let lines = slow.path().join("run/shard-2-of-2/results.jsonl");
    std::fs::write(lines, "").unwrap();
    assert_refused(
        &mut slow.words("optimize report run"),
        5,
        &["shard 2/2 has 0 of its 1 statements", "--shard 2/2"],
    );
}
