//! Asks one question and compares the answer with the expected rows, down to the first rows in
//! which they differ.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use syrch::databases::{open_database, with_single_quotes};
use syrch::report::json_value;
use syrch::settings::Withheld;
use syrch::{Error, Host, Observer, Outcome, SearchReport, Settings, Stop, knowledge};
use syrch_core::ports::SqlQuery;
use syrch_core::{Problem, ResultSet, SqlError, Value};
use syrch_grade::Verdict;
use syrch_grade::rules::{Facts, Rule, judge_all, soft_f1};
use syrch_grade::suite::{self, Gold};

/// The schema's name in [`EvalReport::schema`].
pub const EVAL_SCHEMA: &str = "syrch.eval/1";
/// The number of rows of either side that a report shows.
const SHOWN: usize = 5;
/// The number of significant digits in which numbers must agree when rows are paired.
const DIGITS: usize = 6;

/// A question with its expected rows, ready to be asked.
pub struct Eval {
    host: Host,
    problem: Problem,
    expected: ResultSet,
    expected_sql: Option<String>,
    facts: Facts,
    rule: Rule,
    /// The warning about examples and notes that are left out.
    left_out: Option<String>,
}

/// `syrch.eval/1`: how an answer compares with what is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalReport {
    /// The name of the document's format, always [`EVAL_SCHEMA`].
    pub schema: String,
    /// The question, as it was asked.
    pub question: String,
    /// The name of the rule that decides on `match`.
    pub rule: String,
    /// True if the answer is the expected one; `None` if the rule cannot decide or there is no
    /// answer.
    #[serde(rename = "match")]
    pub is_match: Option<bool>,
    /// The end of the search: `answered`, `no-answer` or `clarification-needed`.
    pub outcome: Outcome,
    /// The verdict of every rule, by the rule's name; empty without an answer.
    pub verdicts: BTreeMap<String, Verdict>,
    /// The share of the expected cells that the answer has, 0 to 1; `None` without an answer.
    pub soft_f1: Option<f64>,
    /// The number of rows of the answer; `None` without an answer.
    pub rows: Option<u64>,
    /// The number of expected rows.
    pub expected_rows: u64,
    /// The names of the answer's columns; empty without an answer.
    pub columns: Vec<String>,
    /// The names of the expected columns.
    pub expected_columns: Vec<String>,
    /// The first of the expected rows that the answer lacks.
    pub missing: Vec<Vec<serde_json::Value>>,
    /// The first rows of the answer that are not expected.
    pub unexpected: Vec<Vec<serde_json::Value>>,
    /// The number, from 1, of the first row that differs, if the rows are the same in another order
    /// and the order matters.
    pub out_of_order: Option<u64>,
    /// The statement of the answer.
    pub sql: Option<String>,
    /// The expected statement; `None` if rows or a text are expected.
    pub expected_sql: Option<String>,
    /// The confidence of the answer, 0 to 1.
    pub confidence: Option<f64>,
    /// The id of the search's run.
    pub run: String,
    /// Warnings of the comparison and of the search.
    pub warnings: Vec<String>,
}

/// The expected answer of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// The rows of the CSV file at this path.
    Csv(PathBuf),
    /// The rows of this statement.
    Sql(String),
    /// One row of one cell, which has this text.
    Answer(String),
}

impl Eval {
    /// Reads or computes the expected rows, then opens the database, the model and the plugins.
    /// Nothing is asked yet.
    ///
    /// # Errors
    /// When the expected rows cannot be read or computed, and those of [`Host::open`].
    pub async fn open(
        settings: Settings,
        problem: Problem,
        expectation: Expectation,
        ordered: bool,
        rule: Rule,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let gold = match expectation {
            Expectation::Csv(path) => Gold::Csv(path),
            Expectation::Sql(sql) => Gold::Sql(sql),
            Expectation::Answer(text) => Gold::Text(text),
        };
        let expected_sql = match &gold {
            Gold::Sql(sql) => Some(sql.clone()),
            Gold::Csv(_) | Gold::Text(_) | Gold::End(_) => None,
        };
        let unnamed = matches!(gold, Gold::Text(_));
        let facts = Facts { unnamed, ..Facts::new(ordered, expected_sql.as_deref()) };
        let expected = load_expected_rows(&settings, gold).await?;
        let withheld = Withheld::new([problem.question.as_str()], expected_sql.as_deref());
        let mut settings = settings;
        settings.retrieval.withheld = Arc::new(withheld);
        let left_out = knowledge::left_out(&settings.retrieval)?;
        let host = Host::open(settings, observer).await?;
        Ok(Self { host, problem, expected, expected_sql, facts, rule, left_out })
    }

