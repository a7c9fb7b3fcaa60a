//! The index as the port's users see it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use syrch_core::ports::{Embedder, MAX_QUERY_TEXT, PortError};
use syrch_core::{Catalog, Column, Corpus, Dialect, Hit, RetrievalQuery, Retriever, Table};

use crate::{Example, Index, Note, Sources};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn table(name: &str, columns: &[(&str, &str)]) -> Table {
    Table {
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|(name, comment): &(&str, &str)| Column {
                name: (*name).to_owned(),
                comment: (!comment.is_empty()).then(|| (*comment).to_owned()),
                ..Column::default()
            })
            .collect(),
        ..Table::default()
    }
}

fn catalog() -> Catalog {
    let customers = table(
        "customers",
        &[("id", ""), ("full_name", ""), ("ctry_cd", "ISO code\ncountry of residence")],
    );
    let orders = table("sales_orders", &[("id", ""), ("customer_id", ""), ("amt_net", "")]);
    let brokers = table("sbBroker", &[("sbbrId", ""), ("sbbrName", ""), ("sbbrCity", "")]);
    Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: vec![customers, orders, brokers],
    }
}

fn sources() -> Sources {
    fn place(table: &str, column: &str) -> (String, String) {
        (table.to_owned(), column.to_owned())
    }
    let terms = [
        (place("Sales_Orders", "AMT_NET"), vec!["net revenue".to_owned(), "turnover".to_owned()]),
        (place("customers", ""), vec!["clientele".to_owned()]),
    ];
    let notes = vec![
        Note { id: "n1".into(), text: "The fiscal year begins in July.".into(), ..Note::default() },
        Note {
            id: "n2".into(),
            text: "Amounts are in cents.\nChurned: no order in 90 days.".into(),
            table: Some("sales_orders".into()),
            column: Some("amt_net".into()),
        },
    ];
    let examples = vec![
        Example {
            question: "How many customers are there?".into(),
            sql: "SELECT count(*) FROM customers".into(),
        },
        Example {
            question: "Which brokers live in Rome?".into(),
            sql: "SELECT sbbrName FROM sbBroker".into(),
        },
    ];
    Sources { terms: terms.into_iter().collect(), notes, examples }
}

fn index() -> Index {
    Index::new(&catalog(), &sources())
}

fn query(corpus: Corpus, retriever: Retriever, text: &str, limit: u32) -> RetrievalQuery {
    RetrievalQuery { corpus, retriever, text: text.to_owned(), limit }
}

fn find(corpus: Corpus, retriever: Retriever, text: &str) -> Vec<Hit> {
    let hits = block_on(index().find(&query(corpus, retriever, text, 10), None)).unwrap();
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score < 1.0), "{hits:?}");
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    hits
}

fn paths(corpus: Corpus, retriever: Retriever, text: &str) -> Vec<String> {
    find(corpus, retriever, text).into_iter().map(|hit| hit.path).collect()
}

#[test]
fn tables_are_found_by_their_name_columns_comments_and_terms() {
    for (text, first) in [
        ("How many customers?", "customers"),
        ("orders of today", "sales_orders"),
        ("country of residence", "customers"),
        ("the clientele", "customers"),
        ("turnovers", "sales_orders"),
        ("brokers by city", "sbBroker"),
    ] {
        assert_eq!(paths(Corpus::Tables, Retriever::Lexical, text)[0], first, "{text}");
    }
    assert!(paths(Corpus::Tables, Retriever::Lexical, "weather").is_empty());
}

// The index of syrch compared whole terms with single words, so that a term of two words was never
// found.
#[test]
fn a_term_of_several_words_is_found() {
    let hits =
        find(Corpus::Columns, Retriever::Lexical, "What is the net revenue of each country?");
    let found = hits.iter().find(|hit| hit.path == "sales_orders.amt_net").unwrap();
    assert_eq!(
        (found.table.as_deref(), found.column.as_deref()),
        (Some("sales_orders"), Some("amt_net"))
    );
    assert_eq!(
        paths(Corpus::Columns, Retriever::Lexical, "net revenue")[0],
        "sales_orders.amt_net"
    );
}

#[test]
fn short_names_and_prefixes_are_understood() {
    assert_eq!(paths(Corpus::Columns, Retriever::Lexical, "net amount")[0], "sales_orders.amt_net");
    assert_eq!(paths(Corpus::Columns, Retriever::Lexical, "country")[0], "customers.ctry_cd");
    assert_eq!(paths(Corpus::Columns, Retriever::Lexical, "city"), ["sbBroker.sbbrCity"]);
}

#[test]
fn misspelled_names_are_found_by_their_spelling() {
    assert!(paths(Corpus::Tables, Retriever::Lexical, "custmers").is_empty());
    assert_eq!(paths(Corpus::Tables, Retriever::PathFuzzy, "custmers")[0], "customers");
    assert_eq!(paths(Corpus::Columns, Retriever::PathFuzzy, "fullnmae")[0], "customers.full_name");
}

