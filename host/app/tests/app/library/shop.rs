//! A small shop, and the prompts of the built-in strategy, which these tests share.

use std::path::{Path, PathBuf};

use serde_json::json;
use syrch::plugins::CompileSettings;
use syrch::{Provider, Settings};
use syrch_kit::Reply;

/// A text that only prompts for a plan contain.
pub(crate) const PLAN: &str = "You plan how to answer";
/// A text that only prompts for a statement contain.
pub(crate) const WRITE: &str = "You answer questions with one";

/// Returns a text that only prompts for that subtask contain.
pub(crate) fn task_prompt(description: &str) -> String {
    format!("Your task is this part of it: {description}\n")
}

/// A plan of subtasks: id, description, dependencies.
pub(crate) fn plan(subtasks: &[(&str, &str, &[&str])]) -> Reply {
    let subtasks = subtasks.iter().map(|(id, text, depends_on)| {
        json!({"id": id, "description": text, "depends_on": depends_on, "is_atomic": true})
    });
    Reply::json(&json!({ "subtasks": subtasks.collect::<Vec<_>>() }))
}

/// The shop's database, made once in that folder.
pub(crate) fn shop(folder: &Path) -> PathBuf {
    let path = folder.join("shop.sqlite");
    if path.exists() {
        return path;
    }
    syrch_kit::sqlite(
        path,
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), \
           quantity INTEGER, price REAL);
         INSERT INTO customers VALUES (1,'Anna','France'),(2,'Ben','Spain'),(3,'Clara','France');
         INSERT INTO orders VALUES (1,1,2,20.0),(2,1,1,150.0),(3,2,4,75.5),(4,3,1,20.0);",
    )
}

/// A search of that database with a model there.
pub(crate) fn settings(database: &Path, url: &str) -> Settings {
    let mut settings = Settings { database: database.display().to_string(), ..Settings::default() };
    settings.model.provider = Provider::OPENAI;
    url.clone_into(&mut settings.model.base_url);
    "mock".clone_into(&mut settings.model.model);
    settings.compile =
        CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    settings
}
