//! A run over a corpus that is killed in the middle, again and again: it resumes, what is finished
//! is not measured again, and the outcomes are those of a run that nobody disturbed.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::corpus::add;
use super::{SLOW, Slow, document};
use crate::bad_input::assert_refused;

const RUN: &str = "optimize run m.toml --db slow.sqlite --min-gain-ms 1 --iterations 2 --pairs 3";

/// The finished lines of the only run, by their place, as they stand in the file.
fn read_finished_lines(slow: &Slow) -> BTreeMap<u64, String> {
    let Ok(mut runs) = std::fs::read_dir(slow.path().join("home/.local/state/syrch/optimize"))
    else {
        return BTreeMap::new();
    };
    let Some(run) = runs.next() else { return BTreeMap::new() };
    let text =
        std::fs::read_to_string(run.unwrap().path().join("results.jsonl")).unwrap_or_default();
    // What follows the last line's end was being written.
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
    let place =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["place"].as_u64().unwrap();
    whole.lines().map(|line| (place(line), line.to_owned())).collect()
}

fn outcomes(run: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    run["statements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(&one["file"]), text(&one["result"]["outcome"])))
        .collect()
}

#[test]
fn kills_change_nothing() {
    let kills = syrch_kit::scale(5, 50);
    let slow = Slow::with_rows(50, 2_000);
    // Several may end between two kills.
    let mut statements: Vec<(String, String)> = (0..4 * kills)
        .map(|n| (format!("q{n}.sql"), SLOW.replace("c.id)", &format!("c.id AND o.total > {n})"))))
        .collect();
    statements.push(("refused.sql".to_owned(), "SELECT id FROM orders LIMIT 1".to_owned()));
    let named: Vec<(&str, &str)> =
        statements.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).collect();
    add(&slow, &named);
    let mut known = BTreeMap::new();
    for killed in 0..kills {
        let is_begun = killed > 0 && slow.path().join("home/.local/state/syrch/optimize").exists();
        let mut command = slow.words(if is_begun {
            "optimize run --resume last m.toml"
        } else {
            "optimize run m.toml"
        });
        command.args(RUN.split_whitespace().skip(3));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let before = known.len();
        let started = Instant::now();
        // Until one more is finished, and then into the middle of the next.
        while read_finished_lines(&slow).len() == before && child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(120), "it does nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(40 * (killed as u64 % 5)));
        if killed == 0 {
            assert_refused(
                &mut slow.words(&format!("{RUN} --resume last")),
                10,
                &["still running"],
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = read_finished_lines(&slow);
        for (place, line) in &known {
            assert_eq!(now.get(place), Some(line), "statement {place} was lost or measured again");
        }
        assert!(now.len() > before, "kill {killed}: it did not come on");
        known = now;
    }
    let whole = document(&mut slow.words(&format!("{RUN} --resume last")), 0);
    for (place, line) in &known {
        assert_eq!(
            read_finished_lines(&slow).get(place),
            Some(line),
            "statement {place} was measured again"
        );
    }
    std::fs::remove_dir_all(slow.path().join("home/.local/state/syrch/optimize")).unwrap();
    let undisturbed = document(&mut slow.words(RUN), 0);
    assert_eq!(outcomes(&whole), outcomes(&undisturbed));
    assert!(
        outcomes(&whole).iter().filter(|(_, outcome)| outcome == "OPTIMIZED").count() >= kills,
        "{whole:#}"
    );
}
