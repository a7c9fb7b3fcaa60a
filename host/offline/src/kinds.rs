//! Questions over tables as people have them, mostly one table of a file without a key: what is
//! asked for is expressed, or nothing is answered.

use syrch_core::{Catalog, Dialect, Table};

use super::fixture::{self, block_on};
use super::interpret::interpret;

pub(crate) fn catalog(name: &str, columns: &[(&str, &str)]) -> Catalog {
    let table = Table { primary_key: Vec::new(), ..fixture::table(name, columns, "", &[]) };
    Catalog { database: name.to_owned(), dialect: Dialect::Sqlite, tables: vec![table] }
}

fn sales() -> Catalog {
    catalog(
        "sales",
        &[
            ("month", "DATE"),
            ("region", "TEXT"),
            ("product", "TEXT"),
            ("units", "INTEGER"),
            ("revenue", "REAL"),
        ],
    )
}

fn flights() -> Catalog {
    catalog(
        "flights",
        &[
            ("year", "INTEGER"),
            ("month", "INTEGER"),
            ("day", "INTEGER"),
            ("dep_delay", "INTEGER"),
            ("arr_delay", "INTEGER"),
            ("carrier", "TEXT"),
            ("origin", "TEXT"),
            ("dest", "TEXT"),
            ("air_time", "INTEGER"),
            ("distance", "INTEGER"),
        ],
    )
}

fn penguins() -> Catalog {
    let columns = [
        ("species", "TEXT"),
        ("island", "TEXT"),
        ("bill_length_mm", "REAL"),
        ("flipper_length_mm", "INTEGER"),
        ("body_mass_g", "INTEGER"),
        ("sex", "TEXT"),
        ("year", "INTEGER"),
    ];
    catalog("penguins", &columns)
}

fn states() -> Catalog {
    let columns = [
        ("state", "TEXT"),
        ("capital", "TEXT"),
        ("population", "INTEGER"),
        ("area", "INTEGER"),
        ("region", "TEXT"),
    ];
    catalog("states", &columns)
}

fn visits() -> Catalog {
    catalog(
        "visits",
        &[("id", "INTEGER"), ("kind", "TEXT"), ("seen_on", "DATE"), ("created_at", "TIMESTAMP")],
    )
}

fn tickets() -> Catalog {
    catalog(
        "tickets",
        &[
            ("id", "INTEGER"),
            ("status", "TEXT"),
            ("town", "TEXT"),
            ("price", "REAL"),
            ("paid", "BOOLEAN"),
            ("sold_at", "TIMESTAMP"),
        ],
    )
}

