//! Questions and follow-ups over the example database, read without a model: how many are right,
//! and how many are wrong rather than unread.

#![allow(unreachable_pub, reason = "the shop is a part of another crate")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it measured"
)]

#[path = "../../examples/src/data.rs"]
mod data;
#[path = "../../examples/src/random.rs"]
mod random;
#[path = "../../examples/src/shop.rs"]
mod shop;

use chrono::NaiveDate;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde::Deserialize;
use syrch_core::Dialect;
use syrch_semantics::{
    Cell, Reading, Request, RequestText, Semantics, Source, WeekStart, cells_at, compile,
    find_added, find_missing, phrases, read_follow_up, read_question,
};

/// A question with the statement whose rows are right, or none if it must not be read.
#[derive(Deserialize)]
struct Question {
    id: String,
    half: String,
    question: String,
    sql: Option<String>,
}

/// A text after a request with the request that it leads to, or none if it must not be read.
#[derive(Deserialize)]
struct FollowUp {
    id: String,
    half: String,
    previous: RequestText,
    text: String,
    request: Option<RequestText>,
}

type Rows = Vec<Vec<Value>>;

/// The shop with its semantics.
struct Shop {
    database: Connection,
    semantics: Semantics,
    cells: Vec<(String, String, String)>,
    today: NaiveDate,
}

impl Shop {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.sqlite");
        shop::make_shop(&path).unwrap();
        let database = Connection::open(path).unwrap();
        let text = include_str!("../../examples/shop.semantics.yml").to_owned();
        let source = Source { file: "shop.semantics.yml".to_owned(), text };
        let semantics = Semantics::read(&[source]).unwrap();
        let today = semantics.today.unwrap();
        let mut cells = Vec::new();
        for (table, column) in [
            ("categories", "name"),
            ("products", "name"),
            ("customers", "name"),
            ("customers", "city"),
            ("customers", "country"),
            ("customers", "segment"),
            ("suppliers", "name"),
            ("suppliers", "city"),
            ("suppliers", "country"),
            ("employees", "name"),
            ("employees", "title"),
            ("orders", "status"),
            ("orders", "payment_method"),
            ("reviews", "comment"),
        ] {
            for row in run(&database, &format!("SELECT DISTINCT {column} FROM {table}")) {
                if let [Value::Text(cell)] = row.as_slice() {
                    cells.push((table.to_owned(), column.to_owned(), cell.clone()));
                }
            }
        }
        Self { database, semantics, cells, today }
    }

    /// The cells that equal a phrase of the text, as an index of values finds them.
    fn find(&self, text: &str) -> Vec<Cell> {
        let phrases: Vec<String> = phrases(text).iter().map(|one| one.to_lowercase()).collect();
        let found = self.cells.iter().filter(|(_, _, cell)| phrases.contains(&cell.to_lowercase()));
        found
            .flat_map(|(table, column, cell)| cells_at(&self.semantics, table, column, cell))
            .collect()
    }
}

fn run(database: &Connection, sql: &str) -> Rows {
    let mut statement = database.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let width = statement.column_count();
    let rows =
        statement.query_map([], |row| (0..width).map(|index| row.get(index)).collect()).unwrap();
    rows.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// A value as it is compared: numbers to nine digits.
fn write_value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => format!("{:.8e}", *number as f64),
        Value::Real(number) => format!("{number:.8e}"),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

/// Rows as they are compared; in their order where it was asked for.
fn list_rows(rows: &Rows, ordered: bool) -> Vec<String> {
    let mut out: Vec<String> =
        rows.iter().map(|row| row.iter().map(write_value).collect::<Vec<_>>().join("|")).collect();
    if !ordered {
        out.sort();
    }
    out
}

/// The outcomes of the questions of one half.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    all: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Counts one outcome: `Ok(true)` for right, `Ok(false)` for unread, an error for wrong.
    fn count(&mut self, id: &str, text: &str, outcome: Result<bool, String>, why: String) {
        self.all += 1;
        match outcome {
            Ok(true) => self.right += 1,
            Ok(false) => self.failures.push(format!("{id} unread: {text}: {why}")),
            Err(what) => {
                self.wrong += 1;
                self.failures.push(format!("{id} WRONG: {text}: {what}"));
            }
        }
    }

    fn share(&self, number: usize) -> f64 {
        number as f64 / self.all.max(1) as f64
    }

    fn report(&self, title: &str) {
        println!("{title}: {} of {} right, {} wrong", self.right, self.all, self.wrong);
        for failure in &self.failures {
            println!("  {failure}");
        }
    }
}

