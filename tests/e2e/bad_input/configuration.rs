//! Files and variables: wrong ones, those of other people, which layer wins, and the key that none
//! of them shows.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script, zoo};

use super::{Place, assert_refused, finish, read_streams};
use crate::STRATEGY;

#[test]
fn a_config_file_that_is_missing_or_odd_is_reported() {
    let place = Place::new();
    fs::create_dir(place.path().join("folder.yml")).unwrap();
    place.file("bytes.yml", b"llm:\n  model: \xff\xfe\n");
    place.file("huge.yml", "# x\n".repeat(100_000));
    place.file("unknown.yml", "llm:\n  modle: m\nexekution: {}\nplugins:\n  planer: x\n");
    place.file(
        "types.yml",
        "execution:\n  max_depth: three\n  high_confidence: 2\n  interactive: maybe\n",
    );
    place.file("list.yml", "- llm\n");
    place.file(
        "bomb.yml",
        (1..20).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
            let before = n - 1;
            format!("{text}a{n}: &a{n} [*a{before}, *a{before}, *a{before}, *a{before}]\n")
        }),
    );
    place.file("deep.yml", format!("llm: {}{}", "[".repeat(5_000), "]".repeat(5_000)));
    for (name, words) in [
        ("none.yml", ["none.yml", "No such file"].as_slice()),
        ("folder.yml", &["folder.yml", "is a folder"]),
        ("bytes.yml", &["bytes.yml", "not UTF-8"]),
        ("huge.yml", &["huge.yml", "larger"]),
        (
            "unknown.yml",
            &[
                "unknown.yml:2:3",
                "`modle`",
                "did you mean `model`",
                "`execution`?",
                "unknown.yml:5:3",
                "`planner` or `linker`?",
            ],
        ),
        (
            "types.yml",
            &["types.yml:2:14", "max_depth", "high_confidence", "interactive", "`maybe`"],
        ),
        ("list.yml", &["list.yml:1:1", "mapping"]),
        ("bomb.yml", &["bomb.yml"]),
        ("deep.yml", &["deep.yml"]),
    ] {
        assert_refused(&mut place.words(&format!("config --config {name}")), 10, words);
        assert_refused(&mut place.search(&format!("--config {name}")), 10, words);
    }
}

#[test]
fn broken_yaml_is_reported_in_our_words_with_its_place() {
    let place = Place::new();
    place.file("twice.yml", "llm:\n  model: a\n  model: b\n");
    place.file("tabs.yml", "llm:\n\tmodel: a\n");
    place.file("open.yml", "llm: [1,\n");
    for (name, words) in [
        ("twice.yml", ["twice.yml:3:3", "duplicate", "model"].as_slice()),
        ("tabs.yml", &["tabs.yml:2:", "tab"]),
        ("open.yml", &["open.yml:1:"]),
    ] {
        let document =
            assert_refused(&mut place.words(&format!("config --config {name}")), 10, words);
        // What the parser's makers tell programmers helps nobody who wrote a file.
        assert!(!document.to_string().contains("DuplicateKeyPolicy"), "{document}");
    }
}

#[test]
fn wrong_variables_are_named() {
    let place = Place::new();
    for (name, value, why) in [
        ("SYRCH_MAX_DEPTH", "three", "`three`"),
        ("SYRCH_MAX_DEPTH", "0", "from 1 to 16"),
        ("SYRCH_BUDGET", "-5", "`-5`"),
        ("SYRCH_HIGH_CONF", "2", "at most 1"),
        ("SYRCH_INTERACTIVE", "perhaps", "true or false"),
        ("SYRCH_LLM_PROVIDER", "gpt", "offline"),
        ("SYRCH_MAX_USD", "-1", "`-1`"),
        ("SYRCH_CACHE", "perhaps", "true or false"),
        ("SYRCH_CACHE_TTL", "0", "above 0"),
        ("SYRCH_ATTEMPTS", "0", "from 1"),
    ] {
        assert_refused(place.words("config").env(name, value), 10, &[name, why]);
        assert_refused(place.search("").env(name, value), 10, &[name, why]);
    }
    let mut both = place.words("config");
    both.env("SYRCH_MAX_DEPTH", "three").env("SYRCH_MODEL", OsStr::from_bytes(b"\xff"));
    assert_refused(&mut both, 10, &["SYRCH_MAX_DEPTH", "SYRCH_MODEL", "not UTF-8"]);
    // A wrong key is named by its variable, never repeated.
    let document = assert_refused(
        place.words("config").env("SYRCH_API_KEY", "sk canary"),
        10,
        &["SYRCH_API_KEY"],
    );
    assert!(!document.to_string().contains("canary"));
    let output = finish(place.words("config").env("SYRCH_MAX_DPETH", "3"), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        read_streams(&output).1.contains("did you mean `SYRCH_MAX_DEPTH`"),
        "{}",
        read_streams(&output).1
    );
}

