//! PostgreSQL through the binary, over a server of the tests' own: questions, statements, the role,
//! faults, and passwords that stand nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use syrch_kit::postgres::Server;

use crate::bad_input::{Place, assert_refused, finish, read_streams};

/// The shop of the other tests, with the types of this engine.
pub(crate) const SHOP: &str = "
CREATE TABLE customers(id int PRIMARY KEY, name text NOT NULL, country text, is_active \
  boolean NOT NULL);
CREATE TABLE products(id int PRIMARY KEY, name text, price numeric(10,2));
CREATE TABLE orders(id int PRIMARY KEY, customer_id int REFERENCES customers, product_id int \
  REFERENCES products, quantity int,
  status varchar(20), ordered date);
INSERT INTO customers \
  VALUES (1,'Ada','France',true),(2,'Ben','Spain',true),(3,'Cleo','France',false),(4,'Dora',\
  'Italy',true);
INSERT INTO products VALUES (1,'lamp',20.00),(2,'desk',150.10),(3,'chair',75.50);
INSERT INTO orders \
  VALUES (1,1,1,2,'shipped','2023-01-05'),(2,1,2,1,'cancelled','2024-02-11'),(3,2,3,4,'shipped',\
  '2024-02-20'),
  (4,3,1,1,'open','2024-03-02');
ANALYZE;
";

/// A password that no text has by chance.
const PASSWORD: &str = "pw-S3kr1t%Wd";
/// The same, as a URL writes it.
const WRITTEN: &str = "pw-S3kr1t%25Wd";

/// A database with the shop, and a role of its name that may read it and has the password.
fn shop(server: &Server, name: &str) {
    server.database(name, SHOP);
    let role = format!(
        "CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'; GRANT SELECT ON ALL TABLES IN SCHEMA \
         public TO {name}; REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC; REVOKE \
         CREATE ON SCHEMA public FROM PUBLIC;"
    );
    server.psql(name, &role).unwrap();
}

