//! `plugin call`, `test`, `check` and `inspect`: what the author of a plugin works with.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use syrch_kit::{languages, shop, zoo};

use crate::compare::assert_snapshot;
use crate::endpoint::Said;
use crate::host;

const REWARD: &str = "role: reward
database: |
  CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);
  INSERT INTO customers VALUES (1, 'Vienna'), (2, 'Graz');
rows: full
input:
  problem: {question: 'How many customers?'}
  rivals: [{candidate: {id: a, sql: 'SELECT * FROM customers'}}]
";
const SOLVER: &str = "role: solver
settings: {samples: 3}
database: |
  CREATE TABLE customers (id INTEGER PRIMARY KEY, city TEXT);
  INSERT INTO customers VALUES (1, 'Vienna'), (2, 'Graz');
evaluate: {confidences: [0.5], verdicts: [{accepted: {score: 1.0}}]}
model:
- {sql: 'SELECT count(*) FROM customers', confidence: 0.9}
- {error: {unavailable: no network}}
- {text: \"```sql\\nSELECT count(*) FROM customers\\n```\"}
input: {problem: 'How many customers?'}
";

fn run_plugin(folder: &Path, words: &[&str], stdin: &str) -> Said {
    let mut command = host();
    command.current_dir(folder).arg("plugin").args(words);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    // A command that reads nothing may have ended already.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    Said::from_output(child.wait_with_output().unwrap())
}

fn component(folder: &Path, name: &str) -> String {
    fs::write(folder.join(format!("{name}.wasm")), languages::component(name)).unwrap();
    format!("./{name}.wasm")
}

#[test]
fn a_call_prints_what_the_role_gave_and_each_port_call() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::write(place.join("one.yml"), SOLVER).unwrap();
    let call = || run_plugin(place, &["call", "consistency", "--case", "one.yml"], "").document(0);
    let document = call();
    assert_eq!(document, call(), "equal calls give equal documents");
    assert_eq!(
        (&document["schema"], &document["role"]),
        (&json!("syrch.call/1"), &json!("solver"))
    );
    for port in ["llm", "sql", "trace", "wait"] {
        assert!(document["used"].as_array().unwrap().contains(&port.into()), "{document:#}");
    }
    let calls = document["calls"].as_array().unwrap();
    let model: Vec<&Value> = calls.iter().filter(|call| call["port"] == "llm").collect();
    assert_eq!(
        model[0]["reply"]["parsed"],
        json!({"confidence": 0.9, "sql": "SELECT count(*) FROM customers"})
    );
    assert_eq!(
        (&model[1]["error"], &model[0]["request"]["temperature"]),
        (&json!({"unavailable": "no network"}), &json!(0.7))
    );
    assert_eq!(document["output"]["candidates"][0]["sql"], "SELECT count(*) FROM customers");
    let sql = calls.iter().find(|call| call["port"] == "sql").unwrap();
    assert_eq!(sql["reply"], json!({"columns": ["count(*)"], "rows": 1, "truncated": false}));
}

#[test]
fn an_input_comes_from_standard_input() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let document = run_plugin(
        place,
        &["call", "signals", "calibrator"],
        r#"{"claims": [0.5, [0.9, {"attempts": 2}]]}"#,
    )
    .document(0);
    assert_eq!(document["output"].as_array().map(Vec::len), Some(2), "{document:#}");
    let shop = crate::shop(place);
    let input = r#"{"rivals": [{"candidate": {"id": "a", "sql": "SELECT * FROM customers"}}]}"#;
    let words = ["call", "execution", "reward", "--db", shop.to_str().unwrap()];
    assert!(run_plugin(place, &words, input).document(0)["output"][0]["accepted"].is_object());
    let without = run_plugin(place, &words[..3], input);
    assert_eq!(without.code, 10, "{}", without.all());
    assert!(
        without.stderr.contains("the statement of the rival `a` does not run"),
        "{}",
        without.all()
    );
    for (words, stdin, code, expected) in [
        (&["call", "signals", "calibrater"][..], "", 2, "did you mean `calibrator`?"),
        (&["call", "signals", "calibrator"], r#"{"claim": []}"#, 10, "did you mean `claims`?"),
        (&["call", "signals", "calibrator"], "[", 10, "standard input"),
        (&["call", "signals", "reward"], "{}", 13, "does not implement the role reward"),
        (&["call", "signals", "calibrator", "--settings", "[]"], "{}", 2, "a JSON object"),
        (&["call", "signals"], "", 2, "ROLE"),
    ] {
        let said = run_plugin(place, words, stdin);
        assert_eq!(said.code, code, "{}", said.all());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.all());
    }
}

