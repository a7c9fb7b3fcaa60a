//! `doctor`: every part is checked, what fails says how to mend it, nothing is left behind and no
//! key is shown.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;
use syrch::plugins::WorkerProcess;
use syrch_kit::{MockEndpoint, Reply, Script, Usage};

use crate::bad_input::{Place, finish, read_streams};
use crate::endpoint::KEY;

/// Runs it for JSON and expects that end.
fn examine(command: &mut Command, code: i32) -> Value {
    let output = finish(command.args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    assert!(!stdout.contains(KEY) && !stderr.contains(KEY), "the key is shown: {stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&document["schema"], &document["ok"]),
        (&"syrch.doctor/1".into(), &(code == 0).into())
    );
    document
}

/// State, detail and fix of one check.
fn check(document: &Value, name: &str) -> [String; 3] {
    let checks = document["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {document}"));
    ["state", "detail", "fix"].map(|key| check[key].as_str().unwrap_or_default().to_owned())
}

#[test]
fn every_hostile_plugin_is_contained() {
    assert_contained("doctor --sandbox --isolate none --format json");
}

/// In a worker process, which tries what it must not be able to do itself.
#[cfg(target_os = "linux")]
#[test]
fn every_hostile_plugin_is_contained_in_a_worker() {
    let document = assert_contained("doctor --sandbox --isolate process --format json");
    let cases = document["cases"].as_array().unwrap();
    let tried = cases.iter().filter(|case| case["name"] == "process");
    assert!(tried.filter(|case| case["ended"] != "").count() >= 12, "{document}");
}

fn assert_contained(words: &str) -> Value {
    let place = Place::new();
    let state = place.path().join("state");
    let mut command = place.words(words);
    // It spins for some 20 seconds of CPU time, which a busy machine has in minutes.
    let output = command.env("SYRCH_STATE_DIR", &state).output().unwrap();
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["schema"], "syrch.doctor-sandbox/1");
    let cases = document["cases"].as_array().unwrap();
    assert!(cases.len() > 20, "{document}");
    assert_eq!(
        (&document["contained"], &document["of"]),
        (&cases.len().into(), &cases.len().into())
    );
    for case in cases {
        assert!(case["contained"] == true && case["ended"] != "", "{case}");
    }
    // The component was there for the time of the command alone.
    let left = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with("wasm")).collect();
    assert!(left.is_empty(), "{left:?}");
    document
}

#[test]
fn a_first_run_is_well_and_leaves_nothing() {
    let place = Place::new();
    let state = place.path().join("state");
    let mut command = place.words("doctor --db shop.sqlite");
    command.env("SYRCH_CACHE_DIR", place.path().join("cache")).env("SYRCH_STATE_DIR", &state);
    let document = examine(&mut command, 0);
    for name in [
        "host",
        "advisories",
        "toolchain",
        "target",
        "config",
        "plugins",
        "compiled",
        "isolation",
        "history",
        "endpoint",
        "database",
    ] {
        assert_eq!(check(&document, name)[0], "ok", "{name}: {document}");
    }
    let [_, versions, _] = check(&document, "host");
    assert!(versions.contains("contract 0.") && versions.contains("wasmtime 4"), "{versions}");
    let [_, advisories, _] = check(&document, "advisories");
    assert!(advisories.starts_with("RustSec had none on wasmtime 4"), "{advisories}");
    assert!(check(&document, "plugins")[1].contains("refine"));
    assert!(
        check(&document, "compiled")[1].contains("0 files"),
        "what is built in is compiled already: {document}"
    );
    assert!(
        check(&document, "database")[1].contains("3 tables and 0 views, rollback journal"),
        "{document}"
    );
    let where_plugins_run = &check(&document, "isolation")[1];
    let words = match WorkerProcess::is_supported() {
        true => "in processes of their own",
        false => "in this process",
    };
    assert!(where_plugins_run.contains(words), "{document}");
    let mut command = place.words("doctor --db shop.sqlite --isolate none");
    assert!(check(&examine(&mut command, 0), "isolation")[1].contains("in this process"));
    assert!(check(&document, "endpoint")[1].contains("offline"));
    assert!(check(&document, "terminal")[1].contains("standard output is no terminal"));
    assert!(!state.exists());
    assert_eq!(place.names(), ["cache", "home", "shop.sqlite"]);
    assert_eq!(fs::read_dir(place.path().join("home/.syrch")).unwrap().count(), 0);
    let compiled = fs::read_dir(place.path().join("cache/compiled")).unwrap();
    assert!(
        compiled
            .map(|entry| entry.unwrap().file_name())
            .all(|name| name.to_string_lossy().ends_with(".cwasm"))
    );
}

