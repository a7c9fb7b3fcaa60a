//! Questions back to the user, and honest silence: what happens when no answer is good enough.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, finish};
use crate::endpoint::{KEY, PLAN, Said, WRITE, ask, candidates, search, whole};
use crate::{host, shop};

const QUESTION: &str = "Who are the important customers?";
/// A text that is only in a prompt for a question to the user.
const CLARIFY: &str = "could not tell what the user means";
const EMPTY: &str = "SELECT name FROM customers WHERE country = 'Important'";

/// A model that is unsure and finds nothing, until the user's answer is in the prompt.
fn unsure_until(answer: &str) -> Script {
    Script::new()
        .on([PLAN], whole())
        .on(
            [WRITE, &format!("Answer: {answer}")],
            Reply::sql("SELECT name FROM customers WHERE country = 'France'", 0.95),
        )
        .on([WRITE], Reply::sql(EMPTY, 0.1))
        .on([CLARIFY], Reply::text("What makes a customer important?"))
}

/// Asks interactively; `lines` are what the user types.
fn converse(endpoint: &MockEndpoint, database: &Path, flags: &[&str], lines: &str) -> Said {
    let mut command = search(&endpoint.url(), database);
    command.args(["--interactive", "--format", "json", "-q", QUESTION]).args(flags);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    Said::from_output(child.wait_with_output().unwrap())
}

#[test]
fn a_doubtful_answer_is_a_question_instead() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unsure_until("never"));
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &[]);
    let document = said.document(4);
    assert_eq!(document["schema"], "syrch.answer/1");
    assert_eq!(document["clarify"]["question"], "What makes a customer important?");
    assert!(document["clarify"]["ambiguity"].as_f64().unwrap() > 0.35, "{document:#}");
    for held_back in ["answer", "sql", "confidence"] {
        assert_eq!(document[held_back], Value::Null, "{held_back}");
    }
    assert!(
        said.stderr.contains("What makes a customer important?")
            && said.stderr.contains("--interactive")
    );
    assert_eq!(document["cost"]["by_purpose"]["clarify"]["calls"], 1);
    // What it found is reported all the same, but as no answer.
    assert!(candidates(&document).iter().all(|(_, status, _)| status != "answer"), "{document:#}");
    assert!(!document["candidates"].as_array().unwrap().is_empty());
}

#[test]
fn people_read_the_question_and_no_answer() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unsure_until("never"));
    let mut command = search(&endpoint.url(), &shop(folder.path()));
    let said = Said::from_output(command.args(["-q", QUESTION]).output().unwrap());
    assert_eq!((said.code, said.stdout.as_str()), (4, ""), "{}", said.all());
    assert!(said.stderr.contains("What makes a customer important?"), "{}", said.stderr);
}

/// The rules ask what a superlative measures, and offer what it could be.
#[test]
fn a_superlative_without_a_measure_is_a_question() {
    let place = Place::new();
    let tables = "CREATE TABLE houses(id INTEGER PRIMARY KEY, name TEXT, area REAL, \
                  population INTEGER);
                  INSERT INTO houses(name, area, population) VALUES ('Elm', 90, 5), ('Oak', 120, \
                    2), ('Fir', 70, 9);";
    syrch_kit::sqlite(place.path().join("town.sqlite"), tables);
    let asked = |flags: &str, lines: &str| {
        let mut command =
            place.words(&format!("--llm offline --db town.sqlite --format json {flags} -q"));
        Said::from_output(finish(command.arg("Which is the biggest house?"), lines))
    };
    let document = asked("", "").document(4);
    assert_eq!(document["clarify"]["question"], "By what is \"biggest house\" measured?");
    assert_eq!(document["clarify"]["choices"], json!(["area", "population"]));
    for (line, name) in [("1\n", "Oak"), ("population\n", "Fir")] {
        assert_eq!(
            asked("--interactive", line).document(0)["answer"]["rows"],
            json!([[name]]),
            "{line}"
        );
    }
}

