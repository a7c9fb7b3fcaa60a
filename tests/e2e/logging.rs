//! The log on standard error: the format of syrch 0.1.2, JSON lines, levels, and no secrets.

use serde_json::Value;

use crate::bad_input::{Place, finish, read_streams};
use crate::endpoint::KEY;

/// An offline search; standard error is returned.
fn stderr_of(words: &str) -> String {
    let place = Place::new();
    let mut command = place.words("--llm offline --db shop.sqlite --format json -q");
    command.arg("How many customers are there?").args(words.split_whitespace());
    let output = finish(&mut command, "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["schema"], "syrch.answer/1");
    stderr
}

/// Each line as a document.
fn documents(stderr: &str) -> Vec<Value> {
    stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn text_is_level_logger_and_message() {
    let stderr = stderr_of("-v");
    assert!(
        stderr.lines().any(|line| line.starts_with("INFO:syrch.search:task A started: ")),
        "{stderr}"
    );
    assert!(!stderr.contains("DEBUG:") && !stderr.contains("::"), "{stderr}");
    let silent = stderr_of("");
    assert!(!silent.contains("INFO:"), "{silent}");
    assert_eq!(stderr_of("-vvv --quiet"), "");
}

#[test]
fn json_is_an_object_a_line_whatever_is_said() {
    let lines = documents(&stderr_of("-vv --log-format json"));
    for line in &lines {
        for key in ["timestamp", "level", "target", "message"] {
            assert!(line[key].is_string(), "no {key}: {line}");
        }
        let time = line["timestamp"].as_str().unwrap();
        assert!(time.len() >= 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    }
    let said = |level: &str, target: &str, words: &str| {
        lines.iter().any(|line| {
            line["level"] == level
                && line["target"] == target
                && line["message"].as_str().unwrap().contains(words)
        })
    };
    assert!(said("INFO", "syrch.search", "planned"), "{lines:?}");
    // Notes for people are lines of the log then.
    assert!(said("INFO", "syrch.console", "confidence"), "{lines:?}");
    let quiet = stderr_of("-vvv --log-format json --quiet");
    assert_eq!(quiet, "");
}

#[test]
fn errors_are_lines_too_also_when_quiet() {
    let place = Place::new();
    for words in [
        "--quiet --log-format json schema nowhere.sqlite",
        "schema nowhere.sqlite --log-format json",
    ] {
        let output = finish(&mut place.words(words), "");
        assert_eq!(output.status.code(), Some(11));
        let lines = documents(&read_streams(&output).1);
        assert_eq!(
            (&lines[0]["level"], &lines[0]["target"]),
            (&"ERROR".into(), &"syrch.console".into())
        );
        assert!(lines[0]["message"].as_str().unwrap().contains("nowhere.sqlite"));
    }
}

#[test]
fn the_files_that_set_something_are_reported() {
    let place = Place::new();
    place.file("home/.syrch/config.yml", "execution: {max_depth: 2}\n");
    let output = finish(&mut place.words("schema shop.sqlite -v --log-format json"), "");
    let lines = documents(&read_streams(&output).1);
    let read = lines.iter().find(|line| line["target"] == "syrch.config").unwrap();
    assert!(read["fields"]["file"].as_str().unwrap().ends_with("config.yml"), "{read}");
}

/// The question holds the key, and so do the tasks that are logged; no line of the log does,
/// however it is quoted.
#[test]
fn keys_are_scrubbed_from_every_line() {
    let place = Place::new();
    let odd = "sesame-\"open\"-4711";
    for (key, format) in [(KEY, "text"), (KEY, "json"), (odd, "text"), (odd, "json")] {
        let mut command = place.words("--llm offline --db shop.sqlite -vvv --log-format");
        command.env("SYRCH_API_KEY", key).args([
            format,
            "-q",
            &format!("How many customers are called {key}?"),
        ]);
        let (_, stderr) = read_streams(&finish(&mut command, ""));
        let quoted = key.replace('"', "\\\"");
        assert!(stderr.contains("***"), "{format}: {stderr}");
        assert!(!stderr.contains(key) && !stderr.contains(&quoted), "{format}: {stderr}");
        if format == "json" {
            assert!(documents(&stderr).len() > 5, "{stderr}");
        }
    }
}