#[test]
fn the_line_that_fits_is_the_snippet() {
    let hits = find(Corpus::Columns, Retriever::SegmentFuzzy, "residense");
    assert_eq!(hits[0].snippet.as_deref(), Some("country of residence"));
    let hits = find(Corpus::Notes, Retriever::SegmentFuzzy, "churned");
    assert_eq!(
        (hits[0].id.as_str(), hits[0].snippet.as_deref()),
        ("n2", Some("Churned: no order in 90 days."))
    );
}

#[test]
fn notes_and_examples_are_found_by_their_words() {
    let notes = find(Corpus::Notes, Retriever::Lexical, "fiscal years");
    assert_eq!((notes.len(), notes[0].id.as_str(), notes[0].table.as_deref()), (1, "n1", None));
    let examples = find(Corpus::Examples, Retriever::Lexical, "brokers of Rome");
    assert_eq!(examples[0].path, "example 2");
    assert!(examples[0].payload.as_ref().unwrap().contains("SELECT sbbrName FROM sbBroker"));
}

// Sift's D4: without a reranker, the limit was ignored.
#[test]
fn limits_hold_and_ties_are_in_order() {
    let of = |limit| {
        block_on(index().find(&query(Corpus::Columns, Retriever::PathFuzzy, "id", limit), None))
            .unwrap()
    };
    fn ids(hits: &[Hit]) -> Vec<String> {
        hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>()
    }
    assert_eq!(ids(&of(2)), ["customers.id", "sales_orders.id"]);
    assert_eq!(of(2)[0].score, of(2)[1].score);
    assert_eq!(of(0), []);
    let tables = (0..200).map(|number| table(&format!("item_{number}"), &[("id", "")])).collect();
    let many = Catalog { tables, ..catalog() };
    let index = Index::new(&many, &Sources::default());
    for retriever in [Retriever::Lexical, Retriever::PathFuzzy] {
        assert_eq!(
            block_on(index.find(&query(Corpus::Tables, retriever, "item", 5000), None))
                .unwrap()
                .len(),
            100
        );
    }
}

#[test]
fn unknown_corpora_and_retrievers_are_errors() {
    let error = |corpus, retriever| {
        block_on(index().find(&query(corpus, retriever, "x", 1), None)).unwrap_err()
    };
    assert!(matches!(error(Corpus::Cells, Retriever::Lexical), PortError::Denied(_)));
    assert_eq!(error(Corpus::Other("web".into()), Retriever::Lexical), PortError::Unsupported);
    assert_eq!(error(Corpus::Tables, Retriever::Other("psychic".into())), PortError::Unsupported);
    assert_eq!(error(Corpus::Tables, Retriever::Vector), PortError::Unsupported);
    let empty = Index::new(&Catalog { tables: Vec::new(), ..catalog() }, &Sources::default());
    assert_eq!(
        block_on(empty.find(&query(Corpus::Notes, Retriever::Lexical, "x", 9), None)),
        Ok(Vec::new())
    );
}

/// Vectors by the words that a text has; counts its calls.
#[derive(Default)]
struct Model {
    calls: AtomicUsize,
    failing: Mutex<Option<PortError>>,
}

#[async_trait]
impl Embedder for Model {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(error) = self.failing.lock().unwrap().take() {
            return Err(error);
        }
        fn has(text: &str, words: &[&str]) -> f32 {
            if words.iter().any(|word| text.contains(word)) { 0.8_f32 } else { 0.0 }
        }
        Ok(texts
            .iter()
            .map(|text: &String| {
                vec![has(text, &["client", "customers"]), has(text, &["orders", "purchase"]), -0.1]
            })
            .collect())
    }
}

#[test]
fn vectors_are_computed_once_and_an_outage_is_not_kept() {
    let model = Model::default();
    *model.failing.lock().unwrap() = Some(PortError::Unavailable("later".into()));
    let index = Index::new(&catalog(), &Sources::default());
    let find = || {
        block_on(
            index
                .find(&query(Corpus::Tables, Retriever::Vector, "every purchase", 1), Some(&model)),
        )
    };
    assert_eq!(find(), Err(PortError::Unavailable("later".into())));
    let first = find().unwrap();
    assert_eq!(first[0].path, "sales_orders");
    assert!((first[0].score - 0.65).abs() < 1e-6, "{}", first[0].score);
    assert_eq!(find().unwrap(), first);
    // Once in vain, once for the tables, and once for each of two questions.
    assert_eq!(model.calls.load(Ordering::SeqCst), 4);
}