/// Every choice that the rules offer, and the same words as evidence, lead to an answer.
#[test]
fn each_choice_of_the_rules_leads_to_its_answer() {
    let place = Place::new();
    let tables = "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT,
                    referred_by INTEGER REFERENCES customers(id));
                  CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES \
                    customers(id));
                  CREATE TABLE reviews(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES \
                    customers(id));
                  INSERT INTO customers(id, name) VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
                  INSERT INTO orders(customer_id) VALUES (1), (1), (1), (2), (3), (3);
                  INSERT INTO reviews(customer_id) VALUES (2), (2), (1), (3), (3), (3), (3);";
    syrch_kit::sqlite(place.path().join("sales.sqlite"), tables);
    let asked = |question: &str, flags: &[&str], lines: &str| {
        let mut command = place.words("--llm offline --db sales.sqlite --format json");
        Said::from_output(finish(command.args(flags).args(["-q", question]), lines))
    };
    // A thing that refers to its own kind is not measured by the number of its kind.
    for (question, line) in [
        ("most popular customer", "1\n"),
        ("What is the most popular customer?", "number of orders\n"),
    ] {
        let document = asked(question, &["--interactive"], line).document(0);
        assert_eq!(document["answer"]["rows"], json!([["Ann"]]), "{question}");
    }
    for evidence in ["number of reviews", "By the number of reviews."] {
        let document = asked("most popular customer", &["--evidence", evidence], "").document(0);
        assert_eq!(document["answer"]["rows"], json!([["Cy"]]), "{evidence}");
    }
    let document = asked("Who is the biggest customer?", &[], "").document(4);
    assert_eq!(document["clarify"]["choices"], json!(["number of orders", "number of reviews"]));
    for (question, line, name) in [
        ("Who is the biggest customer?", "1\n", "Ann"),
        ("Who is the biggest customer?", "2\n", "Cy"),
        ("Who is the biggest customer?", "most reviews\n", "Cy"),
        ("Who is the smallest customer?", "1\n", "Bob"),
        ("Who is the smallest customer?", "by number of reviews\n", "Ann"),
    ] {
        let said = asked(question, &["--interactive"], line);
        assert_eq!(said.document(0)["answer"]["rows"], json!([[name]]), "{question} {line}");
    }
    for (evidence, name) in [
        ("biggest customer means number of orders", "Ann"),
        ("The biggest customer means most reviews.", "Cy"),
        ("Biggest customer = number of reviews", "Cy"),
    ] {
        let said = asked("Who is the biggest customer?", &["--evidence", evidence], "");
        assert_eq!(said.document(0)["answer"]["rows"], json!([[name]]), "{evidence}");
    }
}

/// The guard refuses what an imperative asks for, and the exit code says so.
#[test]
fn an_imperative_to_change_data_is_denied() {
    let place = Place::new();
    std::fs::copy(shop(place.path()), place.path().join("kept.sqlite")).unwrap();
    for imperative in [
        "delete all customers",
        "please drop the table customers",
        "Set the name of every customer to x",
    ] {
        let mut command = place.words("--llm offline --db kept.sqlite -q");
        let said = Said::from_output(finish(command.arg(imperative), ""));
        assert_eq!((said.code, said.stdout.as_str()), (15, ""), "{imperative}: {}", said.all());
        assert!(
            said.stderr.contains("nothing was changed, since a search only reads"),
            "{}",
            said.stderr
        );
    }
}

/// Without a model every candidate is the same rules' statement: that they agree makes none of them
/// surer.
#[test]
fn a_vote_among_the_rules_statements_raises_no_confidence() {
    let place = Place::new();
    let confidence = |strategy: &str| {
        let mut command =
            place.words("--llm offline --db shop.sqlite --format json --no-calibration --strategy");
        let said = Said::from_output(finish(
            command.args([strategy, "-q", "How many customers are there?"]),
            "",
        ));
        said.document(0)["confidence"]["calibrated"].as_f64().unwrap()
    };
    let single = confidence("single");
    assert!(single < 1.0);
    for strategy in ["chase", "mcts", "vote5"] {
        assert!(confidence(strategy) <= single, "{strategy}");
    }
}