/// Runs the program with these arguments, which must succeed, and returns what it prints.
fn prints(command: &mut Command) -> (String, String) {
    let output = finish(command, "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{command:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn json(command: &mut Command) -> Value {
    serde_json::from_str(&prints(command.args(["--format", "json"])).0).unwrap()
}

#[test]
fn statements_that_mean_something_else_are_doubtful() {
    let Some(server) = Server::get_shared() else { return };
    let tables = "CREATE TABLE visits(id int PRIMARY KEY, kind varchar(20), paid text, \
                  created_at timestamp);
        INSERT INTO visits VALUES (1, 'first', '95', '2024-05-11 09:00'), (2, 'First', '1,200', \
          '2024-05-11 10:30'),
            (3, 'later', '100', '2024-05-12 00:00');";
    server.database("doubts", tables);
    let role = "CREATE ROLE doubts LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO doubts;
        REVOKE TEMPORARY ON DATABASE doubts FROM PUBLIC; REVOKE CREATE ON SCHEMA public \
          FROM PUBLIC;";
    server.psql("doubts", role).unwrap();
    let place = Place::new();
    let url = server.url("doubts", "doubts");
    let warnings =
        |sql: &str| json(place.words("sql").args(["--db", &url, sql]))["warnings"].to_string();
    for (sql, words) in [
        (
            "SELECT SUM(CAST(CASE WHEN paid ~ '^[0-9]+$' THEN paid END AS numeric)) FROM visits",
            "1 of 3 values of paid is no number",
        ),
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
        let found = warnings(sql);
        assert!(found.contains(words), "{sql}: {found}");
    }
    for sql in [
        "SELECT COUNT(*) FROM visits WHERE created_at >= '2024-05-11' \
         AND created_at < '2024-05-12'",
        "SELECT COUNT(*) FROM visits WHERE created_at::date = '2024-05-11' AND kind = 'later'",
        "SELECT SUM(CAST(replace(paid, ',', '') AS numeric)) FROM visits",
        "SELECT kind, created_at FROM visits ORDER BY kind",
        "SELECT id, kind, COUNT(*) FROM visits GROUP BY id",
    ] {
        assert_eq!(warnings(sql), "[]", "{sql}");
    }
}

#[test]
fn questions_are_answered_over_a_server() {
    let Some(server) = Server::get_shared() else { return };
    shop(server, "answers");
    let place = Place::new();
    let url = server.url("answers", "answers");
    let ask = |question: &str| {
        let report = json(place.host().args(["--llm", "offline", "--db", &url, "-q", question]));
        let rows: Vec<Vec<String>> = report["answer"]["rows"]
            .as_array()
            .unwrap_or_else(|| panic!("{report}"))
            .iter()
            .map(|row| {
                row.as_array()
                    .unwrap()
                    .iter()
                    .map(|cell| cell.to_string().replace('"', ""))
                    .collect()
            })
            .collect();
        (rows, report["sql"].as_str().unwrap_or_default().to_owned())
    };
    let (mut rows, sql) = ask("How many customers are there in each country?");
    rows.sort();
    assert_eq!(rows, [["France", "2"], ["Italy", "1"], ["Spain", "1"]], "{sql}");
    for (question, expected) in [
        ("How many customers are there?", "4"),
        ("Which customers live in France?", "Ada, Cleo"),
        ("What is the most expensive product?", "desk"),
        ("What is the average price of the products?", "81.8666666666666667"),
        ("How many orders were cancelled?", "1"),
        ("How many orders were placed in 2024?", "3"),
        ("What is the total quantity of orders for each customer name?", "3 Ada, 1 Cleo, 4 Ben"),
        ("Which products contain 'A' in their name?", "chair, lamp"),
        ("Which customers have no orders?", "Dora"),
        ("Which orders were placed after 2024-02-15?", "3, 4"),
    ] {
        let (rows, sql) = ask(question);
        let mut rows: Vec<String> = rows.into_iter().map(|row| row.join(" ")).collect();
        rows.sort();
        let mut expected: Vec<&str> = expected.split(", ").collect();
        expected.sort_unstable();
        assert_eq!(rows, expected, "{question}: {sql}");
    }
}

#[test]
fn statements_and_the_catalog_are_shown() {
    let Some(server) = Server::get_shared() else { return };
    shop(server, "statements");
    let place = Place::new();
    let url = server.url("statements", "statements");
    let catalog = json(place.words("schema").arg(&url));
    assert_eq!(catalog["dialect"], "postgres", "{catalog}");
    let result = json(
        place
            .words("sql --db")
            .args([&url, "SELECT name, price, price * 3 AS triple FROM products ORDER BY id"]),
    );
    assert_eq!(result["rows"][1], serde_json::json!(["desk", "150.10", "450.30"]), "{result}");
    let (table, _) = prints(
        place.words("sql --db").args([&url, "SELECT price FROM products ORDER BY 1 DESC LIMIT 1"]),
    );
    assert!(table.contains("150.10"), "{table}");
    for (sql, rule) in [
        ("DELETE FROM orders", "read-only"),
        ("SELECT pg_read_file('/etc/passwd')", "function"),
        ("SELECT * FROM pg_authid", "granted-tables"),
    ] {
        assert_refused(place.words("sql --db").args([&url, sql]), 15, &[rule]);
    }
    assert_refused(
        place.words("sql --db").args([&url, "SELECT nam FROM products"]),
        11,
        &["nam", "name"],
    );
    // Equal answers of two statements are one candidate, whatever the scale of their numbers.
    let suite = place.file(
        "suite.jsonl",
        concat!(
            r#"{"id":"a","db":"shop","engine":"postgres","question":"What is the average price of the products?","gold_sql":"SELECT avg(price)::numeric(20,10) FROM products"}"#,
            "\n"
        ),
    );
    let report = json(place.words("benchmark --llm offline --db").arg(&url).arg(&suite));
    assert_eq!((report["right"].as_u64(), report["of"].as_u64()), (Some(1), Some(1)), "{report}");
}

/// All files below a folder that hold a text.
fn holders(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holders(&path, text, found);
        } else if fs::read(&path)
            .unwrap()
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

#[test]
fn a_password_stands_in_no_output_journal_cache_or_page() {
    let Some(server) = Server::get_shared() else { return };
    shop(server, "secrets");
    let place = Place::new();
    let port = server.port();
    let url = format!("postgres://secrets:{WRITTEN}@127.0.0.1:{port}/secrets?sslmode=disable");
    let pairs = format!(
        "postgres:host=127.0.0.1 port={port} user=secrets password='{PASSWORD}' dbname=secrets"
    );
    let wrong = format!("postgres://secrets:{WRITTEN}x@127.0.0.1:{port}/secrets");
    let lost = format!("postgres://secrets:{WRITTEN}@127.0.0.1:1/secrets");
    let mut said_of_it = String::new();
    let mut run = |words: &str, db: &str| {
        let mut command = place.words(words);
        command
            .args(["--db", db])
            .env("SYRCH_CACHE", "yes")
            .env("SYRCH_CACHE_DIR", place.path().join("cache"));
        command.env("SYRCH_STATE_DIR", place.path().join("state"));
        let output = finish(&mut command, "");
        let (stdout, stderr) = read_streams(&output);
        said_of_it.push_str(&stdout);
        said_of_it.push_str(&stderr);
        (output.status.code(), stdout + &stderr)
    };
    let warned = "the password stands on the command line";
    for db in [&url, &pairs] {
        let (code, text) = run("-vv --llm offline -q customers?", db);
        assert!(code.is_some() && text.contains(warned), "{text}");
        let (code, text) = run("sql -vv SELECT/**/count(*)/**/FROM/**/customers", db);
        assert!(code == Some(0) && text.contains(warned), "{text}");
    }
    let mut search = place.host();
    search.args([
        "-vv",
        "--llm",
        "offline",
        "-q",
        "How many customers are there?",
        "--db",
        &url,
        "--format",
        "json",
    ]);
    search.env("SYRCH_CACHE", "yes").env("SYRCH_CACHE_DIR", place.path().join("cache"));
    search.env("SYRCH_STATE_DIR", place.path().join("state"));
    let (stdout, stderr) = prints(&mut search);
    said_of_it = said_of_it + &stdout + &stderr;
    let mut run = |words: &str, db: &str| {
        let mut command = place.words(words);
        command.args(["--db", db]).env("SYRCH_STATE_DIR", place.path().join("state"));
        let output = finish(&mut command, "");
        let (stdout, stderr) = read_streams(&output);
        said_of_it.push_str(&stdout);
        said_of_it.push_str(&stderr);
        (output.status.code(), stdout + &stderr)
    };
    for words in [
        "schema",
        "config",
        "config --origin",
        "doctor",
        "doctor --format json",
        "doctor --print-role-sql",
    ] {
        assert_eq!(run(words, &url).0, Some(0), "{words}");
    }
    assert_eq!(run("sql -vv SELECT/**/1", &wrong).0, Some(11));
    assert_eq!(run("doctor", &wrong).0, Some(10));
    assert_eq!(run("sql -vv SELECT/**/1 --log-format json", &lost).0, Some(11));
    for words in [
        "trace show last",
        "trace show last --html page.html",
        "trace list",
        "trace replay last --strict",
    ] {
        let mut command = place.words(words);
        let (stdout, stderr) = prints(command.env("SYRCH_STATE_DIR", place.path().join("state")));
        said_of_it = said_of_it + &stdout + &stderr;
    }
    let mut found = Vec::new();
    for text in [PASSWORD, WRITTEN, "S3kr1t"] {
        assert!(!said_of_it.contains(text), "it is said: {said_of_it}");
        holders(place.path(), text, &mut found);
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(place.path().join("page.html").is_file() && said_of_it.contains("***"));
    assert!(fs::read_dir(place.path().join("state/runs")).unwrap().count() > 0);
}

#[test]
fn variables_and_the_file_of_passwords_name_a_server_as_for_psql() {
    let Some(server) = Server::get_shared() else { return };
    shop(server, "variables");
    let place = Place::new();
    let port = server.port().to_string();
    let sql = ["sql", "SELECT count(*) FROM customers"];
    let with = |variables: &[(&str, &str)], db: &str| {
        let mut command = place.host();
        command.args(sql).args(["--db", db]).envs(variables.iter().copied());
        command
    };
    let all = [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", &port),
        ("PGUSER", "variables"),
        ("PGPASSWORD", PASSWORD),
    ];
    let (stdout, stderr) = prints(with(&all, "postgres:variables").args(["--format", "csv"]));
    assert_eq!((stdout.trim_end().lines().last(), stderr.as_str()), (Some("4"), ""));
    prints(&mut with(&all, "postgres:///variables"));
    assert_refused(
        &mut with(&all[..3], "postgresql:///variables"),
        11,
        &["asks for a password", "PGPASSWORD"],
    );
    let passwords =
        place.file("home/.pgpass", format!("127.0.0.1:*:variables:variables:{PASSWORD}\n"));
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o644)).unwrap();
    assert_refused(&mut with(&all[..3], "postgres:///variables"), 11, &["asks for a password"]);
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o600)).unwrap();
    prints(&mut with(&all[..3], "postgres:///variables"));
    // A suite may be anybody's: the user's passwords go to no other machine that it names.
    let suite = place.file(
        "suite.jsonl",
        concat!(
            r#"{"id":"a","engine":"postgres","db":"postgres://variables@203.0.113.1:1/variables?connect_timeout=2","question":"How many customers are there?","gold_sql":"SELECT 4"}"#,
            "\n"
        ),
    );
    let output = finish(place.words("suite lint").arg(&suite).envs(all), "");
    let (stdout, stderr) = read_streams(&output);
    assert!(!(stdout + &stderr).contains(PASSWORD));
}