/// Bug 22: values of syrch 0.1.2's environment stayed texts: SYRCH_MAX_CONCURRENCY=2 and
/// SYRCH_TIMEOUT_SECONDS=60 ended in a traceback, and SYRCH_CALIBRATION=false counted as true.
#[test]
fn variables_have_the_types_of_their_options() {
    let place = Place::new();
    for (name, value, section, key, read) in [
        ("SYRCH_MAX_CONCURRENCY", "2", "execution", "max_concurrency", json!(2)),
        ("SYRCH_TIMEOUT_SECONDS", "60", "llm", "timeout_seconds", json!(60)),
        ("SYRCH_TEMPERATURE", "0.2", "llm", "temperature", json!(0.2)),
        ("SYRCH_CACHE", "false", "cache", "enabled", json!(false)),
        ("SYRCH_CACHE_TTL", "90", "cache", "ttl_seconds", json!(90)),
        ("SYRCH_MAX_USD", "0.5", "execution", "max_usd", json!(0.5)),
        ("SYRCH_INTERACTIVE", "off", "execution", "interactive", json!(false)),
        ("SYRCH_TABLES", "a*,b", "execution", "tables", json!(["a*", "b"])),
    ] {
        let found = origin(place.words("config").env(name, value), section, key);
        assert_eq!(found, (read, format!("environment {name}")));
        let output = finish(place.search("").env(name, value), "");
        assert!(
            name == "SYRCH_TABLES" || output.status.code() == Some(0),
            "{name}: {}",
            read_streams(&output).1
        );
    }
}

