//! Questions with a time, over several tables with dates: the column that the time is compared
//! with is the one that the verb names, or that of the rows that are counted. And questions over
//! several tables, whose rows a join repeats.

use async_trait::async_trait;
use syrch_core::ports::{CellIndex, Match, PortError, Sample};
use syrch_core::{Catalog, Dialect, Hit, Value};

use super::fixture::{self, block_on, table};
use super::interpret::interpret;
use super::kinds::{assert_reads, assert_silent, catalog};

const INT: &str = "INTEGER";
const TEXT: &str = "TEXT";
const DATE: &str = "DATE";

/// Customers who order products, from suppliers.
fn trade() -> Catalog {
    Catalog {
        database: "trade".to_owned(),
        dialect: Dialect::Sqlite,
        tables: vec![
            table(
                "customers",
                &[("id", INT), ("name", TEXT), ("city", TEXT), ("signup_date", DATE)],
                "id",
                &[],
            ),
            table(
                "orders",
                &[
                    ("id", INT),
                    ("customer_id", INT),
                    ("order_date", DATE),
                    ("shipped_date", DATE),
                    ("status", TEXT),
                ],
                "id",
                &[("customer_id", "customers", "id")],
            ),
            table(
                "products",
                &[("id", INT), ("name", TEXT), ("price", "REAL"), ("cost", "REAL")],
                "id",
                &[],
            ),
            table(
                "order_items",
                &[("id", INT), ("order_id", INT), ("product_id", INT), ("quantity", INT)],
                "id",
                &[("order_id", "orders", "id"), ("product_id", "products", "id")],
            ),
        ],
    }
}

/// Visits of patients, with dates that are texts.
fn clinic() -> Catalog {
    Catalog {
        database: "clinic".to_owned(),
        dialect: Dialect::Sqlite,
        tables: vec![
            table("patients", &[("id", INT), ("name", TEXT), ("birth_date", TEXT)], "id", &[]),
            table(
                "visits",
                &[
                    ("id", INT),
                    ("patient_id", INT),
                    ("started_at", TEXT),
                    ("paid_on", TEXT),
                    ("fee", "REAL"),
                ],
                "id",
                &[("patient_id", "patients", "id")],
            ),
        ],
    }
}

fn year(column: &str, year: u32) -> String {
    format!("CAST(strftime('%Y', {column}) AS INTEGER) = {year}")
}

#[test]
fn a_verb_that_names_a_column_of_dates_says_what_happened_then() {
    fn count(condition: &str) -> String {
        format!("SELECT COUNT(*) FROM orders WHERE {condition}")
    }
    let month = "CAST(strftime('%m', shipped_date) AS INTEGER) = 3";
    let march = format!("{month} AND {}", year("shipped_date", 2023));
    let customers = "SELECT COUNT(*) FROM customers WHERE";
    assert_reads(
        &trade(),
        &[
            (
                "How many orders were shipped before 2022-02-01?",
                &count("shipped_date < '2022-02-01'"),
            ),
            ("How many orders shipped in 2024?", &count(&year("shipped_date", 2024))),
            (
                "How many orders were shipped after 2024-12-01?",
                &count("shipped_date > '2024-12-01'"),
            ),
            ("How many orders were shipped in March 2023?", &count(&march)),
            ("In 2024, how many orders were shipped?", &count(&year("shipped_date", 2024))),
            ("How many orders are shipped?", &count("status = 'shipped'")),
            ("How many orders were placed in 2024?", &count(&year("order_date", 2024))),
            (
                "How many customers signed up in 2023?",
                &format!("{customers} {}", year("signup_date", 2023)),
            ),
        ],
    );
}

#[test]
fn the_time_of_a_state_is_not_guessed() {
    assert_silent(
        &trade(),
        &[
            "How many orders placed in 2024 were shipped?",
            "How many orders were shipped by 2022-02-01?",
        ],
    );
    let count = "SELECT COUNT(*) FROM orders WHERE";
    assert_reads(
        &trade(),
        &[
            (
                "How many orders were shipped on or after 2024-12-01?",
                &format!("{count} shipped_date >= '2024-12-01'"),
            ),
            (
                "How many orders with status shipped were placed in 2024?",
                &format!("{count} status = 'shipped' AND {}", year("order_date", 2024)),
            ),
        ],
    );
}

