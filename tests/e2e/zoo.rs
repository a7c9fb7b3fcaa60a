//! Hostile plugins through the binary: each must end with a typed error that names the limit, and
//! without effect.

mod cases;
mod oracle;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use syrch_kit::zoo;

use crate::{host, shop};

/// Asks one question of a tiny shop with the hostile plugin in one role.
fn misbehave(role: &str, behaviour: &str, folder: &Path) -> Output {
    let database = shop(folder);
    host()
        .args([
            "--llm",
            "offline",
            "--format",
            "json",
            "-q",
            "How many customers are there?",
            "--db",
        ])
        .arg(&database)
        .arg(format!("--{role}"))
        .arg(zoo::hostile())
        .args(["-P", &format!("{role}.behaviour={behaviour}")])
        .output()
        .unwrap()
}

/// The end of a behaviour: the exit code, and words that the error must hold.
fn ends(role: &str, behaviour: &str, code: i32, words: &[&str]) {
    let folder = syrch_kit::scratch();
    let output = misbehave(role, behaviour, folder.path());
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        output.status.code(),
        Some(code),
        "{role}.{behaviour}\nstdout: {stdout}\nstderr: {stderr}"
    );
    for word in words {
        assert!(
            stderr.contains(word) || stdout.contains(word),
            "{role}.{behaviour} does not say `{word}`:\n{stdout}\n{stderr}"
        );
    }
    assert!(!stdout.contains("CANARY"), "{role}.{behaviour} leaks the guest's words");
    assert!(
        !stdout.contains('\u{1b}') && !stderr.contains('\u{202e}'),
        "{role}.{behaviour} writes control characters"
    );
    serde_json::from_str::<Value>(&stdout)
        .unwrap_or_else(|error| panic!("{role}.{behaviour}: {error}\n{stdout}"));
}

#[test]
fn a_planner_that_eats_everything_is_stopped() {
    ends("planner", "spin", 14, &["cpu-per-call"]);
    ends("planner", "sleep", 14, &["idle"]);
    ends("planner", "naps", 14, &["idle"]);
    ends("planner", "memory", 14, &["memory"]);
    ends("planner", "recursion", 14, &["wasm-stack"]);
    // Their calls to the host cost CPU time, too: it depends on the machine which limit is first.
    ends("planner", "call-flood", 14, &["hit the limit"]);
    ends("planner", "search-flood", 14, &["hit the limit"]);
    ends("planner", "huge-return", 14, &["planner.plan"]);
}

#[test]
fn retrieval_finds_no_cell_and_a_linker_names_what_there_is() {
    ends("planner", "read-cells", 14, &["LOOK: Err(PortError::Denied"]);
    ends("linker", "link-ghost", 14, &["linker.link", "ghost"]);
    ends("linker", "link-ghost-column", 14, &["linker.link", "ghost"]);
    ends("linker", "link-twice", 14, &["linker.link", "twice"]);
    ends("linker", "link-nan", 14, &["linker.link", "relevant.score"]);
}

#[test]
fn a_plugin_that_spins_while_it_is_set_up_is_refused() {
    ends("planner", "spin-in-configure", 13, &["cpu-per-call"]);
    let output = host().args(["plugin", "inspect"]).arg(zoo::mute()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(13), "{stderr}");
    assert!(stderr.contains("cpu-per-call"), "{stderr}");
}

/// A rewriter is refused when it is loaded if it imports what it would need to read rows.
#[test]
fn a_rewriter_that_could_read_rows_is_refused() {
    let inspect = |path: &Path| host().args(["plugin", "inspect"]).arg(path).output().unwrap();
    let shown = inspect(&zoo::hostile());
    assert!(
        shown.status.success() && String::from_utf8(shown.stdout).unwrap().contains("rewriter")
    );
    let folder = syrch_kit::scratch();
    let exports = r#"(instance $i) (export "syrch:plugin/rewriter@0.1.0" (instance $i)) (export "syrch:plugin/about@0.1.0" (instance $i))"#;
    for port in ["sql", "rows", "cells", "evaluate", "retrieval"] {
        let import = format!(r#"(import "syrch:plugin/{port}@0.1.0" (instance))"#);
        let path = folder.path().join(format!("{port}.wasm"));
        std::fs::write(&path, wat::parse_str(format!("(component {import} {exports})")).unwrap())
            .unwrap();
        let output = inspect(&path);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(13), "{stderr}");
        assert!(stderr.contains(&format!("syrch:plugin/{port}@0.1.0")), "{stderr}");
        assert!(
            stderr.contains("the role rewriter may import run, wait, llm, inspect, trace"),
            "{stderr}"
        );
    }
}