#[test]
fn doubt_is_a_matter_of_settings() {
    let folder = syrch_kit::scratch();
    let script = || {
        Script::new()
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT name FROM customers", 0.6))
            .on([CLARIFY], Reply::text("Which ones?"))
    };
    let endpoint = MockEndpoint::start(script());
    let document = ask(&endpoint, &shop(folder.path()), QUESTION, &[]).document(0);
    assert_eq!(
        (document["answer"]["row_count"].as_u64(), &document["clarify"]),
        (Some(4), &Value::Null)
    );
    assert_eq!(endpoint.count_of(CLARIFY), 0);
    let endpoint = MockEndpoint::start(script());
    ask(&endpoint, &shop(folder.path()), QUESTION, &["-P", "clarifier.threshold=0.1"]).document(4);
    // A sure answer is never questioned.
    let endpoint = MockEndpoint::start(script());
    ask(&endpoint, &shop(folder.path()), QUESTION, &["-P", "threshold=0.1", "--high-conf", "0.5"])
        .document(0);
}

#[test]
fn the_users_answer_is_in_the_next_prompts() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unsure_until("those from France"));
    let said = converse(&endpoint, &shop(folder.path()), &[], "those from France\n");
    let document = said.document(0);
    assert_eq!(document["answer"]["rows"], json!([["Ada"], ["Cleo"]]));
    assert_eq!((&document["question"], &document["clarify"]), (&json!(QUESTION), &Value::Null));
    assert!(said.stderr.contains("What makes a customer important?"), "{}", said.stderr);
    let requests = endpoint.requests();
    let plans: Vec<String> = requests
        .iter()
        .map(syrch_kit::Recorded::prompt)
        .filter(|prompt| prompt.contains(PLAN))
        .collect();
    assert_eq!(plans.len(), 2);
    assert!(!plans[0].contains("Clarified:"));
    assert!(
        plans[1].contains("Clarified: What makes a customer important? Answer: those from France"),
        "{}",
        plans[1]
    );
    assert!(requests.last().unwrap().prompt().contains("Answer: those from France"));
    assert_eq!(document["cost"]["calls"], requests.len(), "both rounds are charged to one budget");
}

