//! Real statements, of people and of models: the guard refuses no name that the engine accepts.
use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::common::{data, runtime};
use serde_json::Value as Json;
use syrch_core::ports::{Database, SqlQuery};
use syrch_guard::Unresolved;
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

fn lines(file: &Path) -> Vec<Json> {
    std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Each set's statements by database: golds with their alternatives, and what published systems
/// answered.
fn statements(folder: &Path) -> HashMap<String, HashSet<(String, bool)>> {
    let mut all: HashMap<String, HashSet<(String, bool)>> = HashMap::new();
    let mut database_of = HashMap::new();
    for line in lines(&folder.join("questions.jsonl")) {
        let database = line["db"].as_str().unwrap().to_owned();
        let others = line["gold_alternatives"].as_array().cloned().unwrap_or_default();
        let golds = std::iter::once(line["gold_sql"].clone()).chain(others);
        all.entry(database.clone())
            .or_default()
            .extend(golds.map(|gold| (gold.as_str().unwrap().to_owned(), true)));
        database_of.insert(line["id"].as_str().unwrap().to_owned(), database);
    }
    let recorded = folder.join("recorded.jsonl");
    for line in if recorded.is_file() { lines(&recorded) } else { Vec::new() } {
        let answers = line["candidates"]
            .as_object()
            .unwrap()
            .values()
            .filter_map(|answer| answer["sql"].as_str());
        if let Some(database) = database_of.get(line["id"].as_str().unwrap()) {
            all.entry(database.clone())
                .or_default()
                .extend(answers.map(|answer| (answer.to_owned(), false)));
        }
    }
    all
}

#[test]
fn the_guard_agrees_with_the_engine() {
    let Some(data) = data() else { return };
    let runtime = runtime();
    let mut golds = 0;
    let mut answers = 0;
    let mut unparsed = 0;
    let mut refused = 0;
    let mut wrong = Vec::new();
    for set in ["spider", "defog"] {
        for (name, statements) in statements(&data.join(set)) {
            let path = data.join(set).join("db").join(format!("{name}.sqlite"));
            let database = SqliteDatabase::open(SqliteConfig::new(path)).unwrap();
            let catalog = runtime.block_on(database.catalog()).unwrap();
            for (sql, is_gold) in statements {
                let sql = syrch_guard::with_single_quotes(&sql, &catalog).unwrap_or(sql);
                *(if is_gold { &mut golds } else { &mut answers }) += 1;
                let checked = runtime.block_on(database.check(&SqlQuery::new(sql.as_str())));
                let resolved = syrch_guard::facts(&sql, &[], &catalog);
                refused += usize::from(checked.is_err());
                unparsed += usize::from(
                    checked.is_ok() && matches!(resolved, Err(Unresolved::Unparsed(_))),
                );
                match (&checked, &resolved) {
                    (Err(error), _) if is_gold => wrong.push(format!("{error:?}: {sql}")),
                    (Ok(_), Err(Unresolved::Refused(error))) => {
                        wrong.push(format!("{error:?}: {sql}"))
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{golds} golds, {answers} answers, {refused} refused, {unparsed} left to the engine");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(golds > 500 && answers > 2_000 && refused > 20 && unparsed * 50 < golds + answers);
}