#[test]
fn cases_are_compared_with_their_golden_files() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let cases = place.join("tests");
    fs::create_dir(&cases).unwrap();
    fs::write(cases.join("rows.yml"), REWARD).unwrap();
    fs::write(cases.join("broken.yml"), "role: reward\ninputs: {}\n").unwrap();
    let test = |words: &[&str]| {
        run_plugin(place, &[&["test", "execution", "--cases", "tests"], words].concat(), "")
    };
    let new = test(&["--filter", "rows"]);
    assert_eq!(new.code, 5, "{}", new.all());
    assert!(
        new.stdout.contains("no golden file") && new.stderr.contains("--update"),
        "{}",
        new.all()
    );
    assert_eq!(test(&["--filter", "rows", "--update"]).code, 0);
    assert_eq!(test(&["--filter", "rows"]).code, 0);

    let golden = cases.join("rows.golden.json");
    let text = fs::read_to_string(&golden).unwrap();
    fs::write(&golden, text.replace("ran with 2 rows", "ran with 3 rows")).unwrap();
    let differs = test(&[]);
    assert_eq!(differs.code, 5, "{}", differs.all());
    assert_snapshot(
        "plugin_test.txt",
        &differs.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect::<String>(),
    );
    let document = test(&["--format", "json"]).document(5);
    assert_eq!(
        (&document["schema"], &document["failed"]),
        (&json!("syrch.plugin-test/1"), &json!(2))
    );
    assert!(document["cases"][1]["difference"].as_array().unwrap().len() > 2, "{document:#}");
    assert_eq!(test(&["--filter", "nothing"]).code, 2);
}

#[test]
fn an_answer_says_that_the_reward_failed() {
    let folder = syrch_kit::scratch();
    let reward = component(folder.path(), "rust");
    let mut command = host();
    command
        .current_dir(folder.path())
        .args(["--llm", "offline", "--format", "json", "--reward", &reward, "--db"]);
    command.arg(shop(folder.path())).args([
        "-P",
        "reward.habit=fail",
        "-P",
        "reward.text=out of order",
    ]);
    let answer =
        Said::from_output(command.args(["-q", "How many customers are there?"]).output().unwrap())
            .document(0);
    let warnings = answer["warnings"].to_string();
    assert!(
        warnings.contains("were not judged") && warnings.contains("out of order"),
        "{answer:#}"
    );
}

