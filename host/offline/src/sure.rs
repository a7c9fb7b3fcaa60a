//! Questions that were answered wrong with confidence: each is right now, in doubt, or without an
//! answer.

use async_trait::async_trait;
use syrch_core::ports::{CellIndex, Match, PortError, Sample};
use syrch_core::{Catalog, Hit, Value};

use super::fixture::{self, block_on, table};
use super::interpret::interpret;
use super::kinds::{assert_reads, assert_silent, catalog};

const INT: &str = "INTEGER";
const TEXT: &str = "TEXT";
const DATE: &str = "DATE";

/// Customers who order, to two addresses.
fn store() -> Catalog {
    let customers =
        [("id", INT), ("name", TEXT), ("city", TEXT), ("country", TEXT), ("signup_date", DATE)];
    let suppliers = [("id", INT), ("name", TEXT), ("city", TEXT)];
    let products = [("id", INT), ("name", TEXT), ("category", TEXT), ("price_cents", INT)];
    let addresses = [("id", INT), ("street", TEXT)];
    let orders = [
        ("id", INT),
        ("customer_id", INT),
        ("status", TEXT),
        ("payment_method", TEXT),
        ("order_date", DATE),
        ("billing_address_id", INT),
        ("shipping_address_id", INT),
    ];
    let references = [
        ("customer_id", "customers", "id"),
        ("billing_address_id", "addresses", "id"),
        ("shipping_address_id", "addresses", "id"),
    ];
    let tables = vec![
        table("customers", &customers, "id", &[]),
        table("suppliers", &suppliers, "id", &[]),
        table("products", &products, "id", &[]),
        table("addresses", &addresses, "id", &[]),
        table("orders", &orders, "id", &references),
    ];
    Catalog { tables, ..catalog("store", &[]) }
}

/// Matches of two teams each.
fn league() -> Catalog {
    let matches = [("id", INT), ("home_team_id", INT), ("away_team_id", INT), ("played_on", TEXT)];
    let references = [("home_team_id", "teams", "id"), ("away_team_id", "teams", "id")];
    let players = [("id", INT), ("name", TEXT), ("team_id", INT)];
    let tables = vec![
        table("teams", &[("id", INT), ("name", TEXT)], "id", &[]),
        table("matches", &matches, "id", &references),
        table("players", &players, "id", &[("team_id", "teams", "id")]),
    ];
    Catalog { tables, ..catalog("league", &[]) }
}

fn assert_doubted(catalog: &Catalog, questions: &[&str]) {
    for question in questions {
        let (sql, confidence) = fixture::best(question, catalog);
        assert!(confidence <= 0.5, "{question}: {confidence} {sql}");
    }
}

fn objection(question: &str, catalog: &Catalog) -> String {
    let cells = fixture::cells();
    let found = block_on(interpret(question, catalog, Some(cells.as_ref())));
    found.objection.unwrap_or_default()
}

#[test]
fn a_time_within_a_negation_is_of_what_is_denied() {
    fn none_in(condition: &str) -> String {
        format!(
            "id NOT IN (SELECT customers.id FROM customers JOIN orders ON orders.customer_id = \
             customers.id WHERE {condition})"
        )
    }
    let year = "CAST(strftime('%Y', orders.order_date) AS INTEGER) = 2024";
    let names = format!("SELECT name FROM customers WHERE {}", none_in(year));
    let count = format!("SELECT COUNT(*) FROM customers WHERE {}", none_in(year));
    let month = "CAST(strftime('%m', orders.order_date) AS INTEGER) = 3";
    let march =
        format!("SELECT name FROM customers WHERE {}", none_in(&format!("{month} AND {year}")));
    let since =
        "SELECT name FROM customers WHERE CAST(strftime('%Y', signup_date) AS INTEGER) = 2023";
    let signed =
        fixture::best("Which customers who signed up in 2023 did not order in 2024?", &store()).0;
    assert!(signed.contains("NOT IN") && signed.contains(year), "{signed}");
    assert!(signed.contains("signup_date"), "{signed}");
    assert_reads(
        &store(),
        &[
            ("Which customers did not order in 2024?", &names),
            ("Which customers ordered nothing in 2024?", &names),
            ("Which customers placed no order in 2024?", &names),
            ("Which customers never ordered in 2024?", &names),
            ("How many customers did not order in 2024?", &count),
            ("customers without orders in March 2024", &march),
            ("Which customers signed up in 2023?", since),
        ],
    );
}

