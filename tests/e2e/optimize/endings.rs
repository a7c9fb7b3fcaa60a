//! Tests of the ends of `optimize`: exit codes on which a script can rely.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::{FAST, SLOW, Slow, document, proposes};
use crate::bad_input::{assert_refused, finish, read_streams};

/// A script can rely on 0: the rows are the same, and the speed-up is confirmed or there is none.
#[test]
fn a_speed_up_that_is_not_confirmed_ends_with_3() {
    let slow = Slow::new();
    let endpoint = proposes(FAST);
    // So few pairs confirm nothing.
    let flags = "--accept-data-sent --iterations 1 --pairs 3";
    let found = document(&mut slow.by_model(&endpoint, SLOW, flags), 3);
    assert_eq!(
        (&found["outcome"], &found["confirmation"]["confirmed"]),
        (&json!("OPTIMIZED"), &json!(false))
    );
    let warnings = found["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning.as_str().unwrap().contains("not confirmed")),
        "{found:#}"
    );
    let output = finish(&mut slow.by_model(&endpoint, SLOW, flags), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("not confirmed") && stderr.contains("--pairs"), "{stderr}");
    assert_eq!(slow.rows(&stdout), slow.rows(SLOW));
    // A replay ends as the run did.
    let run = found["run"].as_str().unwrap();
    assert_eq!(document(&mut slow.words(&format!("trace replay --strict {run}")), 3), found);
}

#[test]
fn the_deadline_is_a_budget() {
    let slow = Slow::with_rows(300, 60_000);
    let output = finish(&mut slow.optimize(SLOW, "--deadline 0.2"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(16), "{stderr}");
    assert!(stderr.contains("deadline") && !stdout.is_empty(), "{stdout}{stderr}");
}

/// AR-D10: what the configuration says applies.
#[test]
fn the_configuration_applies() {
    let slow = Slow::new();
    let home = slow.path().join("home/.syrch");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.yml"), "execution: {max_rows: 50}\n").unwrap();
    let found = document(&mut slow.optimize(SLOW, ""), 3);
    assert_eq!(found["outcome"], json!("UNSUPPORTED_TOO_LARGE"), "{found:#}");
    assert!(found["reason"].as_str().unwrap().contains("50 rows"), "{found:#}");
    std::fs::write(home.join("config.yml"), "plugins: {rewriter: nobody.wasm}\n").unwrap();
    assert_refused(&mut slow.optimize(SLOW, ""), 13, &["nobody.wasm"]);
}

/// A writer ends the work with an error, whatever was accepted before.
#[test]
fn a_writer_ends_with_11_and_the_statement_as_it_was() {
    let slow = Slow::with_rows(200, 20_000);
    let path = slow.path().join("slow.sqlite");
    let stop = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = rusqlite::Connection::open(&path).unwrap();
            while !stop.load(Ordering::Relaxed) {
                // It fails while somebody reads.
                let _ = writer.execute("INSERT INTO orders(customer_id, total) VALUES (1, 1)", []);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let found = std::panic::catch_unwind(|| document(&mut slow.optimize(SLOW, ""), 11));
        stop.store(true, Ordering::Relaxed);
        found.unwrap()
    });
    assert_eq!(
        (&found["outcome"], &found["best"]),
        (&json!("ERROR"), &found["original"]),
        "{found:#}"
    );
}
