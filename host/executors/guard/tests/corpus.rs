//! The corpora of statements for engines without an authorizer: hostile ones are refused, benign
//! ones pass, and what passes is admitted again as it is, also after it was changed at random.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use syrch_core::ports::SqlQuery;
use syrch_core::{Catalog, Column, Dialect, Table};
use syrch_guard::{Bounds, Granted, Guard, admit, deterministic, facts};

const ENGINES: [(&str, Dialect); 4] = [
    ("duckdb", Dialect::Duckdb),
    ("spark", Dialect::Spark),
    ("databricks", Dialect::Databricks),
    ("postgres", Dialect::Postgres),
];

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/sql").join(name)
}

fn lines(file: &Path, engine: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["engine"] == engine && line["sql"].is_string()).collect()
}

fn sql(line: &Value) -> &str {
    line["sql"].as_str().unwrap()
}

fn catalog(dialect: Dialect) -> Catalog {
    let schema = match dialect {
        Dialect::Duckdb => "main",
        Dialect::Postgres => "public",
        _ => "default",
    };
    let table = |name: &str, columns: &[&str]| Table {
        schema_name: Some(schema.to_owned()),
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|name| Column { name: (*name).to_owned(), ..Column::default() })
            .collect(),
        ..Table::default()
    };
    let tables = vec![
        table("customers", &["id", "name", "city"]),
        table("orders", &["id", "customer_id", "total", "ordered_on"]),
        table("events", &["id", "payload"]),
    ];
    Catalog { database: "shop".to_owned(), dialect, tables }
}

fn grant_all(dialect: Dialect) -> Granted {
    let granted = Granted::new(&catalog(dialect.clone()), Vec::new());
    if dialect == Dialect::Databricks { granted.in_catalog("main") } else { granted }
}

/// Statements of a corpus that are not treated as they must be.
fn wrong(dialect: &Dialect, lines: &[Value], must_pass: bool) -> Vec<String> {
    let granted = grant_all(dialect.clone());
    lines
        .iter()
        .filter_map(|line: &Value| {
            let text = sql(line);
            let admitted = admit(sql(line), &granted, &Bounds::default());
            match admitted {
                Ok(admitted) if must_pass => {
                    let again = admit(&admitted.sql, &granted, &Bounds::default());
                    let is_same = again.as_ref().is_ok_and(|again| again.sql == admitted.sql);
                    (!is_same).then(|| {
                        format!("{}: {text}\n  as {}\n  again {again:?}", line["id"], admitted.sql)
                    })
                }
                Ok(admitted) => {
                    Some(format!("{}: {text}\n  passes as {}", line["id"], admitted.sql))
                }
                Err(error) if must_pass => Some(format!("{}: {text}\n  {error:?}", line["id"])),
                Err(error) => error
                    .rule
                    .is_none()
                    .then(|| format!("{}: {text}\n  without a rule: {error:?}", line["id"])),
            }
        })
        .collect()
}