#[test]
fn a_time_is_of_the_rows_that_are_counted_or_added_up() {
    fn count(condition: &str) -> String {
        format!("SELECT COUNT(*) FROM visits WHERE {condition}")
    }
    let month = "CAST(strftime('%m', started_at) AS INTEGER) = 1";
    assert_reads(
        &clinic(),
        &[
            ("How many visits were there in 2023?", &count(&year("started_at", 2023))),
            (
                "What is the total fee in 2023?",
                &format!("SELECT SUM(fee) FROM visits WHERE {}", year("started_at", 2023)),
            ),
            (
                "How many visits in January 2024?",
                &count(&format!("{month} AND {}", year("started_at", 2024))),
            ),
            (
                "How many visits were there on 2023-05-10?",
                &count("started_at >= '2023-05-10' AND started_at < '2023-05-11'"),
            ),
            ("How many visits were paid in 2023?", &count(&year("paid_on", 2023))),
            (
                "How many patients were born in 1980?",
                &format!("SELECT COUNT(*) FROM patients WHERE {}", year("birth_date", 1980)),
            ),
        ],
    );
    // A birth is not meant where it is not named.
    assert_silent(&clinic(), &["How many patients were there in 2023?"]);
    let ordered = fixture::best("How many customers ordered in 2024?", &trade()).0;
    assert!(ordered.ends_with(&year("orders.order_date", 2024)), "{ordered}");
    let agents = fixture::best("How many orders were placed by customers in 2024?", &trade()).0;
    assert!(agents.ends_with(&year("orders.order_date", 2024)), "{agents}");
    let items = fixture::best("What is the total quantity in 2024?", &trade()).0;
    assert!(items.ends_with(&year("orders.order_date", 2024)), "{items}");
    assert_silent(&trade(), &["How many products were there in 2024?"]);
}

#[test]
fn the_month_and_the_year_of_a_date_are_never_alternatives() {
    let question = "How many visits in January 2024?";
    let found = block_on(interpret(question, &clinic(), None));
    assert!(found.list.iter().all(|one| !one.sql.contains(" OR ")), "{:#?}", found.list);
}

#[test]
fn what_a_product_costs_is_its_price() {
    assert_reads(
        &trade(),
        &[
            ("Which products cost less than 10?", "SELECT name FROM products WHERE price < 10"),
            ("Which product costs more than 150?", "SELECT name FROM products WHERE price > 150"),
            (
                "How many products cost exactly 24?",
                "SELECT COUNT(*) FROM products WHERE price = 24",
            ),
            ("What is the average cost of products?", "SELECT AVG(cost) FROM products"),
            ("Which products have a cost above 10?", "SELECT name FROM products WHERE cost > 10"),
        ],
    );
}

#[test]
fn rows_that_a_join_repeats_are_listed_once() {
    let joined =
        "SELECT customers.name FROM customers JOIN orders ON orders.customer_id = customers.id";
    let grouped =
        format!("{joined} WHERE {} GROUP BY customers.id", year("orders.order_date", 2024));
    assert_reads(&trade(), &[("Which customers ordered in 2024?", &grouped)]);
}

#[test]
fn two_counts_are_not_of_a_join() {
    assert_silent(
        &trade(),
        &[
            "How many customers and products are there?",
            "How many orders and customers are there?",
            "How many orders and how many customers are there?",
        ],
    );
}

#[test]
fn a_verb_before_a_comparison_is_its_condition() {
    assert_reads(
        &fixture::shop(),
        &[
            (
                "Which employees earn more than the average?",
                "SELECT name FROM employee WHERE salary > (SELECT AVG(salary) FROM employee)",
            ),
            (
                "How many employees earn more than 50000?",
                "SELECT COUNT(*) FROM employee WHERE salary > 50000",
            ),
            (
                "How many employees were hired in 2022?",
                &format!("SELECT COUNT(*) FROM employee WHERE {}", year("hire_date", 2022)),
            ),
        ],
    );
}

