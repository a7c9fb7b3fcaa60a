//! Tests of what `make live` prints, with an endpoint of our own in place of the live model.

use std::process::Command;

use serde_json::json;
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, has_program};

use crate::endpoint::Said;

#[test]
fn the_table_counts_calls_tokens_and_replies_without_a_statement() {
    if !has_program("python3", "install Python 3") {
        return;
    }
    let folder = syrch_kit::scratch();
    let database = folder.path().join("shop.sqlite");
    syrch_examples::make_shop(&database).unwrap();
    // A model that writes statements only where it is held to them, and always the same one.
    let endpoint = MockEndpoint::start(
        Script::new()
            .with(|request: &Recorded, _| {
                let document = json!({"sql": "SELECT COUNT(*) FROM customers", "confidence": 0.9});
                request.body.get("response_format").map(|_| Reply::json(&document))
            })
            .on([""], Reply::text("There are some.")),
    );
    let run = |flags: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(syrch_kit::repository().join("tests/live/run.py"));
        command.args([
            "--host",
            env!("CARGO_BIN_EXE_syrch-host"),
            "--model",
            "m",
            "--address",
            &endpoint.url(),
            "--database",
        ]);
        command
            .arg(&database)
            .arg("--live")
            .arg(folder.path())
            .args(["--questions", "3"])
            .args(flags);
        let said = Said::from_output(command.output().unwrap());
        assert_eq!(said.code, 0, "{}", said.all());
        said.stdout
    };
    let text = run(&["--strategies", "single retry3"]);
    let cells = |name: &str| -> Vec<String> {
        let row =
            text.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap_or(&text);
        row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    // Three questions of which the first asks for that number. The first reply of each run holds no
    // statement.
    let single = cells("`single`");
    assert_eq!(single[1..8], ["3", "1", "3", "4", "4", "1", "1"], "{text}");
    let sum = cells("all");
    assert_eq!(
        (sum[1].as_str(), sum[4].parse::<usize>().unwrap()),
        ("6", endpoint.count()),
        "{text}"
    );
    assert!(
        text.ends_with(" calls for a statement held none (25 %).\n") || text.contains("2 of "),
        "{text}"
    );
    let never = run(&["--strategies", "single", "--", "--structured", "never"]);
    assert!(never.contains("| `single` | 3 | 0 | 0 | 3 | 3 | 3 | 3 |"), "{never}");
    assert!(never.ends_with("3 of 3 calls for a statement held none (100 %).\n"), "{never}");
}
