//! Runs with systems that only pretend: what they answer is a function of the arm and the question,
//! so any two runs must agree.

mod early;
mod folders;
mod kill;
mod resume;
mod shards;
mod stops;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use syrch_scheduler::Stop;

use super::*;
use crate::{Gold, Question, Verdict};

/// Questions of three databases.
fn questions(number: u64) -> Vec<Arc<Question>> {
    fn question(place: u64) -> syrch_suites::Question {
        Question {
            id: format!("q{place}"),
            db: format!("db{}", place % 3),
            engine: None,
            question: format!("How many are {place}?"),
            evidence: None,
            golds: vec![Gold::Sql(format!("SELECT {place}"))],
            ordered: false,
            as_of: None,
            conversation: None,
            fields: BTreeMap::from([("difficulty".to_owned(), format!("{}", place % 4))]),
        }
    }
    (0..number).map(|place| Arc::new(question(place))).collect()
}

fn header(arms: &[&str], questions: u64) -> Header {
    Header {
        format: RUN_FORMAT.to_owned(),
        id: "00112233445566ff".to_owned(),
        host: "0.1.0".to_owned(),
        suite: SuiteOfRun { path: "suite.jsonl".into(), digest: "feedc0de00".into(), questions },
        arms: arms
            .iter()
            .map(|name: &&str| Arm {
                name: (*name).to_owned(),
                strategy: "plain".to_owned(),
                plugins: vec![PluginOfArm {
                    role: "planner".into(),
                    source: "chase".into(),
                    digest: "1234abcd5678".into(),
                }],
                settings: json!({"model": {"temperature": 0.7, "name": "m"}, "budget": 10}),
                again: None,
            })
            .collect(),
        databases: (0..3).map(|db| (format!("db{db}"), format!("content {db}"))).collect(),
        rule: "bag-v1".to_owned(),
        shard: None,
        seed: 7,
        fuzz: None,
        simulated: None,
        stop_early: false,
    }
}

/// A number that looks random, the same for the same names.
fn chance(arm: &str, id: &str, salt: &str) -> u64 {
    syrch_core::result_set::digest64(&[arm, id, salt]) >> 7
}

/// The answer of an arm: right more often for later arms, sometimes excluded, without an expected
/// answer, or failed.
fn answer_of(item: &Item) -> Graded {
    fn luck(item: &Item, salt: &str, of: u64) -> u64 {
        chance(&item.arm_name, &item.question.id, salt) % of
    }
    let verdict = match luck(item, "verdict", 100) {
        0..5 => Verdict::Excluded,
        5..45 => Verdict::Wrong,
        _ => Verdict::Right,
    };
    let failed = luck(item, "failed", 20) == 0;
    let has_gold = !chance("", &item.question.id, "gold").is_multiple_of(25);
    let judged =
        Judged { verdict: if failed { Verdict::Wrong } else { verdict }, fingerprint: None };
    Graded {
        arm: String::new(),
        id: String::new(),
        place: 0,
        db: item.question.db.clone(),
        question: item.question.question.clone(),
        fields: item.question.fields.clone(),
        turn: None,
        end: if failed { End::Failed } else { End::Answered },
        origin: None,
        fault: failed.then(|| Fault {
            class: "database".into(),
            message: "it is \"locked\"\nfor a while — é".into(),
        }),
        sql: (!failed).then(|| format!("SELECT {}", luck(item, "sql", 9))),
        gold_sql: item.question.statements().first().map(|sql| (*sql).to_owned()),
        verdicts: has_gold.then(|| ("bag-v1".to_owned(), judged)).into_iter().collect(),
        gold_fault: (!has_gold).then(|| "it does not run".to_owned()),
        soft_f1: Some(luck(item, "f1", 100) as f64 / 100.0),
        rows: Some(luck(item, "rows", 50)),
        gold_rows: Some(1),
        confidence: Some(luck(item, "confidence", 1_000) as f64 / 1_000.0),
        candidate_confidence: None,
        judgements: Vec::new(),
        access: Vec::new(),
        cost: Cost {
            calls: 1 + luck(item, "calls", 3) as u32,
            cached: luck(item, "cached", 2) as u32,
            input_tokens: 100,
            output_tokens: 10,
            usd: Some(0.25),
            sql_runs: 1,
        },
        time_ms: 0.0,
        retried: false,
        run: None,
    }
}

type Act = Box<dyn Fn(&Item) -> Answered<String> + Send + Sync>;

/// Answers after a delay, notes who was asked, and how many were at once.
struct Pretender {
    delay: Box<dyn Fn(&Item) -> Duration + Send + Sync>,
    act: Act,
    asked: Mutex<Vec<(String, u64)>>,
    now: AtomicUsize,
    most: AtomicUsize,
    /// The cost of an item that was dropped.
    dropped: Option<Cost>,
}

impl Pretender {
    fn new() -> Self {
        Self::acting(|item| Answered::Graded(Box::new(answer_of(item))))
    }

    fn acting(act: impl Fn(&Item) -> Answered<String> + Send + Sync + 'static) -> Self {
        let asked = Mutex::default();
        let now = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let delay = Box::new(|_: &Item| Duration::ZERO);
        Self { delay, act: Box::new(act), asked, now, most, dropped: None }
    }

    fn slow(mut self, delay: impl Fn(&Item) -> Duration + Send + Sync + 'static) -> Self {
        self.delay = Box::new(delay);
        self
    }

    fn questions_asked(&self) -> Vec<(String, u64)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl SystemUnderTest for Pretender {
    type Fatal = String;

    async fn answer(&self, item: &Item) -> Answered<String> {
        self.asked.lock().unwrap().push((item.arm_name.to_string(), item.place));
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let delay = (self.delay)(item);
        if delay > Duration::ZERO {
            tokio::time::sleep(delay).await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        (self.act)(item)
    }

    fn cost_of_dropped(&self, _: &Item) -> Option<Cost> {
        self.dropped
    }
}

#[derive(Default)]
struct Listener {
    resumed: Mutex<Vec<Resumed>>,
    progress: Mutex<Vec<Progress>>,
}

impl Observer for Listener {
    fn on_resume(&self, resumed: &Resumed) {
        self.resumed.lock().unwrap().push(*resumed);
    }

    fn progress(&self, progress: &Progress, _last: &Graded) {
        self.progress.lock().unwrap().push(progress.clone());
    }
}

fn with_workers(workers: usize) -> Options {
    Options { workers, ..Options::default() }
}

/// Resumes the run in a folder, or begins it.
async fn run(
    path: &Path,
    header: &Header,
    system: Arc<Pretender>,
    options: &Options,
) -> Result<Finished<String>, RunError> {
    let mut folder = open(path, header);
    let plan = Plan::new(header, questions(header.suite.questions));
    execute(&plan, &mut folder, system, options, &Silent, &Stop::new()).await
}

fn open(path: &Path, header: &Header) -> RunFolder {
    if path.join("run.json").exists() {
        RunFolder::resume(path)
    } else {
        RunFolder::create(path, header)
    }
    .unwrap()
}

/// The record of a run that nothing disturbs.
async fn run_undisturbed(header: &Header) -> RunRecord {
    let place = tempfile::tempdir().unwrap();
    let finished =
        run(place.path(), header, Arc::new(Pretender::new()), &with_workers(1)).await.unwrap();
    assert!(finished.stopped.is_none());
    without_times(read(place.path()).unwrap())
}

fn without_times(mut record: RunRecord) -> RunRecord {
    record.elapsed = Duration::ZERO;
    record.graded.iter_mut().for_each(|graded| graded.time_ms = 0.0);
    record
}
