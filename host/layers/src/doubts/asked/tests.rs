//! Questions with the outlines and results that do and do not answer them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use syrch_core::ports::{ColumnName, OrderKey};
use syrch_core::{Dialect, ForeignKey};

use super::*;

fn table(name: &str, columns: &[(&str, &str)], keys: &[(&str, &str, &str)]) -> Table {
    let column = |(name, sql_type): &(&str, &str)| Column {
        name: (*name).into(),
        sql_type: (*sql_type).into(),
        ..Column::default()
    };
    let key = |(column, table, to): &(&str, &str, &str)| ForeignKey {
        columns: vec![(*column).into()],
        ref_table: (*table).into(),
        ref_columns: vec![(*to).into()],
    };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: vec![columns[0].0.into()],
        foreign_keys: keys.iter().map(key).collect(),
        ..Table::default()
    }
}

fn geography() -> Catalog {
    let state =
        [("StateId", "INTEGER"), ("name", "TEXT"), ("population", "INTEGER"), ("area", "REAL")];
    let city = [
        ("city_id", "INTEGER"),
        ("city_name", "TEXT"),
        ("state_id", "INTEGER"),
        ("population", "INTEGER"),
    ];
    let tables = vec![
        table("state", &state, &[]),
        table("city", &city, &[("state_id", "state", "StateId")]),
        table(
            "visit",
            &[("visit_id", "INTEGER"), ("day", "DATE"), ("city_id", "INTEGER")],
            &[("city_id", "city", "city_id")],
        ),
    ];
    Catalog { database: "geography".into(), dialect: Dialect::Sqlite, tables }
}

fn column(path: &str) -> Selected {
    let (table, column) = path.split_once('.').unwrap();
    Selected::Column(ColumnName { table: table.into(), column: column.into() })
}

fn aggregate(function: &str, path: &str) -> Selected {
    Selected::Aggregate { function: function.into(), of: column(path).column().cloned() }
}

fn count() -> Selected {
    Selected::Aggregate { function: "count".into(), of: None }
}

fn columns(columns: &[Selected]) -> Outline {
    Outline { columns: columns.to_vec(), relations: 1, ..Outline::default() }
}

fn first(columns: &[Selected], by: &Selected, is_descending: bool) -> Outline {
    let order = OrderKey { by: by.clone(), is_descending, nulls_first: None, filter: None };
    Outline {
        columns: columns.to_vec(),
        relations: 1,
        order: Some(order),
        limit: Some(1),
        ..Outline::default()
    }
}

fn rows(values: &[i64]) -> ResultSet {
    results(Arc::new(Int64Array::from(values.to_vec())))
}