    /// Searches for an answer and compares it with the expected rows.
    ///
    /// # Errors
    /// Those of [`Host::search`].
    pub async fn carry_out(
        self,
        observer: Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<(EvalReport, SearchReport), Error> {
        let report = self.host.search(self.problem.clone(), observer, None, stop).await?;
        let answer = report.data.clone().filter(|_| report.outcome == Outcome::Answered);
        let compared = move || {
            let evaluated = self.compare(answer.as_deref());
            (evaluated, self)
        };
        let compared = tokio::task::spawn_blocking(compared).await;
        let (mut evaluated, _) = compared.map_err(|error| Error::Internal(error.to_string()))?;
        let document = &report.document;
        evaluated.outcome = report.outcome;
        evaluated.sql.clone_from(&document.sql);
        evaluated.confidence = document.confidence.as_ref().map(|confidence| confidence.calibrated);
        evaluated.run.clone_from(&document.run);
        evaluated.warnings.extend(document.warnings.iter().cloned());
        Ok((evaluated, report))
    }

    fn compare(&self, answer: Option<&ResultSet>) -> EvalReport {
        let golds = [(self.expected.clone(), self.facts)];
        let judged = answer.map(|answer| judge_all(&golds, Some(answer))).unwrap_or_default();
        let verdicts: BTreeMap<String, Verdict> =
            judged.into_iter().map(|(rule, judged)| (rule, judged.verdict)).collect();
        let verdict = verdicts.get(self.rule.name()).copied();
        let difference = answer
            .map(|answer| difference(&self.expected, answer, self.facts.ordered))
            .unwrap_or_default();
        let cut = self
            .expected
            .is_truncated()
            .then(|| "the expected rows were cut at the limit, so no rule can decide".to_owned());
        EvalReport {
            schema: EVAL_SCHEMA.to_owned(),
            question: self.problem.question.clone(),
            rule: self.rule.name().to_owned(),
            is_match: verdict
                .filter(|verdict| *verdict != Verdict::Excluded)
                .map(Verdict::is_right),
            outcome: Outcome::NoAnswer,
            verdicts,
            soft_f1: answer.map(|answer| soft_f1(&self.expected, answer)),
            rows: answer.map(ResultSet::row_count),
            expected_rows: self.expected.row_count(),
            columns: answer.map(names).unwrap_or_default(),
            expected_columns: names(&self.expected),
            missing: difference.missing,
            unexpected: difference.unexpected,
            out_of_order: difference.out_of_order,
            sql: None,
            expected_sql: self.expected_sql.clone(),
            confidence: None,
            run: String::new(),
            warnings: cut.into_iter().chain(self.left_out.clone()).collect(),
        }
    }
}

/// The expected rows. A statement runs under the guard, with all tables, whatever strategies are
/// granted.
async fn load_expected_rows(settings: &Settings, gold: Gold) -> Result<ResultSet, Error> {
    if let Gold::Sql(sql) = &gold {
        let database = open_database(&settings.for_database(&settings.database)).await?;
        let query = SqlQuery::new(with_single_quotes(sql, database.as_ref()).await);
        return database.run(&query).await.map_err(|error| {
            let message = format!("the expected statement: {}", error.message);
            Error::Sql(SqlError { message, ..error })
        });
    }
    let read = tokio::task::spawn_blocking(move || suite::read_expected_rows(&gold)).await;
    let read = read.map_err(|error| Error::Internal(error.to_string()))?;
    let rows = read.map_err(|error| Error::Unfit(format!("the expected rows: {error}")))?;
    rows.ok_or_else(|| Error::Internal("nothing is expected".to_owned()))
}

fn names(results: &ResultSet) -> Vec<String> {
    results.columns().into_iter().map(|column| column.name).collect()
}

/// The first rows in which two results differ.
#[derive(Debug, Default, PartialEq)]
struct Difference {
    missing: Vec<Vec<serde_json::Value>>,
    unexpected: Vec<Vec<serde_json::Value>>,
    out_of_order: Option<u64>,
}

/// Pairs equal rows, whatever their order. Columns are paired by name if both sides have the same
/// names, and by position otherwise.
fn difference(expected: &ResultSet, answer: &ResultSet, ordered: bool) -> Difference {
    let order = by_name(&names(expected), &names(answer));
    let expected = expected.rows(0, expected.row_count());
    let answer: Vec<Vec<Value>> = answer
        .rows(0, answer.row_count())
        .into_iter()
        .map(|row: Vec<Value>| -> Vec<Value> {
            match &order {
                Some(order) => order.iter().filter_map(|at| row.get(*at).cloned()).collect(),
                None => row,
            }
        })
        .collect();
    let missing = rows_only_in(&expected, &answer);
    let unexpected = rows_only_in(&answer, &expected);
    let same = missing.is_empty() && unexpected.is_empty();
    let place = expected
        .iter()
        .zip(&answer)
        .position(|(one, other): (&Vec<Value>, &Vec<Value>)| key(one) != key(other))
        .filter(|_| ordered && same);
    Difference { missing, unexpected, out_of_order: place.map(|place| place as u64 + 1) }
}

/// The position of each expected column in the answer; `None` unless both have the same names, each
/// once.
fn by_name(expected: &[String], answer: &[String]) -> Option<Vec<usize>> {
    let once =
        |name: &String, names: &[String]| names.iter().filter(|other| *other == name).count() == 1;
    let all = expected.len() == answer.len()
        && expected.iter().all(|name| once(name, expected) && once(name, answer));
    all.then(|| {
        expected.iter().filter_map(|name| answer.iter().position(|other| other == name)).collect()
    })
}

/// The first rows that `others` lack, each as often as it is missing there.
fn rows_only_in(rows: &[Vec<Value>], others: &[Vec<Value>]) -> Vec<Vec<serde_json::Value>> {
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    others.iter().for_each(|row| *left.entry(key(row)).or_default() += 1);
    let mut lacking = Vec::new();
    for row in rows {
        match left.get_mut(&key(row)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => lacking.push(row.iter().map(json_value).collect()),
        }
        if lacking.len() == SHOWN {
            break;
        }
    }
    lacking
}

/// A text that is equal for equal rows: 1 equals 1.0, and numbers are rounded.
fn key(row: &[Value]) -> String {
    row.iter()
        .map(|value: &Value| match value {
            Value::Integer(number) => round_number(*number as f64),
            Value::Real(number) => round_number(*number),
            Value::Decimal(text) => text.parse().map_or_else(|_| format!("{text:?}"), round_number),
            other => json_value(other).to_string(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

fn round_number(number: f64) -> String {
    // Adding zero makes minus zero equal to zero.
    format!("{:.*e}", DIGITS - 1, number + 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(csv: &str) -> ResultSet {
        let folder = syrch_kit::scratch();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, csv).unwrap();
        suite::read_expected_rows(&Gold::Csv(path)).unwrap().unwrap()
    }

    #[test]
    fn rows_are_paired_whatever_their_order_and_their_columns() {
        let expected = table("a,b\n1,x\n2,y\n2,y\n");
        let same = table("b,a\ny,2.0\nx,1\ny,2\n");
        assert_eq!(difference(&expected, &same, false), Difference::default());
        let other = table("a,b\n2,y\n3,z\n,x\n");
        let found = difference(&expected, &other, false);
        assert_eq!(found.missing, [[json!(1), json!("x")], [json!(2), json!("y")]]);
        assert_eq!(found.unexpected, [[json!(3), json!("z")], [json!(null), json!("x")]]);
    }

    #[test]
    fn an_order_counts_only_where_it_is_asked_for() {
        let expected = table("a\n1\n2\n3\n");
        let turned = table("n\n1\n3\n2\n");
        assert_eq!(difference(&expected, &turned, true).out_of_order, Some(2));
        assert_eq!(difference(&expected, &turned, false), Difference::default());
        assert_eq!(difference(&expected, &expected, true), Difference::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_is_not_shown_what_is_expected() {
        let folder = syrch_kit::scratch();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            Some(folder.path().join(name))
        };
        let shop = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); \
                    INSERT INTO customers(name) VALUES ('Ada'), ('Ben');";
        let database =
            syrch_kit::sqlite(folder.path().join("shop.sqlite"), shop).display().to_string();
        let mut settings = Settings { database, ..Settings::default() };
        let solved = [
            ("how many customers are there", "SELECT 7"),
            ("Their number?", "select count(*) as n from customers as c"),
            ("And?", "SELECT 1"),
        ];
        let solved = solved
            .map(|(question, sql)| format!("{}\n", json!({"question": question, "sql": sql})));
        settings.retrieval.examples = file("examples.jsonl", &solved.concat());
        settings.retrieval.notes =
            file("notes.txt", "SELECT COUNT(*) FROM customers;\nids begin at 1\n");
        let problem = Problem::new("How many customers are there?");
        let sql = "SELECT COUNT(*) AS how_many FROM customers".to_owned();
        let expectation = Expectation::Sql(sql);
        let rule = Rule::default();
        let eval =
            Eval::open(settings, problem, expectation, false, rule, &syrch::Silent).await.unwrap();
        let catalog = eval.host.database().catalog().await.unwrap();
        let sources = knowledge::Knowledge::read(&eval.host.settings().retrieval, &catalog)
            .unwrap()
            .0
            .sources;
        let solved: Vec<&str> =
            sources.examples.iter().map(|example| example.sql.as_str()).collect();
        let notes: Vec<&str> = sources.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!((solved, notes), (vec!["SELECT 1"], vec!["ids begin at 1"]));
        let report = eval.carry_out(Arc::new(syrch::Silent), &Stop::new()).await.unwrap().0;
        let reported =
            "2 solved examples and 1 note hold a graded question or its answer, and are left out";
        assert_eq!(
            (report.warnings.first().map(String::as_str), report.is_match),
            (Some(reported), Some(true))
        );
    }

    #[test]
    fn only_the_first_rows_are_shown() {
        let many: String = (0..100).map(|n| format!("{n}\n")).collect();
        let found = difference(&table(&format!("a\n{many}")), &table("a\n0.00000001\n"), false);
        assert_eq!((found.missing.len(), found.unexpected.len()), (SHOWN, 1));
    }
}
