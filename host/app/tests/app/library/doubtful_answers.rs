//! Statements that run and answer another question, and joins, orders and aggregates that give
//! other rows than they seem to.

use syrch::report::AnswerDocument;
use syrch::{Host, QueryError};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::shop::{PLAN, WRITE, plan};

/// States with cities of one name in two of them, a city whose height nobody knows, and visits to
/// cities.
const STATES: &str = "
    CREATE TABLE states(id INTEGER PRIMARY KEY, name TEXT, population INTEGER, area REAL, \
      founded INTEGER);
    INSERT INTO states VALUES (1, 'Ohio', 11, 116.1, 1803), (2, 'Utah', 3, 219.9, 1896), (3, \
      'Iowa', 3, 145.7, 1846);
    CREATE TABLE cities(id INTEGER PRIMARY KEY, name TEXT, state_id INTEGER REFERENCES states(id), \
      height REAL, budget INTEGER);
    INSERT INTO cities VALUES (1, 'Lima', 1, 267, 40), (2, 'Lima', 3, 300, 10), (3, 'Provo', 2, \
      1387, 60), (4, 'Orem', 2, NULL, 30);
    CREATE TABLE visits(id INTEGER PRIMARY KEY, city_id INTEGER REFERENCES cities(id), guest TEXT);
    INSERT INTO visits VALUES (1, 1, 'Ann'), (2, 1, 'Bob'), (3, 3, 'Ann');";

async fn answer(strategy: &str, question: &str, script: Script) -> (f64, AnswerDocument) {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(script);
    let path = syrch_kit::sqlite(folder.path().join("states.sqlite"), STATES);
    let asked = Host::builder()
        .database(&path)
        .base_url(endpoint.url())
        .strategy(strategy)
        .ambiguity_threshold(1.0)
        .query(question)
        .run()
        .await;
    match asked {
        Ok(found) => (found.confidence, found.trace),
        Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => (0.0, *trace),
        Err(error) => panic!("{question}: {error}"),
    }
}

