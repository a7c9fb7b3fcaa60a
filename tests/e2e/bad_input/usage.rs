//! Flags, questions and endpoints that are wrong, and what the help and the errors say.

use syrch_kit::{MockEndpoint, Script};

use super::{Place, assert_refused, finish, read_streams};

#[test]
fn an_endpoint_that_refuses_is_reported_without_the_key() {
    let place = Place::new();
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command =
        place.words(&format!("-q how_many? --db shop.sqlite --base-url http://{free}/v1"));
    let document = assert_refused(
        command.env("SYRCH_API_KEY", "sk-canary-key"),
        12,
        &["cannot reach", "--llm offline"],
    );
    assert!(!document.to_string().contains("canary"));

    let endpoint = MockEndpoint::start(Script::new().requires_key("sk-right"));
    let mut command =
        place.words(&format!("-q how_many? --db shop.sqlite --base-url {}", endpoint.url()));
    let document = assert_refused(
        command.env("SYRCH_API_KEY", "sk-canary-key"),
        12,
        &["401", "check the API key"],
    );
    assert!(!document.to_string().contains("canary"), "{document}");
    assert_refused(
        &mut place.words("-q how_many? --db shop.sqlite --base-url not-a-url"),
        10,
        &["base URL", "`not-a-url`", "--base-url", "config --origin"],
    );
}

/// Bug 29: syrch 0.1.2 took zeros and negative numbers in silence, as --max-attempts 0, --budget 0
/// or a negative TTL.
#[test]
fn flags_out_of_bounds_are_wrong_usage() {
    let place = Place::new();
    for (flags, flag, why) in [
        ("--max-attempts 0", "--max-attempts", "from 1 to 100"),
        ("--budget -5", "--budget", "`-5`"),
        ("--budget 0", "--budget", "`0`"),
        ("--high-conf 2", "--high-conf", "at most 1"),
        ("--high-conf 0", "--high-conf", "above 0"),
        ("--high-conf nan", "--high-conf", "`nan`"),
        ("--max-depth three", "--max-depth", "`three`"),
        ("--max-depth 99999999999999999999", "--max-depth", "from 1 to 16"),
        ("--deadline -1", "--deadline", "`-1`"),
        ("--timeout 0", "--timeout", "`0`"),
        ("--rows some", "--rows", "sample:N"),
        ("--max-usd 0", "--max-usd", "`0`"),
        ("--max-usd -1.5", "--max-usd", "`-1.5`"),
        ("--max-usd dear", "--max-usd", "`dear`"),
        ("--cache-ttl 0", "--cache-ttl", "`0`"),
        ("--cache-ttl -60", "--cache-ttl", "`-60`"),
        ("--cache-ttl nan", "--cache-ttl", "`nan`"),
        ("--nope", "--nope", "--help"),
        ("--max-dept 3", "--max-dept", "--max-depth"),
    ] {
        let output = finish(&mut place.search(flags), "");
        let (stdout, stderr) = read_streams(&output);
        assert_eq!((output.status.code(), stdout.as_str()), (Some(2), ""), "{flags}: {stderr}");
        assert!(stderr.contains(flag) && stderr.contains(why), "{flags}: {stderr}");
        assert_refused(&mut place.search(flags), 2, &[flag]);
    }
}

#[test]
fn a_search_without_a_question_is_wrong_usage() {
    let place = Place::new();
    for words in
        [vec![], vec!["-q", ""], vec!["-q", " \n "], vec!["search"], vec!["search", "-q", ""]]
    {
        assert_refused(place.words("--db shop.sqlite").args(words), 2, &["no question", "-q"]);
    }
    assert_refused(&mut place.words("-q how_many?"), 2, &["no database", "--db"]);
    assert_refused(
        &mut place.words("-q how_many? --db shop.sqlite --llm gpt"),
        2,
        &["--llm", "`gpt`", "openai, anthropic, offline"],
    );
    for (word, why) in
        [("replay", "replay:FILE"), ("record:", "names no file"), ("antropic", "`anthropic`?")]
    {
        assert_refused(
            &mut place.words(&format!("-q how_many? --db shop.sqlite --llm {word}")),
            2,
            &["--llm", why],
        );
    }
}

#[test]
fn flags_of_a_search_are_not_forgotten_before_another_command() {
    let place = Place::new();
    for words in [
        "--db shop.sqlite schema",
        "--max-depth 3 schema shop.sqlite",
        "-q hi config",
        "--tables a sql SELECT --db shop.sqlite",
        "--planner x.wasm plugin list",
        "-P solver.x=1 plugin list",
        "--no-interactive config",
    ] {
        assert_refused(&mut place.words(words), 2, &["belongs to a search"]);
    }
}

#[test]
fn an_error_says_what_to_do_next() {
    let place = Place::new();
    place.file("twice.yml", "llm:\n  model: a\n  model: b\n");
    place.file("huge.wasm", vec![0; (64 << 20) + 1]);
    let mut variable = place.words("config");
    variable.env("SYRCH_MAX_DEPTH", "three");
    let mut wrong = Vec::new();
    for (mut command, code) in [
        (variable, 10),
        (place.words("config --config twice.yml"), 10),
        (place.search("--planner huge.wasm"), 13),
        (place.words("sql --db shop.sqlite SELEC"), 11),
    ] {
        let document = assert_refused(&mut command, code, &[]);
        if document["error"]["hint"].is_null() {
            wrong.push(document["error"]["message"].to_string());
        }
    }
    assert!(wrong.is_empty(), "no next step:\n{}", wrong.join("\n"));
}

#[test]
fn every_command_has_help_that_ends_with_the_exit_codes() {
    let place = Place::new();
    let mut wrong = Vec::new();
    for words in [
        "",
        "search",
        "schema",
        "config",
        "sql",
        "plugin",
        "plugin list",
        "plugin inspect",
        "strategy",
        "strategy list",
        "strategy show",
        "strategy schema",
        "cache",
        "cache stats",
        "cache clear",
    ] {
        let help = finish(place.words(words).arg("--help"), "");
        let short = finish(place.words(words).arg("-h"), "");
        for output in [&help, &short] {
            let (stdout, stderr) = read_streams(output);
            assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{words}");
            assert!(stdout.contains("Usage:") && stdout.contains("--format"), "{words}: {stdout}");
        }
        let stdout = read_streams(&help).0;
        if !(stdout.contains("Exit codes:") && stdout.contains("130")) {
            wrong.push(format!("`{words} --help` says no exit codes"));
        }
    }
    assert_eq!(finish(&mut place.words("--version"), "").status.code(), Some(0));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
