//! Searches over one database, one after another and at once: none sees another's intermediate
//! results. The Python package wrote these into the user's database under one name, so that
//! questions and processes read each other's (bugs 3, 4 and 32 of its list).

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::endpoint::{KEY, PLAN, Said, for_task, plan, search, subtask};
use crate::shop;

/// Two tasks: the first finds the rows, the second counts them in the same words whatever the first
/// was.
fn script(first: &str) -> Script {
    Script::new()
        .on(
            [PLAN],
            plan(&[subtask("A", "the rows", &[]), subtask("B", "how many these are", &["A"])]),
        )
        .on([for_task("the rows").as_str()], Reply::sql(first, 0.95))
        .on(
            [for_task("how many these are").as_str()],
            Reply::sql("SELECT count(*) AS n FROM task_A", 0.95),
        )
}

/// A command for JSON; searches with the same `state` share a cache.
fn command(
    endpoint: &MockEndpoint,
    database: &Path,
    state: &Path,
    question: &str,
) -> std::process::Command {
    let mut command = search(&endpoint.url(), database);
    command.env("SYRCH_CACHE_DIR", state.join("cache")).env("SYRCH_STATE_DIR", state.join("state"));
    command.args(["--cache", "--format", "json", "-q", question]);
    command
}

fn count(said: &Said) -> Value {
    said.document(0)["answer"]["rows"].clone()
}

#[test]
fn equal_statements_over_other_tasks_are_other_statements() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let before = std::fs::read(&database).unwrap();
    for (question, first, expected) in [
        ("How many customers are there?", "SELECT id FROM customers", 4),
        ("How many products are there?", "SELECT id FROM products", 3),
        ("How many customers are there?", "SELECT id FROM customers", 4),
    ] {
        let endpoint = MockEndpoint::start(script(first));
        let said = Said::from_output(
            command(&endpoint, &database, folder.path(), question).output().unwrap(),
        );
        assert_eq!(count(&said), json!([[expected]]), "{}", said.all());
    }
    assert_eq!(std::fs::read(&database).unwrap(), before);
    let beside: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(
        beside.iter().all(|name| !name.to_string_lossy().starts_with("shop.sqlite-")),
        "{beside:?}"
    );
}

#[test]
fn processes_over_one_database_do_not_meet() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let searches: Vec<_> = (0..8)
        .map(|number| {
            let (first, expected) = if number % 2 == 0 {
                ("SELECT id FROM customers", 4)
            } else {
                ("SELECT id FROM products", 3)
            };
            let endpoint = MockEndpoint::start(script(first));
            let mut command = command(&endpoint, &database, folder.path(), "How many are there?");
            let child = command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            (endpoint, child, expected)
        })
        .collect();
    for (_endpoint, child, expected) in searches {
        let said = Said::from_output(child.wait_with_output().unwrap());
        assert_eq!(count(&said), json!([[expected]]), "{}", said.all());
    }
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_the_users_alone_and_holds_no_key() {
    use std::os::unix::fs::PermissionsExt;
    let folder = syrch_kit::scratch();
    // An endpoint that sends the key back, in what it says and in what it calls its model.
    let content = format!("```sql\nSELECT id FROM customers -- {KEY}\n```\nConfidence: 0.95");
    let echo = json!({
        "model": format!("m {KEY}"),
        "choices": [{
            "message": {"role": "assistant", "content": content}, "finish_reason": "stop"
        }],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10}
    });
    let script = Script::new()
        .on(
            [PLAN],
            plan(&[subtask("A", "the rows", &[]), subtask("B", "how many these are", &["A"])]),
        )
        .on([for_task("the rows").as_str()], Reply::raw(200, echo.to_string()))
        .on(
            [for_task("how many these are").as_str()],
            Reply::sql("SELECT count(*) AS n FROM task_A", 0.95),
        );
    let endpoint = MockEndpoint::start(script.requires_key(KEY));
    let said = Said::from_output(
        command(&endpoint, &shop(folder.path()), folder.path(), "How many are there?")
            .output()
            .unwrap(),
    );
    assert_eq!(count(&said), json!([[4]]), "{}", said.all());
    let mut files = 0;
    let mut folders = vec![folder.path().join("state"), folder.path().join("cache/answers")];
    while let Some(place) = folders.pop() {
        assert_eq!(
            std::fs::metadata(&place).unwrap().permissions().mode() & 0o077,
            0,
            "{}",
            place.display()
        );
        for entry in std::fs::read_dir(&place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            assert_eq!(
                std::fs::metadata(&path).unwrap().permissions().mode() & 0o077,
                0,
                "{}",
                path.display()
            );
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()),
                "{}",
                path.display()
            );
        }
    }
    assert!(files >= 2, "a journal and a cache");
}