#[test]
fn people_read_a_line_for_each_part() {
    let place = Place::new();
    let output = finish(place.words("doctor --db nowhere.sqlite").env("NO_COLOR", "1"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(10), "{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(
        lines.iter().all(|line| ["ok", "warn", "fail", "fix:"]
            .contains(&line.split_whitespace().next().unwrap())),
        "{stdout}"
    );
    let failed = lines.iter().position(|line| line.starts_with("fail  database")).unwrap();
    assert!(
        lines[failed].contains("nowhere.sqlite")
            && lines[failed + 1].trim_start().starts_with("fix: "),
        "{stdout}"
    );
    assert!(stdout.contains("NO_COLOR is set"), "{stdout}");
    assert!(!place.path().join("nowhere.sqlite").exists());
}

#[test]
fn without_rust_there_is_a_warning_and_no_failure() {
    let place = Place::new();
    let document = examine(place.words("doctor").env("PATH", place.path()), 0);
    let [state, _, fix] = check(&document, "toolchain");
    assert_eq!(state, "warn");
    assert!(fix.contains("rustup"), "{fix}");
}

#[test]
fn a_broken_config_file_is_one_of_the_checks() {
    let place = Place::new();
    place.file("home/.syrch/config.yml", format!("llm:\n  api_key: {KEY}\n  modle: x\n"));
    let document = examine(&mut place.words("doctor"), 10);
    let [state, detail, _] = check(&document, "config");
    assert_eq!(state, "fail");
    assert!(detail.contains("config.yml:3") && detail.contains("modle"), "{detail}");
    assert_eq!(
        [check(&document, "endpoint")[0].as_str(), &check(&document, "plugins")[0]],
        ["warn", "ok"]
    );
    place.file("home/.syrch/config.yml", "llm: {model: x}\n");
    let [state, detail, _] = check(&examine(&mut place.words("doctor"), 0), "config");
    assert_eq!(state, "ok");
    assert!(detail.ends_with("config.yml"), "{detail}");
    // A wrong flag is wrong usage, here as everywhere.
    assert_eq!(finish(&mut place.words("doctor --max-depth 0"), "").status.code(), Some(2));
}

#[test]
fn an_endpoint_on_this_machine_is_asked_for_its_models_only() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::text("never asked")));
    let asked = |url: &str, model: &str, code| {
        let mut command =
            place.words(&format!("doctor --llm openai --model {model} --base-url {url}"));
        // A proxy of the environment is for other machines.
        command.env("SYRCH_API_KEY", KEY).env("http_proxy", "http://127.0.0.1:1");
        check(&examine(&mut command, code), "endpoint")
    };
    let [state, detail, _] = asked(&endpoint.url(), "mock", 0);
    assert_eq!(state, "ok");
    assert!(detail.contains("has the model `mock`"), "{detail}");
    let [state, detail, _] = asked(&endpoint.url().replace("127.0.0.1", "localhost"), "other", 0);
    assert_eq!(state, "warn");
    assert!(detail.contains("does not list the model `other`; it has `mock`"), "{detail}");
    let [state, _, fix] = asked(&endpoint.url().replace("/v1", "/v2"), "mock", 0);
    assert_eq!((state.as_str(), fix.contains("/v1")), ("warn", true));
    assert_eq!(endpoint.count(), 0);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let [state, detail, fix] = asked(&format!("http://{closed}/v1"), "mock", 10);
    assert_eq!(
        (state.as_str(), detail),
        ("fail", format!("nothing listens at http://{closed}/v1"))
    );
    assert!(fix.contains("--llm offline"), "{fix}");
    let [state, detail, _] = asked("https://models.example/v1", "mock", 0);
    assert_eq!(
        (state.as_str(), detail.contains("not contacted, not on this machine")),
        ("ok", true)
    );
}

#[test]
fn a_plugin_of_the_strategy_that_does_not_load_fails() {
    let place = Place::new();
    place.file("mine.wasm", "no component");
    let document = examine(&mut place.words("doctor --planner mine.wasm"), 10);
    let [state, detail, fix] = check(&document, "plugin");
    assert!(
        state == "fail" && detail.contains("mine.wasm") && fix.contains("wasm32-wasip2"),
        "{document}"
    );
}

#[test]
fn every_endpoint_has_its_line() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::new());
    let config = format!(
        "llm:\n  provider: openai\n  model: mock\n  base_url: {url}\n  endpoints:\n    near: \
         {{provider: openai, base_url: \"{url}\"}}\n    gone: {{provider: openai, base_url: \
         \"http://127.0.0.1:9/v1\"}}\n  models:\n    one: {{endpoint: near, model: mock}}\n    \
         two: {{endpoint: gone, model: mock}}\n",
        url = endpoint.url()
    );
    fs::write(place.path().join("models.yml"), config).unwrap();
    let document = examine(&mut place.words("doctor --db shop.sqlite --config models.yml"), 10);
    let lines: Vec<(&str, &str)> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["name"] == "endpoint")
        .map(|check| (check["state"].as_str().unwrap(), check["detail"].as_str().unwrap()))
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0].0, "ok", "{lines:?}");
    assert!(
        lines.iter().any(|(state, detail)| *state == "ok" && detail.starts_with("`near`")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|(state, detail)| *state == "fail" && detail.starts_with("`gone`")),
        "{lines:?}"
    );
}

