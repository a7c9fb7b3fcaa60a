//! Tests of the text that people read, with names that would harm them.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{offline, run_command};
use crate::bad_input::Place;

#[test]
fn hostile_names_are_shown_and_not_obeyed() {
    let place = Place::new();
    let question = "Are\u{1b}[31m there <script>alert(1)</script> | `customers`?\u{202e}";
    let line = json!({"id": "q|<b>\u{1b}]0;x\u{7}", "db": "shop", "question": question,
        "gold_sql": "SELECT count(*) FROM customers",
        "k<i>": "v|\u{1b}[2J"});
    place.file("suite.jsonl", format!("{line}\n"));
    place.file("a|<b>\u{1b}[1m.yml", "name: hostile\nroles: {planner: direct}\n");
    for (format, raw) in
        [("table", "\u{1b}"), ("json", "\u{1b}"), ("markdown", "<b>"), ("csv", "\u{1b}")]
    {
        let mut command = offline(&place, &format!("--format {format} decompose"));
        let said = run_command(command.args([
            "./a|<b>\u{1b}[1m.yml",
            "suite.jsonl",
            "--report",
            "r.html",
            "--slice",
            "k<i>",
        ]));
        assert_eq!(said.code, 0, "{}", said.all());
        for text in [&said.stdout, &said.stderr] {
            assert!(
                !text.contains(['\u{1b}', '\u{7}', '\u{202e}'])
                    && (text == &said.stderr || !text.contains(raw)),
                "{}",
                said.all()
            );
        }
        let page = fs::read_to_string(place.path().join("r.html")).unwrap();
        assert!(
            !page.contains("<script>alert")
                && !page.contains("<b>\u{1b}")
                && !page.contains('\u{202e}')
        );
    }
}

#[test]
fn tables_have_the_chance_of_each_arm_that_all_tries_are_right() {
    let place = Place::new();
    let lines = ["SELECT count(*) FROM customers", "SELECT 1"].map(|sql| {
        let question = "How many customers are there?";
        json!({"id": sql, "db": "shop", "question": question, "gold_sql": sql}).to_string() + "\n"
    });
    place.file("suite.jsonl", lines.concat());
    for (words, is_shown) in [("--seeds 2", true), ("--seeds 1", false)] {
        let words = format!("{words} --format markdown single decompose suite.jsonl");
        let said = run_command(&mut offline(&place, &words));
        assert_eq!(said.code, 0, "{}", said.all());
        for (arm, k) in [("single", 1), ("single", 2), ("decompose", 1), ("decompose", 2)] {
            let row = format!("\n| {arm} | {k} | 2 | 50.0 % |");
            assert_eq!(said.stdout.contains(&row), is_shown, "{row}: {}", said.stdout);
        }
    }
    let said = run_command(&mut offline(&place, "--format csv single decompose suite.jsonl"));
    let mut lines = said.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = head.iter().position(|name| *name == "origin").unwrap();
    assert!(lines.all(|line| line[at] == "generated"), "{}", said.stdout);
}

/// A help's own part, without the flags that all commands have.
pub(crate) fn assert_help(command: &str, headings: &[&str], snapshot: &str) {
    let place = Place::new();
    let said = run_command(&mut place.words(&format!("{command} --help")));
    assert_eq!(said.code, 0, "{}", said.all());
    let (head, _) = said.stdout.split_once("\nOptions:\n").unwrap();
    let now = head.to_owned()
        + &headings
            .iter()
            .map(|heading: &&str| {
                let (_, rest) = said
                    .stdout
                    .split_once(&format!("\n{heading}:\n"))
                    .unwrap_or_else(|| panic!("no {heading}"));
                let end = rest.find("\n\n").map_or(rest.len(), |_| {
                    rest.match_indices("\n\n")
                        .map(|(at, _)| at)
                        .find(|at| !rest[at + 2..].starts_with(' '))
                        .unwrap_or(rest.len())
                });
                format!("\n{heading}:\n{}\n", &rest[..end])
            })
            .collect::<String>();
    let now: String = now.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    assert_snapshot(snapshot, &now);
}

/// Compares with what was said before. Accept a change by writing it into the file.
pub(crate) fn assert_snapshot(name: &str, now: &str) {
    let path = Path::new(&syrch_kit::repository()).join("tests/e2e/snapshots").join(name);
    let before = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, before, "{} differs; what is said now:\n{now}", path.display());
}

#[test]
fn the_help_tells_what_an_arm_is() {
    assert_help("compare", &["Comparison"], "compare_help.txt");
}

#[test]
fn a_comparison_by_rules_reads_like_this() {
    let place = Place::new();
    let line = |id: &str, question: &str, sql: &str| {
        json!({"id": id, "db": "shop", "question": question, "gold_sql": sql, "level": id})
            .to_string()
            + "\n"
    };
    let lines = [
        line("easy", "How many customers are there?", "SELECT count(*) FROM customers"),
        line("none", "Who is the tallest of them all?", "SELECT 'nobody'"),
    ];
    place.file("suite.jsonl", lines.concat());
    let said = run_command(&mut offline(&place, "decompose retry3 suite.jsonl --slice level"));
    assert_eq!(said.code, 0, "{}", said.all());
    assert_snapshot("compare.txt", &without_times(&said.stdout));
}

/// Without the times, which stand in cells such as `12 ms`, and the Pareto set by them.
pub(crate) fn without_times(text: &str) -> String {
    fn is_time(cell: &str) -> bool {
        let mut words = cell.split_whitespace();
        let number = words.next().is_some_and(|word| word.parse::<f64>().is_ok());
        number && matches!(words.next(), Some("ms" | "s")) && words.next().is_none()
    }
    let line = |line: &str| match line.starts_with('│') {
        true => {
            line.trim_end_matches('│')
                .split('┆')
                .map(|cell: &str| if is_time(cell) { " TIME ".to_owned() } else { cell.to_owned() })
                .collect::<Vec<_>>()
                .join("┆")
                + "│"
        }
        // Rules are as wide as the times are.
        false if line.starts_with(['┌', '╞', '└']) => line.chars().take(1).collect(),
        false => line.to_owned(),
    };
    let lines = text.lines().filter(|line| !line.starts_with("  for its median time")).map(line);
    lines
        .map(|line| {
            line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect()
}
