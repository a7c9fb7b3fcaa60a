//! Questions for metrics that a semantics file defines, without a model: the answer is that of the
//! definition and says so, and a file that does not fit the database stops the start.

use serde_json::Value;

use crate::bad_input::{Place, finish, read_streams};

/// A place with the semantics of the shop.
pub(crate) fn shop() -> Place {
    let place = Place::new();
    let file = syrch_kit::repository().join("examples/shop.semantics.yml");
    std::fs::copy(file, place.path().join("shop.yml")).unwrap();
    let database = place.path().join("shop.sqlite");
    drop(std::fs::remove_file(&database));
    syrch_examples::make_shop(&database).unwrap();
    place
}

fn ask(place: &Place, question: &str) -> (Value, String) {
    let words = "--llm offline --db shop.sqlite --semantics shop.yml --format json";
    let mut command = place.words(words);
    let output = finish(command.args(["-q", question]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{question}\n{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let text =
        std::fs::read_to_string(syrch_kit::repository().join("docs/answer.schema.json")).unwrap();
    let schema = jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap();
    assert!(schema.is_valid(&document), "{document}");
    (document, stderr)
}

#[test]
fn a_question_for_a_metric_is_answered_by_its_definition() {
    let place = shop();
    for (question, metric) in [
        ("Show revenue by category and year", "revenue"),
        ("Top 5 customers by revenue in 2024", "revenue"),
        ("month over month revenue growth", "revenue"),
        ("What percent of orders were cancelled?", "cancellation rate"),
        ("orders placed last month", "orders"),
    ] {
        let (document, stderr) = ask(&place, question);
        let origin = &document["origin"];
        assert_eq!(origin["kind"], "metric", "{question}: {document}");
        let metrics = origin["metrics"].as_array().unwrap();
        assert!(
            metrics.iter().any(|one| one["name"] == metric && one["file"] == "shop.yml"),
            "{question}: {origin}"
        );
        assert!(stderr.contains(&format!("{metric} (shop.yml)")), "{question}: {stderr}");
    }
    let (document, _) = ask(&place, "Top 5 customers by revenue in 2024");
    assert_eq!(document["answer"]["row_count"], 5);
    assert_eq!(document["origin"]["from"], "2024-01-01");
}

#[test]
fn a_share_is_stated_as_a_percentage() {
    let place = shop();
    let (document, _) = ask(&place, "What percent of orders were cancelled?");
    let share = document["answer"]["rows"][0][0].as_f64().unwrap();
    let expected = format!("Cancellation rate: {:.2} %.", share * 100.0);
    assert_eq!(document["answer"]["text"], expected, "{document}");
}

#[test]
fn values_of_groups_are_stated_in_their_unit() {
    let place = shop();
    for (question, words) in [
        ("top 3 countries by revenue", " EUR, "),
        ("Which country has the highest revenue?", " EUR."),
        ("share of revenue from Germany", " EUR, share of all: "),
        ("share of revenue by country", " EUR and "),
    ] {
        let (document, _) = ask(&place, question);
        let text = document["answer"]["text"].as_str().unwrap();
        assert!(text.contains(words), "{question}: {text}");
        assert_eq!(text.contains(" %"), question.contains("share"), "{question}: {text}");
    }
}

#[test]
fn the_first_of_a_ranking_is_doubtful_where_another_is_as_great() {
    let place = shop();
    // Two categories have eight products.
    let question = "Which category has the most products?";
    let (document, stderr) = ask(&place, question);
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() <= 0.5, "{document}");
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("another has the same products"), "{warnings}{stderr}");
    let connection = rusqlite::Connection::open(place.path().join("shop.sqlite")).unwrap();
    let another = "INSERT INTO products SELECT (SELECT MAX(id) + 1 FROM products), 'Another', \
                   (SELECT category_id FROM products GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 1), \
                   supplier_id, price, cost, stock, discontinued FROM products LIMIT 1";
    connection.execute(another, []).unwrap();
    let (document, _) = ask(&place, question);
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() > 0.8, "{document}");
    assert_eq!(document["warnings"], serde_json::json!([]), "{document}");
}