/// A server that takes one call at a time, and one that takes all and obeys no schema.
#[test]
fn a_probe_measures_the_endpoint_and_says_which_flags_fit() {
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    let place = Place::new();
    let probed = |endpoint: &MockEndpoint| {
        let mut command =
            place.words("doctor --probe --db shop.sqlite --llm openai --model mock --base-url");
        examine(command.arg(endpoint.url()).env("SYRCH_API_KEY", KEY), 0)
    };
    let free_at = Mutex::new(Instant::now());
    let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
        let mut free_at = free_at.lock().unwrap();
        *free_at = (*free_at).max(Instant::now()) + Duration::from_millis(400);
        let wait = u64::try_from((*free_at - Instant::now()).as_millis()).unwrap();
        let is_schema = request.body["response_format"]["type"] == "json_schema";
        let reply = if is_schema { "{\"colour\": \"teal\"}" } else { "1, 2, 3, 4, 5, 6" };
        Some(Reply::text(reply).delay_ms(wait))
    }));
    let document = probed(&endpoint);
    assert_eq!(check(&document, "parallel")[1], "one call at a time");
    assert_eq!(check(&document, "schema")[1], "a JSON schema is obeyed");
    assert!(check(&document, "speed")[1].contains("tokens/s"), "{document}");
    assert!(
        check(&document, "flags")[1].ends_with(", and --workers 1 for suites and batch"),
        "{document}"
    );
    assert_eq!(endpoint.count(), 7);

    let endpoint = MockEndpoint::start(Script::always(Reply::text("white").delay_ms(400)));
    let document = probed(&endpoint);
    assert_eq!(check(&document, "schema")[..2], ["warn", "a JSON schema is taken and not obeyed"]);
    assert_eq!(check(&document, "parallel")[1], "4 calls at once");

    // A model that thinks uses all tokens before it answers.
    let thought = Reply::text("").field("reasoning_content", "We need to").finish("length");
    let thought = thought.usage(Usage::Tokens(9, 64)).delay_ms(400);
    let endpoint = MockEndpoint::start(Script::always(thought));
    let document = probed(&endpoint);
    assert!(check(&document, "speed")[1].contains("tokens/s"), "{document}");
    assert_eq!(check(&document, "parallel")[1], "4 calls at once");
    assert!(check(&document, "schema")[1].starts_with("not measured"), "{document}");
    assert_eq!(endpoint.count(), 7);
}

#[test]
fn a_server_without_a_list_of_models_is_not_doubted() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::new());
    for (path, state) in [("/none/v1", "ok"), ("/none", "warn")] {
        let mut command =
            place.words("doctor --db shop.sqlite --llm openai --model mock --base-url");
        command.arg(endpoint.url().replace("/v1", path)).env("SYRCH_API_KEY", KEY);
        let found = check(&examine(&mut command, 0), "endpoint");
        assert_eq!((found[0].as_str(), found[2].contains("/v1")), (state, state == "warn"));
    }
}

#[test]
fn without_a_model_it_says_how_to_name_one() {
    let place = Place::new();
    let flags = ["--llm openai", "--base-url", "--model NAME", "SYRCH_API_KEY"];
    let [state, detail, _] =
        check(&examine(&mut place.words("doctor --db shop.sqlite"), 0), "endpoint");
    assert_eq!(state, "ok");
    assert!(flags.iter().all(|flag| detail.contains(flag)), "{detail}");
    let [state, _, fix] =
        check(&examine(&mut place.words("doctor --probe --db shop.sqlite"), 10), "probe");
    assert_eq!(state, "fail");
    assert!(flags.iter().all(|flag| fix.contains(flag)), "{fix}");
}

#[test]
fn a_probe_that_fails_does_not_name_itself_as_the_fix() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::status(400, "no")));
    let mut command =
        place.words("doctor --probe --db shop.sqlite --llm openai --model mock --base-url");
    let document = examine(command.arg(endpoint.url()).env("SYRCH_API_KEY", KEY), 10);
    let check = check(&document, "probe");
    assert!(check[2].contains("--base-url") && !check[2].contains("doctor"), "{document}");
}

#[test]
fn a_shared_cache_is_reached_and_written() {
    let place = Place::new();
    let folder = place.path().join("shared");
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let server = format!("redis://:hush@{closed}");
    for (cache, state, words) in [
        (folder.to_str().unwrap(), "ok", "shared, writable"),
        ("/proc/none/cache", "warn", "searches go on without it"),
        (&server, "warn", "searches go on without it"),
    ] {
        let mut command = place.words("doctor --db shop.sqlite");
        command.env("SYRCH_CACHE", "true").env("SYRCH_SHARED_CACHE", cache);
        let document = examine(&mut command, 0);
        let [found, detail, _] = check(&document, "cache");
        assert!(found == state && detail.contains(words), "{document}");
        assert!(!document.to_string().contains("hush"), "{document}");
    }
    // What it wrote to see that it can is gone.
    assert_eq!(fs::read_dir(folder.join("entries-1")).unwrap().count(), 0);
}
