//! The linker with fakes: what it looks for, what it makes of it, and what each setting does.

use serde_json::json;
use syrch_plugin::fakes::{FakeHost, Traced, reply};
use syrch_plugin::prelude::*;
use syrch_plugin::prompt;

use crate::{Narrow, Settings};

const QUESTION: &str = "Which customers in Texas have orders?";

fn table(name: &str, columns: &[&str], keys: &[(&str, &str)]) -> Table {
    let column =
        |name: &&str| Column { name: (*name).into(), sql_type: "TEXT".into(), ..Column::default() };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: vec!["id".into()],
        foreign_keys: keys
            .iter()
            .map(|(column, to): &(&str, &str)| ForeignKey {
                columns: vec![(*column).into()],
                ref_table: (*to).into(),
                ref_columns: vec!["id".into()],
            })
            .collect(),
        ..Table::default()
    }
}

/// Customers and orders with a table between them, and 80 tables that have nothing to do with it.
fn catalog() -> Catalog {
    let mut tables: Vec<Table> = (0..80)
        .map(|n| table(&format!("other_{n:02}"), &["id", "name", "note", "size", "colour"], &[]))
        .collect();
    tables.push(table("customers", &["id", "name", "city", "state", "phone", "since"], &[]));
    tables.push(table(
        "baskets",
        &["id", "customer", "order"],
        &[("customer", "customers"), ("order", "orders")],
    ));
    tables.push(table("orders", &["id", "total", "placed", "comment"], &[]));
    Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
}

fn hit(corpus: Corpus, path: &str, score: f64) -> Hit {
    let (table, column) = match path.split_once('.') {
        Some((table, column)) => (table, Some(column.to_owned())),
        None => (path, None),
    };
    let snippet = None;
    Hit {
        corpus,
        id: path.into(),
        path: path.into(),
        table: Some(table.into()),
        column,
        snippet,
        payload: None,
        score,
    }
}

/// A host whose words find customers before orders and, far behind, all others.
fn host() -> FakeHost {
    let mut host = FakeHost::default();
    let others =
        (0..80).map(|n| hit(Corpus::Tables, &format!("other_{n:02}"), 0.1 - f64::from(n) / 1000.0));
    let tables = [hit(Corpus::Tables, "customers", 0.9), hit(Corpus::Tables, "orders", 0.8)];
    host.retrieval.script(
        &Corpus::Tables,
        &Retriever::Lexical,
        tables.into_iter().chain(others).collect(),
    );
    let columns = vec![
        hit(Corpus::Columns, "customers.state", 0.7),
        hit(Corpus::Columns, "orders.comment", 0.3),
    ];
    host.retrieval.script(&Corpus::Columns, &Retriever::Lexical, columns);
    host
}

/// Without examples that are made of the tables, which have a test of their own, unless the
/// settings name them.
fn link_of(
    host: &FakeHost,
    mut settings: serde_json::Value,
    problem: &Problem,
    catalog: &Catalog,
) -> Result<Linked, Failure> {
    if settings.get("made_examples").is_none() {
        settings["made_examples"] = json!(false);
    }
    Narrow::new(Settings::read(&settings.to_string()).unwrap()).link(host, problem, catalog)
}

fn link(host: &FakeHost, settings: serde_json::Value) -> Linked {
    link_of(host, settings, &Problem::new(QUESTION), &catalog()).unwrap()
}

fn names(linked: &Linked) -> Vec<&str> {
    linked.tables.iter().map(|table| table.table.as_str()).collect()
}

fn find_table<'l>(linked: &'l Linked, name: &str) -> &'l Relevant {
    linked.tables.iter().find(|table| table.table == name).unwrap()
}

/// The catalog as the other roles get it, as prompts show it.
fn prompt_text(linked: &Linked) -> String {
    let catalog = catalog();
    prompt::catalog(
        &Catalog {
            tables: linked
                .tables
                .iter()
                .map(|relevant: &Relevant| {
                    let mut table = catalog
                        .tables
                        .iter()
                        .find(|table| table.name == relevant.table)
                        .unwrap()
                        .clone();
                    table.columns.retain(|column| {
                        relevant.columns.is_empty() || relevant.columns.contains(&column.name)
                    });
                    table
                })
                .collect(),
            ..catalog.clone()
        },
        usize::MAX,
    )
}

