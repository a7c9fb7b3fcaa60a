//! A search with everything around it: a database, an endpoint whose faults are drawn from a seed,
//! a journal; and what must hold at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::Rng;
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use syrch::journal::{Ask, Event, Folder, Got, Journal, Record};
use syrch::plugins::CompileSettings;
use syrch::syrch_core::ledger::{Budgets, Spent};
use syrch::syrch_core::ports::LlmError;
use syrch::syrch_core::{Ledger, Problem, SqlErrorKind};
use syrch::{Error, Host, Outcome, Provider, SearchReport, Settings, Silent, Stop};
use syrch_kit::{MockEndpoint, Recorded, Reply, Script, Usage};
use tokio::sync::Semaphore;

/// The question of every search.
const QUESTION: &str = "How much did each customer from France spend?";
/// The limit on the time of a search.
const LONGEST: Duration = Duration::from_secs(30);
/// The limit on the time for a reply of the endpoint.
const PATIENCE: Duration = Duration::from_secs(1);
/// The number of searches under way at once.
const AT_ONCE: usize = 12;

/// The tasks of the plan: words, dependencies, statement.
const TASKS: [(&str, &str, &[&str], &str); 5] = [
    (
        "A",
        "the customers from France",
        &[],
        "SELECT id, name FROM customers WHERE country = 'France'",
    ),
    (
        "B",
        "the worth of each order",
        &[],
        "SELECT o.customer_id, o.quantity * p.price AS worth FROM orders o \
         JOIN products p ON p.id = o.product_id",
    ),
    ("C", "the number of products", &[], "SELECT COUNT(*) AS n FROM products"),
    (
        "D",
        "what each of them spent",
        &["A", "B"],
        "SELECT a.name, SUM(b.worth) AS total FROM task_A a JOIN task_B b ON b.customer_id = a.id \
         GROUP BY a.name",
    ),
    (
        "E",
        "everything together",
        &["D", "C"],
        "SELECT d.name, d.total, c.n FROM task_D d CROSS JOIN task_C c ORDER BY d.name",
    ),
];

/// The statement for the whole question, for when there is no plan or it came to nothing.
const WHOLE: &str = "SELECT c.name, SUM(o.quantity * p.price) AS total, (SELECT COUNT(*) \
                     FROM products) AS n FROM customers c JOIN orders o ON o.customer_id = c.id \
                     JOIN products p ON p.id = o.product_id WHERE c.country = 'France' \
                     GROUP BY c.name ORDER BY c.name";

/// The content of the database; `lamp` is what a lamp costs.
pub(crate) fn shop(lamp: f64) -> String {
    format!(
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
         CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT, price REAL);
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id),
                             product_id INTEGER REFERENCES products(id), quantity INTEGER, \
                               ordered TEXT);
         INSERT INTO customers \
           VALUES (1,'Ada','France'),(2,'Ben','Spain'),(3,'Cleo','France'),(4,'Dora','Italy');
         INSERT INTO products VALUES (1,'lamp',{lamp:?}),(2,'desk',150.0),(3,'chair',75.5);
         INSERT INTO orders \
           VALUES (1,1,1,2,'2024-01-05'),(2,1,2,1,'2024-02-11'),(3,2,3,4,'2024-02-20'),(4,3,1,1,\
           '2024-03-02');"
    )
}

/// The right answer while a lamp costs that much.
pub(crate) fn right(lamp: f64) -> Value {
    json!([["Ada", 2.0 * lamp + 150.0, 3], ["Cleo", lamp, 3]])
}

/// The price of a lamp at first.
pub(crate) const LAMP: f64 = 20.0;

/// Numbers from a seed.
#[derive(Debug, Clone)]
pub(crate) struct Chance(Pcg64);

impl Chance {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64::new(seed.into(), stream.into()))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn millis(&mut self, bound: u64) -> Duration {
        Duration::from_millis(self.below(bound))
    }
}

/// A name, and the reply.
type Fault = (&'static str, fn() -> Reply);

/// The ways in which the endpoint fails.
const FAULTS: [Fault; 7] = [
    ("429, at once again", || Reply::status(429, "slow down").header("retry-after", "0")),
    ("429, in a second", || Reply::status(429, "slow down").header("retry-after", "1")),
    ("500", || Reply::status(500, "out of memory")),
    ("hang", Reply::hang),
    ("garbage", Reply::garbage),
    ("half JSON", Reply::half_json),
    ("cut stream", Reply::cut_stream),
];

/// The counts of what the endpoint did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Faults by their kind.
    pub(crate) faults: BTreeMap<&'static str, usize>,
    /// Tokens that it reported.
    pub(crate) tokens: u64,
}

