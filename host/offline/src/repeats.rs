//! Questions over tables whose values repeat over the rows: values are listed once, and amounts are
//! added up.

use super::kinds::{assert_reads, assert_silent, assert_unsure, catalog};

const T: &str = "TEXT";
const I: &str = "INTEGER";
const R: &str = "REAL";

#[test]
fn values_are_listed_once() {
    let orders = catalog(
        "orders",
        &[("id", I), ("category", T), ("sub_category", T), ("reason", T), ("profit", R)],
    );
    assert_reads(
        &orders,
        &[
            (
                "List the sub-categories of Furniture",
                "SELECT DISTINCT sub_category FROM orders WHERE category = 'Furniture'",
            ),
            ("What reasons are there?", "SELECT DISTINCT reason FROM orders"),
            ("Which categories are there?", "SELECT DISTINCT category FROM orders"),
            ("Show the category of all rows", "SELECT category FROM orders"),
        ],
    );
    let nations =
        catalog("nations", &[("country", T), ("continent", T), ("year", I), ("population", I)]);
    assert_reads(
        &nations,
        &[
            (
                "list all countries in Oceania",
                "SELECT DISTINCT country FROM nations WHERE continent = 'Oceania'",
            ),
            ("what years are there", "SELECT DISTINCT year FROM nations"),
        ],
    );
    let people = catalog("people", &[("name", T), ("town", T)]);
    assert_reads(
        &people,
        &[
            ("list all names", "SELECT name FROM people"),
            ("list all towns", "SELECT DISTINCT town FROM people"),
        ],
    );
}

#[test]
fn the_best_of_values_is_by_their_sum_where_amounts_add_up() {
    let store = catalog(
        "superstore",
        &[
            ("id", T),
            ("region", T),
            ("product", T),
            ("sales", R),
            ("profit", R),
            ("unit_price", R),
            ("day", "DATE"),
        ],
    );
    fn best(column: &str, by: &str, end: &str) -> String {
        format!("SELECT {column} FROM superstore GROUP BY {column} ORDER BY SUM({by}) {end}")
    }
    assert_reads(
        &store,
        &[
            ("Which region has the highest profit?", &best("region", "profit", "DESC LIMIT 1")),
            ("top 3 products by sales", &best("product", "sales", "DESC LIMIT 3")),
            (
                "Which product has the lowest profit?",
                &best("product", "profit", "NULLS LAST LIMIT 1"),
            ),
            ("Which day had the most sales?", &best("day", "sales", "DESC LIMIT 1")),
            (
                "Which region has the highest unit price?",
                "SELECT region FROM superstore ORDER BY unit_price DESC LIMIT 1",
            ),
        ],
    );
    assert_unsure(
        &store,
        &["Which region has the highest unit price?", "top 2 products by unit price"],
    );
    let named = catalog("firms", &[("name", T), ("country", T), ("profits", R)]);
    assert_reads(
        &named,
        &[(
            "Which name has the highest profits?",
            "SELECT name FROM firms ORDER BY profits DESC LIMIT 1",
        )],
    );
    let sales = catalog("sales", &[("region", T), ("revenue", R)]);
    assert_unsure(&sales, &["Which region had the most sales?"]);
    let nations =
        catalog("nations", &[("country", T), ("continent", T), ("year", I), ("population", I)]);
    assert_unsure(&nations, &["which country has the highest population"]);
}

#[test]
fn how_much_is_a_sum_or_nothing() {
    let weather = catalog(
        "weather",
        &[("date", "DATE"), ("precipitation", R), ("temperature", R), ("sky", T)],
    );
    assert_reads(
        &weather,
        &[
            (
                "How much precipitation was there in total?",
                "SELECT SUM(precipitation) FROM weather",
            ),
            (
                "How much precipitation was there altogether?",
                "SELECT SUM(precipitation) FROM weather",
            ),
            ("How much precipitation was there overall?", "SELECT SUM(precipitation) FROM weather"),
            ("How much precipitation was there?", "SELECT SUM(precipitation) FROM weather"),
        ],
    );
    assert_silent(&weather, &["How much temperature was there?"]);
}