#[test]
fn a_trap_is_reported_with_what_the_guest_printed_before() {
    ends("planner", "trap", 14, &["trapped", "planner.plan", "it printed: ", "WORDS-in-a-panic"]);
    ends(
        "solver",
        "solver-trap",
        14,
        &["trapped", "solver.solve", "it printed: ", "WORDS-in-a-panic"],
    );
    ends("planner", "trap-in-configure", 13, &["trapped", "configure", "WORDS-in-a-panic"]);
}

#[test]
fn a_graph_that_is_none_never_starts() {
    ends("planner", "cycle", 14, &["cycle", "A", "B"]);
    ends("planner", "self-edge", 14, &["A"]);
    ends("planner", "unknown-id", 14, &["ghost"]);
    ends("planner", "unknown-answer", 14, &["ghost"]);
    ends("planner", "twice", 14, &["twice"]);
    ends("planner", "bad-id", 14, &["task.id"]);
    ends("planner", "empty", 14, &["planner.plan"]);
    ends("planner", "many-tasks", 14, &["256"]);
    ends("planner", "nan-priority", 14, &["task.priority"]);
}

#[test]
fn numbers_that_are_none_are_refused() {
    ends("solver", "nan", 14, &["raw-confidence"]);
    ends("solver", "over-one", 14, &["raw-confidence"]);
    ends("solver", "same-candidate", 14, &["twice"]);
    ends("calibrator", "nan-calibration", 14, &["calibrat"]);
    ends("calibrator", "short-calibration", 14, &["calibrat"]);
    ends("reward", "infinite-score", 14, &["opinion.score"]);
    ends("aggregator", "nan-answer", 14, &["answer.confidence"]);
    ends("aggregator", "ghost-answer", 14, &["answer.task"]);
    ends("aggregator", "ghost-candidate", 14, &["answer.candidate"]);
}

#[test]
fn floods_end_at_their_limit() {
    ends("planner", "log-flood", 0, &["over the quota"]);
    ends("planner", "print-flood", 0, &["answer"]);
    ends("solver", "sql-flood", 16, &["SQL runs"]);
    ends("solver", "llm-flood", 16, &["model calls"]);
    ends("solver", "llm-parallel", 16, &["model calls"]);
    ends("solver", "prompt-bomb", 14, &["BOMB: refused"]);
    ends("solver", "handle-leak", 14, &["handles"]);
    ends("solver", "held-bytes", 14, &["held-bytes"]);
    ends("solver", "wait-flood", 14, &["handles"]);
    ends("solver", "propose-flood", 0, &["more candidates were proposed"]);
}

#[test]
fn the_sandbox_has_nothing_in_it() {
    ends("planner", "probe", 14, &["PROBE: nothing"]);
}

#[test]
fn escape_codes_reach_no_terminal() {
    ends("planner", "escape-codes", 0, &["answer"]);
}

