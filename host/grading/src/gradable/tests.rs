//! Expected answers of every kind under the guard. Questions that cannot be graded are not asked.

use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;
use syrch::{Settings, Shared, Silent};
use syrch_grade::Verdict;
use syrch_grade::rules::Rule;
use syrch_grade::run::{Answered, Cost, End, Item, SystemUnderTest};
use syrch_grade::suite::Format;

use super::super::ask::{Asked, Asker};
use super::super::grader::{Grader, Traces};
use super::*;

const SHOP: &str = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";
/// Compiles, and overflows when it is run.
const FAILS: &str = "SELECT abs(-9223372036854775807 - 1) FROM customers";

fn arena(folder: &Path) -> Arena {
    let shop = syrch_kit::sqlite(folder.join("shop.sqlite"), SHOP);
    let observer: Arc<dyn syrch::Observer> = Arc::new(Silent);
    Arena::new(
        vec![Settings::default()],
        [("shop".to_owned(), syrch_core::DatabaseUrl::from_path(&shop))].into(),
        Shared::new(),
        observer,
    )
}

fn question(id: &str, golds: Vec<Gold>) -> Question {
    Question {
        id: id.to_owned(),
        db: "shop".to_owned(),
        engine: None,
        question: format!("{id}?"),
        evidence: None,
        golds,
        ordered: false,
        as_of: None,
        conversation: None,
        fields: BTreeMap::new(),
    }
}

fn sql(statement: &str) -> Gold {
    Gold::Sql(statement.to_owned())
}

