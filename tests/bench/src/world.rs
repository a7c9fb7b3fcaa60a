//! The environment that measurements share: a scratch folder with the example database, the binary,
//! and endpoints that answer at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use syrch::plugins::CompileSettings;
use syrch::settings::{CacheSettings, JournalSettings, ModelSettings};
use syrch::{Host, Outcome as Ending, Provider, Settings, Silent, Stop};
use syrch_core::Problem;
use syrch_kit::{MockEndpoint, Reply, Script};
use syrch_runtime::WorkerProcess;
use tempfile::TempDir;

use crate::{Options, Outcome};

/// Texts that are in no other prompts: of one for a subtask's plan, of one for a plan, and of one
/// for a statement.
const SUBPLAN: &str = "Divide this subtask";
const PLAN: &str = "You plan how to answer";
const WRITE: &str = "You answer questions with one";

/// The scratch folder and what is in it; it goes away with the value.
pub(crate) struct World {
    folder: TempDir,
    /// The path of the example database.
    pub(crate) shop: PathBuf,
    /// The binary under measurement.
    pub(crate) host: PathBuf,
    /// Searches that the memory is watched over.
    pub(crate) searches: u32,
    /// Rows of the large table.
    pub(crate) rows: u32,
    /// Orders of the recorded answers.
    pub(crate) orders: u32,
    /// Scale of the database that slow statements are measured on.
    pub(crate) slow_scale: f64,
    /// For what runs in this process.
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl World {
    /// Makes it. The binary lies beside this program unless the options name one.
    pub(crate) fn new(options: &Options) -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("syrch-bench-").tempdir()?;
        let shop = folder.path().join("shop.sqlite");
        syrch_examples::make_shop(&shop)?;
        let host = options.host.clone().map_or_else(
            || std::env::current_exe().map(|own| own.with_file_name("syrch-host")),
            Ok,
        )?;
        if !host.is_file() {
            let host = host.display();
            return Err(format!(
                "`{host}` is missing: build it with `cargo build --release -p syrch-host`"
            )
            .into());
        }
        let runtime = runtime()?;
        let Options { searches, rows, orders, slow_scale, .. } = *options;
        Ok(Self { folder, shop, host, searches, rows, orders, slow_scale, runtime })
    }

    /// A folder of that name, made when it is not there.
    pub(crate) fn place(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// The command of a worker process, where the system has any.
    pub(crate) fn worker(&self) -> Option<WorkerProcess> {
        WorkerProcess::is_supported().then(|| WorkerProcess {
            program: self.host.clone(),
            arguments: vec![WorkerProcess::COMMAND.into()],
        })
    }

    /// Settings of a search against that endpoint. Compiled plugins are cached; journals and
    /// answers are not stored.
    pub(crate) fn settings(&self, endpoint: &MockEndpoint) -> Outcome<Settings> {
        Ok(settings(&self.shop, &endpoint.url(), &self.place("cache")?))
    }
}

/// A runtime as the command line has it.
pub(crate) fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Settings of a search over that database against that endpoint.
pub(crate) fn settings(database: &Path, url: &str, cache: &Path) -> Settings {
    Settings {
        database: database.display().to_string(),
        model: ModelSettings {
            provider: Provider::OPENAI,
            model: "mock".to_owned(),
            base_url: url.to_owned(),
            ..ModelSettings::default()
        },
        compile: CompileSettings::in_folder(cache),
        ..Settings::default()
    }
}

/// Writes journals to that folder, as many as by default.
pub(crate) fn add_journal(settings: Settings, folder: &Path) -> Settings {
    let journal = JournalSettings { folder: Some(folder.to_owned()), ..settings.journal };
    Settings { journal, ..settings }
}

/// Caches answers in that folder, as long as by default.
pub(crate) fn add_cache(settings: Settings, folder: &Path) -> Settings {
    let cache = CacheSettings { folder: Some(folder.to_owned()), ..settings.cache };
    Settings { cache, ..settings }
}

/// One search that must find its answer; how long its planning took, in milliseconds.
pub(crate) async fn search(host: &Host, question: &str) -> Outcome<f64> {
    let observer = std::sync::Arc::new(Silent);
    let report = host.search(Problem::new(question), observer, None, &Stop::new()).await?;
    if report.outcome != Ending::Answered {
        return Err(format!("`{question}` has no answer; {:?}", report.document.warnings).into());
    }
    Ok(report.document.time_ms.plan)
}

/// An endpoint whose every question is one task.
pub(crate) fn one_task() -> MockEndpoint {
    endpoint_with_delay(Duration::ZERO)
}

/// The same that takes so long for every call.
pub(crate) fn endpoint_with_delay(delay: Duration) -> MockEndpoint {
    let delay = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    let statement = "SELECT country, count(*) AS customers FROM customers GROUP BY country \
                     ORDER BY customers DESC";
    let script = Script::new()
        .on([PLAN], plan(&[subtask("A", &[], true)]).delay_ms(delay))
        .on([WRITE], Reply::sql(statement, 0.95).delay_ms(delay));
    MockEndpoint::start(script)
}

/// An endpoint whose every question is three tasks: two side by side, and one that joins their
/// results.
pub(crate) fn three_tasks() -> MockEndpoint {
    let tasks = [subtask("A", &[], true), subtask("B", &[], true), subtask("C", &["A", "B"], true)];
    fn part(id: &str) -> String {
        format!("Your task is this part of it: {}\n", description(id))
    }
    let customers = part("A");
    let orders = part("B");
    let joined = part("C");
    let script = Script::new()
        .on([PLAN], plan(&tasks))
        .on([&*customers], Reply::sql("SELECT id, country FROM customers", 0.95))
        .on(
            [&*orders],
            Reply::sql(
                "SELECT customer_id, count(*) AS orders FROM orders GROUP BY customer_id",
                0.95,
            ),
        )
        .on(
            [&*joined],
            Reply::sql(
                "SELECT a.country, sum(b.orders) AS orders FROM task_A a \
                 JOIN task_B b ON b.customer_id = a.id GROUP BY a.country ORDER BY orders DESC",
                0.95,
            ),
        );
    MockEndpoint::start(script)
}

/// An endpoint whose plans are of that many subtasks which are planned themselves, each for that
/// long.
pub(crate) fn subplans(count: usize, delay: Duration) -> MockEndpoint {
    let ids: Vec<String> = (0..count).map(|number| format!("T{number}")).collect();
    let open: Vec<Value> = ids.iter().map(|id| subtask(id, &[], false)).collect();
    let whole = plan(&[subtask("A", &[], true)]);
    let script = Script::new()
        .on([SUBPLAN], whole.delay_ms(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)))
        .on([PLAN], plan(&open))
        .on([WRITE], Reply::sql("SELECT count(*) AS customers FROM customers", 0.95));
    MockEndpoint::start(script)
}

fn plan(subtasks: &[Value]) -> Reply {
    Reply::json(&json!({ "subtasks": subtasks }))
}

fn subtask(id: &str, depends_on: &[&str], is_atomic: bool) -> Value {
    json!({
        "id": id, "description": description(id), "depends_on": depends_on, "is_atomic": is_atomic
    })
}

fn description(id: &str) -> String {
    format!("what part {id} asks for")
}