#[test]
fn a_statement_that_writes_changes_nothing() {
    let folder = syrch_kit::scratch();
    let before = std::fs::read(shop(folder.path())).unwrap();
    for (role, behaviour, code) in [("solver", "write", 3), ("aggregator", "write-answer", 0)] {
        let output = misbehave(role, behaviour, folder.path());
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(
        before == std::fs::read(folder.path().join("shop.sqlite")).unwrap(),
        "the database changed"
    );
}

#[test]
fn a_reward_that_rejects_all_leaves_no_answer() {
    ends("reward", "reject-all", 3, &["not good enough"]);
}

#[test]
fn an_aggregator_cannot_be_surer_than_the_calibrator() {
    let folder = syrch_kit::scratch();
    let output = misbehave("aggregator", "sure", folder.path());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let calibrated = document["candidates"][0]["confidence"].as_f64().unwrap();
    assert!(calibrated < 1.0);
    assert_eq!(document["confidence"]["calibrated"].as_f64(), Some(calibrated), "{document}");
}

#[test]
fn the_next_search_is_as_good_as_before() {
    let folder = syrch_kit::scratch();
    let good = || -> Value {
        let output = misbehave("solver", "none", folder.path());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
        for changing in ["run", "time_ms", "plugins"] {
            document.as_object_mut().unwrap().remove(changing);
        }
        document
    };
    let before = good();
    misbehave("planner", "memory", folder.path());
    misbehave("solver", "solver-trap", folder.path());
    assert_eq!(before, good());
}

/// Asks a question under a limit of the shell.
#[cfg(target_os = "linux")]
fn ask_under(limit: &str) -> Output {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let host = host();
    let mut shell = Command::new("sh");
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
        .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
        .arg(host.get_program())
        .args(["--llm", "offline", "-q", "How many customers are there?", "--db"])
        .arg(&database)
        .output()
        .unwrap()
}

/// 32 GiB of addresses: enough for stores, not for a pool of them.
#[cfg(target_os = "linux")]
#[test]
fn where_addresses_are_scarce_plugins_run_all_the_same() {
    let asked = ask_under("-v 33554432");
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn with_few_descriptors_there_is_an_answer_or_an_error() {
    let mut answered = 0;
    for most in [12, 20, 28, 40, 64] {
        let asked = ask_under(&format!("-n {most}"));
        let said = String::from_utf8_lossy(&asked.stderr).into_owned();
        // No signal ended it, and no panic.
        let code = asked.status.code().unwrap_or_else(|| panic!("{most}: {said}"));
        assert!(code != 101 && !said.contains("panicked"), "{most}: {code}: {said}");
        assert!(code == 0 || said.contains("error"), "{most}: {code}: {said}");
        answered += usize::from(code == 0);
    }
    assert!(answered > 0, "64 descriptors are enough");
}

/// The parts of a component are bounded before it runs: the sum of memories, tables and
/// instances, and the time of start functions.
#[test]
fn parts_of_a_component_are_bounded() {
    let folder = syrch_kit::scratch();
    let path = folder.path().join("parts.wasm");
    let hostile = std::fs::read(zoo::hostile()).unwrap();
    let spins = "(module (func $f (loop (br 0))) (start $f))";
    for (module, instances, word) in [
        (spins, 1, "cpu-per-call"),
        ("(module (memory 1))", 40, "memor"),
        ("(module)", 500, "instance count"),
        ("(module (table 200000 funcref))", 1, "table"),
        ("(module (memory 5000))", 1, "memory"),
        ("(module (memory i64 1))", 1, "memory64"),
    ] {
        std::fs::write(&path, zoo::with_instances(hostile.clone(), module, instances)).unwrap();
        let start = Instant::now();
        let output = host().args(["plugin", "inspect"]).arg(&path).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(13), "{module}: {stderr}");
        assert!(stderr.contains(word), "{module}: {stderr}");
        assert!(start.elapsed() < Duration::from_secs(120), "{module}");
    }
}

/// A server whose messages have impossible lengths, or never end.
#[test]
fn a_server_that_lies_about_its_messages_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let lies: [&[u8]; 4] = [
        b"R\x7f\xff\xff\xff",
        b"R\x00\x00\x00\x00",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"N\x00\x00\x00\x0aSx\x00\x00\x00\x00",
    ];
    std::thread::spawn(move || {
        for (number, connection) in listener.incoming().enumerate() {
            let Ok(mut connection) = connection else { return };
            std::thread::spawn(move || {
                let lie = lies[number % lies.len()];
                // The start of the client; without encryption.
                drop(connection.read(&mut [0; 512]));
                for _ in 0..100_000 {
                    if connection.write_all(lie).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let url = format!("postgres://ann@127.0.0.1:{port}/shop?sslmode=disable");
    for _ in lies {
        let start = Instant::now();
        let output = host().args(["schema", &url]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(11), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(start.elapsed() < Duration::from_secs(60), "{stderr}");
    }
}