/// An endpoint that answers rightly, but for `percent` of the requests, drawn by their number.
fn script(seed: u64, percent: u64, tally: Arc<Mutex<Tally>>) -> Script {
    Script::new().with(move |request, before| {
        let mut chance = Chance::new(seed, before as u64);
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        if chance.below(100) < percent {
            let (name, fault) = FAULTS[usize::try_from(chance.below(FAULTS.len() as u64)).unwrap()];
            *tally.faults.entry(name).or_default() += 1;
            return Some(fault());
        }
        let text = reply_text(request, &mut chance);
        let [input, output] = [request.prompt().len(), text.len()]
            .map(|bytes| u32::try_from(bytes.div_ceil(4)).unwrap());
        tally.tokens += u64::from(input) + u64::from(output);
        Some(Reply::text(text).usage(Usage::Tokens(input, output)).delay_ms(chance.below(20)))
    })
}

/// Returns the reply of a good model; now and then its first statement has a misspelt column.
fn reply_text(request: &Recorded, chance: &mut Chance) -> String {
    let prompt = request.prompt();
    if prompt.contains("You plan how to answer") {
        let subtasks = TASKS.iter().map(|(id, text, depends_on, _)| {
            json!({"id": id, "description": text, "depends_on": depends_on, "is_atomic": true})
        });
        return json!({ "subtasks": subtasks.collect::<Vec<_>>() }).to_string();
    }
    if !prompt.contains("You answer questions with one") {
        return "Which customers do you mean?".to_owned();
    }
    let is_for = |text: &str| prompt.contains(&format!("Your task is this part of it: {text}\n"));
    let sql = TASKS.iter().find(|(_, text, ..)| is_for(text)).map_or(WHOLE, |(.., sql)| sql);
    let is_wrong = chance.below(8) == 0 && !prompt.contains("Attempt 1:");
    let sql = if is_wrong {
        sql.replace("name", "nme").replace("price", "prise")
    } else {
        sql.to_owned()
    };
    format!("```sql\n{sql}\n```\nConfidence: 0.95")
}

/// The database, the endpoint and the folders of one search.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) endpoint: MockEndpoint,
    pub(crate) settings: Settings,
    tally: Arc<Mutex<Tally>>,
}

impl World {
    /// A world of that seed, whose endpoint fails in so many of a hundred requests.
    pub(crate) fn new(seed: u64, percent: u64) -> Self {
        let folder = syrch_kit::scratch();
        let tally = Arc::<Mutex<Tally>>::default();
        let endpoint = MockEndpoint::start(script(seed, percent, Arc::clone(&tally)));
        let database = syrch_kit::sqlite(folder.path().join("shop.sqlite"), &shop(LAMP));
        let mut settings =
            Settings { database: database.display().to_string(), seed, ..Settings::default() };
        settings.model.provider = Provider::OPENAI;
        settings.model.base_url = endpoint.url();
        settings.model.model = "mock".to_owned();
        settings.model.timeout = PATIENCE;
        settings.compile = CompileSettings::in_folder(&plugins());
        settings.journal.folder = Some(folder.path().join("runs"));
        Self { folder, endpoint, settings, tally }
    }

    pub(crate) fn database(&self) -> PathBuf {
        PathBuf::from(&self.settings.database)
    }

    /// Opens a host and searches once, in time.
    pub(crate) async fn search(&self, stop: &Stop) -> Result<SearchReport, Error> {
        let host = self.host().await?;
        search(&host, stop).await
    }