pub(crate) fn assert_reads(catalog: &Catalog, expected: &[(&str, &str)]) {
    let read = |question: &str| fixture::best(question, catalog).0;
    let wrong: Vec<_> = expected
        .iter()
        .map(|(question, sql)| (*question, *sql, read(question)))
        .filter(|(_, sql, read)| sql != read)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(crate) fn assert_silent(catalog: &Catalog, questions: &[&str]) {
    let answered: Vec<_> = questions
        .iter()
        .map(|question: &&str| (question.to_string(), fixture::best(question, catalog)))
        .filter(|(_, (sql, sure))| !sql.is_empty() && *sure >= 0.35)
        .collect();
    assert!(answered.is_empty(), "{answered:#?}");
}

pub(crate) fn assert_unsure(catalog: &Catalog, questions: &[&str]) {
    let sure: Vec<_> = questions
        .iter()
        .map(|question: &&str| (question.to_string(), fixture::best(question, catalog)))
        .filter(|(_, (_, sure))| *sure >= 0.8)
        .collect();
    assert!(sure.is_empty(), "{sure:#?}");
}

fn objection(question: &str, catalog: &Catalog) -> String {
    block_on(interpret(question, catalog, Some(fixture::cells().as_ref())))
        .objection
        .unwrap_or_default()
}

#[test]
fn a_total_number_of_what_a_column_counts_is_a_sum() {
    assert_reads(
        &sales(),
        &[
            ("What is the total number of units?", "SELECT SUM(units) FROM sales"),
            (
                "What is the total number of units for each region?",
                "SELECT region, SUM(units) FROM sales GROUP BY region",
            ),
            ("total amount of revenue", "SELECT SUM(revenue) FROM sales"),
            ("average number of units", "SELECT AVG(units) FROM sales"),
            ("How many sales are there?", "SELECT COUNT(*) FROM sales"),
        ],
    );
    assert_reads(
        &states(),
        &[
            (
                "how many people live in texas",
                "SELECT SUM(population) FROM states WHERE state = 'Texas'",
            ),
            (
                "How many people live in the Midwest?",
                "SELECT SUM(population) FROM states WHERE region = 'Midwest'",
            ),
            ("number of states per region", "SELECT region, COUNT(*) FROM states GROUP BY region"),
        ],
    );
}

#[test]
fn a_column_that_numbers_the_rows_counts_them() {
    let bookings =
        catalog("trips", &[("booking", "INTEGER"), ("day", "DATE"), ("guests", "INTEGER")]);
    assert_reads(
        &bookings,
        &[
            ("How many bookings are there?", "SELECT COUNT(*) FROM trips"),
            (
                "How many bookings were there on 2024-02-05?",
                "SELECT COUNT(*) FROM trips WHERE day = '2024-02-05'",
            ),
            ("How many guests were there?", "SELECT SUM(guests) FROM trips"),
        ],
    );
    let tests = catalog("lab", &[("sample", "INTEGER"), ("status", "TEXT"), ("weight", "REAL")]);
    assert_reads(
        &tests,
        &[
            (
                "How many samples have a weight above 3?",
                "SELECT COUNT(*) FROM lab WHERE weight > 3",
            ),
            ("number of samples per status", "SELECT status, COUNT(*) FROM lab GROUP BY status"),
        ],
    );
}

#[test]
fn a_total_of_rows_is_of_their_amounts_or_the_user_is_asked() {
    fn orders(columns: &[(&str, &str)]) -> Catalog {
        catalog("orders", columns)
    }
    let one = orders(&[
        ("id", "INTEGER"),
        ("customer", "TEXT"),
        ("amount", "REAL"),
        ("discount", "REAL"),
    ]);
    assert_reads(
        &one,
        &[("What is the total amount of the orders?", "SELECT SUM(amount) FROM orders")],
    );
    let none = orders(&[
        ("id", "INTEGER"),
        ("customer", "TEXT"),
        ("weight", "REAL"),
        ("discount", "REAL"),
    ]);
    let asked = objection("What is the total amount of the orders?", &none);
    assert_eq!(asked, "no measure for: total amount of the orders (weight, discount)");
    assert_reads(
        &none,
        &[("What is the total amount of the orders by weight?", "SELECT SUM(weight) FROM orders")],
    );
}

#[test]
fn an_aggregate_of_the_best_rows_is_of_these_rows() {
    fn best(function: &str, order: &str) -> String {
        format!(
            "SELECT {function}(revenue) FROM (SELECT revenue FROM sales \
             ORDER BY revenue {order}) AS best"
        )
    }
    assert_reads(
        &sales(),
        &[
            ("What is the sum of the 5 highest revenues?", &best("SUM", "DESC LIMIT 5")),
            ("average of the 3 lowest revenues", &best("AVG", "NULLS LAST LIMIT 3")),
            ("average of the top 4 revenues", &best("AVG", "DESC LIMIT 4")),
        ],
    );
    assert_silent(&sales(), &["total revenue of the 2 best months", "sum of the highest revenues"]);
}

#[test]
fn a_flag_is_a_condition() {
    assert_reads(
        &tickets(),
        &[
            ("How many are paid?", "SELECT COUNT(*) FROM tickets WHERE paid = 1"),
            ("How many tickets are not paid?", "SELECT COUNT(*) FROM tickets WHERE paid <> 1"),
            ("which are not paid", "SELECT id FROM tickets WHERE paid <> 1"),
            ("number of paid tickets", "SELECT COUNT(*) FROM tickets WHERE paid = 1"),
        ],
    );
    let postgres = Catalog { dialect: Dialect::Postgres, ..tickets() };
    assert_reads(
        &postgres,
        &[("How many are paid?", "SELECT COUNT(*) FROM tickets WHERE paid = TRUE")],
    );
}

#[test]
fn numbers_alone_are_added_up_and_compared() {
    assert_reads(
        &flights(),
        &[
            (
                "average departure delay for each carrier",
                "SELECT carrier, AVG(dep_delay) FROM flights GROUP BY carrier",
            ),
            (
                "average arrival delay by origin",
                "SELECT origin, AVG(arr_delay) FROM flights GROUP BY origin",
            ),
            (
                "Which carrier has the highest average departure delay?",
                "SELECT carrier FROM flights GROUP BY carrier ORDER BY AVG(dep_delay) DESC LIMIT 1",
            ),
        ],
    );
    assert_silent(
        &states(),
        &["what is the highest capital", "average capital", "total region", "the greatest region"],
    );
    assert_silent(&flights(), &["average origin for each carrier", "total carrier"]);
}

#[test]
fn the_one_with_the_most_is_named_and_not_its_number() {
    assert_reads(
        &states(),
        &[
            (
                "what is the most populous state",
                "SELECT state FROM states ORDER BY population DESC LIMIT 1",
            ),
            (
                "what is the capital of the least populous state",
                "SELECT capital FROM states ORDER BY population NULLS LAST LIMIT 1",
            ),
            ("state with most people", "SELECT state FROM states ORDER BY population DESC LIMIT 1"),
            ("state, area and population", "SELECT state, area, population FROM states"),
        ],
    );
    assert_silent(
        &states(),
        &["name and population of the states in the Midwest", "population of each region"],
    );
}

#[test]
fn rows_are_counted_per_group_and_as_rows() {
    assert_reads(
        &flights(),
        &[
            ("flights per origin", "SELECT origin, COUNT(*) FROM flights GROUP BY origin"),
            ("How many rows are there?", "SELECT COUNT(*) FROM flights"),
            (
                "number of flights per carrier and origin",
                "SELECT carrier, origin, COUNT(*) FROM flights GROUP BY carrier, origin",
            ),
        ],
    );
    assert_silent(&fixture::library(), &["How many rows are there?"]);
    assert_reads(
        &fixture::library(),
        &[("How many rows are in the table member?", "SELECT COUNT(*) FROM member")],
    );
}

#[test]
fn months_are_of_a_column_of_months_or_of_a_date() {
    assert_reads(
        &flights(),
        &[
            (
                "How many flights were there in July?",
                "SELECT COUNT(*) FROM flights WHERE month = 7",
            ),
            (
                "How many flights were there in July 2013?",
                "SELECT COUNT(*) FROM flights WHERE month = 7 AND year = 2013",
            ),
            (
                "average distance per carrier in Q2",
                "SELECT carrier, AVG(distance) FROM flights WHERE month BETWEEN 4 AND 6 \
                 GROUP BY carrier",
            ),
        ],
    );
    let month = "CAST(strftime('%m', month) AS INTEGER)";
    let total = format!("SELECT SUM(revenue) FROM sales WHERE {month} = 2");
    assert_reads(&sales(), &[("total revenue in February", &total)]);
    let duckdb = Catalog { dialect: Dialect::Duckdb, ..sales() };
    assert_reads(
        &duckdb,
        &[(
            "total revenue in February",
            "SELECT SUM(revenue) FROM sales WHERE EXTRACT(MONTH FROM month) = 2",
        )],
    );
    let day = "CAST(strftime('%m', month) AS INTEGER) = 5 AND CAST(strftime('%Y', month) AS \
               INTEGER) = 2024";
    let total = format!("SELECT SUM(revenue) FROM sales WHERE {day}");
    assert_reads(&sales(), &[("total revenue in May 2024", &total)]);
    assert_silent(
        &sales(),
        &["sales before March", "total revenue last month", "revenue yesterday"],
    );
    assert_silent(&states(), &["population in July"]);
}

#[test]
fn a_day_is_all_of_a_day() {
    fn count(condition: &str) -> String {
        format!("SELECT COUNT(*) FROM visits WHERE {condition}")
    }
    assert_reads(
        &visits(),
        &[
            (
                "How many visits were created on 2024-05-11?",
                &count("created_at >= '2024-05-11' AND created_at < '2024-05-12'"),
            ),
            (
                "How many visits were created on May 11, 2024?",
                &count("created_at >= '2024-05-11' AND created_at < '2024-05-12'"),
            ),
            ("How many visits are there on 2024-03-02?", &count("seen_on = '2024-03-02'")),
            (
                "How many visits were not created on 2024-12-31?",
                &count("(created_at < '2024-12-31' OR created_at >= '2025-01-01')"),
            ),
            (
                "How many visits were created after 2024-05-11?",
                &count("created_at >= '2024-05-12'"),
            ),
            (
                "How many visits were created between 2024-05-11 and 2024-05-13?",
                &count("created_at >= '2024-05-11' AND created_at < '2024-05-14'"),
            ),
        ],
    );
    for dialect in [Dialect::Postgres, Dialect::Duckdb, Dialect::Spark] {
        let catalog = Catalog { dialect, ..visits() };
        let range = count("created_at >= '2024-05-11' AND created_at < '2024-05-12'");
        assert_reads(&catalog, &[("How many visits were created on 2024-05-11?", &range)]);
    }
    // No number is a day.
    let placed =
        catalog("placed", &[("id", "INTEGER"), ("placed_at", "TIMESTAMP"), ("total", "REAL")]);
    let range =
        "SELECT COUNT(*) FROM placed WHERE placed_at >= '2024-03-02' AND placed_at < '2024-03-03'";
    assert_reads(&placed, &[("How many ids were placed on 2024-03-02?", range)]);
    assert_silent(&states(), &["How many states on 2024-03-02?"]);
}

#[test]
fn a_part_is_divided_by_its_whole() {
    assert_reads(
        &tickets(),
        &[
            (
                "what percentage of tickets were cancelled",
                "SELECT 100.0 * COUNT(CASE WHEN status = 'cancelled' THEN 1 END) / COUNT(*) \
                 FROM tickets",
            ),
            (
                "what percentage of the tickets from Ulm were cancelled",
                "SELECT 100.0 * COUNT(CASE WHEN status = 'cancelled' THEN 1 END) / COUNT(*) \
                 FROM tickets WHERE town = 'Ulm'",
            ),
        ],
    );
    assert_reads(
        &sales(),
        &[
            (
                "What share of revenue comes from each region?",
                "SELECT region, 1.0 * SUM(revenue) / (SELECT SUM(revenue) FROM sales) FROM sales \
                 GROUP BY region",
            ),
            (
                "share of sales by product",
                "SELECT product, 1.0 * COUNT(*) / (SELECT COUNT(*) FROM sales) FROM sales \
                 GROUP BY product",
            ),
        ],
    );
    assert_reads(
        &penguins(),
        &[(
            "percentage of penguins that are female",
            "SELECT 100.0 * COUNT(CASE WHEN sex = 'female' THEN 1 END) / COUNT(*) FROM penguins",
        )],
    );
    assert_silent(&tickets(), &["percentage of tickets", "median price", "ratio of price and id"]);
}

#[test]
fn a_superlative_measures_the_one_column_that_fits() {
    assert_reads(
        &penguins(),
        &[
            ("heaviest penguin", "SELECT * FROM penguins ORDER BY body_mass_g DESC LIMIT 1"),
            (
                "lightest penguin in 2008",
                "SELECT * FROM penguins WHERE year = 2008 ORDER BY body_mass_g NULLS LAST LIMIT 1",
            ),
            (
                "Which species has the longest flipper?",
                "SELECT species FROM penguins ORDER BY flipper_length_mm DESC LIMIT 1",
            ),
        ],
    );
    assert_reads(
        &flights(),
        &[
            (
                "What is the farthest destination?",
                "SELECT dest FROM flights ORDER BY distance DESC LIMIT 1",
            ),
            ("longest air time", "SELECT MAX(air_time) FROM flights"),
        ],
    );
    let asked = objection("Which penguin is the longest?", &penguins());
    assert!(asked.starts_with("no measure for: longest"), "{asked}");
}

#[test]
fn the_spellings_of_a_value_are_one_value() {
    let samples =
        catalog("samples", &[("sample_id", "INTEGER"), ("origin", "TEXT"), ("status", "TEXT")]);
    fn count(condition: &str) -> String {
        format!("SELECT COUNT(*) FROM samples WHERE {condition}")
    }
    assert_reads(
        &samples,
        &[
            (
                "How many samples have the origin germline?",
                &count("origin IN ('germline', 'GERMLINE', 'Germline')"),
            ),
            (
                "How many samples are not of germline origin?",
                &count("origin NOT IN ('germline', 'GERMLINE', 'Germline')"),
            ),
            ("How many samples are of somatic origin?", &count("origin = 'Somatic'")),
        ],
    );
}

#[test]
fn one_name_in_two_schemas_is_asked_back_unless_the_schema_is_named() {
    let mut invoices =
        catalog("invoices", &[("id", "INTEGER"), ("town", "TEXT"), ("price", "REAL")]);
    invoices.dialect = Dialect::Postgres;
    invoices.tables.push(invoices.tables[0].clone());
    for (table, schema) in invoices.tables.iter_mut().zip(["archive", "billing"]) {
        table.schema_name = Some(schema.to_owned());
    }
    for question in
        ["How many invoices are there?", "invoices per town", "What is the highest price?"]
    {
        let asked = objection(question, &invoices);
        assert!(asked.ends_with("(archive.invoices, billing.invoices)"), "{question}: {asked}");
    }
    assert_reads(
        &invoices,
        &[
            ("How many invoices are there in billing?", "SELECT COUNT(*) FROM billing.invoices"),
            ("How many archive.invoices are there?", "SELECT COUNT(*) FROM archive.invoices"),
            (
                "What is the highest price of the invoices in billing?",
                "SELECT MAX(price) FROM billing.invoices",
            ),
        ],
    );
}

#[test]
fn names_with_dots_are_names() {
    let shots = catalog("shots", &[("id", "INTEGER"), ("loc.lat", "REAL"), ("loc.lon", "REAL")]);
    assert_reads(&shots, &[("What is the highest loc.lat?", "SELECT MAX(\"loc.lat\") FROM shots")]);
}

#[test]
fn what_no_rule_expresses_is_not_left_out() {
    assert_silent(
        &flights(),
        &[
            "median distance",
            "second longest distance",
            "3rd highest distance",
            "flights this week",
            "average distance in the last 3 months",
            "flights on monday",
            "busiest origin",
        ],
    );
}