#[test]
fn every_candidate_of_every_round_is_reported() {
    let folder = syrch_kit::scratch();
    let script = Script::new()
        .on([PLAN], whole())
        .once([WRITE, "Answer: the French"], Reply::sql("SELECT nam FROM customers", 0.9))
        .on(
            [WRITE, "Answer: the French"],
            Reply::sql("SELECT name FROM customers WHERE country = 'France'", 0.95),
        )
        .on([WRITE], Reply::sql(EMPTY, 0.1))
        .on([CLARIFY], Reply::text("Which ones?"));
    let endpoint = MockEndpoint::start(script);
    let document = converse(&endpoint, &shop(folder.path()), &[], "the French\n").document(0);
    let known = document["candidates"].as_array().unwrap();
    let of = |sql: &str| {
        known.iter().find(|one| one["sql"] == sql).unwrap_or_else(|| panic!("{sql}: {document:#}"))
    };
    let before = of(EMPTY);
    assert_eq!(before["status"], "dropped", "{before}");
    assert!(before["reason"].as_str().unwrap().contains("clarification"), "{before}");
    let wrong = of("SELECT nam FROM customers");
    assert_eq!(
        (&wrong["status"], &wrong["cluster"], &wrong["confidence"]),
        (&json!("dropped"), &Value::Null, &Value::Null)
    );
    assert_eq!(of("SELECT name FROM customers WHERE country = 'France'")["status"], "answer");
    let mut ids: Vec<&str> = known.iter().map(|one| one["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!((all, ids.len()), (3, 3), "ids are unique: {document:#}");
}

/// A model that asks something new each time, and is never content.
fn never_content() -> Script {
    Script::new().on([PLAN], whole()).on([WRITE], Reply::sql(EMPTY, 0.1)).with(|request, before| {
        request
            .prompt()
            .contains(CLARIFY)
            .then(|| Reply::text(format!("Question number {before}?")))
    })
}

#[test]
fn at_most_two_questions_are_asked() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(never_content());
    let said = converse(&endpoint, &shop(folder.path()), &[], "one\ntwo\nthree\nfour\n");
    let document = said.document(4);
    assert_eq!(document["answer"], Value::Null);
    assert_eq!(said.stderr.matches("Your answer").count(), 2, "{}", said.stderr);
    assert_eq!(endpoint.count_of(PLAN), 3);
    let last = endpoint
        .requests()
        .iter()
        .rfind(|request| request.prompt().contains(PLAN))
        .unwrap()
        .prompt();
    assert!(
        last.contains("Answer: one")
            && last.contains("Answer: two")
            && !last.contains("Answer: three"),
        "{last}"
    );
    let endpoint = MockEndpoint::start(never_content());
    let said = converse(&endpoint, &shop(folder.path()), &["--max-questions", "1"], "one\ntwo\n");
    said.document(4);
    assert_eq!(said.stderr.matches("Your answer").count(), 1, "{}", said.stderr);
}

#[test]
fn a_user_who_does_not_answer_gets_the_question_in_the_document() {
    let folder = syrch_kit::scratch();
    for lines in ["\n", ""] {
        let endpoint = MockEndpoint::start(unsure_until("never"));
        let document = converse(&endpoint, &shop(folder.path()), &[], lines).document(4);
        assert_eq!(document["clarify"]["question"], "What makes a customer important?");
        assert_eq!(endpoint.count_of(PLAN), 1);
    }
}

#[test]
fn a_clarification_that_the_model_cannot_word_is_worded_by_rule() {
    let folder = syrch_kit::scratch();
    for words in [
        "",
        "```sql\nSELECT COUNT(*) FROM customers\n```\nConfidence: 0.95",
        "SELECT COUNT(*)\nFROM customers",
        "<think>Which one?</think>",
        "{\"sql\": \"SELECT 1\"}",
    ] {
        let endpoint = MockEndpoint::start(
            Script::new()
                .on([PLAN], whole())
                .on([WRITE], Reply::sql(EMPTY, 0.1))
                .on([CLARIFY], Reply::text(words)),
        );
        let document = ask(&endpoint, &shop(folder.path()), QUESTION, &[]).document(4);
        let question = document["clarify"]["question"].as_str().unwrap();
        assert!(question.contains("Nothing fits"), "{words}: {document:#}");
    }
}

#[test]
fn no_model_words_a_question_that_nobody_answers() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(unsure_until("never"));
    let said = ask(&endpoint, &shop(folder.path()), QUESTION, &["--no-interactive"]);
    let document = said.document(4);
    assert!(document["clarify"]["question"].as_str().unwrap().contains("Nothing fits"));
    assert_eq!(document["cost"]["by_purpose"]["clarify"], Value::Null, "{document:#}");
    assert_eq!(endpoint.count_of(CLARIFY), 0);
}

/// A batch and a graded run have nobody to ask, and a question that is expected comes all the same.
#[test]
fn no_model_words_a_question_of_a_batch() {
    let place = Place::new();
    let shop = shop(place.path());
    let endpoint = MockEndpoint::start(unsure_until("never"));
    let line = json!({"id": "a", "question": QUESTION});
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).arg("batch");
    command.args(["--llm", "openai", "--model", "mock", "--base-url", &endpoint.url(), "--db"]);
    let said = Said::from_output(finish(command.arg(&shop), format!("{line}\n")));
    let reply = said.document(0);
    assert_eq!(reply["outcome"], "clarification-needed", "{reply:#}");
    let clarify = &reply["answer"]["clarify"]["question"];
    assert!(clarify.as_str().unwrap().contains("Nothing fits"), "{reply:#}");

    let suite = place.path().join("suite.jsonl");
    let db = shop.file_stem().unwrap().to_str().unwrap();
    let line = json!({"id": "a", "db": db, "question": QUESTION, "expect": "clarify"});
    std::fs::write(&suite, format!("{line}\n")).unwrap();
    let mut command = host();
    command.env("SYRCH_API_KEY", KEY).arg("benchmark").arg(&suite);
    command.args(["--format", "json", "--llm", "openai", "--model", "mock"]);
    command.args(["--base-url", &endpoint.url(), "--db"]).arg(place.path());
    let report = Said::from_output(command.output().unwrap()).document(0);
    assert_eq!(report["ends"]["clarify"], 1, "{report:#}");
    assert!(endpoint.count() > 0);
    assert_eq!(endpoint.count_of(CLARIFY), 0);
}

