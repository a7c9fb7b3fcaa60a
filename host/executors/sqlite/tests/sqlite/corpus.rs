//! The corpus of hostile and benign statements: every hostile one is refused or stopped without
//! effect, no benign one is refused.
use std::path::Path;

use crate::common::{Fixture, data, hasty, runtime};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use syrch_core::SqlError;
use syrch_core::ports::{Database, SqlQuery};
use syrch_kit::corpus::{lines, text};
use syrch_sqlite::SqliteDatabase;

fn digest(path: &Path) -> Vec<u8> {
    Sha256::digest(std::fs::read(path).unwrap()).to_vec()
}

/// Everything that a hostile statement may come to: refused, stopped, or cut short.
fn verdicts(
    database: &SqliteDatabase,
    lines: &[Json],
) -> Vec<(String, String, Result<bool, SqlError>)> {
    let runtime = &runtime();
    std::thread::scope(|scope| {
        let chunks: Vec<Vec<&Json>> =
            (0..8).map(|n| lines.iter().skip(n).step_by(8).collect()).collect();
        let threads: Vec<_> = chunks
            .into_iter()
            .map(|chunk| {
                scope.spawn(move || {
                    chunk
                        .into_iter()
                        .map(|line: &Json| {
                            let sql = text(line);
                            let verdict =
                                runtime.block_on(database.run(&SqlQuery::new(sql.as_str())));
                            let id = line["id"].as_str().unwrap().to_owned();
                            (id, sql, verdict.map(|result| result.is_truncated()))
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Runs the statements of a folder: no hostile one has an effect, and no benign one is refused.
fn check(folder: &Path, schema: &str, tables: &[&str]) {
    let fixture = Fixture::new(&std::fs::read_to_string(folder.join(schema)).unwrap());
    let mut config = hasty(&fixture);
    config.limits.sql_in_flight = 8;
    config.tables = tables.iter().map(|&table| table.to_owned()).collect();
    let before = (digest(&fixture.path), fixture.names());

    let database = SqliteDatabase::open(config).unwrap();
    let mut wrong = Vec::new();
    let hostile = lines(&folder.join("hostile.jsonl"), "sqlite");
    for (id, sql, verdict) in verdicts(&database, &hostile) {
        let line = hostile.iter().find(|line| line["id"] == id.as_str()).unwrap();
        let refused = match (&verdict, line["stop"].as_str().unwrap()) {
            (Err(error), "static" | "policy") => {
                // Refused for what it is, never for the time it took.
                !matches!(error.rule.as_deref(), Some("deadline" | "memory"))
                    && !error.message.is_empty()
            }
            (Err(_) | Ok(true), "limit") => true,
            // Some heavy ones are light for an engine that computes a constant once: harmless
            // within the limits.
            (Ok(false), "limit") => line["class"] == "dos_time",
            _ => false,
        };
        if !refused {
            wrong.push(format!("{id} {verdict:?}: {}", syrch_core::text::clip(&sql, 200)));
        }
    }
    // The benign ones run on the connections that the hostile ones left behind.
    let benign = lines(&folder.join("benign.jsonl"), "sqlite");
    for (id, sql, verdict) in verdicts(&database, &benign) {
        if let Err(error) = verdict {
            wrong.push(format!("{id} {error:?}: {sql}"));
        }
        let checked = runtime().block_on(database.check(&SqlQuery::new(sql.as_str())));
        if let Err(error) = checked {
            wrong.push(format!("{id} check {error:?}: {sql}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        hostile.len() > 100 && benign.len() > 50,
        "{} hostile, {} benign",
        hostile.len(),
        benign.len()
    );

    drop(database);
    assert_eq!((digest(&fixture.path), fixture.names()), before);
}

/// The statements of this repository, so that a fresh clone alone tests the guard.
#[test]
fn own_hostile_statements_have_no_effect_and_benign_ones_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/sql");
    check(&folder, "schema.sql", &["*"]);
}

#[test]
fn hostile_statements_have_no_effect_and_benign_ones_run() {
    let Some(data) = data() else { return };
    let tables = [
        "customers",
        "products",
        "order*",
        "employees",
        "events",
        "canary",
        "notes_fts",
        "v_revenue",
        "trig_t",
    ];
    check(&data.join("sql-guard"), "schema_sqlite.sql", &tables);
}
