//! Statements that run and mean something else than they say: what is doubtful is never trusted, is
//! said, and can be repaired.

use syrch::report::AnswerDocument;
use syrch::{Host, QueryError, QueryResult, strategies};
use syrch_kit::{MockEndpoint, Reply, Script};

use super::shop::{PLAN, WRITE, plan, task_prompt};

/// Birds with a mass that is no number for two of five, days as they are written in France, times,
/// and spellings.
const BIRDS: &str = "
    CREATE TABLE birds(id INTEGER PRIMARY KEY, kind TEXT, mass TEXT, wing REAL, year TEXT, seen \
      TEXT, ringed_at TIMESTAMP);
    INSERT INTO birds VALUES
        (1, 'Auk', '95', 7.5, '2023', '05/02/2024', '2024-05-11 09:30:00'),
        (2, 'auk', 'NA', 7, '2024', '28/02/2024', '2024-05-11 11:00:00'),
        (3, 'Gull', '1,200', 'NA', '2021', '02/03/2024', '2024-05-12 07:15:00'),
        (4, 'AUK', '100', 8.25, '2022', '31/12/2023', '2024-05-13 00:00:00'),
        (5, 'Gull', '98', 9, '2020', '01/01/2024', '2024-06-01 10:00:00');
    CREATE TABLE rings(bird INTEGER REFERENCES birds(id), colour TEXT);
    INSERT INTO rings VALUES (1, 'red'), (2, 'red'), (3, 'blue'), (NULL, 'green');";

/// Offices whose columns are texts, flags, days of several spellings, and a closed set.
const OFFICES: &str = "
    CREATE TABLE offices(id INTEGER PRIMARY KEY, city TEXT, code TEXT, rent TEXT, opened DATE, \
      seen TEXT, year REAL, open INTEGER,
        status TEXT CHECK (status IN ('rented', 'owned')), part_of INTEGER);
    INSERT INTO offices VALUES
        (1, 'Berlin', '007', '1,200', '2021-03-01', '31/12/2023', 2000.08, 1, 'rented', NULL),
        (2, 'berlin', '012', '800', '2022-04-01', '01/02/2024', 2000.16, 0, 'owned', 1),
        (3, 'Paris', '107', '950', '2023-05-01', '15/01/2024', 2000.25, 1, 'owned', 1),
        (4, 'Oslo', '108', '990', '2024-06-01', '16/01/2024', 2000.33, 1, 'owned', 2);";

/// Makers and what they make, with keys that lead from one table to the next, and sales that are
/// all of models that are gone.
const CARS: &str = "
    CREATE TABLE makers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
    CREATE TABLE models(id INTEGER PRIMARY KEY, maker INTEGER REFERENCES makers(id), name \
      TEXT UNIQUE);
    CREATE TABLE versions(id INTEGER PRIMARY KEY, model TEXT REFERENCES models(name), make TEXT);
    CREATE TABLE measures(id INTEGER PRIMARY KEY REFERENCES versions(id), weight INTEGER);
    CREATE TABLE prices(version INTEGER PRIMARY KEY REFERENCES versions(id), price INTEGER);
    CREATE TABLE sales(id INTEGER, model TEXT, year INTEGER);
    INSERT INTO makers VALUES (1, 'volvo', 'se'), (2, 'fiat', 'it');
    INSERT INTO models VALUES (1, 1, 'v40'), (2, 1, 'v70'), (3, 2, 'panda');
    INSERT INTO versions VALUES (1, 'v40', 'volvo v40'), (2, 'panda', 'fiat panda');
    INSERT INTO measures VALUES (1, 1100), (2, 800);
    INSERT INTO prices VALUES (1, 20), (2, 10);
    INSERT INTO sales VALUES (7, 'gone', 2020), (8, 'lost', 2021);";

