//! Tests of what goes to which stream, to files and to terminals, and what happens when nobody
//! reads.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::{CELLS, cells, has_terminal_codes, hostile, run_statement};
use crate::bad_input::{Place, finish, read_streams};

/// A search for the hostile texts, which the offline rules find.
fn search(place: &Place, words: &str) -> Output {
    let mut command = place.words("--llm offline --db cells.sqlite");
    command.args(["-q", "List the name of all names"]).args(words.split_whitespace());
    finish(&mut command, "")
}

#[test]
fn the_answer_is_on_standard_output_and_all_else_on_standard_error() {
    let place = hostile();
    for format in ["auto", "table", "json", "jsonl", "csv", "markdown"] {
        let output = search(&place, &format!("--format {format}"));
        let (stdout, stderr) = read_streams(&output);
        assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
        assert!(
            stdout.contains("HYPERLINK") && !stdout.contains(" statement, "),
            "{format}: {stdout}"
        );
        assert!(
            stderr.contains("confidence") && stderr.contains(" statement, "),
            "{format}: {stderr}"
        );
        assert!(
            !stderr.contains("HYPERLINK") && !has_terminal_codes(&stderr),
            "{format}: {stderr}"
        );
        if format != "csv" {
            assert!(!has_terminal_codes(&stdout), "{format}: {stdout}");
        }
        let quiet = search(&place, &format!("--format {format} --quiet"));
        assert_eq!(
            (quiet.status.code(), read_streams(&quiet).1.as_str()),
            (Some(0), ""),
            "{format}"
        );
        if format != "json" {
            assert_eq!(read_streams(&quiet).0, stdout, "{format}");
        }
    }
    // Whatever the verbosity, the document parses and has every value.
    let loud = search(&place, "--format json -vvv");
    let document: Value = serde_json::from_slice(&loud.stdout).unwrap();
    assert_eq!(document["schema"], "syrch.answer/1");
    let names: Vec<Value> = cells().into_iter().take(8).map(|cell| json!([cell])).collect();
    assert_eq!(document["answer"]["rows"], json!(names));
    assert!(!has_terminal_codes(&read_streams(&loud).1));
}

/// An error is reported when quiet, too; a program that reads JSON has it as a document.
#[test]
fn a_result_that_is_cut_is_reported_once() {
    let place = Place::new();
    let statement = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n \
                     WHERE x < 20000) SELECT x FROM n";
    let output = finish(place.words("sql --db shop.sqlite --format csv").arg(statement), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!((output.status.code(), stdout.lines().count()), (Some(0), 10_001), "{stderr}");
    assert_eq!(stderr.matches("only the first 10000 rows were read").count(), 1, "{stderr}");
}

#[test]
fn quiet_hides_notes_and_no_errors() {
    let place = hostile();
    for words in [
        "sql --db cells.sqlite --quiet SELEC",
        "--quiet schema nowhere.sqlite",
        "--quiet -q x --db nowhere.sqlite",
    ] {
        let output = finish(&mut place.words(words), "");
        let (stdout, stderr) = read_streams(&output);
        assert_eq!((output.status.code(), stdout.as_str()), (Some(11), ""), "{words}");
        assert!(stderr.starts_with("error: "), "{words}: {stderr}");
    }
}

