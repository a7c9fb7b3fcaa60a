//! Replies of every shape, read by several strategies: the statement that was meant is run.

use std::path::Path;

use serde_json::json;
use syrch_kit::{MockEndpoint, Reply, Script};

use super::{PLAN, Said, search, whole};
use crate::{host, shop};

const QUESTION: &str = "How many customers are there?";
const COUNT: &str = "SELECT count(*) FROM customers";
const STRATEGIES: [&str; 3] = ["single", "decompose", "vote5"];

fn fence(sql: &str) -> String {
    format!("\n```sql\n{sql};\n```\n")
}

/// The statement and the rows of the answer, without the database's cache, and what was logged.
fn answer(database: &Path, strategy: &str, reply: Reply) -> (String, serde_json::Value, String) {
    let endpoint = MockEndpoint::start(Script::new().on([PLAN], whole()).on([""], reply));
    let mut command = search(&endpoint.url(), database);
    command.env("SYRCH_STATE_DIR", database.with_file_name("state"));
    let said = Said::from_output(
        command
            .args(["-v", "--format", "json", "--strategy", strategy, "-q", QUESTION])
            .output()
            .unwrap(),
    );
    let document = said.document(0);
    (document["sql"].as_str().unwrap().to_owned(), document["answer"]["rows"].clone(), said.stderr)
}

#[test]
fn the_first_statement_that_passes_the_check_is_taken() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let all = "SELECT * FROM customers";
    let template = "SELECT column_name FROM table_name";
    let other = "SELECT count(*) FROM customers WHERE state = 'done'";
    let replies = [
        format!("{}In general:{}", fence(COUNT), fence(template)),
        format!("{}If your column is called state:{}", fence(COUNT), fence(other)),
        format!("{}Alternatively, to see all rows:{}", fence(COUNT), fence(all)),
        format!("The form is:{}Here:{}", fence(template), fence(COUNT)),
        format!("A first draft:{}Final query:{}", fence(all), fence(COUNT)),
        format!("{COUNT};\n{all};"),
    ];
    let (_, right, _) = answer(&database, "single", Reply::text(COUNT));
    for reply in replies {
        for strategy in STRATEGIES {
            let (sql, rows, stderr) = answer(&database, strategy, Reply::text(reply.clone()));
            assert_eq!((sql.as_str(), &rows), (COUNT, &right), "{strategy}: {reply}");
            assert!(
                stderr.contains("the reply held 2 statements; number "),
                "{strategy}: {reply}\n{stderr}"
            );
        }
    }
    // The last search is in the trace with what its replies held.
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", folder.path().join("state"))
        .args(["trace", "show", "last", "--calls"]);
    let shown = Said::from_output(command.output().unwrap());
    assert!(
        shown.stdout.contains("the reply held 2 statements; number 1 is used"),
        "{}",
        shown.all()
    );
    let mut command = host();
    command
        .env("SYRCH_STATE_DIR", folder.path().join("state"))
        .args(["trace", "replay", "last", "--strict"]);
    let replayed = Said::from_output(command.output().unwrap());
    assert_eq!(replayed.code, 0, "{}", replayed.all());
}

/// Equal samples with the same doubt do not make it a certainty.
#[test]
fn of_two_statements_neither_is_sure_unless_the_reply_says_which() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let right = "SELECT count(*) FROM customers WHERE country = 'Spain'";
    let unclear = [
        format!("{}{}", fence(COUNT), fence(right)),
        format!("```sql\n{COUNT};\n{right};\n```\nConfidence: 0.95"),
        format!("{}Moment, das sind alle.{}Confidence: 0.95", fence(COUNT), fence(right)),
    ];
    let clear = [
        format!("{}However, we should filter:{}Confidence: 0.95", fence(COUNT), fence(right)),
        format!("{}That's not it, since Spain is missing.{}", fence(COUNT), fence(right)),
        format!("Reasoning: first\n{COUNT};\nbut it ignores Spain.\nSQL: {right};"),
        format!("<|think|>{}<|/think|>{}", fence(COUNT), fence(right)),
    ];
    let asked = |strategy: &str, reply: &str| {
        let script = Script::new().on([PLAN], whole()).on([""], Reply::text(reply));
        let endpoint = MockEndpoint::start(script);
        let mut command = search(&endpoint.url(), &database);
        command.env("SYRCH_STATE_DIR", folder.path().join("state"));
        command.args(["--format", "json", "--strategy", strategy]);
        let said = command.args(["-q", "How many customers are in Spain?"]).output().unwrap();
        Said::from_output(said)
    };
    for strategy in ["single", "decompose", "vote5", "discern", "mcts", "beam", "text2sql"] {
        for reply in &unclear {
            let said = asked(strategy, reply);
            let document: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
            let sure = document["confidence"]["calibrated"].as_f64().unwrap_or_default();
            assert!(sure <= 0.5, "{strategy}, {reply}: {}", said.all());
        }
        let document = asked(strategy, &clear[0]).document(0);
        assert_eq!(document["sql"], right, "{strategy}: {document:#}");
    }
    for reply in &clear {
        let document = asked("vote5", reply).document(0);
        let sure = document["confidence"]["calibrated"].as_f64().unwrap_or_default();
        assert!(document["sql"] == right && sure > 0.5, "{reply}: {document:#}");
    }
    let said = asked("vote5", "I would not use SELECT 1 FROM customers. I have no answer.");
    assert_eq!(said.code, 3, "{}", said.all());
}

