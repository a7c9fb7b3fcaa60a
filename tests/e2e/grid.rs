//! `grid` through the binary: cells of one question and of suites, against an endpoint of our own
//! and by rules.

mod outputs;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, assert_refused};
use crate::compare::{assert_help, assert_snapshot, without_times};
use crate::endpoint::{PLAN, Said, subtask};

const QUESTION: &str = "How many customers are there?";

fn grid(place: &Place, words: &str) -> Command {
    let mut command = place.words("grid");
    command.env("SYRCH_STATE_DIR", state(place)).args(words.split_whitespace());
    command
}

fn one(place: &Place, words: &str) -> Command {
    let mut command = grid(place, "--db shop.sqlite");
    command.args(["-q", QUESTION]).args(words.split_whitespace());
    command
}

fn asking(mut command: Command, endpoint: &MockEndpoint) -> Command {
    command.args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url()]);
    command
}

fn offline(mut command: Command) -> Command {
    command.args(["--llm", "offline"]);
    command
}

fn run_command(command: &mut Command) -> Said {
    Said::from_output(command.output().unwrap())
}

fn state(place: &Place) -> PathBuf {
    place.path().join("state")
}

/// A plan of one part, a statement that fails at first and a repair that the model is less sure of.
fn endpoint() -> MockEndpoint {
    let plan =
        Reply::json(&json!({"subtasks": [subtask("A", "the whole question", &[])]})).delay_ms(20);
    MockEndpoint::start(
        Script::new()
            .on([PLAN], plan)
            .on(
                ["no_such_column"],
                Reply::sql("SELECT count(*) AS customers FROM customers", 0.8).delay_ms(20),
            )
            .on([QUESTION], Reply::sql("SELECT no_such_column FROM customers", 0.9).delay_ms(20)),
    )
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn names(document: &Value) -> Vec<&str> {
    document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["name"].as_str().unwrap())
        .collect()
}