/// Each question with the statement that a model writes, and what is doubtful of it; nothing where
/// that is empty.
async fn assert_doubts(cases: &[(&str, &str, &str)]) {
    for (question, sql, words) in cases {
        let (confidence, trace) =
            answer("single", question, Script::new().on([WRITE], Reply::sql(sql, 1.0))).await;
        let reason = &trace.candidates[0].reason;
        if words.is_empty() {
            assert!(
                confidence > 0.5 && !reason.contains("doubtful"),
                "{sql}: {confidence} {reason}"
            );
        } else {
            assert!(confidence <= 0.5 && reason.contains(words), "{sql}: {confidence} {reason}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_no_answer_to_a_question_for_a_thing() {
    let measure = "asks for a state, and the result is only its population";
    assert_doubts(&[
        ("What is the most populous state?", "SELECT MAX(population) FROM states", measure),
        ("Which state has the largest population?", "SELECT MAX(population) FROM states", measure),
        (
            "Which state has the most people?",
            "SELECT population FROM states ORDER BY population DESC LIMIT 1",
            measure,
        ),
        (
            "What is the most populous state?",
            "SELECT name FROM states ORDER BY population DESC LIMIT 1",
            "",
        ),
        (
            "What is the population of the most populous state?",
            "SELECT MAX(population) FROM states",
            "",
        ),
        (
            "What is the longest name of a state?",
            "SELECT MAX(name) FROM states",
            "is the first or last of an alphabet",
        ),
        (
            "Which cities lie in Utah?",
            "SELECT COUNT(*) FROM cities WHERE state_id = 2",
            "the result is their number",
        ),
        ("How many cities lie in Utah?", "SELECT COUNT(*) FROM cities WHERE state_id = 2", ""),
        (
            "How many cities are there?",
            "SELECT COUNT(*) FROM cities GROUP BY state_id",
            "asks for one number",
        ),
        (
            "How many cities are there in each state?",
            "SELECT COUNT(*) FROM cities GROUP BY state_id",
            "",
        ),
        (
            "What is the most visited city?",
            "SELECT c.name, COUNT(*) FROM cities c JOIN visits v ON v.city_id = c.id GROUP BY c.id \
             ORDER BY 2 DESC LIMIT 1",
            "",
        ),
        (
            "What is the most visited city?",
            "SELECT city_id FROM visits GROUP BY city_id ORDER BY COUNT(*) DESC LIMIT 1",
            "the question asks for what it stands for: cities.name",
        ),
        (
            "What are the different guests?",
            "SELECT guest FROM visits",
            "rows of the result are repeated",
        ),
        ("What are the different guests?", "SELECT DISTINCT guest FROM visits", ""),
        (
            "What is the largest state?",
            "SELECT name FROM states ORDER BY area LIMIT 1",
            "puts the least first",
        ),
        ("What is the smallest state?", "SELECT name FROM states ORDER BY area LIMIT 1", ""),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_groups_and_aggregates_are_those_of_the_question() {
    let most = "SELECT COUNT(*) FROM cities GROUP BY state_id ORDER BY COUNT(*) DESC LIMIT 1";
    assert_doubts(&[
        (
            "Which 2 states have the largest area?",
            "SELECT name FROM states ORDER BY area LIMIT 2",
            "puts the least first",
        ),
        (
            "Which 2 states have the largest area?",
            "SELECT name FROM states ORDER BY area DESC LIMIT 2",
            "",
        ),
        (
            "What are the 2 largest states?",
            "SELECT name FROM states LIMIT 2",
            "LIMIT without ORDER BY",
        ),
        (
            "What are the 2 largest states?",
            "SELECT name FROM states ORDER BY area DESC",
            "asks for 2 rows, and the result has 3",
        ),
        (
            "Which state has the largest area?",
            "SELECT name FROM states ORDER BY area DESC",
            "asks for one thing",
        ),
        ("Which state has the most cities?", most, "the result has numbers alone"),
        (
            "How many different guests were there?",
            "SELECT COUNT(guest) FROM visits",
            "COUNT(DISTINCT",
        ),
        ("How many different guests were there?", "SELECT COUNT(DISTINCT guest) FROM visits", ""),
        (
            "Which guests visited two different cities?",
            "SELECT guest FROM visits WHERE city_id > 0",
            "",
        ),
        (
            "What is the average area of the states?",
            "SELECT SUM(area) FROM states",
            "the statement has sum alone",
        ),
        ("What is the average area of the states?", "SELECT AVG(area) FROM states", ""),
        (
            "What is the average budget per state?",
            "SELECT AVG(budget) FROM cities",
            "a number of each state",
        ),
        (
            "What is the average budget per state?",
            "SELECT s.name, AVG(c.budget) FROM cities c JOIN states s ON s.id = c.state_id \
             GROUP BY s.id",
            "",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_are_connected_and_negated_as_in_the_question() {
    let cities = "SELECT s.name FROM states s JOIN cities c ON c.state_id = s.id";
    assert_doubts(&[
        (
            "Which states have more than 5 people and an area below 150?",
            "SELECT name FROM states WHERE population > 5 OR area < 150",
            "says `and` between 5 and 150",
        ),
        (
            "Which states have more than 5 people or an area below 150?",
            "SELECT name FROM states WHERE population > 5 OR area < 150",
            "",
        ),
        (
            "Which states have more than 2 people or an area below 150?",
            "SELECT name FROM states WHERE population > 2 AND area < 150",
            "says `or` between 2 and 150",
        ),
        (
            "Which states have more than 2 people and an area below 150?",
            "SELECT name FROM states WHERE population > 2 AND area < 150",
            "",
        ),
        (
            "Which states have the cities Provo and Orem?",
            &format!("{cities} WHERE c.name IN ('Provo', 'Orem') LIMIT 1"),
            "says `and` between",
        ),
        (
            "Which cities did neither Ann nor Bob visit?",
            "SELECT name FROM cities WHERE id NOT IN (SELECT city_id FROM visits WHERE guest = \
             'Ann' OR guest = 'Bob')",
            "",
        ),
        (
            "Which states have no city named Provo?",
            &format!("{cities} WHERE c.name <> 'Provo'"),
            "has no row of cities with Provo",
        ),
        (
            "Which states have no city named Provo?",
            "SELECT name FROM states WHERE id NOT IN (SELECT state_id FROM cities WHERE name = \
             'Provo')",
            "",
        ),
        (
            "Which cities are not in Utah?",
            "SELECT c.name FROM cities c JOIN states s ON s.id = c.state_id WHERE s.name <> 'Utah'",
            "",
        ),
        (
            "Which states have no cities?",
            "SELECT name FROM states WHERE id NOT IN (SELECT state_id FROM cities WHERE budget = \
             10)",
            "leaves out what has any",
        ),
        (
            "Which states have cities?",
            "SELECT name FROM states WHERE id NOT IN (SELECT state_id FROM cities WHERE height > \
             500)",
            "the question leaves nothing out",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn things_are_listed_once() {
    let joined = "SELECT c.name FROM cities c JOIN visits v ON v.city_id = c.id";
    assert_doubts(&[
        ("Which cities were visited?", joined, "rows of cities are listed several times"),
        ("Which cities were visited?", &format!("{joined} GROUP BY c.id"), ""),
        ("Which cities were visited?", &joined.replace("SELECT", "SELECT DISTINCT"), ""),
        ("Which cities did Ann visit?", &format!("{joined} WHERE v.guest = 'Ann'"), ""),
        ("Which city did each visit lead to?", joined, ""),
        ("What are the names of the cities?", "SELECT name FROM cities", ""),
        ("Who visited which city?", &joined.replace("c.name", "c.name, v.guest"), ""),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_joined_rows_that_meet_a_condition_is_no_repetition() {
    let from = "FROM visits v JOIN cities c ON c.id = v.city_id";
    for count in [
        "SUM(c.name = 'Lima')",
        "SUM(CASE WHEN c.name = 'Lima' THEN 1 ELSE 0 END)",
        "COUNT(CASE WHEN c.name = 'Lima' THEN 1 END)",
        "COUNT(*) FILTER (WHERE c.name = 'Lima')",
        "SUM(IIF(c.name = 'Lima', 1, 0))",
        "TOTAL(c.name LIKE 'Lim%' AND c.budget > 20)",
    ] {
        let sql = format!("SELECT {count} AS n {from}");
        assert_doubts(&[("How many visits did Lima get?", &sql, "")]).await;
    }
    let budget = format!("SELECT SUM(c.budget) {from}");
    let question = "What is the total budget of the visited cities?";
    assert_doubts(&[(question, &budget, "SUM takes rows of cities several times")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_question_names_is_used() {
    assert_doubts(&[
        ("How many cities are in Ohio?", "SELECT COUNT(*) FROM cities", "names ohio, a value of"),
        ("How many cities are in Ohio?", "SELECT COUNT(*) FROM cities WHERE state_id = 1", ""),
        ("How many visits did Ann pay?", "SELECT COUNT(*) FROM visits", "names ann"),
        ("List the guest of each visit, such as Ann.", "SELECT id, guest FROM visits", ""),
        ("What is the average area of the states?", "SELECT AVG(area) FROM states", ""),
        (
            "What is the area of the states founded in 1903?",
            "SELECT SUM(area) FROM states",
            "the question names 1903",
        ),
        (
            "Which states have an area of 116?",
            "SELECT name FROM states WHERE area > 219",
            "has no 116",
        ),
        ("Which states have an area of 116?", "SELECT name FROM states WHERE area > 116", ""),
        ("How many states are there?", "SELECT COUNT(*) FROM visits", "reads visits alone"),
        ("How many visits are there?", "SELECT COUNT(*) FROM states", "reads states alone"),
        ("How many visits are there?", "SELECT COUNT(*) FROM visits", ""),
        // Each city has one row of its state.
        ("How many states are there?", "SELECT COUNT(DISTINCT state_id) FROM cities", ""),
        ("How many guests are there?", "SELECT COUNT(DISTINCT guest) FROM visits", ""),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_and_counts_take_each_row_once() {
    let joined =
        "FROM states s JOIN cities c ON c.state_id = s.id JOIN visits v ON v.city_id = c.id";
    let sum = format!("SELECT s.name, SUM(c.budget * (c.height + 1)) {joined} GROUP BY s.name");
    let cities = format!("SELECT s.name, COUNT(*) {joined} GROUP BY s.name");
    let visits = format!("SELECT COUNT(*) {joined} JOIN visits w ON w.city_id = c.id");
    assert_doubts(&[
        ("What is the budget of each state?", &sum, "SUM takes rows of cities several times"),
        ("How many visits does each state have?", &cities, ""),
        ("How many visits are there?", &visits, "rows are counted, and visits has 3"),
        ("How many states are visited?", &visits, "rows are counted, and states has"),
    ])
    .await;
    let many = "SELECT s.name, COUNT(*) FROM states s JOIN cities c ON c.state_id = s.id \
                JOIN cities d ON d.state_id = s.id GROUP BY s.name";
    let question = "How many cities does each state have?";
    assert_doubts(&[(question, many, "6 rows are counted, and cities has 4")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_and_orders_that_give_other_rows_are_doubtful() {
    let question = "What about the states?";
    let joined = "FROM cities c JOIN visits v ON v.city_id = c.id WHERE v.guest <> ''";
    let cases = [
        (format!("SELECT SUM(c.budget) {joined}"), "SUM takes rows of cities several times"),
        (format!("SELECT COUNT(c.id) {joined}"), "COUNT takes rows of cities several times"),
        (format!("SELECT SUM(c.budget) {joined} AND c.name = 'Provo'"), ""),
        (format!("SELECT COUNT(DISTINCT c.id) {joined}"), ""),
        (format!("SELECT v.guest, SUM(c.budget) {joined} GROUP BY v.guest"), ""),
        (
            "SELECT s.name, c.name FROM states s, cities c".to_owned(),
            "no condition connects states and cities",
        ),
        ("SELECT s.name, c.name FROM states s, cities c WHERE c.state_id = s.id".to_owned(), ""),
        (
            "SELECT SUM(state_id) FROM cities".to_owned(),
            "state_id numbers rows, and SUM takes it for an amount",
        ),
        ("SELECT SUM(budget) FROM cities".to_owned(), ""),
        (
            "SELECT name FROM states WHERE founded > (SELECT MAX(area) FROM states)".to_owned(),
            "founded is compared with the max of another column, area",
        ),
        ("SELECT name FROM states WHERE area = (SELECT MAX(area) FROM states)".to_owned(), ""),
        (
            "SELECT name, height FROM cities ORDER BY height LIMIT 1".to_owned(),
            "leave them out by height IS NOT NULL",
        ),
        ("SELECT name, height FROM cities ORDER BY height DESC LIMIT 1".to_owned(), ""),
        (
            "SELECT name, height FROM cities WHERE height IS NOT NULL ORDER BY height LIMIT 1"
                .to_owned(),
            "",
        ),
        (
            "SELECT c.name, COUNT(*) FROM cities c JOIN visits v ON v.city_id = c.id \
             GROUP BY c.name"
                .to_owned(),
            "several rows of cities have one name",
        ),
        (
            "SELECT c.name, COUNT(*) FROM cities c JOIN visits v ON v.city_id = c.id GROUP BY c.id"
                .to_owned(),
            "",
        ),
        (
            "SELECT s.name, COUNT(*) FROM states s JOIN cities c ON c.state_id = s.id \
             GROUP BY s.name"
                .to_owned(),
            "",
        ),
        (
            "SELECT MIN(height) FROM cities WHERE name = 'Orem'".to_owned(),
            "no row with a value meets the conditions",
        ),
        (
            "SELECT id, name, id + 0 AS again FROM cities".to_owned(),
            "the columns id and again of the result are equal",
        ),
    ];
    let cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(sql, words)| (question, sql.as_str(), *words)).collect();
    assert_doubts(&cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_task_in_other_words_is_held_to_the_question() {
    let script = |sql: &str| {
        let task = plan(&[("A", "the greatest population of all", &[])]);
        Script::new().on([PLAN], task).on([WRITE], Reply::sql(sql, 1.0))
    };
    let question = "What is the most populous state?";
    let (confidence, trace) =
        answer("decompose", question, script("SELECT MAX(population) FROM states")).await;
    let warnings = trace.warnings.join("\n");
    assert!(confidence <= 0.5 && warnings.contains("asks for a state"), "{confidence} {warnings}");
    let right = "SELECT name FROM states ORDER BY population DESC LIMIT 1";
    let (confidence, trace) = answer("decompose", question, script(right)).await;
    assert!(confidence > 0.5 && trace.warnings.is_empty(), "{confidence} {:?}", trace.warnings);
    let (_, trace) =
        answer("decompose", "How many states are there?", script("SELECT 42 AS n")).await;
    let warnings = trace.warnings.join("\n");
    assert!(trace.answer.is_none() && warnings.contains("reads no table"), "{warnings}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_without_a_table_answers_no_question_about_the_data() {
    let reason = "not acceptable: the statement reads no table";
    assert_doubts(&[
        ("How many cities are there?", "SELECT 42 AS n", reason),
        ("Wie viele Städte gibt es?", "SELECT 42 AS n", reason),
        ("How many are there?", "SELECT 42 AS n", reason),
        ("Which guests came?", "SELECT 'Ann' AS guest UNION ALL SELECT 'Bob'", reason),
        ("Who came?", "WITH t(guest) AS (VALUES ('Ann')) SELECT guest FROM t", reason),
        ("What is 1 + 1?", "SELECT 1 + 1 AS n", ""),
        ("What is today's date?", "SELECT date('now') AS today", ""),
        ("Are there any cities?", "SELECT EXISTS (SELECT 1 FROM cities) AS is_any", ""),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solver_repairs_a_measure_to_the_thing() {
    let right = "SELECT name FROM states ORDER BY population DESC LIMIT 1";
    let script = Script::new()
        .on([WRITE, "the result is only its population"], Reply::sql(right, 0.95))
        .on([WRITE], Reply::sql("SELECT MAX(population) FROM states", 1.0));
    let (confidence, trace) = answer("retry3", "What is the most populous state?", script).await;
    assert!(
        confidence > 0.5 && trace.sql.as_deref() == Some(right),
        "{confidence} {:?}",
        trace.sql
    );
}
