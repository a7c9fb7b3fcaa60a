//! A folder of recorded answers and searches over them, which these tests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use syrch::plugins::CompileSettings;
use syrch::syrch_core::Problem;
use syrch::{Error, Host, SearchReport, Settings, Silent, Stop};

/// The question over both databases that [`suite`] has answers to.
pub(crate) const QUESTION: &str = "How many are there?";

/// Makes two databases of one table, with one question for both and the answers of three systems.
pub(crate) fn suite(folder: &Path) -> PathBuf {
    for name in ["farm", "shop"] {
        let script =
            "CREATE TABLE items(id INTEGER PRIMARY KEY); INSERT INTO items VALUES (1), (2);";
        syrch_kit::sqlite(folder.join(format!("{name}.sqlite")), script);
    }
    let lines =
        |lines: Vec<Value>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let question = |id: &str, db: &str| {
        json!({
            "id": id, "db": db, "question": QUESTION, "gold_sql": "SELECT 'gold'"
        })
    };
    let candidate = |sql: String| json!({"sql": sql, "ex": 1, "bird_ex": 0, "err": 0});
    let answers = |id: &str, from: u32| {
        let said = |n: u32| candidate(format!("SELECT COUNT(*) + {n} AS n FROM items"));
        json!({"id": id, "candidates": {"a": said(from), "b": said(from + 1), "c": said(from + 2)}})
    };
    std::fs::write(
        folder.join("questions.jsonl"),
        lines(vec![question("f", "farm"), question("s", "shop")]),
    )
    .unwrap();
    let path = folder.join("recorded.jsonl");
    std::fs::write(&path, lines(vec![answers("f", 10), answers("s", 20)])).unwrap();
    path
}

/// A search of that database, with the recorded answers of that file.
pub(crate) fn settings(database: &Path, recorded: &Path) -> Settings {
    let mut settings = Settings { database: database.display().to_string(), ..Settings::default() };
    settings.model.replay = Some(recorded.to_owned());
    settings.compile =
        CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    settings
}

pub(crate) async fn ask(host: &Host, question: &str) -> Result<SearchReport, Error> {
    host.search(Problem::new(question), Arc::new(Silent), None, &Stop::new()).await
}

pub(crate) async fn search(settings: Settings, question: &str) -> Result<SearchReport, Error> {
    ask(&Host::open(settings, &Silent).await?, question).await
}
