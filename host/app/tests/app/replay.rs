//! Replays: a run is repeated from its journal alone, byte for byte, whatever happened in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch::journal::{Journal, RowRetention};
use syrch::plugins::CompileSettings;
use syrch::syrch_core::{Problem, Question};
use syrch::{Ask, Error, Host, Provider, SearchReport, Settings, Silent, Stop};
use syrch_kit::{MockEndpoint, Reply, Script, shop};

use serde_json::{Value, json};

/// A text that only prompts for a plan contain.
const PLAN: &str = "You plan how to answer";
/// A text that only prompts for a statement contain.
const WRITE: &str = "You answer questions with one";

/// A text that only prompts for a question to the user contain.
const CLARIFY: &str = "could not tell what the user means";

fn subtask(id: &str, description: &str, depends_on: &[&str]) -> Value {
    json!({"id": id, "description": description, "depends_on": depends_on, "is_atomic": true})
}

fn plan(subtasks: &[Value]) -> Reply {
    Reply::json(&json!({ "subtasks": subtasks }))
}

fn whole() -> Reply {
    plan(&[subtask("A", "the whole question", &[])])
}

/// Returns a text that only prompts for that subtask contain.
fn for_task(description: &str) -> String {
    format!("Your task is this part of it: {description}\n")
}

/// A run to be recorded.
struct Case {
    script: Script,
    question: &'static str,
    answers: Option<&'static str>,
    stop_after: Option<Duration>,
    tweak: fn(&mut Settings),
}

impl Case {
    fn new(question: &'static str, script: Script) -> Self {
        Self { script, question, answers: None, stop_after: None, tweak: |_| () }
    }
}

/// The user, who always answers the same.
struct User(&'static str);

#[async_trait]
impl Ask for User {
    async fn ask(&self, _: &Question) -> Option<String> {
        Some(self.0.to_owned())
    }
}

fn today() -> Settings {
    let compile =
        CompileSettings::in_folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-cache"));
    Settings { compile, ..Settings::default() }
}

fn settings(database: &Path, url: &str, folder: &Path) -> Settings {
    let mut settings = Settings { database: database.display().to_string(), ..today() };
    settings.model.provider = Provider::OPENAI;
    settings.model.base_url = url.to_owned();
    settings.model.model = "mock".to_owned();
    settings.journal.folder = Some(folder.join("runs"));
    settings
}

/// Returns the result of a run, as text that must be equal.
fn result_text(report: &Result<SearchReport, Error>) -> String {
    match report {
        Ok(report) => {
            format!("{:?} {}", report.outcome, serde_json::to_string(&report.document).unwrap())
        }
        Err(error) => format!("error {error}"),
    }
}

/// Makes one run; its journal and what it came to.
async fn record(case: &Case, endpoint: &MockEndpoint, folder: &Path) -> (PathBuf, String) {
    let mut settings = settings(&shop(folder), &endpoint.url(), folder);
    (case.tweak)(&mut settings);
    let host = Host::open(settings, &Silent).await.unwrap();
    let user = case.answers.map(User);
    let stop = Stop::new();
    let problem = Problem::new(case.question);
    if let Some(after) = case.stop_after {
        let stop = stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            stop.trigger();
        });
    }
    let ask = user.as_ref().map(|user| user as &dyn Ask);
    let reported = result_text(&host.search(problem, Arc::new(Silent), ask, &stop).await);
    let mut journals: Vec<_> =
        std::fs::read_dir(folder.join("runs")).unwrap().map(|file| file.unwrap().path()).collect();
    journals.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
    (journals.pop().unwrap(), reported)
}

/// Three tasks side by side and two on top, with repairs, and delays that differ from run to run.
fn wide(seed: u64) -> Script {
    let delay = move |n: u64| {
        (seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n * 1_442_695_040) >> 33) % 25
    };
    let tasks = [
        subtask("A", "the customers from France", &[]),
        subtask("B", "the worth of each order", &[]),
        subtask("C", "the number of products", &[]),
        subtask("D", "what each of them spent", &["A", "B"]),
        subtask("E", "everything together", &["D", "C"]),
    ];
    let worth = for_task("the worth of each order");
    Script::new()
        .on([PLAN], plan(&tasks))
        .on(
            [for_task("the customers from France").as_str()],
            Reply::sql("SELECT id, name FROM customers WHERE country = 'France'", 0.95)
                .delay_ms(delay(1)),
        )
        .once(
            [&worth],
            Reply::sql("SELECT customer_id, quantity * cost AS worth FROM orders", 0.9)
                .delay_ms(delay(2)),
        )
        .once(
            [&worth],
            Reply::sql("SELECT customer_id, quantity * price FROM orders, prodcts", 0.9)
                .delay_ms(delay(3)),
        )
        .on(
            [worth.as_str()],
            Reply::sql(
                "SELECT o.customer_id, o.quantity * p.price AS worth FROM orders o \
                 JOIN products p ON p.id = o.product_id",
                0.95,
            )
            .delay_ms(delay(4)),
        )
        .on(
            [for_task("the number of products").as_str()],
            Reply::sql("SELECT COUNT(*) AS n FROM products", 0.6).delay_ms(delay(5)),
        )
        .on(
            [for_task("what each of them spent").as_str()],
            Reply::sql(
                "SELECT a.name, SUM(b.worth) AS total FROM task_A a \
                 JOIN task_B b ON b.customer_id = a.id GROUP BY a.name ORDER BY total DESC",
                0.95,
            )
            .delay_ms(delay(6)),
        )
        .on(
            [for_task("everything together").as_str()],
            Reply::sql(
                "SELECT d.name, d.total, c.n FROM task_D d CROSS JOIN task_C c ORDER BY d.name",
                0.9,
            ),
        )
}