#[test]
fn a_server_that_refuses_or_is_not_there_ends_with_11() {
    let Some(server) = Server::get_shared() else { return };
    shop(server, "refusals");
    let place = Place::new();
    let port = server.port();
    let sql = |url: &str| {
        let mut command = place.words("sql --db");
        command.args([url, "SELECT 1"]);
        command
    };
    for (url, words) in [
        (
            "postgres://refusals@127.0.0.1:1/x".to_owned(),
            ["no server listens there", "check the host and the port"],
        ),
        (
            format!("postgres://refusals:wr0ng-pw@127.0.0.1:{port}/refusals"),
            ["password authentication failed", "PGPASSWORD"],
        ),
        (
            format!("postgres://refusals@127.0.0.1:{port}/refusals"),
            ["asks for a password", ".pgpass"],
        ),
        (
            format!("postgres://refusals:x@127.0.0.1:{port}/refusals?sslmode=require"),
            ["the server has no TLS", "sslmode"],
        ),
        (server.url("refusals", "nothere"), ["nothere", "does not exist"]),
        (
            "postgres://refusals@h/x?sslmode=maybe".to_owned(),
            ["sslmode", "postgres://USER@HOST/DATABASE"],
        ),
        (
            format!("postgres://refusals@/x?host={}", place.path().display()),
            ["no such socket", "the server runs"],
        ),
    ] {
        let document = assert_refused(&mut sql(&url), 11, &words);
        assert!(!document.to_string().contains("wr0ng-pw"), "{document}");
    }
    assert_refused(
        place.host().args([
            "--db",
            &server.url("refusals", "refusals"),
            "--tables",
            "nothing*",
            "-q",
            "x?",
        ]),
        11,
        &["public.customers"],
    );
}