/// An index of a column of zeros and ones.
struct Flags;

#[async_trait]
impl CellIndex for Flags {
    async fn samples(&self, _: &str, columns: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        if columns != ["active".to_owned()] {
            return Err(PortError::Unsupported);
        }
        let [least, greatest] = [Value::Integer(0), Value::Integer(1)];
        let frequent = vec![(greatest.clone(), 50), (least.clone(), 10)];
        Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
    }

    async fn find(&self, phrases: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Ok(vec![Vec::new(); phrases.len()])
    }
}

#[test]
fn numbers_that_say_yes_or_no_are_conditions() {
    let columns = [("id", INT), ("name", TEXT), ("salary", "REAL"), ("active", INT)];
    let mut staff = trade();
    staff.tables = vec![table("staff", &columns, "id", &[])];
    for (question, sql) in [
        ("average salary of active staff", "SELECT AVG(salary) FROM staff WHERE active = 1"),
        ("How many active staff are there?", "SELECT COUNT(*) FROM staff WHERE active = 1"),
        ("Which staff are not active?", "SELECT name FROM staff WHERE active <> 1"),
    ] {
        let found = block_on(interpret(question, &staff, Some(&Flags)));
        let read = found.list.first().map_or("", |best| best.sql.as_str());
        assert_eq!(read, sql, "{question}");
    }
}

/// An index of columns of texts, of which the named ones hold days.
struct Days(&'static [&'static str]);

#[async_trait]
impl CellIndex for Days {
    async fn samples(&self, _: &str, columns: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        let is_day = columns.iter().all(|column| self.0.contains(&column.as_str()));
        let values = if is_day { ["1984-05-31", "2023-07-14"] } else { ["ann", "bob"] };
        let [least, greatest] = values.map(|value| Value::Text(value.to_owned()));
        let frequent = vec![(greatest.clone(), 1), (least.clone(), 1)];
        Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
    }

    async fn find(&self, phrases: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Ok(vec![Vec::new(); phrases.len()])
    }
}

/// Rows with several days, of which the name of one alone says so.
fn stays() -> Catalog {
    let bookings = [
        ("id", INT),
        ("guest", TEXT),
        ("booked_on", TEXT),
        ("arrival", TEXT),
        ("departure", TEXT),
        ("status", TEXT),
        ("price", "REAL"),
    ];
    let articles = [("id", INT), ("title", TEXT), ("written_on", TEXT), ("posted", TEXT)];
    let persons = [("id", INT), ("name", TEXT), ("born", TEXT), ("joined_on", TEXT)];
    let tables = vec![
        table("bookings", &bookings, "id", &[]),
        table("articles", &articles, "id", &[]),
        table("persons", &persons, "id", &[]),
    ];
    Catalog { database: "stays".to_owned(), dialect: Dialect::Sqlite, tables }
}