#[test]
fn the_best_tables_are_selected_with_those_between_them() {
    let host = host();
    let linked = link(&host, json!({}));
    assert_eq!(names(&linked)[..5], ["customers", "orders", "other_00", "other_01", "baskets"]);
    assert_eq!(find_table(&linked, "baskets").reason, "found by joins");
    assert!(linked.tables.len() < catalog().tables.len());
    assert!(prompt_text(&linked).len() <= 4_200);
    // The best tables are shown whole.
    assert_eq!(find_table(&linked, "customers").columns, Vec::<String>::new());
    assert!(linked.tables.iter().all(|table| (0.0..=1.0).contains(&table.score)));
    assert_eq!(find_table(&linked, "customers").reason, "found by words");
    assert_eq!(host.model.requests().len(), 0);
    let lines = host.trace.lines();
    assert!(lines.iter().any(|line| matches!(
        line, Traced::Event(_, name, data) if name == "narrowed" && data["of"] == 83
    )));
}

#[test]
fn the_retrievers_are_asked_in_order_with_the_question_and_its_names() {
    let host = host();
    link(&host, json!({}));
    let asked: Vec<(Corpus, Retriever, String)> = host
        .retrieval
        .queries()
        .into_iter()
        .map(|query| (query.corpus, query.retriever, query.text))
        .collect();
    let names = ["customers", "texas", "orders", "customers texas", "texas orders"];
    let mut expected = Vec::new();
    for (retriever, texts) in [
        (Retriever::Lexical, &[QUESTION][..]),
        (Retriever::PathFuzzy, &names[..]),
        (Retriever::SegmentFuzzy, &names[..]),
        (Retriever::Vector, &[QUESTION][..]),
    ] {
        for corpus in [Corpus::Tables, Corpus::Columns] {
            expected.extend(
                texts.iter().map(|text| (corpus.clone(), retriever.clone(), (*text).to_owned())),
            );
        }
    }
    for (corpus, retriever) in [
        (Corpus::Notes, Retriever::Lexical),
        (Corpus::Notes, Retriever::SegmentFuzzy),
        (Corpus::Examples, Retriever::Lexical),
    ] {
        expected.push((corpus, retriever, QUESTION.to_owned()));
    }
    assert_eq!(asked, expected);
}

#[test]
fn a_catalog_that_fits_stays_whole_and_still_gets_hints() {
    let small = Catalog { tables: catalog().tables.split_off(80), ..catalog() };
    let mut host = host();
    host.database.hits.insert(
        "Texas".into(),
        vec![Hit { snippet: Some("texas".into()), ..hit(Corpus::Cells, "customers.state", 1.0) }],
    );
    let linked =
        link_of(&host, json!({ "keywords": "always" }), &Problem::new(QUESTION), &small).unwrap();
    assert_eq!(linked.tables, []);
    assert_eq!(
        linked.hints.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(),
        ["customers.state"]
    );
    assert!(
        host.retrieval
            .queries()
            .iter()
            .all(|query| matches!(query.corpus, Corpus::Notes | Corpus::Examples))
    );
    assert!(host.model.requests().is_empty());
    let quiet = FakeHost::default();
    let none = link_of(
        &quiet,
        json!({ "hints": 0, "examples": 0, "facts": false }),
        &Problem::new(QUESTION),
        &small,
    )
    .unwrap();
    assert!(
        none.tables.is_empty() && none.hints.is_empty() && quiet.retrieval.queries().is_empty()
    );
}

#[test]
fn without_any_hit_the_catalog_stays_whole_and_says_so() {
    let host = FakeHost::default();
    assert_eq!(link(&host, json!({})).tables, []);
    assert!(host.trace.notes()[0].contains("it stays whole"));
}

#[test]
fn bytes_and_breadth_bound_what_is_shown() {
    fn tables(bytes: u32, breadth: f64) -> syrch_plugin::roles::Linked {
        let linked =
            link(&host(), json!({ "catalog_bytes": bytes, "breadth": breadth, "least": 0.0 }));
        assert!(prompt_text(&linked).len() <= bytes as usize);
        linked
    }
    assert!(tables(600, 0.6).tables.len() < tables(2000, 0.6).tables.len());
    let narrow = tables(600, 0.2);
    let broad = tables(600, 1.0);
    assert!(narrow.tables.len() < broad.tables.len());
    assert_eq!(find_table(&narrow, "customers").columns, Vec::<String>::new());
    // Its key and what was found of it come first.
    let few = &find_table(&broad, "customers").columns;
    assert!(
        few.len() < 6 && few.contains(&"id".to_owned()) && few.contains(&"state".to_owned()),
        "{few:?}"
    );
}

