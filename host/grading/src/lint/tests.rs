//! Examples of each kind of finding, and of statements without one.

use std::sync::Mutex;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A suite beside a database of three children, of whom two are of one age.
struct Home(TempDir);

const CHILDREN: &str =
    "CREATE TABLE child(id INTEGER PRIMARY KEY, name TEXT, age INTEGER, town TEXT);
    INSERT INTO child VALUES (1, 'Ada', 7, 'Bern'), (2, 'Ben', 7, 'Bern'), (3, 'Cleo', 9, 'Rome');";

impl Home {
    fn new() -> Self {
        let home = Self(syrch_kit::scratch());
        syrch_kit::sqlite(home.0.path().join("school.sqlite"), CHILDREN);
        home
    }

    async fn lint_with(
        &self,
        questions: &[Value],
        settings: &Settings,
        observer: &dyn LintObserver,
    ) -> LintReport {
        let path = self.0.path().join("suite.jsonl");
        let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        let suite = read_suite(&path).await.unwrap();
        let databases = syrch::databases::suite_databases(&suite, None).unwrap();
        lint(&suite, &databases, settings, observer).await
    }

    /// The findings as `id gold kind`.
    async fn lint(&self, questions: &[Value]) -> Vec<String> {
        let report = self.lint_with(questions, &Settings::default(), &Silent).await;
        report
            .findings
            .iter()
            .map(|finding: &Finding| {
                let gold = finding.gold.map(|gold| format!(" {gold}")).unwrap_or_default();
                format!("{}{gold} {}", finding.id, finding.kind.name())
            })
            .collect()
    }

    /// The kind found in one statement, if any.
    async fn find_kind(&self, sql: &str, ordered: bool) -> Option<String> {
        let question = json!({
            "id": "q", "db": "school", "question": "?", "gold_sql": sql, "ordered": ordered
        });
        let mut found = self.lint(&[question]).await;
        assert!(found.len() < 2, "{found:?}");
        found.pop().map(|found| found.replace("q 1 ", ""))
    }
}

fn question(id: &str, sql: &str) -> Value {
    json!({"id": id, "db": "school", "question": format!("{id}?"), "gold_sql": sql})
}

