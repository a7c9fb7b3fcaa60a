//! The expected statements of defog: how many are admitted, and whether each of those gives the
//! same rows by whatever plan the server runs it.
#![allow(clippy::print_stdout, reason = "a measurement prints what it measured")]

use std::collections::BTreeMap;

use serde_json::Value;
use syrch_core::ports::{Bench, Compared};
use syrch_core::text::clip;

use super::*;

/// Settings that take from the planner what it would choose.
const PLANS: &[&str] = &[
    "enable_hashjoin",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_hashagg",
    "enable_sort",
    "enable_seqscan",
    "enable_indexscan",
    "enable_material",
];

/// Databases of the golds with statistics, indexes, and a role that only reads.
fn databases(server: &Server, data: &std::path::Path) {
    for entry in std::fs::read_dir(data.join("postgres")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        server.database(&name, &std::fs::read_to_string(&path).unwrap());
        let tables = server.psql(
            &name,
            "SELECT table_name || '.' || column_name FROM information_schema.columns \
             WHERE table_schema = 'public'",
        );
        let indexes: String = tables
            .unwrap()
            .lines()
            .map(|column: &str| {
                let (table, column) = column.split_once('.').unwrap();
                format!("CREATE INDEX ON public.\"{table}\" (\"{column}\");")
            })
            .collect();
        let role = format!(
            "{indexes} CREATE ROLE {name} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO \
             {name}; ANALYZE"
        );
        server.psql(&name, &role).unwrap();
    }
}

/// The id, the database and the statement of each question, every `step`th of them.
fn golds(data: &std::path::Path, step: usize) -> Vec<(String, String, String)> {
    let lines = std::fs::read_to_string(data.join("questions_postgres.jsonl")).unwrap();
    fn text(line: &Value, name: &str) -> String {
        line[name].as_str().unwrap().to_owned()
    }
    lines
        .lines()
        .map(|line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            (text(&line, "id"), text(&line, "db"), text(&line, "gold_sql"))
        })
        .step_by(step)
        .collect()
}

/// Admits every `step`th gold, and compares its rows with those that it has without each of the
/// plans' parts; returns how many there are, how many are admitted, and what is wrong.
async fn measure_golds(step: usize, plans: &[&str]) -> Option<(usize, usize, Vec<String>)> {
    let data = syrch_kit::data_root()?.join("defog");
    let server = Server::start()?;
    databases(&server, &data);
    let golds = golds(&data, step);
    let mut benches = BTreeMap::new();
    let mut refused = BTreeMap::<String, usize>::new();
    let mut wrong = Vec::new();
    let mut admitted = 0;
    for (id, db, sql) in &golds {
        if !benches.contains_key(db) {
            let mut of = vec![bench(&server, db, db).await];
            for plan in plans {
                server.psql(db, &format!("ALTER ROLE {db} SET {plan} = off")).unwrap();
                let mut other = bench(&server, db, db).await;
                other.snapshot().await.unwrap();
                of.push(other);
                server.psql(db, &format!("ALTER ROLE {db} RESET {plan}")).unwrap();
            }
            benches.insert(db.clone(), of);
        }
        let Some(of) = benches.get_mut(db) else { continue };
        let statement = match of[0].admit(sql, None).await {
            Ok(statement) => statement,
            Err(error) => {
                *refused.entry(error.rule.clone().unwrap_or_default()).or_default() += 1;
                println!(
                    "{id} {}: {}: {}",
                    error.rule.unwrap_or_default(),
                    error.message,
                    clip(sql, 150)
                );
                continue;
            }
        };
        admitted += 1;
        if let Err(error) = of[0].columns(&statement).await {
            println!("{id}: {error:?}");
            continue;
        }
        let own = of[0].rows(&statement.sql).await.unwrap();
        for (plan, other) in plans.iter().zip(&mut of[1..]) {
            let rows = other.rows(&statement.sql).await.unwrap();
            // Rows that tie in their order may change places.
            if !matches!(own.compare(&rows, true), Compared::Equal(_) | Compared::Reordered) {
                wrong.push(format!("{id} without {plan}: {sql}"));
            }
        }
    }
    println!("{admitted} of {} admitted; refused: {refused:?}", golds.len());
    Some((golds.len(), admitted, wrong))
}

#[tokio::test(flavor = "multi_thread")]
async fn some_golds_give_the_same_rows_by_other_plans() {
    let Some((golds, admitted, wrong)) = measure_golds(9, &PLANS[..2]).await else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(golds > 12 && admitted * 2 > golds, "{admitted} of {golds}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: make figures"]
async fn all_golds_give_the_same_rows_by_other_plans() {
    let Some((golds, admitted, wrong)) = measure_golds(1, PLANS).await else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The gate `support` of a run over a corpus.
    assert!(admitted * 10 >= golds * 6, "{admitted} of {golds}");
}
