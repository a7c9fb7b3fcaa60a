//! Resolves the names of a draft: finds what each refers to, and reports names that are too alike.

use std::collections::HashMap;

use sqlparser::ast::{Expr, Ident};

use super::draft::{DimensionDraft, Draft, JoinDraft, Kind, TableDraft, Written};
use super::expression::{self, Scope};
use super::joins::check_joins;
use super::metrics;
use super::names::{Names, stems};
use super::problem::{Problems, unknown};
use crate::{Dimension, Expression, Join, Label, Literal, Place, Semantics, Table};

/// Resolves the names of a draft. What is wrong is added to the problems, and left out.
pub(super) fn resolve(draft: Draft, problems: &mut Problems) -> Semantics {
    let mut semantics = Semantics {
        today: draft.today.map(|(day, _)| day),
        week_start: draft.week_start.map(|(start, _)| start).unwrap_or_default(),
        ..Semantics::default()
    };
    let mut tables = Names::default();
    let mut places: Vec<Place> = Vec::new();
    for table in draft.tables {
        if problems.is_full() {
            return semantics;
        }
        if let Err(earlier) = tables.add(&table.name.text) {
            let message =
                format!("table `{}` is declared at {} already", table.name.text, places[earlier]);
            problems.add(&table.name.place, message);
            continue;
        }
        places.push(table.name.place.clone());
        add_table(table, &mut semantics, problems);
    }
    for join in draft.joins {
        if problems.is_full() {
            return semantics;
        }
        semantics.joins.extend(resolve_join(join, &tables, problems));
    }
    check_joins(&semantics, problems);
    metrics::resolve(draft.metrics, &tables, &mut semantics, problems);
    check_words(&semantics, problems);
    semantics
}

fn add_table(draft: TableDraft, semantics: &mut Semantics, problems: &mut Problems) {
    let name = draft.name.text;
    let mut dimensions = Names::default();
    let mut kinds: Vec<(Option<Kind>, Place)> = Vec::new();
    for dimension in draft.dimensions {
        if problems.is_full() {
            return;
        }
        if let Err(earlier) = dimensions.add(&dimension.name.text) {
            let message = format!(
                "dimension `{}` of `{name}` is declared at {} already",
                dimension.name.text, kinds[earlier].1
            );
            problems.add(&dimension.name.place, message);
            continue;
        }
        kinds.push((dimension.kind, dimension.name.place.clone()));
        if dimension.kind == Some(Kind::Name) && draft.key.is_empty() {
            let message = format!(
                "`{}` names a row of `{name}`, and nothing says what tells its rows apart: add the \
                 table's `key`",
                dimension.name.text
            );
            problems.add(&dimension.name.place, message);
        }
        semantics.dimensions.extend(resolve_dimension(dimension, &name, problems));
    }
    let time = draft.time.and_then(|time| match dimensions.find(&time.text) {
        Some(index) if kinds[index].0 == Some(Kind::Time) => {
            dimensions.spelling(&time.text).map(str::to_owned)
        }
        Some(_) => {
            let message =
                format!("`{0}` is no time; declare it as `{0}: {{type: time}}`", time.text);
            problems.add(&time.place, message);
            None
        }
        None => {
            let message = unknown("dimension", &time.text, dimensions.iter());
            let hint = format!(
                "{message}; the time of a table is one of its dimensions, declared as `{}: {{type: \
                 time}}`",
                time.text
            );
            problems.add(&time.place, hint);
            None
        }
    });
    let filter = draft.filter.and_then(|filter| admit_text(filter, Scope::Table(&name), problems));
    semantics.tables.push(Table {
        source: draft.source.unwrap_or_else(|| name.clone()),
        name,
        synonyms: texts(draft.synonyms),
        description: draft.description,
        grain: draft.grain,
        key: draft.key,
        time,
        filter,
        place: draft.name.place,
    });
}

pub(super) fn texts(written: Vec<Written>) -> Vec<String> {
    written.into_iter().map(|written| written.text).collect()
}

/// Admits an expression; what is wrong in it is added to the problems.
pub(super) fn admit_text(
    written: Written,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Option<Expression> {
    match expression::admit(&written.text, scope) {
        Ok(admitted) => {
            // The names of a derived metric are not tables.
            let is_derived = matches!(scope, Scope::Metrics(_));
            Some(Expression {
                text: written.text,
                tree: admitted.tree,
                tables: if is_derived { Vec::new() } else { admitted.names },
                place: written.place,
            })
        }
        Err(message) => {
            problems.add(&written.place, message);
            None
        }
    }
}

fn resolve_dimension(
    draft: DimensionDraft,
    table: &str,
    problems: &mut Problems,
) -> Option<Dimension> {
    let name = draft.name.text;
    let expression = match draft.expression {
        Some(written) => admit_text(written, Scope::Table(table), problems)?,
        None => Expression {
            tree: Expr::CompoundIdentifier(vec![Ident::new(table), Ident::new(&name)]),
            text: name.clone(),
            tables: vec![table.to_owned()],
            place: draft.name.place.clone(),
        },
    };
    let mut words: HashMap<String, String> = HashMap::new();
    let mut labels: Vec<Label> = Vec::new();
    for label in draft.labels {
        let shown = show_literal(&label.value);
        let synonyms = label.synonyms.iter().map(|synonym| &synonym.text);
        for word in std::iter::once(&shown).chain(synonyms) {
            let earlier = words.insert(word.to_lowercase(), shown.clone());
            if let Some(earlier) = earlier {
                let message = format!(
                    "`{word}` stands for `{earlier}` already, a value of `{name}`; a word can \
                     mean only one of them"
                );
                problems.add(&label.place, message);
            }
        }
        labels.push(Label { value: label.value, synonyms: texts(label.synonyms) });
    }
    Some(Dimension {
        name,
        table: table.to_owned(),
        expression,
        is_time: draft.kind == Some(Kind::Time),
        names_row: draft.kind == Some(Kind::Name),
        synonyms: texts(draft.synonyms),
        labels,
        description: draft.description,
        place: draft.name.place,
    })
}

fn show_literal(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) | Literal::Number(text) => text.clone(),
        Literal::Bool(value) => value.to_string(),
        Literal::Date(day) => day.to_string(),
        Literal::Null => "null".to_owned(),
    }
}

