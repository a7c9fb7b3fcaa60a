//! Runs over a small suite: what their manifest holds, what they read, and how they are resumed.

mod resumed;
mod started;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use syrch::plugins::CompileSettings;
use syrch::{Observer as SearchObserver, Silent};

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";

/// A suite of three questions beside its database, and what else a run reads.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(syrch_kit::scratch());
        syrch_kit::sqlite(home.path("shop.sqlite"), SHOP);
        home.suite(&[
            "SELECT COUNT(*) FROM customers",
            "SELECT MAX(id) FROM customers",
            "SELECT MIN(id) FROM customers",
        ]);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Writes a suite with a question for each of these expected statements.
    fn suite(&self, golds: &[&str]) {
        let line = |(at, gold): (usize, &&str)| {
            json!({
                "id": format!("q{at}"), "db": "shop", "question": format!("What is it (q{at})?"),
                "gold_sql": gold
            })
        };
        let lines: Vec<Value> = golds.iter().enumerate().map(line).collect();
        self.file("suite.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    fn options(&self) -> SuiteOptions {
        SuiteOptions {
            suite: self.path("suite.jsonl"),
            databases: None,
            rule: Rule::default(),
            workers: 1,
            shard: None,
            runs: self.path("runs"),
            resume: None,
            folder: None,
            wave: None,
            retry_failed: false,
            budgets: RunBudgets::default(),
            max_outages: 0,
            traces: Traces::None,
            stop_early: false,
            seeds: 1,
            asks_ungraded: false,
            answers: Vec::new(),
            fuzz: None,
            timed: 0,
        }
    }

    fn settings(&self) -> Settings {
        // Plugins are compiled once.
        Settings {
            compile: CompileSettings::in_folder(&self.path("compiled")),
            ..Settings::default()
        }
    }

    async fn open(&self, arms: Vec<Settings>, options: SuiteOptions) -> Result<SuiteRun, Error> {
        let arms = (0..).zip(arms).map(|(at, arm)| (format!("arm{at}"), arm)).collect();
        let observer: Arc<dyn SearchObserver> = Arc::new(Silent);
        SuiteRun::open(arms, options, &observer).await
    }

    /// The header of a run with these settings.
    async fn header(&self, settings: Settings) -> Header {
        self.open(vec![settings], self.options()).await.unwrap().header
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_is_read_is_an_input() {
    let home = Home::new();
    let mut one = home.settings();
    let two = home.settings();
    let strategy = home.file("own.yml", "name: own\nroles: {solver: consistency}\n");
    syrch::strategies::find(strategy.to_str().unwrap()).unwrap().apply(&mut one);
    let solver = home.file("solver.wasm", syrch::plugins::builtin_component("refine").unwrap());
    one.strategy.roles.insert(
        syrch_core::roles::Role::Solver,
        syrch::settings::PluginSource::File(solver.clone()),
    );
    (one.retrieval.notes, one.retrieval.examples) =
        (Some(home.file("notes.txt", "")), Some(home.file("examples.jsonl", "")));
    let rows = home.file("rows.csv", "n\n2\n");
    let question = json!({"id": "q", "db": "shop", "question": "?", "expected_data": "rows.csv"});
    home.file("suite.jsonl", format!("{question}\n"));
    let run = home.open(vec![one.clone(), one, two], home.options()).await.unwrap();
    let mut expected = vec![
        ("the suite", home.path("suite.jsonl")),
        ("a database of the suite", home.path("shop.sqlite")),
        ("a database of the suite", home.path("shop.sqlite-journal")),
        ("a database of the suite", home.path("shop.sqlite-shm")),
        ("a database of the suite", home.path("shop.sqlite-wal")),
        ("expected rows", rows),
        ("a strategy file in use", strategy),
        ("a plugin of the run", solver),
        ("the notes", home.path("notes.txt")),
        ("the solved examples", home.path("examples.jsonl")),
    ];
    expected.sort();
    assert_eq!(run.inputs(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_arm_is_shown_what_is_graded_and_that_is_reported_once() {
    let home = Home::new();
    let lines =
        [("Which is the last?", "select max(c.id) AS last from customers c"), ("And?", "SELECT 1")];
    let lines =
        lines.map(|(question, sql)| format!("{}\n", json!({"question": question, "sql": sql})));
    let examples = home.file("examples.jsonl", lines.concat());
    let notes = home.file(
        "notes.txt",
        "use SELECT MIN(id) FROM customers for it\nids begin at 1\nWhat is it (q0)?\n",
    );
    let mut arm = home.settings();
    (arm.retrieval.notes, arm.retrieval.examples) = (Some(notes), Some(examples));
    let run = home.open(vec![arm.clone(), arm, home.settings()], home.options()).await.unwrap();
    let reported =
        "1 solved example and 2 notes hold a graded question or its answer, and are left out";
    assert_eq!(run.warnings(), [reported]);
    let catalog = run.arena.database("shop").await.unwrap().catalog().await.unwrap();
    for arm in run.arena.arms().iter().take(2) {
        let sources =
            syrch::knowledge::Knowledge::read(&arm.retrieval, &catalog).unwrap().0.sources;
        let solved: Vec<&str> =
            sources.examples.iter().map(|example| example.sql.as_str()).collect();
        let notes: Vec<&str> = sources.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!((solved, notes), (vec!["SELECT 1"], vec!["ids begin at 1"]));
    }
}
