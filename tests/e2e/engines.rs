//! PostgreSQL through the binary, and DuckDB and Spark where `tests/databases/install.sh` has
//! installed them: every strategy answers as it does over SQLite.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use syrch_kit::duckdb::{library, script};
use syrch_kit::spark::{Kind, Server};

use crate::bad_input::{Place, assert_refused, finish, read_streams};

/// The tables of all engines, in the words that they have in common.
const SHOP: [&str; 6] = [
    "CREATE TABLE customers (id INT NOT NULL, name {text} NOT NULL, country {text})",
    "CREATE TABLE products (id INT NOT NULL, name {text}, price DOUBLE)",
    "CREATE TABLE orders (id INT NOT NULL, customer_id INT, product_id INT, quantity INT, \
     status {text})",
    "INSERT INTO customers \
     VALUES (1,'Ada','France'),(2,'Ben','Spain'),(3,'Cleo','France'),(4,'Dora','Italy')",
    "INSERT INTO products VALUES (1,'lamp',20.0),(2,'desk',150.5),(3,'chair',75.5)",
    "INSERT INTO orders \
     VALUES (1,1,1,2,'shipped'),(2,1,2,1,'cancelled'),(3,2,3,4,'shipped'),(4,3,1,1,'open')",
];

const QUESTIONS: [&str; 5] = [
    "How many customers are there in each country?",
    "Which customers live in France?",
    "What is the most expensive product?",
    "How many orders were cancelled?",
    "What is the average price of the products?",
];

fn tables(text: &str) -> Vec<String> {
    SHOP.iter().map(|statement| statement.replace("{text}", text)).collect()
}

fn over_sqlite(place: &Place) -> String {
    syrch_kit::sqlite(place.path().join("same.sqlite"), &tables("TEXT").join(";"));
    "same.sqlite".to_owned()
}

/// A DuckDB file, and a configuration that names the library.
fn over_duckdb(place: &Place, library: &Path) -> String {
    let statements = tables("VARCHAR");
    let statements: Vec<&str> =
        statements.iter().map(String::as_str).chain(["CHECKPOINT"]).collect();
    script(library, &place.path().join("same.duckdb"), &statements);
    let digest = syrch_kit::sha256(library);
    let drivers =
        format!("drivers:\n  duckdb:\n    path: {}\n    sha256: {digest}\n", library.display());
    fs::write(place.path().join("home/.syrch/config.yml"), drivers).unwrap();
    "duckdb:same.duckdb".to_owned()
}