#[test]
fn statements_are_read_out_of_every_shape() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let texts = [
        format!("<sql>{COUNT}</sql>"),
        format!("{COUNT}<|im_end|>"),
        "SELECT count(*)\\nFROM customers".to_owned(),
        format!("({COUNT})"),
        format!("<tool_call>{}</tool_call>", json!({"name": "run", "arguments": {"sql": COUNT}})),
        json!({"answer": format!("Here:{}", fence(COUNT))}).to_string(),
        "SELECT\u{a0}count（*） FROM\u{202f}customers；".to_owned(),
        "SELECT count(*) FROM “customers” WHERE 1 &lt; 2".to_owned(),
        "SELECT count(*) FROM customers WHERE ‘a’ = ‘a’".to_owned(),
    ];
    let (_, right, _) = answer(&database, "single", Reply::text(COUNT));
    let called = Reply::tool_call_with("run_sql", &json!({"query": COUNT}));
    for (place, reply) in texts.into_iter().map(Reply::text).chain([called]).enumerate() {
        for strategy in &STRATEGIES[..if place < 2 { 3 } else { 1 }] {
            let (sql, rows, _) = answer(&database, strategy, reply.clone());
            assert_eq!(rows, right, "{strategy}, reply {place}: {sql}");
        }
    }
}

#[test]
fn a_reply_that_cannot_be_read_shows_what_it_holds() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let mut command = host();
    command
        .args(["--format", "json", "sql", "--db"])
        .arg(&database)
        .arg("SELECT\u{a0}count(*) FROM customers");
    let said = Said::from_output(command.output().unwrap());
    assert!(
        said.code != 0 && said.stderr.contains("not with `SELECT\\u{a0}count`"),
        "{}",
        said.all()
    );
}

/// A reply that corrects itself is taken at its last word, and one that only says that it is wrong
/// is not sure.
#[test]
fn a_reply_that_corrects_itself_is_taken_at_its_last_word() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let draft = "SELECT count(*) FROM products";
    for reply in [
        json!({"sql": draft, "final_sql": COUNT, "confidence": 0.95}).to_string(),
        json!({"sql": draft, "critique": "wrong table", "revised_sql": COUNT}).to_string(),
        json!({"sql": draft, "valid": false, "review": {"corrected_sql": COUNT}}).to_string(),
        format!("<rationale>{}</rationale><sql>{COUNT}</sql>", fence(draft)),
        format!("\\boxed{{{COUNT}}}"),
    ] {
        for strategy in STRATEGIES {
            let (sql, ..) = answer(&database, strategy, Reply::text(reply.clone()));
            assert_eq!(sql, COUNT, "{strategy}: {reply}");
        }
    }
    for reply in [
        json!({"sql": draft, "issues": ["counts products, not customers"]}).to_string(),
        format!("{}Correction: replace products by customers.\nConfidence: 0.95", fence(draft)),
        format!("{}I am not sure which table is meant.\nConfidence: 0.95", fence(draft)),
    ] {
        let endpoint = MockEndpoint::start(Script::always(Reply::text(reply.clone())));
        let mut command = search(&endpoint.url(), &database);
        command.args(["--format", "json", "--strategy", "vote5", "-q", QUESTION]);
        let said = Said::from_output(command.output().unwrap());
        let document: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let sure = document["confidence"]["calibrated"].as_f64().unwrap_or_default();
        assert!(sure <= 0.5, "{reply}: {}", said.all());
        assert!(said.stdout.contains("does not say clearly"), "{reply}: {}", said.all());
    }
}

/// The model's word that the tables cannot answer is taken, and said.
#[test]
fn a_reply_that_says_that_there_is_no_statement_is_not_asked_again() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let none = json!({"sql": "", "confidence": 0}).to_string();
    let endpoint = MockEndpoint::start(Script::always(Reply::text(none)));
    let mut command = search(&endpoint.url(), &database);
    let said = Said::from_output(command.args(["-q", QUESTION]).output().unwrap());
    assert_eq!(said.code, 3, "{}", said.all());
    assert!(said.all().contains("the tables cannot answer"), "{}", said.all());
    assert!(endpoint.count() <= 3, "{} calls", endpoint.count());
}
