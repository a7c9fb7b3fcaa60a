//! Questions that go on from the one before: in batches, with the rules and with a model; and
//! questions whose words may mean several things, which are asked back.

use std::path::PathBuf;

use serde_json::{Value, json};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::{Place, finish, read_streams};
use crate::batch::batch;
use crate::defined::shop;
use crate::endpoint::{KEY, PLAN, WRITE, whole};

const FLAGS: &str = "--llm offline --db shop.sqlite --semantics shop.yml";

/// Suppliers and customers, both with a country.
const TWO_COUNTRIES: &str = "\
tables:
  orders: {key: id, time: order_date, dimensions: {order_date: {type: time}}}
  items: {source: order_items, key: [order_id, product_id]}
  products: {key: id}
  customers: {key: id, dimensions: [country]}
  suppliers: {key: id, dimensions: [country]}
joins:
  - {from: orders.customer_id, to: customers.id}
  - {from: items.order_id, to: orders.id}
  - {from: items.product_id, to: products.id}
  - {from: products.supplier_id, to: suppliers.id}
metrics:
  revenue: sum(items.quantity * items.unit_price)
";

fn line(id: &str, conversation: &str, question: &str) -> String {
    json!({"id": id, "conversation": conversation, "question": question}).to_string() + "\n"
}

/// The answers to these lines by their ids.
fn ask_lines(place: &Place, flags: &str, lines: &[(&str, &str, &str)]) -> Vec<Value> {
    let input: String = lines.iter().map(|(id, talk, text)| line(id, talk, text)).collect();
    batch(&mut place.words(&format!("batch {flags}")), input, 0).0
}

/// The request of an answer's definition in words.
fn request(answer: &Value) -> &str {
    answer["answer"]["origin"]["request"].as_str().unwrap_or_default()
}

#[test]
fn a_conversation_is_not_divided_over_shards() {
    let place = shop();
    let lines = [("a1", "a", "revenue by country in 2024"), ("a2", "a", "and for 2023?")];
    let answers = ask_lines(&place, &format!("{FLAGS} --shard 2/2"), &lines);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["error"]["class"], "usage", "{}", answers[0]);
}

#[test]
fn lines_of_one_conversation_go_on_from_each_other() {
    let place = shop();
    let answers = ask_lines(
        &place,
        FLAGS,
        &[
            ("a1", "a", "revenue by country in 2024"),
            ("b1", "b", "How many orders were there in 2023?"),
            ("a2", "a", "and for 2023?"),
            ("b2", "b", "only cancelled"),
            ("a3", "a", "only the top three"),
            ("a4", "a", "why?"),
            ("c1", "c", "and for 2023?"),
            ("a5", "a", "by reviewer"),
        ],
    );
    let ids: Vec<&str> = answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a1", "b1", "a2", "b2", "a3", "a4", "c1", "a5"]);
    assert_eq!(request(&answers[2]), "revenue by country, in 2023");
    assert_eq!(answers[3]["answer"]["origin"]["kind"], "metric");
    let cancelled = answers[3]["answer"]["answer"]["rows"][0][0].as_i64().unwrap();
    let all = answers[1]["answer"]["answer"]["rows"][0][0].as_i64().unwrap();
    assert!(0 < cancelled && cancelled < all, "{cancelled} of {all}");
    assert_eq!(answers[4]["answer"]["answer"]["row_count"], 3);
    assert!(request(&answers[4]).contains("in 2023, where"), "{}", request(&answers[4]));
    let why = answers[5]["answer"]["answer"]["text"].as_str().unwrap();
    assert!(why.starts_with("The definition of revenue gives it: "), "{why}");
    assert_eq!(answers[5]["answer"]["sql"], answers[4]["answer"]["sql"]);
    for answer in &answers[6..] {
        assert_eq!(answer["outcome"], "no-answer", "{answer}");
    }
}