#[test]
fn a_time_is_that_of_the_column_before_it_if_its_texts_are_days() {
    let index =
        Days(&["arrival", "booked_on", "born", "departure", "joined_on", "posted", "written_on"]);
    fn month(column: &str, month: u32) -> String {
        format!("CAST(strftime('%m', {column}) AS INTEGER) = {month}")
    }
    for (question, sql) in [
        (
            "How many bookings with arrival in July?",
            format!("SELECT COUNT(*) FROM bookings WHERE {}", month("arrival", 7)),
        ),
        (
            "How many bookings with arrival in July 2023?",
            format!(
                "SELECT COUNT(*) FROM bookings WHERE {} AND {}",
                month("arrival", 7),
                year("arrival", 2023)
            ),
        ),
        (
            "How many bookings have a departure in 2023?",
            format!("SELECT COUNT(*) FROM bookings WHERE {}", year("departure", 2023)),
        ),
        (
            "How many articles have posted = 2024?",
            format!("SELECT COUNT(*) FROM articles WHERE {}", year("posted", 2024)),
        ),
        (
            "How many articles were posted in 2024?",
            format!("SELECT COUNT(*) FROM articles WHERE {}", year("posted", 2024)),
        ),
        (
            "How many persons were born in the 1980s?",
            "SELECT COUNT(*) FROM persons WHERE CAST(strftime('%Y', born) AS INTEGER) BETWEEN 1980 \
             AND 1989"
                .to_owned(),
        ),
        (
            "What is the total price of bookings with arrival in 2023?",
            format!("SELECT SUM(price) FROM bookings WHERE {}", year("arrival", 2023)),
        ),
        (
            "How many bookings were there in 2023?",
            format!("SELECT COUNT(*) FROM bookings WHERE {}", year("booked_on", 2023)),
        ),
    ] {
        let found = block_on(interpret(question, &stays(), Some(&index)));
        let read = found.list.first().map_or("", |best| best.sql.as_str());
        assert_eq!(read, sql, "{question}");
    }
}

#[test]
fn a_time_behind_another_column_is_none_of_the_rows() {
    for question in [
        "How many bookings with arrival in July 2023?",
        "How many articles were posted in 2024?",
        "What is the total price of bookings with arrival in 2023?",
        "How many bookings have a departure in 2023?",
        "How many persons were born in the eighties?",
    ] {
        for index in [Some(&Days(&[])), None] {
            let index = index.map(|index| index as &dyn CellIndex);
            let found = block_on(interpret(question, &stays(), index));
            assert_eq!(found.list, [], "{question}");
        }
    }
}

/// Guests who book hotels, both of which are somewhere.
fn travel() -> Catalog {
    let guests = [("id", INT), ("name", TEXT), ("city", TEXT), ("country", TEXT)];
    let bookings = [("id", INT), ("hotel_id", INT), ("guest_id", INT), ("price", "REAL")];
    let references = [("hotel_id", "hotels", "id"), ("guest_id", "guests", "id")];
    let tables = vec![
        table("hotels", &guests, "id", &[]),
        table("guests", &guests, "id", &[]),
        table("bookings", &bookings, "id", &references),
    ];
    Catalog { database: "travel".to_owned(), dialect: Dialect::Sqlite, tables }
}

/// An index of cities and countries that two tables have.
struct Places;

#[async_trait]
impl CellIndex for Places {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, phrases: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        let cells = [("city", "Paris"), ("city", "Berlin"), ("country", "Germany")];
        let find = |phrase: &String| {
            let found = cells.iter().filter(|(_, value)| value.eq_ignore_ascii_case(phrase));
            let hits = found.flat_map(|(column, value)| {
                ["hotels", "guests"].map(|table| fixture::hit(table, column, value))
            });
            hits.collect()
        };
        Ok(phrases.iter().map(find).collect())
    }
}

#[test]
fn each_of_two_places_is_that_of_the_table_before_it() {
    let joined = "FROM bookings JOIN guests ON bookings.guest_id = guests.id JOIN hotels ON \
                  bookings.hotel_id = hotels.id WHERE guests.country = 'Germany' AND hotels.city \
                  = 'Paris'";
    for (question, sql) in [
        (
            "How many bookings from guests in Germany in hotels in Paris?",
            format!("SELECT COUNT(*) {joined}"),
        ),
        (
            "hotels in Berlin and Paris",
            "SELECT name FROM hotels WHERE (city = 'Berlin' OR city = 'Paris')".to_owned(),
        ),
        (
            "How many hotels are in Berlin or Paris?",
            "SELECT COUNT(*) FROM hotels WHERE (city = 'Berlin' OR city = 'Paris')".to_owned(),
        ),
    ] {
        let found = block_on(interpret(question, &travel(), Some(&Places)));
        let read = found.list.first().map_or("", |best| best.sql.as_str());
        assert_eq!(read, sql, "{question}");
    }
    let question = "guests from Germany with bookings in Paris";
    let found = block_on(interpret(question, &travel(), Some(&Places)));
    let is_of_guests = |sql: &str| sql.contains("guests.city = 'Paris'");
    assert!(found.list.iter().all(|one| !is_of_guests(&one.sql)), "{:#?}", found.list);
}