fn json(command: &mut Command) -> Value {
    let output = finish(command.args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{command:?}\n{stdout}\n{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// The rows of an answer as texts, whatever their order, and the statement.
fn answer(place: &Place, database: &str, question: &str, strategy: &str) -> (Vec<String>, String) {
    let mut command = place.host();
    command.args(["--llm", "offline", "--strategy", strategy, "--db", database, "-q", question]);
    let report = json(&mut command);
    let rows = report["answer"]["rows"].as_array().unwrap_or_else(|| panic!("{report}"));
    let mut rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    rows.sort();
    (rows, report["sql"].as_str().unwrap_or_default().to_owned())
}

/// The built-in strategies by name.
fn strategies() -> Vec<String> {
    let folder = syrch_kit::repository().join("plugins/strategies");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names = names.filter(|path| path.extension().is_some_and(|ending| ending == "yml"));
    names.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

fn answers_as_sqlite(place: &Place, database: &str) {
    let sqlite = over_sqlite(place);
    for question in QUESTIONS {
        let (expected, _) = answer(place, &sqlite, question, "decompose");
        let (found, sql) = answer(place, database, question, "decompose");
        assert_eq!(found, expected, "{question}: {sql}");
    }
    let strategies = strategies();
    assert!(strategies.len() >= 14, "{strategies:?}");
    for strategy in strategies {
        let (expected, _) = answer(place, &sqlite, QUESTIONS[1], &strategy);
        let (found, sql) = answer(place, database, QUESTIONS[1], &strategy);
        assert_eq!(found, expected, "{strategy}: {sql}");
    }
}

#[test]
fn every_strategy_answers_over_postgres() {
    let Some(server) = syrch_kit::postgres::Server::get_shared() else { return };
    let script = tables("TEXT").join(";").replace("DOUBLE", "DOUBLE PRECISION");
    server.database(
        "same",
        &format!(
            "{script}; CREATE ROLE same LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO same"
        ),
    );
    answers_as_sqlite(&Place::new(), &server.url("same", "same"));
}

#[test]
fn every_strategy_answers_over_duckdb() {
    let Some(library) = library() else { return };
    let place = Place::new();
    let database = over_duckdb(&place, &library);
    answers_as_sqlite(&place, &database);
    let mut command = place.words("eval --llm offline --db");
    command.args([
        &database,
        "-q",
        "How many customers are there?",
        "--expected-sql",
        "SELECT count(*) FROM customers",
    ]);
    assert_eq!(json(&mut command)["match"], true);
}

#[test]
fn duckdb_is_guarded_and_its_library_checked() {
    let Some(library) = library() else { return };
    let place = Place::new();
    let database = over_duckdb(&place, &library);
    let catalog = json(place.words("schema").arg(&database));
    assert_eq!(catalog["dialect"], "duckdb", "{catalog}");
    for (sql, rule) in [
        ("SELECT * FROM read_csv('/etc/passwd')", "function"),
        ("SELECT * FROM '/etc/passwd'", "granted-tables"),
        ("COPY customers TO 'x.csv'", "read-only"),
        ("SELECT getenv('HOME')", "function"),
    ] {
        assert_refused(place.words("sql --db").args([&database, sql]), 15, &[rule]);
    }
    assert_refused(
        place.words("sql --db").args([&database, "SELECT nam FROM products"]),
        11,
        &["nam", "name"],
    );
    assert_refused(
        &mut place.words("sql --db duckdb:none.duckdb SELECT"),
        11,
        &["none.duckdb", "does not exist"],
    );
    let wrong = format!("drivers:\n  duckdb: {{path: {}, sha256: '00'}}\n", library.display());
    place.file("wrong.yml", &wrong);
    assert_refused(
        place.words("sql --config wrong.yml --db").args([&database, "SELECT 1"]),
        11,
        &["sha256"],
    );
    // A file that lies in a folder may be somebody else's, and a driver is native code.
    place.file("syrch.yml", &wrong);
    assert_refused(place.words("sql --db").args([&database, "SELECT 1"]), 10, &["drivers"]);
}

#[test]
fn any_adbc_driver_of_the_configuration_opens_a_database() {
    let Some(library) = syrch_kit::find_installed("adbc/libadbc_driver_sqlite.so") else { return };
    let place = Place::new();
    let library = library.canonicalize().unwrap();
    over_sqlite(&place);
    let digest = syrch_kit::sha256(&library);
    let driver = format!("{{path: {}, sha256: {digest}, dialect: sqlite}}", library.display());
    let named = format!("adbc:lite;uri={}", place.path().join("same.sqlite").display());
    place.file("own.yml", format!("drivers:\n  lite: {driver}\ndatabases:\n  shop: '{named}'\n"));
    let report = json(
        place
            .words("--config own.yml --executor adbc --llm offline --db shop -q")
            .arg("How many customers are there?"),
    );
    assert_eq!(report["answer"]["rows"], serde_json::json!([[4]]), "{report}");
    assert_refused(
        &mut place.words("sql --config own.yml --db adbc:other SELECT"),
        11,
        &["other", "lite"],
    );
    assert_refused(&mut place.words("sql --db adbc:lite SELECT"), 11, &["drivers"]);
    // The name of the Python package's executor says what it means here.
    let output = finish(
        place
            .words("--config own.yml --executor jdbc --llm offline --db shop -q")
            .arg(QUESTIONS[1]),
        "",
    );
    let (_, stderr) = read_streams(&output);
    assert!(output.status.success() && stderr.contains("SQLAlchemy"), "{stderr}");
}

/// A server of that kind with the tables.
fn over_spark(kind: Kind) -> Option<Server> {
    let server = Server::start(kind)?;
    let statements: Vec<String> = tables("STRING")
        .into_iter()
        .map(|sql| if sql.starts_with("CREATE") { format!("{sql} USING parquet") } else { sql })
        .collect();
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    server.script(&statements).unwrap();
    Some(server)
}

#[test]
fn every_strategy_answers_over_spark() {
    let Some(server) = over_spark(Kind::Spark) else { return };
    answers_as_sqlite(&Place::new(), &server.address());
}

#[test]
fn every_strategy_answers_over_another_spark_connect_server() {
    let Some(server) = over_spark(Kind::Sail) else { return };
    let place = Place::new();
    let address = server.address();
    answers_as_sqlite(&place, &address);
    assert_refused(
        place.words("sql --db").args([&address, "SELECT reflect('java.lang.System', 'exit', 1)"]),
        15,
        &["function"],
    );
    assert_refused(
        place.words("sql --db").args([&address, "SELECT * FROM parquet.`/etc/passwd`"]),
        11,
        &["granted-tables"],
    );
    let report = finish(place.words("doctor --llm offline --db").arg(&address), "");
    let (stdout, stderr) = read_streams(&report);
    assert!(format!("{stdout}{stderr}").contains("engine forbids nothing"), "{stdout}{stderr}");
    drop(server);
    assert_refused(
        place.words("sql --db").args([&address, "SELECT 1"]),
        11,
        &["cannot be reached"],
    );
}

#[test]
fn duckdb_has_doubts_about_statements_that_mean_something_else() {
    let Some(library) = library() else { return };
    let place = Place::new();
    let database = over_duckdb(&place, &library);
    let visits = [
        "CREATE TABLE visits(id INT, kind VARCHAR, paid VARCHAR, created_at TIMESTAMP)",
        "INSERT INTO visits VALUES (1, 'first', '95', '2024-05-11 09:00'), (2, 'First', '1,200', \
         '2024-05-11 10:30'),
            (3, 'later', '100', '2024-05-12 00:00')",
        "CHECKPOINT",
    ];
    script(&library, &place.path().join("same.duckdb"), &visits);
    fn warnings(database: &str, place: &Place, sql: &str) -> String {
        json(place.words("sql").args(["--db", database, sql]))["warnings"].to_string()
    }
    for (sql, words) in [
        ("SELECT SUM(TRY_CAST(paid AS DOUBLE)) FROM visits", "1 of 3 values of paid is no number"),
        ("SELECT MAX(paid) FROM visits", "1 of 3 values of paid is no number"),
        (
            "SELECT id FROM visits WHERE paid <> '1,200' ORDER BY paid",
            "in which 100 comes before 95",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE created_at = '2024-05-11'",
            "created_at holds times of day",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE kind = 'first'",
            "1 further spelling of `first` in kind",
        ),
    ] {
        let found = warnings(&database, &place, sql);
        assert!(found.contains(words), "{sql}: {found}");
    }
    for sql in [
        "SELECT COUNT(*) FROM visits WHERE created_at >= '2024-05-11' \
         AND created_at < '2024-05-12'",
        "SELECT COUNT(*) FROM visits WHERE CAST(created_at AS DATE) = '2024-05-11' \
         AND kind = 'later'",
        "SELECT SUM(CAST(replace(paid, ',', '') AS DOUBLE)) FROM visits",
        "SELECT kind, created_at FROM visits ORDER BY kind",
        "SELECT id, COUNT(*) FROM visits GROUP BY id",
    ] {
        assert_eq!(warnings(&database, &place, sql), "[]", "{sql}");
    }
}
