//! A run on one statement that is killed, again and again: it resumes where it was, and nothing
//! that was measured is measured again.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{SLOW, Slow, document};
use crate::bad_input::{assert_refused, finish, read_streams};

const RESUME: &str = "optimize --db slow.sqlite --resume last";

/// The journal of the only run, as far as its lines are whole.
pub(super) fn journal(slow: &Slow) -> String {
    let Ok(runs) = std::fs::read_dir(slow.path().join("home/.local/state/syrch/runs")) else {
        return String::new();
    };
    let mut files = runs
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let text = files
        .next()
        .map(|path: PathBuf| std::fs::read_to_string(path).unwrap())
        .unwrap_or_default();
    assert!(files.next().is_none(), "a resumed run has no second journal");
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
    whole.to_owned()
}

/// Counts the measurements of times in a journal.
pub(super) fn count_timings(journal: &str) -> usize {
    journal.lines().filter(|line| line.contains("\"step\":\"time\"")).count()
}

#[test]
fn a_killed_run_measures_nothing_twice() {
    let slow = Slow::with_rows(100, 20_000);
    let mut known = String::new();
    for killed in 0..syrch_kit::scale(4, 40) {
        let mut command = match killed {
            0 => slow.optimize(SLOW, "--iterations 2 --pairs 12"),
            _ => slow.words(RESUME),
        };
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        // Until it has measured once more, and then into the middle of what follows.
        while count_timings(&journal(&slow)) == count_timings(&known)
            && child.try_wait().unwrap().is_none()
        {
            assert!(started.elapsed() < Duration::from_secs(120), "it does nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        if killed == 0 {
            assert_refused(&mut slow.words(RESUME), 10, &["in progress"]);
        }
        std::thread::sleep(Duration::from_millis(30 * (killed as u64 % 4)));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = journal(&slow);
        assert!(now.starts_with(&known), "kill {killed}: what was recorded is other");
        known = now;
    }
    let found = document(&mut slow.words(RESUME), 0);
    let whole = journal(&slow);
    assert!(whole.starts_with(&known), "what was recorded is other");
    assert_eq!((&found["outcome"], &found["given"]), (&json!("OPTIMIZED"), &json!(SLOW)));
    // The flags of the loop are those of the start: nobody gave them again.
    assert_eq!(
        (&found["settings"]["iterations"], &found["settings"]["min_gain_ms"]),
        (&json!(2), &json!(1))
    );
    let iterations = found["iterations"].as_array().unwrap();
    let rounds = iterations.iter().filter(|iteration| iteration["round"] != Value::Null).count();
    let pairs = found["confirmation"]["pairs"].as_array().unwrap().len();
    // The first time and two for the noise; two to warm and six of each proposal; two to warm and
    // two of each pair.
    assert_eq!(count_timings(&whole), 3 + 8 * rounds + 2 + 2 * pairs, "{found:#}");
    // It is finished: the same document again, and nothing is done.
    assert_eq!(document(&mut slow.words(RESUME), 0), found);
    assert_eq!(journal(&slow), whole);
    let run = found["run"].as_str().unwrap();
    assert_eq!(document(&mut slow.words(&format!("trace replay --strict {run}")), 0), found);
}

#[test]
fn what_does_not_go_with_a_resumed_run_is_refused() {
    let slow = Slow::with_rows(100, 20_000);
    let mut child =
        slow.optimize(SLOW, "").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while count_timings(&journal(&slow)) == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let known = journal(&slow);
    for flag in
        ["--iterations 3", "--pairs 8", "--min-gain 5%", "--copies 1", "--early-stop", "--dry-run"]
    {
        let output = finish(&mut slow.words(&format!("{RESUME} {flag}")), "");
        assert_eq!(output.status.code(), Some(2), "{flag}: {}", read_streams(&output).1);
    }
    assert_eq!(
        finish(slow.words(RESUME).arg(SLOW), "").status.code(),
        Some(2),
        "a statement beside it"
    );
    assert_refused(
        &mut slow.words(&format!("{RESUME} check x")),
        2,
        &["--resume", "after the command"],
    );
    assert_refused(&mut slow.words("optimize --db slow.sqlite --resume nothing"), 2, &["nothing"]);
    assert_refused(&mut slow.words("optimize --resume last"), 2, &["no database"]);
    // Another database, another rewriter, and other data.
    std::fs::copy(slow.path().join("slow.sqlite"), slow.path().join("other.sqlite")).unwrap();
    assert_refused(
        &mut slow.words("optimize --db other.sqlite --resume last"),
        10,
        &["changed since"],
    );
    assert_refused(
        &mut slow.words(&format!(
            "{RESUME} --rewriter model --llm openai --model m --base-url http://localhost:1/v1"
        )),
        10,
        &["changed since"],
    );
    assert_eq!(journal(&slow), known, "a run that is refused stays as it is");
    let writer = rusqlite::Connection::open(slow.path().join("slow.sqlite")).unwrap();
    writer.execute("INSERT INTO orders(customer_id, total) VALUES (1, 1)", []).unwrap();
    drop(writer);
    assert_refused(&mut slow.words(RESUME), 10, &["database"]);
    // A search is no optimization.
    let mut search = slow.words("--llm offline --db slow.sqlite -q");
    assert_eq!(finish(search.arg("How many customers are there?"), "").status.code(), Some(0));
    assert_refused(&mut slow.words(RESUME), 10, &["is a search"]);
}