fn suite(questions: Vec<Question>) -> Suite {
    let (path, folder) = Default::default();
    Suite {
        path,
        folder,
        format: Format::Jsonl,
        questions,
        places: Vec::new(),
        digest: String::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn golds_are_compiled_under_the_guard_and_not_run() {
    let scratch = syrch_kit::scratch();
    let arena = arena(scratch.path());
    let csv = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        std::fs::write(&path, text).unwrap();
        Gold::Csv(path)
    };
    let missing = || Gold::Csv(scratch.path().join("missing.csv"));
    let good = || sql("SELECT COUNT(*) FROM customers");
    let cases = [
        ("good", vec![good()], None),
        ("fails when it is run", vec![sql(FAILS)], None),
        ("deletes", vec![sql("DELETE FROM customers")], Some("`DELETE` is refused")),
        ("hides it", vec![sql("WITH x AS (SELECT 1) DELETE FROM customers")], Some("refused")),
        ("attaches", vec![sql("ATTACH 'other.sqlite' AS other")], Some("refused")),
        ("two", vec![sql("SELECT 1; DROP TABLE customers")], Some("one statement")),
        ("no statement", vec![sql("SELEC nothing")], Some("SELEC")),
        ("no table", vec![sql("SELECT x FROM elsewhere")], Some("elsewhere")),
        ("no column", vec![sql("SELECT age FROM customers")], Some("age")),
        ("the second is good", vec![sql("SELECT x FROM elsewhere"), good()], None),
        (
            "the first is reported",
            vec![sql("SELECT x FROM one"), sql("SELECT x FROM two"), missing()],
            Some("one"),
        ),
        ("rows", vec![csv("rows.csv", "n\n2\n")], None),
        ("missing rows", vec![missing()], Some("missing.csv` cannot be read")),
        (
            "rows that are none",
            vec![csv("ragged.csv", "a,b\n1\n")],
            Some("ragged.csv` line 2: 1 cells"),
        ),
        (
            "rows beside a bad statement",
            vec![sql("SELECT x FROM elsewhere"), csv("also.csv", "n\n2\n")],
            None,
        ),
        ("a text", vec![Gold::Text("2".to_owned())], None),
    ];
    let before = std::fs::read(scratch.path().join("shop.sqlite")).unwrap();
    let questions = cases.iter().map(|(id, golds, _)| question(id, golds.clone())).collect();
    let faults = ungradable(&suite(questions), None, &arena).await.unwrap();
    for (id, _, expected) in cases {
        match (faults.get(id), expected) {
            (None, None) => {}
            (Some(why), Some(word)) => assert!(why.contains(word), "{id}: {why}"),
            (found, _) => panic!("{id}: {found:?}"),
        }
    }
    assert_eq!(std::fs::read(scratch.path().join("shop.sqlite")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_without_anything_to_grade_is_refused_and_a_shard_of_it_is_not() {
    let scratch = syrch_kit::scratch();
    let arena = arena(scratch.path());
    let bad = |id: &str| question(id, vec![sql("DROP TABLE customers")]);
    let whole = suite(vec![bad("a"), bad("b")]);
    let said = ungradable(&whole, None, &arena).await.unwrap_err();
    assert_eq!(said.class(), "configuration");
    let said = said.to_string();
    assert!(
        said.starts_with("no question of the suite can be graded: a and 1 more: `DROP`"),
        "{said}"
    );
    // Another shard may have questions that can be graded. Each checks only its own.
    let of = async |index| ungradable(&whole, Some(Shard { index, of: 2 }), &arena).await.unwrap();
    assert_eq!(
        (of(1).await.into_keys().collect::<Vec<_>>(), of(2).await.len()),
        (vec!["a".to_owned()], 1)
    );
    let elsewhere = Question { db: "bank".to_owned(), ..bad("c") };
    assert!(
        ungradable(&suite(vec![elsewhere]), None, &arena)
            .await
            .unwrap_err()
            .to_string()
            .contains("`bank`")
    );
}

/// An asker that records the questions that it is asked.
struct Asks(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Asker for Asks {
    async fn ask(&self, _: usize, question: &Question, _: Option<&Path>) -> Result<Asked, Error> {
        self.0.lock().unwrap().push(question.id.clone());
        Ok(Asked {
            end: End::Answered,
            fault: None,
            sql: Some("SELECT COUNT(*) FROM customers".to_owned()),
            data: None,
            confidence: None,
            candidate_confidence: None,
            reviewed: Vec::new(),
            origin: None,
            access: Vec::new(),
            cost: Cost { calls: 1, ..Cost::default() },
            time_ms: 0.0,
            used_up: None,
        })
    }
}

fn grader(
    folder: &Path,
    asked: &Arc<Mutex<Vec<String>>>,
    ungradable: BTreeMap<String, String>,
) -> Grader {
    Grader {
        asker: Box::new(Asks(Arc::clone(asked))),
        ungradable: Arc::new(ungradable),
        arena: Arc::new(arena(folder)),
        folder: folder.to_owned(),
        rule: Rule::default(),
        fuzzed: None,
        traces: Traces::None,
        has_journals: false,
        expected: Grader::new_expected_cache(),
    }
}

async fn grade_answer(grader: &Grader, id: &str, gold: &str) -> Graded {
    let question = Arc::new(question(id, vec![sql(gold)]));
    let item = Item { arm: 0, arm_name: "a".into(), question, place: 0, retried: false };
    let Answered::Graded(graded) = grader.answer(&item).await else { panic!("{id}") };
    *graded
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_locked_for_a_while_excludes_no_question() {
    let scratch = syrch_kit::scratch();
    let grader = grader(scratch.path(), &Arc::default(), BTreeMap::new());
    // It is opened before it is locked, as in a run that is resumed.
    grader.arena.database("shop").await.unwrap();
    let lock = rusqlite::Connection::open(scratch.path().join("shop.sqlite")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let gold = "SELECT COUNT(*) FROM customers";
    let suite = suite(vec![question("q", vec![sql(gold)])]);
    assert_eq!(ungradable(&suite, None, &grader.arena).await.unwrap(), BTreeMap::new());
    let locked = grade_answer(&grader, "q", gold).await;
    let fault = locked.fault.clone().unwrap();
    assert_eq!(
        (locked.end, fault.class.as_str(), &locked.gold_fault),
        (End::Failed, "database", &None)
    );
    assert!(
        fault.message.starts_with("the answer cannot be judged now: ")
            && fault.message.contains("locked")
    );
    // It counts as wrong until it is tried again, and its cost is reported.
    assert_eq!((locked.verdict("bag-v1"), locked.cost.calls), (Some(Verdict::Wrong), 1));
    lock.execute_batch("ROLLBACK").unwrap();
    let again = grade_answer(&grader, "q", gold).await;
    assert_eq!(
        (again.end, again.fault.clone(), again.verdict("bag-v1")),
        (End::Answered, None, Some(Verdict::Right))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_what_cannot_be_graded() {
    let scratch = syrch_kit::scratch();
    let asked = Arc::default();
    let known = BTreeMap::from([("bad".to_owned(), "it writes".to_owned())]);
    let grader = grader(scratch.path(), &asked, known.clone());
    let mut all = Vec::new();
    for (id, gold) in [("bad", "DROP TABLE customers"), ("good", "SELECT 2"), ("fails", FAILS)] {
        all.push(grade_answer(&grader, id, gold).await);
    }
    assert_eq!(*asked.lock().unwrap(), ["good", "fails"]);
    let [bad, good, fails] = &all[..] else { panic!("three") };
    assert_eq!(
        (bad.gold_fault.as_deref(), bad.cost.calls, bad.sql.is_none()),
        (Some("it writes"), 0, true)
    );
    assert_eq!((good.gold_fault.as_deref(), good.verdict("bag-v1")), (None, Some(Verdict::Right)));
    let overflow = fails.gold_fault.clone().unwrap();
    // A question that was asked has its cost, and counts for no arm.
    assert!(
        overflow.contains("overflow") && fails.verdicts.is_empty() && fails.cost.calls == 1,
        "{overflow}"
    );
    // Only the faults that were not known before are reported.
    let reported = warn_of_ungraded(&all, &known).unwrap();
    assert_eq!(reported, format!("1 question that was asked cannot be graded: fails: {overflow}"));
    assert_eq!(warn_of_ungraded(&all[..2], &known), None);
    let both = warn_of_ungraded(&all, &BTreeMap::new()).unwrap();
    assert!(
        both.starts_with("2 questions that were asked cannot be graded: bad: it writes; fails: "),
        "{both}"
    );
}

#[test]
fn five_kinds_of_faults_are_named_and_the_rest_counted() {
    let faults = |many: u32| {
        (0..many)
            .map(|id| (format!("q{id:02}"), "does not run".to_owned()))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(warning(&faults(0)), None);
    let one = warning(&faults(1)).unwrap();
    assert_eq!(
        one,
        "1 question cannot be graded and is not asked: q00: does not run; `suite lint` \
         lists all of them"
    );
    let many = warning(&faults(12)).unwrap();
    assert_eq!(
        many,
        "12 questions cannot be graded and are not asked: q00 and 11 more: does not run; `suite \
         lint` lists all of them"
    );
    let kinds = (0..12).map(|id| (format!("q{id:02}"), format!("fault {}", id % 6))).collect();
    let many = warning(&kinds).unwrap();
    assert!(
        many.contains("q04 and 1 more: fault 4; and 2 more;") && !many.contains("q05"),
        "{many}"
    );
}