#[test]
fn the_first_of_each_group_is_doubtful_where_another_of_the_group_is_as_great() {
    let place = shop();
    let question = "top 2 categories by products in each department";
    let (document, _) = ask(&place, question);
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() <= 0.5, "{document}");
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("another in its group has the same"), "{warnings}");
    let (document, _) = ask(&place, "top country by revenue in each year");
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() > 0.8, "{document}");
    assert_eq!(document["warnings"], serde_json::json!([]), "{document}");
}

#[test]
fn the_least_is_doubtful_where_others_have_nothing() {
    let place = shop();
    let left_out = "rows of customers for which nothing counts are left out";
    for (question, is_doubted) in [
        ("Which customer has the least revenue?", true),
        ("Which customer has the highest revenue?", false),
        ("Which country has the least revenue?", false),
        ("Which product has the least revenue?", false),
    ] {
        let (document, _) = ask(&place, question);
        let warnings = document["warnings"].to_string();
        assert_eq!(warnings.contains(left_out), is_doubted, "{question}: {warnings}");
        let confidence = document["confidence"]["calibrated"].as_f64().unwrap();
        assert_eq!(confidence <= 0.5, is_doubted, "{question}: {confidence}");
    }
}

#[test]
fn a_number_of_rows_without_a_metric_is_left_to_the_rules() {
    let place = shop();
    let (document, _) = ask(&place, "How many suppliers are in France?");
    assert_eq!(document["origin"]["kind"], "generated", "{document}");
    let sql = document["sql"].as_str().unwrap();
    assert_eq!(sql, "SELECT COUNT(*) FROM suppliers WHERE country = 'France'");
}

#[test]
fn other_questions_are_left_to_the_rules() {
    let place = shop();
    let (document, stderr) = ask(&place, "What is the highest salary of an employee?");
    assert_eq!(document["origin"]["kind"], "generated", "{document}");
    assert!(stderr.contains("generated"), "{stderr}");
}

#[test]
fn a_file_that_does_not_fit_the_database_stops_the_start() {
    let place = shop();
    let path = place.path().join("wrong.yml");
    std::fs::write(&path, "tables:\n  visits: {key: id}\nmetrics:\n  visits: count(visits.id)\n")
        .unwrap();
    let mut command = place.words("--llm offline --db shop.sqlite --semantics wrong.yml");
    let output = finish(command.args(["-q", "How many visits were there?"]), "");
    let (_, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(10), "{stderr}");
    assert!(stderr.contains("wrong.yml:2:") && stderr.contains("visits"), "{stderr}");
}

/// The document and standard error of a question that the rules read.
fn ask_rules(place: &Place, question: &str) -> (Value, String) {
    let mut command = place.words("--llm offline --db store.sqlite --format json");
    let output = finish(command.args(["-q", question]), "");
    let (stdout, stderr) = read_streams(&output);
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

#[test]
fn a_doubt_of_the_rules_and_the_unit_of_a_value_are_said() {
    let place = Place::new();
    syrch_kit::sqlite(
        place.path().join("store.sqlite"),
        "CREATE TABLE countries (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, total_cents INTEGER, order_date DATE,
             billing_country_id INTEGER REFERENCES countries (id),
             shipping_country_id INTEGER REFERENCES countries (id));
         INSERT INTO countries VALUES (1, 'Spain'), (2, 'France');
         INSERT INTO orders VALUES (1, 1000, '2023-01-05', 1, 2), (2, 2050, '2023-02-05', 1, 1);",
    );
    let (document, stderr) = ask_rules(&place, "number of orders per country");
    let doubt = "the tables may as well be joined by";
    assert!(document["confidence"]["calibrated"].as_f64().unwrap() <= 0.5, "{document}");
    assert!(document["warnings"].to_string().contains(doubt), "{document}");
    assert!(document["candidates"][0]["reason"].to_string().contains(doubt), "{document}");
    assert!(stderr.contains(doubt), "{stderr}");
    let (document, _) = ask_rules(&place, "number of orders per shipping country");
    let rows = serde_json::json!([["Spain", 1], ["France", 1]]);
    assert_eq!(document["answer"]["rows"], rows, "{document}");
    assert_eq!(document["warnings"], serde_json::json!([]), "{document}");
    let (document, _) = ask_rules(&place, "What is the total of the orders?");
    assert_eq!(document["answer"]["text"], "The answer is 3050 (in cents).");
    let (document, _) = ask_rules(&place, "How many orders were placed on February 30?");
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("February 30: there is no such day in the calendar"), "{warnings}");
}
