//! `examples`: an answer that a person confirmed answers the same question again, and says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script};
use tempfile::TempDir;

use crate::bad_input::finish;
use crate::endpoint::{Said, search};
use crate::{host, shop};

const QUESTION: &str = "How many customers live in France?";
const STATEMENT: &str = "SELECT COUNT(*) AS french FROM customers WHERE country = 'France'";

/// A place with a shop, journals and examples of its own.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(syrch_kit::scratch());
        shop(place.0.path());
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn examples(&self) -> PathBuf {
        self.path().join("examples.jsonl")
    }

    fn with_state(&self, mut command: Command) -> Command {
        command.env("SYRCH_STATE_DIR", self.path().join("state"));
        command
    }

    /// Asks a model that writes that statement for every question.
    fn ask(&self, endpoint: &MockEndpoint, question: &str, flags: &[&str]) -> Said {
        let mut command = self.with_state(search(&endpoint.url(), &shop(self.path())));
        command.args(["--strategy", "single", "--format", "json", "-q", question]).args(flags);
        Said::from_output(command.output().unwrap())
    }

    /// Asks with the confirmed examples, and no model that could answer.
    fn ask_confirmed(&self, question: &str) -> Said {
        let mut command = self.with_state(host());
        command.arg("--db").arg(shop(self.path())).arg("--examples").arg(self.examples());
        command.args(["--llm", "offline", "--format", "json", "-q", question]);
        Said::from_output(command.output().unwrap())
    }

    /// Asks with the confirmed examples, if there are some, and the definitions of `shop.yml`.
    fn ask_defined(&self, question: &str) -> serde_json::Value {
        let mut command = self.with_state(host());
        command.arg("--db").arg(shop(self.path()));
        command.arg("--semantics").arg(self.path().join("shop.yml"));
        if self.examples().exists() {
            command.arg("--examples").arg(self.examples());
        }
        command.args(["--llm", "offline", "--format", "json", "-q", question]);
        Said::from_output(command.output().unwrap()).document(0)
    }

    fn examples_command(&self, words: &[&str]) -> Said {
        let mut command = self.with_state(host());
        command.arg("examples").args(words).arg("--file").arg(self.examples());
        Said::from_output(command.output().unwrap())
    }
}

impl Place {
    /// Confirms an answer of a batch.
    fn add_answer(&self, answers: &str, id: &str, more: &[&str]) -> Said {
        let words = ["add", "--answers", answers, "--id", id, "--by", "ann"];
        self.examples_command(&[&words, more].concat())
    }
}

fn writer() -> MockEndpoint {
    MockEndpoint::start(Script::new().on([], Reply::sql(STATEMENT, 0.6)))
}

#[test]
fn an_answer_of_a_batch_is_confirmed_by_its_id() {
    let place = Place::new();
    let endpoint = writer();
    let database = shop(place.path()).display().to_string();
    let answers = place.path().join("answers.jsonl").display().to_string();
    let lines = [
        json!({"id": "french", "question": QUESTION}),
        json!({"id": 2, "question": "How many French customers are there?", "conversation": "c"}),
        json!({"id": "explained", "question": QUESTION, "evidence": "French means from Lyon"}),
        json!({"id": "then", "question": QUESTION, "as_of": "2020-01-01"}),
        json!({"id": "long", "question": format!("{QUESTION} {}", "x".repeat(9_000))}),
    ];
    let mut command = place.with_state(host());
    command.args(["batch", "--strategy", "single", "--min-confidence", "0", "--db", &database]);
    command.args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url()]);
    command.args(["-o", &answers]);
    let lines = lines.map(|line| format!("{line}\n")).concat();
    let output = finish(&mut command, lines);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Somebody writes lines of their own: nothing that reads no table or asks nothing is confirmed.
    let mut written = fs::read_to_string(&answers).unwrap();
    let french: serde_json::Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    for (id, key, value) in [("constant", "sql", "SELECT 42"), ("silent", "question", " ")] {
        let mut line = french.clone();
        line["id"] = json!(id);
        line["answer"][key] = json!(value);
        written.push_str(&format!("{line}\n"));
    }
    fs::write(&answers, written).unwrap();
    for (id, more, why) in [
        ("french", [].as_slice(), "--db"),
        ("constant", &["--db", &database], "reads no table"),
        ("silent", &["--db", &database], "the question is empty"),
        ("3", &["--db", &database], "no line has the id `3`"),
        ("2", &["--db", &database], "is of a conversation"),
        ("explained", &["--db", &database], "was asked with an explanation"),
        ("then", &["--db", &database], "was asked with an explanation"),
        ("long", &["--db", &database], "an example has at most 8192"),
    ] {
        let said = place.add_answer(&answers, id, more);
        assert!(said.code == 2 && said.stderr.contains(why), "{id}: {}", said.all());
    }
    assert!(!place.examples().exists());
    let added = place.add_answer(&answers, "french", &["--db", &database]);
    assert_eq!(added.code, 0, "{}", added.all());
    let again = place.ask_confirmed(QUESTION).document(0);
    assert_eq!(
        (&again["origin"]["kind"], &again["origin"]["by"]),
        (&json!("verified"), &json!("ann"))
    );
    let twice = place.add_answer(&answers, "french", &["--db", &database]);
    assert!(twice.stderr.contains("confirmed already"), "{}", twice.all());
}