#[test]
fn what_is_far_behind_is_left_out_though_it_would_fit() {
    fn count(least: f64) -> usize {
        link(&host(), json!({ "catalog_bytes": 5000, "least": least })).tables.len()
    }
    assert!(count(0.0) > count(0.3));
    assert_eq!(count(0.9), 3, "the two best and what joins them");
}

/// A weight that is 0 neither asks nor counts; a high one brings its table to the front.
#[test]
fn every_retriever_has_its_weight() {
    for (setting, retriever) in [
        ("lexical", Retriever::Lexical),
        ("path_fuzzy", Retriever::PathFuzzy),
        ("segment_fuzzy", Retriever::SegmentFuzzy),
        ("vector", Retriever::Vector),
    ] {
        let mut host = host();
        host.retrieval.vectors = Some(std::collections::BTreeMap::new());
        host.retrieval.script(
            &Corpus::Tables,
            &retriever,
            vec![hit(Corpus::Tables, "other_33", 0.9)],
        );
        let first = link(&host, json!({ setting: 10.0 }));
        assert_eq!(names(&first)[0], "other_33", "{setting}");
        let asked = host.retrieval.queries().len();
        let without = link(&host, json!({ setting: 0.0 }));
        assert_ne!(names(&without).first(), Some(&"other_33"), "{setting}");
        let again = &host.retrieval.queries()[asked..];
        assert!(
            again
                .iter()
                .filter(|query: &&RetrievalQuery| matches!(
                    query.corpus,
                    Corpus::Tables | Corpus::Columns
                ))
                .all(|query| query.retriever != retriever),
            "{setting}"
        );
    }
}

#[test]
fn cells_lead_to_their_tables_as_far_as_they_are_granted() {
    let cell = Hit { snippet: Some("Texas".into()), ..hit(Corpus::Cells, "other_21.name", 1.0) };
    let mut host = host();
    host.database.hits.insert("Texas".into(), vec![cell.clone()]);
    let first = |host: &FakeHost, weight: f64| {
        let linked = link(host, json!({ "values": weight, "neighbours": 0.0 }));
        (names(&linked)[0].to_owned(), linked.hints)
    };
    assert_eq!(first(&host, 10.0), ("other_21".to_owned(), vec![cell]));
    assert_eq!(first(&host, 0.0).0, "customers");
    host.database.granted_rows = None;
    assert_eq!(first(&host, 10.0), ("customers".to_owned(), vec![]));
    assert!(host.trace.notes().iter().all(|note| note.starts_with("kept")));
}

#[test]
fn the_column_of_a_cell_is_selected() {
    let mut host = host();
    host.database.hits.insert("Texas".into(), vec![hit(Corpus::Cells, "customers.since", 1.0)]);
    let columns = |weight: f64| {
        let linked = link(
            &host,
            json!({ "values": weight, "catalog_bytes": 500, "breadth": 1.0, "least": 0.0 }),
        );
        find_table(&linked, "customers").columns.clone()
    };
    fn has(columns: &[String]) -> bool {
        columns.iter().any(|column| column == "since")
    }
    assert!(has(&columns(1.0)) && !has(&columns(0.0)), "{:?} {:?}", columns(1.0), columns(0.0));
}

#[test]
fn a_cell_that_is_everywhere_says_little() {
    let mut host = host();
    let everywhere = (0..80).map(|n| hit(Corpus::Cells, &format!("other_{n:02}.name"), 1.0));
    host.database.hits.insert("orders".into(), everywhere.collect());
    host.database.hits.insert("Texas".into(), vec![hit(Corpus::Cells, "other_39.name", 1.0)]);
    let linked = link(&host, json!({ "values": 10.0 }));
    assert_eq!(names(&linked)[0], "other_39");
    // Eighty places are too many for hints.
    assert_eq!(linked.hints.len(), 1);
}