#[test]
fn one_of_two_references_is_in_doubt_unless_it_is_named() {
    assert_doubted(
        &store(),
        &[
            "number of orders per address",
            "Which address has the most orders?",
            "Which addresses have no orders?",
            "orders of each address",
        ],
    );
    assert_doubted(
        &league(),
        &[
            "number of matches per team",
            "Which team has the most matches?",
            "Which teams have no matches?",
            "Which teams have matches at home and away?",
        ],
    );
    // One is as near as the other, whatever both names share.
    let players = fixture::best("number of players per team", &league());
    assert!(players.1 > 0.7, "{players:?}");
}

#[test]
fn the_reference_that_is_named_joins_the_tables() {
    let home = "matches.home_team_id = teams.id";
    let away = "matches.away_team_id = teams.id";
    for (question, join, rest) in [
        ("number of matches per home team", home, "GROUP BY teams.id"),
        ("Which home team has the most matches?", home, "ORDER BY COUNT(*) DESC LIMIT 1"),
        ("number of home matches per team", home, "GROUP BY teams.id"),
        ("Which teams have no away matches?", away, ""),
        ("number of matches by away team name", away, "GROUP BY teams.name"),
    ] {
        let (sql, confidence) = fixture::best(question, &league());
        let is_right = sql.contains(join) && sql.contains(rest) && sql.contains("teams.name");
        assert!(is_right || sql.contains("NOT IN") && sql.contains(join), "{question}: {sql}");
        assert!(confidence > 0.6, "{question}: {confidence} {sql}");
    }
    let shipping = "orders.shipping_address_id = addresses.id";
    for question in
        ["number of orders by shipping street", "How many orders has each shipping address?"]
    {
        let (sql, confidence) = fixture::best(question, &store());
        assert!(sql.contains(shipping) && confidence > 0.6, "{question}: {confidence} {sql}");
    }
    for question in
        ["number of matches by home team and away team", "orders by shipping and billing street"]
    {
        let catalog = if question.contains("orders") { store() } else { league() };
        let (sql, confidence) = fixture::best(question, &catalog);
        let why = objection(question, &catalog);
        assert!(!why.is_empty() || confidence <= 0.5, "{question}: {confidence} {sql}");
    }
}

#[test]
fn a_reference_that_says_no_more_than_the_table_is_the_plain_one() {
    let employees = [("emp_no", INT), ("full_name", TEXT), ("dept_no", INT)];
    let departments = [("dept_no", INT), ("department", TEXT), ("mngr_no", INT)];
    let tables = vec![
        table("employee", &employees, "emp_no", &[("dept_no", "department", "dept_no")]),
        table("department", &departments, "dept_no", &[("mngr_no", "employee", "emp_no")]),
    ];
    let staff = Catalog { tables, ..catalog("staff", &[]) };
    let (sql, confidence) = fixture::best("How many employees are in each department?", &staff);
    assert!(sql.contains("employee.dept_no = department.dept_no"), "{sql}");
    assert!(confidence > 0.7, "{confidence}");
    let (sql, _) = fixture::best("List the department and the manager of each department", &staff);
    assert!(sql.is_empty() || sql.contains("department.mngr_no = employee.emp_no"), "{sql}");
}

#[test]
fn a_row_does_not_belong_to_itself() {
    assert_doubted(
        &fixture::library(),
        &[
            "Which authors belong to Ana Vidal?",
            "Which authors are part of Ana Vidal?",
            "authors under Ana Vidal",
            "Which authors are in Ana Vidal?",
        ],
    );
}

#[test]
fn a_number_of_rows_may_stand_before_them() {
    let best = "SELECT name FROM member ORDER BY age DESC LIMIT 5";
    assert_reads(
        &fixture::library(),
        &[
            ("Who are the 5 members with the highest age?", best),
            ("List the 5 members with the highest age", best),
            (
                "the three members who have the lowest age",
                &best.replace("DESC LIMIT 5", "NULLS LAST LIMIT 3"),
            ),
        ],
    );
}