fn cell<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .find(|cell| cell["name"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The names of what the runs' folder holds.
fn runs(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(state(place).join("suites")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_default_cells_of_one_question_make_each_call_once() {
    for cache in ["--no-cache", "--cache"] {
        let place = Place::new();
        let endpoint = endpoint();
        let mut command =
            asking(one(&place, &format!("--format json --out out {cache}")), &endpoint);
        let said = run_command(command.env("SYRCH_CACHE_DIR", place.path().join("cache")));
        let document = said.document(0);
        assert_eq!(names(&document).iter().collect::<BTreeSet<_>>().len(), 54);
        // Three cells at a time ask for the same, and it is sent once.
        assert!(
            endpoint.repeats().iter().all(|sent| *sent == 1),
            "{cache}: {:?}",
            endpoint.repeats()
        );
        let cells = document["cells"].as_array().unwrap();
        let sum =
            |key: &str| cells.iter().map(|cell| cell["costs"][key].as_u64().unwrap()).sum::<u64>();
        println!("{cache}: {} calls of 54 cells, {} requests", sum("calls"), endpoint.count());
        assert_eq!(sum("sent"), endpoint.count() as u64, "{}", said.all());
        assert!(sum("calls") >= 3 * 54 && sum("calls") == sum("sent") + sum("cached"));
        // One attempt comes to nothing; a repair does, and without calibration what the model
        // claims of it counts.
        let confidence = |name: &str| cell(&document, name)["mean_confidence"].as_f64();
        assert_eq!(
            confidence("max_depth=1 high_confidence=0.7 max_attempts=1 calibration=true"),
            None
        );
        let calibrated =
            confidence("max_depth=1 high_confidence=0.7 max_attempts=3 calibration=true").unwrap();
        let claimed =
            confidence("max_depth=1 high_confidence=0.7 max_attempts=3 calibration=false").unwrap();
        println!("confidence {calibrated} calibrated, {claimed} as claimed");
        assert!(calibrated < claimed && claimed <= 0.8);
        // The surest, and of those one with the fewest calls; which of these paid for a shared call
        // in tokens is chance.
        let surest = |cell: &Value| {
            cell["mean_confidence"].as_f64().is_some_and(|confidence| confidence >= claimed)
        };
        assert!(
            cells
                .iter()
                .all(|cell| surest(cell) == (cell["mean_confidence"].as_f64() == Some(claimed)))
        );
        assert_is_cheapest(&document, surest);
        assert!(
            document["ties"] == json!([]) && document["cells"][0]["p_to_best"] == json!(null),
            "{document}"
        );
        assert!(document["warnings"].to_string().contains("nothing was expected"), "{document}");
        let out = place.path().join("out");
        assert_eq!(read(&out.join("results.json")), document);
        assert_eq!(read(&out.join("best.json"))["name"], document["best"]);
        assert_eq!(
            (&read(&out.join("config.json"))["cells"], &document["schema"]),
            (&json!(54), &json!("syrch.grid/1"))
        );
        assert!(fs::read_to_string(out.join("summary.md")).unwrap().starts_with("# Grid\n"));
        // The run's own cache went with it.
        assert!(runs(&place).iter().all(|name| !name.starts_with(".calls-")), "{:?}", runs(&place));
    }
}

#[test]
fn expected_rows_decide_and_then_the_cost() {
    let place = Place::new();
    place.file("right.csv", "n\n4\n");
    place.file("wrong.csv", "n\n5\n");
    let endpoint = endpoint();
    let ask =
        |words: &[&str]| run_command(asking(one(&place, "--format json"), &endpoint).args(words));
    let by_sql = ["--expected-sql", "SELECT 4"];
    for expected in [["--expected", "right.csv"], by_sql] {
        let document = ask(&expected).document(0);
        assert_is_cheapest(&document, |cell| cell["right"] == json!(1));
        let alone =
            cell(&document, "max_depth=5 high_confidence=0.95 max_attempts=1 calibration=false");
        assert_eq!((&alone["right"], &alone["of"]), (&json!(0), &json!(1)));
        let run = state(&place).join("suites").join(document["run"].as_str().unwrap());
        assert_eq!(read(&run.join("best.json"))["name"], document["best"]);
    }
    let document = ask(&["--expected", "wrong.csv"]).document(0);
    assert!(
        document["cells"].as_array().unwrap().iter().all(|cell| cell["right"] == json!(0)),
        "{document}"
    );
    assert_is_cheapest(&document, |_| true);
}

/// The best cell is one of these, and none of them takes fewer calls.
fn assert_is_cheapest(document: &Value, is_good: impl Fn(&Value) -> bool) {
    let calls = |cell: &Value| cell["costs"]["calls"].as_u64().unwrap();
    let good = document["cells"].as_array().unwrap().iter().filter(|cell| is_good(cell));
    let fewest: Vec<&Value> =
        good.clone().filter(|cell| Some(calls(cell)) == good.clone().map(calls).min()).collect();
    assert!(
        fewest.iter().any(|cell| cell["name"] == document["best"]),
        "{}: {fewest:?}",
        document["best"]
    );
}

/// Three questions over the shop.
fn suite(place: &Place) {
    let line = |id: &str, question: &str, sql: &str| {
        json!({"id": id, "db": "shop", "question": question, "gold_sql": sql}).to_string() + "\n"
    };
    let lines = [
        line("q1", QUESTION, "SELECT count(*) FROM customers"),
        line("q2", "How many orders are there?", "SELECT count(*) FROM orders"),
        line("q3", "List the names of the products.", "SELECT name FROM products"),
    ];
    place.file("suite.jsonl", lines.concat());
}

#[test]
fn lists_make_the_cells() {
    let place = Place::new();
    suite(&place);
    let ask = |words: &[&str]| {
        let mut command = offline(grid(&place, "suite.jsonl --format json"));
        run_command(command.args(words))
    };
    let lists = [
        "-P",
        "policy.max_depth=1,2",
        "-P",
        r#"settings.note=["a,b",1],"c,d",e"#,
        "-P",
        "max_attempts=2",
    ];
    let document = ask(&lists).document(0);
    assert_eq!(
        names(&document),
        [
            r#"max_depth=1 settings.note=["a,b",1] max_attempts=2"#,
            r#"max_depth=1 settings.note="c,d" max_attempts=2"#,
            "max_depth=1 settings.note=e max_attempts=2",
            r#"max_depth=2 settings.note=["a,b",1] max_attempts=2"#,
            r#"max_depth=2 settings.note="c,d" max_attempts=2"#,
            "max_depth=2 settings.note=e max_attempts=2",
        ]
    );
    assert_eq!(
        document["cells"][0]["settings"],
        json!({"max_depth": 1, "settings.note": ["a,b", 1], "max_attempts": 2})
    );
    assert!(document["cells"].as_array().unwrap().iter().all(|cell| cell["of"] == json!(3)));
    // Of random cells the seed says which.
    let drawn = |seed: &str| {
        let document = ask(&["--random", "4", "--seed", seed]).document(0);
        names(&document).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let one = drawn("1");
    let again = drawn("1");
    let other = drawn("2");
    assert!(one == again && one != other && one.len() == 4, "{one:?} {other:?}");
    // What a flag or a single value fixes is not varied.
    let fixed = ask(&["--max-depth", "2", "-P", "calibration=true", "--high-conf", "0.9"]);
    let document = fixed.document(0);
    assert_eq!(
        names(&document),
        [
            "calibration=true max_attempts=1",
            "calibration=true max_attempts=3",
            "calibration=true max_attempts=5"
        ]
    );
    assert!(
        fixed.stderr.contains("max_depth is not varied: --max-depth fixes it"),
        "{}",
        fixed.all()
    );
}

#[test]
fn what_is_no_grid_is_refused_before_anything_is_asked() {
    let place = Place::new();
    suite(&place);
    fs::create_dir(place.path().join("theirs")).unwrap();
    place.file("theirs/config.json", "{\"mine\": 1}");
    let thousand = (0..1_001).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("suite.jsonl -P settings.a={thousand}");
    for (words, code, reported) in [
        ("", 2, ["SUITE", "required"]),
        ("suite.jsonl -q hi", 2, ["cannot be used with", "--question"]),
        ("suite.jsonl --expected x.csv", 2, ["--expected is for one question", "of a suite"]),
        ("-q hi", 2, ["no database", "--db shop.sqlite"]),
        (
            "-q hi --db shop.sqlite --expected none.csv",
            10,
            ["--expected `none.csv`", "No such file"],
        ),
        ("-q hi --db none.sqlite", 11, ["none.sqlite", "--db"]),
        (
            "suite.jsonl -P policy.max_depht=1,2",
            2,
            ["the policy has no `max_depht`", "`max_depth`"],
        ),
        (
            "suite.jsonl -P policy.max_depth=1,99",
            2,
            ["max_depth: 99 is not a whole number", "from 1 to 16"],
        ),
        ("suite.jsonl -P policy.max_depth=1,1", 2, ["the value 1 is given twice", "max_depth"]),
        ("suite.jsonl -P policy.max_depth=1, ", 2, ["a value is missing", "empty text"]),
        (
            "suite.jsonl -P policy.max_depth=1,2 -P max_depth=3",
            2,
            ["max_depth is given twice", "max_depth"],
        ),
        (
            "suite.jsonl -P policy.max_depth=1,2 --max-depth 3",
            2,
            ["and --max-depth set the same", "leave out one"],
        ),
        (
            "suite.jsonl -P solver.xyz=1,2",
            2,
            ["-P solver.xyz: the solver `refine` has no setting", "plugin inspect refine"],
        ),
        (
            "suite.jsonl -P calibration=true,false -P calibrator.retry=0,0.1",
            2,
            ["takes away the calibrator", "do not vary"],
        ),
        (many.as_str(), 2, ["the grid has 1001 cells, more than 1000", "--random 100"]),
        (
            "suite.jsonl --report x.md",
            2,
            ["--report does not go with a grid", "--out names the folder"],
        ),
        ("suite.jsonl --out suite.jsonl", 2, ["--out `suite.jsonl`", "--out takes a folder"]),
        (
            "suite.jsonl --out none/out",
            2,
            ["--out `none/out`: there is no folder `none`", "none above it"],
        ),
        (
            "suite.jsonl --out theirs",
            2,
            ["its `config.json` is not that of a grid", "another folder"],
        ),
        (
            "-q hi --db shop.sqlite --expected-sql SELECT(nosuch)",
            11,
            ["--expected-sql: ", "nosuch"],
        ),
        ("suite.jsonl --grid-max-workers 0", 2, ["--grid-max-workers", "0"]),
        ("suite.jsonl --random 0", 2, ["--random", "0"]),
    ] {
        assert_refused(&mut offline(grid(&place, words)), code, &reported);
    }
    assert!(!state(&place).join("suites").exists(), "a run was started");
}

#[test]
fn a_budget_stops_a_grid_that_goes_on_where_it_stopped() {
    let place = Place::new();
    suite(&place);
    let words =
        "suite.jsonl -P policy.max_depth=1,2,3 --format json --out out --grid-max-workers 1";
    let stopped = run_command(&mut offline(grid(&place, &format!("{words} --total-calls 4"))));
    let document = stopped.document(16);
    let partial = &document["partial"];
    assert!(
        partial["why"].as_str().unwrap().contains("used up") && partial["of"] == json!(9),
        "{}",
        stopped.all()
    );
    assert!(stopped.stderr.contains("continues, with a higher --total-calls"), "{}", stopped.all());
    assert_eq!(read(&place.path().join("out/results.json")), document);
    let done = run_command(&mut offline(grid(&place, &format!("{words} --resume last"))));
    let whole = run_command(&mut offline(grid(&place, words)));
    assert!(done.stderr.contains(" are done already"), "{}", done.all());
    let figures = |said: &Said| {
        let document = said.document(0);
        (
            document["best"].clone(),
            document["cells"]
                .as_array()
                .unwrap()
                .iter()
                .map(|cell: &Value| {
                    (cell["name"].clone(), cell["right"].clone(), cell["costs"]["calls"].clone())
                })
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(figures(&done), figures(&whole));
    let other = run_command(&mut offline(grid(
        &place,
        "suite.jsonl -P policy.max_depth=1,2 --resume last",
    )));
    assert!(
        other.code == 10 && other.stderr.contains("changed since: the arms"),
        "{}",
        other.all()
    );
}

#[test]
fn the_report_of_a_grid_is_made_again() {
    let place = Place::new();
    suite(&place);
    let made = run_command(&mut offline(grid(
        &place,
        "suite.jsonl -P policy.max_depth=1,2 --format json",
    )))
    .document(0);
    let report = |words: &str| {
        let mut command = place.words("report");
        run_command(command.env("SYRCH_STATE_DIR", state(&place)).args(words.split_whitespace()))
    };
    assert_eq!(report("--format json").document(0), made);
    assert_eq!(report("--format json --rule strict").document(0)["rule"], "strict");
    assert!(report("--report again.json").stdout.starts_with("best of 2 cells: "));
    assert_eq!(read(&place.path().join("again.json")), made);
}

#[test]
fn seeds_times_and_a_fuzzed_suite_have_their_figures_in_each_cell() {
    let place = Place::new();
    suite(&place);
    let mut fuzz = place.words("suite fuzz suite.jsonl -o fuzzed --variants 2");
    let fuzzed = run_command(fuzz.env("SYRCH_STATE_DIR", state(&place)));
    assert_eq!(fuzzed.code, 0, "{}", fuzzed.all());
    let words = "suite.jsonl -P policy.max_depth=1,2 --seeds 2 --timed 1 --fuzz fuzzed";
    let made =
        run_command(&mut offline(grid(&place, &format!("{words} --format json")))).document(0);
    for cell in made["cells"].as_array().unwrap() {
        assert_eq!((&cell["of"], &cell["band"]["seeds"]), (&json!(3), &json!(2)), "{cell}");
        assert!(cell["r_ves"].as_f64().is_some_and(|r_ves| r_ves > 0.0), "{cell}");
        let rules: Vec<&str> = cell["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["rule"].as_str().unwrap())
            .collect();
        assert_eq!(rules, ["bag-v1", "bird-ex", "fuzzed", "spider-ex", "spider2", "strict"]);
    }
    assert_eq!((&made["timed_repeats"], made["cells"].as_array().unwrap().len()), (&json!(1), 2));
    let report = |words: &str| {
        let mut command = place.words("report");
        run_command(command.env("SYRCH_STATE_DIR", state(&place)).args(words.split_whitespace()))
    };
    assert_eq!(report("--format json").document(0), made);
    let header = report("--format csv").stdout.lines().next().unwrap().to_owned();
    assert!(
        header.ends_with(",note,over 2 seeds,fuzzed,R-VES (each pair timed 1 time)"),
        "{header}"
    );
}

#[test]
fn a_report_that_a_grid_has_not_is_refused_before_any_is_printed() {
    let place = Place::new();
    suite(&place);
    assert_eq!(
        run_command(&mut offline(grid(&place, "suite.jsonl -P policy.max_depth=1,2"))).code,
        0
    );
    for (flags, reported) in [
        (
            "--report x.json --report x.html",
            "--report `x.html`: the report of a grid is not written so",
        ),
        ("--report x.json --resamples 200", "--resamples does not go with the report of a grid"),
    ] {
        let mut command = place.words(&format!("report {flags}"));
        assert_refused(command.env("SYRCH_STATE_DIR", state(&place)), 2, &[reported]);
        assert!(!place.path().join("x.json").exists(), "{flags}");
    }
}

#[test]
fn a_grid_without_an_answer_has_no_best_cell() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::new().on([QUESTION], Reply::status(401, "no")));
    let mut command =
        asking(one(&place, "-P policy.max_depth=1,2 --max-outages 0 --format json"), &endpoint);
    let said = run_command(&mut command);
    assert_eq!(said.document(12)["best"], Value::Null, "{}", said.all());
    assert!(said.stderr.contains("all 2 searches failed"), "{}", said.all());
    let again = |words: &str| {
        let mut command = place.words(&format!("report {words}"));
        crate::grid::run_command(command.env("SYRCH_STATE_DIR", state(&place)))
    };
    let summary = again("--format markdown").stdout;
    assert!(
        summary.contains("No cell has an answer.") && !summary.contains("was tried"),
        "{summary}"
    );
    assert!(again("").stdout.starts_with("no cell has an answer\n"), "{}", again("").all());
    assert!(
        again("--slice db").code == 2
            && again("--slice db").stderr.contains("does not go with a grid")
    );
}

#[test]
fn hostile_values_are_shown_and_not_obeyed() {
    let place = Place::new();
    let question = "How many\u{1b}[31m <script>alert(1)</script> customers | are `there`?";
    for (format, raw) in
        [("table", "\u{1b}"), ("json", "\u{1b}"), ("markdown", "<b>"), ("csv", "\u{1b}")]
    {
        let mut command =
            offline(grid(&place, &format!("--db shop.sqlite --format {format} --out out")));
        let said = run_command(command.args([
            "-q",
            question,
            "-P",
            "settings.x=<b>|\u{1b}[2J,\u{202e}",
            "--expected-sql",
            "SELECT 1 -- <b>\u{7}",
        ]));
        // No cell has an answer to that.
        assert_eq!(said.code, 3, "{}", said.all());
        assert!(
            !said.stdout.contains(raw) && !said.all().contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{}",
            said.all()
        );
        let summary = fs::read_to_string(place.path().join("out/summary.md")).unwrap();
        assert!(!summary.contains("<b>") && !summary.contains('\u{1b}'), "{summary}");
    }
}

#[test]
fn the_help_tells_what_is_varied() {
    assert_help("grid", &["One question", "Grid"], "grid_help.txt");
}

#[test]
fn a_grid_by_rules_reads_like_this() {
    let place = Place::new();
    suite(&place);
    let said = run_command(&mut offline(grid(
        &place,
        "suite.jsonl -P policy.max_depth=1,3 -P calibration=true,false",
    )));
    assert_eq!(said.code, 0, "{}", said.all());
    assert_snapshot("grid.txt", &without_times(&said.stdout));
}