#[test]
fn notes_and_examples_lead_to_their_tables_and_are_reported() {
    let mut host = host();
    let note = Hit {
        snippet: Some("Texan shops are in other_07".into()),
        ..hit(Corpus::Notes, "other_07.note", 0.6)
    };
    let elsewhere = hit(Corpus::Notes, "another_database", 0.9);
    host.retrieval.script(&Corpus::Notes, &Retriever::Lexical, vec![note.clone(), elsewhere]);
    let example = Hit {
        table: None,
        snippet: Some("Who ordered?".into()),
        payload: Some(
            json!({ "question": "Who ordered?", "sql": "SELECT * FROM \"other_08\" o" })
                .to_string(),
        ),
        ..hit(Corpus::Examples, "example 1", 0.5)
    };
    host.retrieval.script(&Corpus::Examples, &Retriever::Lexical, vec![example]);
    let linked = link(&host, json!({ "notes": 10.0 }));
    assert_eq!(names(&linked)[..2], ["other_07", "other_08"]);
    assert_eq!(linked.hints[0], note);
    assert_eq!(
        linked.hints[1].snippet.as_deref(),
        Some("Who ordered? => SELECT * FROM \"other_08\" o")
    );
    assert_eq!(linked.hints.len(), 2);
    assert_eq!(names(&link(&host, json!({ "notes": 0.0 })))[0], "customers");
    assert_eq!(link(&host, json!({ "hints": 1, "examples": 0 })).hints, [note]);
    let examples = link(&host, json!({ "hints": 0 })).hints;
    assert_eq!(examples.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>(), ["example 1"]);
}

#[test]
fn hints_speak_of_what_is_shown() {
    let mut host = host();
    host.database.hits.insert("Texas".into(), vec![hit(Corpus::Cells, "other_39.name", 1.0)]);
    let linked = link(&host, json!({ "values": 0.0, "catalog_bytes": 500 }));
    assert!(!names(&linked).contains(&"other_39") && linked.hints.is_empty());
}

#[test]
fn joins_bring_neighbours() {
    let bare = json!({ "closure": 0, "neighbours": 0.0, "least": 0.0, "catalog_bytes": 1000 });
    assert!(!names(&link(&host(), bare)).contains(&"baskets"));
    let closed = json!({ "closure": 2, "neighbours": 0.0, "least": 0.0, "catalog_bytes": 1000 });
    assert_eq!(names(&link(&host(), closed))[..3], ["customers", "orders", "baskets"]);
    let spread = json!({ "closure": 0, "neighbours": 0.9, "least": 0.0, "catalog_bytes": 1000 });
    let linked = link(&host(), spread);
    assert_eq!(find_table(&linked, "baskets").reason, "found by a neighbour");
}

#[test]
fn smoothing_weighs_many_retrievers_against_the_first_of_one() {
    let mut host = host();
    // Orders are second by words, twice; `other_00` is third by words and fourth by two more
    // retrievers.
    for retriever in [Retriever::PathFuzzy, Retriever::SegmentFuzzy] {
        let spelled =
            ["other_77", "other_78", "other_79", "other_00"].iter().zip([0.9, 0.8, 0.7, 0.6]);
        host.retrieval.script(
            &Corpus::Tables,
            &retriever,
            spelled.map(|(name, score)| hit(Corpus::Tables, name, score)).collect(),
        );
    }
    fn is_before(host: &FakeHost, smoothing: f64) -> bool {
        let linked = link(host, json!({ "smoothing": smoothing, "neighbours": 0.0 }));
        let at = |name: &str| names(&linked).iter().position(|table| *table == name).unwrap();
        at("orders") < at("other_00")
    }
    assert!(is_before(&host, 0.0) && !is_before(&host, 200.0));
}

#[test]
fn keywords_are_asked_for_when_the_user_wants_them() {
    let mut host = host();
    let keywords = json!({ "keywords": ["client", "Lone Star State"] });
    host.model.script(&Purpose::Link, Ok(reply("", Some(&keywords))));
    host.database
        .hits
        .insert("Lone Star State".into(), vec![hit(Corpus::Cells, "other_39.name", 1.0)]);
    let linked = link(&host, json!({ "keywords": "always", "values": 10.0 }));
    assert_eq!(names(&linked)[0], "other_39");
    let request = &host.model.requests()[0];
    assert_eq!((request.purpose.clone(), request.temperature), (Purpose::Link, Some(0.2)));
    assert!(host.model.prompt(0).contains(QUESTION) && host.model.prompt(0).contains("keywords"));
    let texts: Vec<String> = host.retrieval.queries().into_iter().map(|query| query.text).collect();
    assert!(texts.contains(&"client".to_owned()) && texts[0].ends_with("client\nLone Star State"));
}

