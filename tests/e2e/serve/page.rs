//! The page in Chromium: `tests/page/run.mjs` uses it, and this starts the servers.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use syrch_kit::{MockEndpoint, Reply, Script, repository, scratch, skip, sqlite};

use super::client::{Server, compare, serve, serve_with};
use crate::endpoint::{PLAN, for_task, plan, subtask};
use crate::optimize::{SLOW, Slow};
use crate::{host, shop};

/// The folder of the tools, which `tests/page/install.sh` fills; `None` if they are not installed,
/// which is reported and counted.
fn tools() -> Option<PathBuf> {
    let folder = std::env::var_os("SYRCH_TEST_PAGE").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| repository().join("target/page"));
    if folder.join("node_modules/playwright-core").exists() {
        return Some(folder);
    }
    let is_required = std::env::var("SYRCH_REQUIRE_PAGE").is_ok_and(|value| value == "1");
    assert!(!is_required, "run tests/page/install.sh");
    skip("there is no browser for the page: `sh tests/page/install.sh` installs what is needed");
    None
}

/// A model that plans two tasks, fails at first, and takes its time.
fn model() -> MockEndpoint {
    let customers = for_task("the customers of France");
    let right = "SELECT id FROM customers WHERE country = 'France'";
    let wrong = "SELECT id FROM customers WHERE land = 'France'";
    MockEndpoint::start(
        Script::new()
            .on(
                [PLAN],
                plan(&[
                    subtask("A", "the customers of France", &[]),
                    subtask("B", "their number", &["A"]),
                ]),
            )
            .on([customers.as_str(), "Earlier attempts"], Reply::sql(right, 0.9).delay_ms(1_500))
            .on([customers.as_str()], Reply::sql(wrong, 0.9).delay_ms(700))
            .on(
                [for_task("their number").as_str()],
                Reply::sql("SELECT count(*) AS number FROM task_A", 0.9).delay_ms(700),
            ),
    )
}

/// A database whose names and cells are markup, turn the direction of text, or are very long.
fn hostile(folder: &Path) -> PathBuf {
    sqlite(
        folder.join("hostile.sqlite"),
        "CREATE TABLE \"<img src=x onerror=window.hit=1>\"(
             id INTEGER PRIMARY KEY, \"<script>window.hit=1</script>\" TEXT, \"\u{202e}txet\" TEXT);
         INSERT INTO \"<img src=x onerror=window.hit=1>\" VALUES
             (1, '<img src=x onerror=\"window.hit=1\"> in a cell that is long enough', 'a'),
             (2, 'javascript:window.hit=1', '\u{202e}\u{2066}turned'),
             (3, hex(zeroblob(400000)), '</script><script>window.hit=1</script>'),
             (4, hex(zeroblob(400000)), '{{constructor.constructor(\"window.hit=1\")()}}'),
             (5, '&lt;b&gt;', char(0, 7, 27, 10, 13) || 'controls');
         CREATE TABLE huge(cell TEXT);
         INSERT INTO huge VALUES (hex(zeroblob(5000000)));",
    )
}

/// Asks a question, and writes the page of its trace into a file.
fn write_trace(server: &Server, question: &str, folder: &Path) -> PathBuf {
    let run = server.begin(&serde_json::json!({"question": question}));
    server.events(&run, 0);
    write_page(folder, &["trace", "show", &run, "--rows", "full", "--html"])
}

/// Writes the report on an optimized statement into a file.
fn write_optimized(slow: &Slow) -> PathBuf {
    let output = slow.optimize(SLOW, "--report optimized.html").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    slow.path().join("optimized.html")
}

/// Writes a page into a file, the last argument of these words.
fn write_page(folder: &Path, words: &[&str]) -> PathBuf {
    let file = folder.join(format!("{}.html", words[0]));
    let mut command = host();
    command.env("SYRCH_STATE_DIR", folder.join("state")).args(words).arg(&file);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(tools) = tools() else { return };
    let folder = scratch();
    let folders = ["rules", "model", "hostile", "many"].map(|name| folder.path().join(name));
    let defined = crate::defined::shop();
    let mut metrics = serve(&defined.path().join("shop.sqlite"), defined.path());
    metrics.arg("--semantics").arg(defined.path().join("shop.yml"));
    folders.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let endpoint = model();
    let slow = Slow::new();
    for place in [0, 3] {
        shop(&folders[place]);
    }
    let questions = (0..8).map(|number| {
        let question = format!("How many customers are there in France? ({number})");
        let gold = "SELECT count(*) FROM customers WHERE country = 'France'";
        let id = number.to_string();
        let line =
            serde_json::json!({"id": id, "db": "shop", "question": question, "gold_sql": gold});
        format!("{line}\n")
    });
    std::fs::write(folders[1].join("suite.jsonl"), questions.collect::<String>()).unwrap();
    let suite = folders[2].join("<img src=x onerror=window.hit=1>\u{202e}.jsonl");
    let line =
        serde_json::json!({"id": "1", "db": "hostile", "question": "?", "gold_sql": "SELECT 1"});
    std::fs::write(suite, format!("{line}\n")).unwrap();
    compare(&folders[0], 30);
    compare(&folders[3], 500);
    let mut servers = [
        ("rules", Server::start(serve(&shop(&folders[0]), &folders[0]))),
        ("model", Server::start(serve_with(&endpoint, &shop(&folders[1]), &folders[1]))),
        ("metrics", Server::start(metrics)),
        ("many", Server::start(serve(&folders[3].join("shop.sqlite"), &folders[3]))),
        ("hostile", Server::start(serve(&hostile(&folders[2]), &folders[2]))),
    ];
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", &browser]).output().unwrap();
    let browser = String::from_utf8(found.stdout).unwrap();
    let question = "How many French customers are there?";
    let markup = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>";
    let given = serde_json::json!({
        "tools": tools, "out": tools.join("pictures"), "browser": browser.trim(),
        "alone": write_trace(&servers[1].1, question, &folders[1]),
        "optimized": write_optimized(&slow),
        "report": write_page(&folders[0], &["report", "--report"]),
        "hostile": write_trace(&servers[4].1, markup, &folders[2]),
    });
    let script = repository().join("tests/page/run.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(given.to_string());
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut answers = node.stdin.take().unwrap();
    let mut said = String::new();
    for line in BufReader::new(node.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.strip_prefix("link? ") {
            None => said += &format!("{line}\n"),
            Some(name) => {
                let (_, server) = servers.iter_mut().find(|(own, _)| *own == name).unwrap();
                writeln!(answers, "{}", server.take_link()).unwrap();
            }
        }
    }
    assert!(node.wait().unwrap().success(), "{said}");
    assert!(said.lines().filter(|line| line.starts_with("passed: ")).count() >= 19, "{said}");
}
