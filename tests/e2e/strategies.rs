//! Strategies by name and by file: what is built in is right, what is shown can be used again, and
//! nothing else in the host knows a name.

mod beam;
mod chase;
mod flows;
mod mcts;
mod progressive;
mod requirements;
mod samples;
mod text2sql;
mod traced;
mod turns;
mod with_model;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, zoo};

use crate::bad_input::{Place, assert_refused, finish, read_streams};
use crate::endpoint::{PLAN, Said, WRITE, search, whole};
use crate::{STRATEGY, host};

const ROLES: [&str; 7] =
    ["linker", "planner", "solver", "calibrator", "reward", "clarifier", "aggregator"];

fn folder() -> PathBuf {
    syrch_kit::repository().join("plugins/strategies")
}

/// The built-in files by name, sorted.
fn files() -> Vec<(String, PathBuf)> {
    let paths = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "yml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn schema() -> jsonschema::Validator {
    let text = fs::read_to_string(folder().join("strategy.schema.json")).unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// Returns the document that the program prints as JSON.
fn document(place: &Place, words: &str) -> Value {
    let output = finish(place.words(words).args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{words}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn every_built_in_fits_the_schema_and_its_plugins() {
    let place = Place::new();
    let schema = schema();
    let listed = document(&place, "strategy list");
    let listed: Vec<&str> = listed["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let files = files();
    assert_eq!(listed, files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    let plugins = document(&place, "plugin list");
    let plugins: Vec<&Value> =
        plugins["plugins"].as_array().unwrap().iter().map(|plugin| &plugin["name"]).collect();
    for (name, path) in files {
        let wrong: Vec<String> =
            schema.iter_errors(&read(&path)).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        // It loads every plugin and gives it its settings.
        let shown = document(&place, &format!("strategy show {name}"));
        assert_eq!(shown["name"], json!(name));
        for (role, part) in shown["roles"].as_object().unwrap() {
            assert!(
                plugins.contains(&&part["plugin"]),
                "{name}: the {role} {} is not built in",
                part["plugin"]
            );
            assert_eq!(part["digest"].as_str().unwrap().len(), 64);
        }
    }
}

#[test]
fn the_schema_refuses_what_the_host_refuses() {
    let place = Place::new();
    let schema = schema();
    for (text, is_right) in [
        ("name: a\nroles: {solver: refine}\n", true),
        (
            "name: a\nroles: {linker: none, solver: {plugin: refine, config: {}}}\n\
             policy: {high_confidence: 1, max_rounds: 256}\n",
            true,
        ),
        ("name: a\nroles: {solver: none}\n", false),
        ("name: a\nroles: {reward: {plugin: none}}\n", false),
        ("name: a\nroles: {solver: {config: {}}}\n", false),
        ("name: a\nroles: {solver: ''}\n", false),
        ("name: a\nroles: {sovler: refine}\n", false),
        ("name: a\nroles: {}\n", false),
        ("name: a\n", false),
        ("roles: {solver: refine}\n", false),
        ("name: a b\nroles: {solver: refine}\n", false),
        ("name: a\nsummary: \"b\\nc\"\nroles: {solver: refine}\n", false),
        ("name: a\nroles: {solver: refine}\nllm: {model: m}\n", false),
        ("name: a\nroles: {solver: refine}\nbudgets: {tokens: 1}\n", false),
        ("name: a\nroles: {rewriter: none}\n", false),
        ("name: a\nflow: {start: draft, nodes: {draft: {next: run}, run: {}}}\n", true),
        (
            "name: a\nflow: {start: a, nodes: {a: {do: draft, next: [run]}, run: {on: {empty: b}}, \
             b: {do: ask}}}\n",
            true,
        ),
        (
            "name: a\nflow: {start: a, nodes: {a: {do: flow, times: 2, flow: {start: draft, nodes: \
             {draft: {next: run}, run: }}}}}\n",
            true,
        ),
        ("name: a\nflow: {start: draft, nodes: {draft: {next: 3}}}\n", false),
        ("name: a\nflow: {start: draft, nodes: {draft: {nxet: draft}}}\n", false),
        ("name: a\nflow: {start: draft, nodes: {draft: {max_visits: 0}}}\n", false),
        ("name: a\nflow: {start: draft, nodes: {draft: {settings: {form: xml}}}}\n", false),
        ("name: a\nflow: {start: draft, nodes: {'a b': {do: draft}}}\n", false),
        ("name: a\nflow: {start: a, nodes: {a: {do: walk}}}\n", false),
        ("name: a\nflow: {nodes: {draft: {}}}\n", false),
        ("name: a\nflow: {start: draft, nodes: {}}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {high_confidence: 0}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {max_attempts: 101}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {max_depth: 17}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {max_parallel: 65}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {max_rounds: 257}\n", false),
        ("name: a\nroles: {solver: refine}\npolicy: {max_rounds: 1.5}\n", false),
    ] {
        let path = place.file("own.yml", text);
        assert_eq!(schema.is_valid(&read(&path)), is_right, "the schema: {text}");
        let output = finish(&mut place.words("strategy show own.yml"), "");
        assert_eq!(
            output.status.code(),
            Some(if is_right { 0 } else { 10 }),
            "{text}{}",
            read_streams(&output).1
        );
    }
    let printed = read_streams(&finish(&mut place.words("strategy schema"), "")).0;
    assert_eq!(printed, fs::read_to_string(folder().join("strategy.schema.json")).unwrap());
    let described: Value = serde_json::from_str(&printed).unwrap();
    let roles = described["properties"]["roles"]["properties"].as_object().unwrap();
    // No search calls the last one.
    assert_eq!(roles.keys().collect::<Vec<_>>(), [&ROLES[..], &["rewriter"]].concat());
}

/// Returns the answer of a search by rules, without what differs from run to run.
fn answer(place: &Place, flags: &str) -> Value {
    let output = finish(place.search(flags).args(["--format", "json", "--seed", "1"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{flags}: {stderr}");
    let mut answer: Value = serde_json::from_str(&stdout).unwrap();
    for changing in ["run", "time_ms", "plugins"] {
        answer.as_object_mut().unwrap().remove(changing);
    }
    answer
}

#[test]
fn what_is_shown_is_used_again() {
    let place = Place::new();
    for (name, _) in files() {
        let output = finish(
            place.words(&format!("strategy show {name} -o own.yml")).env("NO_COLOR", "1"),
            "",
        );
        assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
        let parts = |word: &str| {
            let mut shown = document(&place, &format!("strategy show {word}"));
            for part in shown["roles"].as_object_mut().unwrap().values_mut() {
                part.as_object_mut().unwrap().remove("inherited");
            }
            shown
        };
        assert_eq!(parts("own.yml"), parts(&name));
        assert!(schema().is_valid(&read(&place.path().join("own.yml"))), "{name}");
    }
    let default = answer(&place, "");
    finish(&mut place.words("strategy show decompose -o again.yml"), "");
    assert_eq!(answer(&place, "--strategy again.yml"), default);
    assert_eq!(answer(&place, "--strategy decompose"), default);
    // The file that is read is not written over.
    assert_refused(
        &mut place.words("strategy show again.yml -o again.yml"),
        2,
        &["again.yml", "is a strategy file in use"],
    );
}

#[test]
fn a_files_plugins_lie_beside_it_and_are_shown_with_whole_paths() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("saved/parts")).unwrap();
    fs::create_dir_all(place.path().join("elsewhere")).unwrap();
    fs::copy(zoo::hostile(), place.path().join("saved/parts/mine.wasm")).unwrap();
    place.file(
        "saved/own.yml",
        "name: own\nroles: {planner: {plugin: parts/mine.wasm, config: \
         {behaviour: escape-codes}}}\n",
    );
    let output = finish(&mut place.words("strategy show saved/own.yml -o elsewhere/own.yml"), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    let text = fs::read_to_string(place.path().join("elsewhere/own.yml")).unwrap();
    assert!(
        text.contains(&place.path().join("saved/parts/mine.wasm").display().to_string()),
        "{text}"
    );
    for file in ["saved/own.yml", "elsewhere/own.yml"] {
        let words = format!("--strategy {file} --trust saved/parts/mine.wasm");
        assert!(answer(&place, &words)["answer"].is_object(), "{file}");
    }
}

#[test]
fn everything_wrong_with_a_file_is_reported_at_once() {
    let place = Place::new();
    place.file("keys.yml", "name: a\nroles:\n  planer: x\npolicy: {max_depth: 17}\n");
    let reported = [
        "keys.yml:3:3: unknown role `planer`; did you mean `planner`",
        "keys.yml:4:21: policy.max_depth: 17 is not",
    ];
    assert_refused(&mut place.words("strategy show keys.yml"), 10, &reported);
    assert_refused(
        &mut place.search("--strategy keys.yml"),
        10,
        &[&reported[..], &["--strategy: "]].concat(),
    );
    place.file(
        "plugins.yml",
        "name: a\nroles:\n  planner: decompos\n  clarifier:\n    plugin: ambiguity\n    config: \
         {threshhold: 0.5, threshold: 7}\n",
    );
    let reported = [
        "plugins.yml:3:12: roles.planner: there is no built-in plugin `decompos`; did you mean \
         `decompose`?",
        "plugins.yml:6:14: roles.clarifier.config: `ambiguity` has no setting `threshhold`; \
         did you mean `threshold`?",
        "plugins.yml:6:31: roles.clarifier: `ambiguity`: config: threshold: 7 is greater than the \
         maximum of 1",
    ];
    assert_refused(&mut place.words("strategy show plugins.yml"), 10, &reported);
    assert_refused(
        &mut place.words("strategy show deocmpose"),
        10,
        &["`deocmpose`", "did you mean `decompose`?"],
    );
    assert_refused(
        &mut place.search("--strategy deocmpose"),
        10,
        &["--strategy: ", "did you mean `decompose`?"],
    );
    assert_refused(
        &mut place.words("strategy show no/such.yml"),
        10,
        &["no/such.yml", "No such file"],
    );
    // `strategy list` still works with that configuration.
    place.file("home/.syrch/config.yml", "strategy: deocmpose\n");
    assert_refused(
        place.search("").env_remove(STRATEGY),
        10,
        &["config.yml:1: there is no built-in strategy `deocmpose`"],
    );
    assert_eq!(finish(&mut place.words("strategy list"), "").status.code(), Some(0));
    fs::remove_file(place.path().join("home/.syrch/config.yml")).unwrap();
    place.file("syrch.yml", "strategy: decompose\n");
    assert_refused(
        &mut place.search(""),
        10,
        &["syrch.yml:1:11", "may not be set by a file found in a folder"],
    );
}

#[test]
fn the_origin_of_what_a_strategy_sets_is_reported() {
    let place = Place::new();
    place.file(
        "own.yml",
        "name: own\nroles: {clarifier: {plugin: ambiguity, config: {threshold: 0.5}}}\n\
         policy: {max_depth: 2}\n",
    );
    let shown = document(&place, "config --origin --strategy own.yml --max-attempts 4");
    let of_it = |value: Value| json!({"value": value, "origin": "strategy own.yml"});
    assert_eq!(shown["strategy"], json!({"value": "own.yml", "origin": "--strategy"}));
    assert_eq!(
        shown["plugins"]["clarifier"],
        json!({"plugin": of_it(json!("ambiguity")), "config": {"threshold": of_it(json!(0.5))}})
    );
    assert_eq!(shown["execution"]["max_depth"], of_it(json!(2)));
    assert_eq!(
        shown["execution"]["max_attempts_per_node"],
        json!({"value": 4, "origin": "--max-attempts"})
    );
    assert_eq!(shown["plugins"]["planner"]["plugin"]["origin"], "default");
    // What it prints is a config file with the same effect.
    let output = finish(&mut place.words("config --strategy own.yml -o config.yml"), "");
    assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    let again = document(&place, "config --config config.yml");
    let first = document(&place, "config --strategy own.yml");
    assert_eq!((&again["plugins"], &again["execution"]), (&first["plugins"], &first["execution"]));
    let checked = document(&place, "doctor --strategy own.yml");
    let check = checked["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "strategy")
        .unwrap();
    assert!(
        check["detail"].as_str().unwrap().starts_with("own.yml (--strategy): linker "),
        "{check}"
    );
}

/// The model always gives the same statement, so each strategy makes as few calls as its file
/// allows.
#[test]
fn a_name_reaches_the_search_with_its_settings() {
    let place = Place::new();
    let right = || Reply::sql("SELECT count(*) AS n FROM customers", 0.95);
    let asked = |flags: &[&str]| {
        let endpoint = MockEndpoint::start(Script::new().with(move |_, _| Some(right())));
        let mut command = search(&endpoint.url(), &place.path().join("shop.sqlite"));
        command.args(["--format", "json", "-q", "How many customers are there?"]).args(flags);
        let said = Said::from_output(command.output().unwrap());
        let answer = said.document(0);
        assert_eq!(answer["answer"]["rows"], json!([[4]]), "{flags:?}: {}", said.all());
        (endpoint.count(), answer["plugins"].clone())
    };
    for (name, calls) in
        [("single", 1), ("retry3", 1), ("gate2of5", 2), ("gate3of9", 3), ("vote5", 5)]
    {
        assert_eq!(asked(&["--strategy", name]).0, calls, "{name}");
    }
    assert_eq!(asked(&["--strategy", "vote5", "-P", "solver.samples=3"]).0, 3);
    // The settings of a replaced plugin are dropped: `refine` knows no samples.
    let (_, plugins) = asked(&["--strategy", "vote5", "--solver", "refine"]);
    let solver =
        plugins.as_array().unwrap().iter().find(|plugin| plugin["role"] == "solver").unwrap();
    assert_eq!(solver["name"], "refine");
}

#[test]
fn a_run_is_repeated_without_its_strategy_file() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT count(*) AS n FROM customers", 0.95)),
    );
    let own = place.file(
        "own.yml",
        "name: own\nroles: {clarifier: {plugin: ambiguity, config: {threshold: 0.9}}}\n\
         policy: {max_attempts: 2}\n",
    );
    let state = place.path().join("state");
    let mut command = search(&endpoint.url(), &place.path().join("shop.sqlite"));
    command.env("SYRCH_STATE_DIR", &state).arg("--strategy").arg(&own);
    let first = Said::from_output(
        command.args(["--format", "json", "-q", "How many customers are there?"]).output().unwrap(),
    );
    assert_eq!(first.code, 0, "{}", first.all());
    let journal = fs::read_dir(state.join("runs")).unwrap().next().unwrap().unwrap().path();
    let header = fs::read_to_string(journal).unwrap().lines().next().unwrap().to_owned();
    let header: Value = serde_json::from_str(&header).unwrap();
    let settings = header.pointer("/settings").unwrap_or_else(|| panic!("{header}"));
    assert_eq!(settings["strategy"]["name"], "own");
    assert_eq!(
        (
            &settings["strategy"]["config"]["clarifier"]["threshold"],
            &settings["policy"]["max_attempts"]
        ),
        (&json!(0.9), &json!(2))
    );
    fs::remove_file(own).unwrap();
    let mut replay = host();
    replay
        .env("SYRCH_STATE_DIR", &state)
        .args(["trace", "replay", "last", "--strict", "--format", "json"]);
    let again = Said::from_output(replay.output().unwrap());
    assert_eq!((again.code, &again.stdout), (0, &first.stdout), "{}", again.all());
    let output = finish(
        place.words("--resume last --strategy decompose").env("SYRCH_STATE_DIR", &state),
        "",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        read_streams(&output).1.contains("--strategy does not go with --resume"),
        "{}",
        read_streams(&output).1
    );
}

#[test]
fn names_are_completed() {
    let place = Place::new();
    let script = read_streams(&finish(&mut place.words("completions bash"), "")).0;
    let names: Vec<String> = files().into_iter().map(|(name, _)| name).collect();
    assert!(
        script.matches(&names.join(" ")).count() >= 2,
        "the flag and `strategy show` offer no names"
    );
}

/// Code that runs in searches: without tests, and without the registry.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_left_out = ["tests", "tests.rs", "benches"].contains(&name)
            || path.ends_with("app/src/strategies");
        match path.is_dir() {
            _ if is_left_out => {}
            true => sources(&path, found),
            false if name.ends_with(".rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn only_the_registry_knows_a_strategys_name() {
    let root = syrch_kit::repository().join("host");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    assert!(paths.len() > 150, "only {} sources were found", paths.len());
    // A number word of English, an example of a document, and a key of suites.
    let words = [
        ("offline/src/lexicon/mod.rs", "single"),
        ("app/src/builder.rs", "vote5"),
        ("suites/src/turns.rs", "turns"),
    ];
    let mut wrong = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (name, _) in files() {
            let is_word = words.iter().any(|(file, word)| path.ends_with(file) && *word == name);
            if code.contains(&format!("\"{name}\"")) && !is_word {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let registry = fs::read_to_string(root.join("app/src/strategies/mod.rs")).unwrap();
    let named: Vec<String> = files()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| registry.contains(&format!("\"{name}\"")))
        .collect();
    let defaults = ["decompose", "repair3of9"];
    assert_eq!(named, defaults, "the registry knows the defaults and no other");
}