/// No acceptable candidate: nothing that could be taken for an answer, in any format.
#[test]
fn nothing_acceptable_is_no_answer() {
    let folder = syrch_kit::scratch();
    let database = shop(folder.path());
    let script = || {
        Script::new().on([PLAN], whole()).on([""], Reply::sql("SELECT zilch FROM nowhere", 0.99))
    };
    for format in ["auto", "table", "csv", "jsonl", "markdown"] {
        let endpoint = MockEndpoint::start(script());
        let mut command = search(&endpoint.url(), &database);
        let said =
            Said::from_output(command.args(["--format", format, "-q", QUESTION]).output().unwrap());
        assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{format}: {}", said.all());
        assert!(
            said.stderr.contains("no acceptable answer was found")
                && said.stderr.contains("nowhere"),
            "{}",
            said.stderr
        );
    }
    let endpoint = MockEndpoint::start(script());
    let document = ask(&endpoint, &database, QUESTION, &[]).document(3);
    for held_back in ["answer", "sql", "confidence", "clarify"] {
        assert_eq!(document[held_back], Value::Null, "{held_back}");
    }
    let known = candidates(&document);
    assert!(
        known.iter().all(|(_, status, reason)| status == "dropped" && reason.contains("nowhere")),
        "{known:?}"
    );
}

#[test]
fn the_offline_rules_abstain_from_nonsense() {
    let folder = syrch_kit::scratch();
    for nonsense in ["Why is the moon jealous of my umbrella?", "asdf qwer zxcv", "?"] {
        let mut command = host();
        command
            .env("SYRCH_API_KEY", KEY)
            .args(["--llm", "offline", "--format", "json", "-q", nonsense, "--db"]);
        let said = Said::from_output(command.arg(shop(folder.path())).output().unwrap());
        let document = said.document(3);
        assert_eq!(
            (&document["answer"], &document["sql"]),
            (&Value::Null, &Value::Null),
            "{nonsense}"
        );
        assert!(said.stderr.contains("no acceptable answer was found"), "{}", said.stderr);
    }
}

/// Offline the question back says what was not understood, and the answer helps.
#[test]
fn the_offline_rules_ask_for_what_they_do_not_know() {
    let folder = syrch_kit::scratch();
    let mut command = host();
    command.args([
        "--llm",
        "offline",
        "--interactive",
        "--format",
        "json",
        "-q",
        "How many zorblats are there?",
        "--db",
    ]);
    command
        .arg(shop(folder.path()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"customers\n").unwrap();
    let said = Said::from_output(child.wait_with_output().unwrap());
    assert!(
        said.stderr.contains("zorblats") && said.stderr.contains("Your answer"),
        "{}",
        said.all()
    );
    let document = said.document(0);
    assert_eq!(document["answer"]["rows"], json!([[4]]));
}