fn resolve_join(draft: JoinDraft, tables: &Names, problems: &mut Problems) -> Option<Join> {
    let from = resolve_end(draft.from, tables, problems);
    let to = resolve_end(draft.to, tables, problems);
    let (from, from_columns) = from?;
    let (to, to_columns) = to?;
    Some(Join {
        from,
        from_columns,
        to,
        to_columns,
        cardinality: draft.cardinality,
        place: draft.place,
    })
}

/// The table and the columns of one end of a join.
fn resolve_end(
    columns: Vec<Written>,
    tables: &Names,
    problems: &mut Problems,
) -> Option<(String, Vec<String>)> {
    let mut end: Option<(String, Vec<String>)> = None;
    for written in columns {
        let Some((table, column)) = written.text.split_once('.') else {
            let message = format!("`{}` names no column; write it as `table.column`", written.text);
            problems.add(&written.place, message);
            return None;
        };
        let Some(table) = tables.spelling(table) else {
            problems.add_unknown(&written.place, "table", table, tables.iter());
            return None;
        };
        if column.is_empty() {
            problems.add(&written.place, "the name of the column is missing");
            return None;
        }
        match &mut end {
            None => end = Some((table.to_owned(), vec![column.to_owned()])),
            Some((earlier, columns)) if earlier == table => columns.push(column.to_owned()),
            Some((earlier, _)) => {
                let message = format!(
                    "one end of a join is one table, but `{earlier}` and `{table}` are named"
                );
                problems.add(&written.place, message);
                return None;
            }
        }
    }
    end
}

/// The meaning of a name or a synonym.
#[derive(Clone, Copy)]
struct Meaning<'a> {
    kind: &'static str,
    name: &'a str,
    place: &'a Place,
}

/// Reports words that stand for several tables or several metrics, even in another form, for
/// dimensions of different names, or for a metric and a dimension.
fn check_words(semantics: &Semantics, problems: &mut Problems) {
    let mut tables = HashMap::new();
    for table in &semantics.tables {
        let meaning = Meaning { kind: "table", name: &table.name, place: &table.place };
        add_words(meaning, &table.synonyms, &mut tables, problems);
    }
    let mut metrics = HashMap::new();
    for metric in &semantics.metrics {
        let meaning = Meaning { kind: "metric", name: &metric.name, place: &metric.place };
        add_words(meaning, &metric.synonyms, &mut metrics, problems);
    }
    // A metric `customers` and a dimension `customer` can be told apart; the same word cannot.
    let mut exact = HashMap::new();
    for metric in &semantics.metrics {
        for word in std::iter::once(&metric.name).chain(&metric.synonyms) {
            exact.insert(word.to_lowercase(), metric);
        }
    }
    let mut dimensions = HashMap::new();
    for dimension in &semantics.dimensions {
        let meaning = Meaning { kind: "dimension", name: &dimension.name, place: &dimension.place };
        add_words(meaning, &dimension.synonyms, &mut dimensions, problems);
        for word in std::iter::once(&dimension.name).chain(&dimension.synonyms) {
            if let Some(metric) = exact.get(&word.to_lowercase()) {
                let message = format!(
                    "`{word}` stands for the metric `{}` at {} and for a dimension; use another \
                     word for one of them",
                    metric.name, metric.place
                );
                problems.add(&dimension.place, message);
            }
        }
    }
}

fn add_words<'a>(
    meaning: Meaning<'a>,
    synonyms: &'a [String],
    meanings: &mut HashMap<String, Meaning<'a>>,
    problems: &mut Problems,
) {
    let mut own = Names::default();
    for word in std::iter::once(meaning.name).chain(synonyms.iter().map(String::as_str)) {
        if own.add(word).is_err() {
            let message = format!("`{word}` stands twice among the names of `{}`", meaning.name);
            problems.add(meaning.place, message);
            continue;
        }
        let earlier = *meanings.entry(stems(word)).or_insert(meaning);
        // Dimensions of one name in several tables are one idea, with the same words.
        let is_other = match meaning.kind {
            "dimension" => !earlier.name.eq_ignore_ascii_case(meaning.name),
            _ => !std::ptr::eq(earlier.place, meaning.place),
        };
        if is_other {
            let message = format!(
                "`{word}` stands for the {} `{}` at {} already, or for its singular or plural; \
                 use another word for one of them",
                earlier.kind, earlier.name, earlier.place
            );
            problems.add(meaning.place, message);
        }
    }
}