#[test]
fn an_untrusted_file_never_redirects_a_search() {
    let place = Place::new();
    let endpoint = MockEndpoint::start(Script::always(Reply::sql("SELECT 1", 0.9)));
    let url = endpoint.url();
    fs::copy(zoo::hostile(), place.path().join("evil.wasm")).unwrap();
    for (text, key) in [
        (format!("llm:\n  base_url: \"{url}\"\n"), "llm.base_url"),
        (format!("llm: {{<<: {{base_url: \"{url}\"}}}}\n"), "base_url"),
        (format!("x: &x {{base_url: \"{url}\"}}\nllm: *x\n"), "base_url"),
        ("llm: {api_key: sk-theirs}\n".to_owned(), "llm.api_key"),
        ("llm: {provider: openai}\n".to_owned(), "llm.provider"),
        ("execution: {db_path: shop.sqlite}\n".to_owned(), "execution.db_path"),
        ("execution: {rows: full}\n".to_owned(), "execution.rows"),
        ("execution: {tables: [customers]}\n".to_owned(), "execution.tables"),
        ("execution: {token_budget: 999999999}\n".to_owned(), "execution.token_budget"),
        (
            format!("llm: {{endpoints: {{a: {{provider: openai, base_url: \"{url}\"}}}}}}\n"),
            "llm.endpoints",
        ),
        ("llm: {models: {a: {model: dear}}}\n".to_owned(), "llm.models"),
        ("llm: {purposes: {judge: a}}\n".to_owned(), "llm.purposes"),
        ("llm: {prices: {\"*\": {input: 0, output: 0}}}\n".to_owned(), "llm.prices"),
        ("llm: {attempts: 99}\n".to_owned(), "llm.attempts"),
        ("llm: {insecure_endpoint: true}\n".to_owned(), "llm.insecure_endpoint"),
        ("execution: {deadline_seconds: none}\n".to_owned(), "execution.deadline_seconds"),
        (
            "plugins: {calibrator: {config: {empty: 1}}}\n".to_owned(),
            "plugins.calibrator.config.empty",
        ),
        ("plugins: {reward: rule}\n".to_owned(), "plugins.reward"),
        ("llm: {provider: \"replay:theirs.jsonl\"}\n".to_owned(), "llm.provider"),
        ("cache: {enabled: false}\n".to_owned(), "cache.enabled"),
        ("plugins: {planner: ./evil.wasm}\n".to_owned(), "plugins.planner"),
        ("plugins: {planner: {plugin: evil.wasm}}\n".to_owned(), "plugins.planner"),
    ] {
        for name in ["syrch.yml", "syrch.yaml"] {
            let path = place.file(name, &text);
            let mut command = place.words("-q how_many? --db shop.sqlite");
            let document = assert_refused(
                command.env("OPENAI_API_KEY", "sk-canary-mine"),
                10,
                &[name, key, "--config"],
            );
            assert!(
                !document.to_string().contains("canary")
                    && !document.to_string().contains("sk-theirs")
            );
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(endpoint.count(), 0, "an untrusted file sent requests");
    // What harms nobody is used, and said.
    place.file("syrch.yml", "execution: {max_depth: 2, token_budget: 500}\n");
    let output = finish(&mut place.words("config --origin"), "");
    let (stdout, stderr) = read_streams(&output);
    assert!(
        stdout.contains("max_depth: 2  # syrch.yml:1")
            && stderr.contains(
                "`syrch.yml` in this folder sets execution.max_depth, execution.token_budget"
            ),
        "{stdout}{stderr}"
    );
    // The user's own word, and the same file is trusted.
    place.file("syrch.yml", format!("llm:\n  base_url: \"{url}\"\n"));
    finish(&mut place.words("-q how_many? --db shop.sqlite --config syrch.yml"), "");
    assert!(endpoint.count() > 0);
}

#[test]
fn a_link_that_lies_in_the_folder_shows_nothing_of_what_it_leads_to() {
    let place = Place::new();
    let secret = place.file("home/credentials", "[default]\naws_secret_access_key = canary\n");
    std::os::unix::fs::symlink(secret, place.path().join("syrch.yml")).unwrap();
    for command in [&mut place.words("config"), &mut place.search("-vvv")] {
        let document =
            assert_refused(command, 10, &["syrch.yml", "is a symbolic link", "--config"]);
        assert!(
            !document.to_string().contains("canary") && !document.to_string().contains("aws"),
            "{document}"
        );
    }
}

#[test]
fn a_key_goes_over_plain_http_only_where_the_user_says_so() {
    let place = Place::new();
    let ask = |words: &str| {
        let mut command = place.words(&format!(
            "--llm openai --model m --db shop.sqlite -q how_many? --dry-run {words}"
        ));
        command.env("SYRCH_API_KEY", "sk-canary");
        command
    };
    let plain = "--base-url http://models.example:8000/v1";
    let document = assert_refused(
        &mut ask(plain),
        10,
        &["models.example", "plain http", "https://", "--insecure-endpoint"],
    );
    assert!(!document.to_string().contains("canary"), "{document}");
    let is_fine = |command: &mut Command| {
        let output = finish(command.args(["--format", "json"]), "");
        assert_eq!(output.status.code(), Some(0), "{}", read_streams(&output).1);
    };
    is_fine(&mut ask(&format!("{plain} --insecure-endpoint")));
    is_fine(ask(plain).env("SYRCH_INSECURE_ENDPOINT", "yes"));
    is_fine(ask(plain).env_remove("SYRCH_API_KEY"));
    is_fine(&mut ask("--base-url http://127.0.0.1:8000/v1"));
    is_fine(&mut ask("--base-url https://models.example/v1"));
    // Further endpoints hold keys of their own.
    let further = "llm: {endpoints: {far: {provider: openai, base_url: 'http://models.example/v1', \
                   api_key: sk-canary-2}}, models: {further: {endpoint: far, model: m}}}\n";
    place.file("further.yml", further);
    let words = "--base-url http://127.0.0.1:8000/v1 --config further.yml";
    assert_refused(&mut ask(words), 10, &["models.example", "--insecure-endpoint"]);
    assert_refused(
        &mut ask(&format!("{words} --embeddings further")),
        10,
        &["models.example", "--insecure-endpoint"],
    );
    place.file("further.yml", further.replace("llm: {", "llm: {insecure_endpoint: true, "));
    is_fine(&mut ask(words));
}

#[test]
fn a_pipe_that_lies_in_the_folder_does_not_stop_the_program() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path().join("syrch.yml")).status().unwrap().success());
    let mut child =
        place.words("config").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let ended = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if start.elapsed() > Duration::from_secs(20) => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if ended.is_none() {
        child.kill().unwrap();
    }
    let code = ended.map(|status| status.code());
    assert!(matches!(code, Some(Some(0 | 10))), "a named pipe as ./syrch.yml: {code:?}");
}