#[test]
fn doctor_names_what_the_role_could_do_and_prints_a_better_one() {
    let Some(server) = Server::get_shared() else { return };
    server.database("doctored", SHOP);
    let place = Place::new();
    let examine = |url: &str| {
        let document = json(place.words("doctor --db").arg(url));
        let checks = document["checks"].as_array().unwrap().clone();
        let of = move |name: &str| {
            checks.iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
        };
        (of("database"), of("role"))
    };
    let (database, role) = examine(&server.url("admin", "doctored"));
    assert!(
        database["detail"].as_str().unwrap().contains("opens: 3 tables and 0 views"),
        "{database}"
    );
    assert_eq!(role["state"], "warn", "{role}");
    let detail = role["detail"].as_str().unwrap();
    assert!(detail.starts_with("PostgreSQL ") && detail.contains("a superuser"), "{role}");
    assert!(role["fix"].as_str().unwrap().contains("--print-role-sql"), "{role}");
    // It connects to nothing: there is no such server.
    let (script, _) = prints(
        &mut place.words("doctor --print-role-sql --db postgres://admin@203.0.113.1/doctored"),
    );
    assert!(script.starts_with("CREATE ROLE \"syrch_reader\" LOGIN"), "{script}");
    server.psql("doctored", &script).unwrap();
    let (database, role) = examine(&server.url("syrch_reader", "doctored"));
    assert_eq!(
        (&database["state"], &role["state"]),
        (&"ok".into(), &"ok".into()),
        "{database} {role}"
    );
    assert!(
        role["detail"].as_str().unwrap().contains("no right beyond reading was found"),
        "{role}"
    );
    let (several, _) = prints(&mut place.words("doctor --print-role-sql=public,sales"));
    assert!(several.contains("IN SCHEMA \"sales\""), "{several}");
    assert_refused(
        &mut place.words("doctor --print-role-sql --db shop.sqlite"),
        10,
        &["has no roles", "postgres"],
    );
}

#[test]
fn a_server_that_dies_in_mid_statement_ends_it() {
    let Some(mut server) = Server::start() else { return };
    shop(&server, "dying");
    let place = Place::new();
    let mut command = place.words("sql --db");
    let long = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b";
    command.args([server.url("dying", "dying").as_str(), long]);
    let started = Instant::now();
    let output = std::thread::scope(|scope| {
        let ended = scope.spawn(|| finish(&mut command, ""));
        std::thread::sleep(Duration::from_secs(2));
        server.kill();
        ended.join().unwrap()
    });
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(11), "{stdout}{stderr}");
    assert!(stderr.contains("unavailable"), "{stderr}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}