#[test]
fn the_output_file_is_replaced_by_a_whole_answer_only() {
    let place = hostile();
    let out = place.file("out.csv", "old");
    let failed =
        finish(&mut place.words("sql --db cells.sqlite --format csv -o out.csv SELEC"), "");
    assert_eq!(
        (failed.status.code(), fs::read_to_string(&out).unwrap().as_str()),
        (Some(11), "old")
    );
    let output =
        finish(place.words("sql --db cells.sqlite --format csv -o out.csv").arg(CELLS), "");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"".as_slice()));
    assert_eq!(fs::read_to_string(&out).unwrap(), run_statement(&place, "csv", CELLS));
    let answered = search(&place, "--format json -o out.json");
    assert_eq!((answered.status.code(), answered.stdout.as_slice()), (Some(0), b"".as_slice()));
    let document: Value =
        serde_json::from_slice(&fs::read(place.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(document["schema"], "syrch.answer/1");
    let lines = finish(
        &mut place.words("sql --db cells.sqlite --stdin-jsonl -o out.jsonl"),
        "{\"id\": 1, \"sql\": \"SELECT 1\"}\n",
    );
    assert_eq!((lines.status.code(), lines.stdout.as_slice()), (Some(0), b"".as_slice()));
    assert_eq!(
        fs::read_to_string(place.path().join("out.jsonl")).unwrap(),
        "{\"id\":1,\"ok\":true,\"rows\":1}\n"
    );
    for wrong in ["home", "no/such/out.csv"] {
        let output =
            finish(&mut place.words(&format!("sql --db cells.sqlite -o {wrong} SELECT(1)")), "");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(read_streams(&output).1.contains(wrong), "{}", read_streams(&output).1);
    }
    assert_eq!(
        place.names(),
        ["cells.sqlite", "home", "out.csv", "out.json", "out.jsonl", "shop.sqlite"]
    );
}

/// The database is never written, whatever is asked.
#[test]
fn the_output_never_replaces_the_database() {
    let place = hostile();
    std::os::unix::fs::symlink("cells.sqlite", place.path().join("link.sqlite")).unwrap();
    let before = fs::read(place.path().join("cells.sqlite")).unwrap();
    let mut wrong = Vec::new();
    for (command, name) in [
        ("sql SELECT(1) --db cells.sqlite", "cells.sqlite"),
        ("sql SELECT(1) --db sqlite:cells.sqlite", "./cells.sqlite"),
        ("sql SELECT(1) --db cells.sqlite", "link.sqlite"),
        ("sql SELECT(1) --db link.sqlite", "cells.sqlite"),
        ("schema cells.sqlite", "cells.sqlite"),
        ("--llm offline -q how_many_names? --db cells.sqlite", "cells.sqlite"),
    ] {
        let output = finish(&mut place.words(&format!("{command} -o {name}")), "");
        if output.status.code() != Some(2) {
            wrong.push(format!("`{command} -o {name}` ends with {:?}", output.status.code()));
        }
        if fs::read(place.path().join("cells.sqlite")).unwrap() != before {
            wrong.push(format!("`{command} -o {name}` replaced the database"));
            place.file("cells.sqlite", &before);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nor is what else the command reads: its config file, its plugins, and the engine's files beside
/// the database.
#[test]
fn the_output_replaces_nothing_that_is_read() {
    let place = hostile();
    place.file("own.yml", "execution: {max_depth: 2}\n");
    place.file("mine.wasm", "");
    place.file("cells.sqlite-wal", "");
    for (command, name) in [
        ("config --config own.yml", "own.yml"),
        ("config --planner ./mine.wasm", "mine.wasm"),
        ("plugin inspect mine.wasm", "mine.wasm"),
        ("schema cells.sqlite", "cells.sqlite-wal"),
        ("schema cells.sqlite", "cells.sqlite-journal"),
    ] {
        let before = fs::read(place.path().join(name)).ok();
        let output = finish(&mut place.words(&format!("{command} -o {name}")), "");
        let stderr = read_streams(&output).1;
        assert_eq!(output.status.code(), Some(2), "`{command} -o {name}`: {stderr}");
        assert!(stderr.contains(name) && stderr.contains("another path"), "{stderr}");
        assert_eq!(fs::read(place.path().join(name)).ok(), before, "`{command} -o {name}`");
    }
}

#[test]
fn nothing_that_is_piped_has_escape_codes() {
    let place = hostile();
    for words in [
        "sql --db cells.sqlite SELEC",
        "schema nowhere.sqlite",
        "--nope",
        "--help",
        "sql --help",
        "config",
        "plugin list",
    ] {
        let output = finish(&mut place.words(words), "");
        let (stdout, stderr) = read_streams(&output);
        assert!(
            !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
            "{words}: {stdout}{stderr}"
        );
    }
    let colored =
        read_streams(&finish(&mut place.words("--color always sql --db cells.sqlite SELEC"), "")).1;
    assert!(colored.contains("\u{1b}[1;31merror"), "{colored}");
    let never =
        read_streams(&finish(&mut place.words("--color never sql --db cells.sqlite SELEC"), "")).1;
    assert!(!never.contains('\u{1b}'), "{never}");
}

/// The program on a terminal, as `script` gives one; `None` if there is no `script`.
fn on_a_terminal(place: &Place, words: &str, variable: (&str, &str)) -> Option<String> {
    let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_syrch-host"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    let host = place.host();
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .current_dir(place.path())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env(variable.0, variable.1);
    match command.stdin(Stdio::null()).output() {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(error) => {
            syrch_kit::skip(&format!(
                "there is no `script`, which makes a terminal ({error}): install util-linux"
            ));
            None
        }
    }
}

#[test]
fn a_terminal_gets_colour_unless_the_user_says_no() {
    let place = hostile();
    let wrong = "sql --db cells.sqlite SELEC";
    let Some(plain) = on_a_terminal(&place, wrong, ("NO_COLOR", "1")) else { return };
    assert!(plain.contains("error: ") && !plain.contains('\u{1b}'), "{plain}");
    let colored = on_a_terminal(&place, wrong, ("TERM", "xterm")).unwrap();
    assert!(colored.contains("\u{1b}[1;31merror"), "{colored}");
    let never =
        on_a_terminal(&place, &format!("--color never {wrong}"), ("TERM", "xterm")).unwrap();
    assert!(!never.contains('\u{1b}'), "{never}");
    let quiet = "--llm offline --quiet --db cells.sqlite -q 'List the name of all names'";
    for format in ["auto", "json", "jsonl", "csv", "markdown"] {
        let shown = on_a_terminal(&place, &format!("{quiet} --format {format}"), ("TERM", "xterm"))
            .unwrap();
        assert!(shown.contains("HYPERLINK"), "{shown}");
        // The terminal itself turns line ends into CR LF.
        assert!(!has_terminal_codes(&shown.replace("\r\n", "\n")), "{format}: {shown:?}");
    }
}

/// As `| head -1` does: reads one line and goes away.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = hostile();
    let many = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 9000) \
                SELECT n, hex(zeroblob(50)) AS x FROM r";
    for format in ["table", "csv", "json", "jsonl", "markdown"] {
        let mut command = place.words(&format!("sql --db cells.sqlite --format {format}"));
        let mut child =
            command.arg(many).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!first.is_empty());
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{format}");
    }
    // Nobody ever reads.
    let mut lines = place.words("sql --db cells.sqlite --stdin-jsonl");
    let mut child =
        lines.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let line = "{\"id\": 1, \"sql\": \"SELECT 1\"}\n".repeat(1_000);
    // The program may end before all is written.
    drop(std::io::Write::write_all(child.stdin.as_mut().unwrap(), line.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_output_that_cannot_be_written_is_reported() {
    let place = hostile();
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        println!("skipped: no /dev/full here");
        return;
    };
    let mut command = place.words("sql --db cells.sqlite SELECT(1)");
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot be written") && !stderr.contains("panicked"), "{stderr}");
}
