//! Measures how many of the tables and columns that questions need are selected from a catalog of
//! 500 tables.
//!
//! A gold's tables and columns are those of its statement's facts, resolved against the whole
//! catalog. The linker is given the question's own text, and nothing of the gold.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

mod figures;
mod host;
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use narrow::Narrow;
use serde_json::Value;
use syrch_core::ports::{Database, SqlQuery as Statement};
use syrch_plugin::brief::{Brief, PromptSize};
use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;
use syrch_retrieval::{Index, Sources};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};
use tokio::runtime::Runtime;

use crate::figures::Figures;
use crate::host::LinkerWorld;
use crate::world::{TABLES, World};

/// Characters that a prompt may have.
const PROMPT: usize = 6_000;

struct Asked {
    id: String,
    question: String,
    tables: BTreeSet<String>,
    columns: BTreeSet<String>,
}

/// The questions of a set with what their golds need, in lower case.
fn questions(root: &Path, set: &str, runtime: &Runtime, database: &SqliteDatabase) -> Vec<Asked> {
    let text = std::fs::read_to_string(root.join(set).join("questions.jsonl")).unwrap();
    let mut asked = Vec::new();
    let mut unread = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let gold = line["gold_sql"].as_str().unwrap();
        let id = line["id"].as_str().unwrap().to_owned();
        match runtime.block_on(database.check(&Statement::new(gold))) {
            Ok(facts) => asked.push(Asked {
                id,
                question: line["question"].as_str().unwrap().to_owned(),
                tables: facts.tables.iter().map(|name| name.to_lowercase()).collect(),
                columns: facts.columns.iter().map(|name| name.to_lowercase()).collect(),
            }),
            Err(error) => unread.push(format!("{id}: {}", error.message)),
        }
    }
    assert!(unread.len() * 50 <= asked.len(), "golds that cannot be read: {unread:#?}");
    asked
}

/// The catalog that the other roles get.
fn narrow_catalog(catalog: &Catalog, linked: &Linked) -> Catalog {
    let tables = linked
        .tables
        .iter()
        .map(|relevant: &Relevant| {
            let mut table =
                catalog.tables.iter().find(|table| table.name == relevant.table).unwrap().clone();
            table.columns.retain(|column| {
                relevant.columns.is_empty() || relevant.columns.contains(&column.name)
            });
            table
        })
        .collect();
    Catalog {
        database: catalog.database.clone(),
        dialect: Dialect::Sqlite,
        tables,
        ..Catalog::default()
    }
}

/// Recall and precision of tables and of columns.
struct Measured {
    tables: Figures,
    columns: Figures,
}

/// Links all questions of a set, and says what is missing. No prompt may be longer than it should.
fn measure(name: &str, asked: &[Asked], catalog: &Catalog, mut world: LinkerWorld<'_>) -> Measured {
    let linker = Narrow::new(Settings::read("").unwrap());
    let mut measured = Measured { tables: Figures::default(), columns: Figures::default() };
    let mut longest = 0;
    let mut missed = Vec::new();
    for asked in asked {
        world.others = FakeHost::default();
        let problem = Problem::new(asked.question.as_str());
        let linked = linker.link(&world, &problem, catalog).unwrap();
        assert!(!linked.tables.is_empty(), "{}: nothing was narrowed", asked.id);
        let shown = narrow_catalog(catalog, &linked);
        let hinted = Problem { hints: linked.hints, ..problem };
        longest = longest.max(prompt_of(&shown, &hinted));
        let names: BTreeSet<String> =
            shown.tables.iter().map(|table| table.name.to_lowercase()).collect();
        let gone: Vec<&String> = asked.tables.difference(&names).collect();
        if !gone.is_empty() {
            missed.push(format!("{} {gone:?}: {}", asked.id, asked.question));
        }
        measured.tables.add(&asked.tables, &names);
        measured.columns.add(&asked.columns, &paths(&shown));
    }
    println!("{}", measured.tables.line(&format!("{name}, tables")));
    println!("{}", measured.columns.line(&format!("{name}, columns")));
    println!(
        "{name}: the longest prompt has {longest} characters; a table is missing in {}",
        missed.len()
    );
    println!("  {}", missed.join("\n  "));
    assert!(longest <= PROMPT, "{name}: {longest} characters");
    measured
}

/// Characters of the prompt for a statement, as the solvers write it: instructions, catalog,
/// question and hints.
fn prompt_of(catalog: &Catalog, problem: &Problem) -> usize {
    let size = PromptSize { catalog_bytes: 48_000, parent_rows: 3 };
    let task = Task::new("A", problem.question.as_str());
    let request =
        Brief::new(&FakeHost::default(), size, problem, catalog, &task, &[]).request(&[], 0);
    request.messages.iter().map(|message| message.text.chars().count()).sum()
}

fn paths(catalog: &Catalog) -> BTreeSet<String> {
    catalog
        .tables
        .iter()
        .flat_map(|table: &Table| {
            table
                .columns
                .iter()
                .map(|column: &Column| format!("{}.{}", table.name, column.name).to_lowercase())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
#[ignore = "a measurement: `make figures` makes it"]
fn what_questions_need_is_selected_from_500_tables() {
    let Some(root) = syrch_kit::data_root() else { return };
    let world = World::new(&root);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let database = SqliteDatabase::open(SqliteConfig::new(&world.path)).unwrap();
    let plain = runtime.block_on(database.catalog()).unwrap();
    assert_eq!(plain.tables.len(), TABLES);
    let index = Index::new(&plain, &Sources::default());
    let catalog = host::catalog(&plain);
    let seen = RefCell::default();
    for (set, with_cells, without) in [("spider", 0.98, 0.95), ("defog", 0.95, 0.95)] {
        let asked = questions(&root, set, &runtime, &database);
        for (cells, least) in [(Some(&database), with_cells), (None, without)] {
            let lent = LinkerWorld {
                runtime: &runtime,
                index: &index,
                cells,
                seen: &seen,
                others: FakeHost::default(),
            };
            let name = format!("{set} {} cells", if cells.is_some() { "with" } else { "without" });
            let Measured { tables, columns } = measure(&name, &asked, &catalog, lent);
            assert!(tables.recall() >= least, "{name}: {:.4} of the tables", tables.recall());
            assert!(columns.recall() >= least, "{name}: {:.4} of the columns", columns.recall());
        }
    }
}
