//! The figures of the offline provider: every question of three sets, read over the real databases,
//! run under the guard, graded by `bag-v1`. An abstention counts as wrong. The rules were written
//! beside the first two sets; the shop's questions were not.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use syrch::databases::with_single_quotes;
use syrch_core::ports::{
    CellIndex, Database, LlmError, Message, ModelCall, ModelProvider, Purpose, Request, SqlQuery,
};
use syrch_core::ports::{Shape, Speaker};
use syrch_core::{Problem, ResultSet};
use syrch_grade::rules::bag_v1_any;
use syrch_grade::{Question, suite};
use syrch_offline::{OfflineConfig, OfflineProvider};
use syrch_sqlite::{SqliteConfig, SqliteDatabase};

/// The outcome of one question.
struct Outcome {
    /// The confidence of the answer, 0 to 1. `None` if the model abstained.
    confidence: Option<f64>,
    right: bool,
}

/// The figures of one set.
struct Figures {
    name: &'static str,
    outcomes: Vec<Outcome>,
    /// Statements of the provider that the database refused.
    failed: usize,
    /// Questions of which no expected statement runs.
    ungraded: usize,
    /// The time that the provider took.
    time: Duration,
}

impl Figures {
    fn right(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.right).count()
    }

    fn share(&self) -> f64 {
        self.right() as f64 / self.outcomes.len().max(1) as f64
    }

    fn print(&self) {
        let total = self.outcomes.len();
        let abstained = self.outcomes.iter().filter(|outcome| outcome.confidence.is_none()).count();
        println!(
            "{}: right {}/{total} ({:.1} %), abstained {abstained}, failed {}, without a running \
             gold {}, AUROC {:.3}, {:.2} ms a question",
            self.name,
            self.right(),
            100.0 * self.share(),
            self.failed,
            self.ungraded,
            auroc(&self.outcomes),
            self.time.as_secs_f64() * 1000.0 / total.max(1) as f64,
        );
    }
}

/// The probability that a right answer has a higher confidence than a wrong one; an abstention is
/// the least confident of all.
fn auroc<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> f64 {
    let (right, wrong): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.into_iter().partition(|outcome| outcome.right);
    let score = |outcome: &Outcome| outcome.confidence.unwrap_or(0.0);
    let above = |a: &Outcome, b: &Outcome| match score(a).total_cmp(&score(b)) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let sum: f64 = right.iter().flat_map(|a| wrong.iter().map(|b| above(a, b))).sum();
    sum / (right.len() * wrong.len()).max(1) as f64
}

fn call(question: &Question, database: Arc<syrch_core::Catalog>) -> ModelCall {
    ModelCall {
        request: Request::new(
            Purpose::Generate,
            vec![Message { speaker: Speaker::User, text: question.question.clone() }],
            Shape::Sql,
        ),
        problem: Arc::new(Problem {
            evidence: question.evidence.clone(),
            ..Problem::new(&question.question)
        }),
        task: None,
        catalog: database,
    }
}

/// The expected results: those of the statements that run.
async fn golds(database: &SqliteDatabase, question: &Question) -> Vec<ResultSet> {
    let mut results = Vec::new();
    for sql in question.statements() {
        // The sets write texts in double quotes, too; a graded run reads them in the same way.
        let sql = with_single_quotes(sql, database).await;
        results.extend(database.run(&SqlQuery::new(sql)).await.ok());
    }
    results
}

/// Asks every question of a set whose databases lie in a folder.
async fn figures(name: &'static str, questions: &Path, folder: &Path) -> Figures {
    let questions = suite::read(questions).expect("the questions are well formed").questions;
    let mut databases: BTreeMap<String, (Arc<SqliteDatabase>, OfflineProvider)> = BTreeMap::new();
    let mut figures =
        Figures { name, outcomes: Vec::new(), failed: 0, ungraded: 0, time: Duration::ZERO };
    for question in &questions {
        if !databases.contains_key(&question.db) {
            let path = folder.join(format!("{}.sqlite", question.db));
            let database = Arc::new(
                SqliteDatabase::open(SqliteConfig::new(path)).expect("the database opens"),
            );
            let cells: Arc<dyn CellIndex> = database.clone();
            let provider = OfflineProvider::new(Some(cells), OfflineConfig::default());
            databases.insert(question.db.clone(), (database, provider));
        }
        let (database, provider) = &databases[&question.db];
        let catalog = database.catalog().await.expect("the catalog is read");
        let call = call(question, catalog);
        let start = Instant::now();
        let outcome = provider.complete(&call).await;
        figures.time += start.elapsed();
        figures.outcomes.push(match outcome.result {
            Ok(reply) => {
                let parsed: serde_json::Value =
                    serde_json::from_str(&reply.parsed.expect("parsed")).expect("JSON");
                let sql = parsed["sql"].as_str().expect("a statement");
                let predicted = database.run(&SqlQuery::new(sql)).await;
                let golds = golds(database, question).await;
                figures.failed += usize::from(predicted.is_err());
                figures.ungraded += usize::from(golds.is_empty());
                let right = predicted
                    .is_ok_and(|rows| bag_v1_any(&golds, &rows, question.ordered).is_right());
                Outcome { confidence: parsed["confidence"].as_f64(), right }
            }
            Err(LlmError::Refused(_)) => Outcome { confidence: None, right: false },
            Err(error) => panic!("{}: {error}", question.id),
        });
    }
    figures
}

#[tokio::test]
#[ignore = "a measurement: `make figures` makes it"]
async fn the_offline_provider_reaches_its_figures() {
    let Some(root) = syrch_kit::data_root() else {
        println!("skipped: the test data are absent");
        return;
    };
    let set = async |name| {
        figures(name, &root.join(name).join("questions.jsonl"), &root.join(name).join("db")).await
    };
    let spider = set("spider").await;
    let defog = set("defog").await;
    spider.print();
    defog.print();
    let both = auroc(spider.outcomes.iter().chain(&defog.outcomes));
    println!("both: AUROC {both:.3}");
    assert!(spider.share() >= 0.70, "spider: {:.3}", spider.share());
    assert!(defog.share() >= 0.25, "defog: {:.3}", defog.share());
    assert!(both >= 0.70, "AUROC {both:.3}");
}

#[tokio::test]
async fn the_offline_provider_reads_questions_about_the_shop() {
    let folder = syrch_kit::scratch();
    syrch_examples::make_shop(&folder.path().join("shop.sqlite")).expect("the shop is made");
    let questions = syrch_kit::repository().join("examples/questions.jsonl");
    let shop = figures("shop", &questions, folder.path()).await;
    shop.print();
    let auroc = auroc(&shop.outcomes);
    assert_eq!((shop.failed, shop.ungraded), (0, 0), "statements that do not run");
    assert!(shop.share() >= 0.45, "shop: {:.3}", shop.share());
    assert!(auroc >= 0.75, "AUROC {auroc:.3}");
}
