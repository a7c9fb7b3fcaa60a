//! Tests of the files that `grid --out` writes, and of those that it never replaces.

use std::fs;

use serde_json::json;
use syrch_kit::MockEndpoint;

use super::{QUESTION, asking, endpoint, grid, offline, read, run_command, state, suite};
use crate::bad_input::{Place, assert_refused};

/// A folder `out` with that file of that content.
fn out(place: &Place, name: &str, content: &[u8]) -> std::path::PathBuf {
    drop(fs::remove_dir_all(place.path().join("out")));
    fs::create_dir(place.path().join("out")).unwrap();
    place.file(&format!("out/{name}"), content)
}

fn assert_spared(
    place: &Place,
    endpoint: &MockEndpoint,
    (name, content): (&str, &[u8]),
    words: &str,
    reported: &[&str],
) {
    let path = out(place, name, content);
    let mut command = asking(grid(place, &format!("{words} --out out")), endpoint);
    if !words.contains(".jsonl") && !words.contains("out/results.json") {
        command.args(["-q", QUESTION]);
    }
    assert_refused(&mut command, 2, reported);
    assert_eq!(fs::read(&path).unwrap(), content, "{words}");
    assert_eq!(fs::read_dir(place.path().join("out")).unwrap().count(), 1, "{words}");
    assert_eq!(endpoint.count(), 0, "{words}");
}

#[test]
fn nothing_that_a_grid_reads_is_replaced() {
    let place = Place::new();
    suite(&place);
    let endpoint = endpoint();
    let shop = fs::read(place.path().join("shop.sqlite")).unwrap();
    let questions = fs::read(place.path().join("suite.jsonl")).unwrap();
    // What is no file of a grid is refused for its form, whatever it is.
    for (name, content, words) in [
        ("results.json", questions.as_slice(), "out/results.json --db shop.sqlite"),
        ("config.json", &shop, "suite.jsonl --db out/config.json"),
        (
            "best.json",
            b"name: mine\nroles: {planner: direct}\n",
            "suite.jsonl --strategy out/best.json",
        ),
    ] {
        let reported = format!("its `{name}` is not that of a grid");
        assert_spared(&place, &endpoint, (name, content), words, &["--out `out`", &reported]);
    }
    // What could be one is refused for its place.
    let one = json!({
        "schema": "syrch.grid/1", "id": "a", "db": "shop", "question": QUESTION,
        "gold_sql": "SELECT 4"
    });
    let mine = b"# Grid\nname: mine\nroles: {planner: direct}\n";
    for (name, content, words, what) in [
        (
            "results.json",
            one.to_string().as_bytes(),
            "out/results.json --db shop.sqlite",
            "is the suite",
        ),
        ("summary.md", mine, "suite.jsonl --strategy out/summary.md", "is a strategy file in use"),
        (
            "summary.md",
            b"# Grid\nexecution: {max_depth: 2}\n",
            "suite.jsonl --config out/summary.md",
            "is the config file in use",
        ),
        (
            "summary.md",
            b"# Grid\nOrders are sales.\n",
            "suite.jsonl --notes out/summary.md",
            "is the notes",
        ),
        (
            "summary.md",
            b"# Grid\n4\n",
            "--db shop.sqlite --expected out/summary.md",
            "is the expected rows",
        ),
    ] {
        assert_spared(
            &place,
            &endpoint,
            (name, content),
            words,
            &["--out `", name, what, "name another folder"],
        );
    }
    let rows = place.file("rows.csv", "n\n4\n");
    let mut command =
        asking(grid(&place, "--db shop.sqlite --expected rows.csv -o rows.csv"), &endpoint);
    assert_refused(command.args(["-q", QUESTION]), 2, &["is the expected rows"]);
    assert_eq!((fs::read(rows).unwrap().as_slice(), endpoint.count()), (b"n\n4\n".as_slice(), 0));
    assert!(!state(&place).join("suites").exists(), "a run was started");
}

#[test]
fn files_of_others_stay_and_those_of_an_earlier_grid_are_replaced() {
    let place = Place::new();
    suite(&place);
    let mine = out(&place, "notes.txt", b"mine");
    for values in ["1,2", "1,2,3"] {
        let words = format!("suite.jsonl -P policy.max_depth={values} --out out --format json");
        let document = run_command(&mut offline(grid(&place, &words))).document(0);
        assert_eq!(document["cells"].as_array().unwrap().len(), values.split(',').count());
        assert_eq!(read(&place.path().join("out/results.json")), document);
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }
    let mut names: Vec<_> = fs::read_dir(place.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["best.json", "config.json", "notes.txt", "results.json", "summary.md"]);
    // `--report` of the report on it replaces nothing of the run either.
    let cells = fs::read_dir(state(&place).join("suites"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
        .join("cells.json");
    let before = fs::read(&cells).unwrap();
    let mut command = place.words("report");
    assert_refused(
        command
            .arg(cells.parent().unwrap())
            .arg("-o")
            .arg(&cells)
            .env("SYRCH_STATE_DIR", state(&place)),
        2,
        &["of the run itself"],
    );
    assert_eq!(fs::read(&cells).unwrap(), before);
}