/// Visits of which several cost the most, and vets with as many each.
const VISITS: &str = "
    CREATE TABLE vets(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE visits(id INTEGER PRIMARY KEY, vet INTEGER REFERENCES vets(id), fee INTEGER, town \
      TEXT);
    INSERT INTO vets VALUES (1, 'Hill'), (2, 'Moss'), (3, 'Pike'), (4, 'Pike');
    INSERT INTO visits VALUES (1, 1, 90, 'York'), (2, 1, 90, 'York'), (3, 2, 70, 'Bath'),
      (4, 2, 50, 'Bath'), (5, 3, NULL, 'Hull');";

async fn ask(database: &str, sql: &str) -> Result<QueryResult, QueryError> {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(Script::new().on([WRITE], Reply::sql(sql, 1.0)));
    let path = syrch_kit::sqlite(folder.path().join("birds.sqlite"), database);
    Host::builder()
        .database(&path)
        .base_url(endpoint.url())
        .strategy("single")
        .ambiguity_threshold(1.0)
        .query("What about the birds?")
        .run()
        .await
}

fn warnings_text(trace: &AnswerDocument) -> String {
    trace.warnings.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_doubtful_is_said_and_not_trusted() {
    for (sql, words) in [
        ("SELECT AVG(mass) FROM birds", "2 of 5 values of mass are no numbers"),
        (
            "SELECT SUM(b.mass) AS total FROM birds b JOIN rings r ON r.bird = b.id",
            "2 of 5 values of mass are no numbers",
        ),
        ("SELECT SUM(CAST(mass AS REAL)) FROM birds", "2 of 5 values of mass are no numbers"),
        ("SELECT id, mass * 2 FROM birds", "2 of 5 values of mass are no numbers"),
        ("SELECT MAX(mass) FROM birds", "2 of 5 values of mass are no numbers"),
        (
            "SELECT kind FROM birds ORDER BY mass DESC LIMIT 1",
            "2 of 5 values of mass are no numbers",
        ),
        (
            "SELECT MIN(mass) FROM birds WHERE mass NOT IN ('NA', '1,200')",
            "in which 100 comes before 95",
        ),
        ("SELECT COUNT(*) FROM birds WHERE mass > 96", "2 of 5 values of mass are no numbers"),
        ("SELECT AVG(wing) FROM birds", "1 of 5 values of wing is no number"),
        ("SELECT AVG(kind) FROM birds", "5 of 5 values of kind are no numbers"),
        ("SELECT SUM(ringed_at) FROM birds", "5 of 5 values of ringed_at are no numbers"),
        (
            "WITH heavy AS (SELECT mass AS m FROM birds WHERE id > 1) SELECT AVG(m) FROM heavy",
            "2 of 4 values of mass",
        ),
        (
            "SELECT COUNT(*) FROM birds WHERE ringed_at = '2024-05-11'",
            "ringed_at holds times of day",
        ),
        (
            "SELECT COUNT(*) FROM birds WHERE ringed_at BETWEEN '2024-05-01' AND '2024-05-13'",
            "ringed_at holds times of day",
        ),
        (
            "SELECT COUNT(*) FROM birds WHERE id = '2024-05-11'",
            "no value of id is written as YYYY-MM-DD",
        ),
        (
            "SELECT COUNT(*) FROM birds WHERE seen >= '2024-02-01'",
            "no value of seen is written as YYYY-MM-DD",
        ),
        (
            "SELECT strftime('%Y', seen), COUNT(*) FROM birds GROUP BY 1",
            "strftime is NULL for 5 of 5 values of seen",
        ),
        ("SELECT kind, COUNT(*), seen FROM birds GROUP BY kind", "seen stands beside an aggregate"),
        ("SELECT kind, COUNT(*) FROM birds", "kind stands beside an aggregate"),
        ("SELECT COUNT(*) FROM birds WHERE kind = 'auk'", "2 further spellings of `auk` in kind"),
        ("SELECT COUNT(*) FROM birds WHERE kind > 3", "5 of 5 values of kind are no numbers"),
        ("SELECT COUNT(*) FROM birds WHERE kind = 1", "5 of 5 values of kind are no numbers"),
        (
            "SELECT COUNT(*) FROM birds WHERE ringed_at > '2024-05-11'",
            "ringed_at holds times of day",
        ),
        (
            "SELECT kind, COUNT(*) FROM birds GROUP BY kind",
            "1 value of kind in several spellings, such as `AUK` and `auk`",
        ),
        ("SELECT COUNT(DISTINCT kind) FROM birds", "1 value of kind in several spellings"),
        (
            "SELECT COUNT(*) FROM birds WHERE id NOT IN (SELECT bird FROM rings)",
            "a value of bird is NULL",
        ),
        (
            "SELECT COUNT(*) FROM birds WHERE kind IN ('Auk', 'auk')",
            "1 further spelling of `Auk`, `auk` in kind",
        ),
    ] {
        let found = ask(BIRDS, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(found.confidence <= 0.5, "{sql}: {}", found.confidence);
        assert!(warnings_text(&found.trace).contains(words), "{sql}: {:?}", found.trace.warnings);
        assert!(
            found.trace.candidates[0].reason.contains(words),
            "{sql}: {:?}",
            found.trace.candidates
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_numbers_days_and_sets_that_do_not_meet_are_doubtful() {
    for (sql, words) in [
        (
            "SELECT COUNT(*) FROM offices WHERE strftime('%Y', opened) = 2024",
            "no text equals a number",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE strftime('%Y', opened) IN (2023, 2024)",
            "no text equals a number",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE substr(opened, 1, 4) > 2022",
            "texts are greater than all numbers",
        ),
        ("SELECT COUNT(*) FROM offices WHERE opened > 2024", "opened holds dates as texts"),
        ("SELECT strftime('%Y', year), COUNT(*) FROM offices GROUP BY 1", "for Julian days"),
        ("SELECT MAX(seen) FROM offices", "do not begin with the year"),
        ("SELECT id FROM offices ORDER BY seen", "do not begin with the year"),
        ("SELECT COUNT(*) FROM offices WHERE seen >= '01/01/2024'", "do not begin with the year"),
        (
            "SELECT COUNT(*) FROM offices WHERE opened = '01/03/2021'",
            "opened is written as YYYY-MM-DD",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE opened < '2022-4-1'",
            "opened is written as YYYY-MM-DD",
        ),
        (
            "SELECT id FROM offices WHERE NOT id IN (SELECT part_of FROM offices)",
            "a value of part_of is NULL",
        ),
        ("SELECT id FROM offices WHERE id NOT IN (1, NULL)", "NULL stands in the list"),
        (
            "SELECT COUNT(*) FROM offices WHERE status = 'let'",
            "status is never `let`: the schema allows rented, owned",
        ),
        ("SELECT COUNT(*) FROM offices WHERE status <> 'Owned'", "status is never `Owned`"),
        ("SELECT SUM(open) / COUNT(*) FROM offices", "whole numbers are divided"),
        (
            "SELECT SUM(CASE WHEN city = 'Paris' THEN 1 ELSE 0 END) * 100 / COUNT(*) FROM offices",
            "whole numbers are divided",
        ),
        (
            "SELECT COUNT(*) / (SELECT COUNT(*) FROM offices) FROM offices WHERE open = 1",
            "whole numbers are divided",
        ),
        (
            "SELECT (SELECT COUNT(*) FROM offices WHERE open = 1) / (SELECT COUNT(*) FROM offices)",
            "whole numbers are divided",
        ),
        (
            "WITH a AS (SELECT COUNT(*) AS n FROM offices), b AS (SELECT SUM(open) AS m \
             FROM offices) SELECT a.n / b.m FROM a, b",
            "whole numbers are divided",
        ),
        (
            "SELECT id FROM offices WHERE id > 2 OR city = NULL",
            "no row meets the condition \"city\" = NULL",
        ),
        (
            "SELECT id FROM offices WHERE city = 'Paris' AND city = 'Oslo'",
            "no row meets the condition city = 'Paris' AND city = 'Oslo'",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE strftime('%m', opened) = '3'",
            "no row meets the condition strftime('%m', \"opened\") = '3'",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE city = 'Paris' OR 'Oslo'",
            "no row meets the condition 'Oslo'",
        ),
        (
            "SELECT COUNT(*) FROM offices WHERE opened = '2021-03'",
            "offices.opened has no value `2021-03`, and the result is 0",
        ),
        (
            "SELECT o.id, COUNT(*) FROM offices o LEFT JOIN offices p ON p.part_of = o.id \
             GROUP BY o.id",
            "COUNT gives 1 where offices has no row",
        ),
        ("SELECT -rent FROM offices", "1 of 4 values of rent is no number"),
        ("SELECT round(rent) FROM offices", "1 of 4 values of rent is no number"),
        ("SELECT MAX(coalesce(rent, '0')) FROM offices", "1 of 4 values of rent is no number"),
        ("SELECT MAX(opened) - MIN(opened) FROM offices", "4 of 4 values of opened are no numbers"),
        ("SELECT city FROM offices WHERE code = 7", "code holds 7 in another spelling"),
        ("SELECT city FROM offices WHERE rent = 1200", "rent holds 1200 in another spelling"),
    ] {
        let trace = match ask(OFFICES, sql).await {
            Ok(found) if found.confidence <= 0.5 => found.trace,
            Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => *trace,
            other => panic!("{sql}: {other:?}"),
        };
        assert!(trace.candidates[0].reason.contains(words), "{sql}: {:?}", trace.candidates);
    }
    for sql in [
        "SELECT COUNT(*) FROM offices WHERE strftime('%Y', opened) = '2024'",
        "SELECT COUNT(*) FROM offices WHERE strftime('%m', opened) = '03'",
        "SELECT COUNT(*) FROM offices WHERE strftime('%m', opened) = '3' \
         OR strftime('%m', opened) = '03'",
        "SELECT COUNT(*) FROM offices WHERE strftime('%Y-%m', opened) = '2021-03'",
        "SELECT COUNT(*) FROM offices WHERE opened = '1999-03'",
        "SELECT COUNT(*) FROM offices WHERE id > 1 OR '1'",
        "SELECT COUNT(*) FROM offices WHERE CAST(strftime('%Y', opened) AS INTEGER) = 2024",
        "SELECT COUNT(*) FROM offices WHERE opened > '2022-01-01' AND julianday(opened) > 2459000",
        "SELECT id FROM offices WHERE id NOT IN (SELECT part_of FROM offices x \
         WHERE x.part_of = offices.id)",
        "SELECT id FROM offices WHERE city = 'Berlin' AND id = 1",
        "SELECT id, city, COUNT(*) FROM offices GROUP BY id, city",
        "SELECT status, COUNT(DISTINCT city) FROM offices GROUP BY status",
        "SELECT city, COUNT(*) FROM offices GROUP BY lower(trim(city))",
        "SELECT city FROM offices ORDER BY CAST(code AS INTEGER), code",
        "SELECT SUM(open) * 1.0 / COUNT(*) FROM offices",
        "SELECT AVG(open), SUM(open) FROM offices",
        "SELECT id / 2, id / 10 * 10 FROM offices",
        "SELECT COUNT(*) / 2 FROM offices",
        "SELECT o.id, COUNT(p.id) FROM offices o LEFT JOIN offices p ON p.part_of = o.id \
         GROUP BY o.id",
        "SELECT city FROM offices WHERE code = '007'",
        "SELECT COUNT(*) FROM offices WHERE status = 'owned' AND code > 100",
    ] {
        let found = ask(OFFICES, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(found.confidence > 0.5, "{sql}: {} {:?}", found.confidence, found.trace.warnings);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_means_what_it_says_is_trusted() {
    for sql in [
        "SELECT AVG(CAST(replace(mass, ',', '') AS REAL)) FROM birds WHERE mass <> 'NA'",
        "SELECT SUM(CAST(nullif(replace(mass, ',', ''), 'NA') AS INTEGER)) FROM birds",
        "SELECT kind FROM birds ORDER BY kind",
        "SELECT MAX(year), MIN(kind), MAX(ringed_at) FROM birds",
        "SELECT kind FROM birds WHERE year > '2021' ORDER BY year DESC",
        "SELECT MAX(wing) FROM birds WHERE wing <> 'NA'",
        "SELECT COUNT(*) FROM birds WHERE ringed_at >= '2024-05-11' AND ringed_at < '2024-05-12'",
        "SELECT COUNT(*) FROM birds WHERE date(ringed_at) = '2024-05-11'",
        "SELECT strftime('%m', ringed_at), COUNT(*) FROM birds GROUP BY 1",
        "SELECT COUNT(*) FROM birds WHERE lower(kind) = 'auk'",
        "SELECT COUNT(*) FROM birds WHERE kind = 'Gull'",
        "SELECT kind, MAX(id) FROM birds",
        "SELECT lower(kind), COUNT(*) FROM birds GROUP BY 1",
        "SELECT colour, COUNT(*) FROM rings GROUP BY colour",
        "SELECT COUNT(*) FROM birds WHERE id NOT IN (SELECT bird FROM rings \
         WHERE bird IS NOT NULL)",
        "SELECT COUNT(*) FROM birds WHERE ringed_at < '2024-06-01'",
        "SELECT id, kind, COUNT(*) FROM birds GROUP BY id",
        "SELECT b.kind, COUNT(*) FROM birds b JOIN rings r ON r.bird = b.id GROUP BY r.bird",
        "SELECT id, kind, year FROM birds WHERE mass = '95'",
        "SELECT year, COUNT(*), kind FROM birds GROUP BY year",
    ] {
        let found = ask(BIRDS, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(found.confidence > 0.5, "{sql}: {} {:?}", found.confidence, found.trace.warnings);
        assert!(
            !found.trace.candidates[0].reason.contains("doubtful"),
            "{sql}: {:?}",
            found.trace.candidates
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_beside_the_foreign_keys_are_doubtful() {
    for (sql, words) in [
        (
            "SELECT m.name FROM makers m JOIN versions v ON v.id = m.id",
            "each is the key of its own table",
        ),
        (
            "SELECT m.name FROM makers m, measures e WHERE m.id = e.id",
            "each is the key of its own table",
        ),
        (
            "SELECT price FROM prices p JOIN models m ON m.id = p.version",
            "each is the key of its own table",
        ),
        (
            "SELECT v.id FROM versions v JOIN models m ON m.id = v.id",
            "refer to each other by other columns",
        ),
        (
            "SELECT d.name FROM makers m JOIN models d ON d.name = m.name",
            "refer to each other by other columns",
        ),
        ("SELECT d.name FROM models d JOIN makers USING (id)", "maker -> makers.id"),
        (
            "SELECT COUNT(*) FROM sales s JOIN models m ON s.model = m.name",
            "the columns have no value in common",
        ),
    ] {
        let trace = match ask(CARS, sql).await {
            Ok(found) if found.confidence <= 0.5 => found.trace,
            Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => *trace,
            other => panic!("{sql}: {other:?}"),
        };
        assert!(trace.candidates[0].reason.contains(words), "{sql}: {:?}", trace.candidates);
    }
    for sql in [
        "SELECT m.name FROM makers m JOIN models d ON d.maker = m.id \
         JOIN versions v ON v.model = d.name",
        "SELECT m.name FROM makers m JOIN models d ON d.maker = m.id AND d.name <> m.name \
         AND d.id = m.id",
        "SELECT price, weight FROM prices p JOIN measures e ON e.id = p.version",
        "SELECT v.make, price FROM prices p JOIN versions v ON v.id = p.version",
        "SELECT s.id FROM sales s JOIN makers m ON s.id > m.id",
        "SELECT COUNT(*) FROM sales s JOIN makers m ON s.id = 6 + m.id",
        "SELECT COUNT(*) FROM makers a JOIN makers b ON a.id = b.id",
    ] {
        let found = ask(CARS, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(found.confidence > 0.5, "{sql}: {} {:?}", found.confidence, found.trace.warnings);
    }
}

/// Cities of which one is called as its state is, and a key that is called alike in both tables.
const STATES: &str = "
    CREATE TABLE states(state_name TEXT PRIMARY KEY, area REAL);
    CREATE TABLE cities(city_name TEXT PRIMARY KEY, state_name TEXT REFERENCES states(state_name));
    INSERT INTO states VALUES ('New York', 54.6), ('Ohio', 44.8);
    INSERT INTO cities VALUES ('New York', 'New York'), ('Columbus', 'Ohio');";

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_other_table_under_the_same_name_is_no_join_path() {
    let wrong = "SELECT s.area FROM states s JOIN cities c ON c.city_name = s.state_name";
    let trace = match ask(STATES, wrong).await {
        Ok(found) if found.confidence <= 0.5 => found.trace,
        Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => *trace,
        other => panic!("{other:?}"),
    };
    let words = "refer to each other by other columns, state_name -> states.state_name";
    assert!(trace.candidates[0].reason.contains(words), "{:?}", trace.candidates);
    let right = "SELECT s.area FROM states s JOIN cities c ON c.state_name = s.state_name";
    assert!(ask(STATES, right).await.unwrap().confidence > 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_that_is_null_for_every_row_is_no_answer() {
    for sql in [
        "SELECT COUNT(*) FROM birds WHERE strftime('%Y-%m', seen) = '2024-02'",
        "SELECT kind FROM birds WHERE id < 4 AND julianday(seen) > julianday('2024-01-01')",
        "SELECT COUNT(*) FROM birds WHERE kind <> NULL",
        "SELECT COUNT(*) FROM birds WHERE date(kind) BETWEEN '2024-01-01' AND '2024-12-31'",
    ] {
        let trace = match ask(BIRDS, sql).await {
            Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => trace,
            other => panic!("{sql}: {other:?}"),
        };
        assert!(trace.answer.is_none(), "{sql}");
        let reason = &trace.candidates[0].reason;
        assert!(
            reason.contains("not acceptable") && reason.contains("is NULL for every row of birds"),
            "{sql}: {reason}"
        );
    }
    // Nothing is wrong with a condition on a column that is empty.
    let empty = "CREATE TABLE notes(id INTEGER PRIMARY KEY, written TEXT); INSERT INTO notes(id) \
                 VALUES (1), (2);";
    let found = ask(empty, "SELECT COUNT(*) FROM notes WHERE date(written) = '2024-01-01'").await;
    let found = found.unwrap_or_else(|error| panic!("{error:?}"));
    assert!(
        found.confidence > 0.5 && found.trace.warnings.is_empty(),
        "{:?}",
        found.trace.warnings
    );
}

/// Orders of two states, of which one is not shipped yet.
const ORDERS: &str = "
    CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT, day DATE, shipped DATE, note TEXT);
    INSERT INTO orders VALUES (1, 'cancelled', '2023-01-05', NULL, 'late'), (2, 'paid', \
      '2023-02-01', '2023-02-03', 'late');";

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_says_nothing_for_a_text_that_its_column_lacks_is_doubtful() {
    for (sql, words) in [
        (
            "SELECT COUNT(*) FROM orders WHERE status = 'canceled' AND day LIKE '2023%'",
            "`canceled`, and the result is 0 or has no rows; the nearest: `cancelled`",
        ),
        ("SELECT id FROM orders WHERE status IN ('canceled', 'Lost')", "`canceled`, `Lost`"),
        (
            "SELECT SUM(CASE WHEN status = 'Female' THEN 1 ELSE 0 END) FROM orders",
            "orders.status has no value `Female`",
        ),
        ("SELECT COUNT(*) FROM orders WHERE shipped = ''", "orders.shipped has no value ``"),
        ("SELECT COUNT(*) FROM orders WHERE shipped = 'NULL'", "no value `NULL`"),
    ] {
        let trace = match ask(ORDERS, sql).await {
            Ok(found) if found.confidence <= 0.5 => {
                assert!(
                    warnings_text(&found.trace).contains(words),
                    "{sql}: {:?}",
                    found.trace.warnings
                );
                found.trace
            }
            Err(QueryError::NoAnswer(trace) | QueryError::Unclear { trace, .. }) => *trace,
            other => panic!("{sql}: {other:?}"),
        };
        assert!(trace.candidates[0].reason.contains(words), "{sql}: {:?}", trace.candidates);
    }
    for sql in [
        "SELECT COUNT(*) FROM orders WHERE status = 'paid' AND id = 1",
        "SELECT COUNT(*) FROM orders WHERE day = '2023-01-06'",
        "SELECT COUNT(*) FROM orders WHERE note = ''",
        "SELECT COUNT(*) FROM orders WHERE (shipped IS NULL OR shipped = '') AND id = 2",
        "SELECT COUNT(*) FROM orders WHERE status <> 'canceled'",
    ] {
        let found = ask(ORDERS, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(found.confidence > 0.5, "{sql}: {} {:?}", found.confidence, found.trace.warnings);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nearest_values_of_the_column_are_named() {
    // The other columns hold the text itself.
    let drugs = "CREATE TABLE drugs(id INTEGER PRIMARY KEY, name TEXT, a TEXT, b TEXT, c TEXT);
        INSERT INTO drugs VALUES (1, 'Aspirin', 'asprin', 'asprin', 'asprin');
        INSERT INTO drugs VALUES (2, 'Codeine', '', '', '');";
    let found = ask(drugs, "SELECT COUNT(*) FROM drugs WHERE name = 'asprin'").await.unwrap();
    let words = "drugs.name has no value `asprin`, and the result is 0 or has no rows; \
                 the nearest: `Aspirin`";
    assert!(warnings_text(&found.trace).contains(words), "{:?}", found.trace.warnings);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_strategy_keeps_the_doubt_of_the_statement_that_it_answers() {
    let question = "How many orders were cancelled in 2023?";
    let sql = "SELECT COUNT(*) FROM orders WHERE status = 'canceled' AND day LIKE '2023%'";
    for strategy in ["single", "retry3", "decompose", "mcts", "turns"] {
        let folder = syrch_kit::scratch();
        let path = syrch_kit::sqlite(folder.path().join("orders.sqlite"), ORDERS);
        let endpoint = MockEndpoint::start(
            Script::new().on([PLAN], plan(&[("A", question, &[])])).on([""], Reply::sql(sql, 1.0)),
        );
        let found = Host::builder()
            .database(&path)
            .base_url(endpoint.url())
            .strategy(strategy)
            .ambiguity_threshold(1.0)
            .query(question)
            .run()
            .await
            .unwrap_or_else(|error| panic!("{strategy}: {error}"));
        assert!(found.confidence <= 0.5, "{strategy}: {}", found.confidence);
        let words = "orders.status has no value `canceled`";
        assert!(
            warnings_text(&found.trace).contains(words),
            "{strategy}: {:?}",
            found.trace.warnings
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solver_sees_the_doubt_and_repairs_the_statement() {
    let folder = syrch_kit::scratch();
    let path = syrch_kit::sqlite(folder.path().join("birds.sqlite"), BIRDS);
    let repaired = "SELECT AVG(CAST(replace(mass, ',', '') AS REAL)) FROM birds WHERE mass <> 'NA'";
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN], plan(&[("A", "the mean mass", &[])]))
            .on([WRITE, "2 of 5 values of mass are no numbers"], Reply::sql(repaired, 0.95))
            .on([WRITE], Reply::sql("SELECT AVG(mass) FROM birds", 1.0)),
    );
    let query = Host::builder()
        .database(&path)
        .base_url(endpoint.url())
        .strategy(strategies::DEFAULT)
        .query("What is the mean mass of the birds?");
    let found = query.run().await.unwrap();
    assert!(
        found.sql.contains("replace(") && found.confidence > 0.5,
        "{} {}",
        found.sql,
        found.confidence
    );
    assert!(found.trace.warnings.is_empty(), "{:?}", found.trace.warnings);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_made_of_a_doubtful_task_is_doubtful() {
    let folder = syrch_kit::scratch();
    let path = syrch_kit::sqlite(folder.path().join("birds.sqlite"), BIRDS);
    let endpoint = MockEndpoint::start(
        Script::new()
            .on(
                [PLAN],
                plan(&[("A", "the mass of each kind", &[]), ("B", "the heaviest kind", &["A"])]),
            )
            .on(
                [&task_prompt("the mass of each kind")],
                Reply::sql("SELECT kind, SUM(mass) AS mass FROM birds GROUP BY kind", 0.95),
            )
            .on(
                [&task_prompt("the heaviest kind")],
                Reply::sql("SELECT kind FROM task_A ORDER BY mass DESC LIMIT 1", 0.95),
            ),
    );
    let query = Host::builder()
        .database(&path)
        .base_url(endpoint.url())
        .strategy(strategies::DEFAULT)
        .query("Which kind of birds is the heaviest?");
    let found = query.run().await.unwrap();
    assert!(
        found.sql.contains("WITH") && found.confidence <= 0.5,
        "{} {}",
        found.sql,
        found.confidence
    );
    assert!(
        warnings_text(&found.trace).contains("2 of 5 values of mass are no numbers"),
        "{:?}",
        found.trace.warnings
    );
}

async fn ask_rules(question: &str) -> QueryResult {
    let folder = syrch_kit::scratch();
    let path = syrch_kit::sqlite(folder.path().join("visits.sqlite"), VISITS);
    let query = Host::builder().database(&path).query(question);
    query.run().await.unwrap_or_else(|error| panic!("{question}: {error}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_leave_to_chance_is_doubted() {
    let tie = "another has the same COUNT(*) as the one that is shown";
    for (question, words) in [
        ("Which vet has the most visits?", tie),
        ("Which town has the most visits?", tie),
        ("Which visit has the highest fee?", "another has the same fee as the one that is shown"),
        ("Which visit has the lowest fee?", ""),
        ("top 2 towns by number of visits", ""),
        ("How many visits does Pike have?", "several rows of vets have the name that is named"),
        ("How many visits does Moss have?", ""),
        ("How many vets are named Pike?", ""),
    ] {
        let found = ask_rules(question).await;
        let warnings = warnings_text(&found.trace);
        assert_eq!(warnings.is_empty(), words.is_empty(), "{question}: {warnings}");
        assert!(warnings.contains(words), "{question}: {warnings}");
        assert!(words.is_empty() || found.confidence <= 0.5, "{question}: {}", found.confidence);
    }
    // Of a model's statements, ties mark more right ones than wrong ones.
    let sql = "SELECT id FROM visits ORDER BY fee DESC LIMIT 1";
    let found = ask(VISITS, sql).await.unwrap();
    assert!(found.confidence > 0.5 && found.trace.warnings.is_empty(), "{:?}", found.trace);
}
