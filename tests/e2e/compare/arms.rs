//! Tests of the words that name arms, and of those that name none.

use std::fs;

use serde_json::json;
use syrch_kit::zoo;

use super::{lines, offline, run_command, suite};
use crate::bad_input::{Place, assert_refused};

#[test]
fn arms_are_strategies_files_and_plugins_with_settings() {
    let place = Place::new();
    suite(&place);
    fs::create_dir(place.path().join("own")).unwrap();
    place.file(
        "own/mine.yml",
        "name: mine\nroles:\n  planner: direct\n  solver: {plugin: consistency, config: \
         {samples: 2}}\n",
    );
    fs::copy(zoo::builtin_path("consistency"), place.path().join("copy.wasm")).unwrap();
    let arms = "decompose own/mine.yml solver=consistency copy.wasm:samples=3,agree=2 \
                decompose:policy.max_attempts=1,calibration=false";
    let document = run_command(&mut offline(
        &place,
        &format!("{arms} suite.jsonl --format json --resamples 100 -P planner.max_tasks=2"),
    ));
    // Of five arms one does not have that planner, so the value is not for all.
    assert_eq!(document.code, 2, "{}", document.all());
    let document = run_command(&mut offline(
        &place,
        &format!("{arms} suite.jsonl --format json --resamples 100 --max-depth 2"),
    ))
    .document(0);
    let names: Vec<&str> = document["arms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arm| arm["name"].as_str().unwrap())
        .collect();
    let expected = [
        "decompose",
        "mine",
        "solver=consistency",
        "copy:samples=3,agree=2",
        "decompose:policy.max_attempts=1,calibration=false",
    ];
    assert_eq!(names, expected);
    let settings = |at: usize, pointer: &str| {
        document["arms"][at]["settings"].pointer(pointer).cloned().unwrap_or_default()
    };
    assert_eq!(settings(1, "/strategy/config/solver"), json!({"samples": 2}));
    assert_eq!(settings(3, "/strategy/config/solver"), json!({"samples": 3, "agree": 2}));
    assert_eq!(
        (settings(4, "/policy/max_attempts"), settings(4, "/strategy/config/calibrator/retry")),
        (json!(1), json!(0.0))
    );
    // The user's flags hold for all.
    assert!((0..5).all(|at| settings(at, "/policy/max_depth") == json!(2)));
    let solver = |at: usize| {
        let plugins = document["arms"][at]["plugins"].as_array().unwrap();
        plugins.iter().find(|plugin| plugin["role"] == "solver").unwrap()["source"].clone()
    };
    assert_eq!(
        (solver(0), solver(2), solver(3)),
        (json!("refine"), json!("consistency"), json!("copy.wasm"))
    );
    // What is no arm's own is as the user says.
    let other = run_command(&mut offline(
        &place,
        "solver=refine decompose suite.jsonl --format json --strategy vote5",
    ))
    .document(0);
    assert_eq!(
        (&other["arms"][0]["strategy"], &other["arms"][1]["strategy"]),
        (&json!("vote5"), &json!("decompose"))
    );
    // Of five arms every one is held against the first.
    assert_eq!(document["pairs"].as_array().unwrap().len(), 4);
}

#[test]
fn what_is_no_comparison_is_refused_before_anything_is_asked() {
    let place = Place::new();
    suite(&place);
    for name in ["a.wasm", "b.wasm"] {
        fs::copy(zoo::builtin_path("refine"), place.path().join(name)).unwrap();
    }
    place.file("bad.yml", "name: bad\nroles: {solver: refne}\n");
    for (words, code, reported) in [
        ("suite.jsonl", 2, ["no arm is named", "as in `syrch-host compare"]),
        ("single suite.jsonl", 2, ["only one arm is named", "`syrch-host benchmark` grades one"]),
        ("single vote5", 2, ["only one arm is named", "a suite as the last word"]),
        (
            "single retry3 vote5",
            2,
            ["the last word is the suite, and `vote5` is a strategy", "name the file"],
        ),
        (
            "single singel suite.jsonl",
            2,
            ["the arm `singel`: there is no built-in strategy", "did you mean `single`?"],
        ),
        (
            "single refine suite.jsonl",
            2,
            ["no built-in strategy `refine`", "such as `solver=refine`"],
        ),
        (
            "single solvr=refine suite.jsonl",
            2,
            ["`solvr` is no role of a search", "did you mean `solver`?"],
        ),
        (
            "single solver=refne suite.jsonl",
            2,
            ["no built-in plugin `refne`", "did you mean `refine`?"],
        ),
        (
            "single planner=refine suite.jsonl",
            2,
            ["`refine` does not implement the planner", "it implements `solver=refine`"],
        ),
        ("single none.wasm suite.jsonl", 13, ["the arm `none.wasm`", "none.wasm"]),
        (
            "single none.yml suite.jsonl",
            10,
            ["the arm `none.yml`: strategy file `none.yml`", "check the path"],
        ),
        ("decompose decompose suite.jsonl", 2, ["a run without difference", "would do the same"]),
        (
            "solver=a.wasm b.wasm suite.jsonl",
            2,
            ["a run without difference: the arms `solver=a.wasm` and `b.wasm`", "same"],
        ),
        (
            "decompose vote5 suite.jsonl --solver refine --planner decompose",
            2,
            ["a run without difference", "vote5"],
        ),
        (
            "single vote5:smples=3 suite.jsonl",
            2,
            ["the arm `vote5:smples=3`: smples: no plugin", "`solver.samples`"],
        ),
        (
            "single vote5:solver.smples=3 suite.jsonl",
            2,
            ["the solver `consistency` has no setting `smples`", "`samples`"],
        ),
        (
            "single vote5:policy.max_depth=99 suite.jsonl",
            2,
            ["max_depth: 99 is not a whole number from 1 to 16", "arm"],
        ),
        (
            "decompose vote5 suite.jsonl -P solver.samples=2",
            2,
            ["the arm `decompose`: -P solver.samples", "`ARM:solver.samples=VALUE`"],
        ),
        (
            "single vote5 suite.jsonl --strategy beam",
            2,
            ["--strategy has no effect", "such as solver=refine"],
        ),
        (
            "single vote5 suite.jsonl --slice lvel",
            2,
            ["--slice lvel: no question", "the fields are db, level"],
        ),
        ("single vote5 suite.jsonl --fail-on worse", 2, ["`worse` is no condition", "below:-2"]),
        ("single vote5 none.jsonl", 10, ["suite `none.jsonl` cannot be read", "check the path"]),
        (
            "single vote5 suite.jsonl --report bad.yml/x.json",
            2,
            ["--report `bad.yml/x.json`", "there is no folder"],
        ),
        ("single vote5 suite.jsonl --report r.doc", 2, ["the ending is the format", ".html"]),
    ] {
        assert_refused(&mut offline(&place, words), code, &reported);
    }
    assert_eq!(lines(&place), [0; 0]);
    // No report replaces what an arm is read from.
    place.file("s.md.yml", "name: s\nroles: {planner: direct}\n");
    let reported = ["is a strategy file in use"];
    assert_refused(&mut offline(&place, "single s.md.yml suite.jsonl -o s.md.yml"), 2, &reported);
}
