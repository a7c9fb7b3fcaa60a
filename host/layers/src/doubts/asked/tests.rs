//! Questions with the outlines and results that do and do not answer them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use syrch_core::ports::{ColumnName, Comparison, OrderKey};
use syrch_core::{Dialect, ForeignKey};

use super::*;

fn table(name: &str, columns: &[(&str, &str)], keys: &[(&str, &str, &str)]) -> Table {
    let column = |(name, sql_type): &(&str, &str)| Column {
        name: (*name).into(),
        sql_type: (*sql_type).into(),
        ..Column::default()
    };
    Table {
        name: name.into(),
        columns: columns.iter().map(column).collect(),
        primary_key: vec![columns[0].0.into()],
        foreign_keys: keys
            .iter()
            .map(|(column, table, to): &(&str, &str, &str)| ForeignKey {
                columns: vec![(*column).into()],
                ref_table: (*table).into(),
                ref_columns: vec![(*to).into()],
            })
            .collect(),
        ..Table::default()
    }
}

pub(super) fn geography() -> Catalog {
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

pub(super) fn column(path: &str) -> Selected {
    let (table, column) = path.split_once('.').unwrap();
    Selected::Column(ColumnName { table: table.into(), column: column.into() })
}

pub(super) fn aggregate(function: &str, path: &str) -> Selected {
    let of = column(path).column().cloned();
    Selected::Aggregate { function: function.into(), of, is_distinct: false }
}

pub(super) fn count() -> Selected {
    Selected::Aggregate { function: "count".into(), of: None, is_distinct: false }
}

pub(super) fn columns(columns: &[Selected]) -> Outline {
    Outline { columns: columns.to_vec(), relations: 1, ..Outline::default() }
}

pub(super) fn first(columns: &[Selected], by: &Selected, is_descending: bool) -> Outline {
    let order = OrderKey { by: by.clone(), is_descending, nulls_first: None, filter: None };
    Outline {
        columns: columns.to_vec(),
        relations: 1,
        order: Some(order),
        limit: Some(1),
        ..Outline::default()
    }
}

pub(super) fn rows(values: &[i64]) -> ResultSet {
    results(Arc::new(Int64Array::from(values.to_vec())))
}

fn results(column: ArrayRef) -> ResultSet {
    let schema = Arc::new(Schema::new(vec![Field::new("n", column.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    ResultSet::new(schema, vec![batch], false, Vec::new(), String::new())
}

fn doubts(question: &str, outline: &Outline, values: &[i64]) -> Vec<Doubt> {
    doubts_of(question, outline, &Facts::default(), values)
}

/// The doubts where the whole statement is known.
fn doubts_of(question: &str, outline: &Outline, facts: &Facts, values: &[i64]) -> Vec<Doubt> {
    let question = Question::new(question);
    let catalog = geography();
    let results = rows(values);
    Asked { question: &question, outline, facts, catalog: &catalog, results: &results }.doubts()
}

pub(super) fn kinds_of(
    question: &str,
    outline: &Outline,
    facts: &Facts,
    values: &[i64],
) -> Vec<DoubtKind> {
    doubts_of(question, outline, facts, values).into_iter().map(|doubt| doubt.kind).collect()
}

/// The facts of a statement over these tables that calls these functions.
pub(super) fn facts(normalized: &str, tables: &[&str], functions: &[&str]) -> Facts {
    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
    Facts {
        normalized: normalized.into(),
        tables: own(tables),
        functions: own(functions),
        ..Facts::default()
    }
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
        let facts = Facts::default();
        let asked = Asked {
            question: &question,
            outline: &outline,
            facts: &facts,
            catalog: &catalog,
            results: &results,
        };
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
    let by_area = first(&[name.clone(), count()], &column("state.area"), true);
    assert_doubt("What is the largest city?", &by_area, DoubtKind::Count);
    // The count is the measure.
    assert_none("What is the most visited city?", &counted);
    assert_none("What is the most visited city and how many visits does it have?", &counted);
    assert_none("Show each city with its visits.", &Outline { limit: None, ..counted });
    assert_doubt("Which cities lie in Texas?", &columns(&[count()]), DoubtKind::Count);
    assert_none("How many cities lie in Texas?", &columns(&[count()]));
    assert_none("Give the number of cities.", &columns(&[count()]));
}

#[test]
fn one_number_is_asked_for() {
    fn kinds(question: &str, values: &[i64]) -> Vec<syrch_core::DoubtKind> {
        doubts(question, &columns(&[count()]), values)
            .into_iter()
            .map(|doubt| doubt.kind)
            .collect::<Vec<_>>()
    }
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
    let visit = columns(&[column("visit.visit_id")]);
    assert_none("Which visit is the first?", &visit);
    // The name may be that of a condition.
    let question = "Which visits have a day?";
    assert_doubt(question, &visit, DoubtKind::KeyForName);
    let read = Facts { columns: vec!["visit.day".into()], ..Facts::default() };
    assert_eq!(kinds_of(question, &visit, &read, &[1]), []);
}

#[test]
fn different_values_are_not_repeated() {
    fn kinds(question: &str, values: &[i64]) -> Vec<syrch_core::DoubtKind> {
        doubts(question, &columns(&[column("state.population")]), values)
            .into_iter()
            .map(|one| one.kind)
            .collect::<Vec<_>>()
    }
    assert_eq!(kinds("List the different populations.", &[3, 3]), [DoubtKind::NotDistinct]);
    assert_eq!(kinds("List the different populations.", &[3, 4]), []);
    assert_eq!(kinds("List the populations.", &[3, 3]), []);
    // Others than those that are listed.
    for question in [
        "List the populations of states with different areas.",
        "Which populations belong to more than 5 different populations?",
        "List the populations of states that have a different population than Texas.",
        "Which populations do distinct cities have?",
    ] {
        assert_eq!(kinds(question, &[3, 3]), [], "{question}");
    }
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
    for question in [
        "Which state is the most spacious?",
        "Which state has the most area?",
        "Which state grew the most?",
        "Who are the best paid of all states?",
    ] {
        assert_doubt(question, &by_area(false), DoubtKind::OtherEnd);
        assert_none(question, &by_area(true));
    }
    assert_doubt("Which state is the worst rated?", &by_area(true), DoubtKind::OtherEnd);
    for question in ["Which state is the best?", "Which state is the most crowded?"] {
        assert_none(question, &by_area(false));
    }
    let by_number = |is_descending| first(&[column("state.name")], &count(), is_descending);
    assert_doubt("Which state has the fewest cities?", &by_number(true), DoubtKind::OtherEnd);
    assert_none("Which state has at least the largest number of cities?", &by_number(false));
}

#[test]
fn several_rows_begin_at_the_end_that_is_asked_for() {
    let first = |by: &str, is_descending, limit| Outline {
        limit: Some(limit),
        ..first(&[column("state.name")], &column(by), is_descending)
    };
    let area = |is_descending| first("state.area", is_descending, 2);
    assert_doubt("Which 2 states have the largest area?", &area(false), DoubtKind::OtherEnd);
    assert_doubt("List the 2 smallest states.", &area(true), DoubtKind::OtherEnd);
    assert_none("List the 2 largest states.", &area(true));
    assert_doubt("List the 3 most expensive states.", &area(false), DoubtKind::OtherEnd);
    assert_doubt("Who are the 2 best paid?", &area(false), DoubtKind::OtherEnd);
    assert_none("List the 2 best of the largest states.", &area(false));
    assert_none("Who are the 2 best paid of the largest states?", &area(false));
    assert_none("What are the top 2 cities of the smallest state?", &area(true));
    // The youngest was born last.
    let day = |is_descending| first("visit.day", is_descending, 1);
    for question in ["Which visit is the latest?", "Which visit was made most recently?"] {
        assert_doubt(question, &day(false), DoubtKind::OtherEnd);
        assert_none(question, &day(true));
    }
    assert_doubt("Which is the oldest visit?", &day(true), DoubtKind::OtherEnd);
    assert_none("Which is the earliest visit?", &day(false));
    assert_none("What is the first visit of the youngest and smallest city?", &day(false));
}

#[test]
fn as_many_rows_are_given_as_are_asked_for() {
    fn names(limit: Option<u64>, is_sorted: bool) -> syrch_core::ports::Outline {
        let first = first(&[column("state.name")], &column("state.area"), true);
        Outline { limit, order: first.order.clone().filter(|_| is_sorted), ..first }
    }
    let select = |rest: &str| facts(&format!("SELECT name FROM state {rest}"), &["state"], &[]);
    let by_area = select("ORDER BY area DESC");
    let values: Vec<i64> = (0..8).collect();
    let kinds = |question: &str, outline: &Outline, facts: &Facts, rows: usize| {
        kinds_of(question, outline, facts, &values[..rows])
    };
    for question in ["List the top 5 states by area.", "What are the five largest states?"] {
        assert_eq!(kinds(question, &names(None, true), &by_area, 8), [DoubtKind::OtherRows]);
        assert_eq!(kinds(question, &names(Some(3), true), &by_area, 3), [DoubtKind::OtherRows]);
        assert_eq!(kinds(question, &names(Some(8), true), &by_area, 8), [DoubtKind::OtherRows]);
        assert_eq!(kinds(question, &names(Some(5), true), &by_area, 5), []);
        // There are no more.
        assert_eq!(kinds(question, &names(None, true), &by_area, 4), []);
        assert_eq!(kinds(question, &names(Some(8), true), &by_area, 4), []);
        let unsorted = names(Some(5), false);
        assert_eq!(kinds(question, &unsorted, &select("LIMIT 5"), 5), [DoubtKind::OtherRows]);
        let inside = select("WHERE name IN (SELECT name FROM state ORDER BY area DESC LIMIT 5)");
        assert_eq!(kinds(question, &names(None, false), &inside, 8), []);
    }
    for question in
        ["List the top 5 states by area in each region.", "List the top 5 percent of the states."]
    {
        assert_eq!(kinds(question, &names(None, true), &by_area, 8), [], "{question}");
    }
    let many = select("WHERE cities > 5 ORDER BY area DESC");
    assert_eq!(kinds("List states with more than 5 cities.", &names(None, true), &many, 8), []);
    // One thing, and the first of no order.
    let question = "Which state has the largest area?";
    assert_eq!(kinds(question, &names(None, true), &by_area, 8), [DoubtKind::OtherRows]);
    assert_eq!(kinds(question, &names(Some(1), true), &by_area, 1), []);
    assert_eq!(
        kinds(question, &names(Some(1), false), &select("LIMIT 1"), 1),
        [DoubtKind::OtherRows]
    );
    for question in [
        "List all states from the largest to the smallest.",
        "Which states have the largest area?",
        "What is the largest state in each region?",
    ] {
        assert_eq!(kinds(question, &names(None, true), &by_area, 8), [], "{question}");
    }
    let question = "List the states in descending order of area.";
    assert_eq!(kinds(question, &names(None, false), &select(""), 8), [DoubtKind::NoOrder]);
    assert_eq!(kinds(question, &names(None, true), &by_area, 8), []);
}

#[test]
fn groups_are_shown_beside_their_numbers() {
    let counted = |columns: &[Selected]| Outline {
        groups: vec![column("state.name")],
        ..first(columns, &count(), true)
    };
    let alone = counted(&[count()]);
    for question in ["Which state has the most cities?", "What state has the most cities?"] {
        assert_doubt(question, &alone, DoubtKind::Measure);
        assert_none(question, &counted(&[column("state.name")]));
    }
    assert_none("What is the highest number of cities in a state?", &alone);
    assert_none("What is the size of the largest state?", &alone);
}

#[test]
fn different_things_are_counted_once() {
    let count_of = |path: &str, is_distinct| Selected::Aggregate {
        function: "count".into(),
        of: column(path).column().cloned(),
        is_distinct,
    };
    fn statement(what: &str) -> syrch_core::ports::Facts {
        facts(&format!("SELECT {what} FROM city"), &["city"], &["count"])
    }
    let kinds = |question: &str, counted: Selected, what: &str| {
        kinds_of(question, &columns(&[counted]), &statement(what), &[7])
    };
    for question in [
        "How many different states have cities?",
        "What is the number of distinct states that have cities?",
    ] {
        let again = count_of("city.state_id", false);
        assert_eq!(kinds(question, again, "count(state_id)"), [DoubtKind::NotDistinct]);
        assert_eq!(kinds(question, count(), "count(*)"), [DoubtKind::NotDistinct]);
        let once = count_of("city.state_id", true);
        assert_eq!(kinds(question, once, "count(DISTINCT state_id)"), []);
    }
    // The rows of a table are different, and the others are those of a condition.
    let question = "How many different cities are there?";
    assert_eq!(kinds(question, count(), "count(*)"), []);
    assert_eq!(kinds(question, count_of("city.city_id", false), "count(city_id)"), []);
    let question = "How many cities lie in more than one different state?";
    assert_eq!(kinds(question, count_of("city.state_id", false), "count(state_id)"), []);
}

#[test]
fn no_more_things_are_counted_than_there_are() {
    let mut catalog = geography();
    catalog.tables[0].row_estimate = Some(50);
    let kinds_over = |question: &str, counted: i64, tables: &[&str]| {
        let joined = Outline { relations: tables.len(), ..columns(&[count()]) };
        let question = Question::new(question);
        let results = rows(&[counted]);
        let facts = facts("SELECT count(*) FROM state JOIN city", tables, &["count"]);
        let asked = Asked {
            question: &question,
            outline: &joined,
            facts: &facts,
            catalog: &catalog,
            results: &results,
        };
        asked.doubts().into_iter().map(|doubt| doubt.kind).collect::<Vec<_>>()
    };
    for tables in [&["city", "state"][..], &["city"]] {
        let with_city = "How many states have a city?";
        assert_eq!(kinds_over(with_city, 386, tables), [DoubtKind::TooMany]);
        assert_eq!(kinds_over(with_city, 49, tables), []);
        assert_eq!(kinds_over("How many cities lie in a state?", 386, tables), []);
        assert_eq!(kinds_over("How many state cities are there?", 386, tables), []);
    }
    // An estimate of the rows that are counted may be too low.
    assert_eq!(kinds_over("How many states are there?", 386, &["state"]), []);
}

#[test]
fn a_superlative_in_the_singular_is_one_row() {
    fn kinds(question: &str, normalized: &str) -> Vec<DoubtKind> {
        let names = columns(&[column("state.name")]);
        kinds_of(question, &names, &facts(normalized, &["state"], &[]), &[1, 2, 3])
    }
    let all = "SELECT name FROM state";
    for question in ["Which state has the most people?", "What is the largest state?"] {
        assert_eq!(kinds(question, all), [DoubtKind::OtherRows], "{question}");
        assert_eq!(kinds(question, &format!("{all} HAVING x")), []);
    }
    assert_eq!(kinds("Which states are the largest?", all), []);
    assert_eq!(kinds("What is the largest state of each region?", all), []);
}

#[test]
fn a_time_is_no_name() {
    let names = columns(&[column("state.name")]);
    let kinds = |question: &str, text: Option<&str>| {
        let question = Question::new(question);
        let results = results(Arc::new(StringArray::from(vec![text])));
        let catalog = geography();
        let facts = Facts::default();
        let outline = &names;
        let asked = Asked {
            question: &question,
            outline,
            facts: &facts,
            catalog: &catalog,
            results: &results,
        };
        asked.doubts().into_iter().map(|doubt| doubt.kind).collect::<Vec<_>>()
    };
    let when = "When was the first state founded?";
    assert_eq!(kinds(when, Some("Ohio")), [DoubtKind::Measure]);
    assert_eq!(kinds(when, None), [DoubtKind::Measure]);
    for text in ["1803-03-01", "last Monday", "In the spring"] {
        assert_eq!(kinds(when, Some(text)), [], "{text}");
    }
    assert_eq!(kinds("When a state is founded, who founds it?", Some("Ohio")), []);
}

#[test]
fn numbers_years_and_tables_of_the_question_are_used() {
    fn kinds(question: &str, normalized: &str, tables: &[&str]) -> Vec<DoubtKind> {
        kinds_of(question, &columns(&[count()]), &facts(normalized, tables, &["count"]), &[7])
    }
    let cities = "SELECT count(*) FROM city";
    let five = "How many cities have a population of 5?";
    assert_eq!(kinds(five, cities, &["city"]), [DoubtKind::Unused]);
    assert_eq!(
        kinds(five, &format!("{cities} WHERE population = 4"), &["city"]),
        [DoubtKind::Unused]
    );
    assert_eq!(kinds(five, &format!("{cities} WHERE population = 5"), &["city"]), []);
    for question in [
        "How many cities have a population of 5 to 9?",
        "How many cities have a population of 5%?",
        "How many cities have at least a population of 5?",
        "What is the population of 5 cities?",
    ] {
        assert_eq!(kinds(question, cities, &["city"]), [], "{question}");
    }
    for question in ["How many cities were founded in 1990?", "How many cities after 1990?"] {
        assert_eq!(kinds(question, cities, &["city"]), [DoubtKind::Unused], "{question}");
        assert_eq!(kinds(question, "SELECT count(*) FROM cities_1990", &["city"]), []);
        assert_eq!(kinds(question, &format!("{cities} WHERE a > b"), &["city"]), []);
        assert_eq!(kinds(question, cities, &["unknown"]), []);
    }
    let states = "How many states are there in the database?";
    assert_eq!(kinds(states, "SELECT count(*) FROM visit", &["visit"]), [DoubtKind::Unused]);
    assert_eq!(kinds(states, "SELECT count(*) FROM state", &["state"]), []);
    // Each city has its state.
    assert_eq!(kinds(states, cities, &["city"]), []);
    let visited = "How many states have a visit?";
    assert_eq!(kinds(visited, "SELECT count(*)", &["visit"]), [DoubtKind::Unused]);
    let which = kinds("Which states have a visit?", "SELECT day", &["visit"]);
    assert_eq!(which, [DoubtKind::Count, DoubtKind::Unused]);
    assert_eq!(kinds(visited, "SELECT count(*)", &["visit", "city"]), []);
    assert_eq!(kinds("How many state visits were there?", "SELECT count(*)", &["visit"]), []);
    let others = kinds("Which of the states have a visit?", "SELECT day", &["visit"]);
    assert_eq!(others, [DoubtKind::Count]);
}

#[test]
fn a_median_is_no_mean() {
    fn kinds(question: &str, normalized: &str, functions: &[&str]) -> Vec<DoubtKind> {
        let shown = columns(&[aggregate("avg", "city.population")]);
        kinds_of(question, &shown, &facts(normalized, &["city"], functions), &[7])
    }
    let median = "What is the median population of the cities?";
    let mean = "SELECT avg(population) FROM city";
    assert_eq!(kinds(median, mean, &["avg"]), [DoubtKind::OtherAggregate]);
    assert_eq!(kinds(median, mean, &["avg", "round"]), [DoubtKind::OtherAggregate]);
    assert_eq!(kinds("What is the mean population?", mean, &["avg"]), []);
    for (normalized, functions) in [
        ("SELECT avg(p) FROM (SELECT p FROM city ORDER BY p LIMIT 2 OFFSET 5)", &["avg"][..]),
        ("SELECT avg(population) FROM city", &["avg", "row_number"]),
        ("SELECT median(population) FROM city", &["median"]),
    ] {
        assert_eq!(kinds(median, normalized, functions), [], "{normalized}");
    }
}

#[test]
fn the_aggregate_is_the_one_that_is_named() {
    fn kinds(question: &str, functions: &[&str]) -> Vec<syrch_core::DoubtKind> {
        let shown = columns(&[aggregate(functions[0], "city.population")]);
        kinds_of(question, &shown, &facts("SELECT", &["city"], functions), &[7])
    }
    for (question, function) in [
        ("What is the average population of the cities?", "sum"),
        ("What is the average population of the cities?", "max"),
        ("What is the total population of the cities?", "avg"),
        ("What is the total population of the cities?", "max"),
        ("What is the lowest population of a city?", "max"),
        ("What is the highest population of a city?", "min"),
    ] {
        assert_eq!(kinds(question, &[function]), [DoubtKind::OtherAggregate], "{question}");
    }
    for (question, functions) in [
        ("What is the average population of the cities?", &["avg"][..]),
        ("What is the average population of the cities?", &["sum", "count"][..]),
        ("What is the average total population of the cities?", &["sum"][..]),
        ("What is the total population of the largest cities?", &["avg"][..]),
        ("What is the highest rank by population of a city?", &["min"][..]),
    ] {
        assert_eq!(kinds(question, functions), [], "{question}");
    }
}

#[test]
fn the_year_is_the_one_that_is_named() {
    fn kinds(question: &str, literals: &[(Option<&str>, &str)]) -> Vec<syrch_core::DoubtKind> {
        let facts = Facts {
            literals: literals
                .iter()
                .map(|(column, text): &(Option<&str>, &str)| syrch_core::ports::Literal {
                    table: column.map(|_| "visit".into()),
                    column: column.map(Into::into),
                    text: (*text).into(),
                })
                .collect(),
            ..Facts::default()
        };
        kinds_of(question, &columns(&[count()]), &facts, &[7])
    }
    let question = "How many visits were there in 2023?";
    let day = Some("day");
    for literals in
        [&[(None, "2022")][..], &[(day, "2024-01-01"), (day, "2025-01-01")], &[(day, "2022%")]]
    {
        assert_eq!(kinds(question, literals), [DoubtKind::OtherYear], "{literals:?}");
    }
    for literals in [
        &[(None, "2023")][..],
        &[(day, "2022-12-31"), (day, "2024-01-01")],
        &[(day, "2022-12-31")],
        &[(Some("city_id"), "2022")],
        &[(None, "%Y")],
        &[],
    ] {
        assert_eq!(kinds(question, literals), [], "{literals:?}");
    }
    for question in [
        "How many visits were there by the end of 2023?",
        "How many visits were there by the end of December 2023?",
        "How many visits were there up to the end of the year 2023?",
    ] {
        assert_eq!(kinds(question, &[(day, "2024-01-01")]), [], "{question}");
        assert_eq!(kinds(question, &[(day, "2022-01-01")]), [DoubtKind::OtherYear], "{question}");
    }
    for question in [
        "How many visits were there after 2023?",
        "How many visits were there in 2023 and 2024?",
        "How many visits had 2023 guests?",
        "How many visits were there in the year before those of 2023?",
    ] {
        assert_eq!(kinds(question, &[(day, "2022-05-01")]), [], "{question}");
    }
}

#[test]
fn numbers_bound_from_the_side_that_is_asked_for() {
    fn kinds(question: &str, condition: &str) -> Vec<DoubtKind> {
        let sql = format!("SELECT city_name FROM city WHERE {condition}");
        let shown = columns(&[column("city.city_name")]);
        kinds_of(question, &shown, &facts(&sql, &["city"], &[]), &[7])
    }
    let more = "Which cities have more than 100 inhabitants?";
    let less = "List the cities with a population of less than 100.";
    for (question, condition) in [
        (more, "population < 100"),
        (more, "population <= 100 AND state_id = 3"),
        (more, "100 > population"),
        (less, "population > 100"),
        (less, "(population >= 100)"),
    ] {
        assert_eq!(kinds(question, condition), [DoubtKind::OtherBound], "{condition}");
    }
    for (question, condition) in [
        (more, "population > 100"),
        (more, "population >= 101"),
        (more, "population < 1000"),
        (more, "NOT (population <= 100)"),
        (more, "population > 100 AND state_id < 100"),
        (less, "population < 100"),
        ("Which cities have no more than 100 inhabitants?", "population <= 100"),
        ("Which cities don't have more than 100 inhabitants?", "population <= 100"),
        ("Which cities have more than 100 or less than 50 inhabitants?", "population < 100"),
        ("Which cities have more than 1,100 inhabitants?", "population < 1"),
        ("Which cities have a higher rank than 100?", "population < 100"),
        ("Which cities lack more than 100 inhabitants?", "population <= 100"),
        (more, "area - 100 > population"),
        (more, "population < 100 * area"),
    ] {
        assert_eq!(kinds(question, condition), [], "{question} {condition}");
    }
    let chosen = facts(
        "SELECT city_name FROM city WHERE iif(population <= 100, 0, 1) = 1",
        &["city"],
        &["iif"],
    );
    assert_eq!(kinds_of(more, &columns(&[column("city.city_name")]), &chosen, &[7]), []);
}

#[test]
fn a_number_of_each_thing_has_groups() {
    fn kinds(question: &str, outline: &Outline, sql: &str) -> Vec<syrch_core::DoubtKind> {
        kinds_of(question, outline, &facts(sql, &["city"], &["avg"]), &[7])
    }
    let mean = columns(&[aggregate("avg", "city.population")]);
    let sql = "SELECT avg(population) FROM city";
    for question in [
        "What is the average population per state?",
        "What is the average population of cities in each state?",
        "What is the average population by state?",
    ] {
        assert_eq!(kinds(question, &mean, sql), [DoubtKind::NoGroups], "{question}");
        let groups = Outline { groups: vec![column("city.state_id")], ..mean.clone() };
        assert_eq!(kinds(question, &groups, &format!("{sql} GROUP BY state_id")), []);
        let inside =
            "SELECT avg(n) FROM (SELECT sum(population) AS n FROM city GROUP BY state_id) AS t";
        assert_eq!(kinds(question, &mean, inside), [], "{question}");
    }
    for question in [
        "What is the average population per city?",
        "What is the average population per year?",
        "What is the average population of cities founded by state?",
        "What is the average population?",
    ] {
        assert_eq!(kinds(question, &mean, sql), [], "{question}");
    }
}

#[test]
fn rows_that_are_asked_for_are_not_left_out() {
    let outline = Outline {
        groups: vec![column("state.name")],
        is_inner: true,
        ..columns(&[column("state.name"), count()])
    };
    let question = "Show each state with its number of cities, including states without any.";
    assert_doubt(question, &outline, DoubtKind::InnerJoin);
    let sound = Outline { is_inner: false, relations: 2, ..outline.clone() };
    assert_none(question, &sound);
    let joined = |join: &str| {
        let sql = format!("SELECT s.name, count(c.city_id) FROM state s {join} city c ON true");
        kinds_of(question, &sound, &facts(&sql, &["city", "state"], &["count"]), &[7])
    };
    assert_eq!(joined("JOIN"), [DoubtKind::InnerJoin]);
    assert_eq!(joined("LEFT JOIN"), []);
    assert_none("Show each state with its number of large cities.", &outline);
}

fn compare(path: &str, literal: &str) -> Comparison {
    compare_by(path, "=", literal)
}

pub(super) fn compare_by(path: &str, operator: &'static str, literal: &str) -> Comparison {
    let column = column(path).column().cloned().unwrap();
    Comparison { column, operator, literal: literal.into() }
}

/// Checks that each question is or is not doubtful by that kind where this statement over these
/// tables answers it.
#[track_caller]
pub(super) fn assert_kind(
    kind: DoubtKind,
    outline: &Outline,
    facts: &Facts,
    cases: &[(&str, bool)],
) {
    for (question, is_doubtful) in cases {
        let kinds = kinds_of(question, outline, facts, &[7, 8]);
        assert_eq!(kinds.contains(&kind), *is_doubtful, "{question} by {}", facts.normalized);
    }
}

#[test]
fn conditions_are_connected_as_in_the_question() {
    fn list(all: &[(&str, &str)]) -> Vec<Comparison> {
        all.iter().map(|(path, it)| compare(path, it)).collect()
    }
    fn states(any_of: &[&[(&str, &str)]], all_of: &[(&str, &str)]) -> Outline {
        Outline {
            any_of: any_of.iter().map(|any| list(any)).collect(),
            all_of: list(all_of),
            ..columns(&[column("state.name")])
        }
    }
    fn kinds(question: &str, outline: &Outline, sql: &str) -> Vec<DoubtKind> {
        kinds_of(question, outline, &facts(sql, &["state", "city"], &[]), &[7])
    }
    let either = states(&[&[("state.population", "100"), ("state.area", "5")]], &[]);
    let or = "SELECT name FROM state WHERE population > 100 OR area < 5";
    for question in [
        "Which states have a population above 100 and an area below 5?",
        "Which states have an area below 5 but more than 100 inhabitants?",
    ] {
        assert_eq!(kinds(question, &either, or), [DoubtKind::OtherConnective], "{question}");
    }
    for question in [
        "Which states have a population above 100 or an area below 5?",
        "Show states with a population above 100 and those with an area below 5.",
        "Which states with more than 100 inhabitants are small and large?",
    ] {
        assert_eq!(kinds(question, &either, or), [], "{question}");
    }
    // The cities of a state are several, and a city has one name.
    let named = &[("city.city_name", "Rome"), ("city.city_name", "Paris")][..];
    let question = "Which states have cities named Rome and Paris?";
    let sql = "SELECT name FROM state JOIN city WHERE city_name IN ('Rome', 'Paris')";
    assert_eq!(kinds(question, &states(&[named], &[]), sql), [DoubtKind::OtherConnective]);
    let counted = format!("{sql} GROUP BY name HAVING count(*) = 2");
    assert_eq!(kinds(question, &states(&[named], &[]), &counted), []);
    let cities = Outline { columns: vec![column("city.city_name")], ..states(&[named], &[]) };
    assert_eq!(kinds("Which cities are named Rome and Paris?", &cities, sql), []);
    // One text in any column.
    let anywhere = &[("state.name", "Rome"), ("city.city_name", "Rome"), ("state.area", "5")][..];
    assert_eq!(kinds("States of Rome and 5", &states(&[anywhere], &[]), or), []);

    let both = states(&[], &[("state.population", "100"), ("state.area", "5")]);
    let and = "SELECT name FROM state WHERE population > 100 AND area < 5";
    let question = "Which states have a population above 100 or an area below 5?";
    assert_eq!(kinds(question, &both, and), [DoubtKind::OtherConnective]);
    let other = format!("{and} UNION SELECT name FROM state");
    assert_eq!(kinds(question, &both, &other), []);
    for question in [
        "Which states have a population above 100 and an area below 5?",
        "Which states have a population of 100 or better in an area of 5?",
        "Which states have a population above 100 in March or April in an area of 5?",
    ] {
        assert_eq!(kinds(question, &both, and), [], "{question}");
    }
    let question = "Which states have a population of 100 or more in an area of 5?";
    assert_eq!(kinds(question, &both, &and.replace("> 100", ">= 100")), []);
}

#[test]
fn what_has_none_is_not_what_has_another() {
    fn kinds(question: &str, shown: &str, literal: &str) -> Vec<DoubtKind> {
        let shown = match shown {
            "*" => count(),
            path => column(path),
        };
        let differing = vec![compare("city.city_name", literal)];
        let outline = Outline { differing, relations: 2, ..columns(&[shown]) };
        let sql = "SELECT name FROM state JOIN city WHERE city_name <> 'Rome'";
        kinds_of(question, &outline, &facts(sql, &["state", "city"], &[]), &[7])
    }
    for (question, shown) in [
        ("Which states have no city named Rome?", "state.name"),
        ("How many states don't have any cities like Rome?", "*"),
        ("Show all states except for those with a city named Rome.", "city.state_id"),
        ("Which states did not found Rome?", "state.name"),
        ("Which states never had Rome?", "state.name"),
    ] {
        assert!(kinds(question, shown, "Rome").contains(&DoubtKind::OtherNegation), "{question}");
    }
    for (question, shown, literal) in [
        // A state has one state, and the city was named before.
        ("On which days were visits not made in the city of Rome?", "visit.day", "Rome"),
        ("Which states have a city that is not Rome?", "state.name", "Rome"),
        ("Which states have not only the city Rome?", "state.name", "Rome"),
        ("Which states have something that is not Rome?", "state.name", "Rome"),
        ("Which states have no city named Rome?", "state.name", "Paris"),
        ("Which states have a city named Rome?", "state.name", "Rome"),
    ] {
        assert_eq!(kinds(question, shown, literal), [], "{question}");
    }
}

#[test]
fn as_much_is_left_out_as_the_question_says() {
    fn kinds(question: &str, condition: &str) -> Vec<DoubtKind> {
        let names = columns(&[column("state.name")]);
        let sql = format!("SELECT name FROM state WHERE StateId {condition}");
        let subqueries = vec!["SELECT state_id FROM city".to_owned()];
        let facts = Facts { subqueries, ..facts(&sql, &["state", "city"], &[]) };
        kinds_of(question, &names, &facts, &[7])
    }
    let large = "NOT IN (SELECT state_id FROM city WHERE population = 5)";
    for (question, condition) in [
        ("Which states have a city with a population of 5?", large),
        ("List all states with cities.", "NOT IN (SELECT state_id FROM city)"),
        ("Which states have no cities?", large),
        ("Which states do not have any city yet?", large),
        ("Which states were never populated?", large),
    ] {
        assert_eq!(kinds(question, condition), [DoubtKind::OtherNegation], "{question}");
    }
    let all = "NOT IN (SELECT state_id FROM city)";
    for (question, condition) in [
        ("Which states have no city with a population of 5?", large),
        ("Which states have no small city?", large),
        ("Which states have no five cities?", large),
        ("Which states have no cities?", all),
        ("Which states have no cities?", "NOT IN (SELECT state_id FROM city WHERE capital = 1)"),
        ("Which states have no cities?", "NOT IN (SELECT state_id FROM city WHERE c.id = 5)"),
        ("Which states are unpopulated?", all),
        ("Which states lack cities?", all),
        ("Which states have all cities?", all),
        ("Welche Staaten haben keine Stadt?", all),
    ] {
        assert_eq!(kinds(question, condition), [], "{question}");
    }
}

#[test]
fn of_two_values_of_one_column_none_is_taken_for_itself() {
    let loose = [compare("city.city_name", "Rome"), compare("city.city_name", "Paris")];
    let outline = Outline { loose: Some(loose), ..columns(&[count()]) };
    let sql = "SELECT count(*) FROM city WHERE population > 5 AND city_name = 'Rome' OR \
               city_name = 'Paris'";
    let cases = [
        ("How many cities above 5 are called Rome or Paris?", true),
        ("How many cities above 5 are called Paris and Rome?", true),
        ("How many cities above 5 are called Rome, or are in Paris?", false),
        ("How many cities above 5 are called Rome?", false),
    ];
    assert_kind(DoubtKind::OtherConnective, &outline, &facts(sql, &["city"], &[]), &cases);
}

#[test]
fn the_second_is_not_the_first() {
    let area = column("state.area");
    let names = [column("state.name")];
    let sql = "SELECT name FROM state ORDER BY area DESC LIMIT 1";
    let one = first(&names, &area, true);
    let asked = "Which state has the second largest area?";
    let cases = [(asked, true), ("Which state has the largest area?", false)];
    assert_kind(DoubtKind::OtherRows, &one, &facts(sql, &["state"], &[]), &cases);
    let extreme = columns(&[aggregate("max", "state.area")]);
    let cases = [("What is the 2nd highest area?", true), ("What is the highest area?", false)];
    let known = facts("SELECT max(area) FROM state", &["state"], &["max"]);
    assert_kind(DoubtKind::OtherRows, &extreme, &known, &cases);
    for sql in [
        "SELECT name FROM state ORDER BY area DESC LIMIT 1 OFFSET 1",
        "SELECT name FROM state ORDER BY area DESC LIMIT 1, 1",
        "SELECT name FROM (SELECT * FROM state ORDER BY area DESC LIMIT 2) ORDER BY area LIMIT 1",
    ] {
        let known = facts(sql, &["state"], &[]);
        assert_kind(DoubtKind::OtherRows, &one, &known, &[(asked, false)]);
    }
    let turned = first(&names, &area, false);
    let inner = "SELECT name FROM (SELECT * FROM state ORDER BY area DESC LIMIT 2) ORDER BY area";
    let known = facts(&format!("{inner} LIMIT 1"), &["state"], &[]);
    assert_kind(DoubtKind::OtherEnd, &turned, &known, &[(asked, false)]);
}

#[test]
fn an_order_has_the_direction_that_the_question_says() {
    let area = column("state.area");
    fn order(by: &Selected, is_descending: bool) -> Outline {
        Outline { limit: None, ..first(&[column("state.name")], by, is_descending) }
    }
    let down = "List the states in descending order of area.";
    let up = "List the states by area, ascending.";
    let sql = "SELECT name FROM state ORDER BY area";
    let known = facts(sql, &["state"], &[]);
    let cases = [(down, true), (up, false), ("List the states by area.", false)];
    assert_kind(DoubtKind::OtherEnd, &order(&area, false), &known, &cases);
    let known = facts(&format!("{sql}, name DESC"), &["state"], &[]);
    assert_kind(DoubtKind::OtherEnd, &order(&area, false), &known, &[(down, false)]);
    let known = facts(&format!("{sql} DESC"), &["state"], &[]);
    assert_kind(DoubtKind::OtherEnd, &order(&area, true), &known, &[(up, true), (down, false)]);
    let ages = "List the visits in descending order of age.";
    let known = facts("SELECT visit_id FROM visit ORDER BY day", &["visit"], &[]);
    assert_kind(DoubtKind::OtherEnd, &order(&column("visit.day"), false), &known, &[(ages, false)]);
}

#[test]
fn the_latest_day_is_the_greatest() {
    #[track_caller]
    fn assert(function: &str, asked: &str, is_doubtful: bool) {
        let outline = columns(&[aggregate(function, "visit.day")]);
        let known = facts(&format!("SELECT {function}(day) FROM visit"), &["visit"], &[function]);
        assert_kind(DoubtKind::OtherEnd, &outline, &known, &[(asked, is_doubtful)]);
    }
    for asked in ["When was the latest visit?", "What is the day of the most recent visit?"] {
        assert("min", asked, true);
        assert("max", asked, false);
    }
    assert("max", "When was the earliest visit?", true);
    assert("min", "When was the earliest visit?", false);
    assert("min", "When was the oldest visit?", false);
}

#[test]
fn the_number_of_a_column_is_the_one_that_is_asked_for() {
    let outline = columns(&[count()]);
    for (asked, condition, is_wrong) in [
        ("How many states are in area 7?", "area = 8", true),
        ("How many states are in area 7?", "area >= 7", true),
        ("How many states are in area 7?", "area = 7", false),
        ("How many states are in area 7 or higher?", "area >= 7", false),
        ("How many states are in the third area?", "area = 2", true),
        ("How many states are in the third area?", "area = 3", false),
        ("How many states are in area 7?", "area * 2 = 14", false),
        ("How many states are there?", "area = 2", false),
    ] {
        let sql = format!("SELECT count(*) FROM state WHERE {condition}");
        let known = Facts { columns: vec!["state.area".into()], ..facts(&sql, &["state"], &[]) };
        assert_kind(DoubtKind::Unused, &outline, &known, &[(asked, is_wrong)]);
    }
}