#[tokio::test(flavor = "multi_thread")]
async fn golds_that_cannot_be_had_are_errors() {
    let home = Home::new();
    let before = std::fs::read(home.0.path().join("school.sqlite")).unwrap();
    let mut postgres = question("pg", "SELECT 1");
    postgres["engine"] = json!("postgres");
    let mut other = question("gone", "SELECT 1");
    other["db"] = json!("text");
    std::fs::write(home.0.path().join("text.db"), "no database").unwrap();
    let questions = [
        question("fine", "SELECT name FROM child"),
        question("typo", "SELECT nme FROM child"),
        question("write", "DELETE FROM child"),
        question("hidden", "WITH x AS (SELECT 1) DELETE FROM child"),
        question("function", "SELECT load_extension('x')"),
        json!({
            "id": "second", "db": "school", "question": "?", "gold_sql": "SELECT 1",
            "gold_alternatives": ["SELECT 2", "SELECT"]
        }),
        postgres,
        other,
    ];
    let report = home.lint_with(&questions, &Settings::default(), &Silent).await;
    let found: Vec<_> =
        report.findings.iter().map(|found| (found.id.as_str(), found.gold, found.kind)).collect();
    assert_eq!(
        found,
        [
            ("typo", Some(1), FindingKind::DoesNotRun),
            ("write", Some(1), FindingKind::Writes),
            ("hidden", Some(1), FindingKind::Writes),
            ("function", Some(1), FindingKind::Refused),
            ("second", Some(3), FindingKind::DoesNotRun),
            ("pg", None, FindingKind::OtherEngine),
            ("gone", None, FindingKind::NoDatabase),
        ]
    );
    assert_eq!(
        (report.errors, report.warnings, report.suite.golds, report.suite.databases),
        (7, 0, 10, 2)
    );
    assert!(
        report.findings[0].what.starts_with("unknown-column: no such column `nme`"),
        "{}",
        report.findings[0].what
    );
    assert_eq!((report.findings[1].line, report.findings[1].item), (Some(3), None));
    assert_eq!(std::fs::read(home.0.path().join("school.sqlite")).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_and_cut_results_are_reported() {
    let home = Home::new();
    assert_eq!(
        home.find_kind("SELECT name FROM child WHERE age > 99", false).await.as_deref(),
        Some("empty")
    );
    let mut settings = Settings::default();
    settings.limits.rows = 2;
    let report =
        home.lint_with(&[question("all", "SELECT name FROM child")], &settings, &Silent).await;
    assert_eq!(report.counts, BTreeMap::from([("truncated", 1)]));
    assert_eq!(report.findings[0].what, "only its first 2 rows are compared");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tie_that_limit_cuts_is_reported_and_one_that_does_not_matter_is_not() {
    let home = Home::new();
    let tie = Some("tie-cut");
    for (sql, found) in [
        ("SELECT name FROM child ORDER BY age LIMIT 1", tie),
        ("SELECT name FROM child ORDER BY age LIMIT 1 OFFSET 1", tie),
        ("SELECT name FROM child ORDER BY age LIMIT 1, 1", tie),
        ("SELECT name, age FROM child ORDER BY 2 ASC LIMIT 1", tie),
        ("SELECT name, age AS years FROM child ORDER BY years LIMIT 1", tie),
        ("SELECT * FROM child ORDER BY age LIMIT 1", tie),
        ("SELECT DISTINCT name FROM child ORDER BY age LIMIT 1", tie),
        ("SELECT name FROM child LIMIT 1", tie),
        ("SELECT name, age FROM child UNION SELECT 'Dan', 7 ORDER BY age LIMIT 2", tie),
        ("SELECT name FROM child UNION SELECT 'Dan' ORDER BY name LIMIT 2", None),
        (
            "SELECT name FROM (SELECT name, age FROM child UNION ALL SELECT 'Dan', 7) \
             ORDER BY age LIMIT 2",
            tie,
        ),
        (
            "SELECT town FROM child WHERE id = (SELECT id FROM child ORDER BY age DESC LIMIT 1)",
            None,
        ),
        ("SELECT name FROM child WHERE id = (SELECT id FROM child ORDER BY age LIMIT 1)", tie),
        ("SELECT town, count(*) FROM child GROUP BY town ORDER BY count(*) DESC LIMIT 1", None),
        ("SELECT age FROM child GROUP BY town ORDER BY min(age) LIMIT 1", None),
        // Those that tie are the same in what comes out.
        ("SELECT town FROM child ORDER BY age LIMIT 1", None),
        ("SELECT town FROM child WHERE id = (SELECT id FROM child ORDER BY age LIMIT 1)", None),
        // Either all of the rows that tie are in the result, or none.
        ("SELECT name FROM child ORDER BY age LIMIT 2", None),
        ("SELECT name FROM child ORDER BY age DESC LIMIT 1", None),
        ("SELECT name FROM child ORDER BY age LIMIT 1 OFFSET 2", None),
        ("SELECT name FROM child ORDER BY age LIMIT 99", None),
        ("SELECT name FROM child ORDER BY age, name LIMIT 1", None),
    ] {
        assert_eq!(home.find_kind(sql, false).await.as_deref(), found, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_graded_has_to_be_one() {
    let home = Home::new();
    for (sql, found) in [
        ("SELECT name FROM child", Some("unordered")),
        ("SELECT name FROM child ORDER BY age", Some("order-ties")),
        ("SELECT name FROM child ORDER BY age LIMIT 2", Some("order-ties")),
        ("SELECT name FROM child ORDER BY age LIMIT 1", Some("tie-cut")),
        ("SELECT name FROM child ORDER BY age, name", None),
        ("SELECT age FROM child ORDER BY age", None),
        ("SELECT count(*) FROM child", None),
    ] {
        assert_eq!(home.find_kind(sql, true).await.as_deref(), found, "{sql}");
    }
    assert_eq!(home.find_kind("SELECT name FROM child ORDER BY age", false).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_repeats_and_expects_something_else_is_reported() {
    let home = Home::new();
    let ask = |id: &str, text: &str, sql: &str| {
        json!({
            "id": id, "db": "school", "question": text, "gold_sql": sql
        })
    };
    let mut explained = ask("explained", "How many?", "SELECT 5");
    explained["evidence"] = json!("of all schools");
    let found = home
        .lint(&[
            ask("a", "How many?", "SELECT count(*) FROM child"),
            ask("same", "How many?", "SELECT count(id) FROM child"),
            ask("else", "How many? ", "SELECT 4"),
            ask("broken", "How many?", "SELECT"),
            explained,
            ask("other", "How many then?", "SELECT 4"),
        ])
        .await;
    assert_eq!(found, ["else contradiction", "broken 1 does-not-run"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_and_answers_are_looked_at_too() {
    let home = Home::new();
    std::fs::write(home.0.path().join("rows.csv"), "n\n1\n").unwrap();
    std::fs::write(home.0.path().join("none.csv"), "n\n").unwrap();
    let expects = |id: &str, member: &str, value: Value| {
        json!({
            "id": id, "db": "school", "question": id, member: value
        })
    };
    let questions = [
        expects("rows", "expected_data", json!("rows.csv")),
        expects("none", "expected_data", json!("none.csv")),
        expects("answer", "expected_answer", json!(3)),
        json!({"id": "end", "db": "school", "question": "end", "expect": "clarify"}),
    ];
    assert_eq!(home.lint(&questions).await, ["none 1 empty"]);
}

#[derive(Default)]
struct Steps(Mutex<Vec<(u64, u64)>>);

impl LintObserver for Steps {
    fn on_question_checked(&self, done: u64, of: u64) {
        self.0.lock().unwrap().push((done, of));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_is_in_the_order_of_the_suite_whatever_the_database() {
    let home = Home::new();
    syrch_kit::sqlite(home.0.path().join("another.sqlite"), "CREATE TABLE t(a)");
    let mut questions: Vec<Value> =
        (0..40).map(|at| question(&format!("q{at}"), "SELECT 1 WHERE 0")).collect();
    questions.iter_mut().step_by(2).for_each(|question| question["db"] = json!("another"));
    let steps = Steps::default();
    let report = home.lint_with(&questions, &Settings::default(), &steps).await;
    let lines: Vec<_> = report.findings.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, (1..=40).map(Some).collect::<Vec<_>>());
    assert_eq!(*steps.0.lock().unwrap(), (1..=40).map(|done| (done, 40)).collect::<Vec<_>>());
    let document = serde_json::to_value(&report).unwrap();
    assert_eq!(document["schema"], "syrch.lint/1");
    assert_eq!(
        document["findings"][0],
        json!({"severity": "warning", "kind": "empty", "id": "q0", "line": 1, "item": null,
            "db": "another", "gold": 1,
            "what": "has no rows, as most wrong statements have none"})
    );
}