/// A value with where it came from, as `config --origin` prints it.
fn origin(command: &mut Command, section: &str, key: &str) -> (Value, String) {
    let output = finish(command.args(["--origin", "--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let found = &document[section][key];
    (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
}

#[test]
fn a_flag_beats_a_variable_beats_a_file_beats_the_default() {
    let place = Place::new();
    let depth = |command: &mut Command| origin(command, "execution", "max_depth");
    assert_eq!(depth(&mut place.words("config")), (json!(3), "default".into()));
    place.file("syrch.yml", "execution:\n  max_depth: 2\n");
    assert_eq!(depth(&mut place.words("config")), (json!(2), "syrch.yml:2".into()));
    let own = place.file("home/.syrch/config.yml", "execution:\n  max_depth: 5\n  max_rounds: 9\n");
    assert_eq!(depth(&mut place.words("config")), (json!(5), format!("{}:2", own.display())));
    place.file("named.yml", "execution:\n  max_depth: 6\n");
    assert_eq!(
        depth(&mut place.words("config --config named.yml")),
        (json!(6), "named.yml:2".into())
    );
    let mut variable = place.words("config --config named.yml");
    assert_eq!(
        depth(variable.env("SYRCH_MAX_DEPTH", "7")),
        (json!(7), "environment SYRCH_MAX_DEPTH".into())
    );
    let mut flag = place.words("config --config named.yml --max-depth 8");
    assert_eq!(depth(flag.env("SYRCH_MAX_DEPTH", "7")), (json!(8), "--max-depth".into()));
    // Bug 23: syrch 0.1.2's flags always had a value, so that their defaults beat every file and
    // variable.
    assert_eq!(
        origin(&mut place.words("config --max-depth 8"), "execution", "max_rounds"),
        (json!(9), format!("{}:3", own.display()))
    );
    place.file(
        "home/.syrch/config.yml",
        "llm: {model: mine, base_url: \"http://localhost:1/v1\"}\n",
    );
    let mut mine = place.words("config --max-depth 8");
    assert_eq!(
        origin(mine.env("SYRCH_BASE_URL", "http://localhost:2/v1"), "llm", "base_url").0,
        "http://localhost:2/v1"
    );
    assert_eq!(origin(&mut place.words("config --max-depth 8"), "llm", "model").0, "mine");
    let role = |command: &mut Command| {
        let (stdout, _) = read_streams(&finish(command.args(["--origin", "--format", "json"]), ""));
        serde_json::from_str::<Value>(&stdout).unwrap()["plugins"]["planner"]["plugin"].clone()
    };
    assert_eq!(role(&mut place.words("config --planner chase.wasm"))["value"], "chase.wasm");
    assert_eq!(role(place.words("config").env_remove(STRATEGY))["origin"], "default");
}

#[test]
fn the_key_is_never_printed() {
    let place = Place::new();
    let own = place.file("home/.syrch/config.yml", "llm:\n  api_key: sk-canary-in-file\n");
    for format in ["auto", "table", "json", "jsonl", "csv", "markdown"] {
        for words in
            ["config", "config --origin", "config --api-key sk-canary-in-flag", "config -vvv"]
        {
            for (name, value) in [
                ("SYRCH_X", ""),
                ("SYRCH_API_KEY", "sk-canary-own"),
                ("OPENAI_API_KEY", "sk-canary-oa"),
            ] {
                let mut command = place.words(words);
                let output = finish(command.env(name, value).args(["--format", format]), "");
                let (stdout, stderr) = read_streams(&output);
                assert_eq!(output.status.code(), Some(0), "{words} {name}: {stderr}");
                assert!(
                    !stdout.contains("canary") && !stderr.contains("canary"),
                    "{words} {format} {name}: {stdout}"
                );
                assert!(stdout.replace('\\', "").contains("api_key"), "{words} {format}: {stdout}");
            }
        }
    }
    // Nor where a file's own line is wrong.
    fs::write(own, "llm:\n  api_key: [sk-canary-in-file]\n").unwrap();
    let document = assert_refused(&mut place.words("config"), 10, &["llm.api_key"]);
    assert!(!document.to_string().contains("canary"), "{document}");
}