fn cases() -> Vec<Case> {
    let question = "How much did each customer from France spend?";
    let mut cases: Vec<Case> = (0..8).map(|seed| Case::new(question, wide(seed))).collect();
    let failing = |reply: fn() -> Reply| {
        Script::new()
            .on([PLAN], whole())
            .once([WRITE], Reply::sql("SELECT nme FROM customers", 0.9))
            .on([WRITE], reply())
    };
    cases
        .push(Case::new("Who are they?", failing(|| Reply::sql("SELECT no FROM such_table", 0.9))));
    cases.push(Case::new("Who are they?", failing(|| Reply::text("I do not know."))));
    cases.push(Case::new("Who are they?", failing(|| Reply::status(500, "out of memory"))));
    cases.push(Case::new("Who are they?", failing(Reply::garbage)));
    let unsure = || {
        Script::new()
            .on([PLAN], whole())
            .on(
                [WRITE, "Answer: spends much"],
                Reply::sql("SELECT name FROM customers WHERE country = 'France'", 0.95),
            )
            .on([WRITE], Reply::sql("SELECT name FROM customers WHERE country = 'Important'", 0.1))
            .on([CLARIFY], Reply::text("What makes a customer important?"))
    };
    cases.push(Case {
        answers: Some("spends much"),
        ..Case::new("Who are the important customers?", unsure())
    });
    cases.push(Case {
        answers: Some("nobody knows"),
        ..Case::new("Who are the important customers?", unsure())
    });
    cases.push(Case::new("Who are the important customers?", unsure()));
    cases.push(Case {
        tweak: |settings| settings.budgets.llm_calls = 4,
        ..Case::new(question, wide(99))
    });
    cases.push(Case {
        tweak: |settings| settings.policy.max_parallel = 1,
        ..Case::new(question, wide(7))
    });
    let slow = || Script::new().on([PLAN], whole()).on([WRITE], Reply::hang());
    let hanging = || {
        Script::new()
            .on(
                [PLAN],
                plan(&[subtask("A", "the first part", &[]), subtask("B", "the second part", &[])]),
            )
            .on(
                [for_task("the first part").as_str()],
                Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.9),
            )
            .on([WRITE], Reply::hang())
    };
    cases.push(Case {
        stop_after: Some(Duration::from_millis(300)),
        ..Case::new(question, hanging())
    });
    cases.push(Case {
        tweak: |settings| settings.deadline = Some(Duration::from_millis(400)),
        ..Case::new(question, hanging())
    });
    cases
        .push(Case { stop_after: Some(Duration::from_millis(150)), ..Case::new(question, slow()) });
    cases
}

#[test]
fn all_replays_are_byte_for_byte_the_runs() {
    // Over all the runs.
    let wanted = syrch_kit::scale(200, 1_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cases = cases();
    let each = wanted.div_ceil(cases.len());
    let mut replays = 0;
    for (number, mut case) in cases.into_iter().enumerate() {
        let folder = syrch_kit::scratch();
        let endpoint = MockEndpoint::start(std::mem::take(&mut case.script));
        let (path, recorded) = runtime.block_on(record(&case, &endpoint, folder.path()));
        drop(endpoint);
        // Nothing but the journal is left.
        std::fs::remove_file(folder.path().join("shop.sqlite")).unwrap();
        runtime.block_on(async {
            let journal = Journal::read(&path).unwrap();
            let host = Host::of_journal(&journal.header, &today(), &Silent).await.unwrap();
            for replay in 0..each {
                let again = result_text(&host.replay(journal.clone(), Arc::new(Silent)).await);
                assert_eq!(again, recorded, "case {number}, replay {replay}");
                replays += 1;
            }
        });
    }
    assert!(replays >= wanted, "{replays}");
}

#[test]
fn a_journal_without_rows_or_of_another_run_is_not_replayed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = syrch_kit::scratch();
        let mut case = Case {
            tweak: |settings| settings.journal.rows = RowRetention::None,
            ..Case::new("q?", wide(1))
        };
        let endpoint = MockEndpoint::start(std::mem::take(&mut case.script));
        let (path, _) = record(&case, &endpoint, folder.path()).await;
        let text = std::fs::read_to_string(&path).unwrap();
        for cell in ["Ada", "Cleo", "190.0"] {
            assert!(!text.contains(cell), "{cell}: {text}");
        }
        let journal = Journal::read(&path).unwrap();
        let host = Host::of_journal(&journal.header, &today(), &Silent).await.unwrap();
        let error = host.replay(journal, Arc::new(Silent)).await.unwrap_err();
        assert!(
            matches!(&error, Error::Unfit(why) if why.contains("--journal-rows none")),
            "{error}"
        );

        // The journal says that another statement was run than the reply has: the replay notices.
        let mut case = Case::new("How much did each customer from France spend?", wide(1));
        let endpoint = MockEndpoint::start(std::mem::take(&mut case.script));
        let (path, _) = record(&case, &endpoint, folder.path()).await;
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, after) = text.split_once("{\"port\":\"sql\"").unwrap();
        let changed =
            format!("{before}{{\"port\":\"sql\"{}", after.replacen("SELECT", "SELECT DISTINCT", 1));
        std::fs::write(&path, changed).unwrap();
        let journal = Journal::read(&path).unwrap();
        let host = Host::of_journal(&journal.header, &today(), &Silent).await.unwrap();
        let error = host.replay(journal, Arc::new(Silent)).await.unwrap_err();
        assert!(matches!(error, Error::Replay(_)), "{error}");
    });
}