#[test]
fn an_index_does_not_depend_on_the_order_of_maps() {
    let queries: Vec<RetrievalQuery> =
        [Retriever::Lexical, Retriever::PathFuzzy, Retriever::SegmentFuzzy]
            .into_iter()
            .flat_map(|retriever| {
                [Corpus::Tables, Corpus::Columns, Corpus::Notes].map(|corpus| {
                query(
                    corpus,
                    retriever.clone(),
                    "Which customers of the country have orders with net amounts in cents by city?",
                    50,
                )
            })
            })
            .collect();
    let found = || {
        let index = index();
        queries.iter().map(|query| index.find_now(query)).collect::<Vec<_>>()
    };
    let first = found();
    assert!(first.iter().all(|found| found.as_ref().is_some_and(Result::is_ok)));
    for _ in 0..5 {
        assert_eq!(found(), first);
    }
    assert_eq!(BTreeMap::from_iter(sources().terms).len(), 2);
}

#[test]
fn a_text_is_searched_up_to_its_limit() {
    // The limit is within the two bytes of a letter.
    let long =
        format!("{}é custmers", "customers_".repeat(110))[..].replacen("customers", "customerz", 1);
    let cut = &long[..MAX_QUERY_TEXT];
    for retriever in [Retriever::Lexical, Retriever::PathFuzzy, Retriever::SegmentFuzzy] {
        for corpus in [Corpus::Tables, Corpus::Columns, Corpus::Notes] {
            assert_eq!(
                index().find_now(&query(corpus.clone(), retriever.clone(), &long, 9)),
                index().find_now(&query(corpus, retriever.clone(), cut, 9)),
            );
        }
    }
    let far = format!("{}é customers", "x".repeat(MAX_QUERY_TEXT - 1));
    assert!(paths(Corpus::Tables, Retriever::Lexical, &far).is_empty());
    let near = format!("{} customers", "x".repeat(MAX_QUERY_TEXT - 10));
    assert_eq!(paths(Corpus::Tables, Retriever::Lexical, &near)[0], "customers");
}

#[test]
fn hits_are_bounded_in_every_retriever() {
    let sources = Sources {
        notes: (0..30)
            .map(|number| Note {
                id: format!("n{number:02}"),
                text: "churned customers of the year. ".repeat(100),
                ..Note::default()
            })
            .collect(),
        examples: (0..30)
            .map(|number| Example {
                question: format!("Which customers churned in {number}?"),
                sql: format!("SELECT {number}").repeat(1 << 12),
            })
            .collect(),
        ..Sources::default()
    };
    let mut catalog = catalog();
    catalog.tables[0].comment = Some("churned customers é".repeat(500));
    let index = Index::new(&catalog, &sources);
    let model = Model::default();
    for retriever in
        [Retriever::Lexical, Retriever::PathFuzzy, Retriever::SegmentFuzzy, Retriever::Vector]
    {
        for corpus in [Corpus::Tables, Corpus::Notes, Corpus::Examples] {
            let text = match (&corpus, &retriever) {
                (Corpus::Notes, Retriever::PathFuzzy) => "n01",
                (Corpus::Examples, Retriever::PathFuzzy) => "example",
                _ => "churned customers",
            };
            let hits = block_on(
                index.find(&query(corpus.clone(), retriever.clone(), text, 100), Some(&model)),
            )
            .unwrap();
            assert!(!hits.is_empty(), "{corpus:?} {retriever:?}");
            let most = if retriever == Retriever::SegmentFuzzy { 220 } else { 1024 };
            assert!(
                hits.iter()
                    .all(|hit| hit.snippet.as_ref().is_none_or(|snippet| snippet.len() <= most))
            );
            let bytes: usize = hits
                .iter()
                .map(|hit| hit.id.len() + hit.payload.as_ref().map_or(0, String::len))
                .sum();
            assert!(bytes <= crate::corpus::BYTES);
            assert!(corpus != Corpus::Examples || hits.len() < 10, "{}", hits.len());
        }
    }
}

#[test]
fn an_index_is_shared_between_threads() {
    fn require_send_sync<T: Send + Sync>(_: &T) {}
    let index = index();
    require_send_sync(&index);
    assert_eq!(index.find_now(&query(Corpus::Tables, Retriever::Vector, "x", 1)), None);
    assert_eq!(
        index.find_now(&query(Corpus::Cells, Retriever::Vector, "x", 1)).unwrap().unwrap_err(),
        PortError::Denied("cells are found through the port `cells`".to_owned())
    );
}

// Each search has its own model, with its own budget; what one paid for serves all.
#[test]
fn vectors_of_documents_serve_later_searches() {
    let index = Index::new(&catalog(), &Sources::default());
    let first = Model::default();
    let second = Model::default();
    let find = |model| {
        block_on(
            index.find(&query(Corpus::Tables, Retriever::Vector, "every purchase", 1), Some(model)),
        )
    };
    assert_eq!(find(&first), find(&second));
    assert_eq!((first.calls.load(Ordering::SeqCst), second.calls.load(Ordering::SeqCst)), (2, 1));
}