#[test]
fn many_conversations_are_asked_side_by_side() {
    let place = shop();
    let mut lines = Vec::new();
    for year in ["2024", "2023", "2022"] {
        for talk in 0..40 {
            let text = match year {
                "2024" => "orders by status in 2024".to_owned(),
                year => format!("and in {year}?"),
            };
            lines.push(line(&format!("{talk}-{year}"), &talk.to_string(), &text));
        }
    }
    let mut command = place.words(&format!("batch {FLAGS} --workers 8 --as-they-come"));
    let (answers, _) = batch(&mut command, lines.concat(), 0);
    assert_eq!(answers.len(), 120);
    for answer in &answers {
        let id = answer["id"].as_str().unwrap();
        let year = id.rsplit('-').next().unwrap();
        assert_eq!(request(answer), format!("orders by status, in {year}"), "{answer}");
    }
    let wrong = json!({"id": 1, "conversation": "x".repeat(200), "question": "orders"});
    let (answers, _) = batch(&mut place.words(&format!("batch {FLAGS}")), wrong.to_string(), 0);
    assert_eq!(answers[0]["error"]["class"], "usage");
}

#[test]
fn words_with_two_meanings_are_asked_back_and_the_choice_is_answered() {
    let place = shop();
    place.file("two.yml", TWO_COUNTRIES);
    let flags = "--llm offline --db shop.sqlite --semantics two.yml";
    let mut command = place.words(&format!("{flags} --format json"));
    let output = finish(command.args(["-q", "revenue by country"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(4), "{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let choices = json!(["customers.country", "suppliers.country"]);
    assert_eq!(document["clarify"]["choices"], choices, "{document:#}");

    let mut command = place.words(&format!("{flags} --format json --interactive"));
    let output = finish(command.args(["-q", "revenue by country"]), "2\n");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["origin"]["request"], "revenue by suppliers.country", "{document:#}");

    // In a conversation the choice is the next question, and later ones go on from it.
    let answers = ask_lines(
        &place,
        flags,
        &[
            ("1", "a", "revenue by country"),
            ("2", "a", "customers.country"),
            ("3", "a", "and in 2023?"),
            ("4", "b", "revenue by suppliers country"),
        ],
    );
    assert_eq!(answers[0]["outcome"], "clarification-needed");
    assert_eq!(request(&answers[1]), "revenue by customers.country", "{}", answers[1]);
    assert_eq!(request(&answers[2]), "revenue by customers.country, in 2023");
    assert_eq!(request(&answers[3]), "revenue by suppliers.country");
    // A value of both is one of neither.
    let answers = ask_lines(&place, flags, &[("1", "a", "revenue in Germany")]);
    assert_eq!(answers[0]["outcome"], "clarification-needed", "{}", answers[0]);
}

#[test]
fn what_contradicts_itself_or_is_outside_of_the_data_is_no_sure_answer() {
    let place = shop();
    let answers = ask_lines(
        &place,
        FLAGS,
        &[
            ("1", "a", "revenue for customers in France in Italy"),
            ("2", "b", "revenue in 1999"),
            ("3", "c", "orders in 1999"),
            ("4", "d", "last orders"),
        ],
    );
    assert_eq!(answers[0]["outcome"], "no-answer", "{}", answers[0]);
    for answer in &answers[1..3] {
        let confidence = answer["answer"]["confidence"]["calibrated"].as_f64().unwrap_or(0.0);
        let warnings = answer["answer"]["warnings"].to_string();
        assert!(confidence <= 0.5, "{answer}");
        assert!(
            warnings.contains("orders.order_date has no day from 1999-01-01 on and before 2000"),
            "{warnings}"
        );
    }
    assert_eq!(answers[3]["outcome"], "no-answer", "{}", answers[3]);
}

#[test]
fn a_question_has_its_own_day_and_evidence_turns_no_definition_off() {
    let place = shop();
    let asked = json!({"question": "revenue last month", "as_of": "2023-05-10"});
    let explained = json!({"question": "orders in 2024", "evidence": "the shop is German"});
    let lines = format!("{asked}\n{explained}\n");
    let (answers, _) = batch(&mut place.words(&format!("batch {FLAGS}")), lines, 0);
    assert_eq!(request(&answers[0]), "revenue, in 2023-04", "{}", answers[0]);
    assert_eq!(request(&answers[1]), "orders, in 2024", "{}", answers[1]);
    let confidence = answers[1]["answer"]["confidence"]["calibrated"].as_f64().unwrap();
    assert!(confidence < 0.6, "{confidence}");
    let notes = answers[1]["answer"]["origin"]["notes"].to_string();
    assert!(notes.contains("the evidence was not used"), "{notes}");
}

#[test]
fn what_the_definitions_do_not_answer_is_not_answered_by_other_means() {
    let place = shop();
    let answers = ask_lines(
        &place,
        FLAGS,
        &[
            ("1", "a", "revenue by category and country, top 3"),
            ("2", "b", "what percent of orders are delivered per year"),
            ("3", "c", "revenue by weekday"),
            ("4", "d", "customers by supplier"),
            ("5", "e", "how many orders did she have?"),
        ],
    );
    for answer in &answers {
        assert_eq!(answer["outcome"], "no-answer", "{answer}");
    }
    assert!(answers[2].to_string().contains("not understood: weekday"), "{}", answers[2]);
}

#[test]
fn the_condition_of_a_ranking_goes_with_it() {
    let place = shop();
    let answers = ask_lines(
        &place,
        FLAGS,
        &[
            ("1", "a", "revenue by country in 2023"),
            ("2", "a", "only the top three"),
            ("3", "a", "all of them"),
            ("4", "a", "in total"),
        ],
    );
    assert!(request(&answers[1]).contains("is not NULL"), "{}", answers[1]);
    let all = answers[2]["answer"]["answer"]["row_count"].as_u64().unwrap();
    assert!(all > 3, "{}", answers[2]);
    assert_eq!(request(&answers[3]), "revenue, in 2023");
}

#[test]
fn a_question_without_an_answer_leaves_the_one_before_as_the_context() {
    let place = shop();
    let answers = ask_lines(
        &place,
        FLAGS,
        &[
            ("1", "a", "revenue by country in 2024"),
            ("2", "a", "How is the weather?"),
            ("3", "a", "why?"),
            ("4", "a", "by reviewer"),
            ("5", "a", "why?"),
            ("6", "a", "and for 2023?"),
            ("7", "a", "why?"),
        ],
    );
    assert_eq!(answers[1]["outcome"], "no-answer");
    for at in [2, 4] {
        let why = &answers[at];
        assert_eq!(why["outcome"], "no-answer", "{why}");
        let warnings = why["answer"]["warnings"].to_string();
        let before = ["How is the weather?", "by reviewer"][at / 2 - 1];
        let expected = format!("the question before has no answer: {before}");
        assert!(warnings.contains(&expected), "{warnings}");
    }
    assert!(answers[4].to_string().contains("not understood: reviewer"), "{}", answers[4]);
    assert_eq!(request(&answers[5]), "revenue by country, in 2023", "{}", answers[5]);
    let why = answers[6]["answer"]["answer"]["text"].as_str().unwrap();
    assert!(why.contains("revenue by country, in 2023"), "{why}");
}

/// The answer of a statement that somebody confirmed is changed where it is that of a request.
#[test]
fn a_change_of_a_confirmed_answer_is_one_of_its_request_or_refused() {
    let place = shop();
    let questions = ["orders by status in 2024", "names of customers in France"];
    for question in questions {
        let mut command = place.words(&format!("{FLAGS} --format json"));
        let asked =
            finish(command.args(["-q", question]).env("SYRCH_STATE_DIR", state(&place)), "");
        let (stdout, stderr) = read_streams(&asked);
        assert_eq!(asked.status.code(), Some(0), "{stdout}{stderr}");
        let mut command = place.words("examples add last --by ann --file known.jsonl");
        let added = finish(command.env("SYRCH_STATE_DIR", state(&place)), "");
        let (stdout, stderr) = read_streams(&added);
        assert_eq!(added.status.code(), Some(0), "{stdout}{stderr}");
    }
    let answers = ask_lines(
        &place,
        &format!("{FLAGS} --examples known.jsonl"),
        &[
            ("1", "a", questions[0]),
            ("2", "a", "and for 2023?"),
            ("3", "b", questions[1]),
            ("4", "b", "why?"),
            ("5", "b", "and in Italy?"),
            ("6", "b", "without Italy"),
        ],
    );
    for at in [0, 2] {
        assert_eq!(answers[at]["answer"]["origin"]["kind"], "verified", "{}", answers[at]);
    }
    assert_eq!(request(&answers[1]), "orders by status, in 2023", "{}", answers[1]);
    let why = answers[3]["answer"]["answer"]["text"].as_str().unwrap();
    assert!(why.starts_with("ann confirmed its statement on "), "{why}");
    for answer in &answers[4..] {
        assert_eq!(answer["outcome"], "no-answer", "{answer}");
        assert!(answer.to_string().contains("ann confirmed its statement; ask"), "{answer}");
    }
}

fn state(place: &Place) -> PathBuf {
    place.path().join("state")
}

/// The rules would list countries of suppliers, and the last orders.
#[test]
fn what_speaks_of_the_answer_before_is_no_question_of_its_own() {
    let place = shop();
    let lines = ["show their countries", "which are cancelled?", "top 3 by beauty"];
    for text in lines {
        let first = "top 5 customers by revenue in 2024";
        let answers = ask_lines(&place, FLAGS, &[("1", "a", first), ("2", "a", text)]);
        assert_eq!(answers[1]["outcome"], "no-answer", "{text}: {}", answers[1]);
    }
}

#[test]
fn why_names_the_rules_that_wrote_a_statement() {
    let place = shop();
    let question = "names of customers in France";
    let answers = ask_lines(&place, FLAGS, &[("1", "a", question), ("2", "a", "why?")]);
    let why = answers[1]["answer"]["answer"]["text"].as_str().unwrap();
    let expected = format!("The rules wrote its statement for the question: {question}.");
    assert!(why.starts_with(&expected), "{why}");
}

/// The text that a model was asked to write last.
fn last_prompt(endpoint: &MockEndpoint) -> String {
    let requests = endpoint.requests();
    let mut written = requests.iter().filter(|request| request.prompt().contains(WRITE));
    written.next_back().unwrap().prompt()
}

fn ask_model(place: &Place, endpoint: &MockEndpoint) -> Vec<Value> {
    let url = endpoint.url();
    let mut command = place.host();
    command.env("SYRCH_API_KEY", KEY).args(["batch", "--llm", "openai", "--model", "mock"]);
    command.arg("--base-url").arg(&url).args(["--db", "shop.sqlite", "--workers", "1"]);
    let lines = line("1", "a", "names of customers in France") + &line("2", "a", "and in Italy?");
    batch(&mut command, lines, 0).0
}

#[test]
fn a_model_sees_the_question_before_with_its_statement_as_data() {
    let place = shop();
    let script = Script::new()
        .on([PLAN], whole())
        .on([WRITE, "and in Italy?"], sql("Italy"))
        .on([WRITE], sql("France"));
    let endpoint = MockEndpoint::start(script);
    let answers = ask_model(&place, &endpoint);
    assert_eq!(answers[1]["outcome"], "answered", "{}", answers[1]);
    let prompt = last_prompt(&endpoint);
    for part in ["names of customers in France", "country = 'France'", "as data", "columns"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!prompt.contains("\"rows\""), "{prompt}");
}

#[test]
fn a_request_of_a_model_is_held_to_its_question_and_goes_on() {
    let place = shop();
    let written = Reply::text(r#"{"metrics": ["revenue"], "by": ["country"]}"#);
    let script = Script::new().on([PLAN], whole()).on([""], written);
    let endpoint = MockEndpoint::start(script);
    let url = endpoint.url();
    let mut command = place.host();
    command.env("SYRCH_API_KEY", KEY).args(["batch", "--llm", "openai", "--model", "mock"]);
    command.arg("--base-url").arg(&url).args(["--db", "shop.sqlite", "--workers", "1"]);
    command.args(["--semantics", "shop.yml"]);
    let lines = line("1", "a", "revenue by country")
        + &line("2", "a", "by month instead")
        + &line("3", "b", "revenue by month in 2023")
        + &line("4", "c", "revenue by country, biggest first");
    let answers = batch(&mut command, lines, 0).0;
    assert_eq!(request(&answers[0]), "revenue by country", "{}", answers[0]);
    // No second call: the request of the model is changed by the definitions.
    assert_eq!(request(&answers[1]), "revenue by month", "{}", answers[1]);
    assert!(!has_warning(&answers[0], "the request"), "{}", answers[0]);
    for words in ["groups by month", "says in 2023"] {
        assert!(has_warning(&answers[2], words), "{words}: {}", answers[2]);
    }
    assert!(has_warning(&answers[3], "the request has no order"), "{}", answers[3]);
    for answer in &answers[2..] {
        let confidence = answer["answer"]["confidence"]["calibrated"].as_f64();
        assert!(confidence.is_none_or(|confidence| confidence <= 0.5), "{answer}");
    }
}

fn has_warning(answer: &Value, words: &str) -> bool {
    answer["answer"]["warnings"].to_string().contains(words)
}

fn sql(country: &str) -> Reply {
    Reply::sql(&format!("SELECT name FROM customers WHERE country = '{country}'"), 0.95)
}

/// The report on the suite of a place, under three seeds.
fn run_suite(place: &Place, format: &str) -> String {
    let words = format!(
        "benchmark suite.jsonl --llm offline --semantics shop.yml --seeds 3 --workers 4 \
         --format {format}"
    );
    let mut command = place.words(&words);
    let output = finish(command.env("SYRCH_STATE_DIR", place.path().join("state")), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    stdout
}

#[test]
fn a_suite_grades_ends_conversations_and_several_tries() {
    let place = shop();
    let questions = [
        json!({"id": "talk", "db": "shop", "turns": [
            {"question": "orders in 2024",
             "gold_sql": "SELECT count(*) FROM orders WHERE order_date LIKE '2024%'"},
            {"question": "and in 2023?",
             "gold_sql": "SELECT count(*) FROM orders WHERE order_date LIKE '2023%'"},
            {"question": "by reviewer's rating", "expect": "silent"},
        ]}),
        json!({"id": "half", "db": "shop", "turns": [
            {"question": "orders in 2022",
             "gold_sql": "SELECT count(*) FROM orders WHERE order_date LIKE '2022%'"},
            {"question": "and in 2023?", "gold_sql": "SELECT 1"},
        ]}),
        json!({"id": "drop", "db": "shop", "question": "Delete all orders", "expect": "refuse"}),
        json!({"id": "lost", "db": "shop", "question": "How is the weather?", "expect": "silent"}),
        json!({"id": "asked", "db": "shop", "question": "orders in 2024", "expect": "clarify"}),
    ];
    let lines: Vec<String> = questions.iter().map(Value::to_string).collect();
    place.file("suite.jsonl", lines.join("\n"));
    let document: Value = serde_json::from_str(&run_suite(&place, "json")).unwrap();
    let verdicts: Vec<String> = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row["id"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    let expected = [
        "talk/1 right",
        "talk/2 right",
        "talk/3 right",
        "half/1 right",
        "half/2 wrong",
        "drop right",
        "lost right",
        "asked wrong",
    ];
    assert_eq!(verdicts, expected, "{document:#}");
    let talks = &document["conversations"];
    assert_eq!((&talks["right"], &talks["of"]), (&json!(1), &json!(2)), "{talks}");
    let origins = &document["origins"];
    assert_eq!((&origins[0]["origin"], &origins[0]["answers"]), (&json!("metric"), &json!(5)));
    let tries = document["all_right"].as_array().unwrap();
    assert_eq!((tries.len(), &tries[2]["chance"]), (3, &json!(0.75)), "{tries:?}");
    let markdown = run_suite(&place, "markdown");
    for part in ["Answers by origin", "pass^k", "conversations with all turns right"] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
}
