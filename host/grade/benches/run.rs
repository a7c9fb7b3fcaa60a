//! The overhead of a run itself: a thousand items whose answers cost nothing, and the reading of a
//! long log. Divided by the items it is the overhead of a graded answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use divan::counter::ItemsCount;
use syrch_grade::rules::Rule;
use syrch_grade::run::{
    Answered, Arm, Cost, End, Graded, Header, Item, Judged, Options, Plan, RUN_FORMAT, RunFolder,
    Silent, SuiteOfRun, SystemUnderTest, execute, read,
};
use syrch_grade::{Gold, Question, Verdict};
use syrch_scheduler::Stop;

/// Questions of the run of two arms that is done.
const DONE: u64 = 500;
/// Those of the one that is read.
const READ: u64 = 50_000;

struct Empty;

#[async_trait]
impl SystemUnderTest for Empty {
    type Fatal = ();

    async fn answer(&self, item: &Item) -> Answered<()> {
        let judged =
            Judged { verdict: Verdict::Right, fingerprint: Some("0123456789abcdef".repeat(2)) };
        let verdicts =
            Rule::all().iter().map(|rule| (rule.name().to_owned(), judged.clone())).collect();
        let sql =
            "SELECT c.country, COUNT(*) FROM customers AS c GROUP BY c.country ORDER BY 2 DESC";
        Answered::Graded(Box::new(Graded {
            arm: String::new(),
            id: String::new(),
            place: 0,
            db: item.question.db.clone(),
            question: item.question.question.clone(),
            fields: item.question.fields.clone(),
            turn: None,
            end: End::Answered,
            origin: None,
            fault: None,
            sql: Some(sql.to_owned()),
            gold_sql: Some(sql.to_owned()),
            verdicts,
            gold_fault: None,
            soft_f1: Some(1.0),
            rows: Some(12),
            gold_rows: Some(12),
            judgements: Vec::new(),
            access: Vec::new(),
            confidence: Some(0.875),
            candidate_confidence: Some(0.8),
            cost: Cost {
                calls: 2,
                input_tokens: 1_000,
                output_tokens: 100,
                usd: Some(0.001),
                ..Cost::default()
            },
            time_ms: 12.5,
            retried: false,
            run: None,
        }))
    }
}

fn questions(number: u64) -> Vec<Arc<Question>> {
    fn question(place: u64) -> Question {
        Question {
            id: format!("q{place}"),
            db: format!("db{}", place % 20),
            engine: None,
            question: format!(
                "How many customers are there in each country, the most first ({place})?"
            ),
            evidence: None,
            golds: vec![Gold::Sql("SELECT 1".to_owned())],
            ordered: false,
            as_of: None,
            conversation: None,
            fields: BTreeMap::from([("difficulty".to_owned(), "simple".to_owned())]),
        }
    }
    (0..number).map(|place| Arc::new(question(place))).collect()
}

fn header(questions: u64) -> Header {
    fn arm(name: &str) -> Arm {
        Arm {
            name: name.to_owned(),
            strategy: "plain".to_owned(),
            plugins: Vec::new(),
            settings: serde_json::json!({}),
            again: None,
        }
    }
    Header {
        format: RUN_FORMAT.to_owned(),
        id: "0123456789abcdef".to_owned(),
        host: "0.1.0".to_owned(),
        suite: SuiteOfRun { path: "suite.jsonl".to_owned(), digest: "00".to_owned(), questions },
        arms: vec![arm("a"), arm("b")],
        databases: BTreeMap::new(),
        rule: "bag-v1".to_owned(),
        shard: None,
        seed: 0,
        fuzz: None,
        simulated: None,
        stop_early: false,
    }
}

/// Makes a run in a new folder, or resumes one.
fn run(path: &Path, questions: &[Arc<Question>]) -> Option<u64> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().ok()?;
    let header = header(questions.len() as u64);
    let folder =
        if path.exists() { RunFolder::resume(path) } else { RunFolder::create(path, &header) };
    let mut folder = folder.ok()?;
    let plan = Plan::new(&header, questions.to_vec());
    let options = Options { workers: 8, ..Options::default() };
    let stop = Stop::new();
    let finished =
        runtime.block_on(execute(&plan, &mut folder, Arc::new(Empty), &options, &Silent, &stop));
    finished.ok().map(|finished| finished.progress.done)
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn items_that_cost_nothing(bencher: divan::Bencher<'_, '_>) {
    let questions = questions(DONE);
    let counted =
        bencher.counter(ItemsCount::new(2 * DONE)).with_inputs(|| tempfile::tempdir().ok());
    counted.bench_refs(|place| run(&place.as_ref()?.path().join("run"), &questions));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading_a_log_for_a_report(bencher: divan::Bencher<'_, '_>) {
    let Ok(place) = tempfile::tempdir() else { return };
    let path = place.path().join("run");
    let done = run(&path, &questions(READ));
    assert_eq!(done, Some(2 * READ), "the log was not made");
    bencher
        .counter(ItemsCount::new(2 * READ))
        .bench(|| read(&path).map(|record| record.graded.len()).ok());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reading_a_log_to_go_on(bencher: divan::Bencher<'_, '_>) {
    let Ok(place) = tempfile::tempdir() else { return };
    let path = place.path().join("run");
    let questions = questions(READ);
    assert_eq!(run(&path, &questions), Some(2 * READ), "the log was not made");
    bencher.counter(ItemsCount::new(2 * READ)).bench(|| run(&path, &questions));
}

fn main() {
    divan::main();
}