#[test]
fn a_doubt_has_a_reason_in_words() {
    fn doubts(question: &str, catalog: &Catalog) -> Vec<String> {
        let found = block_on(interpret(question, catalog, Some(fixture::cells().as_ref())));
        found.list.into_iter().next().map(|best| best.doubts).unwrap_or_default()
    }
    let ways = doubts("number of orders per address", &store());
    let [way] = ways.as_slice() else { panic!("{ways:?}") };
    for column in ["orders.billing_address_id", "orders.shipping_address_id"] {
        assert!(way.contains(column), "{way}");
    }
    let lost = doubts("Which customers did not frobnicate an order?", &store());
    assert_eq!(lost, ["`frobnicate` behind the negation is in no condition"]);
    let cents = doubts("Which products cost more than 50?", &store());
    assert!(cents[0].starts_with("products.price_cents holds cents"), "{cents:?}");
    assert_eq!(doubts("How many orders are there?", &store()), [""; 0]);
}

#[test]
fn the_values_of_a_column_are_listed_once() {
    assert_reads(
        &store(),
        &[
            ("Which statuses do orders have?", "SELECT DISTINCT status FROM orders"),
            ("Which payment methods are there?", "SELECT DISTINCT payment_method FROM orders"),
            ("What countries are our customers from?", "SELECT DISTINCT country FROM customers"),
            ("What categories exist?", "SELECT DISTINCT category FROM products"),
            ("In which countries do customers live?", "SELECT DISTINCT country FROM customers"),
            ("What is the status of each order?", "SELECT status FROM orders"),
        ],
    );
}

#[test]
fn a_column_of_several_tables_is_asked_about() {
    for question in
        ["How many cities are there?", "List all cities", "Which cities are there?", "cities"]
    {
        let asked = objection(question, &store());
        assert!(asked.contains("(customers.city, suppliers.city)"), "{question}: {asked}");
    }
    assert_reads(
        &store(),
        &[
            ("How many countries are there?", "SELECT COUNT(DISTINCT country) FROM customers"),
            (
                "How many cities do the suppliers have?",
                "SELECT COUNT(DISTINCT city) FROM suppliers",
            ),
        ],
    );
}

#[test]
fn a_date_that_is_no_day_is_refused_with_the_reason() {
    for (question, date) in [
        ("How many orders were placed on 2023-02-30?", "2023-02-30"),
        ("orders placed on 2023-13-01", "2023-13-01"),
        ("How many orders were placed after 2023-04-31?", "2023-04-31"),
        ("orders between 2023-02-01 and 2023-02-29", "2023-02-29"),
    ] {
        let why = objection(question, &store());
        assert_eq!(why, format!("{date}: there is no such day in the calendar"), "{question}");
    }
    assert_eq!(objection("How many orders were placed on 2024-02-29?", &store()), "");
    assert_silent(&store(), &["How many orders were placed at 2023-05-10 25:00?"]);
}

#[test]
fn a_time_that_is_none_is_refused_with_the_reason() {
    for (question, why) in [
        ("How many orders were placed in the 13th month?", "a year has 12 months"),
        ("How many orders were placed in month 13?", "a year has 12 months"),
        ("orders placed on February 30", "there is no such day in the calendar"),
        ("orders placed on 30 Feb 2023", "there is no such day in the calendar"),
        ("orders in Q5 2023", "a year has 4 quarters"),
        ("How many orders were placed at 25:00?", "there is no such time of day"),
    ] {
        let objection = objection(question, &store());
        assert!(objection.ends_with(why), "{question}: {objection}");
    }
    // A column or a value of that name is none.
    let months = catalog("trips", &[("month", INT), ("carrier", TEXT)]);
    assert_eq!(objection("How many trips were in month 13?", &months), "");
    assert_eq!(objection("How many orders were placed in Q4 2023?", &store()), "");
}

#[test]
fn a_number_of_cents_is_not_compared_with_one_of_euros() {
    assert_doubted(&store(), &["products cheaper than 20", "Which products cost more than 50?"]);
    let cents = fixture::best("Which products cost more than 50 cents?", &store());
    assert!(cents.0.is_empty() || cents.0.contains("price_cents > 50"), "{cents:?}");
}

#[test]
fn what_is_played_names_no_players() {
    let year = "CAST(strftime('%Y', played_on) AS INTEGER) = 2023";
    assert_reads(
        &league(),
        &[(
            "How many matches were played in 2023?",
            &format!("SELECT COUNT(*) FROM matches WHERE {year}"),
        )],
    );
}