fn results(column: ArrayRef) -> ResultSet {
    let schema = Arc::new(Schema::new(vec![Field::new("n", column.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
}

fn doubts(question: &str, outline: &Outline, values: &[i64]) -> Vec<Doubt> {
    let question = Question::new(question);
    let catalog = geography();
    let results = rows(values);
    Asked { question: &question, outline, catalog: &catalog, results: &results }.doubts()
}

#[track_caller]
fn assert_doubt(question: &str, outline: &Outline, kind: DoubtKind) {
    let kinds: Vec<DoubtKind> =
        doubts(question, outline, &[1]).into_iter().map(|doubt| doubt.kind).collect();
    assert_eq!(kinds, [kind], "{question}");
}

#[track_caller]
fn assert_none(question: &str, outline: &Outline) {
    assert_eq!(doubts(question, outline, &[1]), [], "{question}");
}

#[test]
fn a_measure_is_no_thing() {
    let population = aggregate("max", "state.population");
    let most = columns(std::slice::from_ref(&population));
    for question in [
        "What is the most populous state?",
        "Which state has the largest population?",
        "In which state is the population the highest?",
        "Name the largest state.",
        "What is the name of the largest state?",
        "Who has the largest population?",
    ] {
        assert_doubt(question, &most, DoubtKind::Measure);
    }
    assert_eq!(
        doubts("What is the most populous state?", &most, &[1])[0].text,
        "the question asks for a state, and the result is only its population"
    );
    let shown = column("state.population");
    assert_doubt(
        "Which state has the most people?",
        &first(std::slice::from_ref(&shown), &shown, true),
        DoubtKind::Measure,
    );
    for question in [
        "What is the largest population?",
        "What is the population of the largest state?",
        "How large is the most populous state?",
        "What is the size of the largest state?",
        "What is the maximum population of a state?",
        "Which population is the largest?",
        "What number of people has the largest state?",
        "Welches ist der bevölkerungsreichste Bundesstaat?",
    ] {
        assert_none(question, &most);
    }
    // Each group has its own, and a state is a state.
    assert_none(
        "Which state has the largest population?",
        &Outline { groups: vec![column("state.name")], ..most },
    );
    assert_none(
        "What is the most populous state?",
        &first(&[column("state.name")], &column("state.population"), true),
    );
}

#[test]
fn the_last_text_of_an_alphabet_is_no_superlative() {
    let outline = columns(&[aggregate("max", "city.city_name")]);
    let kinds = |question: &str, cell: &str| {
        let question = Question::new(question);
        let catalog = geography();
        let results = results(Arc::new(StringArray::from(vec![cell])));
        let asked =
            Asked { question: &question, outline: &outline, catalog: &catalog, results: &results };
        asked.doubts().into_iter().map(|doubt| doubt.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds("What is the longest city name?", "Zenith"), [DoubtKind::Measure]);
    assert_eq!(kinds("What is the last city name in alphabetical order?", "Zenith"), []);
    // A number that is stored as a text.
    assert_eq!(kinds("What is the greatest city name?", "98"), []);
}

#[test]
fn numbers_that_nobody_asks_for() {
    let name = column("city.city_name");
    let counted = first(&[name.clone(), count()], &count(), true);
    assert_doubt("What is the most visited city?", &counted, DoubtKind::Count);
    assert_none("What is the most visited city and how many visits does it have?", &counted);
    assert_none("Show each city with its visits.", &Outline { limit: None, ..counted });
    assert_doubt("Which cities lie in Texas?", &columns(&[count()]), DoubtKind::Count);
    assert_none("How many cities lie in Texas?", &columns(&[count()]));
    assert_none("Give the number of cities.", &columns(&[count()]));
}

#[test]
fn one_number_is_asked_for() {
    let kinds = |question: &str, values: &[i64]| {
        doubts(question, &columns(&[count()]), values)
            .into_iter()
            .map(|doubt| doubt.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("How many cities are there?", &[1, 2]), [DoubtKind::SeveralCounts]);
    assert_eq!(kinds("How many cities are there?", &[2]), []);
    assert_eq!(kinds("How many cities are there in each state?", &[1, 2]), []);
}

#[test]
fn a_key_is_no_name() {
    let key = column("visit.city_id");
    let common = first(std::slice::from_ref(&key), &count(), true);
    assert_doubt("What is the most visited city?", &common, DoubtKind::KeyForName);
    assert_doubt(
        "Which state is the largest?",
        &columns(&[column("state.StateId")]),
        DoubtKind::KeyForName,
    );
    assert_none("What is the id of the most visited city?", &common);
    assert_none("Show everything about cities.", &columns(std::slice::from_ref(&key)));
    // The name stands beside it, or there is none.
    assert_none("Which cities are visited?", &columns(&[key, column("city.city_name")]));
    assert_none("Which visit is the first?", &columns(&[column("visit.visit_id")]));
}

#[test]
fn different_values_are_not_repeated() {
    let kinds = |question: &str, values: &[i64]| {
        doubts(question, &columns(&[column("state.population")]), values)
            .into_iter()
            .map(|one| one.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("List the different populations.", &[3, 3]), [DoubtKind::NotDistinct]);
    assert_eq!(kinds("List the different populations.", &[3, 4]), []);
    assert_eq!(kinds("List the populations.", &[3, 3]), []);
}

#[test]
fn the_end_of_an_order_is_the_one_that_is_asked_for() {
    let area = column("state.area");
    let by_area = |is_descending| first(&[column("state.name")], &area, is_descending);
    assert_doubt("What is the largest state by area?", &by_area(false), DoubtKind::OtherEnd);
    assert_doubt("What is the smallest state?", &by_area(true), DoubtKind::OtherEnd);
    assert_none("What is the largest state?", &by_area(true));
    assert_none("What is the smallest state?", &by_area(false));
    // Of days, the youngest may come last; a most may be a least.
    assert_none(
        "Which is the oldest visit?",
        &first(&[column("city.city_name")], &column("visit.day"), false),
    );
    assert_none("Which state has the most room?", &by_area(false));
    let by_number = |is_descending| first(&[column("state.name")], &count(), is_descending);
    assert_doubt("Which state has the fewest cities?", &by_number(true), DoubtKind::OtherEnd);
    assert_none("Which state has at least the largest number of cities?", &by_number(false));
}