#[test]
fn a_project_without_its_component_is_to_be_built() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::create_dir_all(place.join("short/tests")).unwrap();
    fs::write(place.join("short/plugin.yml"), "name: short\nlanguage: rust\nroles: [solver]\n")
        .unwrap();
    fs::write(place.join("short/tests/one.yml"), "role: solver\ninput: {problem: 'How many?'}\n")
        .unwrap();
    let missing = run_plugin(place, &["test", "short"], "");
    assert_eq!(missing.code, 13, "{}", missing.all());
    assert!(missing.stderr.contains("syrch-host plugin build short"), "{}", missing.all());
    fs::create_dir(place.join("short/build")).unwrap();
    fs::write(place.join("short/build/short.wasm"), languages::component("rust")).unwrap();
    assert_eq!(run_plugin(place, &["test", "short", "--update"], "").code, 0);
    let tested = run_plugin(place, &["test", "short"], "");
    assert_eq!(tested.code, 0, "{}", tested.all());
    assert!(!tested.stderr.contains("newer"), "{}", tested.all());
    assert_eq!(run_plugin(place, &["test", "."], "").code, 10, "no project");

    let later = SystemTime::now() + Duration::from_secs(60);
    fs::write(place.join("short/lib.rs"), "").unwrap();
    fs::File::options()
        .write(true)
        .open(place.join("short/lib.rs"))
        .unwrap()
        .set_modified(later)
        .unwrap();
    let stale = run_plugin(place, &["test", "short"], "");
    let warning = "`short/lib.rs` is newer than `short/build/short.wasm`, which is used as it is: \
                   `syrch-host plugin build short`";
    assert!(stale.code == 0 && stale.stderr.contains(warning), "{}", stale.all());
    let called = run_plugin(place, &["call", "short/build/short.wasm", "solver"], "{}");
    assert!(called.stderr.contains(warning), "{}", called.all());
    let within = run_plugin(&place.join("short"), &["inspect", "build/short.wasm"], "");
    assert!(
        within.stderr.contains("`lib.rs` is newer than `build/short.wasm`")
            && within.stderr.contains("build .`"),
        "{}",
        within.all()
    );

    // What the plugin fails with stands above all that it no longer does.
    let case = "role: solver\nsettings: {habit: fail}\ninput: {problem: 'How many?'}\n";
    fs::write(place.join("short/tests/one.yml"), case).unwrap();
    let failed = run_plugin(place, &["test", "short"], "");
    assert!(
        failed.code == 5 && failed.stdout.contains("one differs:\nfailure: {"),
        "{}",
        failed.all()
    );

    let call = run_plugin(place, &["call", "short", "solver"], "{}");
    assert!(call.stderr.contains("name the component in it"), "{}", call.all());
    let call = run_plugin(place, &["call", "consistency", "--case", "nothing.yml"], "");
    assert!(
        call.code == 2 && call.stderr.contains("there is no case `nothing.yml`"),
        "{}",
        call.all()
    );
}

#[test]
fn a_component_is_checked_against_the_contract() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let fits = run_plugin(place, &["check", &component(place, "rust"), "--format", "json"], "")
        .document(0);
    assert_eq!(
        (&fits["fits"], &fits["language"], &fits["error"]),
        (&json!(true), &json!("Rust"), &Value::Null)
    );

    let bytes = languages::alter_component(
        "go",
        "syrch:plugin/planner@0.1.0",
        "syrch:plugin/planner@0.9.0",
    );
    fs::write(place.join("later.wasm"), bytes).unwrap();
    let later = run_plugin(place, &["check", "./later.wasm"], "");
    assert_eq!(later.code, 13, "{}", later.all());
    assert!(
        later.stdout.contains("syrch:plugin/solver@0.1.0")
            && later.stdout.contains("offers `syrch:plugin/planner@0.1.0`")
    );
    assert!(later.stderr.contains("go build"), "{}", later.all());
    let document =
        run_plugin(place, &["check", "./later.wasm", "--format", "json"], "").document(13);
    assert!(document["error"]["hint"].as_str().unwrap().contains("go build"), "{document:#}");
}

/// A function of another type is named, with its type and that of the contract.
#[test]
fn a_function_of_another_type_is_named() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let module = r#"(core module $m (memory (export "m") 1)
        (func (export "f") (param i32 i32) (result i32) unreachable)
        (func (export "r") (param i32 i32 i32 i32) (result i32) unreachable))
        (core instance $i (instantiate $m))
        (func $f (param "question" string) (result string)
            (canon lift (core func $i "f") (memory (core memory $i "m")) (realloc (core func $i "r"))))"#;
    let exports = r#"(instance $p (export "plan" (func $f)))
        (export "syrch:plugin/planner@0.1.0" (instance $p)) (export "syrch:plugin/about@0.1.0" (instance $p))"#;
    let import =
        r#"(import "syrch:plugin/run@0.1.0" (instance (export "seed" (func (result string)))))"#;
    let check = |import: &str| {
        let text = format!("(component {import} {module} {exports})");
        fs::write(place.join("odd.wasm"), wat::parse_str(text).unwrap()).unwrap();
        let said = run_plugin(place, &["check", "./odd.wasm"], "");
        assert_eq!(said.code, 13, "{}", said.all());
        said
    };
    let import = check(import);
    let expected = "`seed`: the plugin has `func() -> string`, this host has `func() -> u64`";
    assert!(import.stderr.contains(expected), "{}", import.all());
}