#[test]
fn a_confirmed_answer_is_given_again_without_a_model() {
    let place = Place::new();
    let endpoint = writer();
    let first = place.ask(&endpoint, QUESTION, &["--min-confidence", "0"]).document(0);
    assert_eq!(first["origin"], json!({"kind": "generated"}));
    let added = place.examples_command(&["add", "last", "--by", "ann"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let politely = "Please tell me how many customers live in France.";
    for question in [QUESTION, politely, "number of customers live in france"] {
        let again = place.ask_confirmed(question).document(0);
        assert_eq!(again["origin"]["kind"], "verified", "{question}: {again}");
        assert_eq!(again["origin"]["by"], "ann");
        assert_eq!(again["answer"]["rows"], first["answer"]["rows"]);
        assert_eq!(again["answer"]["columns"], json!(["french"]));
        assert_eq!(again["cost"]["calls"], 0);
        assert!(again["confidence"]["calibrated"].as_f64().unwrap() > 0.98, "{again}");
        assert_eq!(again["candidates"][0]["origin"], "verified");
    }
    // Another question is not answered by it.
    let other = place.ask_confirmed("How many customers live in Spain?").document(0);
    assert_eq!(other["origin"], json!({"kind": "generated"}));
}

#[test]
fn another_wording_of_a_confirmed_request_is_answered_by_its_statement() {
    let place = Place::new();
    let semantics = place.path().join("shop.yml");
    let file = "tables:\n  customers: {key: id, dimensions: [country]}\nmetrics:\n  customers: \
                {measure: count(customers.id), synonyms: [clients]}\n";
    fs::write(&semantics, file).unwrap();
    assert_eq!(place.ask_defined("customers by country")["origin"]["kind"], "metric");
    let mut add = place.with_state(host());
    add.args(["examples", "add", "last", "--by", "ann"]).arg("--file").arg(place.examples());
    add.arg("--semantics").arg(&semantics);
    assert!(add.status().unwrap().success());
    for question in ["How many clients are there per country?", "customers for each country"] {
        let again = place.ask_defined(question);
        assert_eq!(again["origin"]["by"], "ann", "{question}: {again}");
        assert_eq!(again["origin"]["question"], "customers by country");
        assert_eq!(again["cost"]["calls"], 0);
    }
    for question in ["customers", "customers by country without France"] {
        assert_eq!(place.ask_defined(question)["origin"]["kind"], "metric", "{question}");
    }
    // The words mean another request now.
    fs::write(&semantics, file.replace("count(customers.id)", "count(distinct customers.country)"))
        .unwrap();
    assert_eq!(place.ask_defined("clients per country")["origin"]["kind"], "metric");
}

#[test]
fn a_confirmed_answer_is_replayed_and_named_on_a_terminal() {
    let place = Place::new();
    let endpoint = writer();
    place.ask(&endpoint, QUESTION, &["--min-confidence", "0"]).document(0);
    place.examples_command(&["add", "last", "--by", "ann"]);
    let mut command = place.with_state(host());
    command.arg("--db").arg(shop(place.path())).arg("--examples").arg(place.examples());
    command.args(["--llm", "offline", "-q", QUESTION]);
    let said = Said::from_output(command.output().unwrap());
    assert!(said.stderr.contains("verified by ann, 20"), "{}", said.stderr);
    // The journal alone answers again, whatever became of the examples.
    fs::remove_file(place.examples()).unwrap();
    let mut command = place.with_state(host());
    command.args(["trace", "replay", "last", "--strict"]);
    let replayed = Said::from_output(command.output().unwrap());
    assert_eq!((replayed.code, replayed.stdout), (0, said.stdout), "{}", replayed.stderr);
}

#[test]
fn a_changed_table_makes_a_confirmed_answer_stale() {
    let place = Place::new();
    let endpoint = writer();
    place.ask(&endpoint, QUESTION, &["--min-confidence", "0"]).document(0);
    place.examples_command(&["add", "last", "--by", "ann"]);
    let connection = rusqlite::Connection::open(shop(place.path())).unwrap();
    connection.execute_batch("ALTER TABLE customers ADD COLUMN vat TEXT").unwrap();
    let again = place.ask_confirmed(QUESTION);
    let document = again.document(0);
    assert!(document["warnings"].to_string().contains("ann confirmed"), "{document}");
    assert_eq!(document["origin"], json!({"kind": "generated"}));
    let database = shop(place.path());
    let words = ["list", "--format", "json", "--db", database.to_str().unwrap()];
    let listed = place.examples_command(&words);
    let listed = listed.document(0);
    assert_eq!(listed["examples"][0]["state"], "stale", "{listed}");
}

/// The state of the first example under these semantics.
fn read_state(place: &Place, semantics: &str) -> String {
    let list = ["list", "--format", "json", "--semantics", semantics];
    let listed = place.examples_command(&list).document(0);
    listed["examples"][0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn changed_definitions_make_a_confirmed_answer_that_uses_them_stale() {
    let place = Place::new();
    let endpoint = writer();
    let file = place.path().join("shop.yml");
    let path = file.to_str().unwrap();
    let text = "tables: {orders: {key: id}, customers: {key: id, dimensions: [country]}}\nmetrics: \
                {orders: count(orders.id), customers: count(customers.id)}\n";
    fs::write(&file, text).unwrap();
    place.ask(&endpoint, QUESTION, &["--min-confidence", "0", "--semantics", path]).document(0);
    let added = place.examples_command(&["add", "last", "--by", "ann", "--semantics", path]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    assert_eq!(read_state(&place, path), "confirmed");
    for (changed, state) in [
        (format!("# A\n{text}"), "confirmed"),
        (text.replace("count(orders.id)", "count(orders.*)"), "confirmed"),
        (text.replace("[country]", "{country: \"upper(country)\"}"), "stale"),
        (text.replace("count(customers.id)", "count(customers.*)"), "stale"),
    ] {
        fs::write(&file, &changed).unwrap();
        assert_eq!(read_state(&place, path), state, "{changed}");
    }
    let again = place.examples_command(&["add", "last", "--by", "ben", "--semantics", path]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("semantics files have changed"), "{}", again.stderr);
}

#[test]
fn what_cannot_be_confirmed_is_said() {
    let place = Place::new();
    let endpoint = writer();
    place
        .ask(&endpoint, "Which customers came last month?", &["--min-confidence", "0"])
        .document(0);
    let bound = place.examples_command(&["add", "last", "--by", "ann"]);
    assert_eq!(bound.code, 2, "{}", bound.stderr);
    assert!(bound.stderr.contains("another day"), "{}", bound.stderr);
    let flags = ["--min-confidence", "0", "--evidence", "live means the first order"];
    place.ask(&endpoint, QUESTION, &flags).document(0);
    let explained = place.examples_command(&["add", "last", "--by", "ann"]);
    assert_eq!(explained.code, 2, "{}", explained.stderr);
    assert!(explained.stderr.contains("with an explanation"), "{}", explained.stderr);
    place.ask(&endpoint, QUESTION, &["--min-confidence", "0"]).document(0);
    let nobody = place.examples_command(&["add", "last", "--by", "  "]);
    assert_eq!(nobody.code, 2, "{}", nobody.stderr);
    assert!(!place.examples().exists());
    for expected in ["added to", "confirmed already"] {
        let added = place.examples_command(&["add", "last", "--by", "ann"]);
        assert_eq!(added.code, 0);
        assert!(added.stderr.contains(expected), "{}", added.stderr);
    }
    assert_eq!(fs::read_to_string(place.examples()).unwrap().lines().count(), 1);
}
