//! `metric`: requests over the example database are as statements that are written by hand, and
//! wrong ones end with what is wrong.

use serde_json::{Value, json};

use crate::bad_input::{Place, assert_refused, finish, read_streams};

/// A place with the semantics of the shop.
fn shop() -> Place {
    let place = Place::new();
    let file = syrch_kit::repository().join("examples/shop.semantics.yml");
    std::fs::copy(file, place.path().join("shop.yml")).unwrap();
    let database = place.path().join("shop.sqlite");
    drop(std::fs::remove_file(&database));
    syrch_examples::make_shop(&database).unwrap();
    place
}

fn run(place: &Place, arguments: &[&str]) -> String {
    let mut command = place.host();
    let output = finish(command.args(arguments), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{stdout}{stderr}");
    stdout
}

fn ask(place: &Place, arguments: &[&str]) -> Value {
    let fixed = ["metric", "--semantics", "shop.yml", "--db", "shop.sqlite", "--format", "json"];
    serde_json::from_str(&run(place, &[&fixed, arguments].concat())).unwrap()
}

fn by_hand(place: &Place, sql: &str) -> Value {
    let text = run(place, &["sql", "--db", "shop.sqlite", "--format", "json", sql]);
    serde_json::from_str::<Value>(&text).unwrap()["rows"].clone()
}

#[test]
fn a_request_gives_the_rows_of_the_statement_that_a_person_would_write() {
    let place = shop();
    for (arguments, sql) in [
        (
            &["orders", "--by", "status,year", "--where", "country = 'France'"][..],
            "SELECT strftime('%Y', order_date), status, count(*) FROM orders o JOIN customers c \
             ON c.id = o.customer_id WHERE country = 'France' GROUP BY 1, 2 ORDER BY 1, 2",
        ),
        (
            &[
                "items sold",
                "--by",
                "category",
                "--period",
                "2024",
                "--order",
                "items sold:desc",
                "--limit",
                "3",
            ],
            "SELECT g.name, sum(quantity) FROM order_items i JOIN orders o ON o.id = i.order_id \
             JOIN products p ON p.id = i.product_id JOIN categories g ON g.id = p.category_id \
             WHERE status <> 'cancelled' AND order_date LIKE '2024%' GROUP BY 1 ORDER BY 2 DESC \
             LIMIT 3",
        ),
        (
            &[
                "orders",
                "--grain",
                "month",
                "--period",
                "2024-01..2024-03",
                "--compare",
                "previous_period",
            ],
            "WITH m AS (SELECT substr(order_date, 1, 7) AS t, count(*) AS n FROM orders GROUP BY \
             1) \
             SELECT m.t, m.n, b.n FROM m JOIN m b ON b.t = substr(date(m.t || '-01', '-1 \
             month'), 1, 7) \
             WHERE m.t BETWEEN '2024-01' AND '2024-03' ORDER BY 1",
        ),
    ] {
        let document = ask(&place, arguments);
        assert_eq!(document["schema"], "syrch.metric/1");
        assert_eq!(document["rows"], by_hand(&place, sql), "{}", document["sql"]);
    }
}

#[test]
fn an_answer_says_what_it_applies() {
    let place = shop();
    let document = ask(
        &place,
        &["revenue", "--by", "category", "--period", "2024", "--where", "country = 'France'"],
    );
    assert_eq!(document["request"], "revenue by category, in 2024, where country = 'France'");
    assert_eq!(document["applied"]["metrics"], json!([{"name": "revenue", "file": "shop.yml"}]));
    assert_eq!(document["applied"]["time"], json!(["orders.order_date"]));
    assert_eq!(document["applied"]["period"], json!({"from": "2024-01-01", "until": "2025-01-01"}));
    let words = document["applied"]["words"].as_str().unwrap();
    assert!(words.contains("revenue counts where orders.status <> 'cancelled'"), "{words}");
    assert_eq!(document["columns"][1]["unit"], "EUR");
    let text = run(
        &place,
        &["metric", "orders", "--semantics", "shop.yml", "--db", "shop.sqlite", "--by", "country"],
    );
    assert!(text.contains("France") && text.contains("\norders by country\n"), "{text}");
    assert!(text.contains("LEFT JOIN customers AS customers"), "{text}");
    let json = r#"{"metrics": ["orders"], "by": ["country"]}"#;
    let same = ask(&place, &["--request", json]);
    assert_eq!(same["rows"], ask(&place, &["orders", "--by", "country"])["rows"]);
}

#[test]
fn a_dry_run_prints_the_statement_and_the_list_needs_no_database() {
    let place = shop();
    let fixed = ["metric", "--semantics", "shop.yml"];
    let sql = run(&place, &[&fixed[..], &["orders", "--db", "shop.sqlite", "--dry-run"]].concat());
    assert!(
        sql.starts_with("WITH measured AS (\n  SELECT\n    COUNT(orders.\"id\") AS m0\n"),
        "{sql}"
    );
    let list = run(&place, &[&fixed[..], &["--format", "csv"]].concat());
    assert!(list.contains("metric,revenue,order_items,"), "{list}");
    assert!(list.contains("time,order_date,orders,"), "{list}");
}

#[test]
fn wrong_requests_end_with_what_is_wrong() {
    let place = shop();
    place.file("broken.yml", "metrics:\n  a: sum(nothing.x)\n");
    for (words, code, message) in [
        ("revenu", 2, "there is no metric `revenu`"),
        ("orders --by contry", 2, "is `country`"),
        ("orders --by category", 2, "no many-to-one join leads from there to `categories`"),
        ("orders --period 2024-13", 2, "`2024-13` is no period"),
        ("orders --where country", 2, "the condition is wrong"),
        ("orders --compare growth", 2, "`growth` needs a grain"),
        ("orders --compare shrinkage", 2, "`shrinkage` is no comparison"),
        ("orders --grain decade", 2, "`decade` is no grain"),
        ("--request {}", 2, "missing field `metrics`"),
        ("orders --semantics missing.yml", 10, "missing.yml"),
        ("orders --semantics broken.yml", 10, "broken.yml:2:"),
    ] {
        let mut command = place.words("metric --semantics shop.yml --db shop.sqlite");
        assert_refused(command.args(words.split_whitespace()), code, &[message]);
    }
    let condition = "country = 'x' AND 1 = (SELECT count(*) FROM customers)";
    let mut command = place.words("metric orders --semantics shop.yml --db shop.sqlite --where");
    assert_refused(command.arg(condition), 2, &["is not known; write comparisons"]);
}

#[test]
fn files_of_the_configuration_are_read_and_amounts_have_their_format() {
    let place = shop();
    let mut command = place.words("metric revenue,margin,orders --db shop.sqlite --by country");
    let output = finish(command.env("SYRCH_SEMANTICS", "shop.yml"), "");
    let (text, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(text.contains("72702.62 EUR") && text.contains("37.42 %"), "{text}");
    let csv = run(
        &place,
        &["metric", "margin", "--semantics", "shop.yml", "--db", "shop.sqlite", "--format", "csv"],
    );
    assert!(csv.starts_with("margin\n0.3"), "{csv}");
    assert_refused(&mut place.words("metric orders --db shop.sqlite"), 2, &["no semantics file"]);
}

#[test]
fn conditions_that_exclude_each_other_and_values_that_are_not_there_are_said() {
    let place = shop();
    let mut command = place.words("metric orders --semantics shop.yml --db shop.sqlite --where");
    let never = "country = 'France' AND country = 'Italy'";
    assert_refused(command.arg(never), 2, &["no row meets both", "France", "Italy"]);
    let mut command = place.words("metric revenue --semantics shop.yml --db shop.sqlite --where");
    let output = finish(command.arg("country = 'Atlantis'"), "");
    let (_, stderr) = read_streams(&output);
    assert!(stderr.contains("customers.country has no value `Atlantis`"), "{stderr}");
    let mut command = place.words("metric orders --semantics shop.yml --db shop.sqlite");
    let output = finish(command.args(["--period", "1999"]), "");
    let (_, stderr) = read_streams(&output);
    assert!(stderr.contains("orders.order_date has no day from 1999-01-01 on"), "{stderr}");
}