#[test]
fn each_of_several_counts_is_one_of_its_own() {
    let places = "SELECT country, COUNT(*) FROM author WHERE (country = 'France' OR country = \
                  'Japan') GROUP BY country";
    assert_reads(
        &fixture::library(),
        &[
            ("How many authors are from France and how many from Japan?", places),
            ("How many authors are from France and how many are from Japan?", places),
            ("number of authors from France and number of authors from Japan", places),
            ("How many authors are from France and Japan each?", places),
            (
                "How many authors are from France or Japan?",
                "SELECT COUNT(*) FROM author WHERE (country = 'France' OR country = 'Japan')",
            ),
        ],
    );
    assert_silent(
        &fixture::library(),
        &[
            "How many books were published in 2001 and how many in 2009?",
            "How many authors are from France and how many books are there?",
            "How many members are from Oslo and how many are older than 30?",
        ],
    );
}

/// An index of columns with a few values, each of many rows.
struct Few;

#[async_trait]
impl CellIndex for Few {
    async fn samples(&self, _: &str, columns: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        let count = if columns == ["city".to_owned()] { 1 } else { 40 };
        let [least, greatest] = ["a", "b"].map(|value| Value::Text(value.to_owned()));
        let frequent = vec![(greatest.clone(), count), (least.clone(), count)];
        Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
    }

    async fn find(&self, phrases: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Ok(vec![Vec::new(); phrases.len()])
    }
}

#[test]
fn a_few_values_of_many_rows_are_listed_once() {
    for (question, sql) in [
        ("What are the statuses of orders?", "SELECT DISTINCT status FROM orders"),
        ("List the payment methods", "SELECT DISTINCT payment_method FROM orders"),
        ("Show the categories of the products", "SELECT DISTINCT category FROM products"),
        ("List the status of each order", "SELECT status FROM orders"),
        ("What are the cities of the customers?", "SELECT city FROM customers"),
        ("List the names of the customers", "SELECT name FROM customers"),
    ] {
        let found = block_on(interpret(question, &store(), Some(&Few)));
        let read = found.list.first().map_or("", |best| best.sql.as_str());
        assert_eq!(read, sql, "{question}");
    }
}

#[test]
fn a_word_within_a_negation_is_not_left_out() {
    assert_doubted(
        &store(),
        &[
            "Which customers did not cancel an order in 2023?",
            "Which customers did not frobnicate an order?",
            "Which customers have no frobnicated orders?",
        ],
    );
    let plain = fixture::best("Which customers have no orders?", &store());
    assert!(plain.1 > 0.8, "{plain:?}");
}

#[test]
fn an_average_of_one_row_is_in_doubt() {
    let goals = catalog("goals", &[("id", INT), ("points", INT)]).tables.remove(0).columns;
    let mut league = league();
    league.tables[1].columns.extend(goals.into_iter().skip(1));
    assert_doubted(&league, &["average points per match", "highest points of each match"]);
    let found = block_on(interpret("average points per match", &league, None));
    assert_eq!(
        found.list[0].doubts,
        ["each group is one row of matches, with nothing to aggregate"]
    );
    let all = fixture::best("What are the average points?", &league);
    assert!(all.1 > 0.8, "{all:?}");
}

/// An index of heights in centimetres.
struct Heights;

#[async_trait]
impl CellIndex for Heights {
    async fn samples(&self, _: &str, columns: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        let [least, greatest] = [160, 203].map(Value::Integer);
        let frequent = vec![(least.clone(), 2), (greatest.clone(), 1)];
        Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
    }

    async fn find(&self, phrases: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Ok(vec![Vec::new(); phrases.len()])
    }
}

#[test]
fn a_number_of_another_unit_is_in_doubt() {
    let heights =
        catalog("players", &[("id", INT), ("name", TEXT), ("team", TEXT), ("height_cm", INT)]);
    for (question, is_sure) in [
        ("players with a height above 1.80", false),
        ("players with a height below 1.80", false),
        ("players with a height above 5000", false),
        ("players with a height above 180", true),
        ("players with a height above 250", true),
    ] {
        let found = block_on(interpret(question, &heights, Some(&Heights)));
        let best = &found.list[0];
        assert_eq!(best.confidence > 0.5, is_sure, "{question}: {best:?}");
        assert_eq!(best.doubts.is_empty(), is_sure, "{question}: {best:?}");
    }
}