#[test]
fn what_a_reference_stands_for_is_counted_once() {
    let mut visits = trade();
    let columns = [("id", INT), ("customer_id", INT), ("shop", TEXT), ("day", DATE)];
    visits.tables = vec![table("visits", &columns, "id", &[])];
    let count = "SELECT COUNT(DISTINCT customer_id) FROM visits";
    for (question, sql) in [
        ("How many customers", count.to_owned()),
        ("How many customers are there?", count.to_owned()),
        ("What is the number of customers?", count.to_owned()),
        ("How many customers were there in 2023?", format!("{count} WHERE {}", year("day", 2023))),
        ("How many visits are there?", "SELECT COUNT(*) FROM visits".to_owned()),
    ] {
        let found = fixture::best(question, &visits);
        assert_eq!(found.0, sql, "{question}");
    }
}

#[test]
fn a_second_thing_to_count_is_no_group() {
    let visits = catalog(
        "visits",
        &[("id", INT), ("customer_id", INT), ("doctor_id", INT), ("day", DATE), ("shop", TEXT)],
    );
    assert_silent(&visits, &["How many customers and doctors are there?"]);
}

#[test]
fn one_of_two_verbs_is_not_left_out() {
    let events = catalog(
        "events",
        &[("id", INT), ("title", TEXT), ("opened", DATE), ("closed", DATE), ("venue", TEXT)],
    );
    assert_silent(
        &events,
        &["events opened or closed in 2023", "How many events opened or closed in 2023?"],
    );
}

#[test]
fn the_column_before_a_range_of_months_is_its_condition() {
    let published = "SELECT title FROM book WHERE CAST(strftime('%m', published) AS INTEGER) \
                     BETWEEN 5 AND 7";
    assert_reads(&fixture::library(), &[("books published between May and July", published)]);
}

#[test]
fn the_highest_paid_is_not_the_last_that_was_paid() {
    let payslips = catalog(
        "payslips",
        &[("id", INT), ("department", TEXT), ("paid_on", DATE), ("gross", "REAL")],
    );
    assert_silent(&payslips, &["highest paid department", "lowest paid department"]);
}

#[test]
fn a_birth_is_of_those_who_are_counted() {
    let births = catalog("births", &[("born", DATE), ("birth_date", DATE)]).tables.remove(0);
    let mut library = fixture::library();
    library.tables[0].columns[3] = births.columns[0].clone();
    // The authors of the books that they borrow were born then, too.
    let far = fixture::best("How many members were born in 1990?", &library).1;
    assert!(far <= 0.5, "{far}");
    library.tables[2].columns.push(births.columns[1].clone());
    let count = format!("SELECT COUNT(*) FROM member WHERE {}", year("birth_date", 1990));
    assert_reads(&library, &[("How many members were born in 1990?", &count)]);
}

#[test]
fn rows_that_belong_to_one_row_have_one_of_two_places() {
    let question = "price of bookings in hotels in Berlin and Paris";
    let found = block_on(interpret(question, &travel(), Some(&Places)));
    let read = found.list.first().map_or("", |best| best.sql.as_str());
    assert!(read.ends_with("WHERE (hotels.city = 'Berlin' OR hotels.city = 'Paris')"), "{read}");
}

#[test]
fn a_place_of_two_tables_is_in_doubt_unless_one_is_named() {
    for (question, is_sure) in [
        ("How many bookings are in Paris?", false),
        ("total price of bookings in Germany", false),
        ("bookings from Berlin", false),
        ("How many bookings of hotels in Paris are there?", true),
    ] {
        let found = block_on(interpret(question, &travel(), Some(&Places)));
        let confidence = found.list.first().map_or(0.0, |best| best.confidence);
        assert_eq!(confidence > 0.5, is_sure, "{question}: {:#?}", found.list);
    }
}