#[test]
fn inspecting_shows_what_made_a_plugin_and_what_it_may_reach() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    for (name, language) in [("rust", "Rust"), ("c", "C"), ("go", "Go"), ("js", "JavaScript")] {
        let path = component(place, name);
        let document = run_plugin(place, &["inspect", &path, "--format", "json"], "").document(0);
        assert_eq!(document["language"], language, "{document:#}");
        assert!(
            document["roles_may_reach"].as_array().unwrap().contains(&"llm".into()),
            "{document:#}"
        );
        assert_eq!(document["limits"]["cpu_seconds_per_call"], 5.0);
        let again = run_plugin(place, &["inspect", &path, "--format", "json"], "").document(0);
        assert_eq!(again["compiled"], true, "{again:#}");
    }
    let shown = run_plugin(place, &["inspect", "execution"], "");
    assert!(
        shown.stdout.contains("memory bytes") && shown.stdout.contains("roles_may_reach"),
        "{}",
        shown.all()
    );
}

#[test]
fn hostile_cases_and_plugins_are_errors() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    fs::create_dir(place.join("cases")).unwrap();
    fs::write(place.join("secret.sql"), "CREATE TABLE secret(a)").unwrap();
    let call = |text: &str, code: i32, expected: &str| {
        fs::write(place.join("cases/one.yml"), text).unwrap();
        let said = run_plugin(place, &["call", "execution", "--case", "cases/one.yml"], "");
        assert_eq!(said.code, code, "{text}: {}", said.all());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.all());
    };
    call("role: reward\ndatabase: {file: ../secret.sql}\n", 10, "not in the folder of the project");
    call(
        "role: reward\ndatabase: \"ATTACH '/tmp/other.sqlite' AS o\"\n",
        10,
        "the case's database",
    );
    call(
        &format!("role: reward\ninput: {}{}\n", "{a: ".repeat(99), "}".repeat(99)),
        10,
        "nested too deep",
    );
    call(
        &format!("role: reward\ninput: {{problem: '{}'}}\n", "x".repeat(300_000)),
        10,
        "larger than",
    );
    let hostile = zoo::hostile();
    let spin = run_plugin(
        place,
        &["call", hostile.to_str().unwrap(), "planner", "--settings", r#"{"behaviour": "spin"}"#],
        r#"{"problem": "How many?"}"#,
    );
    let document = spin.document(14);
    let error = document["error"].as_str().unwrap();
    assert!(
        error.starts_with("the plugin hit the limit `cpu-per-call` in `planner.plan`"),
        "{document:#}"
    );
}

/// Whoever wrote a case does not decide how much of the user's own database a plugin may see.
#[test]
fn a_case_grants_no_cells_of_the_users_database() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let plugin = component(place, "rust");
    let case = "role: solver
rows: full
settings: {habit: ports, size: 10, share: 0.5, text: nothing}
model: [{sql: SELECT 1}]
evaluate: {confidences: [0.5], verdicts: [{accepted: {score: 1}}]}
database: CREATE TABLE customers (id INTEGER); INSERT INTO customers VALUES (1), (2), (3), (4), (5);
input: {task: {id: A, text: SELECT id FROM customers ORDER BY id}}
";
    fs::write(place.join("one.yml"), case).unwrap();
    fs::write(place.join("none.yml"), "execution: {rows: none}\n").unwrap();
    let shop = crate::shop(place);
    let db = ["--db", shop.to_str().unwrap()];
    let read = |words: &[&str]| {
        let words = [&["call", &plugin, "--case", "one.yml"], words].concat();
        let document = run_plugin(place, &words, "").document(0);
        let mut calls = document["calls"].as_array().unwrap().iter();
        let read = calls.rfind(|call| call["port"] == "rows").unwrap();
        read["reply"]["rows"].as_u64()
    };
    assert_eq!(read(&[]), Some(5), "the case's own");
    assert_eq!(read(&db), Some(3), "by default");
    assert_eq!(read(&[&db[..], &["--cells", "full"]].concat()), Some(4));
    assert_eq!(read(&[&db[..], &["--config", "none.yml"]].concat()), None);
    assert_eq!(read(&["--cells", "sample:1"]), Some(1));
}