#[test]
fn a_model_without_keywords_changes_nothing() {
    for error in [
        LlmError::Unsupported("link".into()),
        LlmError::Refused("no".into()),
        LlmError::Malformed("words".into()),
        LlmError::Budget,
        LlmError::Unavailable("gone".into()),
    ] {
        let mut host = host();
        host.model.script(&Purpose::Link, Err(error));
        let linked = link(&host, json!({ "keywords": "always" }));
        assert_eq!(linked, link(&self::host(), json!({})));
        assert!(host.trace.notes()[0].starts_with("no keywords from the model"));
    }
    let mut host = host();
    host.model.script(&Purpose::Link, Err(LlmError::Cancelled));
    let ended =
        link_of(&host, json!({ "keywords": "always" }), &Problem::new(QUESTION), &catalog())
            .unwrap_err();
    assert_eq!(ended.kind, FailureKind::Cancelled);
}

#[test]
fn the_same_question_is_narrowed_the_same_way() {
    let first = link(&host(), json!({}));
    for _ in 0..3 {
        assert_eq!(link(&host(), json!({})), first);
    }
}

#[test]
fn facts_about_columns_stand_in_one_hint_for_each_table() {
    let text = |text: &str| Value::Text(text.into());
    fn sample(
        column: &str,
        ends: [Value; 2],
        count: u64,
        frequent: Vec<Value>,
    ) -> syrch_plugin::ports::Sample {
        let [least, greatest] = ends;
        let frequent = frequent.into_iter().map(|value| (value, count)).collect();
        Sample { column: column.into(), least, greatest, frequent }
    }
    let many = |value: fn(i64) -> Value| (0..9).map(value).collect::<Vec<_>>();
    let two =
        || sample("state", [text("Ohio"), text("Texas")], 20, vec![text("Texas"), text("Ohio")]);
    let samples = vec![
        sample("name", [text("Ada"), text("Zoe")], 1, many(|n| Value::Text(format!("name {n}")))),
        two(),
        sample(
            "since",
            [text("2020-01-02"), text("2024-11-30")],
            1,
            many(|n| Value::Text(format!("2020-01-0{n}"))),
        ),
        sample("phone", [Value::Integer(3), Value::Integer(900)], 1, many(Value::Integer)),
    ];
    let mut host = host();
    host.database.samples.insert("customers".into(), samples);
    let of_rows = |rows: u64| {
        let mut all = catalog();
        all.tables[80].row_estimate = Some(rows);
        all
    };
    let small = Catalog { tables: of_rows(40).tables.split_off(80), ..catalog() };
    let facts = |host: &FakeHost, settings: serde_json::Value, catalog: &Catalog| {
        let linked = link_of(host, settings, &Problem::new(QUESTION), catalog).unwrap();
        let facts = linked.hints.into_iter().filter(|hit| hit.path == "values of customers");
        facts.filter_map(|hit| hit.snippet).collect::<Vec<_>>()
    };
    let expected =
        "state is 'Texas', 'Ohio'; since from '2020-01-02' to '2024-11-30'; phone from 3 to 900";
    assert_eq!(facts(&host, json!({}), &small), [expected]);
    assert_eq!(facts(&host, json!({}), &of_rows(40)), [expected], "of a narrowed catalog as well");
    // Of a hundred rows the two values are some of the frequent ones, of a thousand they are none.
    let some = Catalog { tables: of_rows(100).tables.split_off(80), ..catalog() };
    assert!(
        facts(&host, json!({}), &some)[0].starts_with("state is often 'Texas', 'Ohio'; since from")
    );
    let thousand = Catalog { tables: of_rows(1000).tables.split_off(80), ..catalog() };
    assert!(facts(&host, json!({}), &thousand)[0].starts_with("since from"));
    assert!(facts(&host, json!({ "facts": false }), &small).is_empty());
    // Where no column shows more values than these, the grant may have left out others, unless each
    // row has one of these.
    let mut granted = self::host();
    granted.database.samples.insert("customers".into(), vec![two()]);
    assert_eq!(facts(&granted, json!({}), &small), ["state is 'Texas', 'Ohio'"]);
    let more = Catalog { tables: of_rows(42).tables.split_off(80), ..catalog() };
    assert_eq!(facts(&granted, json!({}), &more), ["state is often 'Texas', 'Ohio'"]);
    // A job for each sample is too slow.
    assert!(
        facts(&host, json!({}), &Catalog { dialect: Dialect::Databricks, ..small.clone() })
            .is_empty()
    );
    // Of large tables only as many columns as take no time, here none is left after two.
    let mut large = small.clone();
    large.tables[0].row_estimate = Some(10_000_000);
    assert!(facts(&host, json!({}), &large).is_empty());
    host.database.granted_rows = None;
    assert!(facts(&host, json!({}), &small).is_empty());
}