#[test]
fn own_hostile_statements_are_refused_and_benign_ones_pass() {
    let mut found = Vec::new();
    for (engine, dialect) in &ENGINES[..3] {
        let hostile = lines(&own("hostile.jsonl"), engine);
        let benign = lines(&own("benign.jsonl"), engine);
        assert!(
            hostile.len() >= 80 && benign.len() >= 50,
            "{engine}: {} and {}",
            hostile.len(),
            benign.len()
        );
        found.extend(wrong(dialect, &hostile, false));
        found.extend(wrong(dialect, &benign, true));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The table of forms: what the guard reads of each dialect, what it refuses, and why.
#[test]
fn each_form_is_read_or_refused_as_the_table_says() {
    let mut found = Vec::new();
    for (engine, dialect) in &ENGINES {
        let forms = lines(&own("forms.jsonl"), engine);
        assert!(forms.len() >= 20, "{engine}: {}", forms.len());
        let (read, refused): (Vec<Value>, Vec<Value>) =
            forms.into_iter().partition(|line| line["reading"] == "read");
        for line in &read {
            let text = sql(line);
            let guard = Guard::new(dialect.clone(), text.len());
            match guard.facts(&SqlQuery::new(text), &catalog(dialect.clone())) {
                Ok(facts) => {
                    let missing =
                        ["customers", "orders", "events"].into_iter().filter(|table: &&str| {
                            text.contains(*table) && !facts.tables.iter().any(|t| t == table)
                        });
                    found.extend(
                        missing.map(|table| format!("{engine}: {text}\n  does not read {table}")),
                    );
                }
                Err(error) => found.push(format!("{engine}: {text}\n  has no facts: {error:?}")),
            }
        }
        found.extend(wrong(dialect, &read, true));
        found.extend(wrong(dialect, &refused, false));
        for line in refused {
            assert!(line["reading"] == "refused" && line["why"].is_string(), "{line}");
            let error = admit(sql(&line), &grant_all(dialect.clone()), &Bounds::default()).err();
            let message = error.map(|error| error.message).unwrap_or_default();
            if ["Word(", "Token", "{", "parser", "quote_style"]
                .iter()
                .any(|part| message.contains(part))
            {
                found.push(format!("{engine}: {}\n  {message}", sql(&line)));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The check of the verified optimizer does not know the forms that are carried through the
/// parser's tree.
#[test]
fn what_the_parser_lacks_is_not_taken_for_deterministic() {
    let catalog = catalog(Dialect::Postgres);
    let mut forms = lines(&own("forms.jsonl"), "postgres");
    forms.retain(|line: &Value| {
        let form = line["form"].as_str().unwrap();
        line["reading"] == "read"
            && ["EXCLUDE", "SEARCH", "CYCLE", "within"].iter().any(|word| form.contains(word))
    });
    assert!(forms.len() >= 12, "{}", forms.len());
    for line in forms {
        let error = deterministic::admit(sql(&line), &catalog, &Dialect::Postgres).unwrap_err();
        assert!(error.rule.is_some() && !error.message.contains('\0'), "{line}: {error:?}");
    }
    let collated = "SELECT id FROM customers WHERE name::text COLLATE \"C\" = 'x'";
    deterministic::admit(collated, &catalog, &Dialect::Postgres).unwrap();
}

/// A mark of a carried form cannot be written in a statement.
#[test]
fn marks_are_no_names() {
    for (engine, dialect) in &ENGINES {
        for text in [
            "SELECT \0pivot(id), count(*) FROM orders",
            "FROM orders SELECT \"\0pivot\"(id), count(*)",
            "SELECT sum(id) OVER (\"\0EXCLUDE TIES\" ORDER BY id ROWS UNBOUNDED PRECEDING) \
             FROM orders",
            "SELECT id FROM orders QUALIFY \0USING SAMPLE 10%",
            "SELECT \"\0comprehension\" x FOR x IN l] FROM orders",
            "SELECT U&\"\\0000pivot\"(id) FROM orders",
        ] {
            assert!(
                admit(text, &grant_all(dialect.clone()), &Bounds::default()).is_err(),
                "{engine}: {text}"
            );
            let _ = facts(text, &[], &catalog(dialect.clone()));
        }
    }
}

#[test]
fn statements_for_other_engines_are_refused() {
    fn other(name: &str) -> Dialect {
        Dialect::Other(name.to_owned())
    }
    for (engine, dialect) in [
        ("mysql", Dialect::Mysql),
        ("snowflake", other("snowflake")),
        ("bigquery", other("bigquery")),
        ("sqlite-adbc", Dialect::Sqlite),
        ("ansi", Dialect::Ansi),
        ("ansi", other("flight")),
    ] {
        let hostile = lines(&own("hostile.jsonl"), engine);
        assert!(!hostile.is_empty(), "{engine}");
        let wrong = wrong(&dialect, &hostile, false);
        assert!(wrong.is_empty(), "{engine}\n{}", wrong.join("\n"));
    }
}

/// The large set, where it is installed beside the repository.
#[test]
fn the_large_set_of_hostile_statements_is_refused() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let data = option_env!("SYRCH_TEST_DATA").map_or(beside, PathBuf::from);
    if !data.is_dir() {
        println!("skipped: no test data at {}; set SYRCH_TEST_DATA", data.display());
        return;
    }
    let mut count = 0;
    for (engine, dialect) in &ENGINES[..3] {
        let hostile = lines(&data.join("sql-guard/hostile_other_engines.jsonl"), engine);
        count += hostile.len();
        let wrong = wrong(dialect, &hostile, false);
        assert!(wrong.is_empty(), "{engine}\n{}", wrong.join("\n"));
    }
    assert_eq!(count, 97);
}

const PIECES: &[&str] = &[
    "'",
    "''",
    "\"",
    "`",
    "\\",
    "\\'",
    "$$",
    "${",
    "--",
    "/*",
    "*/",
    ";",
    "(",
    ")",
    "-",
    "!",
    "E'",
    "r'",
    "x'",
    "::",
    ":",
    "{",
    "}",
    "[",
    "]",
    "->",
    " AS ",
    " FROM ",
    " read_csv('x') ",
    "`/etc`",
    "'x.csv'",
    "reflect(",
    "\u{0}",
    "\u{feff}",
    "é",
    ",",
    ".",
    "#1",
    "?",
    " lambda x: ",
    " EXCLUDE ",
    " EXCLUDE TIES",
    "PIVOT ",
    "UNPIVOT ",
    " ON id USING sum(total) ",
    " GROUP BY ",
    " FOR x IN ",
    " ASOF JOIN ",
    " RIGHT SEMI JOIN ",
    " POSITIONAL JOIN ",
    " USING SAMPLE 10% ",
    " SEARCH DEPTH FIRST BY id SET o ",
    " GROUPING SETS ((id), ROLLUP (id)) ",
    "**",
    "U&\"a\"",
    " LATERAL VIEW explode(x) t ",
    " 1e5 ",
    " .5",
    "0x1F",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn a_changed_statement_never_crashes_the_guard_and_what_passes_stays_as_it_is(
        engine in 0..ENGINES.len(),
        is_benign in any::<bool>(),
        line in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..PIECES.len(), 0_usize..6), 0..5
        ),
    ) {
        let (name, dialect) = &ENGINES[engine];
        let source = if *name == "postgres" { "duckdb" } else { name };
        let is_form = changes.len() > 2;
        let source = if is_form { name } else { source };
        let admitted = if is_benign { "benign.jsonl" } else { "hostile.jsonl" };
        let corpus = if is_form { "forms.jsonl" } else { admitted };
        let lines = lines(&own(corpus), source);
        let mut text: Vec<char> = sql(&lines[line.index(lines.len())]).chars().collect();
        for (at, piece, removed) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        let granted = grant_all(dialect.clone());
        let _ = facts(&text, &[], &catalog(dialect.clone()));
        if let Ok(first) = admit(&text, &granted, &Bounds::default()) {
            prop_assert!(!first.sql.contains('\0'), "{}", text);
            let second = admit(&first.sql, &granted, &Bounds::default());
            prop_assert_eq!(second.map(|second| second.sql), Ok(first.sql), "{}", text);
        }
    }

    #[test]
    fn no_text_crashes_the_guard(text in any::<String>(), select in "SELECT \\PC{0,40}") {
        let other = |name: &str| Dialect::Other(name.to_owned());
        let others = [
            Dialect::Sqlite, Dialect::Mysql, Dialect::Ansi, other("snowflake"), other("bigquery"),
            other("x")
        ];
        for dialect in ENGINES.iter().map(|(_, dialect)| dialect).chain(&others) {
            let granted = grant_all(dialect.clone());
            for text in [&text, &select] {
                if let Ok(first) = admit(text, &granted, &Bounds::default()) {
                    let second = admit(&first.sql, &granted, &Bounds::default());
                    prop_assert_eq!(
                        second.map(|second| second.sql), Ok(first.sql), "{} {:?}", text, dialect
                    );
                }
            }
        }
    }
}