#[test]
fn the_statements_of_an_input_take_a_bounded_memory() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let rivals = |count: usize| {
        let database = "CREATE TABLE t (a); INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 \
                        UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT printf('%0900000d', i) \
                        FROM n";
        let rivals: Vec<Value> = (0..count)
            .map(|number| {
                json!({
                    "candidate": {"id": format!("a{number}"), "sql": "SELECT a FROM t"}
                })
            })
            .collect();
        let case = json!({
            "role": "reward", "database": database, "rows": "none", "input": {"rivals": rivals}
        });
        fs::write(place.join("many.json"), case.to_string()).unwrap();
        run_plugin(place, &["call", "execution", "--case", "many.json"], "")
    };
    assert_eq!(rivals(5).code, 0);
    let many = rivals(30);
    assert_eq!(many.code, 10, "{}", many.all());
    assert!(
        many.stderr.contains("the rows of its statements take more than 64 MiB"),
        "{}",
        many.all()
    );
}

/// The content of somebody else's project is shown and not obeyed, and leads to no other place.
#[cfg(unix)]
#[test]
fn a_project_of_somebody_else_reaches_nothing_outside_of_it() {
    use std::os::unix::fs::symlink;

    let folder = syrch_kit::scratch();
    let place = folder.path();
    let project = place.join("short");
    fs::create_dir_all(project.join("build")).unwrap();
    fs::create_dir_all(place.join("outside")).unwrap();
    fs::write(project.join("plugin.yml"), "name: short\nlanguage: rust\nroles: [solver]\n")
        .unwrap();
    fs::write(project.join("build/short.wasm"), languages::component("rust")).unwrap();
    let outside = place.join("outside/one.yml");
    fs::write(&outside, "role: solver\ninput: {problem: 'How many?'}\n").unwrap();
    let files = || fs::read_dir(place.join("outside")).unwrap().count();
    let test = |words: &[&str], code: i32, expected: &str| {
        let said = run_plugin(place, &[&["test", "short"], words].concat(), "");
        assert_eq!(said.code, code, "{}", said.all());
        assert!(said.all().contains(expected), "{expected}: {}", said.all());
        assert!(
            !said.all().contains('\u{1b}') && !said.all().contains('\u{202e}'),
            "{}",
            said.all()
        );
    };

    // The folder of the cases is a link: a golden file would be written where it leads.
    symlink(place.join("outside"), project.join("tests")).unwrap();
    test(&["--update"], 10, "is a symbolic link");
    assert_eq!(files(), 1);
    fs::remove_file(project.join("tests")).unwrap();

    // So are a case, a golden file and a database, each for itself; a pipe would wait for ever.
    let tests = project.join("tests");
    fs::create_dir(&tests).unwrap();
    symlink(&outside, tests.join("case.yml")).unwrap();
    test(&[], 5, "is a symbolic link");
    fs::remove_file(tests.join("case.yml")).unwrap();
    fs::write(tests.join("one.yml"), "role: solver\ninput: {problem: 'How many?'}\n").unwrap();
    for target in ["outside/new.json", "outside/one.yml", "outside"] {
        symlink(place.join(target), tests.join("one.golden.json")).unwrap();
        test(&["--update"], 5, "is no plain file");
        test(&[], 5, "is no plain file");
        fs::remove_file(tests.join("one.golden.json")).unwrap();
    }
    for pipe in ["one.golden.json", "two.yml"] {
        nix::unistd::mkfifo(&tests.join(pipe), nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    test(&["--update"], 5, "is no plain file");
    test(&[], 5, "a special file, such as a pipe");
    assert_eq!((files(), fs::read_to_string(&outside).unwrap().lines().count()), (1, 2));

    // Names and texts with what a terminal obeys.
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}\u{1b}[2J";
    fs::write(
        tests.join(format!("{hostile}.yml")),
        format!("role: solver\n\"{}\": 1\n", "\\e[2Jx"),
    )
    .unwrap();
    test(&[], 5, "unknown field");
    fs::write(
        tests.join(format!("{hostile}.yml")),
        "role: solver\ninput: {problem: 'How many?'}\n",
    )
    .unwrap();
    fs::write(
        tests.join(format!("{hostile}.golden.json")),
        format!("{{\"{}\": 1}}", "\\u001b[2J\u{202e}"),
    )
    .unwrap();
    test(&["--format", "json"], 5, "differs");
    test(&["--format", "markdown"], 5, "differs");
    test(&[], 5, "differs");
    fs::write(project.join("plugin.yml"), "\"\\e[2J\": 1\n").unwrap();
    test(&[], 10, "unknown key");
}

/// Small files that would become large ones in memory, or long work.
#[test]
fn small_cases_take_neither_much_memory_nor_time() {
    let folder = syrch_kit::scratch();
    let place = folder.path();
    let refused = |text: &str, expected: &str| {
        fs::write(place.join("one.yml"), text).unwrap();
        let start = std::time::Instant::now();
        let said = run_plugin(place, &["call", "execution", "--case", "one.yml"], "");
        assert_eq!(said.code, 10, "{}", said.all());
        assert!(said.stderr.contains(expected), "{expected}: {}", said.all());
        assert!(
            start.elapsed() < std::time::Duration::from_secs(60),
            "{expected}: {:?}",
            start.elapsed()
        );
    };
    fn nine(name: char, of: char) -> String {
        format!("{name}: &{name} [{}]\n", vec![format!("*{of}"); 9].join(", "))
    }
    let bomb: String = ('b'..='i').zip('a'..='h').map(|(name, of)| nine(name, of)).collect();
    refused(&format!("a: &a [x, x, x, x, x, x, x, x, x]\n{bomb}"), "too large or nested too deep");
    let text = "x".repeat(200_000);
    let long = format!(
        "a: &a {text}\nb: &b [{}]\nc: [{}]\n",
        vec!["*a"; 49].join(", "),
        vec!["*b"; 49].join(", ")
    );
    refused(&long, "too large or nested too deep");
    refused(
        "role: reward\ndatabase: WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
         SELECT sum(i) FROM n\n",
        "more than 20 s",
    );
    refused("role: reward\ndatabase: SELECT load_extension('./x.so')\n", "the case's database");
    refused(
        "role: reward\ndatabase: CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(2000000000))\n",
        "the case's database",
    );
}

#[test]
fn the_help_is_as_it_was() {
    let folder = syrch_kit::scratch();
    // Without the flags of a search, which are the same everywhere.
    let help = |words: &[&str]| {
        let help = run_plugin(folder.path(), &[words, &["--help"][..]].concat(), "").stdout;
        let headings = ["\nModel:\n", "\nSearch:\n", "\nExit codes:\n"];
        let end = headings.iter().filter_map(|heading| help.find(heading)).min().unwrap();
        help[..end].replace("\nOptions:\n", "\nOptions:\n\n")
    };
    let all = help(&["list"]);
    let common: Vec<&str> = all.split("\n\n").skip(3).map(str::trim).collect();
    let mut text = help(&[]).split("\nOptions:\n").next().unwrap().to_owned();
    let commands = [
        "list", "inspect", "check", "call", "test", "add", "review", "grants", "remove", "sign",
        "push", "new", "build", "watch",
    ];
    for command in commands {
        let help = help(&[command]);
        let own = help.split("\n\n").filter(|paragraph| !common.contains(&paragraph.trim()));
        let own: Vec<&str> = own.map(str::trim_end).collect();
        text += &format!("\n# plugin {command}\n{}\n", own.join("\n\n"));
    }
    let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    assert_snapshot("help-plugin.txt", &text);
}