    pub(crate) async fn host(&self) -> Result<Host, Error> {
        Host::open(self.settings.clone(), &Silent).await
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The journal of the one search; `None` if it did not come so far.
    pub(crate) fn journal(&self) -> Option<Journal> {
        let entries = Folder::new(self.settings.journal.folder.clone()?).list().unwrap();
        assert!(entries.len() <= 1, "{entries:?}");
        entries.first().map(|entry| Journal::read(&entry.path).unwrap())
    }

    /// The ledger equals the endpoint's count. Calls that were given up on their way stay booked,
    /// and may not have come.
    pub(crate) async fn check_ledger(&self, report: &Result<SearchReport, Error>) {
        let Some(journal) = self.journal() else {
            assert!(report.is_err() && self.endpoint.count() == 0, "no journal: {report:?}");
            return;
        };
        let spent = sum_charges(&journal);
        let calls = spent.calls as usize;
        let least = calls.saturating_sub(count_given_up(&journal));
        // A request that was given up may still be on its way to be counted.
        for _ in 0..200 {
            if self.endpoint.count() >= least {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let count = self.endpoint.count();
        assert!(
            (least..=calls).contains(&count),
            "{calls} calls are booked, {count} came: {report:?}"
        );
        let reported = self.tally().tokens;
        assert!(
            spent.tokens_charged >= reported,
            "{} charged, {reported} reported",
            spent.tokens_charged
        );
        if let Ok(report) = report {
            assert_eq!(report.document.cost.calls, spent.calls);
        }
    }

    /// A strict replay of the journal comes to the same.
    pub(crate) async fn check_replay(&self, report: &Result<SearchReport, Error>) {
        let Some(journal) = self.journal() else { return };
        assert!(journal.is_finished());
        let host = Host::of_journal(&journal.header, &self.settings, &Silent).await.unwrap();
        let again = host.replay(journal, Arc::new(Silent)).await;
        assert_eq!(outcome_text(&again), outcome_text(report));
    }
}

/// Returns the folder in which compiled plugins are cached from test to test.
fn plugins() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults-plugins")
}

/// Searches once, in time.
pub(crate) async fn search(host: &Host, stop: &Stop) -> Result<SearchReport, Error> {
    let search = host.search(Problem::new(QUESTION), Arc::new(Silent), None, stop);
    tokio::time::timeout(LONGEST, search).await.expect("the search does not end")
}

/// The sum of the journal's ledger entries.
fn sum_charges(journal: &Journal) -> Spent {
    let ledger = Ledger::new(Budgets::default());
    for record in &journal.records {
        if let Record::Ledger { entry } = record {
            ledger.restore(entry);
        }
    }
    ledger.spending()
}

/// Model calls that nobody waited for to the end.
fn count_given_up(journal: &Journal) -> usize {
    let mut open = BTreeSet::new();
    for record in &journal.records {
        match record {
            Record::Event { event: Event::Issue { call, ticket, ask: Ask::Llm(_) }, .. } => {
                open.insert((*call, *ticket));
            }
            Record::Event {
                event: Event::Done { call, ticket, got: Got::Reply(reply) }, ..
            } if !matches!(reply, Err(LlmError::Cancelled)) => {
                open.remove(&(*call, *ticket));
            }
            _ => {}
        }
    }
    open.len()
}

/// Returns the result of a run, as text that must be equal.
fn outcome_text(report: &Result<SearchReport, Error>) -> String {
    match report {
        Ok(report) => {
            format!("{:?} {}", report.outcome, serde_json::to_string(&report.document).unwrap())
        }
        Err(error) => format!("error {error}"),
    }
}

/// Returns the ending of a search in a word: with the right answer (one of these), without one, or
/// with an error of a class that faults may cause. Anything else fails the test.
pub(crate) fn ending(report: &Result<SearchReport, Error>, right: &[Value]) -> &'static str {
    match report {
        Ok(report) if report.outcome == Outcome::Answered => {
            let answer = report.document.answer.as_ref().unwrap();
            let rows = json!(answer.rows);
            assert!(right.contains(&rows), "a wrong answer: {rows}, {:?}", report.document);
            "right"
        }
        Ok(report) if report.outcome == Outcome::NoAnswer => "no answer",
        Ok(report) => panic!("the user is asked what no user knows: {:?}", report.document),
        Err(Error::Model { .. }) => "model",
        Err(Error::Database(_)) => "database",
        Err(Error::Sql(error)) if error.kind == SqlErrorKind::Unavailable => "database",
        Err(Error::Strategy { .. }) => "strategy",
        Err(Error::Budget(_)) => "budget",
        Err(Error::Deadline(_)) => "deadline",
        Err(Error::Interrupted) => "interrupted",
        Err(error) => panic!("no fault explains this: {error:?}"),
    }
}

/// Counts by name, over all searches of a test.
pub(crate) type Counts = BTreeMap<&'static str, usize>;

/// Runs a search for each seed, some at once; what `one` gives is counted.
pub(crate) fn each<F>(seeds: std::ops::Range<u64>, one: impl Fn(u64) -> F) -> Counts
where
    F: Future<Output = Vec<&'static str>> + Send + 'static,
{
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let searches: Vec<_> = seeds
        .map(|seed| {
            let places = Arc::clone(&places);
            let search = one(seed);
            let search = runtime.spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                search.await
            });
            (seed, search)
        })
        .collect();
    let mut counts = Counts::new();
    for (seed, search) in searches {
        let names = runtime.block_on(search).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
    }
    println!("{counts:?}");
    counts
}

/// The names of a tally, each as often as it counts.
pub(crate) fn names(tally: &Tally) -> impl Iterator<Item = &'static str> {
    tally
        .faults
        .iter()
        .flat_map(|(name, count)| std::iter::repeat_n(*name, *count))
        .collect::<Vec<_>>()
        .into_iter()
}