#[test]
fn the_largest_number_is_a_value_unless_its_owner_is_asked_for() {
    let planes =
        catalog("planes", &[("tailnum", T), ("manufacturer", T), ("model", T), ("seats", I)]);
    assert_reads(
        &planes,
        &[
            ("what is the largest number of seats", "SELECT MAX(seats) FROM planes"),
            ("What is the smallest number of seats?", "SELECT MIN(seats) FROM planes"),
            (
                "What is the highest number of seats of an Airbus?",
                "SELECT MAX(seats) FROM planes WHERE manufacturer = 'AIRBUS'",
            ),
            (
                "which model has the largest number of seats",
                "SELECT model FROM planes ORDER BY seats DESC LIMIT 1",
            ),
        ],
    );
}

#[test]
fn a_maker_beside_its_model_is_unsure() {
    let planes =
        catalog("planes", &[("tailnum", T), ("manufacturer", T), ("model", T), ("seats", I)]);
    assert_unsure(
        &planes,
        &["What share of the planes are Airbus A320-232?", "How many planes are Airbus A320-232?"],
    );
    assert_reads(
        &planes,
        &[(
            "How many planes are A320-232?",
            "SELECT COUNT(*) FROM planes WHERE model = 'A320-232'",
        )],
    );
}

#[test]
fn an_adjective_after_most_says_the_measure() {
    let firms =
        catalog("firms", &[("company", T), ("country", T), ("profits", R), ("horsepower", I)]);
    fn best(condition: &str, end: &str) -> String {
        format!(
            "SELECT company FROM firms {condition}GROUP BY company ORDER BY SUM(profits) {end} \
             LIMIT 1"
        )
    }
    assert_reads(
        &firms,
        &[
            ("most profitable company in Japan", &best("WHERE country = 'Japan' ", "DESC")),
            ("What is the least profitable company?", &best("", "NULLS LAST")),
            ("most powerful company", "SELECT company FROM firms ORDER BY horsepower DESC LIMIT 1"),
        ],
    );
}

#[test]
fn rows_are_counted_by_a_category_and_by_a_value() {
    let senators = catalog("senators", &[("name", T), ("province", T), ("party", T)]);
    assert_reads(
        &senators,
        &[
            ("senators by province", "SELECT province, COUNT(*) FROM senators GROUP BY province"),
            ("senators by party", "SELECT party, COUNT(*) FROM senators GROUP BY party"),
        ],
    );
    let cars = catalog("cars93", &[("mfr", T), ("model", T), ("price", R), ("origin", T)]);
    assert_reads(
        &cars,
        &[
            ("cars per manufacturer", "SELECT mfr, COUNT(*) FROM cars93 GROUP BY mfr"),
            (
                "How many cars come from Germany?",
                "SELECT COUNT(*) FROM cars93 WHERE origin = 'Germany'",
            ),
            ("How many cars are there?", "SELECT COUNT(*) FROM cars93"),
        ],
    );
    assert_silent(&senators, &["How many companies are there?"]);
    let nations =
        catalog("nations", &[("country", T), ("continent", T), ("year", I), ("population", I)]);
    assert_reads(
        &nations,
        &[(
            "countries per continent",
            "SELECT continent, COUNT(DISTINCT country) FROM nations GROUP BY continent",
        )],
    );
    assert_silent(&nations, &["population per continent"]);
}

#[test]
fn who_did_what_to_whom_is_not_guessed() {
    let phds = catalog("phds", &[("advisor", T), ("advisee", T), ("year", I)]);
    assert_silent(&phds, &["Who was advised by Oslo?", "Who advised Oslo?"]);
}

#[test]
fn a_table_named_like_its_amounts_leaves_open_what_the_most_are() {
    let tips = catalog("tips", &[("total_bill", R), ("tip", R), ("day", T), ("size", I)]);
    assert_reads(&tips, &[("total tips", "SELECT SUM(tip) FROM tips")]);
    assert_unsure(
        &tips,
        &["Which day has the most tips?", "Which day had the highest total bill?"],
    );
    assert_silent(&tips, &["How much was tipped in total?", "tips by day"]);
}

#[test]
fn a_row_without_a_name_and_a_group_in_a_year_are_unsure() {
    let nations =
        catalog("nations", &[("country", T), ("continent", T), ("year", I), ("population", I)]);
    assert_unsure(&nations, &["Which continent has the largest population in 2007?"]);
    let planes =
        catalog("planes", &[("tailnum", T), ("manufacturer", T), ("seats", I), ("speed", I)]);
    assert_unsure(&planes, &["fastest plane", "Which plane has the most seats?"]);
}