fn ask(shop: &Shop, question: &Question) -> (Result<bool, String>, String) {
    let cells = shop.find(&question.question);
    let reading = read_question(&shop.semantics, &question.question, &cells, shop.today);
    let understood = match (reading, &question.sql) {
        (Reading::Unread(_), None) => return (Ok(true), String::new()),
        (Reading::Unread(why), Some(_)) => return (Ok(false), why.to_string()),
        (Reading::Understood(read), None) => {
            return (Err(format!("{:?}", read.request)), String::new());
        }
        (Reading::Understood(read), Some(_)) => read,
    };
    let request = understood.request;
    // A request that the rules made of a question leaves out and adds nothing.
    let missing = find_missing(&shop.semantics, &question.question, &request, shop.today);
    let added = find_added(&shop.semantics, &question.question, &request, shop.today);
    if !missing.is_empty() || !added.is_empty() {
        return (Err(format!("{missing:?} {added:?}")), String::new());
    }
    let compiled = match compile(&shop.semantics, &request, &Dialect::Sqlite, shop.today) {
        Ok(compiled) => compiled,
        Err(error) => return (Ok(false), format!("it does not compile: {error}")),
    };
    let ordered = request.order.is_some() || request.limit.is_some();
    let found = list_rows(&run(&shop.database, &compiled.sql), ordered);
    let wanted =
        list_rows(&run(&shop.database, question.sql.as_deref().unwrap_or_default()), ordered);
    if found == wanted {
        return (Ok(true), String::new());
    }
    let first = found.iter().zip(&wanted).find(|(one, other)| one != other);
    (
        Err(format!(
            "{} rows, not {}; {first:?}; {}",
            found.len(),
            wanted.len(),
            compiled.applied.request
        )),
        String::new(),
    )
}

/// A request with what does not matter put in order.
fn plain(mut request: Request) -> Request {
    request.filters.sort_by_key(|filter| format!("{filter:?}"));
    for filter in &mut request.filters {
        filter.values.sort_by_key(|value| format!("{value:?}"));
    }
    request
}

fn follow(shop: &Shop, one: &FollowUp) -> (Result<bool, String>, String) {
    let today = shop.today;
    let previous = one.previous.read(today, WeekStart::Monday).unwrap();
    let reading =
        read_follow_up(&shop.semantics, &previous, &one.text, &shop.find(&one.text), today);
    match (reading, &one.request) {
        (Reading::Unread(_), None) => (Ok(true), String::new()),
        (Reading::Unread(why), Some(_)) => (Ok(false), why.to_string()),
        (Reading::Understood(read), None) => (Err(format!("{:?}", read.request)), String::new()),
        (Reading::Understood(read), Some(wanted)) => {
            let wanted = plain(wanted.read(today, WeekStart::Monday).unwrap());
            let found = plain(read.request);
            if let Err(error) = compile(&shop.semantics, &found, &Dialect::Sqlite, today) {
                return (Ok(false), format!("it does not compile: {error}"));
            }
            match found == wanted {
                true => (Ok(true), String::new()),
                false => (Err(format!("{found:?}\n    wanted {wanted:?}")), String::new()),
            }
        }
    }
}

#[test]
fn questions_about_the_shop_are_read_right_or_not_at_all() {
    let shop = Shop::open();
    let mut tallies = [Tally::default(), Tally::default()];
    for line in include_str!("questions.jsonl").lines() {
        let question: Question = serde_json::from_str(line).unwrap();
        let (outcome, why) = ask(&shop, &question);
        let tally = &mut tallies[usize::from(question.half == "unseen")];
        tally.count(&question.id, &question.question, outcome, why);
    }
    tallies[0].report("questions in view of the rules");
    tallies[1].report("unseen questions");
    let [seen, unseen] = tallies;
    let all = (seen.all + unseen.all) as f64;
    assert!((seen.right + unseen.right) as f64 / all >= 0.9);
    assert_eq!(seen.wrong + unseen.wrong, 0);
}

#[test]
fn follow_ups_change_the_request_before() {
    let shop = Shop::open();
    let mut tallies = [Tally::default(), Tally::default()];
    for line in include_str!("follow_ups.jsonl").lines() {
        let one: FollowUp = serde_json::from_str(line).unwrap();
        let (outcome, why) = follow(&shop, &one);
        let tally = &mut tallies[usize::from(one.half == "unseen")];
        tally.count(&one.id, &one.text, outcome, why);
    }
    tallies[0].report("follow-ups in view of the rules");
    tallies[1].report("unseen follow-ups");
    for tally in tallies {
        assert!(tally.share(tally.right) >= 0.8 && tally.share(tally.wrong) <= 0.05);
    }
}