/// The examples that are made of a catalog, the one that is read first last.
fn make_examples(
    host: &FakeHost,
    settings: serde_json::Value,
    catalog: &Catalog,
) -> Vec<(String, String)> {
    let linked = link_of(host, settings, &Problem::new(QUESTION), catalog).unwrap();
    let examples = linked.hints.iter().filter_map(prompt::Example::from_hit);
    examples.map(|example| (example.question, example.sql)).collect()
}

/// A metric as the files define it.
fn term(table: &str, definition: &str) -> Term {
    Term {
        kind: TermKind::Metric,
        name: "m".into(),
        synonyms: Vec::new(),
        definition: definition.into(),
        description: None,
        tables: vec![table.into()],
        labels: Vec::new(),
        mentioned: false,
    }
}

#[test]
fn no_example_is_made_of_a_table_of_which_some_rows_may_not_count() {
    let all = Catalog { tables: catalog().tables.split_off(80), ..catalog() };
    for (definition, made) in [
        ("count(customers.id)", true),
        ("count(customers.id) where deleted = 0", false),
        ("a / b", false),
    ] {
        let problem =
            Problem { terms: vec![term("customers", definition)], ..Problem::new(QUESTION) };
        let settings = json!({ "made_examples": true });
        let linked = link_of(&FakeHost::default(), settings, &problem, &all).unwrap();
        let examples = linked.hints.iter().filter_map(prompt::Example::from_hit);
        let statements: Vec<String> = examples.map(|example| example.sql).collect();
        assert_eq!(!statements.is_empty(), made, "{definition}: {statements:?}");
        assert!(statements.iter().all(|sql| sql.contains("customers")), "{statements:?}");
    }
}

#[test]
fn examples_are_made_where_none_is_found() {
    let mut all = Catalog { tables: catalog().tables.split_off(80), ..catalog() };
    all.tables[0].row_estimate = Some(40);
    let name = all.tables[0].columns[1].clone();
    all.tables[2].columns.push(name);
    all.tables[2].columns[1].sql_type = "REAL".into();
    let mut host = FakeHost::default();
    let text = |text: &str| Value::Text(text.into());
    let state = Sample {
        column: "state".into(),
        least: text("Ohio"),
        greatest: text("Texas"),
        frequent: vec![(text("Côte d'Or"), 30), (text("Ohio"), 10)],
    };
    host.database.samples.insert("customers".into(), vec![state]);
    fn on() -> serde_json::Value {
        json!({ "made_examples": true })
    }
    fn pair(question: &str, sql: &str) -> (String, String) {
        (question.to_owned(), sql.to_owned())
    }
    let expected = [
        pair(
            "What is the name of the customers whose state is Côte d'Or?",
            "SELECT name FROM customers WHERE state = 'Côte d''Or'",
        ),
        pair(
            "How many customers are there for each state?",
            "SELECT state, COUNT(*) FROM customers GROUP BY state",
        ),
        pair(
            "Which orders has the highest total?",
            "SELECT name FROM orders ORDER BY total DESC LIMIT 1",
        ),
        pair("How many baskets are there?", "SELECT COUNT(*) FROM baskets"),
    ];
    assert_eq!(make_examples(&host, on(), &all), expected);
    assert_eq!(
        make_examples(&host, json!({ "made_examples": true, "examples": 1 }), &all),
        expected[..1]
    );
    assert!(make_examples(&host, json!({ "made_examples": false }), &all).is_empty());
    // Without cells there are those that need none.
    host.database.granted_rows = None;
    assert_eq!(
        make_examples(&host, on(), &all),
        [
            pair("Which orders has the highest total?", &expected[2].1),
            pair("How many customers are there?", "SELECT COUNT(*) FROM customers")
        ]
    );
    // A solved example of the user's is worth more.
    let payload = json!({ "question": "Who?", "sql": "SELECT 1" }).to_string();
    let solved = Hit { payload: Some(payload), ..hit(Corpus::Examples, "example 1", 1.0) };
    host.retrieval.script(&Corpus::Examples, &Retriever::Lexical, vec![solved]);
    assert_eq!(make_examples(&host, on(), &all), [pair("Who?", "SELECT 1")]);
}
