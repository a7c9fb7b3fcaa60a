//! Tests of what counts as needed and as shown.

use proptest::prelude::*;
use serde_json::json;
use syrch_core::ports::Literal;
use syrch_core::{Column, Dialect, Hit, Table};

use super::*;

fn linking(hints: Vec<Hit>) -> Linking {
    let column = |name: &str| Column { name: name.into(), ..Column::default() };
    let table = Table {
        name: "Orders".into(),
        columns: vec![column("State"), column("total")],
        ..Table::default()
    };
    Linking {
        catalog: Arc::new(Catalog {
            database: "shop".into(),
            dialect: Dialect::Sqlite,
            tables: vec![table],
        }),
        hints,
        requests: Vec::new(),
    }
}

fn cell(text: &str, column: Option<&str>) -> Hit {
    Hit {
        corpus: Corpus::Cells,
        id: text.into(),
        path: "Orders.State".into(),
        table: Some("Orders".into()),
        column: column.map(str::to_owned),
        snippet: Some(text.into()),
        payload: None,
        score: 1.0,
    }
}

fn gold(texts: &[&str]) -> Facts {
    Facts {
        tables: vec!["Orders".into(), "gone".into()],
        columns: vec!["Orders.State".into(), "Orders.none".into()],
        literals: texts
            .iter()
            .map(|text: &&str| Literal {
                table: Some("Orders".into()),
                column: Some("State".into()),
                text: (*text).into(),
            })
            .collect(),
        ..Facts::default()
    }
}

#[test]
fn what_is_needed_is_compared_with_what_is_shown() {
    let linking = linking(Vec::new());
    let found = compare_linking(&gold(&[]), &linking, &linking.catalog);
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(found.tables, Compared { needed: set(&["orders"]), shown: set(&["orders"]) });
    assert_eq!(found.columns.needed, set(&["orders.state"]));
    assert_eq!(found.columns.shown, set(&["orders.state", "orders.total"]));
    assert_eq!(found.prompt, None);
}

#[test]
fn literals_are_shown_by_cells_and_facts_as_whole_words() {
    let hints = vec![
        cell("New York", Some("State")),
        cell("State is 'open', 'paid'", None),
        cell("Utah", Some("State")),
    ];
    let found = literals(&gold(&["New York", "paid", "aid", "12.5"]), &linking(hints));
    assert_eq!(found.missing_names(), ["aid"]);
    assert!(
        found.shown.contains("Utah") && !found.shown.iter().any(|text| text.contains("is 'open'")),
        "{found:?}"
    );
}

#[test]
fn a_prompt_is_the_text_of_its_messages() {
    let request =
        |body| Preview { method: "POST".into(), url: String::new(), headers: Vec::new(), body };
    let body = json!({
        "model": "abc", "messages": [
            {"role": "system", "content": "äb"}, {"role": "user", "content": "cd"}
        ]
    });
    assert_eq!(length(&request(body)), 4);
    let body = json!({
        "system": "abc", "messages": [{"role": "user", "content": [{"type": "text", "text": "de"}]}]
    });
    assert_eq!(length(&request(body)), 5);
}

#[test]
fn shares_are_of_all_questions_together() {
    let mut share = ShownShare::default();
    share.add(&Compared {
        needed: BTreeSet::from(["a".into(), "b".into()]),
        shown: BTreeSet::from(["a".into()]),
    });
    share.add(&Compared::default());
    share.finish();
    assert_eq!((share.recall, share.precision, share.whole), (Some(0.5), Some(1.0), 1));
}

proptest! {
    #[test]
    fn a_text_holds_what_stands_between_signs(
        before in "\\PC{0,8}", part in "[a-zß]{1,5}", after in "\\PC{0,8}"
    ) {
        let text = format!("{before} {part},{after}");
        prop_assert!(holds(&text, &part));
        let _ = holds(&before, &after);
    }
}
